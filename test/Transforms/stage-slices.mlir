// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-stage-operands))' | FileCheck %s
// What is read by index goes through a buffer, unless threads have it themselves.

#line = #tile.layout<[256] register [(1), (128)] lane [(2), (4), (8), (16), (32)] warp [(64)]>
#half = #tile.layout<[128] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64)]>
#part = #tile.layout<[32] lane [(1), (2), (4), (8), (16)] warp [(0)]>

// A register bit tells the halves apart.
// CHECK-LABEL: tile.kernel @registers
// CHECK-NOT: tgpu
// CHECK: tile.extract %{{.*}}[%{{.*}}] : tensor<256xf32, #{{.*}}> -> tensor<128xf32
// CHECK: tile.extract %{{.*}}[%arg1] : tensor<256xf32, #{{.*}}> -> tensor<128xf32
// CHECK-NOT: tgpu
tile.kernel @registers(%x: f32, %i: index) attributes {num_warps = 2 : i32} {
  %one = arith.constant 1 : index
  %t = tile.splat %x : f32 -> tensor<256xf32, #line>
  %a = tile.extract %t[%one] : tensor<256xf32, #line> -> tensor<128xf32, #half>
  %b = tile.extract %t[%i] : tensor<256xf32, #line> -> tensor<128xf32, #half>
  tile.return
}

// Only the slice is stored; an index that is not known is looked at first.
// CHECK-LABEL: tile.kernel @memory
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<32xf32
// CHECK: tgpu.store_slice %{{.*}}[%c3], %[[B]]
// CHECK: tgpu.load %[[B]]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %arg1, %c8
// CHECK: scf.if %[[IN]] -> (tensor<32xf32, #{{.*}}>) {
// CHECK: tgpu.store_slice %{{.*}}[%arg1], %[[C:.*]] :
// CHECK: %[[L:.*]] = tgpu.load %[[C]]
// CHECK: scf.yield %[[L]]
// CHECK: } else {
// CHECK: arith.constant dense<0.000000e+00>
tile.kernel @memory(%x: f32, %i: index) attributes {num_warps = 2 : i32} {
  %three = arith.constant 3 : index
  %t = tile.splat %x : f32 -> tensor<256xf32, #line>
  %a = tile.extract %t[%three] : tensor<256xf32, #line> -> tensor<32xf32, #part>
  %b = tile.extract %t[%i] : tensor<256xf32, #line> -> tensor<32xf32, #part>
  tile.return
}

// One element: one place in memory, which all threads read.
// CHECK-LABEL: tile.kernel @element
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: tgpu.alloc : !tgpu.buffer<1xf32
// CHECK: tgpu.store_slice
// CHECK: %[[T:.*]] = tgpu.load
// CHECK: tile.reshape %[[T]] : tensor<1xf32, #{{.*}}> -> f32
tile.kernel @element(%x: f32, %i: index) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<256xf32, #line>
  %e = tile.extract %t[%i] : tensor<256xf32, #line> -> f32
  tile.return
}

// CHECK-LABEL: tile.kernel @take
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<256xf32
// CHECK: tgpu.store %{{.*}}, %[[B]]
// CHECK: tgpu.take %[[B]][%{{.*}}] axis 0 :
tile.kernel @take(%x: f32, %n: i32) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<256xf32, #line>
  %i = tile.splat %n : i32 -> tensor<32xi32, #part>
  %r = tile.take %t[%i] axis 0 : tensor<256xf32, #line>, tensor<32xi32, #part> -> tensor<32xf32, #part>
  tile.return
}

#big = #tile.layout<[32768] register [(1), (2), (256), (512), (1024), (2048), (4096), (8192), (16384)] lane [(4), (8), (16), (32), (64)] warp [(128)]>

// 128 KiB are taken from in two halves.
// CHECK-LABEL: tile.kernel @parts
// CHECK: tile.extract %{{.*}} -> tensor<16384xf32
// CHECK: %[[LOW:.*]] = tgpu.take %{{.*}} axis 0 :
// CHECK: tile.extract %{{.*}} -> tensor<16384xf32
// CHECK: arith.subi
// CHECK: %[[HIGH:.*]] = tgpu.take %{{.*}} axis 0 :
// CHECK: arith.select %{{.*}}, %[[LOW]], %[[HIGH]]
tile.kernel @parts(%x: f32, %n: i32) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<32768xf32, #big>
  %i = tile.splat %n : i32 -> tensor<32xi32, #part>
  %r = tile.take %t[%i] axis 0 : tensor<32768xf32, #big>, tensor<32xi32, #part> -> tensor<32xf32, #part>
  tile.return
}

// CHECK-LABEL: tile.kernel @count
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<32xi32
// CHECK: tgpu.store %{{.*}}, %[[B]]
// CHECK: tgpu.count %{{.*}}, %[[B]] first 0
// CHECK: tgpu.load %[[B]]
tile.kernel @count(%x: i32) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : i32 -> tensor<256xi32, #line>
  %h = tile.histogram %t : tensor<256xi32, #line> -> tensor<32xi32, #part>
  tile.return
}

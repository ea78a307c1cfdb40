// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_90a --canonicalize | FileCheck %s --check-prefix=GROUPS
// A tile of 512 elements a thread is worked on in loops over 16 pieces of 32, which lie
// in local memory between operations; the piece's number is the high bits of a thread's.

#wide = #tile.layout<[16384] register [(1), (2), (128), (256), (512), (1024), (2048), (4096), (8192)] lane [(4), (8), (16), (32), (64)]>

// CHECK-LABEL: llvm.func @add(
// CHECK-DAG: %[[TWO:.*]] = llvm.alloca %{{.*}} x vector<32xf32> {alignment = 16 : i64}
// CHECK-DAG: %[[ONE:.*]] = llvm.alloca %{{.*}} x vector<32xf32> {alignment = 16 : i64}
// CHECK-NOT: vector<512xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c16
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[HIGH:.*]] = arith.shli %[[N]], %c5
// CHECK: arith.ori %{{.*}}, %[[HIGH]]
// CHECK: llvm.load
// CHECK: llvm.store %{{.*}} : vector<32xf32>
// CHECK: scf.for
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<32xf32>
// CHECK-NOT: vector<512xf32>
// CHECK: llvm.return
tile.kernel @add(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<16384xf32, #wide>
  %x = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<16384xf32, #wide>
  %y = arith.addf %x, %one : tensor<16384xf32, #wide>
  tile.store %b[%c0], %y : !tile.array<?xf32, mut>, tensor<16384xf32, #wide>
  tile.return
}

// Sums along the pieces: a loop that carries one piece.
// CHECK-LABEL: llvm.func @sum(
// CHECK: scf.for {{.*}} to %c16{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<32xi32>)
// CHECK: arith.addi %{{.*}}, %{{.*}} : vector<32xi32>
// CHECK-NOT: vector<512xi32>
// CHECK: llvm.return
tile.kernel @sum(%b: !tile.array<?xi32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.iota : tensor<16384xi32, #wide>
  %y = tile.reduce(%x) axes [0] : (tensor<16384xi32, #wide>) -> i32 {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  }
  tile.store %b[%c0], %y elements : !tile.array<?xi32, mut>, i32
  tile.return
}

// Scans go from piece to piece, and carry what all pieces before come to.
// CHECK-LABEL: llvm.func @scan(
// CHECK: scf.for %[[I:.*]] = %c0_i32{{.*}} to %c16_i32{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<1xi32>)
// CHECK: arith.cmpi ne, %[[I]], %c0_i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<32xi32>
// CHECK: llvm.store %{{.*}} : vector<32xi32>
// CHECK: scf.yield %{{.*}} : vector<1xi32>
// CHECK-NOT: vector<512xi32>
// CHECK: llvm.return
tile.kernel @scan(%b: !tile.array<?xi32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.iota : tensor<16384xi32, #wide>
  %y = tile.scan(%x) axis 0 : (tensor<16384xi32, #wide>) -> tensor<16384xi32, #wide> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  }
  tile.store %b[%c0], %y : !tile.array<?xi32, mut>, tensor<16384xi32, #wide>
  tile.return
}

// A run of pieces is taken where it lies: the second half begins with piece 8.
#half = #tile.layout<[8192] register [(1), (2), (128), (256), (512), (1024), (2048), (4096)] lane [(4), (8), (16), (32), (64)]>

// CHECK-LABEL: llvm.func @half(
// CHECK: %[[ALL:.*]] = llvm.alloca %{{.*}} x vector<32xi32>
// CHECK: scf.for
// CHECK: %[[HALF:.*]] = llvm.getelementptr %[[ALL]][8] : (!llvm.ptr) -> !llvm.ptr, vector<32xi32>
// CHECK-NOT: llvm.store
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c8
// CHECK: llvm.getelementptr %[[HALF]][
// CHECK: llvm.return
tile.kernel @half(%b: !tile.array<?xi32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.iota : tensor<16384xi32, #wide>
  %y = tile.extract %x[%c1] : tensor<16384xi32, #wide> -> tensor<8192xi32, #half>
  tile.store %b[%c0], %y : !tile.array<?xi32, mut>, tensor<8192xi32, #half>
  tile.return
}

// What registers hold and a store takes element by element goes out eight at a time in kernels
// with products, where groups of warps multiply.
#k_rows = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0)]>
#n_rows = #tile.layout<[32, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 8), (8, 0), (16, 0)]>
#acc = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#held = #tile.layout<[2048] register [(1), (2), (128), (256), (512), (1024)] lane [(4), (8), (16), (32), (64)]>

// GROUPS-LABEL: llvm.func @held(
// GROUPS: %[[MEMORY:.*]] = llvm.alloca %{{.*}} x vector<32xbf16> {alignment = 16 : i64}
// GROUPS: llvm.store %{{.*}}, %[[MEMORY]] {{.*}} : vector<32xbf16>
// GROUPS: scf.for %[[I:.*]] = %c0 to %c8 step %c1 {
// GROUPS: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// GROUPS: %[[PLACE:.*]] = llvm.getelementptr %[[MEMORY]][%[[N]]] : (!llvm.ptr, i32) -> !llvm.ptr, vector<8xbf16>
// GROUPS: llvm.load %[[PLACE]] {alignment = 16 : i64} : !llvm.ptr -> vector<8xbf16>
// GROUPS-COUNT-8: scf.if
// GROUPS-NOT: scf.if
// GROUPS: llvm.return
// CHECK-LABEL: llvm.func @held(
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 {
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<32xbf16>
// CHECK: llvm.return
tile.kernel @held(%a: !tile.array<?xbf16>, %b: !tile.array<?xbf16, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.array<?xbf16> -> tensor<2048xbf16, #held>
  %y = arith.addf %x, %x : tensor<2048xbf16, #held>
  tile.store %b[%c0], %y : !tile.array<?xbf16, mut>, tensor<2048xbf16, #held>
  %m = tgpu.alloc offset 0 : !tgpu.buffer<16x32xbf16, #k_rows>
  %n = tgpu.alloc offset 1024 : !tgpu.buffer<32x16xbf16, #n_rows>
  %t = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  %r = tgpu.mma %m, %n, %t {atom = "mma_sync"} : !tgpu.buffer<16x32xbf16, #k_rows>, !tgpu.buffer<32x16xbf16, #n_rows>, tensor<16x16xf32, #acc>
  tile.return
}

// Threads of 32 warps have 64 registers each: 128 elements of a stream are in pieces.
#many = #tile.layout<[131072] register [(1), (2), (4096), (8192), (16384), (32768), (65536)] lane [(4), (8), (16), (32), (64)] warp [(128), (256), (512), (1024), (2048)]>

// CHECK-LABEL: llvm.func @many(
// CHECK-NOT: vector<128xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %c4
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK-NOT: vector<128xf32>
// CHECK: llvm.return
tile.kernel @many(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>) attributes {num_warps = 32 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<131072xf32, #many>
  %y = arith.addf %x, %x : tensor<131072xf32, #many>
  tile.store %b[%c0], %y : !tile.array<?xf32, mut>, tensor<131072xf32, #many>
  tile.return
}

// Not where they are reduced: some of them in registers is better.
#rows = #tile.layout<[128, 1024] register [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (64, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] warp [(0, 32), (0, 64), (0, 128), (0, 256), (0, 512)]>
#line = #tile.layout<[1024] lane [(1), (2), (4), (8), (16)] warp [(32), (64), (128), (256), (512)]>

// CHECK-LABEL: llvm.func @reduced(
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<128xf32>
// CHECK: llvm.return
tile.kernel @reduced(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>) attributes {num_warps = 32 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.array<?x?xf32> -> tensor<128x1024xf32, #rows>
  %y = arith.addf %x, %x : tensor<128x1024xf32, #rows>
  %s = tile.reduce(%y) axes [0] : (tensor<128x1024xf32, #rows>) -> tensor<1024xf32, #line> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maxnumf %p, %q : f32
    tile.yield %r : f32
  }
  tile.store %b[%c0], %s : !tile.array<?xf32, mut>, tensor<1024xf32, #line>
  tile.return
}

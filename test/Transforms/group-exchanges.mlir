// RUN: tile-opt %s --tile-group-exchanges | FileCheck %s
// Tiles that do not need each other are all stored before the first is loaded.

#l = #tile.layout<[64] register [(32)] lane [(1), (2), (4), (8), (16)] warp [(0), (0)]>
#q = #tile.layout<[64] offset [(1), (2), (4), (8), (16), (32)]>
!buffer = !tgpu.buffer<64xf32, #q>

// CHECK-LABEL: tile.kernel @apart
// CHECK: tgpu.store
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: %[[X:.*]] = tgpu.load
// CHECK-NEXT: %[[Y:.*]] = tgpu.load
// CHECK-NEXT: arith.addf %[[X]], %[[Y]]
tile.kernel @apart(%v: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %v : f32 -> tensor<64xf32, #l>
  %a = tgpu.alloc : !buffer
  %b = tgpu.alloc : !buffer
  tgpu.store %t, %a : tensor<64xf32, #l>, !buffer
  %x = tgpu.load %a : !buffer, tensor<64xf32, #l>
  %u = arith.mulf %t, %t : tensor<64xf32, #l>
  tgpu.store %u, %b : tensor<64xf32, #l>, !buffer
  %y = tgpu.load %b : !buffer, tensor<64xf32, #l>
  %z = arith.addf %x, %y : tensor<64xf32, #l>
  tile.return
}

// What is stored needs what is loaded; the same buffer is written again; somebody else writes.
// CHECK-LABEL: tile.kernel @needed
// CHECK: tgpu.store %{{.*}}, %[[A:.*]] :
// CHECK-NEXT: %[[X:.*]] = tgpu.load %[[A]]
// CHECK-NEXT: %[[U:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: tgpu.store %[[U]], %[[B:.*]] :
// CHECK-NEXT: tgpu.load %[[B]]
// CHECK-NEXT: tgpu.store %{{.*}}, %[[B]] :
// CHECK-NEXT: tgpu.load %[[B]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: tgpu.store %{{.*}}, %[[A]] :
tile.kernel @needed(%o: !tile.array<?xf32, mut>, %v: f32, %n: index) attributes {num_warps = 4 : i32} {
  %t = tile.splat %v : f32 -> tensor<64xf32, #l>
  %a = tgpu.alloc : !buffer
  %b = tgpu.alloc : !buffer
  tgpu.store %t, %a : tensor<64xf32, #l>, !buffer
  %x = tgpu.load %a : !buffer, tensor<64xf32, #l>
  %u = arith.mulf %x, %x : tensor<64xf32, #l>
  tgpu.store %u, %b : tensor<64xf32, #l>, !buffer
  %y = tgpu.load %b : !buffer, tensor<64xf32, #l>
  tgpu.store %t, %b : tensor<64xf32, #l>, !buffer
  %w = tgpu.load %b : !buffer, tensor<64xf32, #l>
  tile.store %o[%n], %t : !tile.array<?xf32, mut>, tensor<64xf32, #l>
  tgpu.store %t, %a : tensor<64xf32, #l>, !buffer
  tile.return
}

// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_90a | FileCheck %s
// What threads load may be another tile in each block of a cluster, and the block that has no
// position of the grid tests where it loads. What is the same in both is not tested.

#big = #tile.layout<[128, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>

// CHECK-LABEL: tile.kernel @loads
// CHECK-SAME: tgpu.cluster = 2 : i64, tgpu.cluster_axis = 0
// CHECK: tile.load %arg3[%{{.*}}, %{{.*}}] : !tile.array<?x?xf32> -> tensor<128x128xf32, #{{[a-z0-9]+}}>
// CHECK: tile.load %arg3[%{{.*}}, %{{.*}}] in_bounds [true, true] : !tile.array<?x?xf32> -> tensor<128x128xf32, #{{[a-z0-9]+}}>
tile.kernel @loads(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %v: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = tile.load %v[%m, %l] in_bounds [true, true] : !tile.array<?x?xf32> -> tensor<128x128xf32, #big>
  %same = tile.load %v[%c0, %l] in_bounds [true, true] : !tile.array<?x?xf32> -> tensor<128x128xf32, #big>
  %z = arith.addf %own, %same : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// RUN: tile-opt %s --tile-schedule-blocks | FileCheck %s
// A kernel whose loads are copied in a loop goes over the grid by itself, in bands of
// eight; any other stays as it is.

#rows = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>

// CHECK-LABEL: tile.kernel @persistent
// CHECK-SAME: tgpu.resident_blocks = 1
// CHECK: %[[FIRST:.*]] = tgpu.resident_block
// CHECK: %[[STEP:.*]] = tgpu.num_resident_blocks
// CHECK: scf.for %[[T:.*]] = %[[FIRST]] to %{{.*}} step %[[STEP]] {
// CHECK:   %[[N:.*]] = arith.index_cast %[[T]] : index to i32
// CHECK:   arith.minui
// CHECK-NOT: tile.block_id
// CHECK:   scf.for
// CHECK:     tile.load %{{.*}}[%[[M:.*]], %{{.*}}] {tile.copy = "tma"}
// CHECK: tile.return
tile.kernel @persistent(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xf32> -> tensor<64x64xf32, #rows>
    tile.store %c[%m, %k], %x : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #rows>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: resident
// CHECK: tile.block_id 0
tile.kernel @plain(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %x = tile.load %a[%m, %m] : !tile.array<?x?xf32> -> tensor<64x64xf32, #rows>
  tile.store %c[%m, %m], %x : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #rows>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// A block of four warps takes four positions of the grid: a warp knows its own by the
// thread's number, and does nothing beyond the last one.

#row = #tile.layout<[1, 64] register [(0, 1)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)]>

// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: %[[GX:[^: ]*]]: i32, %[[GY:[^: ]*]]: i32, %{{[^: ]*}}: i32) attributes
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-SAME: tile.num_warps = 1 : i32
// CHECK-SAME: tile.positions = 4 : i32
// CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK-DAG: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4_i32
// CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]], %c5_i32
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[WARP]]
// CHECK: %[[LANE:.*]] = arith.andi %[[THREAD]], %c31_i32
// CHECK: %[[TOTAL:.*]] = arith.muli %[[GX]], %[[GY]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[NUMBER]], %[[TOTAL]]
// CHECK: scf.if %[[EXISTS]] {
// CHECK:   arith.remui %[[NUMBER]], %[[GX]]
// CHECK:   arith.divui %[[NUMBER]], %[[GX]]
// CHECK:   llvm.load
// CHECK:   llvm.store
// CHECK: llvm.return
tile.kernel @rows(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>) attributes {grid = ["dim(0, 0)", "dim(0, 1)"], num_warps = 1 : i32, tgpu.positions = 4 : i64} {
  %i = tile.block_id 0 : index
  %j = tile.block_id 1 : index
  %v = tile.load %x[%i, %j] in_bounds [true, true] : !tile.array<?x?xf32> -> tensor<1x64xf32, #row>
  tile.store %y[%i, %j], %v in_bounds [true, true] : !tile.array<?x?xf32, mut>, tensor<1x64xf32, #row>
  tile.return
}

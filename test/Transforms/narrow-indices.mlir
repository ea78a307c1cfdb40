// RUN: tile-opt %s --tile-narrow-indices | FileCheck %s
// Index arithmetic becomes 32 bits wide only where the ranges prove that it fits.

// A block's number fits, and so does a loop up to a number of blocks; the product of
// two does not.

// CHECK-LABEL: @blocks
// CHECK-DAG: %[[ID:.*]] = tile.block_id 0
// CHECK-DAG: %[[N:.*]] = tile.num_blocks 0
// CHECK: %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: scf.for %[[I32:.*]] = %{{.*}} to %[[N32]] step %{{.*}} : i32 {
// CHECK: %[[I:.*]] = arith.index_cast %[[I32]] : i32 to index
// CHECK: arith.cmpi slt, %[[I32]], %{{.*}} : i32
// CHECK: arith.muli %[[ID]], %[[I]] : index
tile.kernel @blocks(%y: !tile.array<?xf32, mut>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %id = tile.block_id 0 : index
  %n = tile.num_blocks 0 : index
  scf.for %i = %c0 to %n step %c1 {
    %small = arith.cmpi slt, %i, %c7 : index
    %product = arith.muli %id, %i : index
    scf.if %small {
      tile.store %y[%product], %zero elements : !tile.array<?xf32, mut>, f32
    }
  }
  tile.return
}

// Dims of any array do not fit.

// CHECK-LABEL: @dims
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: arith.addi %{{.*}}, %{{.*}} : index
tile.kernel @dims(%y: !tile.array<?xf32, mut>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %n = tile.dim %y, 0 : !tile.array<?xf32, mut>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c7 : index
    tile.store %y[%next], %zero elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

// Where the launcher has checked the sizes, they do; a sum beyond them does not.

// CHECK-LABEL: @dims32
// CHECK: tile.divide
// CHECK-SAME: i32
// CHECK: scf.for %[[I32:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: arith.addi %[[I32]], %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : index
tile.kernel @dims32(%y: !tile.array<?xf32, mut>) attributes {tile.facts = ["index32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = tile.dim %y, 0 : !tile.array<?xf32, mut>
  %tiles = tile.divide ceil signed %n, %c64 : index
  scf.for %i = %c0 to %tiles step %c1 {
    %next = arith.addi %i, %c7 : index
    %beyond = arith.addi %n, %c7 : index
    tile.store %y[%next], %zero elements : !tile.array<?xf32, mut>, f32
    tile.store %y[%beyond], %zero elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

// The counter's last value must fit too.

// CHECK-LABEL: @last
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
tile.kernel @last(%y: !tile.array<?xf32, mut>) attributes {tile.facts = ["index32"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = tile.dim %y, 0 : !tile.array<?xf32, mut>
  scf.for %i = %c0 to %n step %c2 {
    tile.store %y[%i], %zero elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

// A mask: what it compares becomes i32 with it, down to the scalars that are stretched.
// The sum that cannot fit, and what an access reads, stay.

#row = #tile.layout<[1, 32] register [] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] warp []>
#line = #tile.layout<[32] register [] lane [(1), (2), (4), (8), (16)] warp []>

// CHECK-LABEL: @mask
// CHECK: %[[N:.*]] = tile.dim %{{.*}}, 0
// CHECK: %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: %[[LIMIT:.*]] = tile.splat %[[N32]] : i32 -> tensor<1x32xi32
// CHECK: %[[IOTA:.*]] = tile.iota : tensor<32xi32
// CHECK: %[[COLUMNS:.*]] = tile.reshape %[[IOTA]] : tensor<32xi32
// CHECK: %[[C3:.*]] = arith.constant dense<3> : tensor<1x32xi32
// CHECK: %[[MOVED:.*]] = arith.addi %[[COLUMNS]], %[[C3]] : tensor<1x32xi32
// CHECK: arith.cmpi slt, %[[MOVED]], %[[LIMIT]] : tensor<1x32xi32
// CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} : tensor<1x32xindex
tile.kernel @mask(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32, tile.facts = ["index32"]} {
  %n = tile.dim %x, 0 : !tile.array<?xf32>
  %limit = tile.splat %n : index -> tensor<1x32xindex, #row>
  %iota = tile.iota : tensor<32xindex, #line>
  %columns = tile.reshape %iota : tensor<32xindex, #line> -> tensor<1x32xindex, #row>
  %c3 = arith.constant dense<3> : tensor<1x32xindex, #row>
  %moved = arith.addi %columns, %c3 : tensor<1x32xindex, #row>
  %in = arith.cmpi slt, %moved, %limit : tensor<1x32xindex, #row>
  %beyond = arith.addi %limit, %c3 : tensor<1x32xindex, #row>
  %last = arith.cmpi sle, %moved, %beyond : tensor<1x32xindex, #row>
  %both = arith.andi %in, %last : tensor<1x32xi1, #row>
  %flat = tile.reshape %both : tensor<1x32xi1, #row> -> tensor<32xi1, #line>
  %zero = arith.constant dense<0.0> : tensor<32xf32, #line>
  tile.scatter %y[%iota], %zero mask(%flat : tensor<32xi1, #line>) : !tile.array<?xf32, mut>, [tensor<32xindex, #line>], tensor<32xf32, #line>
  tile.return
}

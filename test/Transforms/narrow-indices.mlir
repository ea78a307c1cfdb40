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

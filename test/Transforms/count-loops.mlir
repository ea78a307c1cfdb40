// RUN: tile-opt %s --tile-count-loops | FileCheck %s
// Loops whose variable may overflow a step behind the bound count; others stay.

// CHECK-LABEL: tile.kernel @anywhere
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 16 : index
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[HI]], %[[LO]] : index
// CHECK: %[[LAST:.*]] = arith.subi %[[DISTANCE]], %c1
// CHECK: %[[ROUNDS:.*]] = arith.divui %[[LAST]], %[[STEP]] : index
// CHECK: %[[HELD:.*]] = arith.minui %[[ROUNDS]], %{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.addi %[[HELD]], %c1
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[LO]], %[[HI]] : index
// CHECK: %[[COUNT:.*]] = arith.select %[[RUNS]], %[[ALL]], %c0
// CHECK: scf.for %[[T:.*]] = %c0{{.*}} to %[[COUNT]] step %c1
// CHECK-NEXT: %[[FAR:.*]] = arith.muli %[[T]], %[[STEP]] : index
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[LO]], %[[FAR]] : index
// CHECK-NEXT: tile.load %{{.*}}[%[[I]]]
tile.kernel @anywhere(%lo: index, %hi: index, %a: !tile.array<?xf32, mut>) attributes {num_warps = 4 : i32} {
  %step = arith.constant 16 : index
  scf.for %i = %lo to %hi step %step {
    %x = tile.load %a[%i] elements : !tile.array<?xf32, mut> -> tensor<16xf32>
    tile.store %a[%i], %x elements : !tile.array<?xf32, mut>, tensor<16xf32>
  }
  tile.return
}

// A step of 1 ends at the bound.
// CHECK-LABEL: tile.kernel @by_one
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]] step
tile.kernel @by_one(%lo: index, %hi: index, %a: !tile.array<?xf32, mut>, %v: f32) attributes {num_warps = 4 : i32} {
  %one = arith.constant 1 : index
  scf.for %i = %lo to %hi step %one {
    tile.store %a[%i], %v elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

// Axes are short in builds that rely on it, and so are numbers of 32 bits.
// CHECK-LABEL: tile.kernel @short
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c16
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c16
tile.kernel @short(%a: !tile.array<?xf32, mut>, %v: f32, %n: i32) attributes {num_warps = 4 : i32, tile.facts = ["index32"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %d = tile.dim %a, 0 : !tile.array<?xf32, mut>
  scf.for %i = %c0 to %d step %c16 {
    tile.store %a[%i], %v elements : !tile.array<?xf32, mut>, f32
  }
  %m = arith.index_cast %n : i32 to index
  scf.for %i = %m to %d step %c16 {
    tile.store %a[%i], %v elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

// Of a step that nothing is known of, so much as leads over all numbers that the loop goes by.
// CHECK-LABEL: tile.kernel @by_blocks
// CHECK-SAME: %[[STEP:.*]]: index
// CHECK: %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[STEP]], %[[MOST]] : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[LEAST]]
tile.kernel @by_blocks(%step: index, %a: !tile.array<?xf32, mut>, %v: f32) attributes {num_warps = 4 : i32, tile.facts = ["index32"]} {
  %b = tile.block_id 0 : index
  %d = tile.dim %a, 0 : !tile.array<?xf32, mut>
  scf.for %i = %b to %d step %step {
    tile.store %a[%i], %v elements : !tile.array<?xf32, mut>, f32
  }
  tile.return
}

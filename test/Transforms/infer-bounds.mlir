// RUN: tile-opt %s --split-input-file --tile-infer-bounds | FileCheck %s
// Accesses that are proven to stay inside are marked, others are not.

// A loop over whole tiles: k is a multiple of 64 by `requires`; m is not known to be.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%a: !tile.array<?x?xf32> {tile.dims = ["m", "k"]},
                  %b: !tile.array<?x?xf32> {tile.dims = ["k", "n"]},
                  %y: !tile.array<?xf32, mut> {tile.dims = ["m"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.array<?x?xf32>
  %rest = tile.remainder trunc signed %k, %c64 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  tile.assume %whole
  %i = tile.block_id 0 : index
  %n = tile.divide ceil signed %k, %c64 : index
  scf.for %j = %c0 to %n step %c1 {
    // CHECK: tile.load {{.*}} in_bounds [false, true]
    %0 = tile.load %a[%i, %j] : !tile.array<?x?xf32> -> tensor<32x64xf32>
    // The other array's dim of the same name is equal.
    // CHECK: tile.load {{.*}} in_bounds [true, false]
    %1 = tile.load %b[%j, %i] : !tile.array<?x?xf32> -> tensor<64x32xf32>
    // A larger tile reaches over the end, and so does the next one.
    // CHECK: tile.load %{{[^:]*}}] : !tile
    %2 = tile.load %b[%j, %i] : !tile.array<?x?xf32> -> tensor<128x32xf32>
    %next = arith.addi %j, %c1 : index
    // CHECK: tile.load %{{[^:]*}}] : !tile
    %3 = tile.load %b[%next, %i] : !tile.array<?x?xf32> -> tensor<64x32xf32>
  }
  tile.return
}

// -----

// Without the precondition only whole tiles, by floor, are inside.
// CHECK-LABEL: tile.kernel @floor
tile.kernel @floor(%a: !tile.array<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 0 : !tile.array<?xf32>
  %up = tile.divide ceil signed %k, %c64 : index
  scf.for %j = %c0 to %up step %c1 {
    // CHECK: tile.load %{{[^:]*}}] : !tile
    %0 = tile.load %a[%j] : !tile.array<?xf32> -> tensor<64xf32>
  }
  %down = tile.divide floor signed %k, %c64 : index
  scf.for %j = %c0 to %down step %c1 {
    // CHECK: tile.load {{.*}} in_bounds [true]
    %0 = tile.load %a[%j] : !tile.array<?xf32> -> tensor<64xf32>
  }
  // A start below zero is outside.
  %minus = arith.constant -1 : index
  scf.for %j = %minus to %down step %c1 {
    // CHECK: tile.load %{{[^:]*}}] : !tile
    %0 = tile.load %a[%j] : !tile.array<?xf32> -> tensor<64xf32>
  }
  tile.return
}

// -----

// Fixed sizes; the grid's own extents say nothing, a caller may give another.
// CHECK-LABEL: tile.kernel @fixed
tile.kernel @fixed(%a: !tile.array<128x1000xf32, mut>) attributes {grid = ["4"]} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %i = tile.block_id 0 : index
  // CHECK: tile.load {{.*}} in_bounds [true, false]
  %0 = tile.load %a[%c3, %c0] : !tile.array<128x1000xf32, mut> -> tensor<32x1024xf32>
  // CHECK: tile.load {{.*}} in_bounds [false, true]
  %1 = tile.load %a[%i, %c0] : !tile.array<128x1000xf32, mut> -> tensor<32x512xf32>
  // CHECK: tile.store {{.*}} in_bounds [false, true]
  tile.store %a[%c4, %c0], %1 : !tile.array<128x1000xf32, mut>, tensor<32x512xf32>
  // CHECK: tile.load {{.*}} in_bounds [true, true]
  %j = tile.remainder trunc signed %i, %c4 : index
  %2 = tile.load %a[%j, %c0] : !tile.array<128x1000xf32, mut> -> tensor<32x512xf32>
  // In elements: 96 + 32 fits, 97 + 32 does not.
  %c96 = arith.constant 96 : index
  %c97 = arith.constant 97 : index
  // CHECK: tile.load {{.*}} elements in_bounds [true, true]
  %3 = tile.load %a[%c96, %c0] elements : !tile.array<128x1000xf32, mut> -> tensor<32x512xf32>
  // CHECK: tile.load {{.*}} elements in_bounds [false, true]
  %4 = tile.load %a[%c97, %c0] elements : !tile.array<128x1000xf32, mut> -> tensor<32x512xf32>
  tile.return
}

// -----

// Branches: single elements under a test of their index.
// CHECK-LABEL: tile.kernel @branch
tile.kernel @branch(%a: !tile.array<?xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %n = tile.dim %a, 0 : !tile.array<?xf32>
  %below = arith.cmpi slt, %i, %n : index
  %above = arith.cmpi sge, %i, %c0 : index
  %both = arith.andi %below, %above : i1
  %r = scf.if %both -> f32 {
    // CHECK: tile.load {{.*}} elements in_bounds [true]
    %0 = tile.load %a[%i] elements : !tile.array<?xf32> -> f32
    scf.yield %0 : f32
  } else {
    // CHECK: tile.load %{{[^:]*}}] elements : !tile
    %0 = tile.load %a[%i] elements : !tile.array<?xf32> -> f32
    scf.yield %0 : f32
  }
  tile.return
}

// -----

// A `for` with a `break` has become a scf.while with a counter.
// CHECK-LABEL: tile.kernel @counter
tile.kernel @counter(%a: !tile.array<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %n = tile.dim %a, 0 : !tile.array<?xf32>
  %r:2 = scf.while (%k = %c0, %stop = %false) : (index, i1) -> (index, i1) {
    %on = arith.xori %stop, %true : i1
    %go = scf.if %on -> i1 {
      %below = arith.cmpi slt, %k, %n : index
      scf.yield %below : i1
    } else {
      scf.yield %false : i1
    }
    scf.condition(%go) %k, %stop : index, i1
  } do {
  ^bb0(%k: index, %stop: i1):
    // CHECK: tile.load {{.*}} elements in_bounds [true]
    %e = tile.load %a[%k] elements : !tile.array<?xf32> -> f32
    %stop1 = arith.cmpf olt, %e, %e : f32
    %next = arith.addi %k, %c1 : index
    // CHECK: tile.load %{{[^:]*}}] elements : !tile
    %f = tile.load %a[%next] elements : !tile.array<?xf32> -> f32
    scf.yield %next, %stop1 : index, i1
  }
  tile.return
}

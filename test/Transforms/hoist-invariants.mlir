// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-hoist-invariants))' | FileCheck %s
// What does not change from round to round stands before the loop.

// CHECK-LABEL: tile.kernel @loads(
// CHECK-DAG: tile.load %{{.*}} : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
// CHECK-DAG: arith.muli
// CHECK: scf.for
// CHECK-NEXT: tile.load %{{.*}} : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
// CHECK-NEXT: tile.mma
tile.kernel @loads(%q: !tile.array<?x?xbf16>, %k: !tile.array<?x?xbf16>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.block_id 0 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<16x16xf32>) {
    %a = tile.load %q[%m, %c0] : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
    %s = arith.muli %m, %n : index
    %b = tile.load %k[%s, %i] : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
    %d = tile.mma %a, %b, %acc : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %o[%m, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.return
}

// The loop writes the array: its load stays. Another mut array is left alone.
// CHECK-LABEL: tile.kernel @written(
// CHECK-SAME: %[[X:.*]]: !tile.array<?xf32, mut>, %[[Y:.*]]: !tile.array<?xf32, mut>
// CHECK: tile.load %[[Y]]
// CHECK: scf.for
// CHECK-NEXT: tile.load %[[X]]
tile.kernel @written(%x: !tile.array<?xf32, mut>, %y: !tile.array<?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.load %x[%c0] : !tile.array<?xf32, mut> -> tensor<8xf32>
    %b = tile.load %y[%c0] : !tile.array<?xf32, mut> -> tensor<8xf32>
    %c = arith.addf %a, %b : tensor<8xf32>
    tile.store %x[%i], %c : !tile.array<?xf32, mut>, tensor<8xf32>
  }
  tile.return
}

// When arrays may overlap, any write in the loop keeps every load.
// CHECK-LABEL: tile.kernel @overlapping(
// CHECK: scf.for
// CHECK-NEXT: tile.load
tile.kernel @overlapping(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>, %n: index) attributes {arrays_overlap} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.load %x[%c0] : !tile.array<?xf32> -> tensor<8xf32>
    tile.store %y[%i], %a : !tile.array<?xf32, mut>, tensor<8xf32>
  }
  tile.return
}

// A loop that waits for another block must read again what that one writes.
// CHECK-LABEL: tile.kernel @waits(
// CHECK: scf.while
// CHECK: tile.atomic load
// CHECK: do
// CHECK: tile.load
tile.kernel @waits(%flag: !tile.array<?xi32, mut>, %x: !tile.array<?xf32, mut>, %y: !tile.array<?xf32, mut>, %n: i32) {
  %c0 = arith.constant 0 : index
  scf.while : () -> () {
    %f = tile.atomic load %flag[%n] order(acquire) : !tile.array<?xi32, mut>, [i32] -> i32
    %c = arith.cmpi ne, %f, %n : i32
    scf.condition(%c)
  } do {
    %a = tile.load %x[%c0] : !tile.array<?xf32, mut> -> tensor<8xf32>
    tile.store %y[%c0], %a : !tile.array<?xf32, mut>, tensor<8xf32>
    scf.yield
  }
  tile.return
}

// Free tiles stay inside, unless something needs them outside.
// CHECK-LABEL: tile.kernel @free(
// CHECK: %[[S:.*]] = tile.splat %{{.*}} : f32 -> tensor<8xf32>
// CHECK: math.exp %[[S]]
// CHECK: scf.for
// CHECK-NEXT: tile.iota
tile.kernel @free(%y: !tile.array<?xf32, mut>, %z: !tile.array<?xi32, mut>, %s: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.splat %s : f32 -> tensor<8xf32>
    %e = math.exp %a : tensor<8xf32>
    tile.store %y[%i], %e : !tile.array<?xf32, mut>, tensor<8xf32>
    %t = tile.iota : tensor<8xi32>
    tile.store %z[%i], %t : !tile.array<?xi32, mut>, tensor<8xi32>
  }
  tile.return
}

// RUN: tile-opt %s --tile-split-builds | FileCheck %s
// RUN: tile-opt %s --tile-split-builds=only-general | FileCheck %s --check-prefix=GENERAL

// A kernel with tiles gets a build that relies on alignment; the general one stays.

// CHECK: tile.kernel @copy__aligned16(
// CHECK-NOT: arrays_overlap
// CHECK-SAME: tile.facts = ["aligned16", "disjoint", "index32"], tile.kernel = "copy"
// CHECK: tile.kernel @copy(
// CHECK-NOT: tile.facts
// CHECK-SAME: arrays_overlap
// CHECK-SAME: tile.kernel = "copy"
// GENERAL-NOT: __aligned16
// GENERAL: tile.kernel @copy(
tile.kernel @copy(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>)
    attributes {arrays_overlap} {
  %i = tile.block_id 0 : index
  %t = tile.load %x[%i] : !tile.array<?xf32> -> tensor<128xf32>
  tile.store %y[%i], %t : !tile.array<?xf32, mut>, tensor<128xf32>
  tile.return
}

// Single elements gain nothing from it.

// CHECK-NOT: @one__aligned16
// CHECK: tile.kernel @one(
tile.kernel @one(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) {
  %i = tile.block_id 0 : index
  %e = tile.load %x[%i] elements : !tile.array<?xf32> -> f32
  tile.store %y[%i], %e elements : !tile.array<?xf32, mut>, f32
  tile.return
}

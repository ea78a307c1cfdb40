// RUN: tile-opt %s --tile-split-builds | FileCheck %s
// RUN: tile-opt %s --tile-split-builds=only-general | FileCheck %s --check-prefix=GENERAL
// RUN: tile-opt %s --tile-split-builds=chip=sm_90a | FileCheck %s --check-prefix=PAIRS

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

// Of `strided` arrays it is said in two builds that their rows are dense.

// CHECK: tile.kernel @apart__aligned16__dense_rows(%{{.*}}: !tile.array<?x?xf32, strided rows>, %{{.*}}: !tile.array<?xf32, mut>)
// CHECK-SAME: tile.facts = ["aligned16", "disjoint", "index32", "dense_rows"], tile.kernel = "apart"
// CHECK: tile.load %{{.*}} : !tile.array<?x?xf32, strided rows> -> tensor<1x128xf32>
// CHECK: tile.kernel @apart__dense_rows(%{{.*}}: !tile.array<?x?xf32, strided rows>
// CHECK-SAME: tile.facts = ["disjoint", "index32", "dense_rows"]
// CHECK: tile.kernel @apart__aligned16(%{{.*}}: !tile.array<?x?xf32, strided>
// CHECK-SAME: tile.facts = ["aligned16", "disjoint", "index32"]
// CHECK: tile.kernel @apart(%{{.*}}: !tile.array<?x?xf32, strided>
tile.kernel @apart(%x: !tile.array<?x?xf32, strided>, %y: !tile.array<?xf32, mut>) {
  %i = tile.block_id 0 : index
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32, strided> -> tensor<1x128xf32>
  %r = tile.reshape %t : tensor<1x128xf32> -> tensor<128xf32>
  tile.store %y[%i], %r : !tile.array<?xf32, mut>, tensor<128xf32>
  tile.return
}

// Blocks side by side would load the same, if there are any: another build knows that. (And
// one shares the loop over K, and one takes arrays that are aligned to words only.)

// CHECK-NOT: __pairs
// CHECK-NOT: __aligned4
// PAIRS: tile.kernel @product__aligned16(
// PAIRS-SAME: tile.facts = ["aligned16", "disjoint", "index32"], tile.kernel = "product"
// PAIRS: tile.kernel @product__aligned16__few_blocks(
// PAIRS-SAME: tile.facts = ["aligned16", "disjoint", "index32", "few_blocks"]
// PAIRS: tile.kernel @product__aligned16__pairs(
// PAIRS-SAME: tile.facts = ["aligned16", "disjoint", "index32", "pairs"]
// PAIRS: tile.kernel @product__aligned4(
// PAIRS-SAME: tile.facts = ["aligned4", "disjoint", "index32"]
// PAIRS: tile.kernel @product(
tile.kernel @product(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%k, %l] : !tile.array<?x?xbf16> -> tensor<64x128xbf16>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %p : tensor<64x128xf32>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x128xf32>
  tile.return
}

// Small sums save less than the wait for a neighbour costs; large ones are paired anyway.

// PAIRS-NOT: @small__aligned16__pairs
tile.kernel @small(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%m, %k] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %x, %s : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%m, %m], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

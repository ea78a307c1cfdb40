// RUN: tile-opt %s --split-input-file --tile-assign-layouts --tile-verify-stage=stage=laid-out | FileCheck %s
// Where a tile is moved anyway, it goes to where most can be done without another move.

// Cut in halves again and again, as in a Fourier transform: registers are the highest bits.
// The second cut needs no conversion, nor does the third.
// CHECK-DAG: #[[TOP:.*]] = #tile.layout<[2048] register [(512), (1024)] lane [(1), (2), (4), (8), (16)] warp [(32), (64), (128), (256)]>
// CHECK-LABEL: tile.kernel @cut
tile.kernel @cut(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>)
    attributes {num_warps = 16 : i32, tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<4096xf32>
  // CHECK: tile.extract %{{.*}}[%{{.*}}] : tensor<4096xf32, #{{.*}}> -> tensor<2048xf32, #{{.*}}>
  %l = tile.extract %x[%c0] : tensor<4096xf32> -> tensor<2048xf32>
  %h = tile.extract %x[%c1] : tensor<4096xf32> -> tensor<2048xf32>
  %s = arith.addf %l, %h : tensor<2048xf32>
  %d = arith.subf %l, %h : tensor<2048xf32>
  %p = tile.reshape %s : tensor<2048xf32> -> tensor<2048x1xf32>
  %q = tile.reshape %d : tensor<2048xf32> -> tensor<2048x1xf32>
  %j = tile.cat(%p, %q) axis 1 : (tensor<2048x1xf32>, tensor<2048x1xf32>) -> tensor<2048x2xf32>
  %y = tile.reshape %j : tensor<2048x2xf32> -> tensor<4096xf32>
  %l2 = tile.extract %y[%c0] : tensor<4096xf32> -> tensor<2048xf32>
  %h2 = tile.extract %y[%c1] : tensor<4096xf32> -> tensor<2048xf32>
  %s2 = arith.addf %l2, %h2 : tensor<2048xf32>
  %d2 = arith.subf %l2, %h2 : tensor<2048xf32>
  %p2 = tile.reshape %s2 : tensor<2048xf32> -> tensor<1024x1x2xf32>
  %q2 = tile.reshape %d2 : tensor<2048xf32> -> tensor<1024x1x2xf32>
  %j2 = tile.cat(%p2, %q2) axis 1 : (tensor<1024x1x2xf32>, tensor<1024x1x2xf32>) -> tensor<1024x2x2xf32>
  %y2 = tile.reshape %j2 : tensor<1024x2x2xf32> -> tensor<4096xf32>
  // CHECK: tile.convert_layout
  // CHECK: tile.extract %{{.*}} -> tensor<2048xf32, #[[TOP]]>
  // CHECK: tile.extract %{{.*}} -> tensor<2048xf32, #[[TOP]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.extract
  %l3 = tile.extract %y2[%c0] : tensor<4096xf32> -> tensor<2048xf32>
  %h3 = tile.extract %y2[%c1] : tensor<4096xf32> -> tensor<2048xf32>
  %s3 = arith.addf %l3, %h3 : tensor<2048xf32>
  %d3 = arith.subf %l3, %h3 : tensor<2048xf32>
  %p3 = tile.reshape %s3 : tensor<2048xf32> -> tensor<512x1x4xf32>
  %q3 = tile.reshape %d3 : tensor<2048xf32> -> tensor<512x1x4xf32>
  %j3 = tile.cat(%p3, %q3) axis 1 : (tensor<512x1x4xf32>, tensor<512x1x4xf32>) -> tensor<512x2x4xf32>
  %y3 = tile.reshape %j3 : tensor<512x2x4xf32> -> tensor<4096xf32>
  %l4 = tile.extract %y3[%c0] : tensor<4096xf32> -> tensor<2048xf32>
  %h4 = tile.extract %y3[%c1] : tensor<4096xf32> -> tensor<2048xf32>
  %s4 = arith.addf %l4, %h4 : tensor<2048xf32>
  tile.store %b[%c0], %s4 : !tile.array<?xf32, mut>, tensor<2048xf32>
  tile.return
}

// -----

// The iota of two tiles does not make one layout of theirs: each has one of its own.
// CHECK-LABEL: tile.kernel @positions
// CHECK: tile.load {{.*}} -> tensor<1024xf32, #[[FOUR:.*]]>
// CHECK: tile.load {{.*}} -> tensor<1024xf64, #[[TWO:.*]]>
// CHECK-NOT: tile.convert_layout
tile.kernel @positions(%a: !tile.array<?xf32, mut>, %b: !tile.array<?xf64, mut>)
    attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %i = tile.iota : tensor<1024xi32>
  %x = tile.load %a[%c0] : !tile.array<?xf32, mut> -> tensor<1024xf32>
  %y = tile.load %b[%c0] : !tile.array<?xf64, mut> -> tensor<1024xf64>
  %p = arith.sitofp %i : tensor<1024xi32> to tensor<1024xf32>
  %q = arith.sitofp %i : tensor<1024xi32> to tensor<1024xf64>
  %s = arith.addf %x, %p : tensor<1024xf32>
  %t = arith.addf %y, %q : tensor<1024xf64>
  tile.store %a[%c0], %s : !tile.array<?xf32, mut>, tensor<1024xf32>
  tile.store %b[%c0], %t : !tile.array<?xf64, mut>, tensor<1024xf64>
  tile.return
}

// -----

// A long sort: the lowest bits along the axis are registers, which most steps are over. A short
// one stays where it is.
// CHECK-DAG: #[[SORTED:.*]] = #tile.layout<[4096] register [(1), (2), (4), (8), (16)] lane [(32), (64), (128), (256), (512)] warp [(1024), (2048)]>
// CHECK-LABEL: tile.kernel @sorts
tile.kernel @sorts(%a: !tile.array<?xi32, mut>, %b: !tile.array<?xi32, mut>)
    attributes {num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.array<?xi32, mut> -> tensor<4096xi32>
  // CHECK: tile.convert_layout %{{.*}} -> tensor<4096xi32, #[[SORTED]]>
  // CHECK: tile.sort({{.*}}) axis 0 unsigned : (tensor<4096xi32, #[[SORTED]]>) -> tensor<4096xi32, #[[SORTED]]>
  %s = tile.sort(%x) axis 0 unsigned : (tensor<4096xi32>) -> tensor<4096xi32>
  tile.store %a[%c0], %s : !tile.array<?xi32, mut>, tensor<4096xi32>
  // CHECK: tile.store
  // CHECK-NOT: tile.convert_layout
  %y = tile.load %b[%c0] : !tile.array<?xi32, mut> -> tensor<16xi32>
  %t = tile.sort(%y) axis 0 unsigned : (tensor<16xi32>) -> tensor<16xi32>
  tile.store %b[%c0], %t : !tile.array<?xi32, mut>, tensor<16xi32>
  tile.return
}

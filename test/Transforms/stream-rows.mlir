// RUN: tile-opt %s --tile-stream-rows --split-input-file --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-stream-rows=num-warps=8 --split-input-file --canonicalize | FileCheck %s --check-prefix=EIGHT
// Rows that no block can hold: a loop over parts for each reduction that follows from others,
// and one for what is stored.

// CHECK-LABEL: tile.kernel @softmax
// CHECK-SAME: num_warps = 32 : i32
// CHECK: %[[ROW:.*]] = tile.block_id 0
// CHECK: %[[MOST:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (tensor<1x16384xf32>) {
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%[[ROW]], %[[I]]] : {{.*}} -> tensor<1x16384xf32>
// CHECK: %[[M:.*]] = arith.maximumf %[[SO_FAR]], %[[X]]
// CHECK: scf.yield %[[M]]
// CHECK: %[[MAX:.*]] = tile.reduce(%[[MOST]]) axes [0, 1]
// CHECK: %[[SUMS:.*]] = scf.for
// CHECK: tile.load
// CHECK: tile.splat %[[MAX]] : f32 -> tensor<1x16384xf32>
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = tile.reduce(%[[SUMS]])
// CHECK: scf.for %[[J:.*]] =
// CHECK: tile.load
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: tile.store %{{.*}}[%[[ROW]], %[[J]]], %{{.*}} : {{.*}}, tensor<1x16384xf32>
// CHECK-NOT: tensor<1x131072
// EIGHT-LABEL: tile.kernel @softmax
// EIGHT-NOT: num_warps
// EIGHT: tensor<1x4096xf32>
tile.kernel @softmax(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>) attributes {tile.facts = ["disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x131072xf32>
  %m = tile.reduce(%x) axes [0, 1] : (tensor<1x131072xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.maximumf %p, %q : f32
    tile.yield %y : f32
  }
  %ms = tile.splat %m : f32 -> tensor<1x131072xf32>
  %d = arith.subf %x, %ms : tensor<1x131072xf32>
  %e = math.exp %d : tensor<1x131072xf32>
  %s = tile.reduce(%e) axes [0, 1] : (tensor<1x131072xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  %ss = tile.splat %s : f32 -> tensor<1x131072xf32>
  %o = arith.divf %e, %ss : tensor<1x131072xf32>
  tile.store %b[%r, %z], %o : !tile.array<?x?xf32, mut>, tensor<1x131072xf32>
  tile.return
}

// -----

// One pass: positions are counted on from part to part, and what combines by several
// operations begins with the first part.
// CHECK-LABEL: tile.kernel @least
// CHECK-SAME: num_warps = 8 : i32
// CHECK: %[[B:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %c8 step
// CHECK-SAME: -> (tensor<1x4096xf32>, tensor<1x4096xi32>)
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %[[I]], %c4096
// CHECK-DAG: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[I]], %c0
// CHECK-DAG: arith.cmpf olt, %{{.*}} : tensor<1x4096xf32>
// CHECK: arith.select %[[IS_FIRST]]
// CHECK: arith.select %[[IS_FIRST]]
// CHECK: tile.reduce(%[[B]]#0, %[[B]]#1)
tile.kernel @least(%a: !tile.array<?x?xf32>, %b: !tile.array<?xi32, mut>) attributes {tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x32768xf32>
  %i = tile.iota : tensor<32768xi32>
  %n = tile.reshape %i : tensor<32768xi32> -> tensor<1x32768xi32>
  %m:2 = tile.reduce(%x, %n) axes [1] : (tensor<1x32768xf32>, tensor<1x32768xi32>) -> (tensor<1xf32>, tensor<1xi32>) {
  ^bb0(%p: f32, %pi: i32, %q: f32, %qi: i32):
    %c = arith.cmpf olt, %p, %q : f32
    %v = arith.select %c, %p, %q : f32
    %w = arith.select %c, %pi, %qi : i32
    tile.yield %v, %w : f32, i32
  }
  tile.store %b[%r], %m#1 : !tile.array<?xi32, mut>, tensor<1xi32>
  tile.return
}

// -----

// argmax: the best of what each thread has of a part, and one pair a thread from part to part. No
// part behind the row is gone over, whose elements are the last that are found.
// CHECK-LABEL: tile.kernel @place
// CHECK: %[[N:.*]] = arith.maxsi %{{.*}}, %c1
// CHECK: %[[B:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args(%{{.*}}) -> (tensor<1x256xbf16>, tensor<1x256xi32>) {
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[XS:.*]] = tile.reshape %[[X]] : tensor<1x4096xbf16> -> tensor<2x256x8xbf16>
// CHECK: %[[P:.*]] = tile.iota : tensor<4096xi32>
// CHECK: %[[PS:.*]] = tile.reshape %[[P]]
// CHECK: %[[OWN:.*]]:2 = tile.reduce(%[[XS]], %[[PS]]) axes [0, 2] {tile.arg = "max"}
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c4096
// CHECK: arith.addi %[[OWN]]#1
// CHECK: arith.cmpf ogt, %{{.*}} : tensor<1x256xbf16>
// CHECK: tile.reduce(%[[B]]#0, %[[B]]#1) axes [1] :
tile.kernel @place(%a: !tile.array<?x?xbf16>, %b: !tile.array<?xi32, mut>) attributes {tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] pad(0xFF80 : bf16) : !tile.array<?x?xbf16> -> tensor<1x32768xbf16>
  %i = tile.iota : tensor<32768xi32>
  %n = tile.reshape %i : tensor<32768xi32> -> tensor<1x32768xi32>
  %m:2 = tile.reduce(%x, %n) axes [1] {tile.arg = "max"} : (tensor<1x32768xbf16>, tensor<1x32768xi32>) -> (tensor<1xbf16>, tensor<1xi32>) {
  ^bb0(%p: bf16, %pi: i32, %q: bf16, %qi: i32):
    %c = arith.cmpf ogt, %p, %q : bf16
    %v = arith.select %c, %p, %q : bf16
    %w = arith.select %c, %pi, %qi : i32
    tile.yield %v, %w : bf16, i32
  }
  tile.store %b[%r], %m#1 : !tile.array<?xi32, mut>, tensor<1xi32>
  tile.return
}

// -----

// Arrays may overlap: what is loaded again may have been stored to.
// CHECK-LABEL: tile.kernel @overlapping
// CHECK-NOT: scf.for
tile.kernel @overlapping(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>) attributes {arrays_overlap} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x32768xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<1x32768xf32>) -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  tile.store %b[%r], %m : !tile.array<?xf32, mut>, tensor<1xf32>
  tile.return
}

// -----

// In place, with a scan, or of two rows: as before. So are rows that registers hold.
// CHECK-LABEL: tile.kernel @in_place
// CHECK-NOT: scf.for
tile.kernel @in_place(%a: !tile.array<?x?xf32, mut>) attributes {tile.facts = ["disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32, mut> -> tensor<1x65536xf32>
  %m = tile.reduce(%x) axes [0, 1] : (tensor<1x65536xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  %s = tile.splat %m : f32 -> tensor<1x65536xf32>
  %o = arith.divf %x, %s : tensor<1x65536xf32>
  tile.store %a[%r, %z], %o : !tile.array<?x?xf32, mut>, tensor<1x65536xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @two_rows
// CHECK-NOT: scf.for
tile.kernel @two_rows(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>) attributes {tile.facts = ["disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<2x65536xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<2x65536xf32>) -> tensor<2xf32> {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  tile.store %b[%r], %m : !tile.array<?xf32, mut>, tensor<2xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @once_element_by_element
// CHECK-NOT: scf.for
tile.kernel @once_element_by_element(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>) attributes {tile.facts = ["disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x65536xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<1x65536xf32>) -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  tile.store %b[%r], %m : !tile.array<?xf32, mut>, tensor<1xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @nothing_is_reduced
// CHECK-NOT: scf.for
tile.kernel @nothing_is_reduced(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>) attributes {tile.facts = ["aligned16", "disjoint"]} {
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r] : !tile.array<?xf32> -> tensor<65536xf32>
  %y = arith.addf %x, %x : tensor<65536xf32>
  tile.store %b[%r], %y : !tile.array<?xf32, mut>, tensor<65536xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: scf.for
tile.kernel @short(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>) attributes {tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x16384xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<1x16384xf32>) -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  tile.store %b[%r], %m : !tile.array<?xf32, mut>, tensor<1xf32>
  tile.return
}

// -----

// Parts behind the row are left out: their elements are -inf for the maximum, and e^-inf for the
// sum, which then starts with +0 as it would come to. Not where every element counts.
// CHECK-LABEL: tile.kernel @short
// CHECK: %[[N:.*]] = tile.dim %{{.*}}, 1
// CHECK: %[[UP:.*]] = arith.addi %[[N]], %c16383
// CHECK: %[[PARTS:.*]] = arith.divui %[[UP]], %c16384
// CHECK: %[[MOST:.*]] = arith.minsi %[[PARTS]], %c8
// CHECK: %[[END:.*]] = arith.maxsi %[[MOST]], %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[END]]
// CHECK: %[[SHORT:.*]] = arith.cmpi slt, %[[END]], %c8
// CHECK: %[[ZERO:.*]] = arith.select %[[SHORT]], %cst{{.*}}, %cst
// CHECK: %[[ZEROS:.*]] = tile.splat %[[ZERO]]
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: scf.for %{{.*}} = %c0 to %[[END]]
// CHECK: tile.store
tile.kernel @short(%a: !tile.array<?x?xf32> {tile.dims = ["rows", "cols"]}, %b: !tile.array<?x?xf32, mut> {tile.dims = ["rows", "cols"]}) attributes {tile.facts = ["disjoint"]} {
  %z = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x131072xf32>
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] pad(0xFF800000 : f32) : !tile.array<?x?xf32> -> tensor<1x131072xf32>
  %m = tile.reduce(%x) axes [0, 1] : (tensor<1x131072xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.maximumf %p, %q : f32
    tile.yield %y : f32
  }
  %ms = tile.splat %m : f32 -> tensor<1x131072xf32>
  %d = arith.subf %x, %ms : tensor<1x131072xf32>
  %e = math.exp %d : tensor<1x131072xf32>
  %s = tile.reduce(%e) axes [0, 1] : (tensor<1x131072xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  %ss = tile.splat %s : f32 -> tensor<1x131072xf32>
  %g = arith.addf %e, %one : tensor<1x131072xf32>
  %h = arith.divf %g, %ss : tensor<1x131072xf32>
  %t = tile.reduce(%h) axes [0, 1] : (tensor<1x131072xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.addf %p, %q : f32
    tile.yield %y : f32
  }
  %ts = tile.splat %t : f32 -> tensor<1x131072xf32>
  %o = arith.mulf %h, %ts : tensor<1x131072xf32>
  tile.store %b[%r, %z], %o : !tile.array<?x?xf32, mut>, tensor<1x131072xf32>
  tile.return
}

// RUN: tile-opt %s --tile-rotate-rows --split-input-file --canonicalize | FileCheck %s
// Rows of any length in arrays that have whole pieces of 16 bytes: tiles begin at the piece in which
// the row begins, and positions are turned by what is ahead of the row.

// CHECK-LABEL: tile.kernel @turned
// CHECK-DAG: %[[R:.*]] = tile.block_id 0
// CHECK-DAG: %[[N:.*]] = tile.dim %{{.*}}, 1
// CHECK: %[[OFFSET:.*]] = arith.muli %[[R]], %[[N]] : index
// CHECK: %[[AHEAD:.*]] = arith.andi %[[OFFSET]], %c7 : index
// CHECK: %[[START:.*]] = arith.subi %c0, %[[AHEAD]] : index
// CHECK: tile.load %{{.*}}[%[[R]], %[[START]]] elements pad(0xFF80 : bf16) {tile.begins_at_piece}
// CHECK: %[[I:.*]] = tile.iota
// CHECK: %[[AHEADS:.*]] = tile.splat %[[AHEAD]]
// CHECK: %[[MOVED:.*]] = arith.subi %[[I]], %[[AHEADS]]
// CHECK: arith.andi %[[MOVED]], %{{.*}} {tile.turned_position}
// CHECK: tile.store %{{.*}}[%[[R]], %[[START]]], %{{.*}} elements {tile.begins_at_piece}
tile.kernel @turned(%a: !tile.array<?x?xbf16> {tile.dims = ["rows", "cols"]}, %b: !tile.array<?x?xf32, mut> {tile.dims = ["rows", "cols"]}) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] pad(0xFF80 : bf16) : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %f = arith.extf %x : tensor<1x1024xbf16> to tensor<1x1024xf32>
  %m = tile.reduce(%f) axes [0, 1] : (tensor<1x1024xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %y = arith.maximumf %p, %q : f32
    tile.yield %y : f32
  }
  %i = tile.iota : tensor<1024xindex>
  %j = tile.reshape %i : tensor<1024xindex> -> tensor<1x1024xindex>
  %k = arith.index_cast %j : tensor<1x1024xindex> to tensor<1x1024xi32>
  %g = arith.sitofp %k : tensor<1x1024xi32> to tensor<1x1024xf32>
  %ms = tile.splat %m : f32 -> tensor<1x1024xf32>
  %o = arith.mulf %g, %ms : tensor<1x1024xf32>
  tile.store %b[%r, %z], %o : !tile.array<?x?xf32, mut>, tensor<1x1024xf32>
  tile.return
}

// -----

// A place that is looked for is turned when it is found: padding, which is found last, is column 0.
// CHECK-LABEL: tile.kernel @place
// CHECK: %[[AHEAD:.*]] = arith.andi %{{.*}}, %c7 : index
// CHECK: %[[I:.*]] = tile.iota
// CHECK: %[[J:.*]] = tile.reshape %[[I]]
// CHECK: %[[M:.*]]:2 = tile.reduce(%{{.*}}, %[[J]]) axes [1] {tile.arg = "max"}
// CHECK: %[[AHEAD32:.*]] = arith.index_cast %[[AHEAD]] : index to i32
// CHECK: %[[AHEADS:.*]] = tile.splat %[[AHEAD32]]
// CHECK: %[[MOVED:.*]] = arith.subi %[[M]]#1, %[[AHEADS]]
// CHECK: %[[COLUMN:.*]] = arith.maxsi %[[MOVED]], %cst
// CHECK: tile.store %{{.*}}[%{{.*}}], %[[COLUMN]]
tile.kernel @place(%a: !tile.array<?x?xbf16>, %b: !tile.array<?xi32, mut>) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] pad(0xFF80 : bf16) : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %i = tile.iota : tensor<1024xi32>
  %n = tile.reshape %i : tensor<1024xi32> -> tensor<1x1024xi32>
  %m:2 = tile.reduce(%x, %n) axes [1] {tile.arg = "max"} : (tensor<1x1024xbf16>, tensor<1x1024xi32>) -> (tensor<1xbf16>, tensor<1xi32>) {
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

// Zeros may be greater than the row: positions are turned, and are not in order any more.
// CHECK-LABEL: tile.kernel @zeros_ahead
// CHECK: %[[TURNED:.*]] = arith.andi %{{.*}} {tile.turned_position}
// CHECK: %[[J:.*]] = tile.reshape %[[TURNED]]
// CHECK: tile.reduce(%{{.*}}, %[[J]]) axes [1] :
tile.kernel @zeros_ahead(%a: !tile.array<?x?xbf16>, %b: !tile.array<?xi32, mut>) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %i = tile.iota : tensor<1024xi32>
  %n = tile.reshape %i : tensor<1024xi32> -> tensor<1x1024xi32>
  %m:2 = tile.reduce(%x, %n) axes [1] {tile.arg = "max"} : (tensor<1x1024xbf16>, tensor<1x1024xi32>) -> (tensor<1xbf16>, tensor<1xi32>) {
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

// Arrays of which it is not known that their rows begin alike.
// CHECK-LABEL: tile.kernel @other_rows
// CHECK-NOT: elements
tile.kernel @other_rows(%a: !tile.array<?x?xbf16> {tile.dims = ["rows", "cols"]}, %b: !tile.array<?x?xbf16, mut> {tile.dims = ["rows", "more"]}) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %m = tile.reduce(%x) axes [0, 1] : (tensor<1x1024xbf16>) -> bf16 {
  ^bb0(%p: bf16, %q: bf16):
    %y = arith.maximumf %p, %q : bf16
    tile.yield %y : bf16
  }
  %ms = tile.splat %m : bf16 -> tensor<1x1024xbf16>
  tile.store %b[%r, %z], %ms : !tile.array<?x?xbf16, mut>, tensor<1x1024xbf16>
  tile.return
}

// -----

// Words go one by one, and so does what begins at another column.
// CHECK-LABEL: tile.kernel @words
// CHECK-NOT: elements
tile.kernel @words(%a: !tile.array<?x?xf32> {tile.dims = ["rows", "cols"]}, %b: !tile.array<?xf32, mut> {tile.dims = ["rows"]}) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %z = arith.constant 0 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %z] : !tile.array<?x?xf32> -> tensor<1x1024xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<1x1024xf32>) -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %y = arith.maximumf %p, %q : f32
    tile.yield %y : f32
  }
  tile.store %b[%r], %m : !tile.array<?xf32, mut>, tensor<1xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @second_tile
// CHECK-NOT: elements
tile.kernel @second_tile(%a: !tile.array<?x?xbf16> {tile.dims = ["rows", "cols"]}, %b: !tile.array<?xbf16, mut> {tile.dims = ["rows"]}) attributes {tile.facts = ["whole_pieces", "disjoint", "index32"]} {
  %c1 = arith.constant 1 : index
  %r = tile.block_id 0 : index
  %x = tile.load %a[%r, %c1] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %m = tile.reduce(%x) axes [1] : (tensor<1x1024xbf16>) -> tensor<1xbf16> {
  ^bb0(%p: bf16, %q: bf16):
    %y = arith.maximumf %p, %q : bf16
    tile.yield %y : bf16
  }
  tile.store %b[%r], %m : !tile.array<?xbf16, mut>, tensor<1xbf16>
  tile.return
}

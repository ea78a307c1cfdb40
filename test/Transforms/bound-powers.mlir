// RUN: tile-opt %s --tile-bound-powers | FileCheck %s
// Powers of a tile less its own maximum are at most 1, and marked.

// CHECK-LABEL: tile.kernel @rows
// CHECK: math.exp %{{.*}} {tile.at_most_one} : tensor<4x8xf32>
// CHECK: math.exp %{{.*}} : tensor<4x8xf32>
tile.kernel @rows(%y: !tile.array<?x?xf32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %y[%z, %z] : !tile.array<?x?xf32, mut> -> tensor<4x8xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    tile.yield %r : f32
  }
  %k = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
  %w = tile.broadcast %k : tensor<4x1xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %w : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  // The maximum less the tile is not below zero.
  %c = arith.subf %w, %x : tensor<4x8xf32>
  %f = math.exp %c : tensor<4x8xf32>
  %s = arith.addf %e, %f : tensor<4x8xf32>
  tile.store %y[%z, %z], %s : !tile.array<?x?xf32, mut>, tensor<4x8xf32>
  tile.return
}

// Of all elements, as a scalar.
// CHECK-LABEL: tile.kernel @whole
// CHECK: math.exp %{{.*}} {tile.at_most_one} : tensor<8xf32>
tile.kernel @whole(%y: !tile.array<?xf32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %y[%z] : !tile.array<?xf32, mut> -> tensor<8xf32>
  %m = tile.reduce(%x) axes [0] : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    tile.yield %r : f32
  }
  %w = tile.splat %m : f32 -> tensor<8xf32>
  %d = arith.subf %x, %w : tensor<8xf32>
  %e = math.exp %d : tensor<8xf32>
  tile.store %y[%z], %e : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// Not: the maximum of the columns of a square tile, taken for that of its rows; a minimum;
// the maximum of another tile.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: at_most_one
tile.kernel @others(%y: !tile.array<?x?xf32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %y[%z, %z] : !tile.array<?x?xf32, mut> -> tensor<4x4xf32>
  %m = tile.reduce(%x) axes [0] : (tensor<4x4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    tile.yield %r : f32
  }
  %n = tile.reduce(%x) axes [1] : (tensor<4x4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.minimumf %a, %b : f32
    tile.yield %r : f32
  }
  %k = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
  %w = tile.broadcast %k : tensor<4x1xf32> -> tensor<4x4xf32>
  %d = arith.subf %x, %w : tensor<4x4xf32>
  %e = math.exp %d : tensor<4x4xf32>
  %l = tile.reshape %n : tensor<4xf32> -> tensor<4x1xf32>
  %v = tile.broadcast %l : tensor<4x1xf32> -> tensor<4x4xf32>
  %f = arith.subf %e, %v : tensor<4x4xf32>
  %g = math.exp %f : tensor<4x4xf32>
  %h = tile.reshape %m : tensor<4xf32> -> tensor<1x4xf32>
  %u = tile.broadcast %h : tensor<1x4xf32> -> tensor<4x4xf32>
  %i = arith.subf %g, %u : tensor<4x4xf32>
  %j = math.exp %i : tensor<4x4xf32>
  tile.store %y[%z, %z], %j : !tile.array<?x?xf32, mut>, tensor<4x4xf32>
  tile.return
}

// Of powers that are only divided by the sums of their rows, nobody sees a common factor.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: math.exp %{{.*}} {tile.at_most_one, tile.share}
// CHECK: arith.divf %{{.*}} {tile.share}
tile.kernel @softmax(%y: !tile.array<?x?xf32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %y[%z, %z] : !tile.array<?x?xf32, mut> -> tensor<4x8xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    tile.yield %r : f32
  }
  %k = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
  %w = tile.broadcast %k : tensor<4x1xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %w : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %s = tile.reduce(%e) axes [1] : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tile.yield %r : f32
  }
  %t = tile.reshape %s : tensor<4xf32> -> tensor<4x1xf32>
  %u = tile.broadcast %t : tensor<4x1xf32> -> tensor<4x8xf32>
  %q = arith.divf %e, %u : tensor<4x8xf32>
  tile.store %y[%z, %z], %q : !tile.array<?x?xf32, mut>, tensor<4x8xf32>
  tile.return
}

// Not where the sum is stored; nor where the powers are; nor where columns are added up.
// CHECK-LABEL: tile.kernel @seen
// CHECK-NOT: tile.share
tile.kernel @seen(%y: !tile.array<?x?xf32, mut>, %o: !tile.array<?x?xf32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %y[%z, %z] : !tile.array<?x?xf32, mut> -> tensor<8x8xf32>
  %m = tile.reduce(%x) axes [1] : (tensor<8x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    tile.yield %r : f32
  }
  %k = tile.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %w = tile.broadcast %k : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = arith.subf %x, %w : tensor<8x8xf32>
  %e = math.exp %d : tensor<8x8xf32>
  %s = tile.reduce(%e) axes [1] : (tensor<8x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tile.yield %r : f32
  }
  %t = tile.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %u = tile.broadcast %t : tensor<8x1xf32> -> tensor<8x8xf32>
  %q = arith.divf %e, %u : tensor<8x8xf32>
  tile.store %y[%z, %z], %q : !tile.array<?x?xf32, mut>, tensor<8x8xf32>
  tile.store %o[%z, %z], %t : !tile.array<?x?xf32, mut>, tensor<8x1xf32>
  %f = math.exp %d : tensor<8x8xf32>
  %g = tile.reduce(%f) axes [1] : (tensor<8x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tile.yield %r : f32
  }
  %h = tile.reshape %g : tensor<8xf32> -> tensor<8x1xf32>
  %i = tile.broadcast %h : tensor<8x1xf32> -> tensor<8x8xf32>
  %j = arith.divf %f, %i : tensor<8x8xf32>
  %l = arith.addf %j, %f : tensor<8x8xf32>
  tile.store %y[%z, %z], %l : !tile.array<?x?xf32, mut>, tensor<8x8xf32>
  %n = math.exp %d : tensor<8x8xf32>
  %p = tile.reduce(%n) axes [0] : (tensor<8x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tile.yield %r : f32
  }
  %v = tile.reshape %p : tensor<8xf32> -> tensor<1x8xf32>
  %b0 = tile.broadcast %v : tensor<1x8xf32> -> tensor<8x8xf32>
  %c = arith.divf %n, %b0 : tensor<8x8xf32>
  tile.store %o[%z, %z], %c : !tile.array<?x?xf32, mut>, tensor<8x8xf32>
  tile.return
}

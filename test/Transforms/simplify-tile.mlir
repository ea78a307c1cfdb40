// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-simplify-tile))' | FileCheck %s
// Elementwise work on stretched tiles is done before they are stretched.

// CHECK-LABEL: tile.kernel @sinks(
// CHECK-SAME: %[[X:.*]]: !tile.array<?x?xf32>, %[[Y:.*]]: !tile.array<?x?xf32, mut>, %[[S:.*]]: f32)
tile.kernel @sinks(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %s: f32) {
  %i = tile.block_id 0 : index
  // CHECK: %[[A:.*]] = tile.load %[[X]]
  // CHECK: %[[T:.*]] = tile.splat %[[S]] : f32 -> tensor<8x1xf32>
  // CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[T]] : tensor<8x1xf32>
  // CHECK: %[[E:.*]] = math.exp %[[M]] : tensor<8x1xf32>
  // CHECK: %[[B:.*]] = tile.broadcast %[[E]] : tensor<8x1xf32> -> tensor<8x64xf32>
  // CHECK: tile.store %[[Y]][%{{.*}}], %[[B]]
  %a = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<8x1xf32>
  %b = tile.broadcast %a : tensor<8x1xf32> -> tensor<8x64xf32>
  %t = tile.splat %s : f32 -> tensor<8x64xf32>
  %m = arith.mulf %b, %t : tensor<8x64xf32>
  %e = math.exp %m : tensor<8x64xf32>
  tile.store %y[%i, %i], %e : !tile.array<?x?xf32, mut>, tensor<8x64xf32>
  tile.return
}

// Splats alone become scalar work; a constant splat is one too.
// CHECK-LABEL: tile.kernel @scalar(
// CHECK-SAME: %[[Y:.*]]: !tile.array<?xi1, mut>, %[[N:.*]]: i32)
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[N]], %{{.*}} : i32
// CHECK: tile.splat %[[C]] : i1 -> tensor<64xi1>
tile.kernel @scalar(%y: !tile.array<?xi1, mut>, %n: i32) {
  %i = tile.block_id 0 : index
  %t = tile.splat %n : i32 -> tensor<64xi32>
  %k = arith.constant dense<7> : tensor<64xi32>
  %c = arith.cmpi slt, %t, %k : tensor<64xi32>
  tile.store %y[%i], %c : !tile.array<?xi1, mut>, tensor<64xi1>
  tile.return
}

// An operand of full size stops it: the result would have to be stretched anyway.
// CHECK-LABEL: tile.kernel @stays(
// CHECK: %[[B:.*]] = tile.broadcast %{{.*}} : tensor<8x1xf32> -> tensor<8x64xf32>
// CHECK: arith.subf %{{.*}}, %[[B]] : tensor<8x64xf32>
tile.kernel @stays(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>) {
  %i = tile.block_id 0 : index
  %a = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<8x1xf32>
  %b = tile.broadcast %a : tensor<8x1xf32> -> tensor<8x64xf32>
  %c = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<8x64xf32>
  %d = arith.subf %c, %b : tensor<8x64xf32>
  tile.store %y[%i, %i], %d : !tile.array<?x?xf32, mut>, tensor<8x64xf32>
  tile.return
}

// Two stretched from different shapes: neither shape would do.
// CHECK-LABEL: tile.kernel @outer(
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<8x64xf32>
tile.kernel @outer(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>) {
  %i = tile.block_id 0 : index
  %a = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<8x1xf32>
  %b = tile.broadcast %a : tensor<8x1xf32> -> tensor<8x64xf32>
  %c = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<1x64xf32>
  %d = tile.broadcast %c : tensor<1x64xf32> -> tensor<8x64xf32>
  %e = arith.addf %b, %d : tensor<8x64xf32>
  tile.store %y[%i, %i], %e : !tile.array<?x?xf32, mut>, tensor<8x64xf32>
  tile.return
}

// The two stores of one computation share it.
// CHECK-LABEL: tile.kernel @common(
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
tile.kernel @common(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) {
  %i = tile.block_id 0 : index
  %a = tile.load %x[%i] : !tile.array<?xf32> -> tensor<64xf32>
  %b = math.exp %a : tensor<64xf32>
  tile.store %y[%i], %b : !tile.array<?xf32, mut>, tensor<64xf32>
  %c = tile.load %x[%i] : !tile.array<?xf32> -> tensor<64xf32>
  %d = math.exp %c : tensor<64xf32>
  tile.store %y[%i], %d : !tile.array<?xf32, mut>, tensor<64xf32>
  tile.return
}

// RUN: tile-opt %s --canonicalize --cse | FileCheck %s
// Shapes merge, splats move up, loads of arrays nobody writes merge.

// CHECK-LABEL: tile.kernel @shapes(
// CHECK-SAME: %[[S:.*]]: f32, %[[X:.*]]: !tile.array<?x?xf32>, %[[Y:.*]]: !tile.array<?x?xf32, mut>)
tile.kernel @shapes(%s: f32, %x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>) {
  %i = tile.block_id 0 : index
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  // Two permutations that undo each other.
  // CHECK: %[[T:.*]] = tile.load
  // CHECK-NEXT: tile.store %[[Y]][%{{.*}}], %[[T]]
  %0 = tile.permute %t [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %1 = tile.permute %0 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  tile.store %y[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
  // A chain of reshapes is one.
  // CHECK-NEXT: %[[R:.*]] = tile.reshape %[[T]] : tensor<8x4xf32> -> tensor<2x16xf32>
  // CHECK-NEXT: tile.store %[[Y]][%{{.*}}], %[[R]]
  %2 = tile.reshape %t : tensor<8x4xf32> -> tensor<32xf32>
  %3 = tile.reshape %2 : tensor<32xf32> -> tensor<2x16xf32>
  tile.store %y[%i, %i], %3 : !tile.array<?x?xf32, mut>, tensor<2x16xf32>
  // A splat stays a splat through everything.
  // CHECK-NEXT: %[[P:.*]] = tile.splat %[[S]] : f32 -> tensor<16x2xf32>
  // CHECK-NEXT: tile.store %[[Y]][%{{.*}}], %[[P]]
  %4 = tile.reshape %s : f32 -> tensor<1x1xf32>
  %5 = tile.broadcast %4 : tensor<1x1xf32> -> tensor<2x1xf32>
  %6 = tile.broadcast %5 : tensor<2x1xf32> -> tensor<2x16xf32>
  %7 = tile.permute %6 [1, 0] : tensor<2x16xf32> -> tensor<16x2xf32>
  tile.store %y[%i, %i], %7 : !tile.array<?x?xf32, mut>, tensor<16x2xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @dims(
// CHECK-NOT: tile.dim
// CHECK: %[[D:.*]] = arith.constant 128 : index
// CHECK: tile.store %{{.*}}[%[[D]]
tile.kernel @dims(%x: !tile.array<?x128xf32, mut>, %s: f32) {
  %d = tile.dim %x, 1 : !tile.array<?x128xf32, mut>
  tile.store %x[%d, %d], %s elements : !tile.array<?x128xf32, mut>, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @read_only(
// CHECK: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @read_only(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) {
  %i = tile.block_id 0 : index
  %0 = tile.load %x[%i] : !tile.array<?xf32> -> tensor<8xf32>
  tile.store %y[%i], %0 : !tile.array<?xf32, mut>, tensor<8xf32>
  %1 = tile.load %x[%i] : !tile.array<?xf32> -> tensor<8xf32>
  tile.store %y[%i], %1 : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// Arrays that may overlap: the second load may see the store.
// CHECK-LABEL: tile.kernel @overlapping(
// CHECK: tile.load
// CHECK: tile.store
// CHECK: tile.load
tile.kernel @overlapping(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) attributes {arrays_overlap} {
  %i = tile.block_id 0 : index
  %0 = tile.load %x[%i] : !tile.array<?xf32> -> tensor<8xf32>
  tile.store %y[%i], %0 : !tile.array<?xf32, mut>, tensor<8xf32>
  %1 = tile.load %x[%i] : !tile.array<?xf32> -> tensor<8xf32>
  tile.store %y[%i], %1 : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// A true assumption says nothing.
// CHECK-LABEL: tile.kernel @assume(
// CHECK-NEXT: tile.return
tile.kernel @assume() {
  %c = arith.constant true
  tile.assume %c
  tile.return
}

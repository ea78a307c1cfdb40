// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// Creation and change of shape keep their text.

// CHECK-LABEL: tile.kernel @shape(
tile.kernel @shape(%s: f32, %i: index) {
  // CHECK: %[[T:.*]] = tile.splat %{{.*}} : f32 -> tensor<8x4xf32>
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // CHECK: tile.iota : tensor<128xi32>
  %0 = tile.iota : tensor<128xi32>
  // CHECK: tile.iota : tensor<128xindex>
  %1 = tile.iota : tensor<128xindex>
  // CHECK: tile.reshape %[[T]] : tensor<8x4xf32> -> tensor<1x32xf32>
  %2 = tile.reshape %t : tensor<8x4xf32> -> tensor<1x32xf32>
  // CHECK: tile.reshape %{{.*}} : f32 -> tensor<1x1xf32>
  %3 = tile.reshape %s : f32 -> tensor<1x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<1x32xf32> -> tensor<4x32xf32>
  %4 = tile.broadcast %2 : tensor<1x32xf32> -> tensor<4x32xf32>
  // CHECK: tile.permute %[[T]] [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %5 = tile.permute %t [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  // CHECK: tile.cat(%[[T]], %[[T]]) axis 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %6 = tile.cat(%t, %t) axis 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  // CHECK: tile.extract %[[T]][%{{.*}}, %{{.*}}] : tensor<8x4xf32> -> tensor<4x4xf32>
  %7 = tile.extract %t[%i, %i] : tensor<8x4xf32> -> tensor<4x4xf32>
  // CHECK: tile.extract %[[T]][%{{.*}}, %{{.*}}] : tensor<8x4xf32> -> f32
  %8 = tile.extract %t[%i, %i] : tensor<8x4xf32> -> f32
  // CHECK: tile.insert %{{.*}} into %[[T]][%{{.*}}, %{{.*}}] : tensor<4x4xf32> into tensor<8x4xf32>
  %9 = tile.insert %7 into %t[%i, %i] : tensor<4x4xf32> into tensor<8x4xf32>
  // CHECK: tile.flip %[[T]] axis 1 : tensor<8x4xf32>
  %10 = tile.flip %t axis 1 : tensor<8x4xf32>
  // CHECK: tile.take %[[T]][%{{.*}}] axis 0 : tensor<8x4xf32>, tensor<128xi32> -> tensor<128x4xf32>
  %11 = tile.take %t[%0] axis 0 : tensor<8x4xf32>, tensor<128xi32> -> tensor<128x4xf32>
  %12 = tile.reshape %0 : tensor<128xi32> -> tensor<8x16xi32>
  // CHECK: tile.take %[[T]][%{{.*}}] axis 1 along : tensor<8x4xf32>, tensor<8x16xi32> -> tensor<8x16xf32>
  %13 = tile.take %t[%12] axis 1 along : tensor<8x4xf32>, tensor<8x16xi32> -> tensor<8x16xf32>
  tile.return
}

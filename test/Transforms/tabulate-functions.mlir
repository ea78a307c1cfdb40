// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-tabulate-functions))' | FileCheck %s
// Sines of what only depends on positions are constants.

// Pairs of equal elements are one of the table: sin(0), sin(1/4).
// CHECK-LABEL: tile.kernel @stretched
// CHECK: %[[T:.*]] = arith.constant dense<{{.*}}0.000000e+00{{.*}}0.247403964{{.*}}> : tensor<1x2x1xf32>
// CHECK: %[[B:.*]] = tile.broadcast %[[T]] : tensor<1x2x1xf32> -> tensor<1x2x2xf32>
// CHECK: %[[R:.*]] = tile.reshape %[[B]] : tensor<1x2x2xf32> -> tensor<4xf32>
// CHECK: tile.store %arg0[%{{.*}}], %[[R]]
tile.kernel @stretched(%a: !tile.array<?xf32, mut>, %x: !tile.array<?xf32>) {
  %z = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<4xi32>
  %quarter = arith.constant dense<0.25> : tensor<4xf32>
  %i = tile.iota : tensor<4xi32>
  %half = tile.shift right_signed %i, %one : tensor<4xi32>
  %f = arith.sitofp %half : tensor<4xi32> to tensor<4xf32>
  %angle = arith.mulf %f, %quarter : tensor<4xf32>
  %s = math.sin %angle : tensor<4xf32>
  tile.store %a[%z], %s : !tile.array<?xf32, mut>, tensor<4xf32>
  tile.return
}

// A period is repeated: cos(0), cos(1).
// CHECK-LABEL: tile.kernel @repeated
// CHECK: arith.constant dense<{{.*}}1.000000e+00{{.*}}0.540302277{{.*}}> : tensor<1x2x1xf32>
// CHECK: tile.broadcast %{{.*}} : tensor<1x2x1xf32> -> tensor<4x2x1xf32>
// CHECK: tile.reshape %{{.*}} : tensor<4x2x1xf32> -> tensor<8xf32>
tile.kernel @repeated(%a: !tile.array<?xf32, mut>) {
  %z = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<8xi32>
  %i = tile.iota : tensor<8xi32>
  %odd = arith.andi %i, %one : tensor<8xi32>
  %f = arith.sitofp %odd : tensor<8xi32> to tensor<8xf32>
  %c = math.cos %f : tensor<8xf32>
  tile.store %a[%z], %c : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// What is loaded is not known, nor are tiles that are too large, and f64 is computed.
// CHECK-LABEL: tile.kernel @computed
// CHECK-COUNT-3: math.sin
tile.kernel @computed(%a: !tile.array<?xf32, mut>, %b: !tile.array<?xf32>, %d: !tile.array<?xf64, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %b[%z] : !tile.array<?xf32> -> tensor<8xf32>
  %s = math.sin %x : tensor<8xf32>
  tile.store %a[%z], %s : !tile.array<?xf32, mut>, tensor<8xf32>
  %i = tile.iota : tensor<32768xi32>
  %f = arith.sitofp %i : tensor<32768xi32> to tensor<32768xf32>
  %t = math.sin %f : tensor<32768xf32>
  tile.store %a[%z], %t : !tile.array<?xf32, mut>, tensor<32768xf32>
  %j = tile.iota : tensor<8xi32>
  %g = arith.sitofp %j : tensor<8xi32> to tensor<8xf64>
  %u = math.sin %g : tensor<8xf64>
  tile.store %d[%z], %u : !tile.array<?xf64, mut>, tensor<8xf64>
  tile.return
}

// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// Loads, stores, gathers, scatters and atomics keep their text.

// CHECK-LABEL: tile.kernel @access(
tile.kernel @access(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>, %i: index, %j: index) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  %0 = tile.load %a[%i, %j] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  // CHECK: elements order [1, 0] pad(1.000000e+00 : f32) in_bounds [true, false] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  %1 = tile.load %a[%i, %j] elements order [1, 0] pad(1.0 : f32) in_bounds [true, false] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  // CHECK: elements : !tile.array<?x?xf32> -> f32
  %2 = tile.load %a[%i, %j] elements : !tile.array<?x?xf32> -> f32
  // CHECK: tile.store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
  tile.store %b[%i, %j], %0 : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
  // CHECK: elements order [1, 0] in_bounds [true, true] : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
  tile.store %b[%i, %j], %1 elements order [1, 0] in_bounds [true, true] : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
  // CHECK: elements : !tile.array<?x?xf32, mut>, f32
  tile.store %b[%i, %j], %2 elements : !tile.array<?x?xf32, mut>, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @indexed(
tile.kernel @indexed(%a: !tile.array<?x?xf32>, %b: !tile.array<?xf32, mut>, %n: i32, %s: f32, %c: i1) {
  %i = tile.splat %n : i32 -> tensor<8xi32>
  %m = tile.splat %c : i1 -> tensor<8xi1>
  %v = tile.splat %s : f32 -> tensor<8xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : !tile.array<?x?xf32>, [tensor<8xi32>, tensor<8xi32>] -> tensor<8xf32>
  %0 = tile.gather %a[%i, %i] : !tile.array<?x?xf32>, [tensor<8xi32>, tensor<8xi32>] -> tensor<8xf32>
  // CHECK: mask(%{{.*}} : tensor<8xi1>) pad(1.000000e+00 : f32)
  %1 = tile.gather %a[%i, %i] mask(%m : tensor<8xi1>) pad(1.0 : f32) : !tile.array<?x?xf32>, [tensor<8xi32>, tensor<8xi32>] -> tensor<8xf32>
  // CHECK: tile.scatter %{{.*}}[%{{.*}}], %{{.*}} mask(%{{.*}} : tensor<8xi1>) : !tile.array<?xf32, mut>, [tensor<8xi32>], tensor<8xf32>
  tile.scatter %b[%i], %v mask(%m : tensor<8xi1>) : !tile.array<?xf32, mut>, [tensor<8xi32>], tensor<8xf32>
  // CHECK: tile.atomic add %{{.*}}[%{{.*}}] value(%{{.*}} : tensor<8xf32>) : !tile.array<?xf32, mut>, [tensor<8xi32>] -> tensor<8xf32>
  %2 = tile.atomic add %b[%i] value(%v : tensor<8xf32>) : !tile.array<?xf32, mut>, [tensor<8xi32>] -> tensor<8xf32>
  // CHECK: tile.atomic cas %{{.*}}[%{{.*}}] expected(%{{.*}} : f32) value(%{{.*}} : f32) order(acq_rel) scope(sys)
  %3 = tile.atomic cas %b[%n] expected(%s : f32) value(%s : f32) order(acq_rel) scope(sys) : !tile.array<?xf32, mut>, [i32] -> f32
  // CHECK: tile.atomic load %{{.*}}[%{{.*}}] order(acquire)
  %4 = tile.atomic load %b[%n] order(acquire) : !tile.array<?xf32, mut>, [i32] -> f32
  // CHECK: tile.atomic store %{{.*}}[%{{.*}}] value(%{{.*}} : f32) order(release) : !tile.array<?xf32, mut>, [i32]
  tile.atomic store %b[%n] value(%s : f32) order(release) : !tile.array<?xf32, mut>, [i32]
  tile.return
}

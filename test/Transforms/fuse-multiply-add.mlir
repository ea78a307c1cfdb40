// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-fuse-multiply-add))' | FileCheck %s
// A product used by one sum becomes an fma with it.

// CHECK-LABEL: tile.kernel @sums(
// CHECK-SAME: %{{.*}}: !tile.array<?xf32, mut>, %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32)
tile.kernel @sums(%y: !tile.array<?xf32, mut>, %a: f32, %b: f32, %c: f32) {
  %i = tile.block_id 0 : index
  // CHECK: %[[R0:.*]] = math.fma %[[A]], %[[B]], %[[C]] : f32
  // CHECK: tile.store %{{.*}}, %[[R0]] elements
  %m0 = arith.mulf %a, %b : f32
  %r0 = arith.addf %m0, %c : f32
  tile.store %y[%i], %r0 elements : !tile.array<?xf32, mut>, f32
  // CHECK: %[[R1:.*]] = math.fma %[[A]], %[[B]], %[[C]] : f32
  // CHECK: tile.store %{{.*}}, %[[R1]] elements
  %m1 = arith.mulf %a, %b : f32
  %r1 = arith.addf %c, %m1 : f32
  tile.store %y[%i], %r1 elements : !tile.array<?xf32, mut>, f32
  // CHECK: %[[N2:.*]] = arith.negf %[[C]] : f32
  // CHECK: %[[R2:.*]] = math.fma %[[A]], %[[B]], %[[N2]] : f32
  // CHECK: tile.store %{{.*}}, %[[R2]] elements
  %m2 = arith.mulf %a, %b : f32
  %r2 = arith.subf %m2, %c : f32
  tile.store %y[%i], %r2 elements : !tile.array<?xf32, mut>, f32
  // CHECK: %[[N3:.*]] = arith.negf %[[A]] : f32
  // CHECK: %[[R3:.*]] = math.fma %[[N3]], %[[B]], %[[C]] : f32
  // CHECK: tile.store %{{.*}}, %[[R3]] elements
  // CHECK-NOT: arith.mulf
  %m3 = arith.mulf %a, %b : f32
  %r3 = arith.subf %c, %m3 : f32
  tile.store %y[%i], %r3 elements : !tile.array<?xf32, mut>, f32
  tile.return
}

// A product with another use is needed anyway.
// CHECK-LABEL: tile.kernel @shared(
// CHECK: %[[M:.*]] = arith.mulf
// CHECK: arith.addf %[[M]]
tile.kernel @shared(%y: !tile.array<?xf32, mut>, %a: f32, %b: f32) {
  %i = tile.block_id 0 : index
  %m = arith.mulf %a, %b : f32
  %r = arith.addf %m, %b : f32
  tile.store %y[%i], %r elements : !tile.array<?xf32, mut>, f32
  tile.store %y[%i], %m elements : !tile.array<?xf32, mut>, f32
  tile.return
}

// Two products: one of them fuses.
// CHECK-LABEL: tile.kernel @two(
// CHECK: %[[M:.*]] = arith.mulf %{{.*}} : tensor<8xf16>
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[M]] : tensor<8xf16>
tile.kernel @two(%x: !tile.array<?xf16>, %y: !tile.array<?xf16, mut>) {
  %i = tile.block_id 0 : index
  %a = tile.load %x[%i] : !tile.array<?xf16> -> tensor<8xf16>
  %m = arith.mulf %a, %a : tensor<8xf16>
  %n = arith.mulf %a, %a : tensor<8xf16>
  %r = arith.addf %m, %n : tensor<8xf16>
  tile.store %y[%i], %r : !tile.array<?xf16, mut>, tensor<8xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @off(
// CHECK: arith.mulf
// CHECK: arith.addf
tile.kernel @off(%y: !tile.array<?xf32, mut>, %a: f32, %b: f32) attributes {no_contract} {
  %i = tile.block_id 0 : index
  %m = arith.mulf %a, %b : f32
  %r = arith.addf %m, %b : f32
  tile.store %y[%i], %r elements : !tile.array<?xf32, mut>, f32
  tile.return
}

// In approximate code half of a sum with a bias is an fma with half of the bias, which is as
// small as the bias and computed where that is.
// CHECK-LABEL: tile.kernel @halved(
// CHECK: %[[B:.*]] = tile.load
// CHECK: %[[H:.*]] = arith.mulf %[[B]], %{{.*}} fastmath<afn> : tensor<8xf32>
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[R:.*]] = tile.reshape %[[H]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK: %[[W:.*]] = tile.broadcast %[[R]] : tensor<1x8xf32> -> tensor<4x8xf32>
// CHECK: math.fma %[[A]], %{{.*}}, %[[W]] fastmath<afn> : tensor<4x8xf32>
// Not where results are to be exact, nor by what is no power of two.
// CHECK: %[[S:.*]] = arith.addf %[[A]], %{{.*}} : tensor<4x8xf32>
// CHECK: arith.mulf %[[S]], %{{.*}} : tensor<4x8xf32>
// CHECK: %[[T:.*]] = arith.addf %[[A]], %{{.*}} fastmath<afn> : tensor<4x8xf32>
// CHECK: arith.mulf %[[T]], %{{.*}} fastmath<afn> : tensor<4x8xf32>
tile.kernel @halved(%x: !tile.array<?x?xf32>, %b: !tile.array<?xf32>, %y: !tile.array<?x?xf32, mut>) {
  %i = tile.block_id 0 : index
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %third = arith.constant dense<0.3> : tensor<4x8xf32>
  %bias = tile.load %b[%i] : !tile.array<?xf32> -> tensor<8xf32>
  %a = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<4x8xf32>
  %r = tile.reshape %bias : tensor<8xf32> -> tensor<1x8xf32>
  %w = tile.broadcast %r : tensor<1x8xf32> -> tensor<4x8xf32>
  %s = arith.addf %a, %w fastmath<afn> : tensor<4x8xf32>
  %h = arith.mulf %s, %half fastmath<afn> : tensor<4x8xf32>
  tile.store %y[%i, %i], %h : !tile.array<?x?xf32, mut>, tensor<4x8xf32>
  %s2 = arith.addf %a, %w : tensor<4x8xf32>
  %h2 = arith.mulf %s2, %half : tensor<4x8xf32>
  tile.store %y[%i, %i], %h2 : !tile.array<?x?xf32, mut>, tensor<4x8xf32>
  %s3 = arith.addf %a, %w fastmath<afn> : tensor<4x8xf32>
  %h3 = arith.mulf %s3, %third fastmath<afn> : tensor<4x8xf32>
  tile.store %y[%i, %i], %h3 : !tile.array<?x?xf32, mut>, tensor<4x8xf32>
  tile.return
}

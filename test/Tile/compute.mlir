// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// Reductions, scans, sorts, mma, integers and casts keep their text.

// CHECK-LABEL: tile.kernel @whole(
tile.kernel @whole(%s: f32, %n: i32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  %i = tile.splat %n : i32 -> tensor<8x4xi32>
  // CHECK: tile.reduce(%{{.*}}) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[L]], %[[R]] : f32
  // CHECK-NEXT: tile.yield %{{.*}} : f32
  %0 = tile.reduce(%t) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  // CHECK: tile.reduce(%{{.*}}, %{{.*}}) axes [0, 1] : (tensor<8x4xf32>, tensor<8x4xi32>) -> (f32, i32) {
  %1:2 = tile.reduce(%t, %i) axes [0, 1] : (tensor<8x4xf32>, tensor<8x4xi32>) -> (f32, i32) {
  ^bb0(%l0: f32, %l1: i32, %r0: f32, %r1: i32):
    tile.yield %l0, %r1 : f32, i32
  }
  // CHECK: tile.scan(%{{.*}}) axis 1 reverse exclusive(%{{.*}} : f32) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  %2 = tile.scan(%t) axis 1 reverse exclusive(%s : f32) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  // CHECK: tile.sort(%{{.*}}, %{{.*}}) axis 0 descending unsigned
  %3:2 = tile.sort(%i, %t) axis 0 descending unsigned : (tensor<8x4xi32>, tensor<8x4xf32>) -> (tensor<8x4xi32>, tensor<8x4xf32>)
  // CHECK: tile.histogram %{{.*}} : tensor<8x4xi32> -> tensor<16xi32>
  %4 = tile.histogram %i : tensor<8x4xi32> -> tensor<16xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @mma(
tile.kernel @mma(%h: f16, %s: f32, %q: f8E4M3FN, %w: f8E5M2, %b: i8, %n: i32) {
  %a = tile.splat %h : f16 -> tensor<16x32xf16>
  %c = tile.splat %h : f16 -> tensor<32x8xf16>
  %acc = tile.splat %s : f32 -> tensor<16x8xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  %0 = tile.mma %a, %c, %acc : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  %x = tile.splat %q : f8E4M3FN -> tensor<1x16x32xf8E4M3FN>
  %y = tile.splat %w : f8E5M2 -> tensor<4x32x8xf8E5M2>
  %z = tile.splat %s : f32 -> tensor<4x16x8xf32>
  // CHECK: precision(fast) : tensor<1x16x32xf8E4M3FN>, tensor<4x32x8xf8E5M2>, tensor<4x16x8xf32>
  %1 = tile.mma %x, %y, %z precision(fast) : tensor<1x16x32xf8E4M3FN>, tensor<4x32x8xf8E5M2>, tensor<4x16x8xf32>
  %i = tile.splat %b : i8 -> tensor<8x8xi8>
  %j = tile.splat %n : i32 -> tensor<8x8xi32>
  // CHECK: a_unsigned b_unsigned : tensor<8x8xi8>
  %2 = tile.mma %i, %i, %j a_unsigned b_unsigned : tensor<8x8xi8>, tensor<8x8xi8>, tensor<8x8xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @elements(
tile.kernel @elements(%a: i32, %s: f32, %n: index) {
  // CHECK: tile.divide ceil unsigned %{{.*}}, %{{.*}} : i32
  %0 = tile.divide ceil unsigned %a, %a : i32
  // CHECK: tile.remainder floor signed %{{.*}}, %{{.*}} : index
  %1 = tile.remainder floor signed %n, %n : index
  %t = tile.splat %a : i32 -> tensor<8xi32>
  // CHECK: tile.shift right_signed %{{.*}}, %{{.*}} : tensor<8xi32>
  %2 = tile.shift right_signed %t, %t : tensor<8xi32>
  // CHECK: tile.cast %{{.*}} round(rz) : f32 -> f16
  %3 = tile.cast %s round(rz) : f32 -> f16
  // CHECK: tile.cast %{{.*}} to_unsigned : f32 -> i8
  %4 = tile.cast %s to_unsigned : f32 -> i8
  // CHECK: tile.cast %{{.*}} from_unsigned : tensor<8xi32> -> tensor<8xf8E4M3FN>
  %5 = tile.cast %t from_unsigned : tensor<8xi32> -> tensor<8xf8E4M3FN>
  tile.return
}

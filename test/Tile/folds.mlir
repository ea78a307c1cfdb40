// RUN: tile-opt %s --canonicalize | FileCheck %s
// Constants are computed by the language's rules.

// CHECK-LABEL: tile.kernel @divide(
tile.kernel @divide(%y: !tile.array<?xi32, mut>) {
  %i = arith.constant 0 : index
  %a = arith.constant -7 : i32
  %b = arith.constant 2 : i32
  %least = arith.constant -2147483648 : i32
  %minus = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  // CHECK-DAG: %[[TRUNC:.*]] = arith.constant -3 : i32
  // CHECK-DAG: %[[FLOOR:.*]] = arith.constant -4 : i32
  // CHECK-DAG: %[[UNSIGNED:.*]] = arith.constant 2147483645 : i32
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i32
  // CHECK: tile.store %{{.*}}, %[[TRUNC]] elements
  %0 = tile.divide trunc signed %a, %b : i32
  tile.store %y[%i], %0 elements : !tile.array<?xi32, mut>, i32
  // CHECK: tile.store %{{.*}}, %[[FLOOR]] elements
  %1 = tile.divide floor signed %a, %b : i32
  tile.store %y[%i], %1 elements : !tile.array<?xi32, mut>, i32
  // CHECK: tile.store %{{.*}}, %[[TRUNC]] elements
  %2 = tile.divide ceil signed %a, %b : i32
  tile.store %y[%i], %2 elements : !tile.array<?xi32, mut>, i32
  // CHECK: tile.store %{{.*}}, %[[UNSIGNED]] elements
  %3 = tile.divide ceil unsigned %a, %b : i32
  tile.store %y[%i], %3 elements : !tile.array<?xi32, mut>, i32
  // CHECK: tile.store %{{.*}}, %[[LEAST]] elements
  %6 = tile.divide trunc signed %least, %minus : i32
  tile.store %y[%i], %6 elements : !tile.array<?xi32, mut>, i32
  // Division by zero is not specified: it stays.
  // CHECK: %[[STAYS:.*]] = tile.divide trunc signed
  // CHECK: tile.store %{{.*}}, %[[STAYS]] elements
  %7 = tile.divide trunc signed %a, %zero : i32
  tile.store %y[%i], %7 elements : !tile.array<?xi32, mut>, i32
  tile.return
}

// CHECK-LABEL: tile.kernel @remainder(
tile.kernel @remainder(%y: !tile.array<?xi8, mut>) {
  %i = arith.constant 0 : index
  // CHECK: %[[R:.*]] = arith.constant dense<[-1, -1, 0, 1]> : tensor<4xi8>
  %a = arith.constant dense<[-7, -7, -128, 7]> : tensor<4xi8>
  %b = arith.constant dense<[2, 3, -1, 3]> : tensor<4xi8>
  // CHECK: %[[F:.*]] = arith.constant dense<[1, 2, 0, 1]> : tensor<4xi8>
  %0 = tile.remainder trunc signed %a, %b : tensor<4xi8>
  %1 = tile.remainder floor signed %a, %b : tensor<4xi8>
  tile.store %y[%i], %0 : !tile.array<?xi8, mut>, tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[F]]
  tile.store %y[%i], %1 : !tile.array<?xi8, mut>, tensor<4xi8>
  tile.return
}

// CHECK-LABEL: tile.kernel @shift(
tile.kernel @shift(%y: !tile.array<?xi8, mut>) {
  %i = arith.constant 0 : index
  %a = arith.constant dense<[-128, -128, 1, 1]> : tensor<4xi8>
  %n = arith.constant dense<[8, 7, -1, 3]> : tensor<4xi8>
  // CHECK-DAG: %[[LEFT:.*]] = arith.constant dense<[0, 0, 0, 8]> : tensor<4xi8>
  // CHECK-DAG: %[[SIGNED:.*]] = arith.constant dense<[-1, -1, 0, 0]> : tensor<4xi8>
  // CHECK-DAG: %[[UNSIGNED:.*]] = arith.constant dense<[0, 1, 0, 0]> : tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[LEFT]] :
  %0 = tile.shift left %a, %n : tensor<4xi8>
  tile.store %y[%i], %0 : !tile.array<?xi8, mut>, tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[SIGNED]] :
  %1 = tile.shift right_signed %a, %n : tensor<4xi8>
  tile.store %y[%i], %1 : !tile.array<?xi8, mut>, tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[UNSIGNED]] :
  %2 = tile.shift right_unsigned %a, %n : tensor<4xi8>
  tile.store %y[%i], %2 : !tile.array<?xi8, mut>, tensor<4xi8>
  tile.return
}

// CHECK-LABEL: tile.kernel @cast(
tile.kernel @cast(%f8: !tile.array<?xf8E4M3FN, mut>, %i8: !tile.array<?xi8, mut>, %h: !tile.array<?xf16, mut>) {
  %i = arith.constant 0 : index
  %x = arith.constant dense<[1.0e9, -3.0e38, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  // CHECK-DAG: %[[F8:.*]] = arith.constant dense<[4.480000e+02, -4.480000e+02, 0x7F, 4.480000e+02]> : tensor<4xf8E4M3FN>
  // CHECK-DAG: %[[SIGNED:.*]] = arith.constant dense<[127, -128, 0, 127]> : tensor<4xi8>
  // CHECK-DAG: %[[UNSIGNED:.*]] = arith.constant dense<[-1, 0, 0, -1]> : tensor<4xi8>
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<[6.550400e+04, -6.550400e+04, 0x7E00, 0x7C00]> : tensor<4xf16>
  // CHECK: tile.store %{{.*}}, %[[F8]] :
  %0 = tile.cast %x : tensor<4xf32> -> tensor<4xf8E4M3FN>
  tile.store %f8[%i], %0 : !tile.array<?xf8E4M3FN, mut>, tensor<4xf8E4M3FN>
  // CHECK: tile.store %{{.*}}, %[[SIGNED]] :
  %1 = tile.cast %x : tensor<4xf32> -> tensor<4xi8>
  tile.store %i8[%i], %1 : !tile.array<?xi8, mut>, tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[UNSIGNED]] :
  %2 = tile.cast %x to_unsigned : tensor<4xf32> -> tensor<4xi8>
  tile.store %i8[%i], %2 : !tile.array<?xi8, mut>, tensor<4xi8>
  // CHECK: tile.store %{{.*}}, %[[ZERO]] :
  %3 = tile.cast %x round(rz) : tensor<4xf32> -> tensor<4xf16>
  tile.store %h[%i], %3 : !tile.array<?xf16, mut>, tensor<4xf16>
  tile.return
}

// RUN: tile-opt %s --tile-select-copies=chip=sm_90a | FileCheck %s
// Where tiles begin decides who copies them.

// The engine begins at multiples of 16 bytes of a row; threads copy words from anywhere.
// CHECK-LABEL: tile.kernel @beside_a_row
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "cp_async"} : !tile.array<?x?xf32>
// CHECK-NOT: tile.copy
tile.kernel @beside_a_row(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32>) {
    %j = arith.subi %i, %c1 : index
    %x = tile.load %a[%c0, %i] : !tile.array<?x?xf32> -> tensor<128x32xf32>
    %y = tile.load %a[%j, %j] elements : !tile.array<?x?xf32> -> tensor<32x128xf32>
    %p = tile.mma %x, %y, %s {atom = "fma"} : tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32>
  tile.return
}

// Rows of one element: the engine has no pitch for them.
// CHECK-LABEL: tile.kernel @singles
// CHECK: tile.load %{{[^ ]*}}[%{{[^]]*}}] : !tile.array<?x1xbf16>
// CHECK: tile.load {{.*}} {tile.copy = "tma"} : !tile.array<?x?xbf16>
tile.kernel @singles(%a: !tile.array<?x1xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %i] : !tile.array<?x1xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%i, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

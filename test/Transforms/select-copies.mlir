// RUN: tile-opt %s --tile-select-copies=chip=sm_90a | FileCheck %s
// RUN: tile-opt %s --tile-select-copies=chip=sm_80 | FileCheck %s --check-prefix=NONE
// Only a product that reads shared memory by itself has its loads copied there.

// NONE-NOT: tile.copy

// CHECK-LABEL: tile.kernel @threads_read
// CHECK-NOT: tile.copy
tile.kernel @threads_read(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%n, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %p = tile.mma %x, %x, %z {atom = "fma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %c[%n, %n], %p : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

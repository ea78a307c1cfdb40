// RUN: tile-opt %s --tile-select-atoms | FileCheck %s
// Every product gets an atom and the kernel its warps; other kernels are left alone.

// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: num_warps = 4 : i32
tile.kernel @product(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %i: index) {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<64x64xf32>
  // CHECK: tile.mma {{.*}} {atom = "fma"}
  %r = tile.mma %x, %x, %x : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.store %c[%i, %i], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// An unknown name is replaced.
// CHECK-LABEL: tile.kernel @unknown
tile.kernel @unknown(%a: !tile.array<?x?x?xi8>, %c: !tile.array<?x?x?xi32, mut>, %i: index)
    attributes {num_warps = 2 : i32} {
  %x = tile.load %a[%i, %i, %i] : !tile.array<?x?x?xi8> -> tensor<2x8x8xi8>
  %z = arith.constant dense<0> : tensor<2x8x8xi32>
  // CHECK: tile.mma {{.*}} {atom = "fma"}
  %r = tile.mma %x, %x, %z {atom = "slide_rule"} : tensor<2x8x8xi8>, tensor<2x8x8xi8>, tensor<2x8x8xi32>
  tile.store %c[%i, %i, %i], %r : !tile.array<?x?x?xi32, mut>, tensor<2x8x8xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @nothing
// CHECK-NOT: num_warps
tile.kernel @nothing() {
  tile.return
}

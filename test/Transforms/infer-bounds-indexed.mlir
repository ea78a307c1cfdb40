// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-infer-bounds))' | FileCheck %s
// Accesses by index: what cannot leave the array, and what lies side by side.

// Rows of a table: the row may be anything, columns 0 to 127 exist, eight at a time.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.gather %{{.*}} in_bounds [false, true] run [1, 8] :
tile.kernel @rows(%a: !tile.array<?x128xbf16>, %i: !tile.array<?xi32>, %c: !tile.array<?x?xbf16, mut>) {
  %z = arith.constant 0 : index
  %r = tile.load %i[%z] : !tile.array<?xi32> -> tensor<16xi32>
  %0 = tile.reshape %r : tensor<16xi32> -> tensor<16x1xi32>
  %rows = tile.broadcast %0 : tensor<16x1xi32> -> tensor<16x128xi32>
  %n = tile.iota : tensor<128xi32>
  %1 = tile.reshape %n : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %1 : tensor<1x128xi32> -> tensor<16x128xi32>
  %g = tile.gather %a[%rows, %columns] : !tile.array<?x128xbf16>, [tensor<16x128xi32>, tensor<16x128xi32>] -> tensor<16x128xbf16>
  tile.store %c[%z, %z], %g : !tile.array<?x?xbf16, mut>, tensor<16x128xbf16>
  tile.return
}

// From a block's column on, in 64 bits; the length of a row is a multiple of four
// elements only where the build says so. A mask that cuts between runs keeps them.
// CHECK-LABEL: tile.kernel @blocks
// CHECK: tile.atomic add %{{.*}} run [0, 4] :
tile.kernel @blocks(%a: !tile.array<?x?xf32, mut>, %row: index) attributes {tile.facts = ["aligned16"]} {
  %c64 = arith.constant 64 : index
  %b = tile.block_id 0 : index
  %s = arith.muli %b, %c64 : index
  %start = tile.splat %s : index -> tensor<64xindex>
  %n = tile.iota : tensor<64xindex>
  %columns = arith.addi %start, %n : tensor<64xindex>
  %rows = tile.splat %row : index -> tensor<64xindex>
  %limit = arith.constant dense<1000> : tensor<64xindex>
  %mask = arith.cmpi slt, %columns, %limit : tensor<64xindex>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %0 = tile.atomic add %a[%rows, %columns] value(%v : tensor<64xf32>) mask(%mask : tensor<64xi1>) : !tile.array<?x?xf32, mut>, [tensor<64xindex>, tensor<64xindex>] -> tensor<64xf32>
  tile.return
}

// No runs: rows of any length, a start that is no multiple, a mask that cuts anywhere, an array
// with strides.
// CHECK-LABEL: tile.kernel @none
// CHECK-COUNT-3: tile.gather %{{[^ ]*}}[%{{[^ ]*}}, %{{[^ ]*}}]{{( mask\([^)]*\))?}} :
// CHECK: tile.gather %{{.*}} in_bounds [true] : !tile.array<64xf32, strided>
tile.kernel @none(%a: !tile.array<?x?xf32>, %b: !tile.array<?x64xf32>, %s: !tile.array<64xf32, strided>, %c: !tile.array<?x?xf32, mut>, %row: i32) {
  %z = arith.constant 0 : index
  %rows = tile.splat %row : i32 -> tensor<64xi32>
  %n = tile.iota : tensor<64xi32>
  %g0 = tile.gather %a[%rows, %n] : !tile.array<?x?xf32>, [tensor<64xi32>, tensor<64xi32>] -> tensor<64xf32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %m = arith.addi %n, %one : tensor<64xi32>
  %g1 = tile.gather %b[%rows, %m] : !tile.array<?x64xf32>, [tensor<64xi32>, tensor<64xi32>] -> tensor<64xf32>
  %k = arith.cmpi slt, %n, %rows : tensor<64xi32>
  %g2 = tile.gather %a[%rows, %n] mask(%k : tensor<64xi1>) : !tile.array<?x?xf32>, [tensor<64xi32>, tensor<64xi32>] -> tensor<64xf32>
  %g3 = tile.gather %s[%n] : !tile.array<64xf32, strided>, [tensor<64xi32>] -> tensor<64xf32>
  %t = arith.addf %g0, %g1 : tensor<64xf32>
  %u = arith.addf %g2, %g3 : tensor<64xf32>
  %v = arith.addf %t, %u : tensor<64xf32>
  %w = tile.reshape %v : tensor<64xf32> -> tensor<1x64xf32>
  tile.store %c[%z, %z], %w : !tile.array<?x?xf32, mut>, tensor<1x64xf32>
  tile.return
}

// Bins of bytes: 0 to 255 when they are read as unsigned.
// CHECK-LABEL: tile.kernel @bins
// CHECK: tile.atomic add %arg1[%{{.*}}] value({{.*}}) in_bounds [true] :
// CHECK: tile.atomic add %arg1[%{{.*}}] value({{[^)]*}}) :
tile.kernel @bins(%x: !tile.array<?xi8>, %h: !tile.array<256xi32, mut>) {
  %z = arith.constant 0 : index
  %t = tile.load %x[%z] : !tile.array<?xi8> -> tensor<64xi8>
  %u = arith.extui %t : tensor<64xi8> to tensor<64xi32>
  %v = arith.constant dense<1> : tensor<64xi32>
  %0 = tile.atomic add %h[%u] value(%v : tensor<64xi32>) : !tile.array<256xi32, mut>, [tensor<64xi32>] -> tensor<64xi32>
  %s = arith.extsi %t : tensor<64xi8> to tensor<64xi32>
  %1 = tile.atomic add %h[%s] value(%v : tensor<64xi32>) : !tile.array<256xi32, mut>, [tensor<64xi32>] -> tensor<64xi32>
  tile.return
}

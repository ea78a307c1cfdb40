// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-expand-sorts))' | FileCheck %s
// Sorts of anything become sorts of unsigned words.

// Integers without payloads need no position: only the sign bit is inverted.
// CHECK-LABEL: tile.kernel @integers
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[K:.*]] = arith.xori %[[X]], %{{.*}} : tensor<64xi32>
// CHECK: %[[S:.*]] = tile.sort(%[[K]]) axis 0 unsigned : (tensor<64xi32>) -> tensor<64xi32>
// CHECK: %[[R:.*]] = arith.xori %[[S]], %{{.*}} : tensor<64xi32>
// CHECK: tile.store %{{.*}}, %[[R]]
tile.kernel @integers(%a: !tile.array<?xi32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %a[%z] : !tile.array<?xi32, mut> -> tensor<64xi32>
  %s = tile.sort(%x) axis 0 : (tensor<64xi32>) -> tensor<64xi32>
  tile.store %a[%z], %s : !tile.array<?xi32, mut>, tensor<64xi32>
  tile.return
}

// 16 bits of key, 6 of position and the sign of zero fit 32 bits; the payload is taken
// once, at the sorted positions.
// CHECK-LABEL: tile.kernel @payload
// CHECK: %[[Y:.*]] = tile.load %arg1
// CHECK: tile.sort(%{{.*}}) axis 0 unsigned : (tensor<64xi32>) -> tensor<64xi32>
// CHECK: %[[V:.*]] = tile.take %[[Y]][%{{.*}}] axis 0 along : tensor<64xf64>, tensor<64xi32> -> tensor<64xf64>
// CHECK: tile.store %arg1[%{{.*}}], %[[V]]
tile.kernel @payload(%a: !tile.array<?xf16, mut>, %b: !tile.array<?xf64, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %a[%z] : !tile.array<?xf16, mut> -> tensor<64xf16>
  %y = tile.load %b[%z] : !tile.array<?xf64, mut> -> tensor<64xf64>
  %k, %v = tile.sort(%x, %y) axis 0 descending : (tensor<64xf16>, tensor<64xf64>) -> (tensor<64xf16>, tensor<64xf64>)
  tile.store %a[%z], %k : !tile.array<?xf16, mut>, tensor<64xf16>
  tile.store %b[%z], %v : !tile.array<?xf64, mut>, tensor<64xf64>
  tile.return
}

// Floats without payloads: where the tile has a -0, words with a position, here pairs; else the
// keys alone.
// CHECK-LABEL: tile.kernel @wide
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %{{.*}} : tensor<64xi64>
// CHECK: %[[ANY:.*]] = tile.reduce(%[[ZERO]]) axes [0] : (tensor<64xi1>) -> i1
// CHECK: arith.ori
// CHECK: scf.if %[[ANY]] -> (tensor<64xf64>)
// CHECK: tile.sort(%{{.*}}, %{{.*}}) axis 0 unsigned : (tensor<64xi64>, tensor<64xi32>)
// CHECK: } else {
// CHECK: tile.sort(%{{.*}}) axis 0 unsigned : (tensor<64xi64>) -> tensor<64xi64>
tile.kernel @wide(%a: !tile.array<?xf64, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %a[%z] : !tile.array<?xf64, mut> -> tensor<64xf64>
  %s = tile.sort(%x) axis 0 : (tensor<64xf64>) -> tensor<64xf64>
  tile.store %a[%z], %s : !tile.array<?xf64, mut>, tensor<64xf64>
  tile.return
}

// The four greatest of 16: runs of four, and half of them dropped twice.
// CHECK-LABEL: tile.kernel @first
// CHECK-NOT: tile.take
// CHECK: tile.reshape %{{.*}} : tensor<2x16xi64> -> tensor<2x4x4x1xi64>
// CHECK: tile.sort(%{{.*}}) axis 2 unsigned : (tensor<2x2x4x1xi64>)
// CHECK: tile.sort(%{{.*}}) axis 2 descending unsigned : (tensor<2x2x4x1xi64>)
// CHECK: tile.sort(%{{.*}}) axis 2 unsigned {tile.bitonic_runs} : (tensor<2x1x4x1xi64>)
// CHECK: tile.sort(%{{.*}}) axis 2 descending unsigned {tile.bitonic_runs} : (tensor<2x1x4x1xi64>)
// CHECK: tile.sort(%{{.*}}) axis 2 unsigned {tile.bitonic_runs} : (tensor<2x1x4x1xi64>)
// CHECK-NOT: tile.sort
// CHECK: tile.reshape %{{.*}} : tensor<2x1x4x1xi64> -> tensor<2x4xi64>
tile.kernel @first(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>, %c: !tile.array<?x?xi32, mut>) {
  %z = arith.constant 0 : index
  %x = tile.load %a[%z, %z] : !tile.array<?x?xf32> -> tensor<2x16xf32>
  %n = tile.iota : tensor<16xi32>
  %r = tile.reshape %n : tensor<16xi32> -> tensor<1x16xi32>
  %p = tile.broadcast %r : tensor<1x16xi32> -> tensor<2x16xi32>
  %k, %v = tile.sort(%x, %p) axis 1 descending : (tensor<2x16xf32>, tensor<2x16xi32>) -> (tensor<2x16xf32>, tensor<2x16xi32>)
  %s = tile.extract %k[%z, %z] : tensor<2x16xf32> -> tensor<2x4xf32>
  %t = tile.extract %v[%z, %z] : tensor<2x16xi32> -> tensor<2x4xi32>
  tile.store %b[%z, %z], %s : !tile.array<?x?xf32, mut>, tensor<2x4xf32>
  tile.store %c[%z, %z], %t : !tile.array<?x?xi32, mut>, tensor<2x4xi32>
  tile.return
}

// Eight of 131072: eight parts, each with the best so far. No word comes behind all ones.
// CHECK-LABEL: tile.kernel @parts
// CHECK-NOT: -> tensor<1x131072xf32>
// CHECK: %[[WORST:.*]] = arith.constant dense<-1> : tensor<1x8xi64>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[BEST:.*]] = %[[WORST]]) -> (tensor<1x8xi64>)
// CHECK: %[[NEAR:.*]] = arith.minsi %arg4, %{{.*}} : index
// CHECK: %[[TILE:.*]] = arith.maxsi %[[NEAR]], %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %{{.*}} : index
// CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[P]] : index
// CHECK: tile.load %arg0[%{{.*}}, %[[PLACE]]] pad(0xFF800000 : f32) : !tile.array<?x?xf32> -> tensor<1x16384xf32>
// CHECK: tile.cat(%[[BEST]], %{{.*}}) axis 1 : (tensor<1x8xi64>, tensor<1x8xi64>) -> tensor<1x16xi64>
// CHECK: scf.yield %{{.*}} : tensor<1x8xi64>
tile.kernel @parts(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>, %c: !tile.array<?x?xi32, mut>, %row: index, %j: index) {
  %z = arith.constant 0 : index
  %x = tile.load %a[%row, %j] pad(0xFF800000 : f32) : !tile.array<?x?xf32> -> tensor<1x131072xf32>
  %i = tile.iota : tensor<131072xi32>
  %p = tile.reshape %i : tensor<131072xi32> -> tensor<1x131072xi32>
  %k, %v = tile.sort(%x, %p) axis 1 descending : (tensor<1x131072xf32>, tensor<1x131072xi32>) -> (tensor<1x131072xf32>, tensor<1x131072xi32>)
  %s = tile.extract %k[%z, %z] : tensor<1x131072xf32> -> tensor<1x8xf32>
  %q = tile.extract %v[%z, %z] : tensor<1x131072xi32> -> tensor<1x8xi32>
  tile.store %b[%row, %z], %s : !tile.array<?x?xf32, mut>, tensor<1x8xf32>
  tile.store %c[%row, %z], %q : !tile.array<?x?xi32, mut>, tensor<1x8xi32>
  tile.return
}

// What is stored before the sort may be what is loaded: the tile is loaded where it stood.
// CHECK-LABEL: tile.kernel @written
// CHECK: tile.load {{.*}} -> tensor<1x131072xf32>
// CHECK-NOT: scf.for
tile.kernel @written(%a: !tile.array<?x?xf32, mut>, %row: index) {
  %z = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x8xf32>
  %x = tile.load %a[%row, %z] : !tile.array<?x?xf32, mut> -> tensor<1x131072xf32>
  tile.store %a[%row, %z], %one : !tile.array<?x?xf32, mut>, tensor<1x8xf32>
  %k = tile.sort(%x) axis 1 descending : (tensor<1x131072xf32>) -> tensor<1x131072xf32>
  %s = tile.extract %k[%z, %z] : tensor<1x131072xf32> -> tensor<1x8xf32>
  tile.store %a[%row, %z], %s : !tile.array<?x?xf32, mut>, tensor<1x8xf32>
  tile.return
}

// RUN: tile-opt %s --tile-coarsen-masks | FileCheck %s
// Positions are rounded down where they are compared with a multiple of a power of two.

// Rows of bf16 that are multiples of 16 bytes have a multiple of eight columns.
// CHECK-LABEL: tile.kernel @row
// CHECK: %[[I:.*]] = tile.iota
// CHECK: %[[P:.*]] = tile.reshape %[[I]]
// CHECK: %[[KEPT:.*]] = arith.constant dense<-8> : tensor<1x64xindex>
// CHECK: %[[FIRST:.*]] = arith.andi %[[P]], %[[KEPT]]
// CHECK: arith.cmpi slt, %[[FIRST]], %{{.*}} : tensor<1x64xindex>
tile.kernel @row(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {tile.facts = ["aligned16"]} {
  %n = tile.dim %x, 1 : !tile.array<?x?xbf16>
  %i = tile.iota : tensor<64xindex>
  %p = tile.reshape %i : tensor<64xindex> -> tensor<1x64xindex>
  %s = tile.splat %n : index -> tensor<1x64xindex>
  %m = arith.cmpi slt, %p, %s : tensor<1x64xindex>
  %f = arith.uitofp %m : tensor<1x64xi1> to tensor<1x64xf32>
  %z = arith.constant 0 : index
  tile.store %y[%z, %z], %f : !tile.array<?x?xf32, mut>, tensor<1x64xf32>
  tile.return
}

// The other way round, with a constant.
// CHECK-LABEL: tile.kernel @swapped
// CHECK: %[[I:.*]] = tile.iota
// CHECK: %[[FIRST:.*]] = arith.andi %[[I]], %{{.*}} : tensor<64xi32>
// CHECK: arith.cmpi sle, %{{.*}}, %[[FIRST]] : tensor<64xi32>
tile.kernel @swapped(%y: !tile.array<?xf32, mut>) {
  %i = tile.iota : tensor<64xi32>
  %s = arith.constant dense<44> : tensor<64xi32>
  %m = arith.cmpi sle, %s, %i : tensor<64xi32>
  %f = arith.uitofp %m : tensor<64xi1> to tensor<64xf32>
  %z = arith.constant 0 : index
  tile.store %y[%z], %f : !tile.array<?xf32, mut>, tensor<64xf32>
  tile.return
}

// Not: any number of columns, an odd limit, another question, positions that count from
// anywhere.
// CHECK-LABEL: tile.kernel @kept
// CHECK-NOT: arith.andi
// CHECK: tile.return
tile.kernel @kept(%x: !tile.array<?x?xbf16>, %y: !tile.array<?xf32, mut>, %from: index) {
  %n = tile.dim %x, 1 : !tile.array<?x?xbf16>
  %i = tile.iota : tensor<64xindex>
  %any = tile.splat %n : index -> tensor<64xindex>
  %odd = arith.constant dense<43> : tensor<64xindex>
  %even = arith.constant dense<48> : tensor<64xindex>
  %start = tile.splat %from : index -> tensor<64xindex>
  %j = arith.addi %i, %start : tensor<64xindex>
  %a = arith.cmpi slt, %i, %any : tensor<64xindex>
  %b = arith.cmpi slt, %i, %odd : tensor<64xindex>
  %c = arith.cmpi sle, %i, %even : tensor<64xindex>
  %d = arith.cmpi slt, %j, %even : tensor<64xindex>
  %ab = arith.xori %a, %b : tensor<64xi1>
  %cd = arith.xori %c, %d : tensor<64xi1>
  %m = arith.xori %ab, %cd : tensor<64xi1>
  %f = arith.uitofp %m : tensor<64xi1> to tensor<64xf32>
  %z = arith.constant 0 : index
  tile.store %y[%z], %f : !tile.array<?xf32, mut>, tensor<64xf32>
  tile.return
}

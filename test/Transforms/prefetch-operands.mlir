// RUN: tile-opt %s --tile-prefetch-operands | FileCheck %s
// Operands that are computed from what is loaded, or gathered, are loaded an iteration ahead.

#acc = #tile.layout<[16, 8] register [(0, 1), (8, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#a = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#b = #tile.layout<[16, 8] register [(1, 0), (8, 0)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)]>

// CHECK-LABEL: tile.kernel @bytes
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[LOW:.*]], %[[HIGH:.*]] : index
// CHECK: %[[FIRST:.*]] = scf.if %[[RUNS]]
// CHECK:   %[[W0:.*]] = tile.load %arg1[%[[LOW]], %{{.*}}]
// CHECK:   scf.yield %[[W0]]
// CHECK: else
// CHECK:   %[[NONE:.*]] = arith.constant dense<0>
// CHECK:   scf.yield %[[NONE]]
// CHECK: scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]] step %[[STEP:.*]] iter_args(%[[SUM:.*]] = %{{.*}}, %[[W:.*]] = %[[FIRST]])
// CHECK:   %[[X:.*]] = tile.load %arg0
// CHECK:   %[[F:.*]] = arith.sitofp %[[W]]
// CHECK:   %[[REST:.*]] = arith.subi %[[HIGH]], %[[I]]
// CHECK:   %[[MORE:.*]] = arith.cmpi ugt, %[[REST]], %[[STEP]]
// CHECK:   %[[FAR:.*]] = arith.addi %[[I]], %[[STEP]]
// CHECK:   %[[NEXT:.*]] = arith.select %[[MORE]], %[[FAR]], %[[I]]
// CHECK:   %[[V:.*]] = tile.load %arg1[%[[NEXT]], %{{.*}}]
// CHECK:   %[[R:.*]] = tile.mma %[[X]], %[[F]], %[[SUM]]
// CHECK:   scf.yield %[[R]], %[[V]]
tile.kernel @bytes(%x: !tile.array<?x?xf16>, %w: !tile.array<?x?xi8>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %s = scf.for %i = %zero to %n step %one iter_args(%sum = %zeros) -> (tensor<16x8xf32, #acc>) {
    %a = tile.load %x[%zero, %i] {tile.copy = "cp_async"} : !tile.array<?x?xf16> -> tensor<16x16xf16, #a>
    %b = tile.load %w[%i, %zero] : !tile.array<?x?xi8> -> tensor<16x8xi8, #b>
    %c = arith.sitofp %b : tensor<16x8xi8, #b> to tensor<16x8xf16, #b>
    %r = tile.mma %a, %c, %sum {atom = "mma_sync"} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #acc>
    scf.yield %r : tensor<16x8xf32, #acc>
  }
  tile.store %y[%zero, %zero], %s : !tile.array<?x?xf32, mut>, tensor<16x8xf32, #acc>
  tile.return
}

// Rows that a table names: the table is read ahead, too. Loops that store read nothing early.
// CHECK-LABEL: tile.kernel @rows
// CHECK: scf.for
// CHECK:   %[[NEXT:.*]] = arith.select
// CHECK:   %[[T:.*]] = tile.load %arg1[%[[NEXT]], %{{.*}}]
// CHECK:   %[[G:.*]] = tile.gather %arg0[%[[T]], %{{.*}}]
// CHECK:   tile.mma
// CHECK-LABEL: tile.kernel @written
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK:   tile.load
// CHECK:   tile.mma
tile.kernel @rows(%x: !tile.array<?x?xf16>, %t: !tile.array<?x?xi32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %cols = arith.constant dense<0> : tensor<16x16xi32, #a>
  %ones = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  %s = scf.for %i = %zero to %n step %one iter_args(%sum = %zeros) -> (tensor<16x8xf32, #acc>) {
    %row = tile.load %t[%i, %zero] : !tile.array<?x?xi32> -> tensor<16x16xi32, #a>
    %a = tile.gather %x[%row, %cols] : !tile.array<?x?xf16>, [tensor<16x16xi32, #a>, tensor<16x16xi32, #a>] -> tensor<16x16xf16, #a>
    %r = tile.mma %a, %ones, %sum {atom = "mma_sync"} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #acc>
    scf.yield %r : tensor<16x8xf32, #acc>
  }
  tile.store %y[%zero, %zero], %s : !tile.array<?x?xf32, mut>, tensor<16x8xf32, #acc>
  tile.return
}

tile.kernel @written(%x: !tile.array<?x?xf16, mut>, %y: !tile.array<?x?xf16, mut>, %n: index) attributes {num_warps = 1 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %ones = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  scf.for %i = %zero to %n step %one {
    %a = tile.load %x[%i, %zero] : !tile.array<?x?xf16, mut> -> tensor<16x16xf16, #a>
    %r = tile.mma %a, %ones, %zeros {atom = "mma_sync"} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #acc>
    %h = arith.truncf %r : tensor<16x8xf32, #acc> to tensor<16x8xf16, #acc>
    tile.store %x[%zero, %i], %h : !tile.array<?x?xf16, mut>, tensor<16x8xf16, #acc>
  }
  tile.return
}

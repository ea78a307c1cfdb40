// RUN: tile-opt %s --split-input-file --tile-remove-layout-conversions | FileCheck %s
// Conversions vanish, shrink, or stand where they cost least.

#a = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0), (8, 0), (4, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)]>
#b = #tile.layout<[32, 32] register [(1, 0), (2, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>

// CHECK-LABEL: tile.kernel @there_and_back
tile.kernel @there_and_back(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  // CHECK: %[[X:.*]] = tile.load
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.store {{.*}}, %[[X]]
  %0 = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<32x32xf32, #a>
  %1 = tile.convert_layout %0 : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
  %2 = tile.convert_layout %1 : tensor<32x32xf32, #b> -> tensor<32x32xf32, #a>
  tile.store %y[%i, %i], %2 : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #a>
  tile.return
}

// -----

#a = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0), (8, 0), (4, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)]>
#b = #tile.layout<[32, 32] register [(1, 0), (2, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>

// Moving 32 bits costs less than moving 64.
// CHECK-LABEL: tile.kernel @before_widening
tile.kernel @before_widening(%x: !tile.array<?x?xf64>, %y: !tile.array<?x?xf64, mut>, %i: index)
    attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  %0 = tile.load %x[%i, %i] : !tile.array<?x?xf64> -> tensor<32x32xf64, #a>
  tile.store %y[%i, %i], %0 : !tile.array<?x?xf64, mut>, tensor<32x32xf64, #a>
  %n = arith.truncf %0 : tensor<32x32xf64, #a> to tensor<32x32xf32, #a>
  // CHECK: %[[N:.*]] = arith.truncf
  // CHECK: %[[C:.*]] = tile.convert_layout %[[N]] : tensor<32x32xf32, #{{.*}}>
  // CHECK: arith.extf %[[C]]
  // CHECK-NOT: tile.convert_layout
  %w = arith.extf %n : tensor<32x32xf32, #a> to tensor<32x32xf64, #a>
  %c = tile.convert_layout %w : tensor<32x32xf64, #a> -> tensor<32x32xf64, #b>
  tile.store %y[%i, %i], %c order [1, 0] : !tile.array<?x?xf64, mut>, tensor<32x32xf64, #b>
  tile.return
}

// -----

#a = #tile.layout<[32] lane [(1), (2), (4), (8), (16)]>
#b = #tile.layout<[32] register [(1), (2)] lane [(4), (8), (16), (0), (0)]>

// Constants, iota and splat are made twice rather than moved.
// CHECK-DAG: #[[B:.*]] = #tile.layout<[32] register
// CHECK-LABEL: tile.kernel @recreate
tile.kernel @recreate(%y: !tile.array<?xi32, mut>, %i: index, %s: i32)
    attributes {num_warps = 1 : i32} {
  // CHECK-NOT: tile.convert_layout
  // CHECK-DAG: tile.iota : tensor<32xi32, #[[B]]>
  // CHECK-DAG: tile.splat {{.*}} -> tensor<32xi32, #[[B]]>
  // CHECK-DAG: arith.constant dense<3> : tensor<32xi32, #[[B]]>
  %0 = tile.iota : tensor<32xi32, #a>
  %1 = tile.splat %s : i32 -> tensor<32xi32, #a>
  %2 = arith.constant dense<3> : tensor<32xi32, #a>
  %3 = arith.addi %0, %1 : tensor<32xi32, #a>
  %4 = arith.muli %3, %2 : tensor<32xi32, #a>
  %5 = tile.convert_layout %4 : tensor<32xi32, #a> -> tensor<32xi32, #b>
  // CHECK: tile.store {{.*}}, tensor<32xi32, #[[B]]>
  tile.store %y[%i], %5 : !tile.array<?xi32, mut>, tensor<32xi32, #b>
  tile.return
}

// -----

#a = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0), (8, 0), (4, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)]>
#ab = #tile.layout<[32, 1] register [(16, 0), (8, 0), (4, 0)] lane [(0, 0), (0, 0), (0, 0), (1, 0), (2, 0)]>
#b = #tile.layout<[32, 32] register [(1, 0), (2, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>

// The narrow side of a broadcast is moved.
// CHECK-LABEL: tile.kernel @before_broadcast
tile.kernel @before_broadcast(%x: !tile.array<?x1xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32} {
  %0 = tile.load %x[%i, %i] : !tile.array<?x1xf32> -> tensor<32x1xf32, #ab>
  %e = math.exp %0 : tensor<32x1xf32, #ab>
  tile.store %y[%i, %i], %e : !tile.array<?x?xf32, mut>, tensor<32x1xf32, #ab>
  // CHECK: tile.convert_layout {{.*}} -> tensor<32x1xf32
  // CHECK: tile.broadcast
  // CHECK-NOT: tile.convert_layout
  %1 = tile.broadcast %e : tensor<32x1xf32, #ab> -> tensor<32x32xf32, #a>
  %2 = tile.convert_layout %1 : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
  tile.store %y[%i, %i], %2 : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #b>
  tile.return
}

// -----

#a = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0), (8, 0), (4, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)]>
#b = #tile.layout<[32, 32] register [(1, 0), (2, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>

// A load that reads memory well is not turned into one that does not; one that reads
// it badly is.
// CHECK-DAG: #[[A:.*]] = #tile.layout<[32, 32] register [(0, 1)
// CHECK-DAG: #[[B:.*]] = #tile.layout<[32, 32] register [(1, 0)
// CHECK-LABEL: tile.kernel @loads
tile.kernel @loads(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  // CHECK: tile.load {{.*}} -> tensor<32x32xf32, #[[A]]>
  // CHECK: tile.convert_layout
  %0 = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<32x32xf32, #a>
  %1 = tile.convert_layout %0 : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
  tile.store %y[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #b>
  // CHECK: tile.load {{.*}} order [1, 0] {{.*}} -> tensor<32x32xf32, #[[B]]>
  // CHECK-NOT: tile.convert_layout
  %2 = tile.load %x[%i, %i] order [1, 0] : !tile.array<?x?xf32> -> tensor<32x32xf32, #a>
  %3 = tile.convert_layout %2 : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
  tile.store %y[%i, %i], %3 : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #b>
  tile.return
}

// -----

#a = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0), (8, 0), (4, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)]>
#b = #tile.layout<[32, 32] register [(1, 0), (2, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>
#c = #tile.layout<[32, 32] register [(2, 0), (1, 0), (0, 16), (0, 8), (0, 4)] lane [(4, 0), (8, 0), (16, 0), (0, 1), (0, 2)]>

// A conversion that only renames registers is not joined to one that must stay.
// CHECK-LABEL: tile.kernel @renaming
tile.kernel @renaming(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  %0 = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<32x32xf32, #a>
  tile.store %y[%i, %i], %0 : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #a>
  // CHECK: %[[B:.*]] = tile.convert_layout
  %1 = tile.convert_layout %0 : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
  tile.store %y[%i, %i], %1 order [1, 0] : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #b>
  // CHECK: tile.convert_layout %[[B]]
  %2 = tile.convert_layout %1 : tensor<32x32xf32, #b> -> tensor<32x32xf32, #c>
  tile.store %y[%i, %i], %2 order [1, 0] : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #c>
  tile.return
}

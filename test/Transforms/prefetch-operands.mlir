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

// What is made narrower for the product may take 64 registers, and leaves a quarter of them beside the
// sums: 32 of each operand here and 128 of the sum. Of an operand that has 64 alone nothing is loaded ahead,
// and neither is the other.
#large = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (16, 0), (32, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#part = #tile.layout<[64, 16] register [(0, 1), (8, 0), (0, 8), (16, 0), (32, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#other = #tile.layout<[16, 64] register [(1, 0), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)]>
#long = #tile.layout<[64, 32] register [(0, 1), (8, 0), (0, 8), (16, 0), (32, 0), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#longer = #tile.layout<[32, 64] register [(1, 0), (8, 0), (0, 8), (0, 16), (0, 32), (16, 0)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)]>
// CHECK-LABEL: tile.kernel @narrowed
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:   tile.cast %[[A]]
// CHECK:   tile.cast %[[B]]
// CHECK:   %[[NEXTA:.*]] = tile.load %arg0
// CHECK:   %[[NEXTB:.*]] = tile.load %arg1
// CHECK:   %[[R:.*]] = tile.mma
// CHECK:   scf.yield %[[R]], %[[NEXTA]], %[[NEXTB]]
// CHECK-LABEL: tile.kernel @whole
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) ->
tile.kernel @narrowed(%x: !tile.array<?x?xf32>, %w: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #large>
  %s = scf.for %i = %zero to %n step %one iter_args(%sum = %zeros) -> (tensor<64x64xf32, #large>) {
    %a = tile.load %x[%zero, %i] : !tile.array<?x?xf32> -> tensor<64x16xf32, #part>
    %b = tile.load %w[%i, %zero] : !tile.array<?x?xf32> -> tensor<16x64xf32, #other>
    %c = tile.cast %a : tensor<64x16xf32, #part> -> tensor<64x16xbf16, #part>
    %d = tile.cast %b : tensor<16x64xf32, #other> -> tensor<16x64xbf16, #other>
    %r = tile.mma %c, %d, %sum {atom = "mma_sync"} : tensor<64x16xbf16, #part>, tensor<16x64xbf16, #other>, tensor<64x64xf32, #large>
    scf.yield %r : tensor<64x64xf32, #large>
  }
  tile.store %y[%zero, %zero], %s : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #large>
  tile.return
}
tile.kernel @whole(%x: !tile.array<?x?xf32>, %w: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #large>
  %s = scf.for %i = %zero to %n step %one iter_args(%sum = %zeros) -> (tensor<64x64xf32, #large>) {
    %a = tile.load %x[%zero, %i] : !tile.array<?x?xf32> -> tensor<64x32xf32, #long>
    %b = tile.load %w[%i, %zero] : !tile.array<?x?xf32> -> tensor<32x64xf32, #longer>
    %c = tile.cast %a : tensor<64x32xf32, #long> -> tensor<64x32xbf16, #long>
    %d = tile.cast %b : tensor<32x64xf32, #longer> -> tensor<32x64xbf16, #longer>
    %r = tile.mma %c, %d, %sum {atom = "mma_sync"} : tensor<64x32xbf16, #long>, tensor<32x64xbf16, #longer>, tensor<64x64xf32, #large>
    scf.yield %r : tensor<64x64xf32, #large>
  }
  tile.store %y[%zero, %zero], %s : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #large>
  tile.return
}

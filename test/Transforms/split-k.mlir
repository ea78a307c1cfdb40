// RUN: tile-opt %s --tile-split-k=chip=sm_90a --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-split-k=chip=sm_90a --split-input-file --remarks-filter=split-k --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-split-k=chip=sm_80 --split-input-file | FileCheck %s --check-prefix=OLD
// RUN: tile-opt %s --tile-split-k=chip=sm_120a --split-input-file | FileCheck %s --check-prefix=OLD
// RUN: tile-opt %s --tile-split-k=chip=sm_80 --split-input-file --remarks-filter=split-k --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD-REMARK
// Several blocks share a loop that sums products: those of a cluster, of which the first has
// the sum and stores, or, on chips without products of warp groups, any that add up in memory, of
// which the last has it and goes on.

// REMARK: [Passed] {{.*}}Function=four {{.*}}Remark="4 blocks share the loop over K of each position and add up in a cluster"
// OLD-REMARK: [Passed] {{.*}}Function=four {{.*}}Remark="4 blocks share the loop over K of each position and add up in memory"
// OLD-LABEL: tile.kernel @four
// OLD-SAME: tgpu.split_k = 4
// OLD-NOT: tgpu.cluster
// OLD: %[[RANK:.*]] = tgpu.part
// OLD: %[[PARTS:.*]] = arith.constant 4 : index
// OLD: arith.muli %{{.*}}, %[[RANK]] : index
// OLD: %[[PART:.*]] = scf.for
// OLD: %[[SUM:.*]] = tgpu.memory_sum %[[PART]] : tensor<16x16xf32>
// OLD-NEXT: %[[OUT:.*]] = arith.addf %[[SUM]], %[[SUM]]
// OLD-NEXT: tile.store %{{.*}}, %[[OUT]]
// CHECK-LABEL: tile.kernel @four
// CHECK-SAME: tgpu.split_k = 4
// CHECK: %[[RANK:.*]] = tgpu.cluster_rank
// CHECK: %[[PARTS:.*]] = arith.constant 4 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : index
// CHECK: %[[PART:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[K]]]
// CHECK: %[[SUM:.*]] = tgpu.cluster_sum %[[PART]] : tensor<16x16xf32>
// CHECK: %[[OUT:.*]] = arith.addf %[[SUM]], %[[SUM]]
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: tile.store %{{.*}}, %[[OUT]]
tile.kernel @four(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {hints = {split_k = 4 : i64}} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<16x16xf32> {
    %x = tile.load %a[%m, %k] : !tile.array<?x?xf32> -> tensor<16x16xf32>
    %y = tile.load %b[%k, %m] : !tile.array<?x?xf32> -> tensor<16x16xf32>
    %p = tile.mma %x, %y, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  %d = arith.addf %r, %r : tensor<16x16xf32>
  tile.store %c[%m, %m], %d : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.return
}

// -----

// How many blocks share is for the launch to say.
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: tgpu.split_k = 0
// CHECK: %[[PARTS:.*]] = tgpu.cluster_size
// 1, 2, 4 and 8 blocks by shifts of 0, 1, 2 and 3 bits.
// CHECK: %[[HALF:.*]] = arith.shrui %[[PARTS]], %{{.*}} : index
// CHECK: %[[EIGHTH:.*]] = arith.shrui %[[PARTS]], %{{.*}} : index
// CHECK: %[[BITS:.*]] = arith.subi %[[HALF]], %[[EIGHTH]] : index
// CHECK: arith.shrui %{{.*}}, %[[BITS]] : index
// OLD-LABEL: tile.kernel @few
// OLD-SAME: tgpu.split_k = 0
// OLD: tgpu.part
// OLD: tgpu.num_parts
// OLD: tgpu.memory_sum
// CHECK-NOT: arith.divui %{{.*}}, %[[PARTS]]
// CHECK: tgpu.cluster_sum
tile.kernel @few(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {tile.facts = ["aligned16", "few_blocks"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<16x16xf32> {
    %x = tile.load %a[%k, %k] : !tile.array<?x?xf32> -> tensor<16x16xf32>
    %p = tile.mma %x, %x, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.return
}

// -----

// REMARK: [Missed] {{.*}}Function=starts_elsewhere {{.*}}Remark="each block has its loop over K for itself: its loop carries more than sums
// CHECK-LABEL: tile.kernel @starts_elsewhere
// CHECK-NOT: tgpu.cluster
tile.kernel @starts_elsewhere(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {hints = {split_k = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<1.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<16x16xf32> {
    %x = tile.load %a[%k, %k] : !tile.array<?x?xf32> -> tensor<16x16xf32>
    %p = tile.mma %x, %x, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.return
}

// -----

// REMARK: [Missed] {{.*}}Function=nested {{.*}}Remark="each block has its loop over K for itself: it has no loop of its own
// CHECK-LABEL: tile.kernel @nested
// CHECK-NOT: tgpu.cluster
tile.kernel @nested(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {hints = {split_k = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  scf.for %t = %c0 to %n step %c1 {
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<16x16xf32> {
      %x = tile.load %a[%k, %k] : !tile.array<?x?xf32> -> tensor<16x16xf32>
      %p = tile.mma %x, %x, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
      scf.yield %p : tensor<16x16xf32>
    }
    tile.store %c[%t, %t], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  }
  tile.return
}

// -----

// REMARK: [Missed] {{.*}}Function=three {{.*}}Remark="each block has its loop over K for itself: 2, 4 or 8 blocks share a loop"
// CHECK-LABEL: tile.kernel @three
// CHECK-SAME: tile.declined_hints
tile.kernel @three() attributes {hints = {split_k = 3 : i64}} {
  tile.return
}

// -----

// The sums of a loop meet together.
// OLD-LABEL: tile.kernel @two
// OLD: %[[PART:.*]]:2 = scf.for
// OLD: %[[SUM:.*]]:2 = tgpu.memory_sum %[[PART]]#0, %[[PART]]#1 : tensor<16x16xf32>, tensor<16x16xi32>
// OLD-NEXT: tile.store %{{.*}}, %[[SUM]]#0
// OLD-NEXT: tile.store %{{.*}}, %[[SUM]]#1
// CHECK-LABEL: tile.kernel @two
// CHECK-COUNT-2: tgpu.cluster_sum
tile.kernel @two(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xi8>, %c: !tile.array<?x?xf32, mut>, %d: !tile.array<?x?xi32, mut>, %n: index)
    attributes {hints = {split_k = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %y = arith.constant dense<0> : tensor<16x16xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z, %t = %y) -> (tensor<16x16xf32>, tensor<16x16xi32>) {
    %x = tile.load %a[%k, %k] : !tile.array<?x?xf32> -> tensor<16x16xf32>
    %w = tile.load %b[%k, %k] : !tile.array<?x?xi8> -> tensor<16x16xi8>
    %p = tile.mma %x, %x, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %q = tile.mma %w, %w, %t : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>
    scf.yield %p, %q : tensor<16x16xf32>, tensor<16x16xi32>
  }
  tile.store %c[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.store %d[%c0, %c0], %r#1 : !tile.array<?x?xi32, mut>, tensor<16x16xi32>
  tile.return
}

// -----

// All blocks would have to see what is stored before the loop.
// REMARK: [Missed] {{.*}}Function=stores_before {{.*}}Remark="each block has its loop over K for itself: it writes before the loop
// OLD-REMARK: [Missed] {{.*}}Function=stores_before {{.*}}Remark="each block has its loop over K for itself: it writes before the loop
// OLD-LABEL: tile.kernel @stores_before
// OLD-NOT: tgpu.memory_sum
tile.kernel @stores_before(%a: !tile.array<?x?xf32, mut>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {hints = {split_k = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  tile.store %a[%c0, %c0], %z : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<16x16xf32> {
    %x = tile.load %a[%k, %k] : !tile.array<?x?xf32, mut> -> tensor<16x16xf32>
    %p = tile.mma %x, %x, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32>
  tile.return
}

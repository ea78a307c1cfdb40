// RUN: tile-opt %s --tile-split-k=chip=sm_90a --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-split-k=chip=sm_90a --split-input-file --remarks-filter=split-k --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-split-k=chip=sm_80 --split-input-file | FileCheck %s --check-prefix=OLD
// Blocks of a cluster share a loop that sums products; the first has the sum and stores.

// OLD-NOT: tgpu.cluster

// REMARK: [Passed] {{.*}}Function=four {{.*}}Remark="4 blocks share the loop over K of each position"
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

// REMARK: [Missed] {{.*}}Function=three {{.*}}Remark="each block has its loop over K for itself: a cluster has 2, 4 or 8 blocks"
// CHECK-LABEL: tile.kernel @three
// CHECK-SAME: tile.declined_hints
tile.kernel @three() attributes {hints = {split_k = 3 : i64}} {
  tile.return
}

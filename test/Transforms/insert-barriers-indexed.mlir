// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' | FileCheck %s
// Accesses by index name any element: a barrier stands between those of one array, one of
// which writes. Atomics order the block where they acquire or release.

#full = #tile.layout<[128] lane [(1), (2), (4), (8), (16)] warp [(32), (64)]>

// CHECK-LABEL: tile.kernel @indexed
tile.kernel @indexed(%a: !tile.array<?xi32, mut>, %b: !tile.array<?xi32, mut>) attributes {num_warps = 4 : i32} {
  %n = tile.iota : tensor<128xi32, #full>
  // CHECK: tile.gather %arg0
  // CHECK-NEXT: tile.gather %arg0
  %0 = tile.gather %a[%n] : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  %1 = tile.gather %a[%0] : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.scatter %arg0
  tile.scatter %a[%n], %1 : !tile.array<?xi32, mut>, [tensor<128xi32, #full>], tensor<128xi32, #full>
  // CHECK-NEXT: tile.gather %arg1
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.gather %arg0
  %2 = tile.gather %b[%n] : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  %3 = tile.gather %a[%2] : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  tile.scatter %b[%2], %3 : !tile.array<?xi32, mut>, [tensor<128xi32, #full>], tensor<128xi32, #full>
  tile.return
}

// Sums whose parts nobody looks at may come in any order, in a loop too; what looks, or
// is another operation, comes after them.
// CHECK-LABEL: tile.kernel @sums
tile.kernel @sums(%a: !tile.array<?xi32, mut>, %m: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.iota : tensor<128xi32, #full>
  // CHECK: scf.for
  // CHECK-NEXT: tile.atomic add
  // CHECK-NEXT: tile.atomic add
  // CHECK-NEXT: }
  scf.for %i = %c0 to %m step %c1 {
    %0 = tile.atomic add %a[%n] value(%n : tensor<128xi32, #full>) : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
    %1 = tile.atomic add %a[%n] value(%n : tensor<128xi32, #full>) : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  }
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.atomic max
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.atomic load
  %2 = tile.atomic max %a[%n] value(%n : tensor<128xi32, #full>) : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  %3 = tile.atomic load %a[%n] : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  tile.return
}

// Single elements are written by one thread, in order.
// CHECK-LABEL: tile.kernel @single
tile.kernel @single(%a: !tile.array<?xi32, mut>, %v: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  // CHECK: tile.store
  // CHECK-NEXT: tile.atomic add
  // CHECK-NEXT: tile.scatter
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.load
  tile.store %a[%c0], %v elements : !tile.array<?xi32, mut>, i32
  %0 = tile.atomic add %a[%c0] value(%v : i32) : !tile.array<?xi32, mut>, [index] -> i32
  tile.scatter %a[%c0], %v : !tile.array<?xi32, mut>, [index], i32
  %1 = tile.load %a[%c0] elements : !tile.array<?xi32, mut> -> i32
  tile.scatter %a[%1], %1 : !tile.array<?xi32, mut>, [i32], i32
  tile.return
}

// A release comes after what the block has done before, whatever the array; what the
// block does after an acquire comes after it. Relaxed atomics order nothing.
// CHECK-LABEL: tile.kernel @orders
tile.kernel @orders(%a: !tile.array<?xi32, mut>, %f: !tile.array<?xi32, mut>, %v: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %n = tile.iota : tensor<128xi32, #full>
  // CHECK: tile.store %arg0
  // CHECK-NEXT: tile.atomic store %arg1{{.*}} :
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.atomic store %arg1{{.*}} order(release)
  tile.store %a[%c0], %n : !tile.array<?xi32, mut>, tensor<128xi32, #full>
  tile.atomic store %f[%c0] value(%v : i32) : !tile.array<?xi32, mut>, [index]
  tile.atomic store %f[%c0] value(%v : i32) order(release) : !tile.array<?xi32, mut>, [index]
  // CHECK-NEXT: tile.atomic load %arg1{{.*}} order(acquire)
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.load %arg0
  %0 = tile.atomic load %f[%c0] order(acquire) : !tile.array<?xi32, mut>, [index] -> i32
  %1 = arith.addi %0, %v : i32
  %2 = tile.load %a[%c0] : !tile.array<?xi32, mut> -> tensor<128xi32, #full>
  %3 = tile.splat %1 : i32 -> tensor<128xi32, #full>
  %4 = arith.addi %2, %3 : tensor<128xi32, #full>
  tile.store %a[%c0], %4 : !tile.array<?xi32, mut>, tensor<128xi32, #full>
  tile.return
}

// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-stage-operands))' | FileCheck %s
// One thread does an atomic operation; other warps that hold copies of the element learn
// its old value through shared memory.

#full = #tile.layout<[128] lane [(1), (2), (4), (8), (16)] warp [(32), (64)]>
#lanes = #tile.layout<[64] lane [(1), (2), (4), (8), (0)] warp [(16), (32)]>
#warps = #tile.layout<[32] lane [(1), (2), (4), (8), (16)] warp [(0), (0)]>

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%a: !tile.array<?xi32, mut>, %c: !tile.array<?xi32, mut>) attributes {num_warps = 4 : i32} {
  %z = arith.constant 0 : index
  // Nobody has a copy, or copies are in lanes of one warp.
  // CHECK-NOT: tgpu
  %n = tile.iota : tensor<128xi32, #full>
  %0 = tile.atomic add %a[%n] value(%n : tensor<128xi32, #full>) : !tile.array<?xi32, mut>, [tensor<128xi32, #full>] -> tensor<128xi32, #full>
  tile.store %c[%z], %0 : !tile.array<?xi32, mut>, tensor<128xi32, #full>
  %m = tile.iota : tensor<64xi32, #lanes>
  %1 = tile.atomic add %a[%m] value(%m : tensor<64xi32, #lanes>) : !tile.array<?xi32, mut>, [tensor<64xi32, #lanes>] -> tensor<64xi32, #lanes>
  tile.store %c[%z], %1 : !tile.array<?xi32, mut>, tensor<64xi32, #lanes>
  // CHECK: %[[OLD:.*]] = tile.atomic add {{.*}} -> tensor<32xi32
  // CHECK-NEXT: %[[BUFFER:.*]] = tgpu.alloc : !tgpu.buffer<32xi32
  // CHECK-NEXT: tgpu.store %[[OLD]], %[[BUFFER]]
  // CHECK-NEXT: %[[ALL:.*]] = tgpu.load %[[BUFFER]]
  // CHECK-NEXT: tile.store %{{.*}}, %[[ALL]]
  %k = tile.iota : tensor<32xi32, #warps>
  %2 = tile.atomic add %a[%k] value(%k : tensor<32xi32, #warps>) : !tile.array<?xi32, mut>, [tensor<32xi32, #warps>] -> tensor<32xi32, #warps>
  tile.store %c[%z], %2 : !tile.array<?xi32, mut>, tensor<32xi32, #warps>
  // Nobody asks for the old value.
  // CHECK-NOT: tgpu
  %3 = tile.atomic add %a[%k] value(%k : tensor<32xi32, #warps>) : !tile.array<?xi32, mut>, [tensor<32xi32, #warps>] -> tensor<32xi32, #warps>
  tile.return
}

// CHECK-LABEL: tile.kernel @scalar
tile.kernel @scalar(%a: !tile.array<?xi32, mut>, %c: !tile.array<?xi32, mut>, %v: i32) attributes {num_warps = 4 : i32} {
  %z = arith.constant 0 : index
  // CHECK: %[[OLD:.*]] = tile.atomic add
  // CHECK-NEXT: %[[TILE:.*]] = tile.reshape %[[OLD]] : i32 -> tensor<1xi32
  // CHECK: tgpu.store %[[TILE]], %[[BUFFER:.*]] :
  // CHECK: %[[ALL:.*]] = tgpu.load %[[BUFFER]]
  // CHECK-NEXT: %[[SAME:.*]] = tile.reshape %[[ALL]] : tensor<1xi32, {{.*}}> -> i32
  // CHECK-NEXT: tile.store %{{.*}}, %[[SAME]]
  %0 = tile.atomic add %a[%z] value(%v : i32) : !tile.array<?xi32, mut>, [index] -> i32
  tile.store %c[%z], %0 elements : !tile.array<?xi32, mut>, i32
  tile.return
}

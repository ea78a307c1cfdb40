// RUN: tile-opt %s --tile-split-conversions=max-bytes=2048 --tile-verify-stage | FileCheck %s
// A large conversion through shared memory is cut where both layouts have registers.

#a = #tile.layout<[32, 64] register [(0, 1), (0, 2), (16, 0), (8, 0), (0, 16), (0, 32)] lane [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#b = #tile.layout<[32, 64] register [(1, 0), (2, 0), (0, 32), (0, 16), (8, 0), (16, 0)] lane [(4, 0), (0, 1), (0, 2), (0, 4), (0, 8)]>
#lanes = #tile.layout<[32, 64] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>

// 8 KiB: four pieces of 2 KiB, along the first dim, which both keep in registers.
// CHECK-LABEL: tile.kernel @pieces
tile.kernel @pieces(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32} {
  %0 = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<32x64xf32, #a>
  // CHECK: %[[LOW:.*]] = tile.extract {{.*}} -> tensor<16x64xf32
  // CHECK: %[[P0:.*]] = tile.extract %[[LOW]][%c0{{.*}}, %c0{{.*}}] {{.*}} -> tensor<8x64xf32
  // CHECK: %[[C0:.*]] = tile.convert_layout %[[P0]]
  // CHECK: %[[P1:.*]] = tile.extract %[[LOW]][%c1{{.*}}, %c0{{.*}}] {{.*}} -> tensor<8x64xf32
  // CHECK: %[[C1:.*]] = tile.convert_layout %[[P1]]
  // CHECK: %[[L:.*]] = tile.cat(%[[C0]], %[[C1]]) axis 0
  // CHECK-COUNT-2: tile.convert_layout
  // CHECK: %[[H:.*]] = tile.cat
  // CHECK: tile.cat(%[[L]], %[[H]]) axis 0 : {{.*}} -> tensor<32x64xf32
  // CHECK-NOT: tile.convert_layout
  %1 = tile.convert_layout %0 : tensor<32x64xf32, #a> -> tensor<32x64xf32, #b>
  tile.store %y[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<32x64xf32, #b>
  tile.return
}

// The first dim is in lanes here, so the second is cut. Small tiles stay whole.
// CHECK-LABEL: tile.kernel @other
tile.kernel @other(%x: !tile.array<?x?xi8>, %f: !tile.array<?x?xf32>, %y: !tile.array<?x?xi8, mut>, %z: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 1 : i32} {
  %0 = tile.load %f[%i, %i] : !tile.array<?x?xf32> -> tensor<32x64xf32, #lanes>
  // CHECK-COUNT-4: tile.convert_layout {{.*}} -> tensor<32x16xf32
  // CHECK: tile.cat({{.*}}) axis 1 : {{.*}} -> tensor<32x64xf32
  %1 = tile.convert_layout %0 : tensor<32x64xf32, #lanes> -> tensor<32x64xf32, #b>
  tile.store %z[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<32x64xf32, #b>
  %2 = tile.load %x[%i, %i] : !tile.array<?x?xi8> -> tensor<32x64xi8, #a>
  // CHECK: tile.convert_layout {{.*}} -> tensor<32x64xi8
  %3 = tile.convert_layout %2 : tensor<32x64xi8, #a> -> tensor<32x64xi8, #b>
  tile.store %y[%i, %i], %3 : !tile.array<?x?xi8, mut>, tensor<32x64xi8, #b>
  tile.return
}

// Warps hold the halves: what is only stored is stored as it lies, what is computed with is moved.
#warps = #tile.layout<[32, 64] register [(0, 1), (0, 2), (0, 4)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8)] warp [(16, 0), (0, 32), (0, 16)]>
#others = #tile.layout<[32, 64] register [(1, 0), (2, 0), (4, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (8, 0)] warp [(0, 16), (16, 0), (0, 32)]>
// CHECK-LABEL: tile.kernel @of_warps
tile.kernel @of_warps(%f: !tile.array<?x?xf32>, %z: !tile.array<?x?xf32, mut>, %i: index)
    attributes {num_warps = 8 : i32} {
  %0 = tile.load %f[%i, %i] : !tile.array<?x?xf32> -> tensor<32x64xf32, #warps>
  // CHECK: %[[X:.*]] = tile.load
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.store %{{.*}}, %[[X]] :
  %1 = tile.convert_layout %0 : tensor<32x64xf32, #warps> -> tensor<32x64xf32, #others>
  tile.store %z[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<32x64xf32, #others>
  // CHECK: %[[Y:.*]] = tile.convert_layout %[[X]]
  // CHECK: arith.addf %[[Y]], %[[Y]]
  %2 = tile.convert_layout %0 : tensor<32x64xf32, #warps> -> tensor<32x64xf32, #others>
  %3 = arith.addf %2, %2 : tensor<32x64xf32, #others>
  tile.store %z[%i, %i], %3 : !tile.array<?x?xf32, mut>, tensor<32x64xf32, #others>
  tile.return
}

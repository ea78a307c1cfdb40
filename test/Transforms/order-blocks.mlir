// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_80 | FileCheck %s
// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_90a | FileCheck %s --check-prefix=GROUPS
// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_80 --remarks-filter=schedule-blocks --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Where there is a block for each position of the grid, and warps multiply: which one it takes.

#acc = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#high = #tile.layout<[128, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4), (64, 0)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>

// Bands of sixteen rows, the last of which may be less high, or the only one. Other chips' blocks do as
// they are numbered.
// CHECK-LABEL: tile.kernel @product
// CHECK-DAG: %[[X:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[ROWS32:.*]] = tile.num_blocks 0
// CHECK: %[[ROWS:.*]] = arith.index_cast %[[ROWS32]]
// CHECK: %[[Y:.*]] = tile.block_id 1
// CHECK: %[[START:.*]] = arith.muli %{{.*}}, %[[ROWS]] : i32
// CHECK: %[[NUMBER:.*]] = arith.addi %[[START]], %[[X]] : i32
// CHECK: %[[BANDROWS:.*]] = arith.constant 16 : i32
// CHECK: %[[MOST:.*]] = arith.minui %[[ROWS]], %[[BANDROWS]] : i32
// CHECK: %[[OF:.*]] = arith.muli %{{.*}}, %[[MOST]] : i32
// CHECK: %[[BAND:.*]] = arith.divui %[[NUMBER]], %[[OF]] : i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[BAND]], %[[OF]] : i32
// CHECK: %[[IN:.*]] = arith.subi %[[NUMBER]], %[[BEFORE]] : i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[BAND]], %[[MOST]] : i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]] : i32
// CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %[[MOST]] : i32
// CHECK: %[[COLUMN:.*]] = arith.divui %[[IN]], %[[HEIGHT]] : i32
// CHECK: %[[M:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[N:.*]] = arith.index_cast %[[COLUMN]]
// CHECK-NOT: tile.block_id
// CHECK: tile.load %arg0[%[[M]], %
// CHECK: tile.load %arg1[%{{.*}}, %[[N]]]
// CHECK: tile.store %arg2[%[[M]], %[[N]]]
// GROUPS-LABEL: tile.kernel @product
// GROUPS-NOT: arith.divui
// GROUPS: tile.return
// REMARK: [Passed] {{.*}}Function=product {{.*}}Remark="blocks take the positions of the grid in bands of 16 of axis 0"
tile.kernel @product(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%m, %k] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%k, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Weights of experts: which one, a table says for each row of tiles. Of high tiles, a band has fewer.
// REMARK: [Passed] {{.*}}Function=experts {{.*}}Remark="blocks take the positions of the grid in bands of 8 of axis 0"
tile.kernel @experts(%a: !tile.array<?x?xbf16>, %w: !tile.array<?x?xbf16>, %t: !tile.array<?xi32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e32 = tile.load %t[%m] elements : !tile.array<?xi32> -> i32
  %e = arith.index_cast %e32 : i32 to index
  %z = arith.constant dense<0.0> : tensor<128x64xf32, #high>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x64xf32, #high>) {
    %x = tile.load %a[%m, %k] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<128x64xbf16, #high>
    %row = arith.addi %e, %k : index
    %y = tile.load %w[%row, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<128x64xbf16, #high>, tensor<64x64xbf16, #acc>, tensor<128x64xf32, #high>
    scf.yield %p : tensor<128x64xf32, #high>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x64xf32, #high>
  tile.return
}

// Keys of a head, as attention reads them, are the same along axis 0; and so is all that is read where
// the tiles of both depend on both axes. Nothing is gained then.
// Nor of few blocks: all are at work at one time.
// CHECK-LABEL: tile.kernel @heads
// CHECK-NOT: arith.divui
// CHECK-LABEL: tile.kernel @apart
// CHECK-NOT: arith.divui
// CHECK-LABEL: tile.kernel @few
// CHECK-NOT: arith.divui
// CHECK-LABEL: tile.kernel @growing
tile.kernel @heads(%q: !tile.array<?x?xbf16>, %k: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.load %q[%m, %l] : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %y = tile.load %k[%i, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}
tile.kernel @apart(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %both = arith.addi %m, %l : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%m, %k] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%k, %both] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

tile.kernel @few(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "few_blocks"]} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%m, %k] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%k, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Loops that end with the position, as in causal attention: the longest first. What they begin
// with, as in the gradient of keys, has these first as it is.
// CHECK: %[[ID:.*]] = tile.block_id 0
// CHECK: %[[X:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: %[[FROMEND:.*]] = arith.subi %[[LAST]], %[[X]] : i32
// CHECK: %[[AT:.*]] = arith.index_cast %[[FROMEND]]
// CHECK: arith.addi %[[AT]], %{{.*}} : index
// REMARK: [Passed] {{.*}}Function=growing {{.*}}Remark="blocks take the positions of the grid the last of axis 0 first, as these take longest"
// CHECK-LABEL: tile.kernel @shrinking
// CHECK-NOT: arith.subi
// CHECK: tile.return
tile.kernel @growing(%k: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.addi %m, %c1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %y = tile.load %k[%i, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %y, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}
tile.kernel @shrinking(%k: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %i = %m to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %y = tile.load %k[%i, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %y, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// RUN: tile-opt %s --tile-schedule-blocks | FileCheck %s
// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_90a | FileCheck %s --check-prefix=CLUSTER
// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_90a --remarks-filter=schedule-blocks --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A kernel whose loads are copied in a loop goes over the grid by itself, in bands of
// eight; any other stays as it is.

#rows = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#big = #tile.layout<[128, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>

// CHECK-LABEL: tile.kernel @persistent
// CHECK-SAME: tgpu.resident_blocks = 1
// CHECK: %[[FIRST:.*]] = tgpu.resident_block
// CHECK: %[[STEP:.*]] = tgpu.num_resident_blocks
// CHECK: scf.for %[[T:.*]] = %[[FIRST]] to %{{.*}} step %[[STEP]] {
// CHECK:   %[[N:.*]] = arith.index_cast %[[T]] : index to i32
// CHECK:   %[[WHOLE:.*]] = arith.cmpi ult
// CHECK-NOT: tile.block_id
// CHECK:   scf.for
// Each tile is read once, as long as the grid has one position along the other axes.
// CHECK:     tile.load %{{.*}}[%[[M:.*]], %{{.*}}] {tile.copy = "tma", tile.once_within = array<i64: 0, 1, 1>}
// CHECK: tile.return
// REMARK: [Passed] {{.*}}Function=persistent {{.*}}Remark="resident blocks take one position of the grid after the other, in bands of 8 of axis 0"
// REMARK: [Missed] {{.*}}Function=persistent {{.*}}Remark="no clusters: products of fewer than 128 x 128 may have a grid too small for pairs"
tile.kernel @persistent(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xf32> -> tensor<64x64xf32, #rows>
    tile.store %c[%m, %k], %x : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #rows>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: resident
// CHECK: tile.block_id 0
// REMARK: [Missed] {{.*}}Function=plain {{.*}}Remark="a block for each position of the grid: the copy engine brings nothing in a loop"
tile.kernel @plain(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %x = tile.load %a[%m, %m] : !tile.array<?x?xf32> -> tensor<64x64xf32, #rows>
  tile.store %c[%m, %m], %x : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #rows>
  tile.return
}

// Two blocks along axis 0 want the same %y: they become a cluster, and store only where
// the grid has a position for them. The launch may decide against pairs.
// CLUSTER-LABEL: tile.kernel @paired
// CLUSTER-SAME: tgpu.cluster = 2 : i64, tgpu.cluster_axis = 0
// CLUSTER: %[[SIZE:.*]] = tgpu.cluster_size
// CLUSTER: %[[BLOCKS:.*]] = arith.index_cast %[[SIZE]]
// CLUSTER: %[[MORE:.*]] = arith.subi %[[BLOCKS]], %c1_i32{{.*}} : i32
// CLUSTER: %[[UP:.*]] = arith.addi %{{.*}}, %[[MORE]] : i32
// CLUSTER: arith.shrui %[[UP]], %[[MORE]] : i32
// CLUSTER:   %[[RANK:.*]] = tgpu.cluster_rank
// CLUSTER:   %[[INSIDE:.*]] = arith.cmpi ult
// CLUSTER:   scf.for
// Of y, once for both.
// CLUSTER:     tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 0, 1, 1>}
// CLUSTER:     tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 2, 0, 1>}
// CLUSTER:   scf.if %[[INSIDE]] {
// CLUSTER:     tile.store
// CHECK-LABEL: tile.kernel @paired
// CHECK-NOT: tgpu.cluster
// CHECK: tile.return
// REMARK: [Passed] {{.*}}Function=paired {{.*}}Remark="resident blocks take one position of the grid after the other, in bands of 8 of axis 0"
// REMARK: [Passed] {{.*}}Function=paired {{.*}}Remark="clusters of 2 blocks along axis 0 of the grid copy 32 KiB of each step once for both"
tile.kernel @paired(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// How often blocks load depends on both axes: they would not stay in step. The long ones,
// at the end of axis 0, come first, four rows of them at a time; every other round of the
// resident blocks goes backwards, the last one forwards.
// CLUSTER-LABEL: tile.kernel @uneven
// CLUSTER-NOT: tgpu.cluster
// CLUSTER: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %[[STEP:.*]] {
// CLUSTER:   %[[N:.*]] = arith.index_cast %[[T]] : index to i32
// CLUSTER:   %[[ROUND:.*]] = arith.divui %[[N]], %[[RESIDENT:.*]] : i32
// CLUSTER:   %[[FIRST:.*]] = arith.muli %[[ROUND]], %[[RESIDENT]] : i32
// CLUSTER:   %[[PLACE:.*]] = arith.subi %[[N]], %[[FIRST]] : i32
// CLUSTER:   %[[END:.*]] = arith.subi %[[RESIDENT]], %{{.*}} : i32
// CLUSTER:   %[[BACK:.*]] = arith.subi %[[END]], %[[PLACE]] : i32
// CLUSTER:   %[[ISBACK:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CLUSTER:   %[[TURNED:.*]] = arith.select %[[ISBACK]], %[[BACK]], %[[PLACE]] : i32
// CLUSTER:   %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[TURNED]] : i32
// CLUSTER:   %[[FOUR:.*]] = arith.constant 4 : i32
// CLUSTER:   %[[ODD:.*]] = arith.remui %[[ROWS:.*]], %[[FOUR]] : i32
// CLUSTER:   %[[WHOLE:.*]] = arith.subi %[[ROWS]], %[[ODD]] : i32
// CLUSTER:   %[[IN:.*]] = arith.muli %[[WHOLE]], %[[COLUMNS:.*]] : i32
// CLUSTER:   %[[IS:.*]] = arith.cmpi ult, %[[NUMBER]], %[[IN]] : i32
// CLUSTER:   %[[A:.*]] = arith.select %[[IS]], %{{.*}}, %{{.*}} : i32
// CLUSTER:   %[[B:.*]] = arith.select %[[IS]], %[[COLUMNS]], %[[ODD]] : i32
// CLUSTER:   %[[Q:.*]] = arith.divui %[[A]], %[[B]] : i32
// CLUSTER:   %[[R:.*]] = arith.remui %[[A]], %[[B]] : i32
// CLUSTER:   %[[BAND:.*]] = arith.muli %[[Q]], %[[FOUR]] : i32
// CLUSTER:   %[[ROW:.*]] = arith.addi %[[BAND]], %{{.*}} : i32
// CLUSTER:   %[[FROM:.*]] = arith.select %[[IS]], %[[ROW]], %{{.*}} : i32
// CLUSTER:   %[[LAST:.*]] = arith.subi
// CLUSTER:   arith.subi %[[LAST]], %[[FROM]] : i32
// CLUSTER: tile.return
// REMARK: [Passed] {{.*}}Function=uneven {{.*}}Remark="resident blocks take one position of the grid after the other, the last of axis 0 first, as these take longest"
// REMARK: [Missed] {{.*}}Function=uneven {{.*}}Remark="no clusters: no two neighbours of the grid load the same and run in step"
tile.kernel @uneven(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.addi %m, %l : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// Here only where a loop begins depends on the axis: the first of the axis take longest.
// CLUSTER-LABEL: tile.kernel @later
// CLUSTER:   %[[BANDS:.*]] = arith.muli %{{.*}}, %c4_i32 : i32
// CLUSTER:   %[[FROM:.*]] = arith.addi %[[BANDS]], %{{.*}} : i32
// CLUSTER:   arith.select %{{.*}}, %[[FROM]], %{{.*}} : i32
// CLUSTER: tile.return
// REMARK: [Passed] {{.*}}Function=later {{.*}}Remark="resident blocks take one position of the grid after the other, the first of axis 0 first, as these take longest"
tile.kernel @later(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %m to %n step %c1 {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  tile.return
}

// Where a loop ends depends on it, too.
// REMARK: [Passed] {{.*}}Function=between {{.*}}Remark="resident blocks take one position of the grid after the other, the last of axis 0 first, as these take longest"
tile.kernel @between(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.muli %m, %n : index
  scf.for %k = %m to %end step %c1 {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  tile.return
}

// Whether blocks pair up may be asked for all chips and for one, which then counts.
// CLUSTER-LABEL: tile.kernel @apart
// CLUSTER-NOT: tgpu.cluster
// CLUSTER: tile.return
// REMARK: [Passed] {{.*}}Function=apart {{.*}}Remark="resident blocks take one position of the grid after the other, in bands of 8 of axis 0"
// REMARK: [Missed] {{.*}}Function=apart {{.*}}Remark="no clusters: the hint says so"
tile.kernel @apart(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, hints = {cluster = 2 : i64, sm_90a.cluster = 1 : i64}} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// CLUSTER-LABEL: tile.kernel @together
// CLUSTER-SAME: tgpu.cluster = 2
// REMARK: [Passed] {{.*}}Function=together {{.*}}Remark="resident blocks take one position of the grid after the other, in bands of 8 of axis 0"
// REMARK: [Passed] {{.*}}Function=together {{.*}}Remark="clusters of 2 blocks along axis 0 of the grid copy 32 KiB of each step once for both"
tile.kernel @together(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, hints = {cluster = 1 : i64, sm_100a.cluster = 1 : i64, sm_90a.cluster = 2 : i64}} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// Four, where that is asked for: three more positions than there are may be computed in vain.
// CLUSTER-LABEL: tile.kernel @four
// CLUSTER-SAME: tgpu.cluster = 4
// CLUSTER: %[[FOUR:.*]] = arith.constant 4 : i32
// CLUSTER: arith.divui %{{.*}}, %[[FOUR]] : i32
// CLUSTER: %[[RANK:.*]] = tgpu.cluster_rank
// CLUSTER: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[FOUR]] : i32
// CLUSTER: arith.addi %[[FIRST]], %{{.*}} : i32
// CLUSTER: tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 0, 1, 1>}
// CLUSTER: tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 4, 0, 1>}
// REMARK: [Passed] {{.*}}Function=four {{.*}}Remark="clusters of 4 blocks along axis 0 of the grid copy 32 KiB of each step once for all"
tile.kernel @four(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, hints = {cluster = 4 : i64}} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %l] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %l], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// What a loop reads again and again is not read once. Small tiles are paired where the build
// knows of pairs.
// CLUSTER-LABEL: tile.kernel @again
// CLUSTER-SAME: tgpu.cluster = 2
// CLUSTER: tile.load {{.*}} {tile.copy = "tma"} :
tile.kernel @again(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "pairs"]} {
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %x = tile.load %a[%l, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
    }
  }
  tile.return
}

// Where a loop ends, or a quotient, leaves neighbours the same tiles; where a loop begins and
// ends does not.
// CHECK-LABEL: tile.kernel @ends
// CHECK: tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 1, 1, 1>}
// CHECK: tile.load {{.*}} {tile.copy = "tma", tile.once_within = array<i64: 0, 1, 1>}
tile.kernel @ends(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %head = arith.divui %l, %c4 : index
  %next = arith.addi %m, %c1 : index
  scf.for %k = %c0 to %next step %c1 {
    %x = tile.load %a[%head, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  %begin = arith.muli %m, %c4 : index
  %end = arith.muli %next, %c4 : index
  scf.for %k = %begin to %end step %c1 {
    %x = tile.load %a[%c0, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  tile.return
}

// All that loops copy is the same along axis 0, which is gone through first: one row of it
// after the other, and where work is uneven a long position and then a short one.
// CLUSTER-LABEL: tile.kernel @heads
// CLUSTER:   arith.divui %[[N:.*]], %[[ROWS:.*]] : i32
// CLUSTER:   arith.remui %[[N]], %[[ROWS]] : i32
// REMARK: [Passed] {{.*}}Function=heads {{.*}}Remark="resident blocks take one position of the grid after the other, axis 0 fastest, along which they load the same"
tile.kernel @heads(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %a[%l, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  tile.return
}

// CLUSTER-LABEL: tile.kernel @triangle
// CLUSTER: scf.if %{{.*}} -> (i32, i32) {
// REMARK: [Passed] {{.*}}Function=triangle {{.*}}Remark="resident blocks take one position of the grid after the other, the last of axis 0 first, as these take longest, and with each a short one"
tile.kernel @triangle(%a: !tile.array<?x?xbf16>) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.addi %m, %c1 : index
  scf.for %k = %c0 to %end step %c1 {
    %x = tile.load %a[%l, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  tile.return
}

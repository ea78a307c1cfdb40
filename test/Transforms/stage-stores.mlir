// RUN: tile-opt %s --tile-stage-stores=max-bytes=8192 | FileCheck %s
// RUN: tile-opt %s --tile-stage-stores | FileCheck %s --check-prefix=GROUPS
// A marked store goes out in parts of at most 8192 bytes through one buffer.

// CHECK: #[[SWIZZLED:.*]] = #tile.layout<[16, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0)]>

#acc = #tile.layout<[64, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#row = #tile.layout<[16, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>

// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<64x64xbf16,
// CHECK: %[[P:.*]] = tile.extract %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<64x64xbf16,
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.store %{{.*}}, %[[B]]
// CHECK: tgpu.copy_out %[[B]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] :
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.copy_out %[[B]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] :
// CHECK-NOT: tile.store
tile.kernel @parts(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x128xbf16, #acc>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<64x128xbf16, #acc>
  tile.return
}

// A small tile is one part, swizzled by 128 bytes.
// CHECK-LABEL: tile.kernel @whole
// CHECK: tgpu.alloc : !tgpu.buffer<16x64xbf16, #[[SWIZZLED]]>
// CHECK-NOT: tile.extract
// CHECK: tgpu.copy_out
tile.kernel @whole(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<16x64xbf16, #row>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<16x64xbf16, #row>
  tile.return
}

// Two warp groups, one above the other: each copies its 64 rows by itself, half of the
// columns at a time, through two buffers by turns. The second is reached when its last
// copy, the one before the last, has been read.
#two = #tile.layout<[128, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
// GROUPS-LABEL: tile.kernel @groups
// GROUPS: %[[A:.*]] = tgpu.alloc : !tgpu.buffer<128x32xf32,
// GROUPS: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<128x32xf32,
// GROUPS: tgpu.copy_out_wait pending 1 by_group
// GROUPS: tgpu.store %{{.*}}, %[[A]]
// GROUPS: tgpu.copy_out %[[A]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] groups [2048] :
// GROUPS: tgpu.copy_out_wait pending 1 by_group
// GROUPS: tgpu.store %{{.*}}, %[[B]]
// GROUPS: tgpu.copy_out %[[B]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] groups [2048] :
tile.kernel @groups(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<128x64xf32, #two>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xf32, mut>, tensor<128x64xf32, #two>
  tile.return
}

// Where elements may be written again, the whole block waits until earlier copies are complete,
// before the first part.
// GROUPS-LABEL: tile.kernel @complete
// GROUPS: tgpu.copy_out_wait complete
// GROUPS: tgpu.copy_out %{{.*}} order [0, 1] :
// GROUPS: tgpu.copy_out_wait pending 1{{$}}
// GROUPS: tgpu.copy_out %{{.*}} order [0, 1] :
tile.kernel @complete(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<128x64xf32, #two>
  tile.store %y[%i, %i], %t {tile.copy = "tma", tile.writes_again} : !tile.array<?x?xf32, mut>, tensor<128x64xf32, #two>
  tile.return
}

// Groups whose elements alternate meet all together. Rows of threads are cut where columns
// are as short as the engine's rows.
#mixed = #tile.layout<[256, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (128, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 8)]>
// GROUPS-LABEL: tile.kernel @together
// GROUPS-COUNT-2: tgpu.alloc : !tgpu.buffer<128x64xbf16,
// GROUPS: tgpu.copy_out_wait pending 1
// GROUPS-NOT: by_group
// GROUPS: tgpu.copy_out %{{.*}}, %arg1[%[[ROW:.*]], %arg2] order [0, 1] :
// GROUPS: tgpu.copy_out %{{.*}}, %arg1[%{{.*}}, %arg2] order [0, 1] :
// GROUPS-NOT: tgpu.copy_out
tile.kernel @together(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<256x64xbf16, #mixed>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<256x64xbf16, #mixed>
  tile.return
}

// Groups that share the engine's rows meet, too.
#narrow = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (0, 32)]>
// GROUPS-LABEL: tile.kernel @narrow
// GROUPS-NOT: groups
// GROUPS: tgpu.copy_out %{{.*}}, %arg1[%{{.*}}, %arg2] order [0, 1] :
// GROUPS-NOT: by_group
tile.kernel @narrow(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #narrow>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<64x64xbf16, #narrow>
  tile.return
}

// What is computed for the store alone is computed part by part: a row of addends is cut as
// the columns are, a column and what others use is not computed again.
#f = #tile.layout<[64, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#r = #tile.layout<[1, 128] register [(0, 1), (0, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (0, 0), (0, 0), (0, 0)] warp [(0, 0), (0, 0)]>
// CHECK-LABEL: tile.kernel @computed
// CHECK: %[[SHARED:.*]] = arith.negf %{{.*}} : tensor<64x128xf32,
// CHECK-NOT: arith.addf %{{.*}} : tensor<64x128xf32
// CHECK: %[[ROW:.*]] = tile.extract %[[B:.*]][%{{.*}}, %{{.*}}] : tensor<1x128xf32, {{.*}}> -> tensor<1x64xf32,
// CHECK: %[[STRETCHED:.*]] = tile.broadcast %[[ROW]] : tensor<1x64xf32, {{.*}}> -> tensor<64x64xf32,
// CHECK: %[[PIECE:.*]] = tile.extract %[[SHARED]][%{{.*}}, %{{.*}}] : tensor<64x128xf32, {{.*}}> -> tensor<64x64xf32,
// CHECK: %[[SUM:.*]] = arith.addf %[[PIECE]], %[[STRETCHED]] : tensor<64x64xf32,
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<64x64xf32,
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[HALF]]
// CHECK: %[[P:.*]] = arith.truncf %[[SCALED]] : tensor<64x64xf32, {{.*}}> to tensor<64x64xbf16,
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.store %[[P]]
// CHECK: arith.addf %{{.*}} : tensor<64x64xf32,
// CHECK: tgpu.copy_out_wait
tile.kernel @computed(%y: !tile.array<?x?xbf16, mut>, %z: !tile.array<?x?xf32, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %x = tile.load %z[%i, %i] : !tile.array<?x?xf32, mut> -> tensor<64x128xf32, #f>
  %b = tile.load %z[%i, %i] : !tile.array<?x?xf32, mut> -> tensor<1x128xf32, #r>
  %n = arith.negf %x : tensor<64x128xf32, #f>
  %w = tile.broadcast %b : tensor<1x128xf32, #r> -> tensor<64x128xf32, #f>
  %s = arith.addf %n, %w : tensor<64x128xf32, #f>
  %h = arith.constant dense<0.5> : tensor<64x128xf32, #f>
  %m = arith.mulf %s, %h : tensor<64x128xf32, #f>
  %t = arith.truncf %m : tensor<64x128xf32, #f> to tensor<64x128xbf16, #f>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<64x128xbf16, #f>
  tile.store %z[%i, %i], %n : !tile.array<?x?xf32, mut>, tensor<64x128xf32, #f>
  tile.return
}

// An atomic add to the tile of %y whose first element is (16 %i + 3, 0): a copy that
// reduces, placed by elements; nothing of the indices is left.
// CHECK-LABEL: tile.kernel @atomic
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %arg2, %[[C16]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<16x64xbf16, #[[SWIZZLED]]>
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.store %{{.*}}, %[[B]]
// CHECK: tgpu.copy_out %[[B]], %arg1[%[[ROW]], %{{.*}}] elements order [0, 1] reduce(add) :
// CHECK-NOT: tile.iota
// CHECK-NOT: tile.atomic
// CHECK: tile.return
#rowOf = #tile.layout<[16] register [(0), (8), (0), (0), (0)] lane [(0), (0), (1), (2), (4)] warp [(0), (0)]>
#row1 = #tile.layout<[16, 1] register [(0, 0), (8, 0), (0, 0), (0, 0), (0, 0)] lane [(0, 0), (0, 0), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
#columnOf = #tile.layout<[64] register [(1), (0), (8), (16), (32)] lane [(2), (4), (0), (0), (0)] warp [(0), (0)]>
#column1 = #tile.layout<[1, 64] register [(0, 1), (0, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (0, 0), (0, 0), (0, 0)] warp [(0, 0), (0, 0)]>
tile.kernel @atomic(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %c16 = arith.constant 16 : index
  %three = arith.constant dense<3> : tensor<16xindex, #rowOf>
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<16x64xbf16, #row>
  %first = arith.muli %i, %c16 : index
  %s = tile.splat %first : index -> tensor<16xindex, #rowOf>
  %n = tile.iota : tensor<16xindex, #rowOf>
  %a = arith.addi %n, %s : tensor<16xindex, #rowOf>
  %b = arith.addi %a, %three : tensor<16xindex, #rowOf>
  %r = tile.reshape %b : tensor<16xindex, #rowOf> -> tensor<16x1xindex, #row1>
  %rows = tile.broadcast %r : tensor<16x1xindex, #row1> -> tensor<16x64xindex, #row>
  %m = tile.iota : tensor<64xindex, #columnOf>
  %q = tile.reshape %m : tensor<64xindex, #columnOf> -> tensor<1x64xindex, #column1>
  %columns = tile.broadcast %q : tensor<1x64xindex, #column1> -> tensor<16x64xindex, #row>
  %old = tile.atomic add %y[%rows, %columns] value(%t : tensor<16x64xbf16, #row>) {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, [tensor<16x64xindex, #row>, tensor<16x64xindex, #row>] -> tensor<16x64xbf16, #row>
  tile.return
}

// Indices that no longer name a tile: threads do it.
// CHECK-LABEL: tile.kernel @diagonal
// CHECK-NOT: tgpu.copy_out
// CHECK: tile.atomic add %{{.*}} : !tile.array
// CHECK-NOT: tgpu.copy_out
// CHECK: tile.return
#square = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
#rowOf2 = #tile.layout<[16] register [(0), (8), (0)] lane [(0), (0), (1), (2), (4)] warp [(0), (0)]>
#row2 = #tile.layout<[16, 1] register [(0, 0), (8, 0), (0, 0)] lane [(0, 0), (0, 0), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
tile.kernel @diagonal(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<16x16xf32, #square>
  %n = tile.iota : tensor<16xindex, #rowOf2>
  %r = tile.reshape %n : tensor<16xindex, #rowOf2> -> tensor<16x1xindex, #row2>
  %rows = tile.broadcast %r : tensor<16x1xindex, #row2> -> tensor<16x16xindex, #square>
  %old = tile.atomic add %y[%rows, %rows] value(%t : tensor<16x16xf32, #square>) {tile.copy = "tma"} : !tile.array<?x?xf32, mut>, [tensor<16x16xindex, #square>, tensor<16x16xindex, #square>] -> tensor<16x16xf32, #square>
  tile.return
}

// Stores of one block go through the same two buffers.
// GROUPS-LABEL: tile.kernel @again
// GROUPS-COUNT-2: tgpu.alloc
// GROUPS-NOT: tgpu.alloc
// GROUPS-COUNT-4: tgpu.copy_out %
// GROUPS: tile.return
tile.kernel @again(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index, %j: index) attributes {num_warps = 8 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<128x64xf32, #two>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xf32, mut>, tensor<128x64xf32, #two>
  tile.store %y[%j, %j], %t {tile.copy = "tma"} : !tile.array<?x?xf32, mut>, tensor<128x64xf32, #two>
  tile.return
}

// Rows of an image that were one dim: each part is a box of fewer rows, and fewer columns.
#flat = #tile.layout<[128, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64), (64, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#rows = #tile.layout<[1, 8, 16, 128] register [(0, 0, 0, 1), (0, 0, 8, 0), (0, 0, 0, 8), (0, 0, 0, 16), (0, 0, 0, 32), (0, 0, 0, 64), (0, 4, 0, 0)] lane [(0, 0, 0, 2), (0, 0, 0, 4), (0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 4, 0)] warp [(0, 1, 0, 0), (0, 2, 0, 0)]>
// CHECK-LABEL: tile.kernel @image
// CHECK: tgpu.alloc : !tgpu.buffer<64x64xbf16,
// CHECK: tgpu.copy_out %{{.*}}, %arg1[%arg2, %{{.*}}, %arg2, %{{.*}}] elements order [1, 2, 3] shape [4, 16, 64] :
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[RIGHT:.*]] = arith.addi %arg2, %[[C64]] : index
// CHECK: tgpu.copy_out %{{.*}}, %arg1[%arg2, %{{.*}}, %arg2, %[[RIGHT]]] elements order [1, 2, 3] shape [4, 16, 64] :
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[BELOW:.*]] = arith.addi %arg2, %[[C4]] : index
// CHECK: tgpu.copy_out %{{.*}}, %arg1[%arg2, %[[BELOW]], %arg2, %{{.*}}] elements order [1, 2, 3] shape [4, 16, 64] :
// CHECK: tgpu.copy_out %{{.*}} shape [4, 16, 64] :
// CHECK-NOT: tile.store
tile.kernel @image(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?x?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #flat>
  %r = tile.reshape %t : tensor<128x128xbf16, #flat> -> tensor<1x8x16x128xbf16, #rows>
  tile.store %y[%i, %i, %i, %i], %r elements {tile.copy = "tma"} : !tile.array<?x?x?x?xbf16, mut>, tensor<1x8x16x128xbf16, #rows>
  tile.return
}

// Warps hold the halves of a tile that is too large as a whole: threads store it.
#spread = #tile.layout<[256, 256] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (0, 128), (64, 0), (128, 0)]>
// CHECK-LABEL: tile.kernel @spread
// GROUPS-LABEL: tile.kernel @spread
// GROUPS-NOT: tgpu
// GROUPS: tile.store %arg1[%arg2, %arg2], %{{.*}} : !tile.array<?x?xf32, mut>
// GROUPS-NOT: tgpu
// GROUPS: tile.return
tile.kernel @spread(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index) attributes {num_warps = 32 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<256x256xf32, #spread>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xf32, mut>, tensor<256x256xf32, #spread>
  tile.return
}

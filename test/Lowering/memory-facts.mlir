// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// What is known of indices and sizes widens accesses and removes checks.

#l = #tile.layout<[1024] register [(1), (2), (512)] lane [(4), (8), (16), (32), (64)] warp [(128), (256)]>

// A size that is a multiple of the tile: the tile exists wholly or not at all, and an
// access never straddles the end.
// CHECK-LABEL: llvm.func @whole(
// CHECK-NOT: arith.cmpi slt
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: -> f32
tile.kernel @whole(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>) attributes {num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %n = tile.dim %a, 0 : !tile.array<?xf32>
  %rest = tile.remainder trunc signed %n, %c1024 : index
  %p = arith.cmpi eq, %rest, %c0 : index
  tile.assume %p
  %i = tile.block_id 0 : index
  %x = tile.load %a[%i] : !tile.array<?xf32> -> tensor<1024xf32, #l>
  tile.store %c[%i], %x in_bounds [true] : !tile.array<?xf32, mut>, tensor<1024xf32, #l>
  tile.return
}

// A start in elements that is a multiple of 8, and one of which nothing is known.
// CHECK-LABEL: llvm.func @starts(
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: -> vector<4xf32>
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
tile.kernel @starts(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>, %s: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  %c8 = arith.constant 8 : index
  %i = tile.block_id 0 : index
  %e = arith.muli %i, %c8 : index
  %x = tile.load %a[%e] elements in_bounds [true] : !tile.array<?xf32> -> tensor<1024xf32, #l>
  %y = tile.load %a[%s] elements in_bounds [true] : !tile.array<?xf32> -> tensor<1024xf32, #l>
  %z = arith.addf %x, %y : tensor<1024xf32, #l>
  tile.store %c[%i], %z in_bounds [true] : !tile.array<?xf32, mut>, tensor<1024xf32, #l>
  tile.return
}

// A tile that may begin before the array: places in the array are compared with its sizes,
// which fit into 32 bits; of a start that may not fit, none is inside. Along the dim of which
// a thread has one place, that is compared first, once for all.
#halo = #tile.layout<[4, 64] register [(1, 0), (2, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] warp [(0, 32)]>
// CHECK-LABEL: @halo
// CHECK: %[[ROW:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: %[[SAME:.*]] = arith.extsi %[[ROW]] : i32 to i64
// CHECK: %[[HELD:.*]] = arith.cmpi eq, %[[SAME]], %{{.*}} : i64
// CHECK: %[[ROWS:.*]] = arith.select %[[HELD]], %{{.*}}, %{{.*}} : i64
// CHECK: %[[HEIGHT:.*]] = arith.trunci %[[ROWS]] : i64 to i32
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]], %{{.*}} : i32
// CHECK: %[[CUT:.*]] = arith.select %[[INSIDE]], %[[HEIGHT]], %{{.*}} : i32
// CHECK-COUNT-4: arith.cmpi ult, %{{.*}}, %[[CUT]] : i32
tile.kernel @halo(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %r: index, %c: i32) attributes {num_warps = 2 : i32, tile.facts = ["index32"]} {
  %c0 = arith.constant 0 : index
  %j = arith.index_cast %c : i32 to index
  %t = tile.load %x[%r, %j] elements : !tile.array<?x?xf32> -> tensor<4x64xf32, #halo>
  tile.store %y[%c0, %c0], %t : !tile.array<?x?xf32, mut>, tensor<4x64xf32, #halo>
  tile.return
}

// Rows of one element are no multiple of 16 bytes, whatever the build relies on: elements
// beside the array are not touched, and the others one at a time.
#column = #tile.layout<[32, 8] register [(0, 1), (0, 2)] lane [(0, 4), (1, 0), (2, 0), (4, 0), (8, 0)] warp [(16, 0)]>
// CHECK-LABEL: llvm.func @singles(
// CHECK-NOT: vector<2xf32>
// CHECK-NOT: !llvm.ptr<1> -> vector
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
tile.kernel @singles(%x: !tile.array<?x1xf32>, %y: !tile.array<?x1xf32, mut>) attributes {num_warps = 2 : i32, tile.facts = ["aligned16"]} {
  %i = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.array<?x1xf32> -> tensor<32x8xf32, #column>
  tile.store %y[%i, %c0], %t : !tile.array<?x1xf32, mut>, tensor<32x8xf32, #column>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_90a | FileCheck %s --check-prefixes=CHECK,MATRIX
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_80 | FileCheck %s --check-prefixes=CHECK,WORDS
// Fragments of a product go to shared memory as matrices of 8 x 8, then to the array.

#acc = #tile.layout<[64, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#s = #tile.layout<[64, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (0, 64)]>

// CHECK-LABEL: llvm.func @out(
// CHECK-SAME: tile.tensor_maps = [{box = array<i64: 64, 64>, param = 0 : i64, swizzle = 128 : i64}]
tile.kernel @out(%c: !tile.array<?x?xbf16, mut>, %x: bf16, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : bf16 -> tensor<64x128xbf16, #acc>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<64x128xbf16, #s>
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK: nvvm.barrier
  tgpu.copy_out_wait
  // MATRIX-COUNT-8: nvvm.stmatrix {{.*}} : !llvm.ptr<3>, i32, i32, i32, i32
  // MATRIX-NOT: nvvm.stmatrix
  // WORDS-COUNT-32: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>
  tgpu.store %t, %b : tensor<64x128xbf16, #acc>, !tgpu.buffer<64x128xbf16, #s>
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.barrier
  // CHECK: scf.if
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK: nvvm.cp.async.bulk.commit.group
  tgpu.copy_out %b, %c[%i, %i] order [0, 1] : !tgpu.buffer<64x128xbf16, #s>, !tile.array<?x?xbf16, mut>
  // Shared memory stays until the engine has read it.
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT: }
  // CHECK-NEXT: llvm.return
  tile.return
}

// Two warp groups with 64 rows each: group g has barrier 2 + g of 128 threads, its first
// thread names the box that begins 8192 bytes and 64 rows on.
#two = #tile.layout<[128, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
#r = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
// CHECK-LABEL: llvm.func @groups(
// CHECK-SAME: box = array<i64: 64, 64>
tile.kernel @groups(%c: !tile.array<?x?xbf16, mut>, %x: bf16, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : bf16 -> tensor<128x64xbf16, #two>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<128x64xbf16, #r>
  // CHECK: arith.andi %{{.*}}, %c127
  // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
  // CHECK: %[[GROUP:.*]] = arith.shrui %{{.*}}, %c2
  // CHECK: %[[NAME:.*]] = arith.addi %[[GROUP]], %c2
  // CHECK: nvvm.barrier id = %[[NAME]] number_of_threads = %c128
  tgpu.copy_out_wait pending 1 by_group
  tgpu.store %t, %b : tensor<128x64xbf16, #two>, !tgpu.buffer<128x64xbf16, #r>
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.barrier id
  // CHECK: scf.if
  // CHECK: arith.shli %{{.*}}, %c6
  // CHECK: arith.shli %{{.*}}, %c13
  // CHECK-COUNT-1: nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
  tgpu.copy_out %b, %c[%i, %i] order [0, 1] groups [4096] : !tgpu.buffer<128x64xbf16, #r>, !tile.array<?x?xbf16, mut>
  tile.return
}

// Sums that were multiplied the other way round have neighbours of a row in lanes, and of a
// column in pairs: matrices are turned as they are stored.
#down = #tile.layout<[16, 64] register [(1, 0), (0, 8), (8, 0)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)] warp [(0, 16), (0, 32)]>
#few = #tile.layout<[16, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0)]>
// CHECK-LABEL: llvm.func @transposed(
tile.kernel @transposed(%x: bf16) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : bf16 -> tensor<16x64xbf16, #down>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<16x64xbf16, #few>
  // MATRIX: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>{{.*}} : !llvm.ptr<3>, i32, i32, i32, i32
  // MATRIX-NOT: nvvm.stmatrix
  // WORDS-COUNT-8: llvm.store %{{.*}} : bf16, !llvm.ptr<3>
  tgpu.store %t, %b : tensor<16x64xbf16, #down>, !tgpu.buffer<16x64xbf16, #few>
  tile.return
}

// A copy that reduces, by the unsigned or signed numbers that the tensor map tells of.
#ints = #tile.layout<[64, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 4), (2, 8), (4, 16), (8, 0), (16, 0), (32, 0)]>
// CHECK-LABEL: llvm.func @reduce(
// CHECK-SAME: box = array<i64: 64, 32>
tile.kernel @reduce(%c: !tile.array<?x?xi32, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %b = tgpu.alloc offset 0 : !tgpu.buffer<64x32xi32, #ints>
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.bulk.tensor.reduce %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}] {redKind = #nvvm.tma_redux_kind<max>}
  // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
  tgpu.copy_out %b, %c[%i, %i] elements order [0, 1] reduce(max) : !tgpu.buffer<64x32xi32, #ints>, !tile.array<?x?xi32, mut>
  tile.return
}

// CHECK-LABEL: llvm.func @complete(
// CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
// CHECK: nvvm.barrier
tile.kernel @complete(%c: !tile.array<?x?xbf16, mut>) attributes {num_warps = 4 : i32} {
  tgpu.copy_out_wait complete
  tile.return
}

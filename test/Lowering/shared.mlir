// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// Buffers are addresses in the block's shared memory; products are loops over K.

#l = #tile.layout<[8, 64] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (1, 0)] warp [(2, 0), (4, 0)]>
#s = #tile.layout<[8, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 4), (2, 8), (4, 16)]>

// CHECK: llvm.mlir.global external @tilec_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @exchange(
// CHECK-SAME: tile.shared_bytes = 2560 : i32
tile.kernel @exchange(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<8x64xf32, #l>
  // CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @tilec_smem : !llvm.ptr<3>
  // CHECK: %[[BUF:.*]] = llvm.getelementptr %[[SMEM]][512]
  %b = tgpu.alloc offset 512 : !tgpu.buffer<8x64xf32, #s>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
  tgpu.store %t, %b : tensor<8x64xf32, #l>, !tgpu.buffer<8x64xf32, #s>
  // CHECK: nvvm.barrier
  tgpu.barrier
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  %u = tgpu.load %b : !tgpu.buffer<8x64xf32, #s>, tensor<8x64xf32, #l>
  tile.return
}

#acc = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#pa = #tile.layout<[32, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>
#pb = #tile.layout<[64, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>

// Chunks of eight steps of K, two an iteration: two rows of a by 16 bytes, and of b four
// columns of one step. What comes next is read before what is at hand is multiplied.
// CHECK-LABEL: llvm.func @product(
tile.kernel @product(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<32x64xbf16, #pa>
  %b = tgpu.alloc offset 4096 : !tgpu.buffer<64x32xbf16, #pb>
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xbf16>
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // CHECK: %[[LAST:.*]] = arith.constant 3 : i32
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[LAST]] step %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xbf16>, vector<8xbf16>, vector<4xbf16>)
  // CHECK: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xbf16>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // CHECK: math.fma %{{.*}} : vector<8xf32>
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xbf16>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // CHECK: math.fma %{{.*}} : vector<8xf32>
  // CHECK: scf.yield
  // CHECK-COUNT-16: math.fma %{{.*}} : vector<8xf32>
  // CHECK-NOT: math.fma
  // CHECK: llvm.return
  %r = tgpu.mma %a, %b, %t : !tgpu.buffer<32x64xbf16, #pa>, !tgpu.buffer<64x32xbf16, #pb>, tensor<32x32xf32, #acc>
  tile.return
}

// -----

#s = #tile.layout<[32] offset [(1), (2), (4), (8), (16)]>
tile.kernel @unplaced() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{buffer has no offset: run --tile-allocate-memory first}}
  %b = tgpu.alloc : !tgpu.buffer<32xf32, #s>
  tile.return
}

// -----

// Registers 0 to 7 meet the thread's row in two bits of the offset: four addresses, the
// others are these and a constant.
#rows = #tile.layout<[16, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#swizzled = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 4), (2, 8), (4, 16), (8, 0)]>
// CHECK-LABEL: llvm.func @addresses(
tile.kernel @addresses(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<16x32xf32, #rows>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<16x32xf32, #swizzled>
  // CHECK: %[[A:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  // CHECK: llvm.store %{{.*}}, %[[A]]
  // CHECK: %[[A8:.*]] = llvm.getelementptr %[[A]][256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
  // CHECK: llvm.store %{{.*}}, %[[A8]]
  // CHECK: arith.xori
  // CHECK: %[[B:.*]] = llvm.getelementptr
  // CHECK: llvm.store %{{.*}}, %[[B]]
  // CHECK: %[[B8:.*]] = llvm.getelementptr %[[B]][256]
  // CHECK: llvm.store %{{.*}}, %[[B8]]
  // CHECK-COUNT-2: arith.xori
  // CHECK-NOT: arith.xori
  tgpu.store %t, %b : tensor<16x32xf32, #rows>, !tgpu.buffer<16x32xf32, #swizzled>
  // CHECK: llvm.return
  tile.return
}

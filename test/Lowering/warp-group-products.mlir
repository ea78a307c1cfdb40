// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// Products of four warps: descriptors are the buffer's address and constants.

#pa = #tile.layout<[128, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0), (16, 0), (32, 0), (64, 0)]>
#pb = #tile.layout<[32, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0), (16, 0)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (8, 0), (0, 8), (0, 16), (64, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>

// Rows of 64 bytes. a lies along K: eight rows are 512 bytes apart, a step is 32 bytes,
// 64 rows are 4096. b lies along N: eight of K are 512 bytes, a step is 1024, and columns
// beyond 32 would be 2048 away.
// CHECK: llvm.func @tilec.wgmma.m64n32k16.f32.bf16.bf16.ss.tb({{.*}}) -> !llvm.struct<{{.*}}> attributes {passthrough = {{\[\[}}"tilec-asm", "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// CHECK-LABEL: llvm.func @alongRows(
tile.kernel @alongRows(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<128x32xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<128x32xbf16, #pa>
  %b = tgpu.alloc offset 8192 : !tgpu.buffer<32x32xbf16, #pb>
  // CHECK: %[[ADDRESS_B:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
  // CHECK: %[[WITHIN:.*]] = arith.andi %[[ADDRESS_B]], %{{.*}} : i32
  // CHECK: %[[B:.*]] = arith.shrui %[[WITHIN]]
  // CHECK: %[[A:.*]] = arith.shrui %{{.*}}
  // CHECK: llvm.call @tilec.wgmma.fence.f32x32
  // CHECK: %[[C0:.*]] = arith.constant 65536 : i32
  // CHECK: %[[LOW0:.*]] = arith.addi %[[A]], %[[C0]]
  // CHECK: arith.extui %[[LOW0]]
  // CHECK: arith.constant -9223371899415822336 : i64
  // CHECK: %[[C1:.*]] = arith.constant 8388608 : i32
  // CHECK: arith.addi %[[B]], %[[C1]]
  // CHECK: llvm.call @tilec.wgmma.m64n32k16.f32.bf16.bf16.ss.tb
  // CHECK: arith.constant 65792 : i32
  // CHECK: llvm.call @tilec.wgmma.m64n32k16
  // CHECK: arith.constant 65538 : i32
  // CHECK: arith.constant 8388672 : i32
  // CHECK: llvm.call @tilec.wgmma.m64n32k16
  // CHECK: arith.constant 65794 : i32
  // CHECK: llvm.call @tilec.wgmma.m64n32k16
  // CHECK-NOT: llvm.call @tilec.wgmma.m64n32k16
  // CHECK: llvm.call @tilec.wgmma.commit
  %r = tgpu.mma %a, %b, %t {atom = "wgmma"} : !tgpu.buffer<128x32xbf16, #pa>, !tgpu.buffer<32x32xbf16, #pb>, tensor<128x32xf32, #acc>
  // CHECK: llvm.call @tilec.wgmma.wait.0.f32x32
  %w = tgpu.mma_wait %r pending 0 : (tensor<128x32xf32, #acc>) -> tensor<128x32xf32, #acc>
  tile.return
}

// -----

#pb = #tile.layout<[32, 8] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 1), (8, 2), (16, 4)]>
#a = #tile.layout<[64, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (0, 0)]>
#acc = #tile.layout<[64, 8] register [(0, 1), (8, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (0, 0)]>

// a in registers: four words a step. There are no columns for the second group of warps:
// it computes the same.
// CHECK-LABEL: llvm.func @fromRegisters(
tile.kernel @fromRegisters(%x: f16, %y: f16) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : f16 -> tensor<64x8xf16, #acc>
  %a = tile.splat %y : f16 -> tensor<64x32xf16, #a>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<32x8xf16, #pb>
  // CHECK: llvm.call @tilec.wgmma.fence.i32x10
  // CHECK-COUNT-2: llvm.call @tilec.wgmma.m64n8k16.f16.f16.f16.rs({{.*}}) : (i32, i32, i32, i32, i32, i32, i64, i1) -> !llvm.struct<(i32, i32)>
  // CHECK-NOT: llvm.call @tilec.wgmma.m64
  %r = tgpu.mma %a, %b, %t {atom = "wgmma"} : tensor<64x32xf16, #a>, !tgpu.buffer<32x8xf16, #pb>, tensor<64x8xf16, #acc>
  tile.return
}

// -----

#pa = #tile.layout<[64, 256] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (1, 16), (2, 32), (4, 64), (8, 0), (16, 0), (32, 0), (0, 128)]>
#pb = #tile.layout<[256, 16] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (64, 0), (16, 1), (32, 2), (64, 4), (0, 8), (128, 0)]>
#acc = #tile.layout<[64, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>

// Sums of f8 that are to be exact: every 128 of K are added to acc in f32.
// CHECK-LABEL: llvm.func @promoted(
tile.kernel @promoted(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<64x16xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64x256xf8E4M3FN, #pa>
  %b = tgpu.alloc offset 16384 : !tgpu.buffer<256x16xf8E5M2, #pb>
  // CHECK: llvm.mlir.poison
  // CHECK: arith.constant false
  // CHECK: llvm.call @tilec.wgmma.m64n16k32.f32.e4m3.e5m2.ss
  // CHECK: arith.constant true
  // CHECK-COUNT-3: llvm.call @tilec.wgmma.m64n16k32
  // CHECK: llvm.call @tilec.wgmma.commit
  // CHECK: llvm.call @tilec.wgmma.wait.0.f32x8
  // CHECK-COUNT-8: arith.addf
  // CHECK-COUNT-4: llvm.call @tilec.wgmma.m64n16k32
  // CHECK: llvm.call @tilec.wgmma.wait.0.f32x8
  // CHECK-COUNT-8: arith.addf
  %r = tgpu.mma %a, %b, %t {atom = "wgmma_promoted"} : !tgpu.buffer<64x256xf8E4M3FN, #pa>, !tgpu.buffer<256x16xf8E5M2, #pb>, tensor<64x16xf32, #acc>
  tile.return
}

// -----

#acc = #tile.layout<[64, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
tile.kernel @nothingToWaitFor(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<64x16xf32, #acc>
  // expected-error @+1 {{no product of this kernel completes later}}
  %w = tgpu.mma_wait %t pending 0 : (tensor<64x16xf32, #acc>) -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#pa = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0)]>
#pb = #tile.layout<[32, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0)]>
#acc = #tile.layout<[16, 64] register [(1, 0), (0, 8), (8, 0)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)] warp [(0, 16), (0, 32)]>

// The other way round: b is the instruction's a, which here lies along N, and a its b. Sixteen
// rows are the sixteen columns.
// CHECK-LABEL: llvm.func @transposed(
tile.kernel @transposed(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<16x64xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<16x32xbf16, #pa>
  %b = tgpu.alloc offset 8192 : !tgpu.buffer<32x64xbf16, #pb>
  // CHECK: llvm.call @tilec.wgmma.fence.f32x8
  // CHECK-COUNT-2: llvm.call @tilec.wgmma.m64n16k16.f32.bf16.bf16.ss.ta
  // CHECK-NOT: llvm.call @tilec.wgmma.m64n16k16
  // CHECK: llvm.call @tilec.wgmma.commit
  %r = tgpu.mma %a, %b, %t {atom = "wgmma_transposed"} : !tgpu.buffer<16x32xbf16, #pa>, !tgpu.buffer<32x64xbf16, #pb>, tensor<16x64xf32, #acc>
  %w = tgpu.mma_wait %r pending 0 : (tensor<16x64xf32, #acc>) -> tensor<16x64xf32, #acc>
  tile.return
}

// -----

#pa = #tile.layout<[64, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0), (16, 0), (32, 0)]>
#pb = #tile.layout<[32, 8] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 1), (8, 2), (16, 4)]>
#acc = #tile.layout<[64, 8] register [(0, 1), (8, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>

// A wait that has to stay behind what is computed beside the product: no event is triggered.
// CHECK-LABEL: llvm.func @late(
// CHECK: math.exp2
// CHECK: nvvm.pmevent mask = 0
// CHECK-NEXT: vector.
// CHECK: llvm.call @tilec.wgmma.wait.0
tile.kernel @late(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<64x8xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64x32xbf16, #pa>
  %b = tgpu.alloc offset 4096 : !tgpu.buffer<32x8xbf16, #pb>
  %r = tgpu.mma %a, %b, %t {atom = "wgmma"} : !tgpu.buffer<64x32xbf16, #pa>, !tgpu.buffer<32x8xbf16, #pb>, tensor<64x8xf32, #acc>
  %e = math.exp2 %t : tensor<64x8xf32, #acc>
  %w = tgpu.mma_wait %r pending 0 {tgpu.late} : (tensor<64x8xf32, #acc>) -> tensor<64x8xf32, #acc>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Blocks add up in a workspace; the one that comes last goes on.

#acc = #tile.layout<[32, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0)]>
#few = #tile.layout<[8, 16] register [(0, 1)] lane [(0, 2), (0, 4), (0, 8), (1, 0), (2, 0)] warp [(4, 0)]>

// 16 registers of 4 bytes, and 2 of 8, of 64 threads: 5120 bytes.
// CHECK-LABEL: llvm.func @last(
// CHECK-SAME: !llvm.ptr<1> {llvm.noalias}) attributes
// CHECK-NOT: tile.cluster
// CHECK-SAME: tile.split_k = 1 : i32
// CHECK-SAME: tile.sum_bytes = 5120 : i32
tile.kernel @last(%c: !tile.array<64x64xf32, mut>, %d: !tile.array<64x64xf64, mut>, %x: f32, %y: f64)
    attributes {num_warps = 2 : i32, grid = ["2", "2"], tgpu.split_k = 0 : i64} {
  // The position along x, the part along y.
  // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
  %m = tile.block_id 0 : index
  // CHECK: nvvm.read.ptx.sreg.ctaid.y : i32
  %r = tgpu.part
  // CHECK: nvvm.read.ptx.sreg.nctaid.y : i32
  %n = tgpu.num_parts
  %p = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %q = tile.splat %y : f64 -> tensor<8x16xf64, #few>
  // Counters of all positions, of 4 bytes, in multiples of 256 bytes and at least 16 KiB.
  // CHECK: nvvm.read.ptx.sreg.nctaid.x : i32
  // CHECK: arith.andi %{{.*}}, %{{.*}} : i64
  // CHECK: arith.maxui
  // Own registers: four pieces of 16 bytes, then one.
  // CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  // CHECK: llvm.getelementptr %{{.*}}[4096]
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<2xf64>, !llvm.ptr<1>
  // CHECK: nvvm.barrier
  // CHECK: %[[IS_LAST:.*]] = scf.if
  // CHECK: %[[MOST:.*]] = arith.subi
  // CHECK: %[[NUMBER:.*]] = llvm.call @tilec.atom.inc.acq_rel.gpu.u32(%{{.*}}, %[[MOST]])
  // CHECK: arith.cmpi eq, %[[NUMBER]], %[[MOST]] : i32
  // CHECK: %[[LAST:.*]] = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"(%{{.*}}, %[[IS_LAST]])
  // CHECK: scf.if %[[LAST]] {
  // CHECK: dense<-0.000000e+00> : vector<4xf32>
  // CHECK: dense<-0.000000e+00> : vector<2xf64>
  // CHECK: scf.for
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xf64>
  // CHECK: scf.yield
  %s:2 = tgpu.memory_sum %p, %q : tensor<32x32xf32, #acc>, tensor<8x16xf64, #few>
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  tile.store %c[%m, %m], %s#0 : !tile.array<64x64xf32, mut>, tensor<32x32xf32, #acc>
  tile.store %d[%m, %m], %s#1 : !tile.array<64x64xf64, mut>, tensor<8x16xf64, #few>
  // CHECK-COUNT-2: llvm.store %{{.*}} : f64, !llvm.ptr<1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: llvm.return
  tile.return
}

// How many share may be known, and what is added may be numbers without a sign of zero.
// CHECK-LABEL: llvm.func @four(
// CHECK-SAME: tile.split_k = 4 : i32
// CHECK-SAME: tile.sum_bytes = 256 : i32
// CHECK-NOT: nctaid.y
// CHECK: dense<0> : vector<2xi32>
// CHECK: arith.addi %{{.*}} : vector<2xi32>
tile.kernel @four(%c: !tile.array<8x8xi32, mut>, %x: i32) attributes {num_warps = 1 : i32, tgpu.split_k = 4 : i64} {
  %c0 = arith.constant 0 : index
  %p = tile.splat %x : i32 -> tensor<8x8xi32, #tile.layout<[8, 8] register [(0, 1)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>>
  %s = tgpu.memory_sum %p : tensor<8x8xi32, #tile.layout<[8, 8] register [(0, 1)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>>
  tile.store %c[%c0, %c0], %s : !tile.array<8x8xi32, mut>, tensor<8x8xi32, #tile.layout<[8, 8] register [(0, 1)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>>
  tile.return
}

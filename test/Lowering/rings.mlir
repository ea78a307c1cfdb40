// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// A ring is two barriers in memory for each place; each thread keeps where it stands in
// variables. One thread of extra warps fills it, the kernel's warps empty it.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (0, 64)]>
#acc = #tile.layout<[128, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x128xbf16, #sb>
!ring = !tgpu.ring<3x[!tgpu.buffer<128x64xbf16, #sa>, !tgpu.buffer<64x128xbf16, #sb>]>

// CHECK: llvm.mlir.global external @tilec_smem() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK-LABEL: llvm.func @specialised(
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.align = 64
// CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK-SAME: tile.access_warps = 4 : i32
// CHECK-SAME: tile.persistent = 1 : i64
// CHECK-SAME: tile.shared_bytes = 98352 : i32
// CHECK-SAME: tile.tensor_maps = [{box = array<i64: 128, 64>, param = 0 : i64, swizzle = 128 : i64}, {box = array<i64: 64, 64>, param = 1 : i64, swizzle = 128 : i64}]
tile.kernel @specialised(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64, tgpu.resident_blocks = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // One arrival fills a place, one of each of eight warps frees it.
  // CHECK-COUNT-5: llvm.alloca
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
  // CHECK: scf.if
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[WARPS:.*]] = arith.constant 8 : i32
  // CHECK: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
  // CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
  // CHECK-COUNT-4: nvvm.mbarrier.init
  // CHECK-NOT: nvvm.mbarrier.init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier
  %ring = tgpu.ring copy "tma" offset 0 barriers 98304 : !ring
  // CHECK: arith.cmpi uge, %[[WARP]]
  // CHECK: nvvm.setmaxregister decrease 24
  // CHECK: nvvm.elect.sync
  tgpu.specialize registers [24, 240] access {
    scf.for %i = %c0 to %n step %c1 {
      // A place must be free; 32 KiB will come. Rows of b are two boxes.
      // CHECK: scf.while
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %{{.*}} : !llvm.ptr<3>, i32
      // CHECK: arith.minsi
      // CHECK: arith.maxsi
      // Where the grid has one position along axis 1, a is read once, and the first to go.
      // CHECK: %[[IS_ONE:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : i32
      // CHECK: %[[FIRST:.*]] = arith.constant 1364590687093260288 : i64
      // CHECK: %[[NORMAL:.*]] = arith.constant 1152921504606846976 : i64
      // CHECK: %[[POLICY:.*]] = arith.select %[[IS_ONE]], %[[FIRST]], %[[NORMAL]] : i64
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAPA:.*]], %[[FULL]], box[%{{.*}}, %{{.*}}] l2_cache_hint = %[[POLICY]] {isCTAOnly = true}
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAPB:.*]], %[[FULL]], box
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAPB]], %[[FULL]], box
      // CHECK-NOT: nvvm.cp.async.bulk
      tgpu.push %ring : !ring {
        tgpu.copy %a[%c0, %i] order [0, 1] once within [0, 1] to 0 : !tile.array<?x?xbf16>
        tgpu.copy %b[%i, %c1] order [0, 1] to 1 : !tile.array<?x?xbf16>
      }
    }
  } execute {
    // CHECK: nvvm.setmaxregister increase 240
    %z = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
    // CHECK: scf.for
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<128x128xf32, #acc> {
      // CHECK: nvvm.mbarrier.try_wait
      %x, %y = tgpu.pop %ring : !ring -> !a, !b
      // CHECK: llvm.call @tilec.wgmma.fence.f32x64
      // CHECK-COUNT-4: llvm.call @tilec.wgmma.m64n128k16.f32.bf16.bf16.ss.tb
      // CHECK: llvm.call @tilec.wgmma.commit
      %p = tgpu.mma %x, %y, %s {atom = "wgmma"} : !a, !b, tensor<128x128xf32, #acc>
      // CHECK: llvm.call @tilec.wgmma.wait.0.f32x64
      %w = tgpu.mma_wait %p pending 0 : (tensor<128x128xf32, #acc>) -> tensor<128x128xf32, #acc>
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
      tgpu.release %ring : !ring
      scf.yield %w : tensor<128x128xf32, #acc>
    }
    // Of the 256 threads of this part.
    // CHECK: scf.yield %{{.*}} : vector<64xf32>
    // CHECK: %[[ID:.*]] = arith.constant 1 : i32
    // CHECK: %[[THREADS:.*]] = arith.constant 256 : i32
    // CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %[[THREADS]]
    tgpu.barrier
  }
  tile.return
}

// -----

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#rows = #tile.layout<[128, 64] register [(0, 1), (0, 2), (0, 4), (16, 0), (32, 0), (64, 0)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>

// Without roles the block's first thread tells the engine; lanes that read by themselves
// meet before the warp lets the place go.
// With a power of two of places each role counts on: the stage is the low bits of its
// counter (none here), the parity the next one. Pushes begin one round ahead.
// CHECK-LABEL: llvm.func @together(
tile.kernel @together(%a: !tile.array<?x?xbf16>, %i: index) attributes {num_warps = 4 : i32} {
  // CHECK-COUNT-3: llvm.alloca
  // CHECK-NOT: llvm.alloca
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: llvm.store %[[ONE]], %[[PUSHED:.*]] : i32, !llvm.ptr
  // CHECK: nvvm.fence.mbarrier.init
  %ring = tgpu.ring copy "tma" offset 0 barriers 16384 : !tgpu.ring<1x[!tgpu.buffer<128x64xbf16, #sa>]>
  // CHECK: arith.cmpi eq
  // CHECK-NEXT: scf.if
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
  tgpu.push %ring : !tgpu.ring<1x[!tgpu.buffer<128x64xbf16, #sa>]> {
    tgpu.copy %a[%i, %i] elements order [0, 1] to 0 : !tile.array<?x?xbf16>
  }
  // CHECK: %[[COUNT:.*]] = llvm.load %[[PUSHED]] : !llvm.ptr -> i32
  // CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]]
  // CHECK-NEXT: llvm.store %[[NEXT]], %[[PUSHED]]
  // CHECK: %[[PLACE:.*]] = llvm.load %[[POPPED:.*]] : !llvm.ptr -> i32
  // CHECK: arith.andi %[[PLACE]]
  // CHECK: llvm.call @tilec.shared.base() : () -> !llvm.ptr<3>
  // CHECK: %[[ROUND:.*]] = llvm.load %[[POPPED]] : !llvm.ptr -> i32
  // CHECK: %[[ROUNDS:.*]] = arith.shrui %[[ROUND]]
  // CHECK: %[[PARITY:.*]] = arith.andi %[[ROUNDS]]
  // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[PARITY]]
  %x = tgpu.pop %ring : !tgpu.ring<1x[!tgpu.buffer<128x64xbf16, #sa>]> -> !tgpu.buffer<128x64xbf16, #sa>
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  %t = tgpu.load %x : !tgpu.buffer<128x64xbf16, #sa>, tensor<128x64xbf16, #rows>
  // CHECK: nvvm.bar.warp.sync
  // CHECK: nvvm.mbarrier.arrive
  tgpu.release %ring : !tgpu.ring<1x[!tgpu.buffer<128x64xbf16, #sa>]>
  tile.return
}

// -----

#s = #tile.layout<[8, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
tile.kernel @unplaced() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{ring has no offsets: run --tile-allocate-memory first}}
  %ring = tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<8x8xbf16, #s>]>
  tile.return
}

// -----

#s = #tile.layout<[8, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 4), (2, 8), (4, 16)]>
tile.kernel @noBoxes(%a: !tile.array<?x?xbf16>, %i: index) attributes {num_warps = 1 : i32} {
  %ring = tgpu.ring copy "tma" offset 0 barriers 1024 : !tgpu.ring<1x[!tgpu.buffer<8x64xbf16, #s>]>
  tgpu.push %ring : !tgpu.ring<1x[!tgpu.buffer<8x64xbf16, #s>]> {
    // expected-error @+1 {{no boxes of the array make up}}
    tgpu.copy %a[%i, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
  }
  tile.return
}

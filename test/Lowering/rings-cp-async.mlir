// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// Rings that all threads fill: pieces of 16 bytes, zeros beyond the array, groups.

#rows = #tile.layout<[32, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 8), (8, 0), (16, 0)]>
!buffer = !tgpu.buffer<32x16xbf16, #rows>
!ring = !tgpu.ring<3x[!buffer]>

// CHECK-LABEL: llvm.func @aligned(
// CHECK-SAME: tile.shared_bytes = 3120 : i32
tile.kernel @aligned(%a: !tile.array<?x?xbf16>, %i: index, %j: index)
    attributes {num_warps = 2 : i32, tile.facts = ["aligned16"]} {
  %ring = tgpu.ring copy "cp_async" offset 0 barriers 3072 : !ring
  // A source size of 0 where the row or column does not exist.
  // CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %c16_i32{{.*}}, %c0_i32{{.*}} : i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
  // CHECK-NOT: nvvm.cp.async.shared
  // CHECK: nvvm.cp.async.commit.group
  tgpu.push %ring : !ring {
    tgpu.copy %a[%i, %j] order [0, 1] to 0 : !tile.array<?x?xbf16>
  }
  // One group may be on its way when the ring is full.
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.wait.group 1
  // CHECK: else
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: nvvm.barrier
  %b = tgpu.pop %ring : !ring -> !buffer
  tgpu.release %ring : !ring
  tile.return
}

// -----

// Two bytes have no instruction.
#rows = #tile.layout<[16, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0), (8, 0)]>
!buffer = !tgpu.buffer<16x8xbf16, #rows>
!ring = !tgpu.ring<2x[!buffer]>

// CHECK-LABEL: llvm.func @unaligned(
tile.kernel @unaligned(%a: !tile.array<?x?xbf16>, %i: index) attributes {num_warps = 1 : i32} {
  %ring = tgpu.ring copy "cp_async" offset 0 : !ring
  // CHECK-NOT: nvvm.cp.async.shared
  // CHECK: %[[FROM:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
  // CHECK: %[[V:.*]] = llvm.load %[[FROM]] {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
  // CHECK: llvm.store %[[V]], %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<3>
  tgpu.push %ring : !ring {
    tgpu.copy %a[%i, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
  }
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 0
  %b = tgpu.pop %ring : !ring -> !buffer
  tgpu.release %ring : !ring
  tile.return
}

// -----

#rows = #tile.layout<[16, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0), (8, 0)]>
tile.kernel @unplaced() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{ring has no offset: run --tile-allocate-memory first}}
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<2x[!tgpu.buffer<16x8xbf16, #rows>]>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Warps that only copy bring a tile in the largest pieces that its address and the pitch of its
// rows allow. Each of their threads arrives when its copies are complete.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<128x64xbf16, #sa>]>

// CHECK-LABEL: llvm.func @words(
// CHECK-NOT: tile.tensor_maps
tile.kernel @words(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32, tgpu.access_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ARRIVALS:.*]] = arith.constant 128 : i32
  // CHECK: nvvm.mbarrier.init %{{.*}}, %[[ARRIVALS]]
  %ring = tgpu.ring copy "warps" offset 0 barriers 32768 : !ring
  // All threads of the copying warps, by numbers of their own.
  // CHECK-NOT: nvvm.elect.sync
  // CHECK: arith.subi %{{.*}}, %{{.*}} : i32
  tgpu.specialize access {
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: nvvm.mbarrier.try_wait
      // Address and pitch, of what exists wholly.
      // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<1> to i64
      // CHECK: %[[BITS:.*]] = arith.trunci %{{.*}} : i64 to i32
      // CHECK: %[[SIXTEEN:.*]] = arith.constant 15 : i32
      // CHECK: arith.andi %[[BITS]], %[[SIXTEEN]] : i32
      // CHECK: scf.if
      // CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
      // CHECK: } else {
      // CHECK: %[[EIGHT:.*]] = arith.constant 7 : i32
      // CHECK: arith.andi %[[BITS]], %[[EIGHT]] : i32
      // CHECK: scf.if
      // CHECK: scf.for
      // CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca :
      // CHECK: } else {
      // CHECK: scf.for
      // CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca :
      // At edges words, as many bytes of each as exist.
      // CHECK: } else {
      // CHECK: scf.for
      // CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}} :
      // CHECK: nvvm.cp.async.mbarrier.arrive %[[FULL:.*]] {noinc = true}
      tgpu.push %ring : !ring {
        tgpu.copy %a[%c0, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
      }
    }
  } execute {
    scf.for %i = %c0 to %n step %c1 {
      %x = tgpu.pop %ring : !ring -> !tgpu.buffer<128x64xbf16, #sa>
      tgpu.release %ring : !ring
    }
  }
  tile.return
}

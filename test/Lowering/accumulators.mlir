// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Products of one elected thread, with accumulators in tensor memory: warp 0 takes and gives
// back the memory, the hardware arrives where products are waited for and places released.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 32] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x32xbf16, #sb>
!t = !tgpu.accumulator<128x32xf32>
!s = tensor<128x32xf32, #acc>
!ring = !tgpu.ring<2x[!a, !b]>

// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: tile.shared_bytes = 41040 : i32
tile.kernel @sum(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tgpu.tensor_memory = array<i64: 41024, 32>} {
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
  // CHECK: scf.if
  // CHECK: nvvm.tcgen05.alloc %[[PLACE:.*]], %{{.*}} : !llvm.ptr<3>, i32
  // CHECK: nvvm.tcgen05.relinquish_alloc_permit
  // CHECK: nvvm.mbarrier.init %[[DONE:.*]], %{{.*}} : !llvm.ptr<3>, i32
  // CHECK: nvvm.barrier
  // CHECK: %[[T:.*]] = llvm.load %[[PLACE]]
  // One arrival frees a place, that of the products.
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: nvvm.mbarrier.init
  %ring = tgpu.ring copy "tma" offset 0 barriers 40960 : !ring
  %t = tgpu.accumulator column 0 : !t
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %ring : !ring {
      tgpu.copy %x[%c0, %k] order [0, 1] to 0 : !tile.array<?x?xbf16>
      tgpu.copy %x[%c0, %k] order [1, 0] to 1 : !tile.array<?x?xbf16>
    }
    %adds = arith.cmpi ne, %k, %c0 : index
    // CHECK: %[[ADDS:.*]] = arith.cmpi ne
    // CHECK: arith.cmpi eq, %[[WARP]]
    // CHECK: scf.if
    // CHECK: nvvm.elect.sync
    // CHECK: nvvm.mbarrier.try_wait
    %a, %b = tgpu.pop %ring : !ring -> !a, !b
    // CHECK: nvvm.elect.sync
    // CHECK: nvvm.tcgen05.fence <after>
    // d f32, a and b bf16, 32 columns, 128 rows: 1 << 4 | 1 << 7 | 1 << 10 | 4 << 17 | 8 << 24
    // CHECK: arith.constant 134743184 : i32
    // CHECK: %[[YES:.*]] = arith.constant true
    // CHECK: llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ADDS]] {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>}
    // CHECK-COUNT-3: nvvm.tcgen05.mma {{.*}}, %[[YES]] {
    // CHECK-NOT: nvvm.tcgen05.mma
    tgpu.accumulate %a, %b, %t if %adds {atom = "tcgen05"} : !a, !b, !t
    // CHECK: nvvm.elect.sync
    // CHECK: nvvm.tcgen05.commit
    // CHECK-NOT: nvvm.mbarrier.arrive
    tgpu.release %ring : !ring
  }
  // CHECK: nvvm.elect.sync
  // CHECK: nvvm.tcgen05.commit %[[DONE]]
  // CHECK: nvvm.mbarrier.try_wait
  // CHECK: nvvm.barrier
  tgpu.mma_wait pending 0 : () -> ()
  // CHECK: nvvm.tcgen05.fence <after>
  // CHECK: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
  // CHECK: llvm.call @tilec.tcgen05.wait.ld.i32x32
  // CHECK: nvvm.tcgen05.fence <before>
  %r = tgpu.get_accumulator %t : !t, !s
  // CHECK: nvvm.tcgen05.fence <after>
  // CHECK: nvvm.tcgen05.st %{{.*}}, %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
  // CHECK: nvvm.tcgen05.wait <store>
  // CHECK: nvvm.tcgen05.fence <before>
  tgpu.set_accumulator %r, %t : !s, !t
  // CHECK: nvvm.barrier
  // CHECK: nvvm.tcgen05.dealloc
  tile.return
}

// Before the copying thread is done, all places that the hardware frees are free: what it
// arrives for may come from another block, and late.
// CHECK-LABEL: llvm.func @roles(
tile.kernel @roles(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32, tgpu.access_warps = 4 : i64, tgpu.tensor_memory = array<i64: 41024, 32>} {
  %ring = tgpu.ring copy "tma" offset 0 barriers 40960 : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
  // CHECK: }
  // CHECK-COUNT-2: nvvm.mbarrier.try_wait
  // CHECK-NOT: nvvm.mbarrier.try_wait
  // CHECK: } else {
  tgpu.specialize access {
    scf.for %k = %c0 to %n step %c1 {
      tgpu.push %ring : !ring {
        tgpu.copy %x[%c0, %k] order [0, 1] to 0 : !tile.array<?x?xbf16>
        tgpu.copy %x[%c0, %k] order [1, 0] to 1 : !tile.array<?x?xbf16>
      }
    }
  } execute {
    %t = tgpu.accumulator column 0 : !t
    // CHECK: nvvm.tcgen05.mma
    scf.for %k = %c0 to %n step %c1 {
      %a, %b = tgpu.pop %ring : !ring -> !a, !b
      tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
      tgpu.release %ring : !ring
    }
    tgpu.mma_wait pending 0 : () -> ()
    // CHECK: nvvm.tcgen05.dealloc
  }
  tile.return
}

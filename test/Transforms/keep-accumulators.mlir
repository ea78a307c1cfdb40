// RUN: tile-opt %s --tile-keep-accumulators --canonicalize | FileCheck %s
// Sums of loops that do nothing else with them stay in tensor memory.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 32] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
#rows = #tile.layout<[128, 64] register [(0, 1), (0, 2), (0, 4), (64, 0), (32, 0), (16, 0)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x32xbf16, #sb>
!ring = !tgpu.ring<2x[!a, !b]>
!t = !tgpu.accumulator<128x32xf32>
!s = tensor<128x32xf32, #acc>

// What begins as zeros is overwritten by the first product; the place of the ring is free
// when its products are complete, so nobody waits in the loop.
// CHECK-LABEL: tile.kernel @sum
// CHECK: tgpu.barrier
// CHECK: scf.for %[[K:.*]] = %[[FIRST:.*]] to %[[LAST:[a-z0-9]+]]
// CHECK-NOT: iter_args
// CHECK:   tgpu.pop
// CHECK:   %[[ADDS:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
// CHECK-NEXT: tgpu.accumulate %{{.*}}, %{{.*}}, %[[T:.*]] if %[[ADDS]]
// CHECK-NOT: tgpu.mma_wait
// CHECK:   tgpu.release
// The sum is read where it is used, behind the loads that are for its use.
// CHECK: tile.load
// CHECK: %[[WORK:.*]] = arith.cmpi sgt, %[[LAST]], %[[FIRST]]
// CHECK: %[[R:.*]] = scf.if %[[WORK]]
// CHECK:   tgpu.mma_wait pending 0
// CHECK:   %[[SUM:.*]] = tgpu.get_accumulator %[[T]]
// CHECK:   scf.yield %[[SUM]]
// CHECK: arith.addf %[[R]]
tile.kernel @sum(%y: !tile.array<?x?xf32, mut>, %bias: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %t = tgpu.accumulator : !t
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!s) {
    %a, %b = tgpu.pop %ring : !ring -> !a, !b
    tgpu.set_accumulator %s, %t : !s, !t
    tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
    tgpu.mma_wait pending 0 : () -> ()
    %x = tgpu.get_accumulator %t : !t, !s
    tgpu.release %ring : !ring
    scf.yield %x : !s
  }
  %v = tile.load %bias[%c0, %c0] : !tile.array<?x?xf32> -> !s
  %w = arith.addf %r, %v : !s
  tile.store %y[%c0, %c0], %w : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Another start is written before the loops, of which the outer one only carries it on. What
// threads store for the product must not change before it is complete.
// CHECK-LABEL: tile.kernel @nested
// CHECK: tgpu.set_accumulator %{{.*}}, %[[T:[a-z0-9]+]]
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK:   scf.for
// CHECK-NOT: iter_args
// CHECK:     tgpu.store
// CHECK:     tgpu.accumulate %{{.*}}, %{{.*}}, %[[T]] {atom
// CHECK-NEXT: tgpu.mma_wait pending 0
// CHECK-NOT: tgpu.get_accumulator
// CHECK: }
// CHECK: }
// CHECK-NEXT: tgpu.mma_wait pending 0
// CHECK-NEXT: tgpu.get_accumulator %[[T]]
tile.kernel @nested(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %t = tgpu.accumulator : !t
  %a = tgpu.alloc : !a
  %b = tgpu.alloc : !b
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %one) -> (!s) {
    %q = scf.for %k = %c0 to %n step %c1 iter_args(%s = %o) -> (!s) {
      %v = tile.load %x[%c0, %k] : !tile.array<?x?xbf16> -> tensor<128x64xbf16, #rows>
      tgpu.store %v, %a : tensor<128x64xbf16, #rows>, !a
      tgpu.set_accumulator %s, %t : !s, !t
      tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
      tgpu.mma_wait pending 0 : () -> ()
      %w = tgpu.get_accumulator %t : !t, !s
      scf.yield %w : !s
    }
    scf.yield %q : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// A sum that is changed between products is read and written each time.
// CHECK-LABEL: tile.kernel @rescaled
// CHECK: scf.for {{.*}} iter_args
// CHECK:   %[[M:.*]] = arith.mulf
// CHECK:   tgpu.set_accumulator %[[M]]
// CHECK:   tgpu.accumulate
// CHECK:   tgpu.mma_wait
// CHECK:   tgpu.get_accumulator
// CHECK:   scf.yield
tile.kernel @rescaled(%y: !tile.array<?x?xf32, mut>, %n: index, %c: f32) attributes {num_warps = 4 : i32} {
  %f = tile.splat %c : f32 -> !s
  %ring = tgpu.ring copy "tma" : !ring
  %t = tgpu.accumulator : !t
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!s) {
    %a, %b = tgpu.pop %ring : !ring -> !a, !b
    %m = arith.mulf %s, %f : !s
    tgpu.set_accumulator %m, %t : !s, !t
    tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
    tgpu.mma_wait pending 0 : () -> ()
    %x = tgpu.get_accumulator %t : !t, !s
    tgpu.release %ring : !ring
    scf.yield %x : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

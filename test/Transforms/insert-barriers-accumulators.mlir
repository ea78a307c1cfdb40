// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s
// Products use all of an accumulator, threads their own elements: a barrier is between the two.
// Where there are accumulators, the wait for products is a barrier, too.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 32] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x32xbf16, #sb>
!t = !tgpu.accumulator<128x32xf32>
!s = tensor<128x32xf32, #acc>

// CHECK-LABEL: tile.kernel @between
tile.kernel @between(%f: f32) attributes {num_warps = 4 : i32} {
  %a = tgpu.alloc offset 0 : !a
  %b = tgpu.alloc offset 16384 : !b
  %t = tgpu.accumulator column 0 : !t
  %u = tgpu.accumulator column 32 : !t
  %x = tile.splat %f : f32 -> !s
  // CHECK: tgpu.set_accumulator
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.accumulate
  // CHECK-NEXT: tgpu.accumulate
  tgpu.set_accumulator %x, %t : !s, !t
  tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
  tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
  // CHECK-NEXT: tgpu.mma_wait
  // CHECK-NEXT: tgpu.get_accumulator
  // CHECK-NEXT: tgpu.set_accumulator
  tgpu.mma_wait pending 0 : () -> ()
  %r = tgpu.get_accumulator %t : !t, !s
  tgpu.set_accumulator %r, %t : !s, !t
  // Another accumulator.
  // CHECK-NEXT: tgpu.accumulate
  tgpu.accumulate %a, %b, %u {atom = "tcgen05"} : !a, !b, !t
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.accumulate
  tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !t
  tile.return
}

// What is read at the end of an iteration is overwritten in the next.
// CHECK-LABEL: tile.kernel @around
tile.kernel @around(%n: index, %y: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %a = tgpu.alloc offset 0 : !a
  %b = tgpu.alloc offset 16384 : !b
  %t = tgpu.accumulator column 0 : !t
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %no = arith.constant false
  // CHECK: scf.for
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.accumulate
  scf.for %i = %c0 to %n step %c1 {
    tgpu.accumulate %a, %b, %t if %no {atom = "tcgen05"} : !a, !b, !t
    tgpu.mma_wait pending 0 : () -> ()
    %r = tgpu.get_accumulator %t : !t, !s
    tile.store %y[%i, %c0], %r : !tile.array<?x?xf32, mut>, !s
  }
  tile.return
}

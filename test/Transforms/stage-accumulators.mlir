// RUN: tile-opt %s --tile-stage-operands --canonicalize | FileCheck %s
// A product whose accumulator is in tensor memory: there, multiplied, and back.

#ra = #tile.layout<[128, 64] register [(0, 1), (0, 2), (0, 4), (64, 0), (32, 0), (16, 0)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#rb = #tile.layout<[64, 32] register [(0, 1), (0, 2), (0, 4), (32, 0)] lane [(0, 8), (0, 16), (1, 0), (2, 0), (4, 0)] warp [(8, 0), (16, 0)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
!a = tensor<128x64xbf16, #ra>
!b = tensor<64x32xbf16, #rb>
!fa = tensor<128x64xf8E4M3FN, #ra>
!fb = tensor<64x32xf8E4M3FN, #rb>
!s = tensor<128x32xf32, #acc>

// CHECK-LABEL: tile.kernel @product
// CHECK: %[[T:.*]] = tgpu.accumulator : !tgpu.accumulator<128x32xf32>
// CHECK: tgpu.store
// CHECK: tgpu.fence_async
// CHECK: tgpu.store
// CHECK: tgpu.fence_async
// CHECK: tgpu.set_accumulator %[[X:.*]], %[[T]]
// CHECK: tgpu.accumulate %{{.*}}, %{{.*}}, %[[T]] {atom = "tcgen05"}
// CHECK: tgpu.mma_wait pending 0
// CHECK: %[[R:.*]] = tgpu.get_accumulator %[[T]]
// CHECK: tile.store %{{.*}}, %[[R]]
tile.kernel @product(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %f: f32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.array<?x?xbf16> -> !a
  %b = tile.load %x[%c0, %c0] : !tile.array<?x?xbf16> -> !b
  %s = tile.splat %f : f32 -> !s
  %r = tile.mma %a, %b, %s {atom = "tcgen05"} : !a, !b, !s
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Zeros need not be written, they are left out.
// CHECK-LABEL: tile.kernel @from_zero
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK-NOT: tgpu.set_accumulator
// CHECK: tgpu.accumulate %{{.*}}, %{{.*}}, %{{.*}} if %[[NO]]
tile.kernel @from_zero(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.array<?x?xbf16> -> !a
  %b = tile.load %x[%c0, %c0] : !tile.array<?x?xbf16> -> !b
  %s = arith.constant dense<0.0> : !s
  %r = tile.mma %a, %b, %s {atom = "tcgen05"} : !a, !b, !s
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Sums of f8 that are to be exact are added in registers.
// CHECK-LABEL: tile.kernel @promoted
// CHECK-NOT: tgpu.set_accumulator
// CHECK: tgpu.accumulate {{.*}} if
// CHECK: tgpu.mma_wait
// CHECK: %[[PART:.*]] = tgpu.get_accumulator
// CHECK: arith.addf %{{.*}}, %[[PART]]
tile.kernel @promoted(%x: !tile.array<?x?xf8E4M3FN>, %y: !tile.array<?x?xf32, mut>, %f: f32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.array<?x?xf8E4M3FN> -> !fa
  %b = tile.load %x[%c0, %c0] : !tile.array<?x?xf8E4M3FN> -> !fb
  %s = tile.splat %f : f32 -> !s
  %r = tile.mma %a, %b, %s {atom = "tcgen05_promoted"} : !fa, !fb, !s
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

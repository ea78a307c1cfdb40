// RUN: tile-opt %s | tile-opt | FileCheck %s
// Accumulators in tensor memory, printed and read back.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 32] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16)]>
#acc = #tile.layout<[128, 32] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x32xbf16, #sb>

// CHECK-LABEL: tile.kernel @accumulators
tile.kernel @accumulators(%adds: i1) attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : tensor<128x32xf32, #acc>
  %a = tgpu.alloc : !a
  %b = tgpu.alloc : !b
  // CHECK: %[[T:.*]] = tgpu.accumulator : !tgpu.accumulator<128x32xf32>
  %t = tgpu.accumulator : !tgpu.accumulator<128x32xf32>
  // CHECK: tgpu.accumulator column 32 : !tgpu.accumulator<128x32xi32>
  %u = tgpu.accumulator column 32 : !tgpu.accumulator<128x32xi32>
  // CHECK: tgpu.set_accumulator %{{.*}}, %[[T]] : tensor<128x32xf32, #{{.*}}>, !tgpu.accumulator<128x32xf32>
  tgpu.set_accumulator %z, %t : tensor<128x32xf32, #acc>, !tgpu.accumulator<128x32xf32>
  // CHECK: tgpu.accumulate %{{.*}}, %{{.*}}, %[[T]] {atom = "tcgen05"} : !tgpu.buffer
  tgpu.accumulate %a, %b, %t {atom = "tcgen05"} : !a, !b, !tgpu.accumulator<128x32xf32>
  // CHECK: tgpu.accumulate %{{.*}}, %{{.*}}, %[[T]] if %{{.*}} a_unsigned b_unsigned {atom = "tcgen05"}
  tgpu.accumulate %a, %b, %t if %adds a_unsigned b_unsigned {atom = "tcgen05"} : !a, !b, !tgpu.accumulator<128x32xf32>
  // CHECK: tgpu.mma_wait pending 0 : () -> ()
  tgpu.mma_wait pending 0 : () -> ()
  // CHECK: tgpu.get_accumulator %[[T]] : !tgpu.accumulator<128x32xf32>, tensor<128x32xf32, #{{.*}}>
  %r = tgpu.get_accumulator %t : !tgpu.accumulator<128x32xf32>, tensor<128x32xf32, #acc>
  tile.return
}

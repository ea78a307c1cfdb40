// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// One atomic addition in shared memory for each element that has a bin.

#l = #tile.layout<[16] register [(1)] lane [(2), (4), (8), (0), (0)]>
#bins = #tile.layout<[8] offset [(1), (2), (4)]>

// Lanes that hold copies do not count.
// CHECK-LABEL: llvm.func @count(
// CHECK: %[[COPY:.*]] = arith.andi %{{.*}}, %c24_i32
// CHECK: arith.cmpi eq, %[[COPY]]
// CHECK-COUNT-2: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr<3>, i32
// CHECK-NOT: atomicrmw
tile.kernel @count(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<16xi32, #l>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<8xi32, #bins>
  tgpu.count %t, %b first 0 : tensor<16xi32, #l>, !tgpu.buffer<8xi32, #bins>
  tile.return
}

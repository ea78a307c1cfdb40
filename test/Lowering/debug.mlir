// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Prints and assertions as records of a ring in global memory.

// A kernel that prints has two parameters more, and 16 bytes of shared memory. Scalars
// are written by thread 0, and nobody waits.

// CHECK-LABEL: llvm.func @scalar(
// CHECK-SAME: %[[RING:[^:]*]]: !llvm.ptr<1>, %[[FIRST:[^:]*]]: i32)
// CHECK-SAME: tile.shared_bytes = 16
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.cmpxchg
// CHECK: %[[SITE:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
// CHECK: llvm.store %[[SITE]], %{{.*}} atomic release
tile.kernel @scalar(%n: i32) attributes {num_warps = 1 : i32} {
  tile.print ["n = ", ""] (%n) dtypes ["i32"] {tile.site = 0 : i32} : i32
  tile.return
}

// An assertion of a tile is one barrier while it holds; thread 0 reports the least index.

#l = #tile.layout<[32] register [] lane [(1), (2), (4), (8), (16)] warp []>
// CHECK-LABEL: llvm.func @tile(
// CHECK: %[[ANY:.*]] = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"
// CHECK: scf.if %[[ANY]] {
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.atomicrmw umin
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.cmpxchg
tile.kernel @tile(%x: !tile.array<32xi32>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<32xi32, #l>
  %t = tile.load %x[%c0] : !tile.array<32xi32> -> tensor<32xi32, #l>
  %p = arith.cmpi sgt, %t, %zero : tensor<32xi32, #l>
  tile.assert %p, "positive" {tile.site = 3 : i32} : tensor<32xi1, #l>
  tile.return
}

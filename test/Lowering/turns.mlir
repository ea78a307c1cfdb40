// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Turns of warp groups: a group waits at the barrier of its number, where the one before
// arrives without waiting. The last one's first arrival makes group 0 begin.

// CHECK-LABEL: llvm.func @turns(
tile.kernel @turns() attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
  tgpu.specialize registers [40, 232] access {
    %unused = arith.constant 0 : i32
  } execute {
    // CHECK: nvvm.setmaxregister increase
    // CHECK: %[[SELF:.*]] = arith.shrui %[[WARP]]
    // CHECK: %[[LAST:.*]] = arith.constant 1 : i32
    // CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[SELF]], %[[LAST]] : i32
    // CHECK: scf.if %[[IS_LAST]] {
    // CHECK:   %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK:   %[[FIRST:.*]] = arith.addi %[[ZERO]]
    // CHECK:   %[[BOTH:.*]] = arith.constant 256 : i32
    // CHECK:   llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[FIRST]], %[[BOTH]])
    // CHECK: }
    // CHECK: %[[OWN:.*]] = arith.shrui %[[WARP]]
    // CHECK: %[[TEN:.*]] = arith.constant 10 : i32
    // CHECK: %[[ID:.*]] = arith.addi %[[OWN]], %[[TEN]]
    // CHECK: %[[COUNT:.*]] = arith.constant 256 : i32
    // CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %[[COUNT]]
    tgpu.take_turn
    // CHECK: %[[NEXT:.*]] = arith.addi
    // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %[[TWO]] : i32
    // CHECK: %[[AFTER:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[NEXT]] : i32
    // CHECK: %[[AFTER_ID:.*]] = arith.addi %[[AFTER]]
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[AFTER_ID]]
    tgpu.pass_turn
  }
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// Registers one after the other, lanes in log steps, warps through shared memory.

#l = #tile.layout<[128] register [(1), (64)] lane [(2), (4), (8), (16), (32)]>

// Two groups of 64: five steps each, what came before, and the first group's total.
// CHECK-LABEL: llvm.func @lanes(
tile.kernel @lanes(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<128xi32, #l>
  // CHECK-COUNT-14: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl
  %s = tile.scan(%t) axis 0 : (tensor<128xi32, #l>) -> tensor<128xi32, #l> {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    tile.yield %0 : i32
  }
  tile.return
}

// -----

#l = #tile.layout<[256] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64), (128)]>
#bytes = #tile.layout<[2048] offset [(1), (2), (4), (8), (16), (32), (64), (128), (256), (512), (1024)]>

// A lane fetches the total of one warp; two steps, what came before, and the sum of all.
// CHECK-LABEL: llvm.func @warps(
tile.kernel @warps(%x: i32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : i32 -> tensor<256xi32, #l>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<2048xi8, #bytes>
  // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK-COUNT-7: nvvm.shfl.sync idx
  // A slot is the thread's number, or'ed exclusively with its warp's: lanes that read one lane
  // of each warp do not meet in a bank.
  // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]], %{{.*}} : i32
  // CHECK-NEXT: arith.xori %[[THREAD]], %[[WARP]] : i32
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<1xi32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<1xi32>
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-4: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm
  %s = tgpu.scan(%t) axis 0 through %b : !tgpu.buffer<2048xi8, #bytes>, (tensor<256xi32, #l>) -> tensor<256xi32, #l> {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    tgpu.yield %0 : i32
  }
  tile.return
}

// -----

#l = #tile.layout<[256] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64), (128)]>

tile.kernel @unstaged(%x: i32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : i32 -> tensor<256xi32, #l>
  // expected-error @+1 {{this scan needs shared memory: run --tile-stage-operands first}}
  %s = tile.scan(%t) axis 0 : (tensor<256xi32, #l>) -> tensor<256xi32, #l> {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    tile.yield %0 : i32
  }
  tile.return
}

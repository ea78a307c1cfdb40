// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-stage-operands))' | FileCheck %s
// Scans, sorts and flips get a scratch buffer where warps share the axis.

#across = #tile.layout<[8, 128] register [(0, 1), (4, 0)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] warp [(0, 64), (1, 0), (2, 0)]>
#within = #tile.layout<[8, 128] register [(0, 1), (0, 64)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] warp [(1, 0), (2, 0), (4, 0)]>

// Two totals of four bytes from each of 256 threads, but at least 16 bytes a thread.
// CHECK-LABEL: tile.kernel @across
// CHECK: %[[A:.*]] = tgpu.alloc : !tgpu.buffer<4096xi8
// CHECK: tgpu.scan(%{{.*}}) axis 1 through %[[A]]
// CHECK: tgpu.yield
// CHECK: tgpu.sort(%{{.*}}) axis 1 descending through
// CHECK: tgpu.flip %{{.*}} axis 1 through
tile.kernel @across(%x: i32) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : i32 -> tensor<8x128xi32, #across>
  %s = tile.scan(%t) axis 1 : (tensor<8x128xi32, #across>) -> tensor<8x128xi32, #across> {
  ^bb0(%l: i32, %r: i32):
    %0 = arith.addi %l, %r : i32
    tile.yield %0 : i32
  }
  %o = tile.sort(%s) axis 1 descending unsigned : (tensor<8x128xi32, #across>) -> tensor<8x128xi32, #across>
  %f = tile.flip %o axis 1 : tensor<8x128xi32, #across>
  tile.return
}

// CHECK-LABEL: tile.kernel @within
// CHECK-NOT: tgpu
tile.kernel @within(%x: i32) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : i32 -> tensor<8x128xi32, #within>
  %s = tile.scan(%t) axis 1 : (tensor<8x128xi32, #within>) -> tensor<8x128xi32, #within> {
  ^bb0(%l: i32, %r: i32):
    %0 = arith.addi %l, %r : i32
    tile.yield %0 : i32
  }
  %o = tile.sort(%s) axis 1 unsigned : (tensor<8x128xi32, #within>) -> tensor<8x128xi32, #within>
  %f = tile.flip %o axis 1 : tensor<8x128xi32, #within>
  tile.return
}

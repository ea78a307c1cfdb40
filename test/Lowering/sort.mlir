// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// A bitonic network: registers in the thread, lanes by butterflies.

#l = #tile.layout<[8] register [(1)] lane [(2), (4), (0), (0), (0)]>

// Stages of 1, 2 and 3 steps; 3 of them between lanes, of two registers each.
// CHECK-LABEL: llvm.func @eight(
tile.kernel @eight(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<8xi32, #l>
  // Words are inverted where runs go down; a step in the thread is a minimum and a maximum.
  // CHECK: arith.extsi
  // CHECK: arith.xori
  // CHECK: arith.minui
  // CHECK: arith.maxui
  // CHECK-COUNT-6: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  // CHECK: arith.maxui
  %s = tile.sort(%t) axis 0 unsigned : (tensor<8xi32, #l>) -> tensor<8xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<[2048] register [(1), (64), (128), (256), (512), (1024)] lane [(2), (4), (8), (16), (32)]>

// Large ones run over their stages in a loop, each step once in the code.
// CHECK-LABEL: llvm.func @large(
tile.kernel @large(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<2048xi32, #l>
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<64xi32>)
  // CHECK-COUNT-11: scf.if
  // CHECK-NOT: scf.if
  %s = tile.sort(%t) axis 0 unsigned : (tensor<2048xi32, #l>) -> tensor<2048xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<[4096] register [(1), (64), (128), (256), (512), (1024), (2048)] lane [(2), (4), (8), (16), (32)]>

// Four pieces of 32 registers in memory: in each stage those that differ in one of two bits
// of their numbers exchange, then the ten steps within each.
// CHECK-LABEL: llvm.func @in_pieces(
tile.kernel @in_pieces(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<4096xi32, #l>
  // CHECK: scf.for
  // CHECK: llvm.store %{{.*}} : vector<32xi32>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-COUNT-2: scf.if
  // CHECK: scf.for
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<32xi32>
  // CHECK-COUNT-10: scf.if %{{.*}} -> (vector<32xi32>)
  // CHECK-NOT: scf.if
  %s = tile.sort(%t) axis 0 unsigned : (tensor<4096xi32, #l>) -> tensor<4096xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<[32] lane [(1), (2), (4), (8), (16)]>

tile.kernel @floats(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<32xf32, #l>
  // expected-error @+1 {{this sort is not one of words: run --tile-expand-sorts first}}
  %s = tile.sort(%t) axis 0 : (tensor<32xf32, #l>) -> tensor<32xf32, #l>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// A tree over registers, then one shuffle a lane bit.

#l = #tile.layout<[2, 128] register [(0, 1), (1, 0)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] warp [(0, 64)]>
#one = #tile.layout<[2, 64] register [(0, 1), (1, 0)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)]>
#r = #tile.layout<[2] register [(1)] lane [(0), (0), (0), (0), (0)]>

// CHECK-LABEL: llvm.func @sum(
tile.kernel @sum(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<2x64xf32, #one>
  // CHECK: %[[LOW:.*]] = vector.shuffle %{{.*}} [0, 2] : vector<4xf32>
  // CHECK: %[[HIGH:.*]] = vector.shuffle %{{.*}} [1, 3] : vector<4xf32>
  // CHECK: arith.addf %[[LOW]], %[[HIGH]] : vector<2xf32>
  // CHECK-COUNT-10: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  %s = tile.reduce(%t) axes [1] : (tensor<2x64xf32, #one>) -> tensor<2xf32, #r> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    tile.yield %0 : f32
  }
  tile.return
}

// 64 bits travel as two halves, four i8 as one word, and `if` runs element by element.
// The place of the greatest: in registers the greatest first, then where it is; pairs meet from
// lane to lane.
// CHECK-LABEL: llvm.func @place(
tile.kernel @place(%x: f32, %p: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<2x64xf32, #one>
  %i = tile.splat %p : i32 -> tensor<2x64xi32, #one>
  // CHECK: arith.maximumf
  // CHECK: arith.cmpf oeq
  // CHECK: arith.select
  // CHECK: arith.cmpf oeq
  // CHECK: arith.select
  // CHECK: %[[NAN:.*]] = arith.cmpf uno
  // CHECK: scf.if %[[NAN]] -> (i32)
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: arith.cmpf ogt
  %m, %s = tile.reduce(%t, %i) axes [1] {tile.arg = "max"} : (tensor<2x64xf32, #one>, tensor<2x64xi32, #one>) -> (tensor<2xf32, #r>, tensor<2xi32, #r>) {
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    %w = arith.cmpf ogt, %a, %c : f32
    %0 = arith.select %w, %a, %c : f32
    %1 = arith.select %w, %b, %d : i32
    tile.yield %0, %1 : f32, i32
  }
  tile.return
}

// CHECK-LABEL: llvm.func @types(
tile.kernel @types(%x: i64, %y: i8) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i64 -> tensor<2x64xi64, #one>
  // CHECK: scf.if %{{.*}} -> (i64)
  // CHECK: scf.if %{{.*}} -> (i64)
  // CHECK: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  // CHECK: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  %s = tile.reduce(%t) axes [1] : (tensor<2x64xi64, #one>) -> tensor<2xi64, #r> {
  ^bb0(%p: i64, %q: i64):
    %c = arith.cmpi slt, %p, %q : i64
    %0 = scf.if %c -> i64 { scf.yield %p : i64 } else { scf.yield %q : i64 }
    tile.yield %0 : i64
  }
  tile.return
}

// -----

#l = #tile.layout<[2, 128] register [(0, 1), (1, 0)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] warp [(0, 64)]>
#rw = #tile.layout<[2] register [(1)] lane [(0), (0), (0), (0), (0)] warp [(0)]>
tile.kernel @across(%x: f32) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<2x128xf32, #l>
  // expected-error @+1 {{this reduction needs shared memory: run --tile-stage-operands first}}
  %s = tile.reduce(%t) axes [1] : (tensor<2x128xf32, #l>) -> tensor<2xf32, #rw> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    tile.yield %0 : f32
  }
  tile.return
}

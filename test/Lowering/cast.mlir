// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_89 | FileCheck %s --check-prefix=PAIRS
// Conversions of the language: nothing undefined, nothing rounded twice. Values are
// compared with the interpreter's in test/Unit/Lowering/CastTest.cpp.

// CHECK-LABEL: llvm.func @saturated(
tile.kernel @saturated(%x: f64) attributes {num_warps = 1 : i32} {
  // CHECK: %[[ABOVE:.*]] = arith.cmpf oge, %[[X:.*]], %{{.*}} : f64
  // CHECK: %[[IN:.*]] = arith.cmpf oge, %[[X]], %{{.*}} : f64
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : f64
  // CHECK: %[[A:.*]] = arith.select %[[IN]], %[[X]],
  // CHECK: %[[B:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[A]]
  // CHECK: arith.fptosi %[[B]] : f64 to i8
  // CHECK: arith.constant 127 : i8
  %i = tile.cast %x : f64 -> i8
  tile.return
}

// One instruction saturates, and takes the rounding before it with it.
// CHECK-LABEL: llvm.func @by_instruction(
tile.kernel @by_instruction(%x: f32, %h: f16) attributes {num_warps = 1 : i32} {
  // CHECK: %[[B:.*]] = llvm.call @tilec.cvt.rzi.s8.f32(%{{.*}}) : (f32) -> i16
  // CHECK: arith.trunci %[[B]] : i16 to i8
  %i = tile.cast %x : f32 -> i8
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: llvm.call @tilec.cvt.rzi.u32.f32(%[[W]]) : (f32) -> i32
  %j = tile.cast %h to_unsigned : f16 -> i32
  // CHECK: llvm.call @tilec.cvt.rni.s8.f32(%{{.*}}) : (f32) -> i16
  %r = math.roundeven %x : f32
  %k = tile.cast %r : f32 -> i8
  tile.return
}

// CHECK-LABEL: llvm.func @once(
tile.kernel @once(%x: f64, %n: i64) attributes {num_warps = 1 : i32} {
  // Through an f32 with an odd last bit.
  // CHECK: %[[F:.*]] = arith.truncf %{{.*}} : f64 to f32
  // CHECK: arith.cmpf one,
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %h = arith.truncf %x : f64 to f16
  // CHECK: arith.sitofp %{{.*}} : i64 to f64
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %b = arith.sitofp %n : i64 to bf16
  tile.return
}

// CHECK-LABEL: llvm.func @float8(
tile.kernel @float8(%x: f8E4M3FN, %y: f32) attributes {num_warps = 1 : i32} {
  // CHECK: arith.extui %{{.*}} : i8 to i32
  // CHECK: arith.bitcast %{{.*}} : i32 to f32
  %f = arith.extf %x : f8E4M3FN to f32
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %e = tile.cast %y : f32 -> f8E5M2
  // CHECK: arith.cmpf une, %{{.*}} : f32
  %t = tile.cast %x : f8E4M3FN -> i1
  tile.return
}

// Pairs, where the chip converts them; 8 bits of e5m2 are the upper half of an f16.
// CHECK-LABEL: llvm.func @pairs(
// PAIRS-LABEL: llvm.func @pairs(
tile.kernel @pairs(%x: f8E4M3FN, %y: f8E5M2, %z: f32) attributes {num_warps = 1 : i32} {
  // PAIRS: llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"(%{{.*}}) : (i16) -> vector<2xf16>
  // PAIRS: arith.extf %{{.*}} : f16 to f32
  // CHECK-NOT: llvm.call_intrinsic
  %a = arith.extf %x : f8E4M3FN to f32
  // CHECK: arith.shli %{{.*}} : i16
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // PAIRS: arith.shli %{{.*}} : i16
  %b = arith.extf %y : f8E5M2 to f32
  // CHECK-NOT: llvm.call_intrinsic
  // PAIRS: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%{{.*}}, %{{.*}}) : (f32, f32) -> i16
  // PAIRS: llvm.call @tilec.cvt.u32.u16(%{{.*}}) : (i16) -> i32
  %c = tile.cast %z : f32 -> f8E4M3FN
  tile.return
}

// The bits as they stand: the exponents are those of f32.
// CHECK-LABEL: llvm.func @tf32(
tile.kernel @tf32(%x: f32) attributes {num_warps = 1 : i32} {
  // CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: %[[LAST:.*]] = arith.shrui %[[BITS]], %{{.*}} : i32
  // CHECK: %[[ODD:.*]] = arith.andi %[[LAST]], %{{.*}} : i32
  // CHECK: arith.addi %{{.*}}, %[[ODD]] : i32
  %t = tile.cast %x : f32 -> tf32
  tile.return
}

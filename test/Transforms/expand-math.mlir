// RUN: tile-opt --tile-expand-math --split-input-file %s | FileCheck %s
// Functions without an instruction become arithmetic; others are left alone.

// CHECK-LABEL: llvm.func @exp(
// CHECK-NOT: math.exp
// CHECK: %[[N:.*]] = arith.minnumf
// CHECK: %[[SUM:.*]] = math.fma %[[N]]
// CHECK: %[[N23:.*]] = arith.shli {{.*}} : vector<4xi32>
// CHECK-COUNT-4: llvm.call @tilec.ex2.approx.ftz.f32
// CHECK: %[[BITS:.*]] = arith.addi %[[N23]]
// CHECK: %[[SCALE:.*]] = arith.bitcast %[[BITS]]
// CHECK: %[[ALL:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: llvm.return %[[ALL]]
llvm.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x : vector<4xf32>
  llvm.return %y : vector<4xf32>
}

// -----

// What is divided is asked for its size: where all is at most 64, no clamp and no
// multiplication.
// CHECK-LABEL: llvm.func @divided(
// CHECK-COUNT-2: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: %[[SIZE:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: %[[SMALL:.*]] = arith.cmpf ole, %[[SIZE]], %{{.*}} : f32
// CHECK: scf.if %[[SMALL]] -> (vector<4xf32>) {
// CHECK-NOT:   arith.minnumf
// CHECK-COUNT-4: llvm.call @tilec.ex2.approx.ftz.f32
// CHECK-NOT:   arith.mulf
// CHECK: } else {
// CHECK:   arith.minnumf
// CHECK-COUNT-4: llvm.call @tilec.ex2.approx.ftz.f32
// CHECK:   arith.mulf
// CHECK: } {tile.ordinary}
llvm.func @divided(%x: vector<4xf32>, %d: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x : vector<4xf32>
  %z = arith.divf %y, %d : vector<4xf32>
  llvm.return %z : vector<4xf32>
}

// -----

// What is known to be at most 1 is not asked, and its division learns it.
// CHECK-LABEL: llvm.func @bounded(
// CHECK-NOT: scf.if
// CHECK: arith.mulf %{{.*}}, %{{.*}} {tile.at_most_one} : vector<4xf32>
llvm.func @bounded(%x: vector<4xf32>, %d: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x {tile.at_most_one} : vector<4xf32>
  %z = arith.divf %y, %d : vector<4xf32>
  llvm.return %z : vector<4xf32>
}

// -----

// Where a factor does no harm, n is never negative and added to the exponent.
// CHECK-LABEL: llvm.func @share(
// CHECK: %[[N:.*]] = arith.minnumf
// CHECK: %[[SUM:.*]] = math.fma %[[N]]
// CHECK: %[[N23:.*]] = arith.shli {{.*}} : vector<4xi32>
// CHECK-COUNT-4: llvm.call @tilec.ex2.approx.ftz.f32
// CHECK: %[[BITS:.*]] = arith.addi %{{.*}}, %[[N23]]
// CHECK: %[[POWER:.*]] = arith.bitcast %[[BITS]]
// CHECK-NOT: arith.mulf
// CHECK: llvm.return %[[POWER]]
llvm.func @share(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x {tile.at_most_one, tile.share} : vector<4xf32>
  llvm.return %y : vector<4xf32>
}

// -----

// 16-bit types compute in f32 and round once.
// CHECK-LABEL: llvm.func @half(
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: arith.truncf
// CHECK: math.fma {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
llvm.func @half(%x: f16) -> f16 {
  %y = math.tanh %x : f16
  llvm.return %y : f16
}

// -----

// CHECK-LABEL: llvm.func @kept(
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.fma
// CHECK: math.absf
llvm.func @kept(%x: f32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.fma %a, %b, %x : f32
  %d = math.absf %c : f32
  llvm.return %d : f32
}

// -----

// Approximations only where the operation allows them.
// CHECK-DAG: llvm.func @tilec.lg2.approx.f32(f32) -> f32
// CHECK-DAG: llvm.func @tilec.rsqrt.approx.f32(f32) -> f32
// CHECK-LABEL: llvm.func @fast(
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK: %[[E:.*]] = vector.extract %[[P]][0]
// CHECK: llvm.call @tilec.ex2.approx.ftz.f32(%[[E]])
// CHECK-COUNT-2: llvm.call @tilec.lg2.approx.f32
// CHECK-COUNT-2: llvm.call @tilec.rsqrt.approx.f32
// CHECK: %[[T:.*]] = math.tanh {{.*}} fastmath<afn>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[T]], %[[T]]
// CHECK: %[[FACTOR:.*]] = math.fma %[[SQUARE]]
// CHECK: %[[ODD:.*]] = arith.mulf %[[T]], %[[FACTOR]]
// CHECK: math.tanh %[[ODD]] fastmath<afn>
llvm.func @fast(%x: vector<2xf32>) -> vector<2xf32> {
  %a = math.exp %x fastmath<afn> : vector<2xf32>
  %b = math.log %a fastmath<afn> : vector<2xf32>
  %c = math.rsqrt %b fastmath<afn> : vector<2xf32>
  %d = math.tanh %c fastmath<afn> : vector<2xf32>
  %e = math.erf %d fastmath<afn> : vector<2xf32>
  llvm.return %e : vector<2xf32>
}

// -----

// A factor of erf's operand is one of its coefficients: 0.125 of 0.1007 and 0.5 of 1.1288.
// CHECK-LABEL: llvm.func @scaled(%arg0: f32)
// CHECK: %[[SQUARE:.*]] = arith.mulf %arg0, %arg0
// CHECK-DAG: %[[C3:.*]] = arith.constant 0.012588{{[0-9]*}} : f32
// CHECK-DAG: %[[C1:.*]] = arith.constant 0.564388{{[0-9]*}} : f32
// CHECK: %[[FACTOR:.*]] = math.fma %[[SQUARE]], %[[C3]], %[[C1]]
// CHECK: %[[ODD:.*]] = arith.mulf %arg0, %[[FACTOR]]
// CHECK: math.tanh %[[ODD]] fastmath<afn>
llvm.func @scaled(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %a = arith.mulf %x, %half fastmath<afn> : f32
  %e = math.erf %a fastmath<afn> : f32
  llvm.return %e : f32
}

// -----

// f64 has no approximate forms.
// CHECK-LABEL: llvm.func @double(
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : f64
llvm.func @double(%x: f64) -> f64 {
  %a = math.exp %x fastmath<afn> : f64
  llvm.return %a : f64
}

// -----

// The long reduction of angles is entered only when some lane needs it.
// CHECK-LABEL: llvm.func @sin(
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<4xi1> into i1
// CHECK: scf.if %[[ANY]]
llvm.func @sin(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.sin %x : vector<4xf32>
  llvm.return %y : vector<4xf32>
}

// -----

// CHECK-LABEL: llvm.func @remainder(
// CHECK-NOT: arith.remf
// CHECK: scf.while
// CHECK: arith.remui {{.*}} : i64
llvm.func @remainder(%x: f32, %y: f32) -> f32 {
  %z = arith.remf %x, %y : f32
  llvm.return %z : f32
}

// -----

// Straight-line functions also work on tensors.
// CHECK-LABEL: func.func @tensor(
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : tensor<4x8xf32>
func.func @tensor(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = math.exp %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

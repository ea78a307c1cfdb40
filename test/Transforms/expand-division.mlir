// RUN: tile-opt --tile-expand-division --split-input-file %s | FileCheck %s
// One reciprocal for the lanes that share a divisor, and division where that fails.

// CHECK-LABEL: llvm.func @row(
// CHECK-SAME: %[[A:.*]]: vector<8xf32>, %[[B:.*]]: f32)
// CHECK: arith.ori
// CHECK: %[[FITS:.*]] = scf.if
// CHECK: scf.if %[[FITS]]
// CHECK: %[[Y:.*]] = llvm.call @tilec.rcp.approx.ftz.f32(%[[B]])
// CHECK: %[[Q:.*]] = arith.mulf %[[A]], %{{.*}} : vector<8xf32>
// CHECK: %[[R:.*]] = math.fma %{{.*}}, %[[Q]], %{{.*}} : vector<8xf32>
// CHECK: math.fma %[[R]], %{{.*}}, %[[Q]] : vector<8xf32>
// CHECK: else
// The assembler takes long for a division, so this one is in a loop.
// CHECK: llvm.store %[[A]], %[[MEMORY:[0-9]+]] {{.*}} : vector<8xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[MEMORY]][%[[I]]] : {{.*}}, f32
// CHECK: %[[PART:.*]] = llvm.load %[[PLACE]]
// CHECK: arith.divf %[[PART]], %[[B]] : f32
// CHECK: } {llvm.loop_annotation = #{{.*}}}
// CHECK: llvm.load %[[MEMORY]] {{.*}} -> vector<8xf32>
llvm.func @row(%a: vector<8xf32>, %b: f32) -> vector<8xf32> {
  %w = vector.broadcast %b : f32 to vector<8xf32>
  %q = arith.divf %a, %w : vector<8xf32>
  llvm.return %q : vector<8xf32>
}

// -----

// Powers that are at most 1: one unsigned minimum a lane, zeros being the greatest.
// CHECK-LABEL: llvm.func @powers(
// CHECK: %[[LESS:.*]] = arith.constant -1 : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK-COUNT-7: arith.minui
// CHECK: %[[LEAST:.*]] = arith.constant 226492415 : i32
// CHECK: arith.cmpi uge, %{{.*}}, %[[LEAST]] : i32
// CHECK: scf.if
// CHECK: llvm.call @tilec.rcp.approx.ftz.f32
// CHECK: else
// CHECK: arith.divf {{.*}} : f32
// CHECK-NOT: scf.if
// CHECK: llvm.return
llvm.func @powers(%u: vector<8xf32>, %v: vector<8xf32>, %b: f32) -> vector<8xf32> {
  %a = arith.mulf %u, %v {tile.at_most_one} : vector<8xf32>
  %w = vector.broadcast %b : f32 to vector<8xf32>
  %q = arith.divf %a, %w : vector<8xf32>
  llvm.return %q : vector<8xf32>
}

// -----

// Powers by their sum: no question; where few lanes share a sum, each has its reciprocal.
// CHECK-LABEL: llvm.func @shares(
// CHECK-NOT: scf.if
// CHECK-NOT: arith.divf
// CHECK: llvm.call @tilec.rcp.approx.ftz.f32
// CHECK: %[[Q:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: %[[R:.*]] = math.fma %{{.*}}, %[[Q]], %{{.*}} : vector<8xf32>
// CHECK: math.fma %[[R]], %{{.*}}, %[[Q]] : vector<8xf32>
// CHECK-COUNT-2: llvm.call @tilec.rcp.approx.ftz.f32
// CHECK-NOT: scf.if
// CHECK-NOT: arith.divf
// CHECK: llvm.return
llvm.func @shares(%a: vector<8xf32>, %b: f32, %c: vector<2xf32>, %d: vector<2xf32>) -> vector<8xf32> {
  %w = vector.broadcast %b : f32 to vector<8xf32>
  %q = arith.divf %a, %w {tile.share} : vector<8xf32>
  %r = arith.divf %c, %d {tile.share} : vector<2xf32>
  llvm.return %q : vector<8xf32>
}

// -----

// Two rows in one vector: two reciprocals.
// CHECK-LABEL: llvm.func @rows(
// CHECK: llvm.call @tilec.rcp
// CHECK: arith.divf {{.*}} : f32
// CHECK: llvm.call @tilec.rcp
// CHECK: arith.divf {{.*}} : f32
// CHECK: vector.from_elements
llvm.func @rows(%a: vector<8xf32>, %b: vector<2xf32>) -> vector<8xf32> {
  %w = vector.shuffle %b, %b [0, 0, 0, 0, 1, 1, 1, 1] : vector<2xf32>, vector<2xf32>
  %q = arith.divf %a, %w : vector<8xf32>
  llvm.return %q : vector<8xf32>
}

// -----

// A divisor that is known to lie in [1, 2]: no question, each lane a reciprocal.
// CHECK-LABEL: llvm.func @known(
// CHECK-SAME: %[[A:.*]]: vector<2xf32>, %[[B:.*]]: vector<2xf32>
// CHECK-NOT: scf.if
// CHECK-NOT: arith.divf
// CHECK-COUNT-2: llvm.call @tilec.rcp.approx.ftz.f32
// CHECK: %[[Q:.*]] = arith.mulf %[[A]], %[[Y:.*]] : vector<2xf32>
// CHECK: %[[R:.*]] = math.fma %[[B]], %[[Q]], %{{.*}} : vector<2xf32>
// CHECK: math.fma %[[R]], %{{.*}}, %[[Q]] : vector<2xf32>
// CHECK: llvm.call @tilec.rcp.approx.ftz.f32
// CHECK-NOT: arith.divf
// CHECK: llvm.return
llvm.func @known(%a: vector<2xf32>, %b: vector<2xf32>, %c: f32, %d: f32) -> vector<2xf32> {
  %q = arith.divf %a, %b fastmath<arcp> : vector<2xf32>
  %s = arith.divf %c, %d fastmath<arcp> : f32
  llvm.return %q : vector<2xf32>
}

// -----

// May be approximate, and the divisor is at least 1: a reciprocal and a multiplication.
// CHECK-LABEL: llvm.func @approximate(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK: %[[Y:.*]] = llvm.call @tilec.rcp.approx.ftz.f32(%[[B]])
// CHECK: %[[Q:.*]] = arith.mulf %[[A]], %[[Y]] : f32
// CHECK: llvm.return %[[Q]]
llvm.func @approximate(%a: f32, %b: f32) -> f32 {
  %q = arith.divf %a, %b fastmath<arcp,afn> : f32
  llvm.return %q : f32
}

// -----

// Fast code, and lanes that share their divisors: a reciprocal of each.
// CHECK-LABEL: llvm.func @fast(
// CHECK-SAME: %[[A:.*]]: vector<8xf32>, %[[B:.*]]: f32, %[[C:.*]]: f32)
// CHECK: %[[Y:.*]] = llvm.call @tilec.rcp.approx.ftz.f32(%[[B]])
// CHECK: %[[W:.*]] = vector.broadcast %[[Y]] : f32 to vector<8xf32>
// CHECK: arith.mulf %[[A]], %[[W]] : vector<8xf32>
// CHECK: vector.shuffle %[[A]], %[[A]] [0, 1, 4, 5]
// CHECK: llvm.call @tilec.rcp.approx.ftz.f32(%[[B]])
// CHECK: vector.shuffle %[[A]], %[[A]] [2, 3, 6, 7]
// CHECK: llvm.call @tilec.rcp.approx.ftz.f32(%[[C]])
// CHECK-NOT: arith.divf
llvm.func @fast(%a: vector<8xf32>, %b: f32, %c: f32) -> vector<8xf32> {
  %0 = vector.broadcast %b : f32 to vector<8xf32>
  %1 = arith.divf %a, %0 fastmath<afn> : vector<8xf32>
  %2 = vector.from_elements %b, %b, %c, %c, %b, %b, %c, %c : vector<8xf32>
  %3 = arith.divf %a, %2 fastmath<afn> : vector<8xf32>
  %4 = arith.addf %1, %3 : vector<8xf32>
  llvm.return %4 : vector<8xf32>
}

// -----

// Too few lanes, divisors of their own and other formats stay, in fast code, too.
// CHECK-LABEL: llvm.func @stays(
// CHECK-NOT: scf.if
// CHECK-NOT: math.fma
llvm.func @stays(%a: vector<8xf32>, %b: vector<8xf32>, %c: vector<2xf32>, %d: f32,
                 %e: vector<8xf64>, %f: f64) {
  %0 = arith.divf %a, %b : vector<8xf32>
  %1 = vector.broadcast %d : f32 to vector<2xf32>
  %2 = arith.divf %c, %1 : vector<2xf32>
  %3 = vector.broadcast %f : f64 to vector<8xf64>
  %4 = arith.divf %e, %3 : vector<8xf64>
  %6 = arith.divf %a, %b fastmath<afn> : vector<8xf32>
  %7 = arith.divf %c, %1 fastmath<afn> : vector<2xf32>
  llvm.return
}

// RUN: tile-opt --tile-lower-to-llvm --split-input-file %s | FileCheck %s
// The simt stage to the LLVM dialect: blocks for loops, i64 for index.

// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %[[N:.*]]: i64
llvm.func @sum(%x: !llvm.ptr<1>, %n: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %end = arith.index_cast %n : i64 to index
  // CHECK: llvm.br ^[[LOOP:.*]](%{{.*}}, %{{.*}} : i64, vector<4xf32>)
  // CHECK: ^[[LOOP]](%[[I:.*]]: i64, %[[S:.*]]: vector<4xf32>):
  // CHECK: llvm.icmp "slt" %[[I]], %[[N]] : i64
  %s = scf.for %i = %c0 to %end step %c1 iter_args(%a = %zero) -> vector<4xf32> {
    %at = arith.index_cast %i : index to i64
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
    // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
    %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    // CHECK: llvm.fadd {{.*}} : vector<4xf32>
    %t = arith.addf %a, %v : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  llvm.store %s, %x {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}

// -----

// Vectors are taken apart and put together without memory.
// CHECK-LABEL: llvm.func @shuffle(
llvm.func @shuffle(%v: vector<4xf32>) -> vector<2xf32> {
  // CHECK: llvm.shufflevector
  %s = vector.shuffle %v, %v [0, 5] : vector<4xf32>, vector<4xf32>
  // CHECK: llvm.extractelement
  %e = vector.extract %v[3] : f32 from vector<4xf32>
  // CHECK: llvm.insertelement
  %r = vector.insert %e, %s[1] : f32 into vector<2xf32>
  llvm.return %r : vector<2xf32>
}

// -----

// What has an instruction stays an intrinsic; approximations need their flag.
// CHECK-LABEL: llvm.func @math(
llvm.func @math(%x: f32) -> f32 {
  // CHECK: llvm.intr.sqrt
  %a = math.sqrt %x : f32
  // CHECK: llvm.intr.fma
  %b = math.fma %a, %x, %x : f32
  // CHECK: llvm.intr.exp2({{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
  %c = math.exp2 %b fastmath<afn> : f32
  llvm.return %c : f32
}

// -----

// The forms of min and max that also order zeros.
// CHECK-LABEL: llvm.func @order(
llvm.func @order(%x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  // CHECK: llvm.intr.maximum(
  %a = arith.maximumf %x, %y : vector<2xf32>
  // CHECK: llvm.call_intrinsic "llvm.maximumnum"({{.*}}) : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  %b = arith.maxnumf %a, %y : vector<2xf32>
  // CHECK: llvm.call_intrinsic "llvm.minimumnum"(
  %c = arith.minnumf %b, %x : vector<2xf32>
  llvm.return %c : vector<2xf32>
}

// -----

// What is said of a loop is on its branch back, where the translation looks for it.
// CHECK: #[[NEVER:.*]] = #llvm.loop_annotation<unroll = #{{.*}}>
// CHECK-LABEL: llvm.func @annotated(
// CHECK: llvm.br ^bb1(%{{.*}} : i32) {loop_annotation = #[[NEVER]]}
llvm.func @annotated(%x: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    llvm.store %i, %x : i32, !llvm.ptr
  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  llvm.return
}

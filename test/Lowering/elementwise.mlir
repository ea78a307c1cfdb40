// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_90a | FileCheck %s --check-prefix=PACKED
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_80 | FileCheck %s --check-prefix=PAIRS
// Arithmetic on tiles is arithmetic on the vector that the thread owns.

#l = #tile.layout<[128] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64)]>

// CHECK-LABEL: llvm.func @plain(
tile.kernel @plain(%x: f32, %n: i32) attributes {num_warps = 2 : i32} {
  // CHECK: %[[C:.*]] = arith.constant dense<2.000000e+00> : vector<2xf32>
  %c = arith.constant dense<2.0> : tensor<128xf32, #l>
  // CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : f32 to vector<2xf32>
  %t = tile.splat %x : f32 -> tensor<128xf32, #l>
  // CHECK: %[[S:.*]] = arith.addf %[[X]], %[[C]] fastmath<contract> : vector<2xf32>
  %s = arith.addf %t, %c fastmath<contract> : tensor<128xf32, #l>
  // CHECK: %[[M:.*]] = arith.cmpf olt, %[[S]], %[[C]] : vector<2xf32>
  %m = arith.cmpf olt, %s, %c : tensor<128xf32, #l>
  // CHECK: arith.select %[[M]], %[[S]], %[[C]] : vector<2xi1>, vector<2xf32>
  %r = arith.select %m, %s, %c : tensor<128xi1, #l>, tensor<128xf32, #l>
  // CHECK: math.exp %{{.*}} : vector<2xf32>
  %e = math.exp %r : tensor<128xf32, #l>
  tile.return
}

// 16-bit floats are computed in f32 and rounded once; sums and products where the chip does
// two at once are the same.
// PACKED-LABEL: llvm.func @half(
// PACKED: arith.mulf %{{.*}} : vector<2xbf16>
// PACKED: arith.subf %{{.*}} : vector<2xf16>
// PAIRS-LABEL: llvm.func @half(
// PAIRS: arith.mulf %{{.*}} : vector<2xf32>
// PAIRS: arith.subf %{{.*}} : vector<2xf16>
// CHECK-LABEL: llvm.func @half(
tile.kernel @half(%x: bf16, %y: f16) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : bf16 -> tensor<128xbf16, #l>
  // CHECK: %[[A:.*]] = arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
  // CHECK: %[[B:.*]] = arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : vector<2xf32>
  // CHECK: arith.truncf %[[P]] : vector<2xf32> to vector<2xbf16>
  %p = arith.mulf %t, %t : tensor<128xbf16, #l>
  // A sign is a bit.
  // CHECK: arith.negf %{{.*}} : vector<2xbf16>
  %n = arith.negf %p : tensor<128xbf16, #l>
  // CHECK: arith.subf %{{.*}} : vector<2xf32>
  %u = tile.splat %y : f16 -> tensor<128xf16, #l>
  %v = arith.subf %u, %u : tensor<128xf16, #l>
  // CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
  %q = arith.cmpf oeq, %y, %y : f16
  tile.return
}

// minnum and maxnum are spelled out: the order of zeros is the language's.
// CHECK-LABEL: llvm.func @minnum(
tile.kernel @minnum(%x: f32, %y: f32) attributes {num_warps = 2 : i32} {
  // CHECK: %[[MIN:.*]] = arith.minimumf %[[X:.*]], %[[Y:.*]] : f32
  // CHECK: %[[YNAN:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
  // CHECK: %[[R:.*]] = arith.select %[[YNAN]], %[[X]], %[[MIN]]
  // CHECK: %[[XNAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: arith.select %[[XNAN]], %[[Y]], %[[R]]
  %m = arith.minnumf %x, %y : f32
  tile.return
}

// f8 is held as bits, tf32 as a rounded f32; math has no index.
// CHECK-LABEL: llvm.func @held(
tile.kernel @held(%n: index) attributes {num_warps = 2 : i32} {
  // CHECK: arith.constant dense<56> : vector<2xi8>
  %c = arith.constant dense<1.0> : tensor<128xf8E4M3FN, #l>
  // CHECK: arith.constant dense<1.000000e+00> : vector<2xf32>
  %t = arith.constant dense<1.0> : tensor<128xtf32, #l>
  // CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : index to i64
  // CHECK: math.ctpop %[[I]] : i64
  %p = math.ctpop %n : index
  tile.return
}

// Divisors of zero and amounts of a shift that leave the width never reach LLVM.
// CHECK-LABEL: llvm.func @guards(
tile.kernel @guards(%a: i32, %b: i32) attributes {num_warps = 2 : i32} {
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B:.*]], %c0_i32{{.*}} : i32
  // CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[B]], %c-1_i32{{.*}} : i32
  // CHECK: %[[BAD:.*]] = arith.ori %[[ZERO]], %[[MINUS]] : i1
  // CHECK: %[[SAFE:.*]] = arith.select %[[BAD]], %{{.*}}, %[[B]] : i32
  // CHECK: arith.divsi %{{.*}}, %[[SAFE]]
  // CHECK: arith.select %[[ZERO]], %{{.*}} : i32
  %q = tile.divide trunc signed %a, %b : i32
  // CHECK: %[[IN:.*]] = arith.cmpi ule, %[[N:.*]], %{{.*}} : i32
  // CHECK: %[[N2:.*]] = arith.select %[[IN]], %[[N]], %{{.*}} : i32
  // CHECK: %[[S:.*]] = arith.shli %{{.*}}, %[[N2]]
  // CHECK: arith.select %[[IN]], %[[S]], %{{.*}} : i32
  %s = tile.shift left %a, %b : i32
  // A harmless constant needs no guard.
  // CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
  // CHECK-NEXT: arith.divsi %{{.*}}, %[[SEVEN]]
  %c7 = arith.constant 7 : i32
  %r = tile.divide trunc signed %a, %c7 : i32
  tile.return
}

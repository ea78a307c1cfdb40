// RUN: tile-opt %s --tile-lower-to-simt --canonicalize --cse | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt=chip=sm_90a --canonicalize --cse | FileCheck %s --check-prefix=HOPPER
// Atomics: one instruction an element, done once; old values reach all copies.

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (32)]>
#four = #tile.layout<[4] lane [(1), (2), (0), (0), (0)]>

// CHECK-LABEL: llvm.func @unused(
// CHECK: scf.if
// CHECK-NEXT: llvm.call @tilec.red.add.relaxed.gpu.f32(%{{.*}}, %{{.*}}) : (!llvm.ptr<1>, f32) -> ()
// CHECK: llvm.call @tilec.atom.exch.release.sys.b32
tile.kernel @unused(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) attributes {num_warps = 1 : i32} {
  %x = tile.splat %i : i32 -> tensor<64xi32, #l>
  %t = tile.splat %v : f32 -> tensor<64xf32, #l>
  %0 = tile.atomic add %a[%x] value(%t : tensor<64xf32, #l>) : !tile.array<?xf32, mut>, [tensor<64xi32, #l>] -> tensor<64xf32, #l>
  %1 = tile.atomic xchg %a[%x] value(%t : tensor<64xf32, #l>) order(release) scope(sys) : !tile.array<?xf32, mut>, [tensor<64xi32, #l>] -> tensor<64xf32, #l>
  tile.return
}

// Eight lanes hold each element; the first does the work and hands the old value on.
// CHECK-LABEL: llvm.func @used(
// CHECK: %[[OLD:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: %[[R:.*]] = llvm.call @tilec.atom.max.acquire.block.u32
// CHECK-NEXT: scf.yield %[[R]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %c0_i32
// CHECK: %[[GIVER:.*]] = arith.andi %{{.*}}, %c3_i32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %[[OLD]], %[[GIVER]],
tile.kernel @used(%a: !tile.array<?xi32, mut>, %c: !tile.array<?xi32, mut>, %i: i32) attributes {num_warps = 1 : i32} {
  %z = arith.constant 0 : index
  %x = tile.splat %i : i32 -> tensor<4xi32, #four>
  %0 = tile.atomic max %a[%x] value(%x : tensor<4xi32, #four>) order(acquire) scope(block) unsigned in_bounds [true] : !tile.array<?xi32, mut>, [tensor<4xi32, #four>] -> tensor<4xi32, #four>
  tile.store %c[%z], %0 in_bounds [true] : !tile.array<?xi32, mut>, tensor<4xi32, #four>
  tile.return
}

// The largest float: look, and swap only what changes.
// CHECK-LABEL: llvm.func @extreme(
// CHECK: %[[START:.*]] = llvm.load %{{.*}} atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: scf.while (%[[SEEN:.*]] = %[[START]]) : (i32) -> i32 {
// CHECK: arith.maximumf
// CHECK: scf.if
// CHECK: llvm.cmpxchg %{{.*}}, %[[SEEN]], %{{.*}} syncscope("device") monotonic monotonic
tile.kernel @extreme(%a: !tile.array<?xf32, mut>, %v: f32) attributes {num_warps = 1 : i32} {
  %z = arith.constant 0 : index
  %0 = tile.atomic max %a[%z] value(%v : f32) in_bounds [true] : !tile.array<?xf32, mut>, [index] -> f32
  tile.return
}

// bf16 has an instruction from sm_90 on; so have runs of floats.
// CHECK-LABEL: llvm.func @halves(
// CHECK: llvm.call @tilec.atom.cas.relaxed.gpu.b16
// CHECK: llvm.call @tilec.red.add.relaxed.gpu.f16x2
// HOPPER-LABEL: llvm.func @halves(
// HOPPER: llvm.call @tilec.red.add.relaxed.gpu.bf16x2(%{{.*}}) : (!llvm.ptr<1>, i32) -> ()
// HOPPER: llvm.call @tilec.red.add.relaxed.gpu.f16x2
// HOPPER: llvm.call @tilec.red.add.relaxed.gpu.v2.f32(%{{.*}}) : (!llvm.ptr<1>, f32, f32) -> ()
tile.kernel @halves(%a: !tile.array<?xbf16, mut>, %b: !tile.array<?xf16, mut>, %c: !tile.array<?xf32, mut>, %i: i32) attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  %x = tile.splat %i : i32 -> tensor<64xi32, #l>
  %s = arith.constant dense<1.0> : tensor<64xbf16, #l>
  %t = arith.constant dense<1.0> : tensor<64xf16, #l>
  %u = arith.constant dense<1.0> : tensor<64xf32, #l>
  %0 = tile.atomic add %a[%x] value(%s : tensor<64xbf16, #l>) run [0, 2] : !tile.array<?xbf16, mut>, [tensor<64xi32, #l>] -> tensor<64xbf16, #l>
  %1 = tile.atomic add %b[%x] value(%t : tensor<64xf16, #l>) run [0, 2] : !tile.array<?xf16, mut>, [tensor<64xi32, #l>] -> tensor<64xf16, #l>
  %2 = tile.atomic add %c[%x] value(%u : tensor<64xf32, #l>) run [0, 2] : !tile.array<?xf32, mut>, [tensor<64xi32, #l>] -> tensor<64xf32, #l>
  tile.return
}

// CHECK-LABEL: llvm.func @flags(
// CHECK: llvm.load %{{.*}} atomic acquire {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.store %{{.*}} atomic syncscope("block") release {alignment = 8 : i64} : i64
// CHECK: llvm.cmpxchg %{{.*}} syncscope("device") acq_rel acquire
tile.kernel @flags(%a: !tile.array<?xf64, mut>, %v: f64) attributes {num_warps = 1 : i32} {
  %z = arith.constant 0 : index
  %0 = tile.atomic load %a[%z] order(acquire) scope(sys) in_bounds [true] : !tile.array<?xf64, mut>, [index] -> f64
  tile.atomic store %a[%z] value(%v : f64) order(release) scope(block) in_bounds [true] : !tile.array<?xf64, mut>, [index]
  %1 = tile.atomic cas %a[%z] expected(%0 : f64) value(%v : f64) order(acq_rel) in_bounds [true] : !tile.array<?xf64, mut>, [index] -> f64
  tile.return
}

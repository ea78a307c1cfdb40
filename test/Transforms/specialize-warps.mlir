// RUN: tile-opt %s --tile-specialize-warps=chip=sm_90a --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tile-opt %s --tile-specialize-warps=chip=sm_90a --split-input-file --remarks-filter=specialize-warps --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-specialize-warps=chip=sm_90 --split-input-file --remarks-filter=specialize-warps --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: tile-opt %s --tile-specialize-warps=chip=sm_90 --split-input-file | FileCheck %s --check-prefix=OTHER
// The access part has the pushes and what they need; the execute part the rest.

// OTHER-NOT: tgpu.specialize

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#t = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0), (0, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>

// REMARK: [Passed] {{.*}}Remark="copies have a warp of their own, beside 4 that compute"
// SHARED: [Missed] {{.*}}Remark="the warps that compute also copy: the chip does not let warps share out registers"
// A loop-carried scalar that a push needs goes to both; the sum to one.
// CHECK-LABEL: tile.kernel @carried
// CHECK-SAME: tgpu.access_warps = 4
// CHECK: tgpu.ring
// CHECK-NEXT: tgpu.specialize registers [40, 232] access {
// CHECK:   scf.for {{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (index) {
// CHECK:     tgpu.push
// CHECK:       tgpu.copy %{{.*}}[%[[AT]], %{{.*}}] order [0, 1] to 0
// CHECK:     %[[NEXT:.*]] = arith.addi %[[AT]]
// CHECK-NOT: tgpu.pop
// CHECK:     scf.yield %[[NEXT]]
// CHECK: } execute {
// CHECK:   scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (index, tensor
// CHECK-NOT: tgpu.push
// CHECK:     tgpu.pop
// CHECK:     tgpu.release
// CHECK:   tile.store
tile.kernel @carried(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<8x4xf32, #t>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c0, %s = %z) -> (index, tensor<8x4xf32, #t>) {
    tgpu.push %ring : !ring {
      tgpu.copy %x[%at, %k] order [0, 1] to 0 : !tile.array<?x?xf32>
    }
    %b = tgpu.pop %ring : !ring -> !tgpu.buffer<8x4xf32, #a>
    %t = tgpu.load %b : !tgpu.buffer<8x4xf32, #a>, tensor<8x4xf32, #t>
    %u = arith.addf %s, %t : tensor<8x4xf32, #t>
    tgpu.release %ring : !ring
    %next = arith.addi %at, %n : index
    scf.yield %next, %u : index, tensor<8x4xf32, #t>
  }
  tile.store %y[%c0, %c0], %r#1 : !tile.array<?x?xf32, mut>, tensor<8x4xf32, #t>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#t = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>

// Branches and while loops around a push are part of both; an element of an array that
// nobody writes may say where to copy from.
// CHECK-LABEL: tile.kernel @branches
// CHECK-SAME: tgpu.access_warps = 1
// CHECK: tgpu.specialize access {
// CHECK:   tile.load %{{.*}} elements
// CHECK:   scf.while
// CHECK:   scf.if
// CHECK:     tgpu.push
// CHECK: } execute {
tile.kernel @branches(%x: !tile.array<?x?xf32>, %p: !tile.array<?xindex>, %y: !tile.array<?x?xf32, mut>, %n: index, %c: i1) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.load %p[%c0] elements : !tile.array<?xindex> -> index
  %w = scf.while (%i = %e) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    scf.if %c {
      tgpu.push %ring : !ring {
        tgpu.copy %x[%i, %c0] order [0, 1] to 0 : !tile.array<?x?xf32>
      }
      %b = tgpu.pop %ring : !ring -> !tgpu.buffer<8x4xf32, #a>
      %t = tgpu.load %b : !tgpu.buffer<8x4xf32, #a>, tensor<8x4xf32, #t>
      tile.store %y[%i, %c0], %t : !tile.array<?x?xf32, mut>, tensor<8x4xf32, #t>
      tgpu.release %ring : !ring
    }
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#t = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>

// Of what a `while` carries, the access part has what the copies and the test need.
// CHECK-LABEL: tile.kernel @carried
// CHECK: tgpu.specialize access {
// CHECK:   scf.while (%[[I:.*]] = %c0{{.*}}) : (index) -> index {
// CHECK:     scf.condition(%{{.*}}) %[[I]] : index
// CHECK:   ^bb0(%[[K:.*]]: index):
// CHECK-NEXT: tgpu.push
// CHECK:     scf.yield %{{.*}} : index
// CHECK: } execute {
// CHECK:   scf.while {{.*}} : (tensor<8x4xf32, #{{.*}}>, index) -> (index, tensor<8x4xf32, #{{.*}}>)
tile.kernel @carried(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x4xf32, #t>
  %w:2 = scf.while (%s = %zero, %i = %c0) : (tensor<8x4xf32, #t>, index) -> (index, tensor<8x4xf32, #t>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %s : index, tensor<8x4xf32, #t>
  } do {
  ^bb0(%i: index, %s: tensor<8x4xf32, #t>):
    tgpu.push %ring : !ring {
      tgpu.copy %x[%i, %c0] order [0, 1] to 0 : !tile.array<?x?xf32>
    }
    %b = tgpu.pop %ring : !ring -> !tgpu.buffer<8x4xf32, #a>
    %t = tgpu.load %b : !tgpu.buffer<8x4xf32, #a>, tensor<8x4xf32, #t>
    %sum = arith.addf %s, %t : tensor<8x4xf32, #t>
    tgpu.release %ring : !ring
    %next = arith.addi %i, %c1 : index
    scf.yield %sum, %next : tensor<8x4xf32, #t>, index
  }
  tile.store %y[%c0, %c0], %w#1 : !tile.array<?x?xf32, mut>, tensor<8x4xf32, #t>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#t = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>

// What the kernel itself computes with tiles is not there for one thread ahead of it.
// CHECK-LABEL: tile.kernel @dependent
// CHECK-NOT: tgpu.specialize
tile.kernel @dependent(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    // REMARK: :[[# @LINE + 1]]:{{.*}} [Missed] {{.*}}Remark="the warps that compute also copy: where they copy from depends on this, which one thread cannot compute"
    %e = tile.load %y[%k, %c0] elements : !tile.array<?x?xf32, mut> -> f32
    %at = arith.fptosi %e : f32 to i64
    %i = arith.index_cast %at : i64 to index
    tgpu.push %ring : !ring {
      tgpu.copy %x[%i, %k] order [0, 1] to 0 : !tile.array<?x?xf32>
    }
    %b = tgpu.pop %ring : !ring -> !tgpu.buffer<8x4xf32, #a>
    %t = tgpu.load %b : !tgpu.buffer<8x4xf32, #a>, tensor<8x4xf32, #t>
    tile.store %y[%k, %c0], %t : !tile.array<?x?xf32, mut>, tensor<8x4xf32, #t>
    tgpu.release %ring : !ring
  }
  tile.return
}

// -----

#a = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#b = #tile.layout<[64, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (0, 64)]>
#s = #tile.layout<[128, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<128x64xbf16, #a>, !tgpu.buffer<64x128xbf16, #b>]>

// Three sums of 64 registers leave the part that computes few others.
// CHECK-LABEL: tile.kernel @sums
// CHECK: tgpu.specialize registers [24, 240] access {
// REMARK: [Passed] {{.*}}Remark="copies have 4 warps of their own, beside 8 that compute (24 and 240 registers a thread)"
tile.kernel @sums(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 8 : i32} {
  %ring = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #s>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z, %t = %z, %u = %z) -> (tensor<128x128xf32, #s>, tensor<128x128xf32, #s>, tensor<128x128xf32, #s>) {
    tgpu.push %ring : !ring {
      tgpu.copy %x[%c0, %k] order [0, 1] to 0 : !tile.array<?x?xbf16>
      tgpu.copy %y[%k, %c0] order [0, 1] to 1 : !tile.array<?x?xbf16>
    }
    %a, %b = tgpu.pop %ring : !ring -> !tgpu.buffer<128x64xbf16, #a>, !tgpu.buffer<64x128xbf16, #b>
    %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<128x64xbf16, #a>, !tgpu.buffer<64x128xbf16, #b>, tensor<128x128xf32, #s>
    %q = tgpu.mma %a, %b, %t {atom = "wgmma"} : !tgpu.buffer<128x64xbf16, #a>, !tgpu.buffer<64x128xbf16, #b>, tensor<128x128xf32, #s>
    %o = tgpu.mma %a, %b, %u {atom = "wgmma"} : !tgpu.buffer<128x64xbf16, #a>, !tgpu.buffer<64x128xbf16, #b>, tensor<128x128xf32, #s>
    %w:3 = tgpu.mma_wait %p, %q, %o pending 0 : (tensor<128x128xf32, #s>, tensor<128x128xf32, #s>, tensor<128x128xf32, #s>) -> (tensor<128x128xf32, #s>, tensor<128x128xf32, #s>, tensor<128x128xf32, #s>)
    tgpu.release %ring : !ring
    scf.yield %w#0, %w#1, %w#2 : tensor<128x128xf32, #s>, tensor<128x128xf32, #s>, tensor<128x128xf32, #s>
  }
  tile.return
}

// RUN: tile-opt %s --tile-schedule-async-mma | FileCheck %s
// RUN: tile-opt %s --tile-schedule-async-mma --remarks-filter=schedule-async-mma --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The second product of a loop, which takes what is computed from the first, is done one
// iteration later, beside that computation.

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
#v = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
!kbuf = !tgpu.buffer<64x64xbf16, #k>
!vbuf = !tgpu.buffer<64x64xbf16, #v>
!kring = !tgpu.ring<2x[!kbuf]>
!vring = !tgpu.ring<2x[!vbuf]>
!s = tensor<64x64xf32, #acc>
!p = tensor<64x64xbf16, #acc>

// CHECK-LABEL: tile.kernel @skewed
// CHECK: %[[WORK:.*]] = arith.cmpi slt, %[[LB:.*]], %[[UB:.*]] : index
// CHECK: scf.if %[[WORK]]
// The first iteration has no tail.
// CHECK:   tgpu.pop %[[KEYS:[a-z0-9]+]]
// CHECK:   %[[S0:.*]] = tgpu.mma
// CHECK:   tgpu.mma_wait %[[S0]] pending 0
// CHECK:   tgpu.release %[[KEYS]]
// CHECK:   %[[P0:.*]] = arith.truncf
// CHECK:   %[[A0:.*]] = arith.mulf
// CHECK-NOT: tgpu.mma
// CHECK:   %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[P0]], %[[A:.*]] = %[[A0]])
// CHECK:     tgpu.pop %[[KEYS]]
// CHECK:     %[[S:.*]] = tgpu.mma
// CHECK:     %[[V:.*]] = tgpu.pop %[[VALUES:[a-z0-9]+]]
// CHECK:     %[[O:.*]] = tgpu.mma %[[P]], %[[V]], %[[A]]
// CHECK:     tgpu.mma_wait %[[S]] pending 1
// CHECK:     tgpu.release %[[KEYS]]
// CHECK:     %[[NEXT:.*]] = arith.truncf
// CHECK:     %[[SUM:.*]] = tgpu.mma_wait %[[O]] pending 0
// CHECK:     tgpu.release %[[VALUES]]
// CHECK:     %[[ACC:.*]] = arith.mulf %[[SUM]]
// CHECK:     scf.yield %[[NEXT]], %[[ACC]]
// The last tail.
// CHECK:   tgpu.pop %[[VALUES]]
// CHECK:   %[[LAST:.*]] = tgpu.mma %[[LOOP]]#0, %{{.*}}, %[[LOOP]]#1
// CHECK:   %[[RESULT:.*]] = tgpu.mma_wait %[[LAST]] pending 0
// CHECK:   tgpu.release %[[VALUES]]
// CHECK:   scf.yield %[[RESULT]]
// REMARK: [Passed] {{.*}}Function=skewed {{.*}}Remark="runs an iteration late, beside what is computed for the next"
tile.kernel @skewed(%y: !tile.array<?x?xf32, mut>, %n: index, %c: f32) attributes {num_warps = 4 : i32} {
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %f = tile.splat %c : f32 -> !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %b = tgpu.pop %keys : !kring -> !kbuf
    %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    tgpu.release %keys : !kring
    %e = arith.mulf %w, %f : !s
    %p = arith.truncf %e : !s to !p
    %a = arith.mulf %acc, %f : !s
    %v = tgpu.pop %values : !vring -> !vbuf
    %o = tgpu.mma %p, %v, %a {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    scf.yield %x : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Two warp groups with a part of their own take turns: one issues its products while the
// other computes. The last tail is nobody's turn.
// CHECK-LABEL: tile.kernel @turns
// CHECK: } execute {
// CHECK:   tgpu.pop
// CHECK-NEXT: tgpu.take_turn
// CHECK-NEXT: tgpu.mma
// CHECK-NEXT: tgpu.mma_wait
// CHECK-NEXT: tgpu.pass_turn
// CHECK:   scf.for
// CHECK:     tgpu.pop
// CHECK-NEXT: tgpu.take_turn
// CHECK-NEXT: tgpu.mma
// CHECK-NEXT: tgpu.pop
// CHECK-NEXT: tgpu.mma
// CHECK-NEXT: tgpu.mma_wait %{{.*}} pending 1
// CHECK-NEXT: tgpu.pass_turn
// CHECK:     tgpu.mma_wait %{{.*}} pending 0 {tgpu.late}
// CHECK-NOT: tgpu.take_turn
// CHECK-NOT: tgpu.late
tile.kernel @turns(%y: !tile.array<?x?xf32, mut>, %n: index, %c: f32) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %f = tile.splat %c : f32 -> !s
  tgpu.specialize access {
    %unused = arith.constant 0 : i32
  } execute {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %p = arith.truncf %w : !s to !p
      %a = arith.mulf %acc, %f : !s
      %v = tgpu.pop %values : !vring -> !vbuf
      %o = tgpu.mma %p, %v, %a {atom = "wgmma"} : !p, !vbuf, !s
      %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
      tgpu.release %values : !vring
      scf.yield %x : !s
    }
    tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  }
  tile.return
}

// What else reads the carried sum needs it at once: the loop stays.
// CHECK-LABEL: tile.kernel @observed
// CHECK-NOT: pending 1
// REMARK: [Missed] {{.*}}Function=observed {{.*}}Remark="the product is waited for at once: the products of the loop are neither sums of their own nor one over what the other gives"
tile.kernel @observed(%y: !tile.array<?x?xf32, mut>, %n: index, %c: f32) attributes {num_warps = 4 : i32} {
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %b = tgpu.pop %keys : !kring -> !kbuf
    %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    tgpu.release %keys : !kring
    tile.store %y[%j, %c0], %acc : !tile.array<?x?xf32, mut>, !s
    %p = arith.truncf %w : !s to !p
    %v = tgpu.pop %values : !vring -> !vbuf
    %o = tgpu.mma %p, %v, %acc {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    scf.yield %x : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Products that only add up: one is in flight, and releases come one iteration late.
// CHECK-LABEL: tile.kernel @sum
// CHECK: %[[SUM:.*]] = scf.for %[[J:[a-z0-9]+]] = %[[FIRST:[a-z0-9]+]] to %[[END:[a-z0-9]+]] step
// CHECK:   %[[R:.*]] = tgpu.mma
// CHECK:   tgpu.mma_wait pending 1
// CHECK:   %[[LATER:.*]] = arith.cmpi ne, %[[J]], %[[FIRST]]
// CHECK:   scf.if %[[LATER]] {
// CHECK:     tgpu.release
// CHECK:   scf.yield %[[R]]
// CHECK: tgpu.mma_wait %[[SUM]] pending 0
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FIRST]], %[[END]]
// CHECK: scf.if %[[ANY]] {
// CHECK:   tgpu.release
// REMARK: [Passed] {{.*}}Function=sum {{.*}}Remark="the product stays in flight while that of the next iteration is issued"
tile.kernel @sum(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %values = tgpu.ring copy "tma" : !vring
  %q = arith.constant dense<1.0> : !p
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %v = tgpu.pop %values : !vring -> !vbuf
    %o = tgpu.mma %q, %v, %acc {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    scf.yield %x : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// A ring with one place: the next product waits for it.
// CHECK-LABEL: tile.kernel @single
// CHECK-NOT: pending 1
// CHECK: tile.return
// REMARK: [Missed] {{.*}}Function=single {{.*}}Remark="the product is waited for at once: its ring has one place"
tile.kernel @single(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %values = tgpu.ring copy "tma" : !tgpu.ring<1x[!vbuf]>
  %q = arith.constant dense<1.0> : !p
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %v = tgpu.pop %values : !tgpu.ring<1x[!vbuf]> -> !vbuf
    %o = tgpu.mma %q, %v, %acc {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %values : !tgpu.ring<1x[!vbuf]>
    scf.yield %x : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Two sums, the second of two products one after the other: all three are in flight.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:   %[[V:.*]]:2 = tgpu.pop
// CHECK:   %[[X:.*]] = tgpu.mma %{{.*}}, %[[V]]#0, %[[A]]
// CHECK:   %[[Y:.*]] = tgpu.mma %{{.*}}, %[[V]]#1, %[[B]]
// CHECK:   %[[Z:.*]] = tgpu.mma %{{.*}}, %[[V]]#0, %[[Y]]
// CHECK:   tgpu.mma_wait pending 3
// CHECK:   scf.if
// CHECK:     tgpu.release
// CHECK:   scf.yield %[[X]], %[[Z]]
// CHECK: tgpu.mma_wait %[[SUMS]]#0, %[[SUMS]]#1 pending 0
tile.kernel @sums(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !tgpu.ring<2x[!vbuf, !vbuf]>
  %q = arith.constant dense<1.0> : !p
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z, %b = %z) -> (!s, !s) {
    %v:2 = tgpu.pop %ring : !tgpu.ring<2x[!vbuf, !vbuf]> -> !vbuf, !vbuf
    %o = tgpu.mma %q, %v#0, %a {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    %t = tgpu.mma %q, %v#1, %b {atom = "wgmma"} : !p, !vbuf, !s
    %u = tgpu.mma_wait %t pending 0 : (!s) -> !s
    %f = tgpu.mma %q, %v#0, %u {atom = "wgmma"} : !p, !vbuf, !s
    %g = tgpu.mma_wait %f pending 0 : (!s) -> !s
    tgpu.release %ring : !tgpu.ring<2x[!vbuf, !vbuf]>
    scf.yield %x, %g : !s, !s
  }
  tile.store %y[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, !s
  tile.store %y[%c1, %c0], %r#1 : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Sums that change places between iterations are waited for: registers would be moved.
// CHECK-LABEL: tile.kernel @swapped
// CHECK-NOT: tgpu.mma_wait pending
// CHECK: tile.return
tile.kernel @swapped(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !vring
  %q = arith.constant dense<1.0> : !p
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z, %b = %z) -> (!s, !s) {
    %v = tgpu.pop %ring : !vring -> !vbuf
    %o = tgpu.mma %q, %v, %a {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    %t = tgpu.mma %q, %v, %b {atom = "wgmma"} : !p, !vbuf, !s
    %u = tgpu.mma_wait %t pending 0 : (!s) -> !s
    tgpu.release %ring : !vring
    scf.yield %u, %x : !s, !s
  }
  tile.store %y[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, !s
  tile.store %y[%c1, %c0], %r#1 : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// Products that do not need each other run together: both are issued, the first is waited
// for before what needs it, the second, with the release behind it, after that.
// CHECK-LABEL: tile.kernel @independent
// CHECK: scf.for
// CHECK:   %[[S:.*]] = tgpu.mma
// CHECK:   %[[D:.*]] = tgpu.mma
// CHECK:   %[[P:.*]] = tgpu.mma_wait %[[S]] pending 1
// CHECK:   %[[E:.*]] = math.exp2 %[[P]]
// CHECK:   %[[Q:.*]] = tgpu.mma_wait %[[D]] pending 0
// CHECK:   tgpu.release
// CHECK:   arith.mulf %[[E]], %[[Q]]
// CHECK:   tgpu.mma
// REMARK: [Passed] {{.*}}Function=independent {{.*}}Remark="products that do not need each other are issued together"
tile.kernel @independent(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %b = tgpu.pop %keys : !kring -> !kbuf
    %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    %v = tgpu.pop %values : !vring -> !vbuf
    %d = tgpu.mma %q, %v, %z {atom = "wgmma"} : !vbuf, !vbuf, !s
    %x = tgpu.mma_wait %d pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    %e = math.exp2 %w : !s
    %m = arith.mulf %e, %x : !s
    %p = arith.truncf %m : !s to !p
    %o = tgpu.mma %p, %b, %acc {atom = "wgmma"} : !p, !kbuf, !s
    %g = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %keys : !kring
    scf.yield %g : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

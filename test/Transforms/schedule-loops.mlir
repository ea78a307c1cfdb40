// RUN: tile-opt %s --tile-schedule-loops | FileCheck %s
// RUN: tile-opt %s --tile-schedule-loops --remarks-filter=schedule-loops --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Pushes run ahead by the ring's places less one; what cannot be known ahead stays.

#a = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 0), (4, 0), (8, 0)]>
!buffer = !tgpu.buffer<16x32xbf16, #a>

// CHECK-LABEL: tile.kernel @ahead(
// REMARK: [Passed] {{.*}}Function=ahead {{.*}}Remark="copies of `arg0` run 2 iterations ahead"
tile.kernel @ahead(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[RING:.*]] = tgpu.ring
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // Two places are filled before the loop, where it has so many iterations.
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %c0, %[[N:.*]] : index
  // CHECK: scf.if %[[ANY]] {
  // CHECK: tgpu.push %[[RING]]
  // CHECK: %[[SAME:.*]] = arith.cmpi slt, %c0, %[[N]] : index
  // CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %c0
  // CHECK: %[[MORE:.*]] = arith.cmpi ugt, %[[LEFT]], %c2{{.*}} : index
  // CHECK: %[[BOTH:.*]] = arith.andi %[[SAME]], %[[MORE]]
  // CHECK: scf.if %[[BOTH]] {
  // CHECK: %[[K:.*]] = arith.addi %c0, %c2{{.*}} : index
  // CHECK: %[[ROW:.*]] = arith.muli %[[K]], %c2
  // CHECK: tgpu.copy %{{.*}}[%[[ROW]], %[[K]]]
  // CHECK-NOT: tgpu.push
  // CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c2
  // CHECK-NEXT: tgpu.pop %[[RING]] {tgpu.pending = 1 : i64}
  // CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[I]]
  // CHECK: %[[FAR:.*]] = arith.constant 4 : index
  // CHECK: arith.cmpi ugt, %[[REST]], %[[FAR]]
  // CHECK: scf.if
  // CHECK: arith.addi %[[I]]
  // CHECK: tgpu.push %[[RING]]
  // CHECK: tgpu.release %[[RING]]
  scf.for %i = %c0 to %n step %c2 {
    %row = arith.muli %i, %c2 : index
    tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
      tgpu.copy %x[%row, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<3x[!buffer]>
  }
  tile.return
}

// The place is carried by the loop.
// CHECK-LABEL: tile.kernel @carried(
// REMARK: [Missed] {{.*}}Function=carried {{.*}}Remark="copies of `arg0` do not run ahead: what they copy depends on more than numbers that grow by a constant each iteration"
tile.kernel @carried(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // CHECK: scf.for
  // CHECK-NEXT: tgpu.push
  // CHECK: tgpu.pop
  // CHECK-NOT: tgpu.push
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%j = %c0) -> (index) {
    tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
      tgpu.copy %x[%c0, %j] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<3x[!buffer]>
    %next = arith.muli %j, %n : index
    scf.yield %next : index
  }
  tile.return
}

// What is copied in some iterations only.
// CHECK-LABEL: tile.kernel @some(
// REMARK: [Missed] {{.*}}Function=some {{.*}}Remark="copies of `arg0` do not run ahead: they are made under a condition"
tile.kernel @some(%x: !tile.array<?x?xbf16>, %n: index, %c: i1) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // CHECK: scf.for
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tgpu.push
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
        tgpu.copy %x[%c0, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
      }
      %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
      tgpu.release %ring : !tgpu.ring<3x[!buffer]>
    }
  }
  tile.return
}

// One place: nothing to run ahead with.
// CHECK-LABEL: tile.kernel @one(
tile.kernel @one(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<1x[!buffer]>
  // CHECK: scf.for
  // CHECK-NEXT: tgpu.push
  scf.for %i = %c0 to %n step %c1 {
    tgpu.push %ring : !tgpu.ring<1x[!buffer]> {
      tgpu.copy %x[%c0, %i] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<1x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<1x[!buffer]>
  }
  tile.return
}

// A number that grows beside the loop's variable.
// CHECK-LABEL: tile.kernel @two_numbers(
// REMARK: [Passed] {{.*}}Function=two_numbers {{.*}}Remark="copies of `arg0` run 2 iterations ahead"
tile.kernel @two_numbers(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // CHECK: scf.for %[[I:.*]] = %c0 to {{.*}} iter_args(%[[J:.*]] = %c5)
  // CHECK-NEXT: tgpu.pop
  // CHECK: scf.if
  // CHECK-DAG: %[[TEN:.*]] = arith.constant 10 : index
  // CHECK-DAG: %[[J2:.*]] = arith.addi %[[J]], %[[TEN]]
  // CHECK-DAG: %[[I2:.*]] = arith.addi %[[I]], %c2{{.*}}
  // CHECK: tgpu.copy %{{.*}}[%[[I2]], %[[J2]]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%j = %c5) -> (index) {
    tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
      tgpu.copy %x[%i, %j] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<3x[!buffer]>
    %next = arith.addi %c5, %j : index
    scf.yield %next : index
  }
  tile.return
}

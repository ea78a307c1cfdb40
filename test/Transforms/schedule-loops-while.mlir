// RUN: tile-opt %s --tile-schedule-loops | FileCheck %s
// RUN: tile-opt %s --tile-schedule-loops --remarks-filter=schedule-loops --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// In a `while` pushes run ahead without knowing what comes, and what nobody took is popped.

#a = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 0), (4, 0), (8, 0)]>
!buffer = !tgpu.buffer<16x32xbf16, #a>

// CHECK-LABEL: tile.kernel @ahead(
// REMARK: [Passed] {{.*}}Function=ahead {{.*}}Remark="copies of `arg0` run 2 iterations ahead, whether or not those come"
tile.kernel @ahead(%x: !tile.array<?x?xbf16>, %n: index, %s: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %no = arith.constant false
  // CHECK: %[[RING:.*]] = tgpu.ring
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // CHECK-NOT: scf.if
  // CHECK: %[[FIRST:.*]] = arith.addi %[[S:arg2]], %c0{{.*}}
  // CHECK: tgpu.push %[[RING]]
  // CHECK-NEXT: tgpu.copy %{{.*}}[%c0, %[[FIRST]]]
  // CHECK: %[[SECOND:.*]] = arith.addi %[[S]], %c3{{.*}}
  // CHECK: tgpu.push %[[RING]]
  // CHECK-NEXT: tgpu.copy %{{.*}}[%c0, %[[SECOND]]]
  // CHECK: scf.while (%{{.*}} = %false, %{{.*}} = %[[S]])
  // The condition swaps what it passes on.
  // CHECK: ^bb0(%[[K:.*]]: index, %{{.*}}: i1):
  // CHECK-NEXT: tgpu.pop %[[RING]] {tgpu.pending = 1 : i64}
  // CHECK: %[[SIX:.*]] = arith.constant 6 : index
  // CHECK: %[[THIRD:.*]] = arith.addi %[[K]], %[[SIX]]
  // CHECK: tgpu.push %[[RING]]
  // CHECK-NEXT: tgpu.copy %{{.*}}[%c0, %[[THIRD]]]
  // CHECK: tgpu.release %[[RING]]
  // CHECK: scf.yield
  // CHECK: tgpu.pop %[[RING]] {tgpu.pending = 0 : i64}
  // CHECK-NEXT: tgpu.release
  // CHECK-NEXT: tgpu.pop %[[RING]] {tgpu.pending = 0 : i64}
  // CHECK-NEXT: tgpu.release
  // CHECK-NEXT: tile.return
  %r:2 = scf.while (%left = %no, %k = %s) : (i1, index) -> (index, i1) {
    %more = arith.cmpi slt, %k, %n : index
    scf.condition(%more) %k, %left : index, i1
  } do {
  ^bb0(%k: index, %left: i1):
    tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
      tgpu.copy %x[%c0, %k] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<3x[!buffer]>
    %next = arith.addi %k, %c3 : index
    scf.yield %left, %next : i1, index
  }
  tile.return
}

// What the condition computes is no number that grows.
// CHECK-LABEL: tile.kernel @computed(
// REMARK: [Missed] {{.*}}Function=computed {{.*}}Remark="copies of `arg0` do not run ahead: what they copy depends on more than numbers that grow by a constant each iteration"
tile.kernel @computed(%x: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<3x[!buffer]>
  // CHECK: scf.while
  // CHECK: do
  // CHECK: tgpu.push
  // CHECK: tgpu.pop
  // CHECK-NOT: tgpu.pop
  %r = scf.while (%k = %c0) : (index) -> index {
    %more = arith.cmpi slt, %k, %n : index
    %twice = arith.muli %k, %k : index
    scf.condition(%more) %twice : index
  } do {
  ^bb0(%k: index):
    tgpu.push %ring : !tgpu.ring<3x[!buffer]> {
      tgpu.copy %x[%c0, %k] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<3x[!buffer]> -> !buffer
    tgpu.release %ring : !tgpu.ring<3x[!buffer]>
    %next = arith.addi %k, %c1 : index
    scf.yield %next : index
  }
  tile.return
}

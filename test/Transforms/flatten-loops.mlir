// RUN: tile-opt %s --tile-flatten-loops | FileCheck %s
// RUN: tile-opt %s --tile-flatten-loops --remarks-filter=flatten-loops --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A loop that does nothing but run another, which a ring feeds, becomes one with it.

#t = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#b = #tile.layout<[16, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 0), (8, 0)]>

// Threads copy: they learn from one number where in both loops they are.
// CHECK-LABEL: tile.kernel @threads
// CHECK: %[[COLUMNS:.*]] = arith.maxsi %arg3, %c0
// CHECK: %[[ROWS:.*]] = arith.maxsi %arg2, %c0
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[BY:.*]] = arith.maxsi %[[COLUMNS]], %c1
// CHECK: scf.for %[[Q:.*]] = %{{.*}} to %[[ALL]] step %{{.*}} iter_args(%[[S:.*]] = %{{.*}})
// CHECK:   %[[I:.*]] = arith.divui %[[Q]], %[[BY]]
// CHECK:   %[[J:.*]] = arith.remui %[[Q]], %[[BY]]
// CHECK:   %[[ROW:.*]] = arith.muli %[[I]], %[[I]]
// CHECK:   tgpu.copy %arg0[%[[ROW]], %[[J]]]
// CHECK:   %[[P:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %[[S]]
// CHECK:   scf.yield %[[P]]
// CHECK-NOT: scf.for
// REMARK: [Passed] {{.*}}Function=threads {{.*}}Remark="the loops around the product run as one"
tile.kernel @threads(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index, %m: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<16x16xf32, #t>) {
    %row = arith.muli %i, %i : index
    %q = scf.for %j = %c0 to %m step %c1 iter_args(%u = %s) -> (tensor<16x16xf32, #t>) {
      tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> {
        tgpu.copy %x[%row, %j] order [0, 1] to 0 : !tile.array<?x?xbf16>
      }
      %a = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> -> !tgpu.buffer<16x16xbf16, #b>
      %p = tgpu.mma %a, %a, %u {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #b>, !tgpu.buffer<16x16xbf16, #b>, tensor<16x16xf32, #t>
      tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]>
      scf.yield %p : tensor<16x16xf32, #t>
    }
    scf.yield %q : tensor<16x16xf32, #t>
  }
  tile.store %y[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32, #t>
  tile.return
}

// Others copy: no counter is needed. From 2 on in steps of 3 there are (n - 2) / 3 iterations,
// rounded up; three loops become one.
// CHECK-LABEL: tile.kernel @others
// CHECK: tgpu.specialize
// CHECK: } execute {
// CHECK: %[[END:.*]] = arith.maxsi %arg2, %c2
// CHECK: %[[LONG:.*]] = arith.subi %[[END]], %c2
// CHECK: tile.divide ceil signed %[[LONG]], %c3
// CHECK: scf.for
// CHECK-NOT: divui
// CHECK-NOT: scf.for
// REMARK: [Passed] {{.*}}Function=others {{.*}}Remark="the loops around the product run as one"
tile.kernel @others(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32, tgpu.access_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %ring = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]>
  tgpu.specialize access {
    tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> {
      tgpu.copy %x[%n, %n] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
  } execute {
    %r = scf.for %i = %c2 to %n step %c3 iter_args(%s = %z) -> (tensor<16x16xf32, #t>) {
      %q = scf.for %j = %c0 to %n step %c1 iter_args(%u = %s) -> (tensor<16x16xf32, #t>) {
        %o = scf.for %k = %c0 to %n step %c1 iter_args(%v = %u) -> (tensor<16x16xf32, #t>) {
          %a = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> -> !tgpu.buffer<16x16xbf16, #b>
          %p = tgpu.mma %a, %a, %v {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #b>, !tgpu.buffer<16x16xbf16, #b>, tensor<16x16xf32, #t>
          tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]>
          scf.yield %p : tensor<16x16xf32, #t>
        }
        scf.yield %o : tensor<16x16xf32, #t>
      }
      scf.yield %q : tensor<16x16xf32, #t>
    }
    tile.store %y[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32, #t>
  }
  tile.return
}

// What the inner loop begins with, or how often it runs, is another in each round; or the
// sum is looked at between: two loops.
// CHECK-LABEL: tile.kernel @apart
// CHECK-COUNT-6: scf.for
// REMARK-NOT: Function=apart
tile.kernel @apart(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]>
  %r0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<16x16xf32, #t>) {
    %q = scf.for %j = %c0 to %i step %c1 iter_args(%u = %s) -> (tensor<16x16xf32, #t>) {
      %a = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> -> !tgpu.buffer<16x16xbf16, #b>
      %p = tgpu.mma %a, %a, %u {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #b>, !tgpu.buffer<16x16xbf16, #b>, tensor<16x16xf32, #t>
      scf.yield %p : tensor<16x16xf32, #t>
    }
    scf.yield %q : tensor<16x16xf32, #t>
  }
  %r1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r0) -> (tensor<16x16xf32, #t>) {
    %h = arith.addf %s, %s : tensor<16x16xf32, #t>
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%u = %h) -> (tensor<16x16xf32, #t>) {
      %a = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> -> !tgpu.buffer<16x16xbf16, #b>
      %p = tgpu.mma %a, %a, %u {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #b>, !tgpu.buffer<16x16xbf16, #b>, tensor<16x16xf32, #t>
      scf.yield %p : tensor<16x16xf32, #t>
    }
    scf.yield %q : tensor<16x16xf32, #t>
  }
  %r2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r1) -> (tensor<16x16xf32, #t>) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%u = %s) -> (tensor<16x16xf32, #t>) {
      %a = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #b>]> -> !tgpu.buffer<16x16xbf16, #b>
      %p = tgpu.mma %a, %a, %u {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #b>, !tgpu.buffer<16x16xbf16, #b>, tensor<16x16xf32, #t>
      scf.yield %p : tensor<16x16xf32, #t>
    }
    tile.store %y[%i, %n], %q : !tile.array<?x?xf32, mut>, tensor<16x16xf32, #t>
    scf.yield %q : tensor<16x16xf32, #t>
  }
  tile.store %y[%n, %n], %r2 : !tile.array<?x?xf32, mut>, tensor<16x16xf32, #t>
  tile.return
}

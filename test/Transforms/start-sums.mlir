// RUN: tile-opt %s --tile-start-sums | FileCheck %s
// The first product of a sum leaves the accumulator out, so that nothing clears it.

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#s = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>

// The wait for the last product goes along; where there is no product, the zeros remain.
// CHECK-LABEL: tile.kernel @later
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<64x64xf32
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LOW:.*]], %arg1 : index
// CHECK: %[[R:.*]] = scf.if %[[ANY]] -> (tensor<64x64xf32
// CHECK:   %[[NONE:.*]] = ub.poison : tensor<64x64xf32
// CHECK:   %[[SUM:.*]] = scf.for %[[K:.*]] = %[[LOW]] to %arg1 step %{{.*}} iter_args(%[[ACC:.*]] = %[[NONE]])
// CHECK:     %[[ADDS:.*]] = arith.cmpi ne, %[[K]], %[[LOW]] : index
// CHECK:     tgpu.mma %{{.*}}, %{{.*}}, %[[ACC]] if %[[ADDS]] {atom = "wgmma"}
// CHECK:   %[[DONE:.*]] = tgpu.mma_wait %[[SUM]] pending 0
// CHECK:   scf.yield %[[DONE]]
// CHECK: } else {
// CHECK:   %[[SAME:.*]] = tgpu.mma_wait %[[ZERO]] pending 0
// CHECK:   scf.yield %[[SAME]]
// CHECK: }
// CHECK-NEXT: tile.store %{{.*}}, %[[R]]
tile.kernel @later(%c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %b = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    tgpu.mma_wait pending 1 : () -> ()
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  %w = tgpu.mma_wait %r pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
  tile.store %c[%c0, %c0], %w : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// What is to run beside the last product goes into both arms, in front of the wait.
// CHECK-LABEL: tile.kernel @beside
// CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (tensor<64x64xf32, #{{.*}}>, index) {
// CHECK:   %[[SUM:.*]] = scf.for
// CHECK:   %[[HALF:.*]] = arith.divui %arg1
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[HALF]]
// CHECK-NEXT: %[[DONE:.*]] = tgpu.mma_wait %[[SUM]] pending 0 {tgpu.late}
// CHECK-NEXT: scf.yield %[[DONE]], %[[AT]]
// CHECK: } else {
// CHECK:   %[[HALF:.*]] = arith.divui %arg1
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[HALF]]
// CHECK-NEXT: %[[SAME:.*]] = tgpu.mma_wait %{{.*}} pending 0 :
// CHECK-NEXT: scf.yield %[[SAME]], %[[AT]]
// CHECK: tile.store %{{.*}}[%[[R]]#1, %{{.*}}], %[[R]]#0
tile.kernel @beside(%c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %b = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    tgpu.mma_wait pending 1 : () -> ()
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  %half = arith.divui %n, %c2 : index
  %at = arith.addi %half, %c1 : index
  %w = tgpu.mma_wait %r pending 0 {tgpu.late} : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
  tile.store %c[%at, %c0], %w : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Where the loop waits itself, there is nothing to wait for behind it.
// CHECK-LABEL: tile.kernel @atOnce
// CHECK: scf.if
// CHECK:   scf.for
// CHECK:     %[[P:.*]] = tgpu.mma %{{.*}} if %{{.*}} {atom = "wgmma"}
// CHECK:     tgpu.mma_wait %[[P]] pending 0
// CHECK:   }
// CHECK-NEXT: scf.yield
tile.kernel @atOnce(%c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %b = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    %w = tgpu.mma_wait %p pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
    scf.yield %w : tensor<64x64xf32, #acc>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Left alone: a sum that begins with ones, one that is scaled before it is added to, and
// products of an atom that always reads its accumulator.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: scf.if
// CHECK-NOT: ub.poison
// CHECK: tile.return
tile.kernel @others(%c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %b = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %one, %t = %z, %u = %z) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
    %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    %pw = tgpu.mma_wait %p pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
    %t2 = arith.mulf %t, %t : tensor<64x64xf32, #acc>
    %q = tgpu.mma %a, %b, %t2 {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    %qw = tgpu.mma_wait %q pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
    %v = tgpu.mma %a, %b, %u {atom = "mma_sync"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
    scf.yield %pw, %qw, %v : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  }
  tile.store %c[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.store %c[%c0, %c1], %r#1 : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.store %c[%c1, %c1], %r#2 : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// RUN: tile-opt %s --tile-sink-scalars | FileCheck %s

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#row = #tile.layout<[64] register [(1), (8), (16), (32)] lane [(2), (4), (0), (0), (0)] warp [(0), (0)]>
#s = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>

// What only the code behind the inner loop needs is computed there, in the part of the
// warps that compute; the loop's bound, and what its body needs, stay.

// CHECK-LABEL: tile.kernel @positions
// CHECK: access {
// CHECK:   arith.divui
// CHECK:   scf.for
// CHECK: execute {
// CHECK:   scf.for %[[T:.*]] =
// CHECK-NEXT: %[[END:.*]] = arith.addi %[[T]], %{{.*}} : index
// CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: }
// CHECK-NEXT: %[[M:.*]] = arith.divui %[[T]]
// CHECK-NEXT: %[[N:.*]] = scf.if
// CHECK: tile.store %{{.*}}[%[[M]], %[[N]]], %{{.*}} elements
tile.kernel @positions(%c: !tile.array<?x?xf32, mut>, %n: index, %x: f32, %b: i1) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tgpu.specialize access {
    scf.for %t = %c0 to %n step %c1 {
      %m = arith.divui %t, %n : index
      scf.for %k = %c0 to %n step %c1 {
      }
      tile.store %c[%m, %m], %x elements : !tile.array<?x?xf32, mut>, f32
    }
  } execute {
    scf.for %t = %c0 to %n step %c1 {
      %m = arith.divui %t, %n : index
      %l = scf.if %b -> index {
        scf.yield %m : index
      } else {
        scf.yield %t : index
      }
      %e = arith.addi %t, %c1 : index
      scf.for %k = %c0 to %e step %c1 {
        tile.store %c[%k, %e], %x elements : !tile.array<?x?xf32, mut>, f32
      }
      tile.store %c[%m, %l], %x elements : !tile.array<?x?xf32, mut>, f32
    }
  }
  tile.return
}

// A load behind the wait for the last product comes in front of it, where it runs beside the
// product; one in front of the loop stays, with what it needs.
// CHECK-LABEL: tile.kernel @loads
// CHECK: execute {
// CHECK: scf.for %[[T:.*]] =
// CHECK-NEXT: %[[AT:.*]] = arith.divui %[[T]]
// CHECK-NEXT: tile.load %arg1[%[[AT]]]
// CHECK-NEXT: arith.negf
// CHECK-NEXT: %[[SUM:.*]] = scf.for
// CHECK:      scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[PLACE:.*]] = arith.addi %[[T]]
// CHECK-NEXT: tile.load %arg1[%[[PLACE]]]
// CHECK-NEXT: %[[DONE:.*]] = tgpu.mma_wait %[[SUM]] pending 0 {tgpu.late}
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
tile.kernel @loads(%c: !tile.array<?xf32, mut>, %bias: !tile.array<?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  %b = tgpu.alloc : !tgpu.buffer<64x64xbf16, #s>
  tgpu.specialize access {
    scf.for %t = %c0 to %n step %c1 {
    }
  } execute {
    scf.for %t = %c0 to %n step %c1 {
      %at = arith.divui %t, %n : index
      %x = tile.load %bias[%at] : !tile.array<?xf32> -> tensor<64xf32, #row>
      %y = arith.negf %x : tensor<64xf32, #row>
      %place = arith.addi %t, %n : index
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
        %p = tgpu.mma %a, %b, %s {atom = "wgmma"} : !tgpu.buffer<64x64xbf16, #s>, !tgpu.buffer<64x64xbf16, #s>, tensor<64x64xf32, #acc>
        tgpu.mma_wait pending 1 : () -> ()
        scf.yield %p : tensor<64x64xf32, #acc>
      }
      %w = tgpu.mma_wait %r pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
      %v = tile.load %bias[%place] : !tile.array<?xf32> -> tensor<64xf32, #row>
      %g = arith.addf %y, %v : tensor<64xf32, #row>
      tile.store %c[%t], %g : !tile.array<?xf32, mut>, tensor<64xf32, #row>
    }
  }
  tile.return
}

// RUN: tile-opt %s --tile-sink-scalars | FileCheck %s
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

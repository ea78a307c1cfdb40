// RUN: tile-opt %s --tile-schedule-async-mma | FileCheck %s
// RUN: tile-opt %s --tile-schedule-async-mma --remarks-filter=schedule-async-mma --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
#v = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
!kbuf = !tgpu.buffer<64x64xbf16, #k>
!vbuf = !tgpu.buffer<64x64xbf16, #v>
!s = tensor<64x64xf32, #acc>

// Parts of a product that are added in registers, two by two: the next is issued before one
// is waited for, released and added. Places are released a part late.
// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %arg1
// CHECK: scf.if %[[ANY]]
// CHECK:   tgpu.pop
// CHECK:   %[[P0:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %{{.*}} if %false
// CHECK:   %[[PAIRS:.*]]:3 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[P:.*]] = %[[P0]], %{{.*}} = %{{.*}})
// CHECK:     tgpu.pop
// CHECK:     %[[Q:.*]] = tgpu.mma {{.*}} if %false
// CHECK:     %[[DONE:.*]] = tgpu.mma_wait %[[P]] pending 1
// CHECK:     tgpu.release
// CHECK:     %[[ONE:.*]] = arith.addf %[[SUM]], %[[DONE]]
// CHECK:     tgpu.pop
// CHECK:     %[[NEXT:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %[[DONE]] if %false
// CHECK:     %[[OTHER:.*]] = tgpu.mma_wait %[[Q]] pending 1
// CHECK:     tgpu.release
// CHECK:     %[[TWO:.*]] = arith.addf %[[ONE]], %[[OTHER]]
// CHECK:     scf.yield %[[TWO]], %[[NEXT]]
// CHECK:   scf.if
// CHECK:     tgpu.mma
// CHECK:     tgpu.mma_wait %[[PAIRS]]#1 pending 1
// CHECK:     tgpu.mma_wait %{{.*}} pending 0
// CHECK:   } else {
// CHECK:     tgpu.mma_wait %[[PAIRS]]#1 pending 0
// REMARK: [Passed] {{.*}}Function=parts {{.*}}Remark="a part stays in flight while the one before it is added"
!pair = !tgpu.ring<3x[!vbuf, !kbuf]>
tile.kernel @parts(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !pair
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %v, %k = tgpu.pop %ring : !pair -> !vbuf, !kbuf
    %o = tgpu.mma %v, %k, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %ring : !pair
    %a = arith.addf %acc, %x : !s
    scf.yield %a : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// With two places the copies would wait for what is in flight.
// CHECK-LABEL: tile.kernel @two_places
// CHECK: tgpu.mma_wait %{{.*}} pending 0
// CHECK-NOT: pending 1
// CHECK: tile.return
!few = !tgpu.ring<2x[!vbuf, !kbuf]>
tile.kernel @two_places(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %ring = tgpu.ring copy "tma" : !few
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
    %v, %k = tgpu.pop %ring : !few -> !vbuf, !kbuf
    %o = tgpu.mma %v, %k, %z {atom = "wgmma"} : !vbuf, !kbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %ring : !few
    %a = arith.addf %acc, %x : !s
    scf.yield %a : !s
  }
  tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// RUN: tile-opt %s --tile-schedule-async-mma | FileCheck %s
// RUN: tile-opt %s --tile-schedule-async-mma --remarks-filter=schedule-async-mma --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The wait for a product moves past what goes to other buffers, and not past a write to its
// own nor a release of the ring that it reads.

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#v = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
!vbuf = !tgpu.buffer<64x64xbf16, #v>
!vring = !tgpu.ring<2x[!vbuf]>
!s = tensor<64x64xf32, #acc>
!p = tensor<64x64xbf16, #acc>

// As in the gradient of attention: the first sum runs beside the store of the next
// product's a, the last one beside what copies the second's result out.
// CHECK-LABEL: tile.kernel @beside
// CHECK: %[[S:.*]] = tgpu.mma
// CHECK: %[[P:.*]] = tgpu.mma_wait %[[S]] pending 0
// CHECK: %[[O:.*]] = tgpu.mma
// CHECK: tgpu.store
// CHECK: tgpu.fence_async
// CHECK: %[[D:.*]] = tgpu.mma
// CHECK: %[[K:.*]] = tgpu.mma
// CHECK: tgpu.mma_wait %[[O]] pending 2
// CHECK: tgpu.release
// CHECK: tgpu.mma_wait %[[D]] pending 1
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.store
// CHECK: tgpu.copy_out
// CHECK: tgpu.mma_wait %[[K]] pending 0
// CHECK: scf.yield
tile.kernel @beside(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z, %b = %z) -> (!s, !s) {
    %s = tgpu.mma %q, %q, %z {atom = "wgmma"} : !vbuf, !vbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    %p = arith.truncf %w : !s to !p
    %v = tgpu.pop %values : !vring -> !vbuf
    %o = tgpu.mma %p, %v, %a {atom = "wgmma"} : !p, !vbuf, !s
    %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    %l = tgpu.alloc : !vbuf
    tgpu.store %p, %l : !p, !vbuf
    tgpu.fence_async
    %d = tgpu.mma %l, %q, %z {atom = "wgmma"} : !vbuf, !vbuf, !s
    %e = tgpu.mma_wait %d pending 0 : (!s) -> !s
    %k = tgpu.mma %p, %q, %b {atom = "wgmma"} : !p, !vbuf, !s
    %g = tgpu.mma_wait %k pending 0 : (!s) -> !s
    %f = arith.truncf %e : !s to !p
    %out = tgpu.alloc : !vbuf
    tgpu.copy_out_wait
    tgpu.store %f, %out : !p, !vbuf
    tgpu.copy_out %out, %y[%j, %c0] order [0, 1] : !vbuf, !tile.array<?x?xf32, mut>
    scf.yield %x, %g : !s, !s
  }
  tile.store %y[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, !s
  tile.store %y[%c1, %c0], %r#1 : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// CHECK-LABEL: tile.kernel @own
// CHECK: %[[S:.*]] = tgpu.mma
// CHECK-NEXT: tgpu.mma_wait %[[S]] pending 0
// CHECK-NEXT: tgpu.store
// CHECK: %[[O:.*]] = tgpu.mma
// CHECK-NEXT: tgpu.mma_wait %[[O]] pending 0
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tgpu.release
tile.kernel @own(%y: !tile.array<?x?xf32, mut>, %x: bf16, %n: index) attributes {num_warps = 4 : i32} {
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %t = tile.splat %x : bf16 -> !p
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z, %b = %z) -> (!s, !s) {
    %v = tgpu.pop %values : !vring -> !vbuf
    %s = tgpu.mma %q, %v, %a {atom = "wgmma"} : !vbuf, !vbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    tgpu.store %t, %q : !p, !vbuf
    %o = tgpu.mma %t, %v, %b {atom = "wgmma"} : !p, !vbuf, !s
    %x2 = tgpu.mma_wait %o pending 0 : (!s) -> !s
    %m = arith.negf %x2 : !s
    tgpu.release %values : !vring
    scf.yield %w, %m : !s, !s
  }
  tile.store %y[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, !s
  tile.store %y[%c1, %c0], %r#1 : !tile.array<?x?xf32, mut>, !s
  tile.return
}

// What threads write in the loop, and read by the product, is not there earlier.
// REMARK: [Missed] {{.*}}Function=written {{.*}}Remark="the product is waited for at once: threads write an operand of the loop's products to shared memory"
// CHECK-LABEL: tile.kernel @written
// CHECK: tgpu.mma
// CHECK-NEXT: tgpu.mma_wait {{.*}} pending 0
tile.kernel @written(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %values = tgpu.ring copy "tma" : !vring
  %q = tgpu.alloc : !vbuf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<1.0> : !p
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (!s) {
    tgpu.store %t, %q : !p, !vbuf
    %v = tgpu.pop %values : !vring -> !vbuf
    %s = tgpu.mma %q, %v, %a {atom = "wgmma"} : !vbuf, !vbuf, !s
    %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
    tgpu.release %values : !vring
    scf.yield %w : !s
  }
  tile.store %y[%n, %n], %r : !tile.array<?x?xf32, mut>, !s
  tile.return
}

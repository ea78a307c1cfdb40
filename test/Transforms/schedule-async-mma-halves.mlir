// RUN: tile-opt %s --tile-schedule-async-mma | FileCheck %s
// Half of the powers that two warp groups compute beside the late product stands in front of the
// wait for it, the other half, and what needs all of them, behind it.

#acc = #tile.layout<[128, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
#row = #tile.layout<[128] register [(8)] lane [(0), (0), (1), (2), (4)] warp [(16), (32), (64)]>
#col = #tile.layout<[128, 1] register [(8, 0)] lane [(0, 0), (0, 0), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
#q = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
#v = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
!qbuf = !tgpu.buffer<128x64xbf16, #q>
!kbuf = !tgpu.buffer<64x64xbf16, #k>
!vbuf = !tgpu.buffer<64x64xbf16, #v>
!qring = !tgpu.ring<2x[!qbuf]>
!kring = !tgpu.ring<2x[!kbuf]>
!vring = !tgpu.ring<2x[!vbuf]>
!s = tensor<128x64xf32, #acc>
!p = tensor<128x64xbf16, #acc>

// The maximum needs the scores, not the differences: these are cut with the powers.
// CHECK-LABEL: tile.kernel @halves
// CHECK: scf.for
// CHECK:   %[[W:.*]] = tgpu.mma_wait %{{.*}} pending 1
// CHECK:   tile.reduce(%[[W]]) axes [1]
// CHECK:   %[[X0:.*]] = tile.extract %[[W]][%c0{{.*}}, %c0{{.*}}] : {{.*}} -> tensor<128x32xf32
// CHECK:   %[[F0:.*]] = tile.splat {{.*}} -> tensor<128x32xf32
// CHECK:   %[[M0:.*]] = tile.broadcast {{.*}} -> tensor<128x32xf32
// CHECK:   %[[D0:.*]] = math.fma %[[X0]], %[[F0]], %[[M0]]
// CHECK:   %[[P0:.*]] = math.exp2 %[[D0]]
// CHECK:   %[[O:.*]] = tgpu.mma_wait %{{.*}} pending 0 {tgpu.late}
// CHECK-NEXT: tgpu.release
// CHECK:   %[[X1:.*]] = tile.extract %[[W]][%c0{{.*}}, %c1{{.*}}] : {{.*}} -> tensor<128x32xf32
// CHECK:   %[[D1:.*]] = math.fma %[[X1]]
// CHECK:   %[[P1:.*]] = math.exp2 %[[D1]]
// CHECK:   %[[P:.*]] = tile.cat(%[[P0]], %[[P1]]) axis 1
// CHECK:   tile.reduce(%[[P]]) axes [1]
// CHECK:   arith.truncf %[[P]]
// CHECK:   arith.mulf %[[O]]
// CHECK:   scf.yield
tile.kernel @halves(%y: !tile.array<?x?xf32, mut>, %n: index, %f: f32) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %zero = arith.constant dense<0.0> : tensor<128xf32, #row>
  tgpu.specialize registers [40, 232] access {
    %unused = arith.constant 0 : i32
  } execute {
    %q = tgpu.pop %queries : !qring -> !qbuf
    %factor = tile.splat %f : f32 -> !s
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z, %sum = %zero) -> (!s, tensor<128xf32, #row>) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %m = tile.reduce(%w) axes [1] : (!s) -> tensor<128xf32, #row> {
      ^bb0(%g: f32, %h: f32):
        %t = arith.maximumf %g, %h : f32
        tile.yield %t : f32
      }
      %c = tile.reshape %m : tensor<128xf32, #row> -> tensor<128x1xf32, #col>
      %largest = tile.broadcast %c : tensor<128x1xf32, #col> -> !s
      %d = math.fma %w, %factor, %largest : !s
      %e = math.exp2 %d fastmath<afn> : !s
      %l = tile.reduce(%e) axes [1] : (!s) -> tensor<128xf32, #row> {
      ^bb0(%g: f32, %h: f32):
        %t = arith.addf %g, %h : f32
        tile.yield %t : f32
      }
      %next = arith.addf %sum, %l : tensor<128xf32, #row>
      %p = arith.truncf %e : !s to !p
      %scaled = arith.mulf %acc, %largest : !s
      %v = tgpu.pop %values : !vring -> !vbuf
      %o = tgpu.mma %p, %v, %scaled {atom = "wgmma"} : !p, !vbuf, !s
      %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
      tgpu.release %values : !vring
      scf.yield %x, %next : !s, tensor<128xf32, #row>
    }
    tgpu.release %queries : !qring
    tile.store %y[%c0, %c0], %r#0 : !tile.array<?x?xf32, mut>, !s
  }
  tile.return
}

// What needs the powers in front of the wait and cannot move keeps them together.
// CHECK-LABEL: tile.kernel @stored
// CHECK: scf.for
// CHECK-NOT: tile.extract
// CHECK: tile.return
tile.kernel @stored(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  tgpu.specialize registers [40, 232] access {
    %unused = arith.constant 0 : i32
  } execute {
    %q = tgpu.pop %queries : !qring -> !qbuf
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %e = math.exp2 %w fastmath<afn> : !s
      tile.store %y[%j, %c0], %e : !tile.array<?x?xf32, mut>, !s
      %p = arith.truncf %e : !s to !p
      %v = tgpu.pop %values : !vring -> !vbuf
      %o = tgpu.mma %p, %v, %acc {atom = "wgmma"} : !p, !vbuf, !s
      %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
      tgpu.release %values : !vring
      scf.yield %x : !s
    }
    tgpu.release %queries : !qring
    tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  }
  tile.return
}

// Nor are they cut where a mask of rows and columns takes registers.
// CHECK-LABEL: tile.kernel @masked
// CHECK: scf.for
// CHECK-NOT: tile.extract
// CHECK: tile.return
tile.kernel @masked(%y: !tile.array<?x?xf32, mut>, %n: index, %i: i32) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  tgpu.specialize registers [40, 232] access {
    %unused = arith.constant 0 : i32
  } execute {
    %rows = tile.splat %i : i32 -> tensor<128x64xi32, #acc>
    %columns = arith.constant dense<1> : tensor<128x64xi32, #acc>
    %q = tgpu.pop %queries : !qring -> !qbuf
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %mask = arith.cmpi sle, %columns, %rows : tensor<128x64xi32, #acc>
      %x0 = arith.select %mask, %w, %z : tensor<128x64xi1, #acc>, !s
      %e = math.exp2 %x0 fastmath<afn> : !s
      %p = arith.truncf %e : !s to !p
      %v = tgpu.pop %values : !vring -> !vbuf
      %o = tgpu.mma %p, %v, %acc {atom = "wgmma"} : !p, !vbuf, !s
      %x = tgpu.mma_wait %o pending 0 : (!s) -> !s
      tgpu.release %values : !vring
      scf.yield %x : !s
    }
    tgpu.release %queries : !qring
    tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, !s
  }
  tile.return
}

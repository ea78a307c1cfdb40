// RUN: tile-opt %s --tile-schedule-async-mma | FileCheck %s
// The first product's a is read into registers before a skewed loop, where it is the same in
// all iterations and the warps that compute have registers for it.

#acc = #tile.layout<[128, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
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

// S, O and P take 32, 32 and 16 registers, a 16, and 32 are for the rest: 128 in all.
// CHECK-LABEL: tile.kernel @enough
// CHECK: %[[PLACE:.*]] = tgpu.pop
// CHECK: %[[Q:.*]] = tgpu.load %[[PLACE]] : {{.*}} tensor<128x64xbf16, #{{.*}}>
// CHECK: scf.if
// CHECK: tgpu.mma %[[Q]]
// CHECK: scf.for
// CHECK: tgpu.mma %[[Q]]
// CHECK: tgpu.release
tile.kernel @enough(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  tgpu.specialize registers [40, 128] access {
    %unused = arith.constant 0 : i32
  } execute {
    %q = tgpu.pop %queries : !qring -> !qbuf
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %p = arith.truncf %w : !s to !p
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

// One register too few, and blocks of a cluster: it stays where it is.
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: tgpu.load
// CHECK-LABEL: tile.kernel @cluster
// CHECK-NOT: tgpu.load
tile.kernel @short(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  tgpu.specialize registers [40, 120] access {
    %unused = arith.constant 0 : i32
  } execute {
    %q = tgpu.pop %queries : !qring -> !qbuf
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %p = arith.truncf %w : !s to !p
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

tile.kernel @cluster(%y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64, tgpu.cluster = 2 : i64} {
  %queries = tgpu.ring copy "tma" : !qring
  %keys = tgpu.ring copy "tma" : !kring
  %values = tgpu.ring copy "tma" : !vring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  tgpu.specialize registers [40, 128] access {
    %unused = arith.constant 0 : i32
  } execute {
    %q = tgpu.pop %queries : !qring -> !qbuf
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> (!s) {
      %b = tgpu.pop %keys : !kring -> !kbuf
      %s = tgpu.mma %q, %b, %z {atom = "wgmma"} : !qbuf, !kbuf, !s
      %w = tgpu.mma_wait %s pending 0 : (!s) -> !s
      tgpu.release %keys : !kring
      %p = arith.truncf %w : !s to !p
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

// RUN: tile-opt %s --split-input-file --tile-verify-stage=stage=staged --verify-diagnostics
// A product that completes later is read through a wait only.

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

// What may be in flight: sums, what loops and branches carry, and waits.
tile.kernel @handed_on(%n: index, %c: i1) attributes {num_warps = 4 : i32} {
  %x = tgpu.alloc : !buf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (!s) {
    %p = tgpu.mma %x, %x, %a {atom = "wgmma"} : !buf, !buf, !s
    tgpu.mma_wait pending 1 : () -> ()
    scf.yield %p : !s
  }
  %b = scf.if %c -> (!s) {
    %p = tgpu.mma %x, %x, %r {atom = "wgmma"} : !buf, !buf, !s
    scf.yield %p : !s
  } else {
    scf.yield %r : !s
  }
  %w = scf.while (%a = %b) : (!s) -> !s {
    scf.condition(%c) %a : !s
  } do {
  ^bb0(%a: !s):
    %p = tgpu.mma %x, %x, %a {atom = "wgmma"} : !buf, !buf, !s
    scf.yield %p : !s
  }
  %d = tgpu.mma_wait %w pending 0 : (!s) -> !s
  %e = arith.addf %d, %d : !s
  tile.return
}

// -----

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

tile.kernel @read_at_once() attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : !s
  %x = tgpu.alloc : !buf
  // expected-note @below {{the product is issued here}}
  %p = tgpu.mma %x, %x, %z {atom = "wgmma"} : !buf, !buf, !s
  // Memory is waited for, but nothing keeps what reads the registers behind it.
  tgpu.mma_wait pending 0 : () -> ()
  // expected-error @below {{'arith.addf' op reads a product that may not be complete: a tgpu.mma_wait has to come first}}
  %e = arith.addf %p, %z : !s
  tile.return
}

// -----

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

// In the second iteration only, %a is in flight.
tile.kernel @read_an_iteration_late(%n: index) attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : !s
  %x = tgpu.alloc : !buf
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (!s) {
    // expected-error @below {{'arith.mulf' op reads a product that may not be complete}}
    %m = arith.mulf %a, %z : !s
    // expected-note @below {{the product is issued here}}
    %p = tgpu.mma %x, %x, %m {atom = "wgmma"} : !buf, !buf, !s
    scf.yield %p : !s
  }
  %d = tgpu.mma_wait %r pending 0 : (!s) -> !s
  tile.return
}

// -----

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

// Only one of the branches waits.
tile.kernel @read_where_paths_meet(%c: i1) attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : !s
  %x = tgpu.alloc : !buf
  // expected-note @below {{the product is issued here}}
  %p = tgpu.mma %x, %x, %z {atom = "wgmma"} : !buf, !buf, !s
  %r = scf.if %c -> (!s) {
    %d = tgpu.mma_wait %p pending 0 : (!s) -> !s
    scf.yield %d : !s
  } else {
    scf.yield %p : !s
  }
  // expected-error @below {{'arith.negf' op reads a product that may not be complete}}
  %e = arith.negf %r : !s
  tile.return
}

// -----

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

// The two are issued in one order and waited for as if it were the other.
tile.kernel @too_many_pending() attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : !s
  %x = tgpu.alloc : !buf
  %p = tgpu.mma %x, %x, %z {atom = "wgmma"} : !buf, !buf, !s
  // expected-note @below {{the product is issued here}}
  %q = tgpu.mma %x, %x, %z {atom = "wgmma"} : !buf, !buf, !s
  %d = tgpu.mma_wait %p pending 1 : (!s) -> !s
  // expected-error @below {{'tgpu.mma_wait' op leaves 1 products in flight, but only 0 may follow one that it waits for}}
  %e = tgpu.mma_wait %q pending 1 : (!s) -> !s
  tile.return
}

// -----

#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#k = #tile.layout<[64, 64] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32)]>
!buf = !tgpu.buffer<64x64xbf16, #k>
!s = tensor<64x64xf32, #acc>

// As an operand it is read; threads read what they add to, too.
tile.kernel @read_by_a_product() attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : !s
  %x = tgpu.alloc : !buf
  // expected-note @below {{the product is issued here}}
  %q = tgpu.mma %x, %x, %z {atom = "wgmma"} : !buf, !buf, !s
  // expected-error @below {{'tgpu.mma' op reads a product that may not be complete}}
  %r = tgpu.mma %x, %x, %q {atom = "fma"} : !buf, !buf, !s
  tile.return
}

// -----

#r = #tile.layout<[128, 64] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
#b = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (64, 0)]>
#c = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>
!a = !tgpu.buffer<128x64xbf16, #b>
!b = !tgpu.buffer<64x64xbf16, #c>
!m = !tgpu.accumulator<128x64xf32>
!t = tensor<128x64xf32, #r>

// In tensor memory: the wait comes in the loop, which may not run.
tile.kernel @tensor_memory(%n: index) attributes {num_warps = 4 : i32} {
  %x = tgpu.alloc : !a
  %y = tgpu.alloc : !b
  %m = tgpu.accumulator : !m
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tgpu.accumulate %x, %y, %m {atom = "tcgen05"} : !a, !b, !m
  tgpu.mma_wait pending 0 : () -> ()
  %t = tgpu.get_accumulator %m : !m, !t
  // expected-note @below {{the product is issued here}}
  tgpu.accumulate %x, %y, %m {atom = "tcgen05"} : !a, !b, !m
  scf.for %i = %c0 to %n step %c1 {
    tgpu.mma_wait pending 0 : () -> ()
  }
  // expected-error @below {{'tgpu.get_accumulator' op reads a product that may not be complete}}
  %u = tgpu.get_accumulator %m : !m, !t
  tile.return
}

// RUN: tile-opt %s --tile-fit-rings="budget=61440" | FileCheck %s
// RUN: tile-opt %s --tile-fit-rings="budget=61440" --remarks-filter=specialize-warps --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-fit-rings="budget=61440" | not tile-opt --tile-allocate-memory="budget=61440" 2>&1 | FileCheck %s --check-prefix=ERROR
// Rings of different loops that do not fit beside each other are filled by all threads: then they
// share bytes, as do buffers that tiles leave by.

#a = #tile.layout<[64, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>
#t = #tile.layout<[64, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] lane [(0, 64), (1, 0), (2, 0), (4, 0), (8, 0)] warp [(16, 0), (32, 0)]>
!buffer = !tgpu.buffer<64x128xf32, #a>
!ring = !tgpu.ring<1x[!buffer]>

// CHECK-LABEL: tile.kernel @one
// CHECK: tgpu.ring copy "tma"
// CHECK: multicast
tile.kernel @one(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %r = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %r : !ring { tgpu.copy %x[%k, %c0] order [0, 1] multicast to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %r : !ring -> !buffer
    %t = tgpu.load %b : !buffer, tensor<64x128xf32, #t>
    tgpu.release %r : !ring
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @two
// CHECK-NOT: shares_in_loops
// CHECK: tgpu.ring copy "cp_async" :
// CHECK: tgpu.ring copy "cp_async" :
// CHECK-NOT: multicast
// REMARK: [Missed] {{.*}}Function=two {{.*}}Remark="the warps that compute also copy, since that shares bytes from loop to loop: warps of their own need places for all loops at once, and so the kernel 65568 bytes of the 60 KiB of a block"
tile.kernel @two(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %r = tgpu.ring copy "tma" : !ring
  %s = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %r : !ring { tgpu.copy %x[%k, %c0] order [0, 1] multicast to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %r : !ring -> !buffer
    %t = tgpu.load %b : !buffer, tensor<64x128xf32, #t>
    tgpu.release %r : !ring
  }
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %s : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %s : !ring -> !buffer
    %t = tgpu.load %b : !buffer, tensor<64x128xf32, #t>
    tgpu.release %s : !ring
  }
  tile.return
}

// In a loop around both they share only if lives are looked at within it.
// CHECK-LABEL: tile.kernel @around
// CHECK: tgpu.ring copy "cp_async" {tgpu.shares_in_loops}
// CHECK: tgpu.ring copy "cp_async" {tgpu.shares_in_loops}
tile.kernel @around(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %r = tgpu.ring copy "warps" : !ring
  %s = tgpu.ring copy "warps" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      tgpu.push %r : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
      %b = tgpu.pop %r : !ring -> !buffer
      %t = tgpu.load %b : !buffer, tensor<64x128xf32, #t>
      tgpu.release %r : !ring
    }
    scf.for %k = %c0 to %n step %c1 {
      tgpu.push %s : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
      %b = tgpu.pop %s : !ring -> !buffer
      %t = tgpu.load %b : !buffer, tensor<64x128xf32, #t>
      tgpu.release %s : !ring
    }
  }
  tile.return
}

// What leaves from different blocks goes by one buffer, and then the engine's ring fits.
// CHECK-LABEL: tile.kernel @staging
// CHECK: %[[BUFFER:.*]] = tgpu.alloc
// CHECK: tgpu.ring copy "tma"
// CHECK-NOT: tgpu.alloc
// CHECK: tgpu.copy_out_wait{{$}}
// CHECK: tgpu.copy_out %[[BUFFER]]
// CHECK: tgpu.copy_out_wait{{$}}
// CHECK: tgpu.copy_out %[[BUFFER]]
tile.kernel @staging(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index, %c: i1) attributes {num_warps = 4 : i32} {
  %r = tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<32x128xf32, #tile.layout<[32, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>>]>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #t>
  scf.if %c {
    %o = tgpu.alloc : !buffer
    tgpu.copy_out_wait pending 1
    tgpu.store %zero, %o : tensor<64x128xf32, #t>, !buffer
    tgpu.copy_out %o, %y[%c0, %c0] order [0, 1] : !buffer, !tile.array<?x?xf32, mut>
  }
  scf.for %k = %c0 to %n step %c1 {
    %o = tgpu.alloc : !buffer
    tgpu.copy_out_wait pending 1
    tgpu.store %zero, %o : tensor<64x128xf32, #t>, !buffer
    tgpu.copy_out %o, %y[%k, %c1] order [0, 1] : !buffer, !tile.array<?x?xf32, mut>
  }
  tile.return
}

// One loop with three of them is too much in any case.
// CHECK-LABEL: tile.kernel @large
// CHECK-COUNT-3: tgpu.ring copy "tma"
// ERROR: error: kernel 'large' needs 98352 bytes of shared memory, but a block has 60 KiB
// ERROR-COUNT-3: note: 32 KiB for f32[64, 128] of `arg0`
tile.kernel @large(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %r = tgpu.ring copy "tma" : !ring
  %s = tgpu.ring copy "tma" : !ring
  %u = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %r : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    tgpu.push %s : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    tgpu.push %u : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %r : !ring -> !buffer
    %d = tgpu.pop %s : !ring -> !buffer
    %e = tgpu.pop %u : !ring -> !buffer
    tgpu.release %r : !ring
    tgpu.release %s : !ring
    tgpu.release %u : !ring
  }
  tile.return
}

// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-allocate-memory{budget=40960}))' --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-allocate-memory{budget=40960}))' --split-input-file --remarks-filter=allocate-memory --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Buffers that are not alive together share bytes, those that have not been used for longest.

#l = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (1, 0)] warp [(2, 0), (4, 0), (8, 0)]>
#p = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>

// CHECK-LABEL: tile.kernel @one_after_the_other
// REMARK: [Passed] {{.*}}Function=one_after_the_other {{.*}}Remark="32 KiB of shared memory of the 40 KiB of a block"
tile.kernel @one_after_the_other(%x: f32) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : f32 -> tensor<64x64xf32, #l>
  // CHECK: tgpu.alloc offset 0
  %a = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %a : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  %u = tgpu.load %a : !tgpu.buffer<64x64xf32, #p>, tensor<64x64xf32, #l>
  // CHECK: tgpu.alloc offset 16384
  %b = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %b : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  %v = tgpu.load %b : !tgpu.buffer<64x64xf32, #p>, tensor<64x64xf32, #l>
  // CHECK: tgpu.alloc offset 0
  %c = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %c : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  %w = tgpu.load %c : !tgpu.buffer<64x64xf32, #p>, tensor<64x64xf32, #l>
  tile.return
}

// %a is read in every iteration, so it lives over the whole loop.
// CHECK-LABEL: tile.kernel @alive_in_a_loop
// REMARK: [Passed] {{.*}}Function=alive_in_a_loop {{.*}}Remark="32 KiB of shared memory of the 40 KiB of a block"
tile.kernel @alive_in_a_loop(%x: f32, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.splat %x : f32 -> tensor<64x64xf32, #l>
  // CHECK: tgpu.alloc offset [[A:[0-9]+]]
  %a = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %a : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  scf.for %i = %c0 to %n step %c1 {
    %u = tgpu.load %a : !tgpu.buffer<64x64xf32, #p>, tensor<64x64xf32, #l>
    // CHECK: scf.for
    // CHECK-NOT: tgpu.alloc offset [[A]] :
    // CHECK: tgpu.alloc offset 16384
    %b = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
    tgpu.store %u, %b : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
    %v = tgpu.load %b : !tgpu.buffer<64x64xf32, #p>, tensor<64x64xf32, #l>
  }
  tile.return
}

#s = #tile.layout<[64] register [(32)] lane [(1), (2), (4), (8), (16)] warp [(0), (0), (0)]>
#q = #tile.layout<[64] offset [(1), (2), (4), (8), (16), (32)]>

// Small buffers get bytes of their own: that saves barriers.
// CHECK-LABEL: tile.kernel @small
// CHECK: tgpu.alloc offset 0
// CHECK: tgpu.alloc offset 256
// REMARK: [Passed] {{.*}}Function=small {{.*}}Remark="512 bytes of shared memory of the 40 KiB of a block"
tile.kernel @small(%x: f32) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #s>
  %a = tgpu.alloc : !tgpu.buffer<64xf32, #q>
  tgpu.store %t, %a : tensor<64xf32, #s>, !tgpu.buffer<64xf32, #q>
  %b = tgpu.alloc : !tgpu.buffer<64xf32, #q>
  tgpu.store %t, %b : tensor<64xf32, #s>, !tgpu.buffer<64xf32, #q>
  tile.return
}

// Swizzles go by the address's own bits: what is copied out begins at multiples of 1024,
// even if it has 256 bytes.
// CHECK-LABEL: tile.kernel @copied_out
// REMARK: [Passed] {{.*}}Function=copied_out {{.*}}Remark="1280 bytes of shared memory of the 40 KiB of a block"
tile.kernel @copied_out(%x: f32, %a: !tile.array<?xf32, mut>) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.splat %x : f32 -> tensor<64xf32, #s>
  // CHECK: tgpu.alloc offset 0
  %b = tgpu.alloc : !tgpu.buffer<64xf32, #q>
  tgpu.store %t, %b : tensor<64xf32, #s>, !tgpu.buffer<64xf32, #q>
  tgpu.copy_out %b, %a[%c0] order [0] : !tgpu.buffer<64xf32, #q>, !tile.array<?xf32, mut>
  // CHECK: tgpu.alloc offset 1024
  %c = tgpu.alloc : !tgpu.buffer<64xf32, #q>
  tgpu.store %t, %c : tensor<64xf32, #s>, !tgpu.buffer<64xf32, #q>
  tgpu.copy_out %c, %a[%c0] order [0] : !tgpu.buffer<64xf32, #q>, !tile.array<?xf32, mut>
  tile.return
}

// A ring that threads fill is empty after its loop: what comes then may lie there.
// CHECK-LABEL: tile.kernel @after_a_ring
// REMARK: [Passed] {{.*}}Function=after_a_ring {{.*}}Remark="32 KiB of shared memory of the 40 KiB of a block"
tile.kernel @after_a_ring(%a: !tile.array<?x?xf32>, %x: f32, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.splat %x : f32 -> tensor<64x64xf32, #l>
  // CHECK: tgpu.ring copy "cp_async" offset 0 :
  %ring = tgpu.ring copy "cp_async" : !tgpu.ring<2x[!tgpu.buffer<64x64xf32, #p>]>
  scf.for %i = %c0 to %n step %c1 {
    tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<64x64xf32, #p>]> {
      tgpu.copy %a[%i, %c0] order [0, 1] to 0 : !tile.array<?x?xf32>
    }
    %b = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<64x64xf32, #p>]> -> !tgpu.buffer<64x64xf32, #p>
    tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<64x64xf32, #p>]>
  }
  // CHECK: tgpu.alloc offset 0
  %c = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %c : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  tile.return
}

// A product reads %c until it is waited for, so %d may not lie there.
#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#sw = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
// CHECK-LABEL: tile.kernel @in_flight
tile.kernel @in_flight(%x: f32) attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
  %t = tile.splat %x : f32 -> tensor<64x64xf32, #l>
  // CHECK: tgpu.alloc offset [[C:[0-9]+]] : !tgpu.buffer<64x64xbf16
  %c = tgpu.alloc : !tgpu.buffer<64x64xbf16, #sw>
  %r = tgpu.mma %a, %c, %z {atom = "wgmma"} : tensor<64x64xbf16, #acc>, !tgpu.buffer<64x64xbf16, #sw>, tensor<64x64xf32, #acc>
  // CHECK-NOT: tgpu.alloc offset [[C]] : !tgpu.buffer<64x64xf32
  // CHECK: tgpu.alloc offset {{[0-9]+}} : !tgpu.buffer<64x64xf32
  %d = tgpu.alloc : !tgpu.buffer<64x64xf32, #p>
  tgpu.store %t, %d : tensor<64x64xf32, #l>, !tgpu.buffer<64x64xf32, #p>
  %w = tgpu.mma_wait %r pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
  tile.return
}

// -----

#l = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (1, 0)] warp [(2, 0), (4, 0), (8, 0)]>
#p = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>

// expected-error @+2 {{kernel 'too_much' needs 64 KiB of shared memory, but a block has 40 KiB}}
// expected-note @unknown {{tiles of 1/2 of the elements would need some 32 KiB}}
tile.kernel @too_much(%x: f64) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : f64 -> tensor<64x64xf64, #l>
  // expected-note @+1 {{32 KiB for f64[64, 64] between threads}}
  %a = tgpu.alloc : !tgpu.buffer<64x64xf64, #p>
  tgpu.store %t, %a : tensor<64x64xf64, #l>, !tgpu.buffer<64x64xf64, #p>
  // expected-note @+1 {{32 KiB for f64[64, 64] between threads}}
  %b = tgpu.alloc : !tgpu.buffer<64x64xf64, #p>
  tgpu.store %t, %b : tensor<64x64xf64, #l>, !tgpu.buffer<64x64xf64, #p>
  %u = tgpu.load %a : !tgpu.buffer<64x64xf64, #p>, tensor<64x64xf64, #l>
  tile.return
}

// -----

#p = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>

// Fewer places would do.
// expected-error @+2 {{kernel 'too_many' needs 65600 bytes of shared memory, but a block has 40 KiB}}
// expected-note @unknown {{`num_stages: 2` fits (32800 bytes)}}
tile.kernel @too_many(%x: !tile.array<?x?xf32>, %i: index) attributes {num_warps = 8 : i32} {
  // expected-note @+1 {{16 KiB x 4 places for f32[64, 64] of `arg0`}}
  %ring = tgpu.ring copy "tma" : !tgpu.ring<4x[!tgpu.buffer<64x64xf32, #p>]>
  tgpu.push %ring : !tgpu.ring<4x[!tgpu.buffer<64x64xf32, #p>]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 0 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

#l = #tile.layout<[32, 64] register [(0, 1), (0, 2), (16, 0)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (1, 0)] warp [(2, 0), (4, 0), (8, 0)]>
#p = #tile.layout<[32, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>

// One place less makes room for the buffer.
// CHECK-LABEL: tile.kernel @gives_back
// CHECK: tgpu.ring copy "tma" offset 0 barriers 24576 : !tgpu.ring<3x
// REMARK: [Missed] {{.*}}Function=gives_back {{.*}}Remark="tiles of `arg0` have 3 places only: buffers live longer than was counted on"
tile.kernel @gives_back(%x: !tile.array<?x?xf32>, %y: f32, %i: index) attributes {num_warps = 8 : i32} {
  %ring = tgpu.ring copy "tma" : !tgpu.ring<4x[!tgpu.buffer<32x64xf32, #p>]>
  tgpu.push %ring : !tgpu.ring<4x[!tgpu.buffer<32x64xf32, #p>]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 0 : !tile.array<?x?xf32>
  }
  %t = tile.splat %y : f32 -> tensor<32x64xf32, #l>
  %b = tgpu.alloc : !tgpu.buffer<32x64xf32, #p>
  tgpu.store %t, %b : tensor<32x64xf32, #l>, !tgpu.buffer<32x64xf32, #p>
  %u = tgpu.load %b : !tgpu.buffer<32x64xf32, #p>, tensor<32x64xf32, #l>
  tile.return
}

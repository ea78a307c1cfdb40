// RUN: tile-opt %s --split-input-file --verify-diagnostics
// The constraints of rings and roles.

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @ring_c1() {
  // expected-error @+1 {{there is no way of copying called 'post'}}
  %r = tgpu.ring copy "post" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @ring_c2(%c: i1) {
  scf.if %c {
    // expected-error @+1 {{does not stand in the outermost block of a kernel}}
    %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @push_c1(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a>]>
  // expected-error @+1 {{a slot of the ring has no copy}}
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a>]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 1 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_c1(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{needs one index per array dim}}
    tgpu.copy %x[%i] order [0, 1] to 0 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_c3(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{'once within' has no number for each of one to three axes}}
    tgpu.copy %x[%i, %i] order [0, 1] once within [1, -1] to 0 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @pop_c1(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  // expected-error @+1 {{results are not the buffers of the ring}}
  %p, %q = tgpu.pop %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
    -> !tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a>
  tile.return
}

// -----

tile.kernel @specialize_c2() {
  // expected-error @+1 {{'registers' are two multiples of 8 in 24…256}}
  tgpu.specialize registers [20, 240] access {
    tgpu.barrier
  } execute {
    tgpu.barrier
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_out_c2(%y: !tile.array<?x?xf32, mut>, %i: index) {
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #a>
  // expected-error @+1 {{'groups' are not different powers of two within the buffer}}
  tgpu.copy_out %b, %y[%i, %i] order [0, 1] groups [16, 16] : !tgpu.buffer<8x4xf32, #a>, !tile.array<?x?xf32, mut>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @view_of_nothing() {
  // expected-error @+1 {{a view is of an earlier buffer, with no more bytes}}
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a> as 1, !tgpu.buffer<8x4xf32, #a>]>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @view_is_copied(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a> as 0]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a> as 0]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 0 : !tile.array<?x?xf32>
    // expected-error @+1 {{slot 1 is taken or does not exist}}
    tgpu.copy %x[%i, %i] order [0, 1] to 1 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_out_c3(%y: !tile.array<?x?xf32, mut>, %i: index) {
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #a>
  // expected-error @+1 {{cannot reduce by 'cas'}}
  tgpu.copy_out %b, %y[%i, %i] order [0, 1] reduce(cas) : !tgpu.buffer<8x4xf32, #a>, !tile.array<?x?xf32, mut>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_c4(%x: !tile.array<?x?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{'shape' has not the buffer's elements, by powers of two}}
    tgpu.copy %x[%i, %i, %i] order [0, 1, 2] shape [2, 3, 4] to 0 : !tile.array<?x?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_c2_shape(%x: !tile.array<?x?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{'order' does not name one array dim for each of the shape}}
    tgpu.copy %x[%i, %i, %i] order [0, 2] shape [2, 4, 4] to 0 : !tile.array<?x?x?xf32>
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @copy_out_c4(%x: !tile.array<?x?x?xf32, mut>, %i: index) {
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #a>
  // expected-error @+1 {{'shape' has not the buffer's elements, by powers of two}}
  tgpu.copy_out %b, %x[%i, %i, %i] order [0, 1, 2] shape [2, 4, 8] : !tgpu.buffer<8x4xf32, #a>, !tile.array<?x?x?xf32, mut>
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#i = #tile.layout<[8, 4] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (4, 0), (0, 0), (0, 0)]>
#j = #tile.layout<[8, 4] register [(1, 0), (0, 1), (0, 2)] lane [(2, 0), (4, 0), (0, 0), (0, 0), (0, 0)]>
tile.kernel @copy_gathered_c1(%x: !tile.array<?x?xf32>) {
  %p = arith.constant dense<1> : tensor<8x4xindex, #i>
  %q = arith.constant dense<1> : tensor<8x4xindex, #j>
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{needs one index per array dim}}
    tgpu.copy_gathered %x[%p] run [1, 4] to 0 : !tile.array<?x?xf32>, [tensor<8x4xindex, #i>]
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#i = #tile.layout<[8, 4] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (4, 0), (0, 0), (0, 0)]>
#j = #tile.layout<[8, 4] register [(1, 0), (0, 1), (0, 2)] lane [(2, 0), (4, 0), (0, 0), (0, 0), (0, 0)]>
tile.kernel @copy_gathered_c2(%x: !tile.array<?x?xf32>) {
  %p = arith.constant dense<1> : tensor<8x4xindex, #i>
  %q = arith.constant dense<1> : tensor<8x4xindex, #j>
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{indices and mask are not of the buffer's shape and one layout}}
    tgpu.copy_gathered %x[%p, %q] run [1, 4] to 0 : !tile.array<?x?xf32>, [tensor<8x4xindex, #i>, tensor<8x4xindex, #j>]
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#i = #tile.layout<[8, 4] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (4, 0), (0, 0), (0, 0)]>
#j = #tile.layout<[8, 4] register [(1, 0), (0, 1), (0, 2)] lane [(2, 0), (4, 0), (0, 0), (0, 0), (0, 0)]>
tile.kernel @copy_gathered_c3(%x: !tile.array<?x?xf32>) {
  %p = arith.constant dense<1> : tensor<8x4xindex, #i>
  %q = arith.constant dense<1> : tensor<8x4xindex, #j>
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>]> {
    // expected-error @+1 {{'run' is not a dim of the buffer and a length of 16 bytes or more}}
    tgpu.copy_gathered %x[%p, %p] run [1, 2] to 0 : !tile.array<?x?xf32>, [tensor<8x4xindex, #i>, tensor<8x4xindex, #i>]
  }
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @views_and_slots(%x: !tile.array<?x?xf32>, %i: index) {
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a> as 0, !tgpu.buffer<8x4xf32, #a>]>
  // expected-error @+1 {{copies go to slots and to views of others}}
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a> as 0, !tgpu.buffer<8x4xf32, #a>]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 1 : !tile.array<?x?xf32>
    tgpu.copy %x[%i, %i] order [0, 1] to 2 : !tile.array<?x?xf32>
  }
  tile.return
}

// -----

tile.kernel @memory_sum_c1(%v: f16) {
  %x = tile.splat %v : f16 -> tensor<8x4xf16>
  // expected-error @+1 {{elements are f32, f64 or i32, not 'f16'}}
  %s = tgpu.memory_sum %x : tensor<8x4xf16>
  tile.return
}

// -----

tile.kernel @memory_sum_c2_outermost(%v: f32, %c: i1) {
  %x = tile.splat %v : f32 -> tensor<8x4xf32>
  scf.if %c {
    // expected-error @+1 {{does not stand in the outermost block of a kernel}}
    %s = tgpu.memory_sum %x : tensor<8x4xf32>
  }
  tile.return
}

// -----

tile.kernel @memory_sum_c2_alone(%v: f32) {
  %x = tile.splat %v : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{is not the only one of its kernel}}
  %s = tgpu.memory_sum %x : tensor<8x4xf32>
  %t = tgpu.memory_sum %s : tensor<8x4xf32>
  tile.return
}

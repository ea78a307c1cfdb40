// RUN: tile-opt %s --tile-overlap-launches=chip=sm_90 | FileCheck %s
// RUN: tile-opt %s --tile-overlap-launches=chip=sm_89 | FileCheck %s --check-prefix=OLD
// A kernel waits for the grids ahead of it before the first operation that may access an
// array, also where that is inside a branch, and then lets the next one start.

#row = #tile.layout<[128] register [(1), (2)] lane [(4), (8), (16), (32), (64)]>
#plain = #tile.layout<[128] offset [(1), (2), (4), (8), (16), (32), (64)]>

// OLD-NOT: grids

// Loads of arrays that the kernel only reads count as free of effects, but others may
// write them.
// CHECK-LABEL: tile.kernel @reads
// CHECK-SAME: tile.awaits_grids
// CHECK: tile.dim
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: tile.assume
// CHECK-NEXT: tile.block_id
// CHECK-NEXT: tgpu.await_grids
// CHECK-NEXT: tgpu.num_resident_blocks
// CHECK-NEXT: arith.constant 160
// CHECK-NEXT: arith.cmpi ule
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: }
// CHECK-NEXT: tile.load
tile.kernel @reads(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) attributes {grid = ["1"], num_warps = 1 : i32} {
  %z = arith.constant 0 : index
  %n = tile.dim %x, 0 : !tile.array<?xf32>
  %c = arith.cmpi sgt, %n, %z : index
  tile.assume %c
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i] : !tile.array<?xf32> -> tensor<128xf32, #row>
  tile.store %y[%i], %v : !tile.array<?xf32, mut>, tensor<128xf32, #row>
  tile.return
}

// A branch that leads around the access does not lead around the wait.
// CHECK-LABEL: tile.kernel @under_a_branch
// CHECK: arith.cmpi
// CHECK-NEXT: tgpu.await_grids
// CHECK-NEXT: tgpu.num_resident_blocks
// CHECK-NEXT: arith.constant 160
// CHECK-NEXT: arith.cmpi ule
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: }
// CHECK-NEXT: scf.if
tile.kernel @under_a_branch(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) attributes {grid = ["1"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %c = arith.cmpi eq, %i, %z : index
  %v = scf.if %c -> tensor<128xf32, #row> {
    %l = tile.load %x[%i] : !tile.array<?xf32> -> tensor<128xf32, #row>
    scf.yield %l : tensor<128xf32, #row>
  } else {
    %k = arith.constant dense<0.0> : tensor<128xf32, #row>
    scf.yield %k : tensor<128xf32, #row>
  }
  scf.if %c {
    tile.store %y[%i], %v : !tile.array<?xf32, mut>, tensor<128xf32, #row>
  }
  tile.return
}

// Without any access too: whoever waits for this grid counts on those ahead of it.
// CHECK-LABEL: tile.kernel @nothing
// CHECK-NEXT: tgpu.await_grids
// CHECK-NEXT: tgpu.num_resident_blocks
// CHECK-NEXT: arith.constant 160
// CHECK-NEXT: arith.cmpi ule
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
tile.kernel @nothing(%x: !tile.array<?xf32>) attributes {grid = ["1"], num_warps = 1 : i32} {
  tile.return
}

// Rings get their barriers first. A cluster counts as one block.
// CHECK-LABEL: tile.kernel @ring
// CHECK: tgpu.ring
// CHECK-NEXT: tgpu.await_grids
// CHECK-NEXT: tgpu.num_resident_blocks
// CHECK-NEXT: arith.constant 80
// CHECK-NEXT: arith.cmpi ule
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.push
tile.kernel @ring(%x: !tile.array<?xf32>) attributes {grid = ["1"], num_warps = 1 : i32, tgpu.cluster = 2 : i64} {
  %z = arith.constant 0 : index
  %r = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<128xf32, #plain>]>
  tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<128xf32, #plain>]> {
    tgpu.copy %x[%z] order [0] to 0 : !tile.array<?xf32>
  }
  tile.return
}

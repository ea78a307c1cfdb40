// RUN: tile-opt %s --tile-pack-positions | FileCheck %s
// Kernels of one warp that move little share a block with other positions; not those
// that need shared memory, have more work than shows, or move enough.

#row = #tile.layout<[1, 256] register [(0, 1), (0, 2), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128)]>
#short = #tile.layout<[1, 64] register [(0, 1)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 32)]>
#long = #tile.layout<[1, 1024] register [(0, 1), (0, 2), (0, 4), (0, 256), (0, 512)] lane [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128)]>
#two = #tile.layout<[1, 256] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] warp [(0, 128)]>
#plain = #tile.layout<[1, 256] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (0, 128)]>

// 512 bytes in, 512 out.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: tgpu.positions = 4 : i64
tile.kernel @rows(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #row>
  tile.return
}

// The same with a row that all positions load.
// CHECK-LABEL: tile.kernel @weighted
// CHECK-SAME: tgpu.positions = 4 : i64
tile.kernel @weighted(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %w = tile.load %x[%z, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
  %p = arith.mulf %v, %w : tensor<1x256xbf16, #row>
  tile.store %y[%i, %z], %p : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #row>
  tile.return
}

// CHECK-LABEL: tile.kernel @most
// CHECK-SAME: tgpu.positions = 8 : i64
tile.kernel @most(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x64xbf16, #short>
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x64xbf16, #short>
  tile.return
}

// CHECK-LABEL: tile.kernel @enough
// CHECK-NOT: positions
tile.kernel @enough(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16, #long>
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x1024xbf16, #long>
  tile.return
}

// A barrier of one warp is its own.
// CHECK-LABEL: tile.kernel @barrier
// CHECK-SAME: tgpu.positions = 4 : i64
tile.kernel @barrier(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
  tgpu.barrier
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #row>
  tile.return
}

// CHECK-LABEL: tile.kernel @two_warps
// CHECK-NOT: positions
tile.kernel @two_warps(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 2 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #two>
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #two>
  tile.return
}

// CHECK-LABEL: tile.kernel @shared
// CHECK-NOT: positions
tile.kernel @shared(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
  %b = tgpu.alloc : !tgpu.buffer<1x256xbf16, #plain>
  tgpu.store %v, %b : tensor<1x256xbf16, #row>, !tgpu.buffer<1x256xbf16, #plain>
  tgpu.barrier
  %w = tgpu.load %b : !tgpu.buffer<1x256xbf16, #plain>, tensor<1x256xbf16, #row>
  tile.store %y[%i, %z], %w : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #row>
  tile.return
}

// CHECK-LABEL: tile.kernel @loop
// CHECK-NOT: positions
tile.kernel @loop(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %n: index) attributes {grid = ["dim(0, 0)"], num_warps = 1 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %k = %z to %n step %one {
    %v = tile.load %x[%i, %k] : !tile.array<?x?xbf16> -> tensor<1x256xbf16, #row>
    tile.store %y[%i, %k], %v : !tile.array<?x?xbf16, mut>, tensor<1x256xbf16, #row>
  }
  tile.return
}

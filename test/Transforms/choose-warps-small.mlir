// RUN: tile-opt %s --tile-choose-warps=chip=sm_90a | FileCheck %s
// RUN: tile-opt %s --tile-choose-warps=chip=sm_80 | FileCheck %s --check-prefix=OLD
// Small products, exchanges in loops, and sorts: where a warp more does not pay.

// A chain from chunk to chunk: products that wait for one another, with operands that threads
// compute. Not four warps, which would multiply as a group.
// CHECK-LABEL: tile.kernel @chunks_of_32
// CHECK-SAME: num_warps = 2 : i32
tile.kernel @chunks_of_32(%a: !tile.array<?x?xbf16>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %zs = arith.constant dense<0.0> : tensor<32x32xf32>
  %zo = arith.constant dense<0.0> : tensor<32x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%state = %z) -> tensor<64x64xf32> {
    %q = tile.load %a[%i, %c0] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
    %k = tile.load %a[%i, %c1] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
    %t = tile.permute %k [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = tile.mma %q, %t, %zs : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
    %p = arith.truncf %s : tensor<32x32xf32> to tensor<32x32xbf16>
    %near = tile.mma %p, %k, %zo : tensor<32x32xbf16>, tensor<32x64xbf16>, tensor<32x64xf32>
    %old = arith.truncf %state : tensor<64x64xf32> to tensor<64x64xbf16>
    %far = tile.mma %q, %old, %near : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
    tile.store %o[%i, %c0], %far : !tile.array<?x?xf32, mut>, tensor<32x64xf32>
    %new = tile.mma %t, %k, %state : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %new : tensor<64x64xf32>
  }
  tile.return
}

// As much work as a warp does, but two sums of 32 x 64 to carry, 128 elements a thread; of one
// sum it carries 64.
// CHECK-LABEL: tile.kernel @two_sums
// CHECK-SAME: num_warps = 2 : i32
tile.kernel @two_sums(%a: !tile.array<?x?xbf16>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<32x64xf32>
  %zs = arith.constant dense<0.0> : tensor<32x32xf32>
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %z, %w = %z) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %k = tile.load %a[%i, %c1] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
    %t = tile.permute %k [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = tile.mma %q, %t, %zs : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
    %p = arith.truncf %s : tensor<32x32xf32> to tensor<32x32xbf16>
    %x = tile.mma %p, %k, %v : tensor<32x32xbf16>, tensor<32x64xbf16>, tensor<32x64xf32>
    %y = tile.mma %p, %q, %w : tensor<32x32xbf16>, tensor<32x64xbf16>, tensor<32x64xf32>
    scf.yield %x, %y : tensor<32x64xf32>, tensor<32x64xf32>
  }
  %sum = arith.addf %r#0, %r#1 : tensor<32x64xf32>
  tile.store %o[%c0, %c0], %sum : !tile.array<?x?xf32, mut>, tensor<32x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @one_sum
// CHECK-SAME: num_warps = 1 : i32
tile.kernel @one_sum(%a: !tile.array<?x?xbf16>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<32x64xf32>
  %zs = arith.constant dense<0.0> : tensor<32x32xf32>
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %z) -> tensor<32x64xf32> {
    %k = tile.load %a[%i, %c1] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
    %t = tile.permute %k [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = tile.mma %q, %t, %zs : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
    %p = arith.truncf %s : tensor<32x32xf32> to tensor<32x32xbf16>
    %x = tile.mma %p, %k, %v : tensor<32x32xbf16>, tensor<32x64xbf16>, tensor<32x64xf32>
    scf.yield %x : tensor<32x64xf32>
  }
  tile.store %o[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<32x64xf32>
  tile.return
}

// The same without the chain: sums of products, which copies run ahead of.
// CHECK-LABEL: tile.kernel @no_chain
// CHECK-SAME: num_warps = 4 : i32
// OLD-LABEL: tile.kernel @no_chain
// OLD-SAME: num_warps = 1 : i32
tile.kernel @no_chain(%a: !tile.array<?x?xbf16>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<16x64xf32> {
    %x = tile.load %a[%c0, %i] : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
    %y = tile.load %a[%i, %c0] : !tile.array<?x?xbf16> -> tensor<16x64xbf16>
    %s = tile.mma %x, %y, %sum : tensor<16x16xbf16>, tensor<16x64xbf16>, tensor<16x64xf32>
    scf.yield %s : tensor<16x64xf32>
  }
  tile.store %o[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x64xf32>
  tile.return
}

// Where a step is copied from is loaded first, and a step is short.
// CHECK-LABEL: tile.kernel @blocks_by_index
// CHECK-SAME: num_warps = 1 : i32
tile.kernel @blocks_by_index(%a: !tile.array<?x?xbf16>, %at: !tile.array<?xi32>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<16x64xf32> {
    %x = tile.load %a[%c0, %i] : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
    %p = tile.load %at[%i] elements : !tile.array<?xi32> -> i32
    %j = arith.index_cast %p : i32 to index
    %y = tile.load %a[%j, %c0] : !tile.array<?x?xbf16> -> tensor<16x64xbf16>
    %s = tile.mma %x, %y, %sum : tensor<16x16xbf16>, tensor<16x64xbf16>, tensor<16x64xf32>
    scf.yield %s : tensor<16x64xf32>
  }
  tile.store %o[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<16x64xf32>
  tile.return
}

// Products of single threads: two warps where one has 4096 multiplications a thread and round.
// CHECK-LABEL: tile.kernel @by_threads
// CHECK-SAME: num_warps = 2 : i32
tile.kernel @by_threads(%a: !tile.array<?x?xf32>, %o: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] : !tile.array<?x?xf32> -> tensor<32x128xf32>
    %y = tile.load %a[%i, %c0] : !tile.array<?x?xf32> -> tensor<128x32xf32>
    %s = tile.mma %x, %y, %sum : tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  tile.store %o[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<32x32xf32>
  tile.return
}

// Gathered and reduced in a loop: one warp needs no barrier.
// CHECK-LABEL: tile.kernel @exchanges
// CHECK-SAME: num_warps = 1 : i32
tile.kernel @exchanges(%a: !tile.array<?x?xf32>, %o: !tile.array<?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<32xf32>
  %i0 = tile.iota : tensor<32xindex>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<32xf32> {
    %row = tile.splat %i : index -> tensor<16x32xindex>
    %flat = tile.reshape %i0 : tensor<32xindex> -> tensor<1x32xindex>
    %column = tile.broadcast %flat : tensor<1x32xindex> -> tensor<16x32xindex>
    %x = tile.gather %a[%row, %column] : !tile.array<?x?xf32>, [tensor<16x32xindex>, tensor<16x32xindex>] -> tensor<16x32xf32>
    %s = tile.reduce(%x) axes [0] : (tensor<16x32xf32>) -> tensor<32xf32> {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tile.yield %t : f32
    }
    %u = arith.addf %sum, %s : tensor<32xf32>
    scf.yield %u : tensor<32xf32>
  }
  tile.store %o[%c0], %r : !tile.array<?xf32, mut>, tensor<32xf32>
  tile.return
}

// Found by an index of four bytes: as tiles of such elements.
// CHECK-LABEL: tile.kernel @bytes_by_index
// CHECK-SAME: num_warps = 4 : i32
tile.kernel @bytes_by_index(%a: !tile.array<?xi8>, %o: !tile.array<?xi8, mut>, %p: !tile.array<?xi8>) {
  %c0 = arith.constant 0 : index
  %b = tile.load %p[%c0] : !tile.array<?xi8> -> tensor<512xi8>
  %i = arith.extsi %b : tensor<512xi8> to tensor<512xi32>
  %x = tile.gather %a[%i] : !tile.array<?xi8>, [tensor<512xi32>] -> tensor<512xi8>
  tile.store %o[%c0], %x : !tile.array<?xi8, mut>, tensor<512xi8>
  tile.return
}

// 16 words a thread.
// CHECK-LABEL: tile.kernel @sorts
// CHECK-SAME: num_warps = 2 : i32
tile.kernel @sorts(%a: !tile.array<?xi32, mut>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.array<?xi32, mut> -> tensor<1024xi32>
  %s = tile.sort(%x) axis 0 unsigned : (tensor<1024xi32>) -> tensor<1024xi32>
  tile.store %a[%c0], %s : !tile.array<?xi32, mut>, tensor<1024xi32>
  tile.return
}

// RUN: tile-opt %s --tile-schedule-blocks=chip=sm_90a --remarks-filter=schedule-blocks --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s
// Neighbours along an axis of one position would compute the same twice: both operands are
// shared along axis 1, only one of them along axis 0.

#big = #tile.layout<[128, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>

// CHECK: Function=no_axis {{.*}}Remark="clusters of 2 blocks along axis 0 of the grid copy 32 KiB of each step once for both"
tile.kernel @no_axis(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, grid = ["dim(0, 0)"]} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %c0], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// CHECK: Function=one {{.*}}Remark="clusters of 2 blocks along axis 0 of the grid copy 32 KiB of each step once for both"
tile.kernel @one(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, grid = ["dim(0, 0)", "1"]} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %c0], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

// CHECK: Function=several {{.*}}Remark="clusters of 2 blocks along axis 1 of the grid copy 64 KiB of each step once for both"
tile.kernel @several(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, grid = ["dim(0, 0)", "dim(1, 1)"]} {
  %m = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32, #big>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32, #big>) {
    %x = tile.load %a[%m, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %y = tile.load %b[%k, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<128x128xbf16, #big>
    %p = tile.mma %x, %y, %s : tensor<128x128xbf16, #big>, tensor<128x128xbf16, #big>, tensor<128x128xf32, #big>
    scf.yield %p : tensor<128x128xf32, #big>
  }
  tile.store %c[%m, %c0], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32, #big>
  tile.return
}

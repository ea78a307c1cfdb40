// RUN: tile-opt %s --tile-select-copies=chip=sm_90a | FileCheck %s
// RUN: tile-opt %s --tile-select-copies=chip=sm_80 | FileCheck %s --check-prefix=THREADS
// RUN: tile-opt %s --tile-select-copies=chip=sm_90a --remarks-filter=select-copies --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Loads that products take in another shape, and stores of tiles in another shape.

// Rows and columns of a part of an image as one dim, as they come, or the other way round:
// a box of the array is that, in the order in which it lies. So is what is stored.
// CHECK-LABEL: tile.kernel @image
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "tma"}
// CHECK: tile.store {{.*}} {tile.copy = "tma"}
// REMARK: [Passed] {{.*}}Function=image {{.*}}Remark="the copy engine brings bf16[1, 4, 16, 64] of `arg0` to shared memory"
// REMARK: [Passed] {{.*}}Function=image {{.*}}Remark="the copy engine brings bf16[1, 4, 16, 64] of `arg0` to shared memory"
// REMARK: [Passed] {{.*}}Function=image {{.*}}Remark="the copy engine takes f32[1, 4, 16, 64] to `arg1`"
tile.kernel @image(%x: !tile.array<?x?x?x?xbf16>, %y: !tile.array<?x?x?x?xf32, mut>, %n: index, %w: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.block_id 0 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %p = tile.load %x[%n, %n, %i, %c0] elements : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16>
    %a = tile.reshape %p : tensor<1x4x16x64xbf16> -> tensor<64x64xbf16>
    %q = tile.load %x[%i, %n, %n, %c0] elements : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16>
    %c = tile.reshape %q : tensor<1x4x16x64xbf16> -> tensor<64x64xbf16>
    %t = tile.permute %c [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %m = tile.mma %a, %t, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  %o = tile.reshape %r : tensor<64x64xf32> -> tensor<1x4x16x64xf32>
  // A position of the grid, taken apart by a number that is not negative.
  %d = tile.dim %y, 2 : !tile.array<?x?x?x?xf32, mut>
  %row = tile.divide trunc signed %b, %d : index
  %column = tile.remainder trunc signed %b, %d : index
  tile.store %y[%c0, %row, %column, %c0], %o elements : !tile.array<?x?x?x?xf32, mut>, tensor<1x4x16x64xf32>
  tile.return
}

// On chips without the engine threads copy them.
// THREADS-LABEL: tile.kernel @for_threads
// THREADS-COUNT-2: tile.load {{.*}} {tile.copy = "cp_async"}
tile.kernel @for_threads(%x: !tile.array<?x?x?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %p = tile.load %x[%n, %n, %i, %c0] elements : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16>
    %a = tile.reshape %p : tensor<1x4x16x64xbf16> -> tensor<64x64xbf16>
    %q = tile.load %x[%i, %n, %n, %c0] elements : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16>
    %c = tile.reshape %q : tensor<1x4x16x64xbf16> -> tensor<64x64xbf16>
    %t = tile.permute %c [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %m = tile.mma %a, %t, %s {atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  tile.store %y[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// Not every shape will do, and what is in the way is said.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: tile.copy
// REMARK: [Missed] {{.*}}Function=others {{.*}}Remark="bf16[64, 2, 32] of `arg0` goes through registers: dims are exchanged of which a reshape has cut one"
// REMARK: [Missed] {{.*}}Function=others {{.*}}Remark="bf16[32, 128] of `arg1` goes through registers: as it is reshaped, boxes of the array do not make up what the product reads, and the product reads it by itself"
// REMARK: [Missed] {{.*}}Function=others {{.*}}Remark="bf16[2, 64, 32] of `arg0` goes through registers: as it is reshaped, boxes
// REMARK: [Missed] {{.*}}Function=others {{.*}}Remark="bf16[64, 64] of `arg1` goes through registers: as it is reshaped, none of its dims runs along the array's last"
tile.kernel @others(%x: !tile.array<?x?x?xbf16>, %v: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant dense<1.0> : tensor<64x32xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = arith.constant dense<0.0> : tensor<64x128xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %j = %d) -> (tensor<64x64xf32>, tensor<64x128xf32>) {
    %p = tile.load %x[%n, %n, %i] : !tile.array<?x?x?xbf16> -> tensor<64x2x32xbf16>
    %q = tile.reshape %p : tensor<64x2x32xbf16> -> tensor<8x8x64xbf16>
    %e = tile.permute %q [1, 0, 2] : tensor<8x8x64xbf16> -> tensor<8x8x64xbf16>
    %a = tile.reshape %e : tensor<8x8x64xbf16> -> tensor<64x64xbf16>
    %f = tile.load %v[%n, %i] : !tile.array<?x?xbf16> -> tensor<32x128xbf16>
    %b = tile.reshape %f : tensor<32x128xbf16> -> tensor<64x64xbf16>
    %m = tile.mma %a, %b, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %g = tile.load %x[%i, %n, %n] : !tile.array<?x?x?xbf16> -> tensor<2x64x32xbf16>
    %h = tile.permute %g [1, 0, 2] : tensor<2x64x32xbf16> -> tensor<64x2x32xbf16>
    %k = tile.reshape %h : tensor<64x2x32xbf16> -> tensor<64x64xbf16>
    %l = tile.mma %k, %b, %m {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %o = tile.load %v[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %t = tile.permute %o [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %u = tile.reshape %t : tensor<64x64xbf16> -> tensor<32x128xbf16>
    %w = tile.mma %c, %u, %j {atom = "wgmma"} : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    scf.yield %l, %w : tensor<64x64xf32>, tensor<64x128xf32>
  }
  tile.store %y[%n, %n], %r#0 : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.store %y[%n, %c0], %r#1 : !tile.array<?x?xf32, mut>, tensor<64x128xf32>
  tile.return
}

// RUN: tile-opt %s --tile-choose-warps=chip=sm_90a | FileCheck %s
// RUN: tile-opt %s --tile-choose-warps="num-warps=2 chip=sm_80" | FileCheck %s --check-prefix=ASKED
// RUN: tile-opt %s --tile-choose-warps=chip=sm_90a --remarks-filter=choose-warps --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-choose-warps=chip=sm_80 | FileCheck %s --check-prefix=OLD
// The number of warps: what the kernel says, what is asked, hints, tiles, in this order.

// CHECK-LABEL: tile.kernel @says
// CHECK-SAME: num_warps = 16
// ASKED-LABEL: tile.kernel @says
// ASKED-SAME: num_warps = 16
tile.kernel @says() attributes {num_warps = 16 : i32} {
  tile.return
}

// CHECK-LABEL: tile.kernel @hints
// CHECK-SAME: num_warps = 8 : i32
// ASKED-LABEL: tile.kernel @hints
// ASKED-SAME: num_warps = 2 : i32
// REMARK: [Passed] {{.*}}Function=hints {{.*}}Remark="8 warps as the hint asks"
tile.kernel @hints() attributes {hints = {num_warps = 4 : i64, sm_90a.num_warps = 8 : i64}} {
  tile.return
}

// A hint for another chip does not count; no tile needs no second warp.
// CHECK-LABEL: tile.kernel @other_chip
// CHECK-SAME: num_warps = 1 : i32
// REMARK: [Passed] {{.*}}Function=other_chip {{.*}}Remark="1 warp as no tile is larger"
tile.kernel @other_chip() attributes {hints = {sm_80.num_warps = 8 : i64}} {
  tile.return
}

// 16 bytes a thread up to four warps.
// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: num_warps = 2 : i32
// REMARK: [Passed] {{.*}}Function=small {{.*}}Remark="2 warps for the tile f32[256]"
tile.kernel @small(%a: !tile.array<?xf32>, %i: index) {
  %0 = tile.load %a[%i] : !tile.array<?xf32> -> tensor<256xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @row
// CHECK-SAME: num_warps = 4 : i32
// REMARK: [Passed] {{.*}}Function=row {{.*}}Remark="4 warps for the tile bf16[1, 1024]"
tile.kernel @row(%a: !tile.array<?x?xbf16>, %i: index) {
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  tile.return
}

// 64 bytes a thread where rows are reduced, and up to 64 elements beyond 8 warps.
// CHECK-LABEL: tile.kernel @reduced_row
// CHECK-SAME: num_warps = 1 : i32
tile.kernel @reduced_row(%a: !tile.array<?x?xbf16>, %i: index) attributes {tile.facts = ["aligned16"]} {
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %1 = tile.reduce(%0) axes [0, 1] : (tensor<1x1024xbf16>) -> bf16 {
  ^bb0(%x: bf16, %y: bf16):
    %m = arith.maximumf %x, %y : bf16
    tile.yield %m : bf16
  }
  tile.return
}

// 16 elements a thread where nothing is known of alignment.
// CHECK-LABEL: tile.kernel @reduced_row_anywhere
// CHECK-SAME: num_warps = 2 : i32
tile.kernel @reduced_row_anywhere(%a: !tile.array<?x?xbf16>, %i: index) {
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<1x1024xbf16>
  %1 = tile.reduce(%0) axes [0, 1] : (tensor<1x1024xbf16>) -> bf16 {
  ^bb0(%x: bf16, %y: bf16):
    %m = arith.maximumf %x, %y : bf16
    tile.yield %m : bf16
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @long_reduced_row
// CHECK-SAME: num_warps = 8 : i32
tile.kernel @long_reduced_row(%a: !tile.array<?x?xbf16>, %i: index) {
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16>
  %w = arith.extf %0 : tensor<1x16384xbf16> to tensor<1x16384xf32>
  %1 = tile.reduce(%w) axes [0, 1] : (tensor<1x16384xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    %m = arith.maximumf %x, %y : f32
    tile.yield %m : f32
  }
  tile.return
}

// Long rows: 32 elements a thread.
// CHECK-LABEL: tile.kernel @long_row
// CHECK-SAME: num_warps = 32 : i32
// REMARK: [Passed] {{.*}}Function=long_row {{.*}}Remark="32 warps for the tile bf16[1, 32768]"
tile.kernel @long_row(%a: !tile.array<?x?xbf16>, %i: index) {
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<1x32768xbf16>
  tile.return
}

// With wide copies and warps that read shared memory, four of them: two blocks fit then.
// CHECK-LABEL: tile.kernel @large_product
// CHECK-SAME: num_warps = 8 : i32
// CHECK-LABEL: tile.kernel @group_product
// CHECK-SAME: num_warps = 8 : i32
// OLD-LABEL: tile.kernel @large_product
// OLD-SAME: num_warps = 8 : i32
// OLD-LABEL: tile.kernel @group_product
// OLD-SAME: num_warps = 4 : i32
// ASKED-LABEL: tile.kernel @large_product
// REMARK: [Passed] {{.*}}Function=large_product {{.*}}Remark="8 warps for the product f32[128, 128]"
tile.kernel @large_product(%a: !tile.array<?x?xf32>, %i: index) attributes {tile.facts = ["aligned16"]} {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<128x128xf32>
  %r = tile.mma %x, %x, %x : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
  tile.return
}
// REMARK: [Passed] {{.*}}Function=group_product {{.*}}Remark="8 warps for the product f32[128, 128]"
tile.kernel @group_product(%a: !tile.array<?x?xbf16>, %i: index) attributes {tile.facts = ["aligned16"]} {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<128x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = tile.mma %x, %x, %z : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
  tile.return
}

// Few accumulators, and an instruction that four warps do together.
// CHECK-LABEL: tile.kernel @few_rows
// CHECK-SAME: num_warps = 4 : i32
// OLD-LABEL: tile.kernel @few_rows
// OLD-SAME: num_warps = 1 : i32
tile.kernel @few_rows(%a: !tile.array<?x?xbf16>, %i: index) {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<16x16xbf16>
  %y = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<16x64xbf16>
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = tile.mma %x, %y, %z : tensor<16x16xbf16>, tensor<16x64xbf16>, tensor<16x64xf32>
  tile.return
}

// 64 accumulators a thread.
// CHECK-LABEL: tile.kernel @narrow_product
// CHECK-SAME: num_warps = 4 : i32
// REMARK: [Passed] {{.*}}Function=narrow_product {{.*}}Remark="4 warps for the product f32[128, 64]"
tile.kernel @narrow_product(%a: !tile.array<?x?xf32>, %i: index) {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<128x64xf32>
  %y = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<64x64xf32>
  %r = tile.mma %x, %y, %x : tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
  tile.return
}

// Products: 32 accumulators a thread, at most 8 warps.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: num_warps = 8 : i32
// REMARK: [Passed] {{.*}}Function=product {{.*}}Remark="8 warps for the product f32[256, 256]"
tile.kernel @product(%a: !tile.array<?x?xf32>, %i: index) {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<256x256xf32>
  %r = tile.mma %x, %x, %x : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  tile.return
}

// Reductions between products in a loop: a warp group for each 64 rows, where 64 sums a
// thread are all; with a wider second product two warp groups, as for any product.
// CHECK-LABEL: tile.kernel @reduces_between
// CHECK-SAME: num_warps = 16 : i32
// CHECK-LABEL: tile.kernel @too_wide
// CHECK-SAME: num_warps = 8 : i32
// OLD-LABEL: tile.kernel @reduces_between
// OLD-SAME: num_warps = 8 : i32
tile.kernel @reduces_between(%n: index) {
  %q = arith.constant dense<1.0> : tensor<256x64xbf16>
  %k = arith.constant dense<1.0> : tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<256x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> tensor<256x64xf32> {
    %s = tile.mma %q, %k, %z : tensor<256x64xbf16>, tensor<64x64xbf16>, tensor<256x64xf32>
    %m = tile.reduce(%s) axes [1] : (tensor<256x64xf32>) -> tensor<256xf32> {
    ^bb0(%x: f32, %y: f32):
      %g = arith.maximumf %x, %y : f32
      tile.yield %g : f32
    }
    %p = arith.truncf %s : tensor<256x64xf32> to tensor<256x64xbf16>
    %o = tile.mma %p, %k, %acc : tensor<256x64xbf16>, tensor<64x64xbf16>, tensor<256x64xf32>
    scf.yield %o : tensor<256x64xf32>
  }
  tile.return
}
tile.kernel @too_wide(%n: index) {
  %q = arith.constant dense<1.0> : tensor<256x64xbf16>
  %k = arith.constant dense<1.0> : tensor<64x64xbf16>
  %v = arith.constant dense<1.0> : tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<256x64xf32>
  %w = arith.constant dense<0.0> : tensor<256x128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %w) -> tensor<256x128xf32> {
    %s = tile.mma %q, %k, %z : tensor<256x64xbf16>, tensor<64x64xbf16>, tensor<256x64xf32>
    %m = tile.reduce(%s) axes [1] : (tensor<256x64xf32>) -> tensor<256xf32> {
    ^bb0(%x: f32, %y: f32):
      %g = arith.maximumf %x, %y : f32
      tile.yield %g : f32
    }
    %p = arith.truncf %s : tensor<256x64xf32> to tensor<256x64xbf16>
    %o = tile.mma %p, %v, %acc : tensor<256x64xbf16>, tensor<64x128xbf16>, tensor<256x128xf32>
    scf.yield %o : tensor<256x128xf32>
  }
  tile.return
}

// Two groups of 64 rows each in smaller tiles, too; 64 rows are one group's.
// CHECK-LABEL: tile.kernel @reduces_128
// CHECK-SAME: num_warps = 8 : i32
// CHECK-LABEL: tile.kernel @reduces_64
// CHECK-SAME: num_warps = 4 : i32
// OLD-LABEL: tile.kernel @reduces_128
// OLD-SAME: num_warps = 4 : i32
tile.kernel @reduces_128(%n: index) {
  %q = arith.constant dense<1.0> : tensor<128x64xbf16>
  %k = arith.constant dense<1.0> : tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> tensor<128x64xf32> {
    %s = tile.mma %q, %k, %z : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %m = tile.reduce(%s) axes [1] : (tensor<128x64xf32>) -> tensor<128xf32> {
    ^bb0(%x: f32, %y: f32):
      %g = arith.maximumf %x, %y : f32
      tile.yield %g : f32
    }
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
    %o = tile.mma %p, %k, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %o : tensor<128x64xf32>
  }
  tile.return
}
tile.kernel @reduces_64(%n: index) {
  %q = arith.constant dense<1.0> : tensor<64x64xbf16>
  %k = arith.constant dense<1.0> : tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %z) -> tensor<64x64xf32> {
    %s = tile.mma %q, %k, %z : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = tile.reduce(%s) axes [1] : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %g = arith.maximumf %x, %y : f32
      tile.yield %g : f32
    }
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %o = tile.mma %p, %k, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %o : tensor<64x64xf32>
  }
  tile.return
}

// Four products of a loop have as many accumulators as 4 warps have registers.
// CHECK-LABEL: tile.kernel @many_products
// CHECK-SAME: num_warps = 8
// REMARK: [Passed] {{.*}}Function=many_products {{.*}}Remark="8 warps for all products of the loop of f32[128, 64]"
tile.kernel @many_products(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z, %q = %z, %s = %z, %t = %z) -> (tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<128x64xbf16>
    %y = tile.load %b[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %e = tile.mma %x, %y, %p : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %f = tile.mma %x, %y, %q : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %g = tile.mma %x, %y, %s : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %h = tile.mma %x, %y, %t : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %e, %f, %g, %h : tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>
  }
  tile.store %c[%c0, %n], %r#0 : !tile.array<?x?xf32, mut>, tensor<128x64xf32>
  tile.store %c[%c1, %n], %r#1 : !tile.array<?x?xf32, mut>, tensor<128x64xf32>
  tile.store %c[%n, %c0], %r#2 : !tile.array<?x?xf32, mut>, tensor<128x64xf32>
  tile.store %c[%n, %c1], %r#3 : !tile.array<?x?xf32, mut>, tensor<128x64xf32>
  tile.return
}

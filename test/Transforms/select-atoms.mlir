// RUN: tile-opt %s --tile-select-atoms | FileCheck %s
// RUN: tile-opt %s --tile-select-atoms=chip=sm_80 | FileCheck %s --check-prefix=OLD
// RUN: tile-opt %s --tile-select-atoms=chip=sm_89 | FileCheck %s --check-prefix=NEW
// RUN: tile-opt %s --tile-select-atoms=chip=sm_80 --remarks-filter=select-atoms --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-select-atoms=chip=sm_90a --remarks-filter=select-atoms --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=GROUPS
// Every product gets an atom and the kernel its warps; other kernels are left alone.

// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: num_warps = 4 : i32
// REMARK: [Passed] {{.*}}Function=product {{.*}}Remark="f32[64, 64] x f32[64, 64] to f32[64, 64] by fma"
// REMARK: [Missed] {{.*}}Function=product {{.*}}Remark="not by wgmma: the chip does not have it"
// REMARK: [Missed] {{.*}}Function=product {{.*}}Remark="not by mma_sync_tf32: `precision: tf32` would allow it"
tile.kernel @product(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %i: index) {
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<64x64xf32>
  // CHECK: tile.mma {{.*}} {atom = "fma"}
  %r = tile.mma %x, %x, %x : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.store %c[%i, %i], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// An unknown name is replaced.
// CHECK-LABEL: tile.kernel @unknown
// REMARK: [Passed] {{.*}}Function=unknown {{.*}}Remark="i8[2, 8, 8] x i8[2, 8, 8] to i32[2, 8, 8] by mma_sync of 16 x 8 x 32"
// REMARK: [Missed] {{.*}}Function=unknown {{.*}}Remark="not by wgmma: it does not do tiles of these shapes"
tile.kernel @unknown(%a: !tile.array<?x?x?xi8>, %c: !tile.array<?x?x?xi32, mut>, %i: index)
    attributes {num_warps = 2 : i32} {
  %x = tile.load %a[%i, %i, %i] : !tile.array<?x?x?xi8> -> tensor<2x8x8xi8>
  %z = arith.constant dense<0> : tensor<2x8x8xi32>
  // CHECK: tile.mma {{.*}} {atom = "fma"}
  %r = tile.mma %x, %x, %z {atom = "slide_rule"} : tensor<2x8x8xi8>, tensor<2x8x8xi8>, tensor<2x8x8xi32>
  tile.store %c[%i, %i, %i], %r : !tile.array<?x?x?xi32, mut>, tensor<2x8x8xi32>
  tile.return
}

// What the chip has and how exact a product has to be decide.
// OLD-LABEL: tile.kernel @precisions
// OLD: tile.mma {{.*}} {atom = "fma"}
// OLD: tile.mma {{.*}} {atom = "mma_sync_tf32"}
// OLD: tile.mma {{.*}} {atom = "mma_sync_f8_bits"}
// OLD: tile.mma {{.*}} {atom = "mma_sync_f8_bits"}
// NEW-LABEL: tile.kernel @precisions
// NEW: tile.mma {{.*}} {atom = "fma"}
// NEW: tile.mma {{.*}} {atom = "mma_sync_tf32"}
// NEW: tile.mma {{.*}} {atom = "mma_sync_f8_half"}
// NEW: tile.mma {{.*}} {atom = "mma_sync_f8"}
// REMARK: [Passed] {{.*}}Function=precisions {{.*}}Remark="f32[64, 64] x f32[64, 64] to f32[64, 64] by fma"
// REMARK: [Missed] {{.*}}Function=precisions {{.*}}Remark="not by wgmma: the chip does not have it"
// REMARK: [Missed] {{.*}}Function=precisions {{.*}}Remark="not by mma_sync_tf32: `precision: tf32` would allow it"
// REMARK: [Passed] {{.*}}Function=precisions {{.*}}Remark="f32[64, 64] x f32[64, 64] to f32[64, 64] by mma_sync_tf32 of 16 x 8 x 8"
// REMARK: [Missed] {{.*}}Function=precisions {{.*}}Remark="not by wgmma: the chip does not have it"
// REMARK: [Passed] {{.*}}Function=precisions {{.*}}Remark="f8e4m3[64, 64] x f8e4m3[64, 64] to f32[64, 64] by mma_sync_f8_bits of 16 x 8 x 16"
// REMARK: [Missed] {{.*}}Function=precisions {{.*}}Remark="not by wgmma: the chip does not have it"
tile.kernel @precisions() {
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %y = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
  %0 = tile.mma %x, %x, %x : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  %1 = tile.mma %x, %x, %x precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  %2 = tile.mma %y, %y, %x : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  %3 = tile.mma %y, %y, %x precision(fast) : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  tile.return
}

// The kernel has too few warps for the best.
// GROUPS: [Passed] {{.*}}Function=two_warps {{.*}}Remark="f16[64, 64] x f16[64, 64] to f32[64, 64] by mma_sync of 16 x 8 x 16"
// GROUPS: [Missed] {{.*}}Function=two_warps {{.*}}Remark="not by wgmma: it would take 4 warps"
tile.kernel @two_warps() attributes {num_warps = 2 : i32} {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.mma %x, %x, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  tile.return
}

// Few rows are multiplied the other way round; not where the unit wants an operand of 8 bits
// along K and the array has it along N.
// GROUPS: [Passed] {{.*}}Function=few_rows {{.*}}Remark="bf16[16, 64] x bf16[64, 128] to f32[16, 128] by wgmma_transposed of 64 x 16 x 16"
// GROUPS: [Passed] {{.*}}Function=few_rows {{.*}}Remark="i8[16, 64] x i8[64, 64] to i32[16, 64] by wgmma_transposed of 64 x 16 x 32"
// GROUPS: [Passed] {{.*}}Function=few_rows {{.*}}Remark="i8[16, 64] x i8[64, 64] to i32[16, 64] by mma_sync of 16 x 8 x 32"
// GROUPS: [Missed] {{.*}}Function=few_rows {{.*}}Remark="not by wgmma: it does not do tiles of these shapes"
tile.kernel @few_rows(%a: !tile.array<?x?xi8>, %i: index) attributes {num_warps = 4 : i32} {
  %x = arith.constant dense<1.0> : tensor<16x64xbf16>
  %y = arith.constant dense<1.0> : tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<16x128xf32>
  %r = tile.mma %x, %y, %z : tensor<16x64xbf16>, tensor<64x128xbf16>, tensor<16x128xf32>
  %p = tile.load %a[%i, %i] : !tile.array<?x?xi8> -> tensor<16x64xi8>
  %q = tile.load %a[%i, %i] : !tile.array<?x?xi8> -> tensor<64x64xi8>
  %t = tile.permute %q [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
  %s = arith.constant dense<0> : tensor<16x64xi32>
  %along = tile.mma %p, %t, %s : tensor<16x64xi8>, tensor<64x64xi8>, tensor<16x64xi32>
  %across = tile.mma %p, %q, %s : tensor<16x64xi8>, tensor<64x64xi8>, tensor<16x64xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @nothing
// CHECK-NOT: num_warps
tile.kernel @nothing() {
  tile.return
}

// RUN: tile-opt %s --tile-select-copies=chip=sm_90a | FileCheck %s
// RUN: tile-opt %s --tile-select-copies=chip=sm_80 | FileCheck %s --check-prefix=NONE
// RUN: tile-opt %s --tile-select-copies=chip=sm_90a --remarks-filter=select-copies --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Only a product that reads shared memory by itself has its loads copied there.

// NONE-NOT: tile.copy = "tma"

// CHECK-LABEL: tile.kernel @threads_read
// CHECK-NOT: tile.copy
// REMARK: [Missed] {{.*}}Function=threads_read {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: threads read it for the product, and it is in no loop"
// REMARK: [Missed] {{.*}}Function=threads_read {{.*}}Remark="threads store f32[64, 64] to `arg1`: the engine brings none of the kernel's tiles"
tile.kernel @threads_read(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%n, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %p = tile.mma %x, %x, %z {atom = "fma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %c[%n, %n], %p : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// Products whose threads read shared memory: loads in loops are copied by all threads.
// A value that is computed with first, or padded with something, is loaded.
// CHECK-LABEL: tile.kernel @in_a_loop
// CHECK: tile.load %arg0[%c0, %c0] : !tile.array<?x?xbf16>
// CHECK: scf.for
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}] {tile.copy = "cp_async"} :
// CHECK: tile.load %arg0[%{{.*}}, %c0] : !tile.array<?x?xbf16>
// CHECK: tile.load %arg0[%c0, %{{.*}}] pad(1.0
// CHECK-NOT: tile.copy
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: threads read it for the product, and it is in no loop"
// REMARK: [Passed] {{.*}}Function=in_a_loop {{.*}}Remark="threads copy bf16[64, 64] of `arg0` to shared memory, and not the engine: threads read it for the product"
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: not only products use it"
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: copies pad with zeros only"
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="threads store f32[64, 64] to `arg1`: the engine brings none of the kernel's tiles"
tile.kernel @in_a_loop(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %w = arith.addf %y, %y : tensor<64x64xbf16>
    %v = tile.load %a[%c0, %i] pad(1.0 : bf16) : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %q, %x, %s {atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = tile.mma %w, %v, %p {atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

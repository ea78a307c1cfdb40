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
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: not only products use it"
// REMARK: [Missed] {{.*}}Function=in_a_loop {{.*}}Remark="bf16[64, 64] of `arg0` goes through registers: copies pad with zeros only"
// REMARK: [Passed] {{.*}}Function=in_a_loop {{.*}}Remark="threads copy bf16[64, 64] of `arg0` to shared memory, and not the engine: threads read it for the product"
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

// What threads read without bank conflicts as the engine swizzles it, the engine copies, where
// the product is large; not its store. b may lie along N or, below, along K.
// CHECK-LABEL: tile.kernel @engine_for_threads
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "tma"} : !tile.array<?x?xf32>
// CHECK-NOT: tile.copy
// NONE-LABEL: tile.kernel @engine_for_threads
// NONE-COUNT-2: tile.load {{.*}} {tile.copy = "cp_async"} : !tile.array<?x?xf32>
tile.kernel @engine_for_threads(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xf32> -> tensor<128x32xf32>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xf32> -> tensor<32x128xf32>
    %p = tile.mma %x, %y, %s {atom = "fma"} : tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<128x128xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @engine_along_k
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "tma"} : !tile.array<?x?xf32>
// CHECK-NOT: tile.copy
tile.kernel @engine_along_k(%a: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xf32> -> tensor<128x32xf32>
    %y = tile.load %a[%n, %i] order [1, 0] : !tile.array<?x?xf32> -> tensor<32x128xf32>
    %p = tile.mma %x, %y, %s {atom = "fma"} : tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tile.return
}

// With f64 in fragments of 8 rows its rows meet in banks: threads copy, to where they do not.
// CHECK-LABEL: tile.kernel @threads_for_threads
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "cp_async"} : !tile.array<?x?xf64>
// CHECK-NOT: tile.copy
tile.kernel @threads_for_threads(%a: !tile.array<?x?xf64>, %c: !tile.array<?x?xf64, mut>, %n: index) attributes {num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x128xf64>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xf64> -> tensor<128x32xf64>
    %y = tile.load %a[%n, %i] order [1, 0] : !tile.array<?x?xf64> -> tensor<32x128xf64>
    %p = tile.mma %x, %y, %s {atom = "mma_sync"} : tensor<128x32xf64>, tensor<32x128xf64>, tensor<128x128xf64>
    scf.yield %p : tensor<128x128xf64>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf64, mut>, tensor<128x128xf64>
  tile.return
}

// One kind of copies a kernel: beside those of a warp group's product, loads stay loads.
// CHECK-LABEL: tile.kernel @both
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "tma"} : !tile.array<?x?xbf16>
// CHECK-NOT: tile.copy = "cp_async"
// CHECK: tile.return
tile.kernel @both(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %u = tile.load %b[%n, %i] : !tile.array<?x?xf32> -> tensor<64x64xf32>
    %v = tile.load %b[%i, %n] : !tile.array<?x?xf32> -> tensor<64x64xf32>
    %q = tile.mma %u, %v, %p {atom = "fma"} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    scf.yield %q : tensor<64x64xf32>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// Nothing is known of alignment: elements of 4 bytes are copied one by one, smaller ones not.
// CHECK-LABEL: tile.kernel @general
// CHECK-COUNT-2: tile.load {{.*}} {tile.copy = "cp_async"} : !tile.array<?x?xf32>
// CHECK-COUNT-2: tile.load {{.*}} : !tile.array<?x?xbf16>
// CHECK: tile.store %{{.*}}, %{{.*}} : !tile.array<?x?xf32, mut>
tile.kernel @general(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {arrays_overlap, num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xf32> -> tensor<64x16xf32>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xf32> -> tensor<16x64xf32>
    %p = tile.mma %x, %y, %s {atom = "fma"} : tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r) -> (tensor<64x64xf32>) {
    %x = tile.load %b[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x16xbf16>
    %y = tile.load %b[%i, %n] : !tile.array<?x?xbf16> -> tensor<16x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "mma_sync"} : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%n, %n], %q : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// What is written in the loop may be what is loaded next.
// CHECK-LABEL: tile.kernel @overwritten
// CHECK-NOT: tile.copy
// CHECK: tile.return
tile.kernel @overwritten(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {arrays_overlap, num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xf32> -> tensor<64x16xf32>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xf32> -> tensor<16x64xf32>
    %p = tile.mma %x, %y, %s {atom = "fma"} : tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x64xf32>
    tile.store %c[%n, %i], %p : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.return
}

// Added to a tile that the indices name, whose old values nobody wants: by the engine. A
// tile of statistics comes along in the loop of the copies.
// CHECK-LABEL: tile.kernel @adds
// CHECK: scf.for
// CHECK: tile.load %arg3[%{{.*}}, %{{.*}}] {tile.copy = "tma"} : !tile.array<?x?xf32>
// CHECK: tile.atomic add {{.*}} {tile.copy = "tma"}
tile.kernel @adds(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %d: !tile.array<?x?xf32, mut>, %b: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %i0 = tile.iota : tensor<64xindex>
  %i1 = tile.reshape %i0 : tensor<64xindex> -> tensor<64x1xindex>
  %i2 = tile.reshape %i0 : tensor<64xindex> -> tensor<1x64xindex>
  %rows = tile.broadcast %i1 : tensor<64x1xindex> -> tensor<64x64xindex>
  %columns = tile.broadcast %i2 : tensor<1x64xindex> -> tensor<64x64xindex>
  scf.for %i = %c0 to %n step %c1 {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %s = tile.load %b[%c0, %i] : !tile.array<?x?xf32> -> tensor<1x64xf32>
    %p = tile.mma %x, %y, %z {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = tile.broadcast %s : tensor<1x64xf32> -> tensor<64x64xf32>
    %q = arith.addf %p, %t : tensor<64x64xf32>
    %o = tile.atomic add %c[%rows, %columns] value(%q : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  }
  tile.return
}

// Not: the transposed tile, the diagonal, indices of 32 bits, an order, a mask, the largest
// of floats, the system's scope, an array that is read, too.
// CHECK-LABEL: tile.kernel @threads_add
// CHECK-NOT: tile.atomic {{.*}}tile.copy
// CHECK: tile.return
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `c`: rows of the tile are not rows of the array"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `c`: its indices do not name a tile of the array"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `c`: its indices do not name a tile of the array"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `c`: it has a mask"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic max of f32[64, 64] to `c`: the engine does not combine such elements so"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `c`: other devices are to see it"
// REMARK: Function=threads_add {{.*}}Remark="threads do the atomic add of f32[64, 64] to `d`: the kernel accesses the array in another way, too"
tile.kernel @threads_add(%a: !tile.array<?x?xbf16> {tile.name = "a"}, %c: !tile.array<?x?xf32, mut> {tile.name = "c"}, %d: !tile.array<?x?xf32, mut> {tile.name = "d"}, %m: i1, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %i0 = tile.iota : tensor<64xindex>
  %i1 = tile.reshape %i0 : tensor<64xindex> -> tensor<64x1xindex>
  %i2 = tile.reshape %i0 : tensor<64xindex> -> tensor<1x64xindex>
  %rows = tile.broadcast %i1 : tensor<64x1xindex> -> tensor<64x64xindex>
  %columns = tile.broadcast %i2 : tensor<1x64xindex> -> tensor<64x64xindex>
  %short = arith.index_cast %rows : tensor<64x64xindex> to tensor<64x64xi32>
  %mask = tile.splat %m : i1 -> tensor<64x64xi1>
  %old = tile.load %d[%c0, %c0] : !tile.array<?x?xf32, mut> -> tensor<64x64xf32>
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %old) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %r = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  }
  %o0 = tile.atomic add %c[%columns, %rows] value(%p : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o1 = tile.atomic add %c[%rows, %rows] value(%p : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o2 = tile.atomic add %c[%short, %columns] value(%p : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xi32>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o3 = tile.atomic add %c[%rows, %columns] value(%p : tensor<64x64xf32>) mask(%mask : tensor<64x64xi1>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o4 = tile.atomic max %c[%rows, %columns] value(%p : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o5 = tile.atomic add %c[%rows, %columns] value(%p : tensor<64x64xf32>) scope(sys) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  %o6 = tile.atomic add %d[%rows, %columns] value(%p : tensor<64x64xf32>) : !tile.array<?x?xf32, mut>, [tensor<64x64xindex>, tensor<64x64xindex>] -> tensor<64x64xf32>
  tile.return
}

// What the engine stores is there some time later. What is read before does not matter, in
// front of the store or of its loop; a read afterwards does, and so does a release.
// CHECK-LABEL: tile.kernel @read_before
// CHECK: tile.store %arg1{{.*}} {tile.copy = "tma"}
// CHECK: tile.store %arg2[%{{.*}}, %{{.*}}], %{{[0-9]+}} : !tile.array
tile.kernel @read_before(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %d: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %b = tile.block_id 0 : index
  %c1 = arith.constant 1 : index
  %old = tile.load %c[%b, %b] : !tile.array<?x?xf32, mut> -> tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %old) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%b, %b], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.store %d[%b, %b], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  %new = tile.load %d[%b, %b] : !tile.array<?x?xf32, mut> -> tensor<64x64xf32>
  tile.store %d[%c0, %b], %new : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @released
// CHECK-NOT: tile.store {{.*}}tile.copy
// CHECK: tile.return
// REMARK: Function=released {{.*}}Remark="threads store f32[64, 64] to `arg1`: an atomic operation of the kernel orders what is before it"
tile.kernel @released(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %f: !tile.array<?xi32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index
  %b = tile.block_id 0 : index
  %c1 = arith.constant 1 : index   %one = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%b, %b], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  %o = tile.atomic add %f[%c0] value(%one : i32) order(release) : !tile.array<?xi32, mut>, [index] -> i32
  tile.return
}

// Nor may a store begin before the array.
// CHECK-LABEL: tile.kernel @before
// CHECK-NOT: tile.store {{.*}}tile.copy
// CHECK: tile.return
// REMARK: Function=before {{.*}}Remark="threads store f32[64, 64] to `arg1`: it may begin before the array"
tile.kernel @before(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %c0 = arith.constant 0 : index   %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%n, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %a[%i, %n] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.mma %x, %y, %s {atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.store %c[%n, %c0], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// RUN: tile-opt %s --tile-stage-rings | FileCheck %s
// Loads that products consume together are one group; a product that needs another's
// result has a ring of its own, and what a loop uses again and again is pushed before it.

#acc = #tile.layout<[64, 64] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] lane [(0, 32), (1, 0), (2, 0), (4, 0), (8, 0)] warp [(16, 0), (32, 0)]>
#acc4 = #tile.layout<[1, 1, 64, 64] register [(0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 0, 4), (0, 0, 0, 8), (0, 0, 0, 16)] lane [(0, 0, 0, 32), (0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 4, 0), (0, 0, 8, 0)] warp [(0, 0, 16, 0), (0, 0, 32, 0)]>

// A transposed load is copied as it lies, into a buffer with the other order.
// CHECK-LABEL: tile.kernel @pair
// CHECK: %[[RING:.*]] = tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x64xbf16, #[[ROWS:.*]]>, !tgpu.buffer<64x64xbf16, #[[COLS:.*]]>]>
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK:   tgpu.push %[[RING]]
// CHECK:     tgpu.copy %{{.*}}[%{{.*}}, %[[K]]] order [0, 1] to 0
// CHECK:     tgpu.copy %{{.*}}[%{{.*}}, %[[K]]] order [1, 0] to 1
// CHECK:   %[[B:.*]]:2 = tgpu.pop %[[RING]]
// CHECK:   %[[X:.*]] = tgpu.load %[[B]]#0
// CHECK:   %[[Y:.*]] = tgpu.load %[[B]]#1
// CHECK:   tile.mma %[[X]], %[[Y]]
// CHECK:   tgpu.release %[[RING]]
// CHECK-NOT: tile.load
tile.kernel @pair(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%n, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%n, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %t = tile.permute %y [1, 0] : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %t, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// CHECK-LABEL: tile.kernel @chain
// CHECK-DAG: %[[V:.*]] = tgpu.ring {{.*}} !tgpu.ring<1x[!tgpu.buffer<64x64xbf16, {{[^,]*}}>]>
// CHECK: tgpu.push %[[Q:[0-9]+]]
// CHECK: tgpu.pop %[[Q]]
// CHECK: scf.for
// CHECK-DAG: tgpu.push %[[KEYS:[0-9]+]]
// CHECK-DAG: tgpu.push %[[VALUES:[0-9]+]]
// CHECK: tgpu.pop %[[KEYS]]
// CHECK: tile.mma
// CHECK: tgpu.release %[[KEYS]]
// CHECK: arith.truncf
// CHECK: tgpu.pop %[[VALUES]]
// CHECK: tile.mma
// CHECK: tgpu.release %[[VALUES]]
// CHECK: }
// CHECK: tgpu.release %[[Q]]
tile.kernel @chain(%q: !tile.array<?x?xbf16>, %k: !tile.array<?x?xbf16>, %v: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.load %q[%n, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %y = tile.load %k[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %w = tile.load %v[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %z : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    %t = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
    %o = tile.mma %t, %w, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %o : tensor<64x64xf32, #acc>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Dims of size one only pick a place: the buffer is without them, and transposed.
// CHECK-LABEL: tile.kernel @heads
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x64xbf16,
// CHECK: tgpu.copy %{{.*}}[%[[B:.*]], %[[H:.*]], %{{.*}}, %{{.*}}] order [3, 2] to 0 : !tile.array<?x?x?x64xbf16>
tile.kernel @heads(%k: !tile.array<?x?x?x64xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %y = tile.load %k[%c0, %n, %n, %c0] {tile.copy = "tma"} : !tile.array<?x?x?x64xbf16> -> tensor<1x1x64x64xbf16, #acc4>
  %x = tile.reshape %y : tensor<1x1x64x64xbf16, #acc4> -> tensor<64x64xbf16, #acc>
  %t = tile.permute %x [1, 0] : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #acc>
  %p = tile.mma %a, %t, %z : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
  tile.store %c[%n, %n], %p : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// All threads copy: the buffer is planned for their pieces and for matrix loads.
#fragments = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
// CHECK-LABEL: tile.kernel @threads
// CHECK: tgpu.ring copy "cp_async" : !tgpu.ring<1x[!tgpu.buffer<16x16xbf16,
// CHECK: tgpu.push
// CHECK: tgpu.pop
tile.kernel @threads(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #fragments>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<16x16xf32, #fragments>) {
    %x = tile.load %a[%j, %c0] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<16x16xbf16, #fragments>
    %y = tile.load %a[%c0, %j] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<16x16xbf16, #fragments>
    %p = tile.mma %x, %y, %s {atom = "mma_sync"} : tensor<16x16xbf16, #fragments>, tensor<16x16xbf16, #fragments>, tensor<16x16xf32, #fragments>
    scf.yield %p : tensor<16x16xf32, #fragments>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<16x16xf32, #fragments>
  tile.return
}

// Two products of one tile, which do not need each other: one ring of all three loads,
// though the last is loaded behind the first product.
// CHECK-LABEL: tile.kernel @shared
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x64xbf16, {{[^>]*}}>, !tgpu.buffer<64x64xbf16, {{[^>]*}}>, !tgpu.buffer<64x64xbf16, {{[^>]*}}>]>
// CHECK-NOT: tgpu.ring
// CHECK: tgpu.push
// CHECK: tgpu.pop
// CHECK: tile.mma
// CHECK: tile.mma
// CHECK: tgpu.release
tile.kernel @shared(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %d: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z, %t = %z) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%c0, %j] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    %w = tile.load %d[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %q = tile.mma %x, %w, %t : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p, %q : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  }
  tile.store %c[%c0, %n], %r#0 : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.store %c[%n, %c0], %r#1 : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// A tile as it is and transposed, one product over what the other gives: one copy and two
// views of its bytes, held until the last product.
// CHECK-LABEL: tile.kernel @views
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x64xbf16, #[[A:[a-z0-9]+]]>, !tgpu.buffer<64x64xbf16, #[[B:[a-z0-9]+]]> as 0]>
// CHECK-NOT: tgpu.ring copy
// CHECK: tgpu.copy %arg0[%{{.*}}, %{{.*}}] order [{{[01], [01]}}] to 0 :
// CHECK-NOT: tgpu.copy
// CHECK: tgpu.pop
// CHECK: tile.mma
// CHECK: tile.mma
// CHECK: tgpu.release
tile.kernel @views(%a: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %q = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %t = tile.permute %x [1, 0] : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %q, %t, %z : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    %u = arith.truncf %p : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
    %o = tile.mma %u, %x, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %o : tensor<64x64xf32, #acc>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// What threads read comes along: it is read before the product in front of its use, and what
// is computed from it alone waits until then. The group is held until it has been read.
// CHECK-LABEL: tile.kernel @alongside
// CHECK: tgpu.push {{.*}} {
// CHECK: tgpu.copy %arg0[%{{.*}}, %{{.*}}] order [0, 1] to 0 : !tile.array<?x?xbf16>
// CHECK: tgpu.copy %arg1[%{{.*}}, %{{.*}}] order [0, 1] to 1 : !tile.array<?x?xf32>
// CHECK: %[[B:.*]]:2 = tgpu.pop
// CHECK: tile.mma
// CHECK: %[[S:.*]] = tgpu.load %[[B]]#1
// CHECK: tile.mma
// CHECK: tgpu.release
// CHECK: %[[M:.*]] = arith.negf %[[S]]
// CHECK: %[[N:.*]] = tile.broadcast %[[M]]
// CHECK: arith.addf %{{.*}}, %[[N]]

// Needed before the copies of any group are waited for: a plain load.
// CHECK-LABEL: tile.kernel @before
// CHECK: tile.load %arg1[%{{.*}}, %{{.*}}] : !tile.array<?x?xf32>
#row = #tile.layout<[1, 64] register [(0, 1), (0, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (0, 0), (0, 0), (0, 0)] warp [(0, 0), (0, 0)]>
tile.kernel @alongside(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %q = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %l = tile.load %b[%c0, %j] {tile.copy = "tma"} : !tile.array<?x?xf32> -> tensor<1x64xf32, #row>
    %m = arith.negf %l : tensor<1x64xf32, #row>
    %w = tile.broadcast %m : tensor<1x64xf32, #row> -> tensor<64x64xf32, #acc>
    %x = tile.load %a[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %q, %x, %z : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    %d = tile.mma %q, %x, %p : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    %o = arith.addf %d, %w : tensor<64x64xf32, #acc>
    scf.yield %o : tensor<64x64xf32, #acc>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

tile.kernel @before(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %q = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %l = tile.load %b[%c0, %j] {tile.copy = "tma"} : !tile.array<?x?xf32> -> tensor<1x64xf32, #row>
    %w = tile.broadcast %l : tensor<1x64xf32, #row> -> tensor<64x64xf32, #acc>
    %o = arith.addf %s, %w : tensor<64x64xf32, #acc>
    %x = tile.load %a[%j, %c0] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %q, %x, %o : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  tile.store %c[%n, %n], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// Dims that follow each other become one: the copied box has them, in the same bytes. What
// reads it the other way round has its dims exchanged.
#px = #tile.layout<[1, 4, 16, 64] register [(0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 0, 4), (0, 0, 0, 8), (0, 0, 0, 16)] lane [(0, 0, 0, 32), (0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 4, 0), (0, 0, 8, 0)] warp [(0, 1, 0, 0), (0, 2, 0, 0)]>
// CHECK-LABEL: tile.kernel @merged
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x64xbf16,
// CHECK: tgpu.copy %arg0[%[[N:.*]], %{{.*}}, %{{.*}}, %{{.*}}] elements order [1, 2, 3] shape [4, 16, 64] to 0
// CHECK: tgpu.copy %arg0[%[[N]], %{{.*}}, %{{.*}}, %{{.*}}] elements order [3, 1, 2] shape [64, 4, 16] to 1
tile.kernel @merged(%i: !tile.array<?x?x?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.load %i[%n, %n, %n, %c0] elements {tile.copy = "tma"} : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16, #px>
  %a = tile.reshape %x : tensor<1x4x16x64xbf16, #px> -> tensor<64x64xbf16, #acc>
  %y = tile.load %i[%n, %c0, %n, %c0] elements {tile.copy = "tma"} : !tile.array<?x?x?x?xbf16> -> tensor<1x4x16x64xbf16, #px>
  %b = tile.reshape %y : tensor<1x4x16x64xbf16, #px> -> tensor<64x64xbf16, #acc>
  %t = tile.permute %b [1, 0] : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #acc>
  %p = tile.mma %a, %t, %z : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
  tile.store %c[%n, %n], %p : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #acc>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt --remarks-filter=lower-to-simt --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Loads and stores: widths from facts, defined edges, each element written once.

#l = #tile.layout<[1024] register [(1), (2), (512)] lane [(4), (8), (16), (32), (64)] warp [(128), (256)]>

// 16-byte accesses where the tile is wholly inside; else zeros in constant memory are
// read in place of what does not exist, and stores are guarded.
// CHECK-DAG: llvm.mlir.global internal constant @tilec_zero(dense<0> : vector<2xi64>)
// CHECK-DAG: llvm.mlir.global internal constant @tilec_pad_101010101010101(dense<72340172838076673> : vector<2xi64>)
// CHECK-LABEL: llvm.func @aligned(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %[[N:.*]]: i64,
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
// REMARK: [Passed] {{.*}}Function=aligned {{.*}}Remark="threads access `arg0` 16 bytes at a time; edges are checked in dim 0"
// REMARK: [Passed] {{.*}}Function=aligned {{.*}}Remark="threads access `arg1` 16 bytes at a time; edges are checked in dim 0"
tile.kernel @aligned(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>) attributes {grid = ["cdiv(n, 1024)"], num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  // CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.addressof @tilec_zero
  // CHECK-DAG: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
  %i = tile.block_id 0 : index
  // CHECK: scf.if %{{.*}} -> (vector<8xf32>)
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: } else {
  // CHECK: %[[P:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : !llvm.ptr<1>
  // CHECK: llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %x = tile.load %a[%i] : !tile.array<?xf32> -> tensor<1024xf32, #l>
  // CHECK: scf.if
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
  // CHECK: } else {
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %{{.*}} {alignment = 4 : i64} : f32
  tile.store %c[%i], %x : !tile.array<?xf32, mut>, tensor<1024xf32, #l>
  tile.return
}

// Nothing is known of addresses: element by element, without a branch for loads.
// CHECK-LABEL: llvm.func @general(
// CHECK-NOT: scf.if
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// REMARK: [Missed] {{.*}}Function=general {{.*}}Remark="threads access `arg0` no more than 4 bytes at a time: nothing is known of the array's alignment; edges are checked in dim 0"
// REMARK: [Missed] {{.*}}Function=general {{.*}}Remark="threads access `arg1` no more than 4 bytes at a time: nothing is known of the array's alignment; edges are checked in dim 0"
tile.kernel @general(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>) attributes {num_warps = 4 : i32} {
  %i = tile.block_id 0 : index
  %x = tile.load %a[%i] : !tile.array<?xf32> -> tensor<1024xf32, #l>
  tile.store %c[%i], %x : !tile.array<?xf32, mut>, tensor<1024xf32, #l>
  tile.return
}

#row = #tile.layout<[1, 8] lane [(0, 1), (0, 2), (0, 4), (0, 0), (0, 0)] warp [(0, 0)]>

// Sixteen threads for eight elements: those with redundant bits clear write. The
// promise of in_bounds leaves no check.
// CHECK-LABEL: llvm.func @once(
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[COPY:.*]] = arith.andi %[[THREAD]], %c56_i32 : i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY]],
// CHECK: scf.if %[[FIRST]] {
// CHECK-NOT: scf.if
// CHECK: llvm.store
tile.kernel @once(%c: !tile.array<?x8xf32, mut>, %v: f32) attributes {num_warps = 2 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %x = tile.splat %v : f32 -> tensor<1x8xf32, #row>
  tile.store %c[%i, %z], %x in_bounds [true, true] : !tile.array<?x8xf32, mut>, tensor<1x8xf32, #row>
  tile.return
}

// A bool is a byte; what does not exist is read where the padding stands.
// CHECK-LABEL: llvm.func @bools(
// CHECK: %[[TRUE:.*]] = llvm.mlir.addressof @tilec_pad_101010101010101
// CHECK: %[[PLACE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[TRUE]] : !llvm.ptr<1>
// CHECK: llvm.load %[[PLACE]] {{.*}} -> i8
// CHECK: arith.cmpi ne, %{{.*}} : vector<1xi8>
// CHECK: arith.extui %{{.*}} : vector<1xi1> to vector<1xi8>
tile.kernel @bools(%a: !tile.array<?x8xi1>, %c: !tile.array<?x8xi1, mut>) attributes {num_warps = 2 : i32} {
  %i = tile.block_id 0 : index
  %z = arith.constant 0 : index
  %x = tile.load %a[%i, %z] pad(true) : !tile.array<?x8xi1> -> tensor<1x8xi1, #row>
  tile.store %c[%i, %z], %x : !tile.array<?x8xi1, mut>, tensor<1x8xi1, #row>
  tile.return
}

// One element: read by all threads, written by one.
// CHECK-LABEL: llvm.func @element(
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: %[[IS0:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: %[[WRITES:.*]] = arith.andi %[[IS0]], %{{.*}} : i1
// CHECK: scf.if %[[WRITES]] {
// CHECK: llvm.store
tile.kernel @element(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>, %i: index) attributes {num_warps = 1 : i32} {
  %x = tile.load %a[%i] elements : !tile.array<?xf32> -> f32
  tile.store %c[%i], %x elements : !tile.array<?xf32, mut>, f32
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// A tile of 512 elements a thread is worked on in loops over 16 pieces of 32, which lie
// in local memory between operations; the piece's number is the high bits of a thread's.

#wide = #tile.layout<[16384] register [(1), (2), (128), (256), (512), (1024), (2048), (4096), (8192)] lane [(4), (8), (16), (32), (64)]>

// CHECK-LABEL: llvm.func @add(
// CHECK-DAG: %[[TWO:.*]] = llvm.alloca %{{.*}} x vector<32xf32> {alignment = 16 : i64}
// CHECK-DAG: %[[ONE:.*]] = llvm.alloca %{{.*}} x vector<32xf32> {alignment = 16 : i64}
// CHECK-NOT: vector<512xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c16
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[HIGH:.*]] = arith.shli %[[N]], %c5
// CHECK: arith.ori %{{.*}}, %[[HIGH]]
// CHECK: llvm.load
// CHECK: llvm.store %{{.*}} : vector<32xf32>
// CHECK: scf.for
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<32xf32>
// CHECK-NOT: vector<512xf32>
// CHECK: llvm.return
tile.kernel @add(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<16384xf32, #wide>
  %x = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<16384xf32, #wide>
  %y = arith.addf %x, %one : tensor<16384xf32, #wide>
  tile.store %b[%c0], %y : !tile.array<?xf32, mut>, tensor<16384xf32, #wide>
  tile.return
}

// Sums along the pieces: a loop that carries one piece.
// CHECK-LABEL: llvm.func @sum(
// CHECK: scf.for {{.*}} to %c16{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<32xi32>)
// CHECK: arith.addi %{{.*}}, %{{.*}} : vector<32xi32>
// CHECK-NOT: vector<512xi32>
// CHECK: llvm.return
tile.kernel @sum(%b: !tile.array<?xi32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.iota : tensor<16384xi32, #wide>
  %y = tile.reduce(%x) axes [0] : (tensor<16384xi32, #wide>) -> i32 {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  }
  tile.store %b[%c0], %y elements : !tile.array<?xi32, mut>, i32
  tile.return
}

// Scans go from piece to piece, and carry what all pieces before come to.
// CHECK-LABEL: llvm.func @scan(
// CHECK: scf.for %[[I:.*]] = %c0_i32{{.*}} to %c16_i32{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<1xi32>)
// CHECK: arith.cmpi ne, %[[I]], %c0_i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<32xi32>
// CHECK: llvm.store %{{.*}} : vector<32xi32>
// CHECK: scf.yield %{{.*}} : vector<1xi32>
// CHECK-NOT: vector<512xi32>
// CHECK: llvm.return
tile.kernel @scan(%b: !tile.array<?xi32, mut>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.iota : tensor<16384xi32, #wide>
  %y = tile.scan(%x) axis 0 : (tensor<16384xi32, #wide>) -> tensor<16384xi32, #wide> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  }
  tile.store %b[%c0], %y : !tile.array<?xi32, mut>, tensor<16384xi32, #wide>
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// Parameters by the ABI, the position of a block, control flow with carried tiles.

#l = #tile.layout<[64] register [(32)] lane [(1), (2), (4), (8), (16)]>

// Floats narrower than 32 bits come as bits, bool as a byte, int as 64 bits; strides
// follow dims; the grid comes last. An array that is written has no `noalias`: what one
// thread reads from it may be another's doing, which LLVM would not believe.
// CHECK-LABEL: llvm.func @abi(
// CHECK-SAME: %arg0: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %arg1: i64, %arg2: i64,
// CHECK-SAME: %arg3: !llvm.ptr<1>, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: i64,
// CHECK-SAME: %arg8: i8, %arg9: i64, %arg10: i16, %arg11: i8, %arg12: f32,
// CHECK-SAME: %arg13: i32, %arg14: i32, %arg15: i32)
tile.kernel @abi(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut strided>, %p: i1, %n: index, %h: bf16, %e: f8E5M2, %f: f32) attributes {num_warps = 1 : i32} {
  tile.return
}

// CHECK-LABEL: llvm.func @overlap(
// CHECK-SAME: %arg0: !llvm.ptr<1>, %arg1: i64
tile.kernel @overlap(%a: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32, arrays_overlap} {
  tile.return
}

// The launcher checks that dims of one name are equal: the first is used for all.
// CHECK-LABEL: llvm.func @named(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {{.*}}, %[[N:arg[0-9]+]]: i64, %{{.*}}: !llvm.ptr<1>, %[[OTHER:arg[0-9]+]]: i64
// CHECK-NOT: %[[OTHER]]
// CHECK: llvm.return
tile.kernel @named(%a: !tile.array<?xf32> {tile.dims = ["n"]}, %b: !tile.array<?xf32, mut> {tile.dims = ["n"]}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<64xf32, #l>
  tile.store %b[%c0], %t : !tile.array<?xf32, mut>, tensor<64xf32, #l>
  tile.return
}

// CHECK-LABEL: llvm.func @position(
// CHECK-SAME: %[[GX:arg[0-9]+]]: i32, %[[GY:arg[0-9]+]]: i32, %[[GZ:arg[0-9]+]]: i32)
// CHECK: %[[B:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: arith.remui %[[B]], %[[GX]]
// CHECK: %[[REST:.*]] = arith.divui %{{.*}}, %[[GX]]
// CHECK: arith.remui %[[REST]], %[[GY]]
tile.kernel @position(%c: !tile.array<?xindex, mut>) attributes {num_warps = 1 : i32} {
  %x = tile.block_id 0 : index
  %y = tile.block_id 1 : index
  tile.store %c[%x], %y elements : !tile.array<?xindex, mut>, index
  tile.return
}

// With one extent the block's number is its position.
// CHECK-LABEL: llvm.func @line(
// CHECK-NOT: arith.remui
// CHECK: llvm.return
tile.kernel @line(%c: !tile.array<?xindex, mut>) attributes {num_warps = 1 : i32, grid = ["n"]} {
  %x = tile.block_id 0 : index
  tile.store %c[%x], %x elements : !tile.array<?xindex, mut>, index
  tile.return
}

// CHECK-LABEL: llvm.func @carried(
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (vector<2xf32>)
// CHECK: scf.if %{{.*}} -> (vector<2xf32>)
// CHECK: scf.yield %{{.*}} : vector<2xf32>
// CHECK: scf.while (%{{.*}} = %[[R]]) : (vector<2xf32>) -> vector<2xf32>
tile.kernel @carried(%c: !tile.array<?xf32, mut>, %n: index, %x: f32, %q: i1) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> (tensor<64xf32, #l>) {
    %u = scf.if %q -> (tensor<64xf32, #l>) {
      %d = arith.addf %s, %s : tensor<64xf32, #l>
      scf.yield %d : tensor<64xf32, #l>
    } else {
      %d = arith.mulf %s, %s : tensor<64xf32, #l>
      scf.yield %d : tensor<64xf32, #l>
    }
    scf.yield %u : tensor<64xf32, #l>
  }
  %w = scf.while (%s = %r) : (tensor<64xf32, #l>) -> tensor<64xf32, #l> {
    scf.condition(%q) %s : tensor<64xf32, #l>
  } do {
  ^bb0(%s: tensor<64xf32, #l>):
    %d = arith.addf %s, %s : tensor<64xf32, #l>
    scf.yield %d : tensor<64xf32, #l>
  }
  tile.store %c[%c0], %w : !tile.array<?xf32, mut>, tensor<64xf32, #l>
  tile.return
}

// What one block loads a position ahead is not promised to stay the same, or the assembler would
// load it late.
// CHECK-LABEL: llvm.func @ahead(
// CHECK-SAME: %arg0: !llvm.ptr<1> {llvm.readonly}, %arg1: i64
tile.kernel @ahead(%a: !tile.array<?xf32>) attributes {num_warps = 4 : i32, tgpu.resident_blocks = 1 : i64} {
  tile.return
}

// CHECK-LABEL: llvm.func @two(
// CHECK-SAME: %arg0: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %arg1: i64
tile.kernel @two(%a: !tile.array<?xf32>) attributes {num_warps = 4 : i32, tgpu.resident_blocks = 2 : i64} {
  tile.return
}

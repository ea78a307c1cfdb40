// RUN: tile-opt %s --pass-pipeline='builtin.module(llvm.func(tile-read-ahead))' --split-input-file | FileCheck %s
// Loops that wait for asynchronous copies, meet, read and multiply: the next iteration's first reads come
// before the last products, and copies come between products.

// CHECK-LABEL: llvm.func @two_steps(
// CHECK: %[[CURSOR:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[CURSOR]]
// What precedes the loop: the first iteration's wait, meeting and reads.
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier
// CHECK: llvm.load %[[CURSOR]]
// CHECK: llvm.store %{{.*}}, %[[CURSOR]]
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}},
// The second step is read, copies begin, and the first step multiplies what was read before.
// CHECK-NOT: nvvm.barrier
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK: nvvm.cp.async.shared.global
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.nvvm.mma
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier
// CHECK: llvm.load %[[CURSOR]]
// CHECK: llvm.store %{{.*}}, %[[CURSOR]]
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma
// CHECK-NOT: nvvm.
// CHECK: scf.yield
!pair = !llvm.struct<(i32, i32)>
!four = !llvm.struct<(i32, i32, i32, i32)>
!sums = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @two_steps(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>, %n: i32, %own: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant 0.0 : f32
  %one = llvm.mlir.constant(1 : i32) : i32
  %cursor = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %cursor : i32, !llvm.ptr
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    %offset = llvm.load %cursor : !llvm.ptr -> i32
    %sumOffset = arith.addi %offset, %c4096 : i32
    %isEnd = arith.cmpi eq, %sumOffset, %c8192 : i32
    %next = arith.select %isEnd, %c0, %sumOffset : i32
    llvm.store %next, %cursor : i32, !llvm.ptr
    %place = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %a0p = llvm.getelementptr %place[%own] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %a0 = nvvm.ldmatrix %a0p {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !four
    %b0p = llvm.getelementptr %a0p[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %b0 = nvvm.ldmatrix %b0p {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !pair
    %a00 = llvm.extractvalue %a0[0] : !four
    %a01 = llvm.extractvalue %a0[1] : !four
    %a02 = llvm.extractvalue %a0[2] : !four
    %a03 = llvm.extractvalue %a0[3] : !four
    %b00 = llvm.extractvalue %b0[0] : !pair
    %b01 = llvm.extractvalue %b0[1] : !pair
    %a1p = llvm.getelementptr %a0p[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %a1 = nvvm.ldmatrix %a1p {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !four
    %b1p = llvm.getelementptr %b0p[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %b1 = nvvm.ldmatrix %b1p {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !pair
    %a10 = llvm.extractvalue %a1[0] : !four
    %a11 = llvm.extractvalue %a1[1] : !four
    %a12 = llvm.extractvalue %a1[2] : !four
    %a13 = llvm.extractvalue %a1[3] : !four
    %b10 = llvm.extractvalue %b1[0] : !pair
    %b11 = llvm.extractvalue %b1[1] : !pair
    %r0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a00, %a01, %a02, %a03, %b00, %b01, %acc, %acc, %acc, %acc) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s0 = llvm.extractvalue %r0[0] : !sums
    %r1 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a10, %a11, %a12, %a13, %b10, %b11, %s0, %s0, %s0, %s0) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s1 = llvm.extractvalue %r1[0] : !sums
    %from = llvm.getelementptr %global[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %shared, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    scf.yield %s1 : f32
  }
  llvm.return %sum : f32
}

// Bytes that are converted for the first product: words are carried, from which code generation takes
// them. A pair has half of one, of eight there are two.
// CHECK-LABEL: llvm.func @bytes(
// CHECK: %[[PAIR:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xi8>
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[PAIR]] : vector<2xi8> to i16
// CHECK: %[[WIDE:.*]] = llvm.zext %[[BITS]] : i16 to i32
// CHECK: %[[WORD:.*]] = llvm.call_intrinsic "llvm.nvvm.move.i32"(%[[WIDE]])
// CHECK: %[[WORDS:.*]] = llvm.bitcast %{{.*}} : vector<8xi8> to vector<2xi32>
// CHECK: %[[BOTH:.*]]:2 = vector.to_elements %[[WORDS]]
// CHECK: %[[LOW:.*]] = llvm.call_intrinsic "llvm.nvvm.move.i32"(%[[BOTH]]#0)
// CHECK: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.nvvm.move.i32"(%[[BOTH]]#1)
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[ARG:[a-z0-9]*]] = %[[WORD]], %[[A0:[a-z0-9]*]] = %[[LOW]], %[[A1:[a-z0-9]*]] = %[[HIGH]])
// CHECK: %[[HALF:.*]] = llvm.trunc %[[ARG]] : i32 to i16
// CHECK: %[[OWN:.*]] = llvm.bitcast %[[HALF]] : i16 to vector<2xi8>
// CHECK: %[[P0:.*]] = llvm.bitcast %[[A0]] : i32 to vector<4xi8>
// CHECK: %[[E0:.*]]:4 = vector.to_elements %[[P0]]
// CHECK: %[[P1:.*]] = llvm.bitcast %[[A1]] : i32 to vector<4xi8>
// CHECK: %[[E1:.*]]:4 = vector.to_elements %[[P1]]
// CHECK: %[[EIGHT:.*]] = vector.from_elements %[[E0]]#0, %[[E0]]#1, %[[E0]]#2, %[[E0]]#3, %[[E1]]#0, %[[E1]]#1, %[[E1]]#2, %[[E1]]#3
// CHECK: vector.extract %[[OWN]][0]
// CHECK: vector.extract %[[EIGHT]][5]
// CHECK: nvvm.barrier
// CHECK: llvm.load %{{.*}} -> vector<2xi8>
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma
// CHECK: scf.yield

// Three bytes are no word: the loop stays as it is.
// CHECK-LABEL: llvm.func @odd(
// CHECK-NOT: nvvm.barrier
// CHECK: scf.for
llvm.func @bytes(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    %pair = llvm.load %shared : !llvm.ptr<3> -> vector<2xi8>
    %next = llvm.getelementptr %shared[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %eight = llvm.load %next : !llvm.ptr<3> -> vector<8xi8>
    %x = vector.extract %pair[0] : i8 from vector<2xi8>
    %a = arith.extui %x : i8 to i32
    %y = vector.extract %eight[5] : i8 from vector<8xi8>
    %b = arith.extui %y : i8 to i32
    %r0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a, %a, %a, %a, %b, %b, %acc, %acc, %acc, %acc) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s0 = llvm.extractvalue %r0[0] : !sums
    %r1 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a, %a, %a, %a, %b, %b, %s0, %s0, %s0, %s0) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s1 = llvm.extractvalue %r1[0] : !sums
    %from = llvm.getelementptr %global[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %shared, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    scf.yield %s1 : f32
  }
  llvm.return %sum : f32
}

llvm.func @odd(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    %three = llvm.load %shared : !llvm.ptr<3> -> vector<3xi8>
    %x = vector.extract %three[0] : i8 from vector<3xi8>
    %a = arith.extui %x : i8 to i32
    %r0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a, %a, %a, %a, %a, %a, %acc, %acc, %acc, %acc) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s0 = llvm.extractvalue %r0[0] : !sums
    %r1 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a, %a, %a, %a, %a, %a, %s0, %s0, %s0, %s0) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !sums
    %s1 = llvm.extractvalue %r1[0] : !sums
    %from = llvm.getelementptr %global[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %shared, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    scf.yield %s1 : f32
  }
  llvm.return %sum : f32
}

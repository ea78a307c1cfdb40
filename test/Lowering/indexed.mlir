// RUN: tile-opt %s --tile-lower-to-simt --canonicalize --cse | FileCheck %s
// RUN: tile-opt %s --tile-lower-to-simt --remarks-filter=lower-to-simt --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Elements by index: one comparison a dim, padding in place of what does not exist, runs
// as one access.

// CHECK: llvm.func @tilec.st.relaxed.block.v2.b32(!llvm.ptr<1>, i32, i32) attributes {passthrough = {{\[\[}}"tilec-asm", "st.relaxed.cta.global.v2.b32 [$0], {$1, $2};"], ["tilec-constraints", "l,r,r"], ["tilec-effects", "memory"]]}

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (32)]>
#four = #tile.layout<[4] lane [(1), (2), (0), (0), (0)] warp [(0)]>

// 32 bits against the size cut to 2^31: negative indices are large ones. Addresses have
// 64 bits. Both loads are issued before their values are used.
// CHECK-LABEL: llvm.func @gather(
// CHECK-SAME: %[[A:[^:]*]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[M:[^:]*]]: i64, %[[N:[^:]*]]: i64,
// CHECK-DAG: %[[ONES:.*]] = llvm.mlir.addressof @tilec_pad_3f8000003f800000
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483648 : i64
// CHECK-DAG: %[[M31:.*]] = arith.minui %[[M]], %[[MOST]] : i64
// CHECK-DAG: %[[LIMIT:.*]] = arith.trunci %[[M31]] : i64 to i32
// CHECK: %[[STEPS:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[ROW:.*]] = arith.muli %[[STEPS]], %[[N]] : i64
// CHECK: arith.cmpi ult, %{{.*}}, %[[LIMIT]] : i32
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ONES]] : !llvm.ptr<1>
// CHECK: llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: arith.select
// REMARK: [Missed] {{.*}}Function=gather {{.*}}Remark="threads access `arg1` no more than 4 bytes at a time: nothing is known of the array's alignment; no edge has to be checked"
// REMARK: [Missed] {{.*}}Function=gather {{.*}}Remark="threads access elements by index no more than 4 bytes at a time: nothing is known of the array's alignment"
// REMARK: [Missed] {{.*}}Function=gather {{.*}}Remark="threads access `arg2` no more than 4 bytes at a time: nothing is known of the array's alignment; no edge has to be checked"
tile.kernel @gather(%a: !tile.array<?x?xf32>, %i: !tile.array<?xi32>, %c: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32} {
  %z = arith.constant 0 : index
  %x = tile.load %i[%z] in_bounds [true] : !tile.array<?xi32> -> tensor<64xi32, #l>
  %g = tile.gather %a[%x, %x] pad(1.0 : f32) : !tile.array<?x?xf32>, [tensor<64xi32, #l>, tensor<64xi32, #l>] -> tensor<64xf32, #l>
  tile.store %c[%z], %g in_bounds [true] : !tile.array<?xf32, mut>, tensor<64xf32, #l>
  tile.return
}

// A run is one access, whose guard is that of its first element. Without the fact about
// alignment, or the promise, it is two.
// CHECK-LABEL: llvm.func @runs(
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: llvm.call @tilec.st.relaxed.block.v2.b32(%{{.*}}) : (!llvm.ptr<1>, i32, i32) -> ()
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// REMARK: [Passed] {{.*}}Function=runs {{.*}}Remark="threads access `arg1` 16 bytes at a time; no edge has to be checked"
// REMARK: [Missed] {{.*}}Function=runs {{.*}}Remark="threads access elements by index no more than 8 bytes at a time: indices are not known to run on for longer"
// REMARK: [Missed] {{.*}}Function=runs {{.*}}Remark="threads access elements by index no more than 8 bytes at a time: indices are not known to run on for longer"
// REMARK: [Missed] {{.*}}Function=runs {{.*}}Remark="threads access elements by index no more than 4 bytes at a time: indices are not known to run on for longer"
// REMARK: [Missed] {{.*}}Function=runs {{.*}}Remark="threads access `arg3` no more than 8 bytes at a time: a thread has no more neighbours; no edge has to be checked"
tile.kernel @runs(%a: !tile.array<?xf32>, %i: !tile.array<?xi64>, %c: !tile.array<?xf32, mut>, %d: !tile.array<?xf32, mut>) attributes {num_warps = 1 : i32, tile.facts = ["aligned16"]} {
  %z = arith.constant 0 : index
  %x = tile.load %i[%z] in_bounds [true] : !tile.array<?xi64> -> tensor<64xi64, #l>
  %g = tile.gather %a[%x] run [0, 2] : !tile.array<?xf32>, [tensor<64xi64, #l>] -> tensor<64xf32, #l>
  tile.scatter %c[%x], %g in_bounds [true] run [0, 2] : !tile.array<?xf32, mut>, [tensor<64xi64, #l>], tensor<64xf32, #l>
  %h = tile.gather %a[%x] : !tile.array<?xf32>, [tensor<64xi64, #l>] -> tensor<64xf32, #l>
  tile.store %d[%z], %h in_bounds [true] : !tile.array<?xf32, mut>, tensor<64xf32, #l>
  tile.return
}

// One of sixteen threads writes each element; two that name one place are no race.
// CHECK-LABEL: llvm.func @scatter(
// CHECK: %[[COPY:.*]] = arith.andi %{{.*}}, %c60_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY]],
// CHECK: scf.if %[[FIRST]] {
// CHECK: scf.if
// CHECK-NEXT: llvm.store %{{.*}} atomic syncscope("block") monotonic {alignment = 2 : i64} : i16, !llvm.ptr<1>
tile.kernel @scatter(%c: !tile.array<?xf16, mut>, %i: i32, %v: f16) attributes {num_warps = 2 : i32} {
  %x = tile.splat %i : i32 -> tensor<4xi32, #four>
  %t = tile.splat %v : f16 -> tensor<4xf16, #four>
  tile.scatter %c[%x], %t : !tile.array<?xf16, mut>, [tensor<4xi32, #four>], tensor<4xf16, #four>
  tile.return
}

// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// Kernels, position and facts keep their text through a round trip.

// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME: %{{.*}}: !tile.array<?xf32> {tile.dims = ["n"], tile.dtype = "f32", tile.name = "x"}
// CHECK-SAME: !tile.array<?xf32, mut>
// CHECK-SAME: attributes {grid = ["cdiv(dim(0, 0), 128)"], num_warps = 4 : i32}
tile.kernel @copy(%x: !tile.array<?xf32> {tile.name = "x", tile.dtype = "f32", tile.dims = ["n"]},
                  %y: !tile.array<?xf32, mut>)
    attributes {grid = ["cdiv(dim(0, 0), 128)"], num_warps = 4 : i32} {
  // CHECK: tile.block_id 0 : index
  %i = tile.block_id 0 : index
  %t = tile.load %x[%i] : !tile.array<?xf32> -> tensor<128xf32>
  tile.store %y[%i], %t : !tile.array<?xf32, mut>, tensor<128xf32>
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @facts(
// CHECK-SAME: !tile.array<?x128xbf16, mut strided>
// CHECK-SAME: !tile.array<4x?xi1, strided>
// CHECK-SAME: !tile.array<?x?xf32, strided rows>
// CHECK-SAME: arrays_overlap
// CHECK-SAME: constants = {BM = "128"}
// CHECK-SAME: hints = {num_stages = 3 : i64}
// CHECK-SAME: requirements = [{expr = "dim(0, 0) > 0", loc = "a.tile:3", text = "m > 0"}]
tile.kernel @facts(%a: !tile.array<?x128xbf16, mut strided>, %b: !tile.array<4x?xi1, strided>,
    %d: !tile.array<?x?xf32, strided rows>, %s: i32)
    attributes {arrays_overlap, constants = {BM = "128"}, fast_math, hints = {num_stages = 3 : i64}, no_contract,
                requirements = [{expr = "dim(0, 0) > 0", text = "m > 0", loc = "a.tile:3"}]} {
  // CHECK: tile.num_blocks 2 : index
  %n = tile.num_blocks 2 : index
  // CHECK: tile.num_sms : index
  %k = tile.num_sms : index
  // CHECK: tile.dim %{{.*}}, 0 : !tile.array<?x128xbf16, mut strided>
  %m = tile.dim %a, 0 : !tile.array<?x128xbf16, mut strided>
  %c = arith.cmpi slt, %n, %m : index
  // CHECK: tile.assume %{{.*}}
  tile.assume %c
  // CHECK: tile.assert %{{.*}}, "too many" : i1
  tile.assert %c, "too many" : i1
  // CHECK: tile.print ["n = ", ", s = ", ""](%{{.*}}, %{{.*}}) dtypes ["int", "u32"] : index, i32
  tile.print ["n = ", ", s = ", ""] (%n, %s) dtypes ["int", "u32"] : index, i32
  // CHECK: tile.print ["hello"]() dtypes []
  tile.print ["hello"] () dtypes []
  tile.return
}

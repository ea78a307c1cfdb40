// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not tile-opt %s --tile-lower-to-simt --split-input-file --remarks-filter=lower-to-simt --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Registers are renamed, lanes exchange by shuffles, changes of shape are conversions.

#a = #tile.layout<[4, 32] register [(1, 0), (2, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)]>
#b = #tile.layout<[4, 32] register [(2, 0), (1, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)]>
#c = #tile.layout<[4, 32] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (0, 4), (0, 8), (0, 16)]>
#t = #tile.layout<[32, 4] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>

// CHECK-LABEL: llvm.func @registers(
tile.kernel @registers(%x: f32) attributes {num_warps = 1 : i32} {
  %v = tile.splat %x : f32 -> tensor<4x32xf32, #a>
  // CHECK: vector.shuffle %{{.*}} [0, 2, 1, 3] : vector<4xf32>
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  %w = tile.convert_layout %v : tensor<4x32xf32, #a> -> tensor<4x32xf32, #b>
  tile.return
}

// CHECK-LABEL: llvm.func @lanes(
// REMARK: [Missed] {{.*}}Function=lanes {{.*}}Remark="f32[4, 32] changes its layout by shuffles, 4 a thread"
tile.kernel @lanes(%x: f32) attributes {num_warps = 1 : i32} {
  %v = tile.splat %x : f32 -> tensor<4x32xf32, #a>
  // CHECK: nvvm.shfl.sync
  // CHECK: vector.from_elements
  %w = tile.convert_layout %v : tensor<4x32xf32, #a> -> tensor<4x32xf32, #c>
  tile.return
}

// A transpose turns the layout, and no element moves.
// CHECK-LABEL: llvm.func @permuted(
// CHECK-NOT: vector.shuffle
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.return
tile.kernel @permuted(%x: f32) attributes {num_warps = 1 : i32} {
  %v = tile.splat %x : f32 -> tensor<4x32xf32, #a>
  %w = tile.permute %v [1, 0] : tensor<4x32xf32, #a> -> tensor<32x4xf32, #t>
  tile.return
}

#row = #tile.layout<[1, 32] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)]>

// Broadcasting along registers copies them.
// CHECK-LABEL: llvm.func @broadcast(
// CHECK: vector.shuffle %{{.*}} [0, 0, 0, 0] : vector<1xf32>
tile.kernel @broadcast(%x: f32) attributes {num_warps = 1 : i32} {
  %v = tile.splat %x : f32 -> tensor<1x32xf32, #row>
  %w = tile.broadcast %v : tensor<1x32xf32, #row> -> tensor<4x32xf32, #a>
  tile.return
}

// -----

#a = #tile.layout<[64] lane [(1), (2), (4), (8), (16)] warp [(32)]>
#b = #tile.layout<[64] lane [(2), (4), (8), (16), (32)] warp [(1)]>
tile.kernel @warps(%x: f32) attributes {num_warps = 2 : i32} {
  %v = tile.splat %x : f32 -> tensor<64xf32, #a>
  // expected-error @+1 {{a conversion between warps has no buffer in shared memory}}
  %w = tile.convert_layout %v : tensor<64xf32, #a> -> tensor<64xf32, #b>
  tile.return
}

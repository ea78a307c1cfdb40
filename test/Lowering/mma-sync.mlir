// RUN: tile-opt %s --tile-lower-to-simt --split-input-file | FileCheck %s
// What the mma_sync atoms write: matrix loads where the buffer has rows of 16 bytes,
// one for a fragment of a and for two of b, and an instruction for each pair.

#acc = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#k_rows = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 8), (4, 16), (8, 0)]>
#n_rows = #tile.layout<[32, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 8), (8, 0), (16, 0)]>

// CHECK-LABEL: llvm.func @nn(
tile.kernel @nn(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<16x16xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<16x32xbf16, #k_rows>
  %b = tgpu.alloc offset 1024 : !tgpu.buffer<32x16xbf16, #n_rows>
  // The second step is read before the products of the first.
  // CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>, num = 4
  // CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>, num = 4
  // CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>, num = 4
  // CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>, num = 4
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
  // CHECK-NOT: llvm.call_intrinsic
  %r = tgpu.mma %a, %b, %t {atom = "mma_sync"} : !tgpu.buffer<16x32xbf16, #k_rows>, !tgpu.buffer<32x16xbf16, #n_rows>, tensor<16x16xf32, #acc>
  // CHECK: llvm.return
  tile.return
}

// -----

// Bytes along N are read one by one: there is no transposing load for them.
#acc = #tile.layout<[16, 8] register [(0, 1), (8, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#k_rows = #tile.layout<[16, 32] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 0), (4, 0), (8, 0)]>
#n_rows = #tile.layout<[32, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>

// CHECK-LABEL: llvm.func @bytes(
tile.kernel @bytes(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<16x8xi32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<16x32xi8, #k_rows>
  %b = tgpu.alloc offset 512 : !tgpu.buffer<32x8xi8, #n_rows>
  // CHECK: nvvm.ldmatrix {{.*}} num = 4
  // CHECK-COUNT-8: llvm.load {{.*}} -> i8
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"
  %r = tgpu.mma %a, %b, %t a_unsigned {atom = "mma_sync"} : !tgpu.buffer<16x32xi8, #k_rows>, !tgpu.buffer<32x8xi8, #n_rows>, tensor<16x8xi32, #acc>
  tile.return
}

// -----

// f32 in three products of tf32; K of 4 is half a fragment.
#acc = #tile.layout<[16, 8] register [(0, 1), (8, 0)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#a = #tile.layout<[16, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0), (8, 0)]>
#b = #tile.layout<[4, 8] offset [(1, 0), (2, 0), (0, 1), (0, 2), (0, 4)]>

// CHECK-LABEL: llvm.func @three(
tile.kernel @three(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<16x8xf32, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<16x4xf32, #a>
  %b = tgpu.alloc offset 512 : !tgpu.buffer<4x8xf32, #b>
  // CHECK: nvvm.ldmatrix
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
  // CHECK: arith.subf
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
  // CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
  // CHECK-NOT: llvm.call_intrinsic
  %r = tgpu.mma %a, %b, %t {atom = "mma_sync_tf32x3"} : !tgpu.buffer<16x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>, tensor<16x8xf32, #acc>
  // CHECK: llvm.return
  tile.return
}

// RUN: tile-opt %s --tile-lower-to-simt --canonicalize | FileCheck %s
// Where nothing is known of alignment, operands of products are loaded where they are stored to
// shared memory: 16 bytes from the two aligned pieces that have them.

#rows = #tile.layout<[8, 64] register [(0, 1), (0, 2), (0, 4), (4, 0)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)]>
#place = #tile.layout<[8, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32)]>

// CHECK-LABEL: llvm.func @operand(
// CHECK-NOT: llvm.load
// CHECK: nvvm.bar.warp.sync
// The tile is neither at the beginning nor at the end of the array.
// CHECK: %[[FRONT:.*]] = arith.cmpi sge, %{{.*}}, %c8{{.*}} : i64
// CHECK: %[[BACK:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i64
// CHECK: %[[ROOM:.*]] = arith.andi %[[FRONT]], %[[BACK]] : i1
// CHECK: scf.if %[[ROOM]] {
// CHECK:   %[[A:.*]] = llvm.intr.ptrmask
// CHECK:   llvm.load %[[A]] {alignment = 16 : i64} : {{.*}} -> vector<4xi32>
// CHECK:   %[[B:.*]] = llvm.intr.ptrmask
// CHECK:   llvm.load %[[B]] {alignment = 16 : i64} : {{.*}} -> vector<4xi32>
// CHECK-COUNT-11: arith.select {{.*}} : i32
// CHECK:   llvm.intr.fshr
// CHECK:   llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     llvm.load %{{.*}} {alignment = 2 : i64} : {{.*}} -> bf16
// CHECK: llvm.return
tile.kernel @operand(%a: !tile.array<?x?xbf16>, %i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%i, %c0] : !tile.array<?x?xbf16> -> tensor<8x64xbf16, #rows>
  tgpu.barrier
  %b = tgpu.alloc offset 0 : !tgpu.buffer<8x64xbf16, #place>
  tgpu.store %x, %b : tensor<8x64xbf16, #rows>, !tgpu.buffer<8x64xbf16, #place>
  tile.return
}

// An array that is written between, and f32, are loaded by elements, where they stand.
// CHECK-LABEL: llvm.func @others(
// CHECK-NOT: llvm.intr.ptrmask
// CHECK: llvm.return
tile.kernel @others(%a: !tile.array<?x?xbf16, mut>, %f: !tile.array<?x?xf32>, %i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%i, %c0] : !tile.array<?x?xbf16, mut> -> tensor<8x64xbf16, #rows>
  %y = tile.load %f[%i, %c0] : !tile.array<?x?xf32> -> tensor<8x64xf32, #rows>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<8x64xbf16, #place>
  tgpu.store %x, %b : tensor<8x64xbf16, #rows>, !tgpu.buffer<8x64xbf16, #place>
  %c = tgpu.alloc offset 1024 : !tgpu.buffer<8x64xf32, #place>
  tgpu.store %y, %c : tensor<8x64xf32, #rows>, !tgpu.buffer<8x64xf32, #place>
  tile.return
}

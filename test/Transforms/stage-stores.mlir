// RUN: tile-opt %s --tile-stage-stores=max-bytes=8192 | FileCheck %s
// A marked store goes out in parts of at most 8192 bytes through one buffer.

// CHECK: #[[SWIZZLED:.*]] = #tile.layout<[16, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0)]>

#acc = #tile.layout<[64, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#row = #tile.layout<[16, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(0, 0), (0, 0)]>

// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<64x64xbf16,
// CHECK: %[[P:.*]] = tile.extract %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<64x64xbf16,
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.store %{{.*}}, %[[B]]
// CHECK: tgpu.copy_out %[[B]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] :
// CHECK: tgpu.copy_out_wait
// CHECK: tgpu.copy_out %[[B]], %arg1[%arg2, %{{[0-9]+}}] order [0, 1] :
// CHECK-NOT: tile.store
tile.kernel @parts(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x128xbf16, #acc>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<64x128xbf16, #acc>
  tile.return
}

// A small tile is one part, swizzled by 128 bytes.
// CHECK-LABEL: tile.kernel @whole
// CHECK: tgpu.alloc : !tgpu.buffer<16x64xbf16, #[[SWIZZLED]]>
// CHECK-NOT: tile.extract
// CHECK: tgpu.copy_out
tile.kernel @whole(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>, %i: index) attributes {num_warps = 4 : i32} {
  %t = tile.load %x[%i, %i] : !tile.array<?x?xbf16> -> tensor<16x64xbf16, #row>
  tile.store %y[%i, %i], %t {tile.copy = "tma"} : !tile.array<?x?xbf16, mut>, tensor<16x64xbf16, #row>
  tile.return
}

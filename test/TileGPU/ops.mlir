// RUN: tile-opt %s | tile-opt | FileCheck %s
// The operations on shared memory keep their text.

#rows = #tile.layout<[8, 16] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#cols = #tile.layout<[8, 16] register [(4, 0), (0, 8)] lane [(1, 0), (2, 0), (0, 1), (0, 2), (0, 4)]>
#plain = #tile.layout<[8, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#swizzled = #tile.layout<[8, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 1), (2, 2), (4, 4)]>
#b = #tile.layout<[16, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0), (8, 0)]>
#acc = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#halves = #tile.layout<[8, 16] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)] warp [(0, 8), (4, 0)]>
#partial = #tile.layout<[2, 8] lane [(0, 0), (0, 0), (0, 0), (0, 1), (0, 2)] warp [(1, 0), (0, 4)]>

// CHECK-LABEL: tile.kernel @exchange
tile.kernel @exchange(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<8x16xf32, #rows>
  // CHECK: %[[B:.*]] = tgpu.alloc : !tgpu.buffer<8x16xf32, #{{.*}}>
  %b = tgpu.alloc : !tgpu.buffer<8x16xf32, #swizzled>
  // CHECK: tgpu.store %{{.*}}, %[[B]] : tensor<8x16xf32, #{{.*}}>, !tgpu.buffer<8x16xf32, #{{.*}}>
  tgpu.store %t, %b : tensor<8x16xf32, #rows>, !tgpu.buffer<8x16xf32, #swizzled>
  // CHECK: tgpu.barrier
  tgpu.barrier
  // CHECK: tgpu.load %[[B]] : !tgpu.buffer<8x16xf32, #{{.*}}>, tensor<8x16xf32, #{{.*}}>
  %u = tgpu.load %b : !tgpu.buffer<8x16xf32, #swizzled>, tensor<8x16xf32, #cols>
  // CHECK: tgpu.alloc offset 512 : !tgpu.buffer<8x16xi1
  %c = tgpu.alloc offset 512 : !tgpu.buffer<8x16xi1, #plain>
  tile.return
}

// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%acc: f32) {
  %t = tile.splat %acc : f32 -> tensor<8x4xf32, #acc>
  %a = tgpu.alloc : !tgpu.buffer<8x16xbf16, #plain>
  %b = tgpu.alloc : !tgpu.buffer<16x4xbf16, #b>
  // CHECK: tgpu.mma %{{.*}}, %{{.*}}, %{{.*}} : !tgpu.buffer<8x16xbf16
  %r = tgpu.mma %a, %b, %t {atom = "fma"}
      : !tgpu.buffer<8x16xbf16, #plain>, !tgpu.buffer<16x4xbf16, #b>, tensor<8x4xf32, #acc>
  tile.return
}

// CHECK-LABEL: tile.kernel @partial
tile.kernel @partial(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<8x16xf32, #halves>
  // CHECK: tgpu.warp_reduce(%{{.*}}) axes [1] : (tensor<8x16xf32, #{{.*}}>) -> tensor<2x8xf32, #{{.*}}>
  %r = tgpu.warp_reduce(%t) axes [1] : (tensor<8x16xf32, #halves>) -> tensor<2x8xf32, #partial> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    // CHECK: tgpu.yield
    tgpu.yield %s : f32
  }
  tile.return
}

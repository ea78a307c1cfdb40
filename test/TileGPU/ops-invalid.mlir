// RUN: tile-opt %s --split-input-file --verify-diagnostics
// The constraints of the operations on shared memory.

#plain = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @alloc_c1() {
  // expected-error @+1 {{offset is not a multiple of 16}}
  %b = tgpu.alloc offset 8 : !tgpu.buffer<8x4xf32, #plain>
  tile.return
}

// -----

#lanes = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @buffer_layout() {
  // expected-error @+1 {{the layout of a buffer maps offsets to elements, one to one}}
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #lanes>
  tile.return
}

// -----

#plain = #tile.layout<[4, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0)]>
tile.kernel @buffer_shape() {
  // expected-error @+1 {{the layout of a buffer has the buffer's shape}}
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #plain>
  tile.return
}

// -----

#plain = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#lanes = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @store_c3(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<8x4xi32, #lanes>
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #plain>
  // expected-error @+1 {{tile and buffer differ}}
  tgpu.store %t, %b : tensor<8x4xi32, #lanes>, !tgpu.buffer<8x4xf32, #plain>
  tile.return
}

// -----

#plain = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#lanes = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
tile.kernel @load_c5() {
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #plain>
  // expected-error @+1 {{tile and buffer differ}}
  %t = tgpu.load %b : !tgpu.buffer<8x4xf32, #plain>, tensor<4x8xf32, #lanes>
  tile.return
}

// -----

#plain = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#lanes = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @mma_c6(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<8x4xf32, #lanes>
  %b = tgpu.alloc : !tgpu.buffer<8x4xf32, #plain>
  // expected-error @+1 {{dims do not fit}}
  %r = tgpu.mma %b, %b, %t : !tgpu.buffer<8x4xf32, #plain>, !tgpu.buffer<8x4xf32, #plain>, tensor<8x4xf32, #lanes>
  tile.return
}

// -----

#lanes = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#kept = #tile.layout<[8] lane [(0), (0), (1), (2), (4)]>
tile.kernel @warp_reduce_c2(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<8x4xf32, #lanes>
  // expected-error @+1 {{results do not have the shape [warps, kept dims…]}}
  %r = tgpu.warp_reduce(%t) axes [1] : (tensor<8x4xf32, #lanes>) -> tensor<8xf32, #kept> {
  ^bb0(%l: f32, %r: f32):
    tgpu.yield %l : f32
  }
  tile.return
}

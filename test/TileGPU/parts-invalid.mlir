// RUN: tile-opt %s --split-input-file --verify-diagnostics
// Slices, takes, counts, scans and sorts that break their rules.

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#tall = #tile.layout<[8, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>

tile.kernel @store_slice_c1_size(%x: f32, %i: index) {
  %t = tile.splat %x : f32 -> tensor<4x8xf32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<8x8xf32, #tall>
  // expected-error @+1 {{a slice is in no dim larger than its tile}}
  tgpu.store_slice %t[%i, %i], %b : tensor<4x8xf32, #rows>, !tgpu.buffer<8x8xf32, #tall>
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#part = #tile.layout<[2, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0)]>

tile.kernel @store_slice_c1_index(%x: f32, %i: index) {
  %t = tile.splat %x : f32 -> tensor<4x8xf32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<2x8xf32, #part>
  // expected-error @+1 {{tile, index and buffer do not go together}}
  tgpu.store_slice %t[%i], %b : tensor<4x8xf32, #rows>, !tgpu.buffer<2x8xf32, #part>
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#plain = #tile.layout<[4, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#wide = #tile.layout<[8, 8] register [(4, 0)] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>

tile.kernel @take_c1(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<4x8xi32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<4x8xi32, #plain>
  // expected-error @+1 {{result and buffer do not go together}}
  %r = tgpu.take %b[%t] axis 1 along : !tgpu.buffer<4x8xi32, #plain>, tensor<4x8xi32, #rows> -> tensor<8x8xi32, #wide>
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#plain = #tile.layout<[4, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>

tile.kernel @take_c2(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<4x8xi32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<4x8xi32, #plain>
  // expected-error @+1 {{indices do not fit the result}}
  %r = tgpu.take %b[%t] axis 1 : !tgpu.buffer<4x8xi32, #plain>, tensor<4x8xi32, #rows> -> tensor<4x8xi32, #rows>
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#bins = #tile.layout<[4] offset [(1), (2)]>

tile.kernel @count_c1(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<4x8xf32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<4xi32, #bins>
  // expected-error @+1 {{counts integers in a buffer of i32}}
  tgpu.count %t, %b first 0 : tensor<4x8xf32, #rows>, !tgpu.buffer<4xi32, #bins>
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#bytes = #tile.layout<[4] offset [(1), (2)]>

tile.kernel @scan_c1(%x: f32) {
  %t = tile.splat %x : f32 -> tensor<4x8xf32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<4xi8, #bytes>
  // expected-error @+1 {{results have the sources' types}}
  %s = tgpu.scan(%t) axis 0 through %b : !tgpu.buffer<4xi8, #bytes>, (tensor<4x8xf32, #rows>) -> tensor<4x8xi32, #rows> {
  ^bb0(%l: f32, %r: f32):
    tgpu.yield %l : f32
  }
  tile.return
}

// -----

#rows = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#bytes = #tile.layout<[4] offset [(1), (2)]>

tile.kernel @sort_c1(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<4x8xi32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<4xi8, #bytes>
  // expected-error @+1 {{sorts one or two tiles, results have their types}}
  %s:3 = tgpu.sort(%t, %t, %t) axis 0 through %b
      : !tgpu.buffer<4xi8, #bytes>, (tensor<4x8xi32, #rows>, tensor<4x8xi32, #rows>, tensor<4x8xi32, #rows>) -> (tensor<4x8xi32, #rows>, tensor<4x8xi32, #rows>, tensor<4x8xi32, #rows>)
  tile.return
}

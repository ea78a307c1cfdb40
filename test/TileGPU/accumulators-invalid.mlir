// RUN: tile-opt %s --split-input-file --verify-diagnostics
// The constraints of accumulators.

// expected-error @+1 {{an accumulator has two dims}}
tile.kernel @type(%x: !tgpu.accumulator<128xf32>) {
  tile.return
}

// -----

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @accumulate_c1() {
  %a = tgpu.alloc : !tgpu.buffer<8x4xf32, #a>
  %t = tgpu.accumulator : !tgpu.accumulator<8x4xf32>
  // expected-error @+1 {{dims do not fit}}
  tgpu.accumulate %a, %a, %t {atom = "tcgen05"} : !tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<8x4xf32, #a>, !tgpu.accumulator<8x4xf32>
  tile.return
}

// -----

#a = #tile.layout<[4, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0)]>
tile.kernel @accumulate_c2() {
  %a = tgpu.alloc : !tgpu.buffer<4x4xf32, #a>
  %t = tgpu.accumulator : !tgpu.accumulator<4x4xf32>
  // expected-error @+1 {{needs the name of an atom}}
  tgpu.accumulate %a, %a, %t {atom = ""} : !tgpu.buffer<4x4xf32, #a>, !tgpu.buffer<4x4xf32, #a>, !tgpu.accumulator<4x4xf32>
  tile.return
}

// -----

tile.kernel @set_accumulator_c1(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<4x4xf32>
  %t = tgpu.accumulator : !tgpu.accumulator<4x8xf32>
  // expected-error @+1 {{tile and accumulator differ}}
  tgpu.set_accumulator %x, %t : tensor<4x4xf32>, !tgpu.accumulator<4x8xf32>
  tile.return
}

// -----

tile.kernel @get_accumulator_c1() {
  %t = tgpu.accumulator : !tgpu.accumulator<4x8xf32>
  // expected-error @+1 {{tile and accumulator differ}}
  %x = tgpu.get_accumulator %t : !tgpu.accumulator<4x8xf32>, tensor<4x8xi32>
  tile.return
}

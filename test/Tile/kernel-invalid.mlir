// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of kernels, position and facts.

// expected-error @+1 {{parameter 0 must be a scalar or an array, not 'tensor<8xf32>'}}
tile.kernel @kernel_c1_tile_parameter(%x: tensor<8xf32>) {
  tile.return
}

// -----

// expected-error @+1 {{returns nothing, but has 1 results}}
tile.kernel @kernel_c2_result(%x: f32) -> f32 {
  tile.return
}

// -----

// expected-error @+1 {{'grid' has one to three entries, not 4}}
tile.kernel @kernel_c3_grid(%x: f32) attributes {grid = ["1", "1", "1", "1"]} {
  tile.return
}

// -----

// expected-error @+1 {{'num_warps' is a power of two up to 32, not 3}}
tile.kernel @kernel_c4_warps(%x: f32) attributes {num_warps = 3 : i32} {
  tile.return
}

// -----

// expected-error @+1 {{an array has rank 1 to 6, not 7}}
tile.kernel @array_c1_rank(%x: !tile.array<1x1x1x1x1x1x1xf32>) {
  tile.return
}

// -----

// expected-error @+1 {{an array cannot have elements of type 'tf32'}}
tile.kernel @array_c2_element(%x: !tile.array<?xtf32>) {
  tile.return
}

// -----

// expected-error @+1 {{expected 'mut' or 'strided'}}
tile.kernel @array_flags(%x: !tile.array<?xf32, const>) {
  tile.return
}

// -----

tile.kernel @block_id_c1_axis() {
  // expected-error @+1 {{the axis is 0, 1 or 2, not 3}}
  %i = tile.block_id 3 : index
  tile.return
}

// -----

tile.kernel @num_blocks_c1_axis() {
  // expected-error @+1 {{the axis is 0, 1 or 2, not -1}}
  %i = tile.num_blocks -1 : index
  tile.return
}

// -----

tile.kernel @dim_c1_outside(%a: !tile.array<?xf32>) {
  // expected-error @+1 {{dim 1 is outside an array of rank 1}}
  %i = tile.dim %a, 1 : !tile.array<?xf32>
  tile.return
}

// -----

tile.kernel @print_c1_pieces(%x: i32) {
  // expected-error @+1 {{has 1 pieces and 1 dtypes for 1 values}}
  tile.print ["x"] (%x) dtypes ["i32"] : i32
  tile.return
}

// -----

tile.kernel @assert_c1_condition(%x: i32) {
  // expected-error @+1 {{takes a condition of i1, not 'i32'}}
  tile.assert %x, "no" : i32
  tile.return
}

// -----

tile.kernel @tile_c1_power_of_two(%x: f32) {
  // expected-error @+1 {{must be a tile (rank 1 to 6, power-of-two dims, at most 2^20 elements)}}
  %t = tile.splat %x : f32 -> tensor<3xf32>
  tile.return
}

// -----

tile.kernel @tile_c2_too_large(%x: f32) {
  // expected-error @+1 {{must be a tile (rank 1 to 6, power-of-two dims, at most 2^20 elements)}}
  %t = tile.splat %x : f32 -> tensor<2048x1024xf32>
  tile.return
}

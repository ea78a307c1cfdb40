// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of creation and change of shape.

tile.kernel @splat_c1_element(%s: f32) {
  // expected-error @+1 {{changes the element type from 'f32' to 'f16'}}
  %t = tile.splat %s : f32 -> tensor<8xf16>
  tile.return
}

// -----

tile.kernel @iota_c1_rank() {
  // expected-error @+1 {{makes a tile of rank 1, not 2}}
  %t = tile.iota : tensor<8x8xi32>
  tile.return
}

// -----

tile.kernel @iota_c2_float() {
  // expected-error @+1 {{makes integers or indices, not 'f32'}}
  %t = tile.iota : tensor<8xf32>
  tile.return
}

// -----

tile.kernel @iota_c2_bool() {
  // expected-error @+1 {{makes integers or indices, not 'i1'}}
  %t = tile.iota : tensor<8xi1>
  tile.return
}

// -----

tile.kernel @broadcast_c1_rank() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{keeps the rank, but goes from 1 to 2}}
  %u = tile.broadcast %t : tensor<8xi32> -> tensor<8x8xi32>
  tile.return
}

// -----

tile.kernel @broadcast_c2_size() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{stretches dims of size 1, but dim 0 goes from 8 to 16}}
  %u = tile.broadcast %t : tensor<8xi32> -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @broadcast_c3_element() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{changes the element type from 'i32' to 'i64'}}
  %u = tile.broadcast %t : tensor<8xi32> -> tensor<8xi64>
  tile.return
}

// -----

tile.kernel @reshape_c1_count() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{keeps the number of elements, but goes from 8 to 16}}
  %u = tile.reshape %t : tensor<8xi32> -> tensor<4x4xi32>
  tile.return
}

// -----

tile.kernel @reshape_c2_element() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{changes the element type from 'i32' to 'f32'}}
  %u = tile.reshape %t : tensor<8xi32> -> tensor<4x2xf32>
  tile.return
}

// -----

tile.kernel @permute_c1_permutation(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{[0, 0] is not a permutation of the source's dims}}
  %u = tile.permute %t [0, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @permute_c2_shape(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the result's shape is not the source's in the order [1, 0]}}
  %u = tile.permute %t [1, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @cat_c1_count() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{joins a power of two of tiles, not 3}}
  %u = tile.cat(%t, %t, %t) axis 0 : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<32xi32>
  tile.return
}

// -----

tile.kernel @cat_c1_types() {
  %t = tile.iota : tensor<8xi32>
  %v = tile.iota : tensor<8xi64>
  // expected-error @+1 {{requires all operands to have the same type}}
  %u = tile.cat(%t, %v) axis 0 : (tensor<8xi32>, tensor<8xi64>) -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @cat_c2_axis() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{axis 1 is outside a tile of rank 1}}
  %u = tile.cat(%t, %t) axis 1 : (tensor<8xi32>, tensor<8xi32>) -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @cat_c2_shape() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{joins into 'tensor<16xi32>', not 'tensor<32xi32>'}}
  %u = tile.cat(%t, %t) axis 0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<32xi32>
  tile.return
}

// -----

tile.kernel @extract_c1_indices(%i: index) {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{has 2 indices for a tile of rank 1}}
  %u = tile.extract %t[%i, %i] : tensor<8xi32> -> i32
  tile.return
}

// -----

tile.kernel @extract_c2_larger(%i: index) {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{'tensor<16xi32>' is not a slice of 'tensor<8xi32>'}}
  %u = tile.extract %t[%i] : tensor<8xi32> -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @extract_c2_element(%i: index) {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{'f32' is not a slice of 'tensor<8xi32>'}}
  %u = tile.extract %t[%i] : tensor<8xi32> -> f32
  tile.return
}

// -----

tile.kernel @insert_c1_indices(%i: index) {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{has 0 indices for a tile of rank 1}}
  %u = tile.insert %t into %t[] : tensor<8xi32> into tensor<8xi32>
  tile.return
}

// -----

tile.kernel @insert_c2_rank(%i: index, %s: i32) {
  %t = tile.iota : tensor<8xi32>
  %v = tile.splat %s : i32 -> tensor<2x2xi32>
  // expected-error @+1 {{'tensor<2x2xi32>' is not a slice of 'tensor<8xi32>'}}
  %u = tile.insert %v into %t[%i] : tensor<2x2xi32> into tensor<8xi32>
  tile.return
}

// -----

tile.kernel @flip_c1_axis() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{axis -1 is outside a tile of rank 1}}
  %u = tile.flip %t axis -1 : tensor<8xi32>
  tile.return
}

// -----

tile.kernel @take_c1_axis() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{axis 1 is outside a tile of rank 1}}
  %u = tile.take %t[%t] axis 1 : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @take_c2_shape() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{takes 'tensor<16xi32>' from 'tensor<8xi32>'}}
  %u = tile.take %t[%t] axis 0 : tensor<8xi32>, tensor<8xi32> -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @take_c3_indices() {
  %t = tile.iota : tensor<8xi32>
  %v = tile.reshape %t : tensor<8xi32> -> tensor<4x2xi32>
  // expected-error @+1 {{has indices of type 'tensor<8xi32>' for 'tensor<4x8xi32>'}}
  %u = tile.take %v[%t] axis 1 along : tensor<4x2xi32>, tensor<8xi32> -> tensor<4x8xi32>
  tile.return
}

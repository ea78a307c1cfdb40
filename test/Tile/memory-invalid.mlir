// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of loads and stores.

tile.kernel @load_c1_indices(%a: !tile.array<?x?xf32>, %i: index) {
  // expected-error @+1 {{has 1 indices for an array of rank 2}}
  %0 = tile.load %a[%i] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @load_c2_rank(%a: !tile.array<?x?xf32>, %i: index) {
  // expected-error @+1 {{a tile of rank 1 does not fit an array of rank 2}}
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @load_c2_scalar(%a: !tile.array<?xf32>, %i: index) {
  // expected-error @+1 {{a scalar is accessed with 'elements' only}}
  %0 = tile.load %a[%i] : !tile.array<?xf32> -> f32
  tile.return
}

// -----

tile.kernel @load_c3_element(%a: !tile.array<?xf32>, %i: index) {
  // expected-error @+1 {{accesses elements of type 'f32' as 'f16'}}
  %0 = tile.load %a[%i] : !tile.array<?xf32> -> tensor<8xf16>
  tile.return
}

// -----

tile.kernel @load_c5_order(%a: !tile.array<?x?xf32>, %i: index) {
  // expected-error @+1 {{'order' is not a permutation of the array's dims}}
  %0 = tile.load %a[%i, %i] order [0, 0] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @load_c5_order_length(%a: !tile.array<?x?xf32>, %i: index) {
  // expected-error @+1 {{'order' has 1 entries for rank 2}}
  %0 = tile.load %a[%i, %i] order [0] : !tile.array<?x?xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @load_c6_pad(%a: !tile.array<?xf32>, %i: index) {
  // expected-error @+1 {{'pad' of type 'i32' for elements of type 'f32'}}
  %0 = tile.load %a[%i] pad(1 : i32) : !tile.array<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @load_c7_in_bounds(%a: !tile.array<?xf32>, %i: index) {
  // expected-error @+1 {{'in_bounds' has 2 flags for rank 1}}
  %0 = tile.load %a[%i] in_bounds [true, true] : !tile.array<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @store_c1_mut(%a: !tile.array<?xf32>, %i: index, %s: f32) {
  // expected-error @+1 {{writes an array that is not 'mut'}}
  tile.store %a[%i], %s elements : !tile.array<?xf32>, f32
  tile.return
}

// -----

tile.kernel @store_c2_scalar(%a: !tile.array<?xf32, mut>, %i: index, %s: f32) {
  // expected-error @+1 {{a scalar is accessed with 'elements' only}}
  tile.store %a[%i], %s : !tile.array<?xf32, mut>, f32
  tile.return
}

// -----

tile.kernel @store_c3_indices(%a: !tile.array<?xf32, mut>, %i: index, %s: f32) {
  // expected-error @+1 {{has 2 indices for an array of rank 1}}
  tile.store %a[%i, %i], %s elements : !tile.array<?xf32, mut>, f32
  tile.return
}

// -----

tile.kernel @store_c4_element(%a: !tile.array<?xf32, mut>, %i: index, %s: f16) {
  // expected-error @+1 {{accesses elements of type 'f32' as 'f16'}}
  tile.store %a[%i], %s elements : !tile.array<?xf32, mut>, f16
  tile.return
}

// -----

tile.kernel @store_c5_order(%a: !tile.array<?xf32, mut>, %i: index, %s: f32) {
  // expected-error @+1 {{'order' is not a permutation of the array's dims}}
  tile.store %a[%i], %s elements order [1] : !tile.array<?xf32, mut>, f32
  tile.return
}

// -----

tile.kernel @store_c6_in_bounds(%a: !tile.array<?xf32, mut>, %i: index, %s: f32) {
  // expected-error @+1 {{'in_bounds' has 0 flags for rank 1}}
  tile.store %a[%i], %s elements in_bounds [] : !tile.array<?xf32, mut>, f32
  tile.return
}

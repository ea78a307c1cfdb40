// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of gathers, scatters and atomics.

tile.kernel @gather_c1_indices(%a: !tile.array<?x?xf32>, %i: i32) {
  // expected-error @+1 {{has 1 indices for an array of rank 2}}
  %0 = tile.gather %a[%i] : !tile.array<?x?xf32>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @gather_c2_index_shape(%a: !tile.array<?xf32>, %i: i32) {
  // expected-error @+1 {{has an index of type 'i32' beside values of type 'tensor<8xf32>'}}
  %0 = tile.gather %a[%i] : !tile.array<?xf32>, [i32] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @gather_c2_mask(%a: !tile.array<?xf32>, %i: i32) {
  // expected-error @+1 {{has a mask of type 'i32' beside values of type 'f32'}}
  %0 = tile.gather %a[%i] mask(%i : i32) : !tile.array<?xf32>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @gather_c3_element(%a: !tile.array<?xf32>, %i: i32) {
  // expected-error @+1 {{accesses elements of type 'f32' as 'f16'}}
  %0 = tile.gather %a[%i] : !tile.array<?xf32>, [i32] -> f16
  tile.return
}

// -----

tile.kernel @gather_c3_pad(%a: !tile.array<?xf32>, %i: i32) {
  // expected-error @+1 {{'pad' of type 'f16' for elements of type 'f32'}}
  %0 = tile.gather %a[%i] pad(1.0 : f16) : !tile.array<?xf32>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @gather_c4_in_bounds(%a: !tile.array<?xf32>, %i: i32) {
  // expected-error@+1 {{'in_bounds' has 2 flags for an array of rank 1}}
  %0 = tile.gather %a[%i] in_bounds [true, false] : !tile.array<?xf32>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @gather_c4_run(%a: !tile.array<?xf32>) {
  %n = tile.iota : tensor<8xi32>
  // expected-error@+1 {{'run' names no dim of 'tensor<8xf32>' and a power of two that divides its size}}
  %0 = tile.gather %a[%n] run [0, 16] : !tile.array<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @scatter_c5_run(%a: !tile.array<?xi32, mut>) {
  %n = tile.iota : tensor<8xi32>
  // expected-error@+1 {{'run' names no dim of 'tensor<8xi32>' and a power of two that divides its size}}
  tile.scatter %a[%n], %n run [1, 4] : !tile.array<?xi32, mut>, [tensor<8xi32>], tensor<8xi32>
  tile.return
}

// -----

tile.kernel @atomic_c6_run(%a: !tile.array<?xi32, mut>) {
  %n = tile.iota : tensor<8xi32>
  // expected-error@+1 {{'run' names no dim of 'tensor<8xi32>' and a power of two that divides its size}}
  %0 = tile.atomic add %a[%n] value(%n : tensor<8xi32>) run [0, 3] : !tile.array<?xi32, mut>, [tensor<8xi32>] -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @scatter_c1_mut(%a: !tile.array<?xf32>, %i: i32, %v: f32) {
  // expected-error @+1 {{writes an array that is not 'mut'}}
  tile.scatter %a[%i], %v : !tile.array<?xf32>, [i32], f32
  tile.return
}

// -----

tile.kernel @scatter_c2_indices(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{has 2 indices for an array of rank 1}}
  tile.scatter %a[%i, %i], %v : !tile.array<?xf32, mut>, [i32, i32], f32
  tile.return
}

// -----

tile.kernel @scatter_c3_mask(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{has a mask of type 'f32' beside values of type 'f32'}}
  tile.scatter %a[%i], %v mask(%v : f32) : !tile.array<?xf32, mut>, [i32], f32
  tile.return
}

// -----

tile.kernel @scatter_c4_element(%a: !tile.array<?xf32, mut>, %i: i32, %v: f64) {
  // expected-error @+1 {{accesses elements of type 'f32' as 'f64'}}
  tile.scatter %a[%i], %v : !tile.array<?xf32, mut>, [i32], f64
  tile.return
}

// -----

tile.kernel @atomic_c1_mut(%a: !tile.array<?xf32>, %i: i32, %v: f32) {
  // expected-error @+1 {{writes an array that is not 'mut'}}
  %0 = tile.atomic add %a[%i] value(%v : f32) : !tile.array<?xf32>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c2_indices(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{has 2 indices for an array of rank 1}}
  %0 = tile.atomic add %a[%i, %i] value(%v : f32) : !tile.array<?xf32, mut>, [i32, i32] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c3_shape(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  %t = tile.splat %v : f32 -> tensor<8xf32>
  // expected-error @+1 {{has an index of type 'i32' beside values of type 'tensor<8xf32>'}}
  %0 = tile.atomic add %a[%i] value(%t : tensor<8xf32>) : !tile.array<?xf32, mut>, [i32] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @atomic_c4_table(%a: !tile.array<?xi8, mut>, %i: i32, %v: i8) {
  // expected-error @+1 {{'add' does not exist for 'i8'}}
  %0 = tile.atomic add %a[%i] value(%v : i8) : !tile.array<?xi8, mut>, [i32] -> i8
  tile.return
}

// -----

tile.kernel @atomic_c4_bits(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{'xor' does not exist for 'f32'}}
  %0 = tile.atomic xor %a[%i] value(%v : f32) : !tile.array<?xf32, mut>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c5_cas(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{'cas' has a value, an expected value and a result}}
  %0 = tile.atomic cas %a[%i] value(%v : f32) : !tile.array<?xf32, mut>, [i32] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c5_store(%a: !tile.array<?xf32, mut>, %i: i32, %v: f32) {
  // expected-error @+1 {{'store' has a value, no expected value and no result}}
  %0 = tile.atomic store %a[%i] value(%v : f32) : !tile.array<?xf32, mut>, [i32] -> f32
  tile.return
}

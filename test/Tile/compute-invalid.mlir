// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of mma, integers and casts.

tile.kernel @mma_c1_rank(%x: f16, %y: f16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<1x8x8xf16>
  %b = tile.splat %y : f16 -> tensor<8x8xf16>
  %c = tile.splat %z : f32 -> tensor<8x8xf32>
  // expected-error @+1 {{the ranks are all 2 or all 3, not 3, 2 and 2}}
  %r = tile.mma %a, %b, %c : tensor<1x8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @mma_c2_inner(%x: f16, %y: f16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<8x4xf16>
  %b = tile.splat %y : f16 -> tensor<8x8xf16>
  %c = tile.splat %z : f32 -> tensor<8x8xf32>
  // expected-error @+1 {{the shapes are MxK, KxN and MxN, with one batch}}
  %r = tile.mma %a, %b, %c : tensor<8x4xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @mma_c2_batch(%x: f16, %y: f16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<2x8x8xf16>
  %b = tile.splat %y : f16 -> tensor<4x8x8xf16>
  %c = tile.splat %z : f32 -> tensor<4x8x8xf32>
  // expected-error @+1 {{the shapes are MxK, KxN and MxN, with one batch}}
  %r = tile.mma %a, %b, %c : tensor<2x8x8xf16>, tensor<4x8x8xf16>, tensor<4x8x8xf32>
  tile.return
}

// -----

tile.kernel @mma_c3_types(%x: bf16, %y: bf16, %z: bf16) {
  %a = tile.splat %x : bf16 -> tensor<8x8xbf16>
  %b = tile.splat %y : bf16 -> tensor<8x8xbf16>
  %c = tile.splat %z : bf16 -> tensor<8x8xbf16>
  // expected-error @+1 {{cannot multiply 'bf16' by 'bf16' into 'bf16'}}
  %r = tile.mma %a, %b, %c : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
  tile.return
}

// -----

tile.kernel @mma_c3_mixed(%x: f16, %y: bf16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<8x8xf16>
  %b = tile.splat %y : bf16 -> tensor<8x8xbf16>
  %c = tile.splat %z : f32 -> tensor<8x8xf32>
  // expected-error @+1 {{cannot multiply 'f16' by 'bf16' into 'f32'}}
  %r = tile.mma %a, %b, %c : tensor<8x8xf16>, tensor<8x8xbf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @mma_c4_precision(%x: f16, %y: f16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<8x8xf16>
  %b = tile.splat %y : f16 -> tensor<8x8xf16>
  %c = tile.splat %z : f32 -> tensor<8x8xf32>
  // expected-error @+1 {{precision 'tf32' does not exist for 'f16'}}
  %r = tile.mma %a, %b, %c precision(tf32) : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @mma_c5_unsigned(%x: f16, %y: f16, %z: f32) {
  %a = tile.splat %x : f16 -> tensor<8x8xf16>
  %b = tile.splat %y : f16 -> tensor<8x8xf16>
  %c = tile.splat %z : f32 -> tensor<8x8xf32>
  // expected-error @+1 {{'a_unsigned' and 'b_unsigned' are for integers}}
  %r = tile.mma %a, %b, %c b_unsigned : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @remainder_c1_ceil(%a: i32) {
  // expected-error @+1 {{the rounding is 'trunc' or 'floor'}}
  %r = tile.remainder ceil signed %a, %a : i32
  tile.return
}

// -----

tile.kernel @cast_c1_shape(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %u = tile.cast %t : tensor<8x4xf32> -> tensor<4x8xf16>
  tile.return
}

// -----

tile.kernel @cast_c1_scalar(%s: f32) {
  // expected-error @+1 {{if a result is non-scalar, then at least one operand must be non-scalar}}
  %u = tile.cast %s : f32 -> tensor<1xf16>
  tile.return
}

// -----

tile.kernel @cast_c2_rounding(%s: f32) {
  // expected-error @+1 {{a rounding is for float to float, not 'f32' to 'f8E5M2'}}
  %u = tile.cast %s round(rz) : f32 -> f8E5M2
  tile.return
}

// -----

tile.kernel @cast_c2_integer(%s: f32) {
  // expected-error @+1 {{a rounding is for float to float, not 'f32' to 'i32'}}
  %u = tile.cast %s round(ru) : f32 -> i32
  tile.return
}

// -----

tile.kernel @cast_c3_unsigned(%s: f32) {
  // expected-error @+1 {{'from_unsigned' and 'to_unsigned' belong to integers}}
  %u = tile.cast %s from_unsigned : f32 -> f16
  tile.return
}

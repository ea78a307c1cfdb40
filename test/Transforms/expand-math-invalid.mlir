// RUN: tile-opt --tile-expand-math --split-input-file --verify-diagnostics %s
// What has no expansion is an error at its place.

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not expanded on tensors}}
  %y = math.sin %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @eight_bits(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error @+1 {{has no expansion on 'f8E4M3FN'}}
  %y = math.exp %x : f8E4M3FN
  return %y : f8E4M3FN
}

// -----

func.func @unknown(%x: f32) -> f32 {
  // expected-error @+1 {{has no expansion}}
  %y = math.acosh %x : f32
  return %y : f32
}

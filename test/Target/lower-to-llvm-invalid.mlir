// RUN: tile-opt --tile-lower-to-llvm --split-input-file --verify-diagnostics %s
// What the backend has no instruction for is named here, not by the backend.

llvm.func @exp(%x: f32) -> f32 {
  // expected-error @+1 {{no instruction for math.exp on 'f32'; ExpandMath replaces it}}
  %a = math.exp %x : f32
  llvm.return %a : f32
}

// -----

llvm.func @exp2(%x: f32) -> f32 {
  // expected-error @+1 {{no instruction for math.exp2 on 'f32'}}
  %a = math.exp2 %x : f32
  llvm.return %a : f32
}

// -----

llvm.func @remainder(%x: f32) -> f32 {
  // expected-error @+1 {{no instruction for arith.remf}}
  %a = arith.remf %x, %x : f32
  llvm.return %a : f32
}

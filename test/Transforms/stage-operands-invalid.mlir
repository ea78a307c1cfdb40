// RUN: tile-opt %s --tile-stage-operands --split-input-file --verify-diagnostics
// What threads exchange follows from the layouts of tiles, which must be there.

tile.kernel @without_layouts(%a: !tile.array<?xf32, mut>) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{its tile has no layout: run --tile-assign-layouts first}}
  %x = tile.load %a[%c0] : !tile.array<?xf32, mut> -> tensor<64xf32>
  %m = tile.reduce(%x) axes [0] : (tensor<64xf32>) -> f32 {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  }
  tile.store %a[%c0], %m elements : !tile.array<?xf32, mut>, f32
  tile.return
}

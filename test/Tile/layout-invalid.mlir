// RUN: tile-opt %s --split-input-file --verify-diagnostics
// Each rule of #tile.layout and tile.convert_layout is enforced.

// layout-C1
// expected-error @below {{a layout is for power-of-two dims and at most 2^20 elements, not [3]}}
#a = #tile.layout<[3] lane [(1), (2)]>

// -----

// layout-C2
// expected-error @below {{a basis has one coordinate per dim: 2}}
#a = #tile.layout<[2, 2] lane [(1), (2)]>

// -----

// layout-C2
// expected-error @below {{a basis lies outside of the layout's shape}}
#a = #tile.layout<[2, 2] lane [(0, 2), (1, 0)]>

// -----

// layout-C3
// expected-error @below {{the layout of [4] leaves out elements}}
#a = #tile.layout<[4] register [(1), (1)] lane [(0), (0), (0), (0), (0)]>

// -----

// layout-C4
#a = #tile.layout<[2] register [(1)] lane [(0), (0), (0), (0), (0)]>
// expected-error @below {{the layout is for shape [2], the tile is [4]}}
func.func private @f(tensor<4xf32, #a>)

// -----

// layout-C5
#a = #tile.layout<[2] register [(1)] lane [(0), (0)]>
// expected-error @below {{a tile's layout has 5 lane bits and no offset bits}}
func.func private @f(tensor<2xf32, #a>)

// -----

// convert_layout-C1
#a = #tile.layout<[2] register [(1)] lane [(0), (0), (0), (0), (0)]>
func.func @f(%x: tensor<2xf32, #a>) {
  // expected-error @below {{changes the layout only, but goes from}}
  %0 = tile.convert_layout %x : tensor<2xf32, #a> -> tensor<2xf16, #a>
  return
}

// -----

// convert_layout-C2
#a = #tile.layout<[2] register [(1)] lane [(0), (0), (0), (0), (0)]>
func.func @f(%x: tensor<2xf32, #a>) {
  // expected-error @below {{goes from one layout to another}}
  %0 = tile.convert_layout %x : tensor<2xf32, #a> -> tensor<2xf32>
  return
}

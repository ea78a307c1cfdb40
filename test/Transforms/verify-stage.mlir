// RUN: tile-opt %s --split-input-file --tile-verify-stage=stage=laid-out --verify-diagnostics
// The check of stage `laid-out` finds what breaks its contract.

// expected-error @below {{a kernel of stage 'laid-out' has 'num_warps'}}
tile.kernel @no_warps() {
  tile.return
}

// -----

tile.kernel @no_layout() attributes {num_warps = 1 : i32} {
  // expected-error @below {{a tile of stage 'laid-out' has a layout, this is 'tensor<32xi32>'}}
  %0 = tile.iota : tensor<32xi32>
  tile.return
}

// -----

#a = #tile.layout<[32] lane [(1), (2), (4), (8), (16)]>
tile.kernel @other_warps() attributes {num_warps = 2 : i32} {
  // expected-error @below {{the layout is not for the kernel's 2 warps}}
  %0 = tile.iota : tensor<32xi32, #a>
  tile.return
}

// -----

#a = #tile.layout<[4, 8] lane [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#wrong = #tile.layout<[8, 4] lane [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
tile.kernel @wrong_permute(%s: i32) attributes {num_warps = 1 : i32} {
  %0 = tile.splat %s : i32 -> tensor<4x8xi32, #a>
  // expected-error @below {{breaks the layout rule of its kind}}
  %1 = tile.permute %0 [1, 0] : tensor<4x8xi32, #a> -> tensor<8x4xi32, #wrong>
  tile.return
}

// -----

#a = #tile.layout<[1, 32] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)]>
#c = #tile.layout<[2, 32] register [(1, 0), (0, 1)] lane [(0, 2), (0, 4), (0, 8), (0, 16), (0, 0)]>
tile.kernel @wrong_broadcast(%s: i32) attributes {num_warps = 1 : i32} {
  %0 = tile.splat %s : i32 -> tensor<1x32xi32, #a>
  // expected-error @below {{breaks the layout rule of its kind}}
  %1 = tile.broadcast %0 : tensor<1x32xi32, #a> -> tensor<2x32xi32, #c>
  tile.return
}

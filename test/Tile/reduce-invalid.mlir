// RUN: tile-opt %s --split-input-file --verify-diagnostics
// One function per rule of reductions, scans, sorts and histograms.

tile.kernel @reduce_c1_sources(%s: f32) {
  // expected-error @+1 {{needs at least one source}}
  "tile.reduce"() <{axes = array<i64: 0>}> ({
  ^bb0:
    tile.yield %s : f32
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @reduce_c1_shape(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  %v = tile.splat %s : f32 -> tensor<4x4xf32>
  // expected-error @+1 {{source 1 has another shape than the first}}
  %u:2 = tile.reduce(%t, %v) axes [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c2_order(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the axes are distinct, ascending and below the rank 2}}
  %u = tile.reduce(%t) axes [1, 0] : (tensor<8x4xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c2_outside(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the axes are distinct, ascending and below the rank 2}}
  %u = tile.reduce(%t) axes [2] : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c3_result(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{result 0 is 'tensor<4xf32>', not 'tensor<8xf32>'}}
  %u = tile.reduce(%t) axes [1] : (tensor<8x4xf32>) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c4_arguments(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the region takes 2 arguments, not 1}}
  %u = tile.reduce(%t) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%l: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c4_types(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the region combines values of type 'f32' at position 0}}
  %u = tile.reduce(%t) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f64):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @reduce_c4_yield(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the region yields 1 values}}
  %u = tile.reduce(%t) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l, %r : f32, f32
  }
  tile.return
}

// -----

tile.kernel @scan_c1_sources(%s: f32) {
  // expected-error @+1 {{needs at least one source}}
  "tile.scan"() <{axis = 0 : i32, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0:
    tile.yield %s : f32
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @scan_c2_axis(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{axis 2 is outside a tile of rank 2}}
  %u = tile.scan(%t) axis 2 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @scan_c3_result(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the results have the sources' types}}
  %u = tile.scan(%t) axis 1 : (tensor<8x4xf32>) -> tensor<4x8xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @scan_c4_yield(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the region yields 1 values}}
  %u = tile.scan(%t) axis 1 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l, %r : f32, f32
  }
  tile.return
}

// -----

tile.kernel @scan_c5_init(%s: f32, %i: i32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{initial value 0 is 'i32' for elements of type 'f32'}}
  %u = tile.scan(%t) axis 1 exclusive(%i : i32) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @scan_c5_count(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{has 2 initial values for 1 sources}}
  %u = tile.scan(%t) axis 1 exclusive(%s, %s : f32, f32) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  tile.return
}

// -----

tile.kernel @sort_c1_shape(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  %v = tile.splat %s : f32 -> tensor<4x4xf32>
  // expected-error @+1 {{source 1 has another shape than the first}}
  %u:2 = tile.sort(%t, %v) axis 0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>)
  tile.return
}

// -----

tile.kernel @sort_c2_axis(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{axis 5 is outside a tile of rank 2}}
  %u = tile.sort(%t) axis 5 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @sort_c3_result(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{the results have the sources' types}}
  %u = tile.sort(%t) axis 0 : (tensor<8x4xf32>) -> tensor<8x4xi32>
  tile.return
}

// -----

tile.kernel @histogram_c1_integers(%s: f32) {
  %t = tile.splat %s : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{must be a tile of integers or an integer scalar}}
  %u = tile.histogram %t : tensor<8x4xf32> -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @histogram_c2_result() {
  %t = tile.iota : tensor<8xi32>
  // expected-error @+1 {{makes a tile of rank 1 of i32, not 'tensor<8xi64>'}}
  %u = tile.histogram %t : tensor<8xi32> -> tensor<8xi64>
  tile.return
}

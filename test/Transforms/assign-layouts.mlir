// RUN: tile-opt %s --split-input-file --tile-select-atoms --tile-assign-layouts --tile-verify-stage=stage=laid-out | FileCheck %s
// Layouts spread from anchors; conversions stand only where two layouts meet.

// A row of 4096 bf16: four warps, 16 bytes a lane and four times so, no conversion; the
// reduction leaves copies in every thread.
// CHECK-DAG: #[[ROW:.*]] = #tile.layout<[1, 4096] register [(0, 1), (0, 2), (0, 4), (0, 1024), (0, 2048)] lane [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128)] warp [(0, 256), (0, 512)]>
// CHECK-DAG: #[[ONE:.*]] = #tile.layout<[1] lane [(0), (0), (0), (0), (0)] warp [(0), (0)]>
// CHECK-LABEL: tile.kernel @softmax
// CHECK-SAME: num_warps = 4
tile.kernel @softmax(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>)
    attributes {tile.facts = ["aligned16"]} {
  %b = tile.block_id 0 : index
  %c0 = arith.constant 0 : index
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.load {{.*}} -> tensor<1x4096xbf16, #[[ROW]]>
  %h = tile.load %x[%b, %c0] : !tile.array<?x?xbf16> -> tensor<1x4096xbf16>
  %v = arith.extf %h : tensor<1x4096xbf16> to tensor<1x4096xf32>
  // CHECK: tile.reduce({{.*}}) axes [1] : (tensor<1x4096xf32, #[[ROW]]>) -> tensor<1xf32, #[[ONE]]>
  %m = tile.reduce(%v) axes [1] : (tensor<1x4096xf32>) -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %0 = arith.maximumf %l, %r : f32
    tile.yield %0 : f32
  }
  %k = tile.reshape %m : tensor<1xf32> -> tensor<1x1xf32>
  %s = tile.broadcast %k : tensor<1x1xf32> -> tensor<1x4096xf32>
  %d = arith.subf %v, %s : tensor<1x4096xf32>
  %o = arith.truncf %d : tensor<1x4096xf32> to tensor<1x4096xbf16>
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.store {{.*}}, tensor<1x4096xbf16, #[[ROW]]>
  tile.store %y[%b, %c0], %o : !tile.array<?x?xbf16, mut>, tensor<1x4096xbf16>
  tile.return
}

// -----

// A transpose moves once, between a permute that costs nothing and the store.
// CHECK-LABEL: tile.kernel @transpose
tile.kernel @transpose(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>)
    attributes {tile.facts = ["aligned16"]} {
  %i = tile.block_id 0 : index
  %j = tile.block_id 1 : index
  // CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[ROWS:.*]]>
  %h = tile.load %x[%i, %j] : !tile.array<?x?xf32> -> tensor<64x64xf32>
  // CHECK: tile.permute {{.*}} -> tensor<64x64xf32, #[[COLS:.*]]>
  %t = tile.permute %h [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.convert_layout {{.*}} : tensor<64x64xf32, #[[COLS]]> -> tensor<64x64xf32, #[[ROWS]]>
  // CHECK: tile.store {{.*}}, tensor<64x64xf32, #[[ROWS]]>
  tile.store %y[%j, %i], %t : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// -----

// `order` turns the layout, not the data: lanes run along the array's inner dim.
// CHECK: #[[COLS:.*]] = #tile.layout<[32, 32] register [(1, 0), (2, 0)
// CHECK-LABEL: tile.kernel @ordered
tile.kernel @ordered(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index)
    attributes {tile.facts = ["aligned16"]} {
  // CHECK: tile.load {{.*}} -> tensor<32x32xf32, #[[COLS]]>
  // CHECK-NEXT: tile.store {{.*}}, tensor<32x32xf32, #[[COLS]]>
  %h = tile.load %x[%i, %i] order [1, 0] : !tile.array<?x?xf32> -> tensor<32x32xf32>
  tile.store %y[%i, %i], %h order [1, 0] : !tile.array<?x?xf32, mut>, tensor<32x32xf32>
  tile.return
}

// -----

// The product's layout goes round the loop; its zeros, bias and result follow it.
// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: num_warps = 4
tile.kernel @matmul(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>,
                    %bias: !tile.array<?xf32>, %c: !tile.array<?x?xf32, mut>, %n: index)
    attributes {tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.constant dense<0.0{{.*}}> : tensor<64x64xf32, #[[ACC:.*]]>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[ACC]]>)
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] : !tile.array<?x?xbf16> -> tensor<64x32xbf16>
    %y = tile.load %b[%k, %c0] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
    // CHECK: tile.mma {{.*}}, tensor<64x64xf32, #[[ACC]]>
    %r = tile.mma %x, %y, %s : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  }
  // CHECK-NOT: tile.convert_layout
  %bl = tile.load %bias[%c0] : !tile.array<?xf32> -> tensor<64xf32>
  %bk = tile.reshape %bl : tensor<64xf32> -> tensor<1x64xf32>
  %bb = tile.broadcast %bk : tensor<1x64xf32> -> tensor<64x64xf32>
  %o = arith.addf %acc, %bb : tensor<64x64xf32>
  // CHECK: tile.store {{.*}}, tensor<64x64xf32, #[[ACC]]>
  tile.store %c[%c0, %c0], %o : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
  tile.return
}

// -----

// Column sums: warps go to columns, so that no warp waits for another.
// CHECK: #[[TILE:.*]] = #tile.layout<[64, 512] register [(0, 1), (0, 2), {{.*}}(32, 0)] lane [(0, 4), {{.*}}] warp [(0, 128), (0, 256)
// CHECK-LABEL: tile.kernel @column_sum
tile.kernel @column_sum(%x: !tile.array<?x?xf32>, %y: !tile.array<?xf32, mut>, %i: index)
    attributes {num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  %h = tile.load %x[%i, %i] : !tile.array<?x?xf32> -> tensor<64x512xf32>
  // CHECK: tile.reduce({{.*}}) axes [0] : (tensor<64x512xf32, #[[TILE]]>)
  %s = tile.reduce(%h) axes [0] : (tensor<64x512xf32>) -> tensor<512xf32> {
  ^bb0(%l: f32, %r: f32):
    %0 = arith.addf %l, %r : f32
    tile.yield %0 : f32
  }
  tile.store %y[%i], %s : !tile.array<?xf32, mut>, tensor<512xf32>
  tile.return
}

// -----

// Without alignment nothing is gained by neighbours in one thread.
// CHECK: #[[SCALAR:.*]] = #tile.layout<[256] register [(128)] lane [(1), (2), (4), (8), (16)] warp [(32), (64)]>
// CHECK-LABEL: tile.kernel @unaligned
tile.kernel @unaligned(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>, %i: index)
    attributes {num_warps = 4 : i32} {
  // CHECK: tile.load {{.*}} -> tensor<256xf32, #[[SCALAR]]>
  %h = tile.load %x[%i] : !tile.array<?xf32> -> tensor<256xf32>
  tile.store %y[%i], %h : !tile.array<?xf32, mut>, tensor<256xf32>
  tile.return
}

// -----

// Tiles that only a scf.while and a scf.if carry get one layout all around.
// CHECK-LABEL: tile.kernel @carried
tile.kernel @carried(%y: !tile.array<?xf32, mut>, %i: index, %n: index, %p: i1) {
  %z = arith.constant dense<1.0> : tensor<64xf32>
  %one = arith.constant 1 : index
  // CHECK: scf.while {{.*}} : (tensor<64xf32, #[[L:.*]]>, index) -> (tensor<64xf32, #[[L]]>, index)
  %w:2 = scf.while (%t = %z, %k = %i) : (tensor<64xf32>, index) -> (tensor<64xf32>, index) {
    %go = arith.cmpi slt, %k, %n : index
    scf.condition(%go) %t, %k : tensor<64xf32>, index
  } do {
  ^bb0(%t: tensor<64xf32>, %k: index):
    %d = arith.addf %t, %t : tensor<64xf32>
    %k1 = arith.addi %k, %one : index
    scf.yield %d, %k1 : tensor<64xf32>, index
  }
  // CHECK: scf.if {{.*}} -> (tensor<64xf32, #[[L]]>)
  %r = scf.if %p -> tensor<64xf32> {
    scf.yield %w#0 : tensor<64xf32>
  } else {
    scf.yield %z : tensor<64xf32>
  }
  tile.store %y[%i], %r : !tile.array<?xf32, mut>, tensor<64xf32>
  tile.return
}

// -----

// The hint decides over the choice.
// CHECK-LABEL: tile.kernel @hinted
// CHECK-SAME: num_warps = 2
tile.kernel @hinted(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>, %i: index)
    attributes {hints = {num_warps = 2 : i64}} {
  %h = tile.load %x[%i] : !tile.array<?xf32> -> tensor<1024xf32>
  tile.store %y[%i], %h : !tile.array<?xf32, mut>, tensor<1024xf32>
  tile.return
}

// -----

// What is stored wider than it was loaded: 8 bytes a lane loaded, and 16 stored, so that those of
// neighbours are neighbours.
// CHECK: #[[WIDE:.*]] = #tile.layout<[2048] register [(1), (2), (4), (1024)] lane [(8), (16), (32), (64), (128)] warp [(256), (512)]>
// CHECK-LABEL: tile.kernel @widen
tile.kernel @widen(%a: !tile.array<?xi8>, %b: !tile.array<?xbf16, mut>)
    attributes {num_warps = 4 : i32, tile.facts = ["aligned16"]} {
  %i = tile.block_id 0 : index
  // CHECK: tile.load {{.*}} -> tensor<2048xi8, #[[WIDE]]>
  %x = tile.load %a[%i] : !tile.array<?xi8> -> tensor<2048xi8>
  %y = arith.sitofp %x : tensor<2048xi8> to tensor<2048xbf16>
  // CHECK: tile.store {{.*}}, tensor<2048xbf16, #[[WIDE]]>
  tile.store %b[%i], %y : !tile.array<?xbf16, mut>, tensor<2048xbf16>
  tile.return
}

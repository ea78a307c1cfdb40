// RUN: tile-opt %s --tile-prefetch-loads | FileCheck %s
// A kernel of long rows becomes persistent, and loads the next row before it reduces.

#long = #tile.layout<[1, 16384] register [(0, 1), (0, 2), (0, 4), (0, 2048), (0, 4096), (0, 8192)] lane [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128)] warp [(0, 256), (0, 512), (0, 1024)]>
#short = #tile.layout<[1, 8192] register [(0, 1), (0, 2), (0, 4), (0, 2048), (0, 4096)] lane [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128)] warp [(0, 256), (0, 512), (0, 1024)]>
#positions = #tile.layout<[16384] register [(1), (2), (4), (2048), (4096), (8192)] lane [(8), (16), (32), (64), (128)] warp [(256), (512), (1024)]>

// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: tgpu.resident_blocks = 2 : i64
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[TOTAL:.*]] = tile.num_blocks 0
// CHECK: %[[LAST:.*]] = arith.subi %[[TOTAL]], %{{.*}}
// CHECK: %[[BEGIN:.*]] = tgpu.resident_block
// CHECK: %[[STEP:.*]] = tgpu.num_resident_blocks
// CHECK: %[[X0:.*]] = tile.load %{{.*}}[%[[BEGIN]], %[[ZERO]]]
// CHECK: scf.for %[[T:.*]] = %[[BEGIN]] to %[[TOTAL]] step %[[STEP]] iter_args(%[[X:.*]] = %[[X0]])
// CHECK:   %[[FAR:.*]] = arith.addi %[[T]], %[[STEP]]
// CHECK:   %[[NEXT:.*]] = arith.minui %[[FAR]], %[[LAST]]
// CHECK:   %[[Y:.*]] = tile.load %{{.*}}[%[[NEXT]], %[[ZERO]]]
// CHECK:   %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK:   tile.reduce(%[[WIDE]])
// CHECK:   tile.store %{{.*}}[%[[T]], %[[ZERO]]]
// CHECK:   scf.yield %[[Y]]
// CHECK-NOT: tile.block_id
tile.kernel @rows(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  %w = arith.extf %v : tensor<1x16384xbf16, #long> to tensor<1x16384xf32, #long>
  %s = tile.reduce(%w) axes [0, 1] : (tensor<1x16384xf32, #long>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %t = tile.splat %s : f32 -> tensor<1x16384xf32, #long>
  tile.store %y[%i, %z], %t : !tile.array<?x?xf32, mut>, tensor<1x16384xf32, #long>
  tile.return
}

// What may be stored to what is loaded cannot be loaded early.
// CHECK-LABEL: tile.kernel @in_place
// CHECK-NOT: resident
tile.kernel @in_place(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  %w = arith.extf %v : tensor<1x16384xbf16, #long> to tensor<1x16384xf32, #long>
  %s = tile.reduce(%w) axes [0, 1] : (tensor<1x16384xf32, #long>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %t = tile.splat %s : f32 -> tensor<1x16384xf32, #long>
  tile.store %y[%i, %z], %t : !tile.array<?x?xf32, mut>, tensor<1x16384xf32, #long>
  tile.return
}

// Of shorter rows enough blocks fit.
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: resident
tile.kernel @short(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x8192xbf16, #short>
  %w = arith.extf %v : tensor<1x8192xbf16, #short> to tensor<1x8192xf32, #short>
  %s = tile.reduce(%w) axes [0, 1] : (tensor<1x8192xf32, #short>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %t = tile.splat %s : f32 -> tensor<1x8192xf32, #short>
  tile.store %y[%i, %z], %t : !tile.array<?x?xf32, mut>, tensor<1x8192xf32, #short>
  tile.return
}

// Nothing waits for a whole tile.
// CHECK-LABEL: tile.kernel @copy
// CHECK-NOT: resident
tile.kernel @copy(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xbf16, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  tile.store %y[%i, %z], %v : !tile.array<?x?xbf16, mut>, tensor<1x16384xbf16, #long>
  tile.return
}

// Two tiles, of which one is the same at every position.
// CHECK-LABEL: tile.kernel @weights
// CHECK-NOT: resident
tile.kernel @weights(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  %u = tile.load %x[%z, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  %p = arith.mulf %v, %u : tensor<1x16384xbf16, #long>
  %w = arith.extf %p : tensor<1x16384xbf16, #long> to tensor<1x16384xf32, #long>
  %s = tile.reduce(%w) axes [0, 1] : (tensor<1x16384xf32, #long>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %t = tile.splat %s : f32 -> tensor<1x16384xf32, #long>
  tile.store %y[%i, %z], %t : !tile.array<?x?xf32, mut>, tensor<1x16384xf32, #long>
  tile.return
}

// A scalar that is taken from a tile stays behind the tile, which moves into the loop.
// CHECK-LABEL: tile.kernel @from_tile
// CHECK: %[[COUNT:.*]] = tile.num_blocks 0
// CHECK: scf.for
// CHECK:   %[[TABLE:.*]] = tile.iota
// CHECK:   tile.extract %[[TABLE]][%[[COUNT]]]
tile.kernel @from_tile(%x: !tile.array<?x?xbf16>, %y: !tile.array<?x?xf32, mut>, %p: !tile.array<?xi32, mut>) attributes {grid = ["dim(0, 0)"], num_warps = 8 : i32, tile.facts = ["aligned16", "disjoint"]} {
  %z = arith.constant 0 : index
  %i = tile.block_id 0 : index
  %n = tile.num_blocks 0 : index
  %table = tile.iota : tensor<16384xi32, #positions>
  %e = tile.extract %table[%n] : tensor<16384xi32, #positions> -> i32
  tile.store %p[%i], %e elements : !tile.array<?xi32, mut>, i32
  %v = tile.load %x[%i, %z] : !tile.array<?x?xbf16> -> tensor<1x16384xbf16, #long>
  %w = arith.extf %v : tensor<1x16384xbf16, #long> to tensor<1x16384xf32, #long>
  %s = tile.reduce(%w) axes [0, 1] : (tensor<1x16384xf32, #long>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %y[%i, %z], %s elements : !tile.array<?x?xf32, mut>, f32
  tile.return
}

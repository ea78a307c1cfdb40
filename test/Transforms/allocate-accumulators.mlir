// RUN: tile-opt %s --tile-allocate-memory=budget=232448 | FileCheck %s
// Accumulators lie side by side in tensor memory, of which a block takes a power of two. A
// barrier and the address of that memory are in shared memory, behind the rings.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
!ring = !tgpu.ring<2x[!tgpu.buffer<128x64xbf16, #sa>]>

// CHECK-LABEL: tile.kernel @columns
// CHECK-SAME: tgpu.tensor_memory = array<i64: 32800, 512>
tile.kernel @columns() attributes {num_warps = 4 : i32} {
  // CHECK: tgpu.ring copy "tma" offset 0 barriers 32768
  %ring = tgpu.ring copy "tma" : !ring
  // CHECK: tgpu.accumulator column 0 :
  %a = tgpu.accumulator : !tgpu.accumulator<128x64xf32>
  // 256 rows are twice 128 lanes.
  // CHECK: tgpu.accumulator column 64 :
  %b = tgpu.accumulator : !tgpu.accumulator<256x64xf32>
  // Half of the lanes take as many columns.
  // CHECK: tgpu.accumulator column 192 :
  %c = tgpu.accumulator : !tgpu.accumulator<64x128xi32>
  // CHECK: tgpu.alloc offset 32816 :
  %d = tgpu.alloc : !tgpu.buffer<128x64xbf16, #sa>
  tile.return
}

// CHECK-LABEL: tile.kernel @fewest
// CHECK-SAME: tgpu.tensor_memory = array<i64: 0, 32>
tile.kernel @fewest() attributes {num_warps = 4 : i32} {
  %a = tgpu.accumulator : !tgpu.accumulator<128x16xf32>
  tile.return
}

// RUN: tile-opt %s --tile-choose-stages="budget=232448 chip=sm_90a" | FileCheck %s
// RUN: tile-opt %s --tile-choose-stages="budget=232448 num-stages=2" | FileCheck %s --check-prefix=TWO
// RUN: tile-opt %s --tile-choose-stages="budget=232448 chip=sm_90a" --remarks-filter=choose-stages --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// As many groups as there is room for; one where a ring is filled outside the loops.

#a = #tile.layout<[64, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0)]>
#t = #tile.layout<[64, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)] lane [(0, 64), (1, 0), (2, 0), (4, 0), (8, 0)] warp [(16, 0), (32, 0)]>
#h = #tile.layout<[32, 128] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (0, 64), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]>
!ring = !tgpu.ring<1x[!tgpu.buffer<64x128xf32, #a>]>
!half = !tgpu.ring<1x[!tgpu.buffer<32x128xf32, #h>]>

// 232448 - 32768 (the buffer) - 32768 (the outer ring) leaves five times 32768.
// CHECK-LABEL: tile.kernel @room
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<1x[
// CHECK: tgpu.ring copy "tma" : !tgpu.ring<5x[
// TWO: !tgpu.ring<1x[
// TWO: !tgpu.ring<2x[
// REMARK: [Passed] {{.*}}Function=room {{.*}}Remark="tiles of `arg0` have 5 places of 32 KiB: more do not fit into the 227 KiB of a block"
tile.kernel @room(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %outer = tgpu.ring copy "tma" : !ring
  %inner = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tgpu.push %outer : !ring { tgpu.copy %x[%c0, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %inner : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %inner : !ring -> !tgpu.buffer<64x128xf32, #a>
    %t = tgpu.load %b : !tgpu.buffer<64x128xf32, #a>, tensor<64x128xf32, #t>
    tgpu.release %inner : !ring
    %s = tgpu.alloc : !tgpu.buffer<64x128xf32, #a>
    tgpu.store %t, %s : tensor<64x128xf32, #t>, !tgpu.buffer<64x128xf32, #a>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @hinted
// CHECK: !tgpu.ring<3x[
// REMARK: [Passed] {{.*}}Function=hinted {{.*}}Remark="tiles of `arg0` have 3 places of 32 KiB: as is asked for"
tile.kernel @hinted(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32, hints = {num_stages = 3 : i64}} {
  %inner = tgpu.ring copy "tma" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %inner : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %inner : !ring -> !tgpu.buffer<64x128xf32, #a>
    tgpu.release %inner : !ring
  }
  tile.return
}

// What the inner ring leaves gives the outer one, which is filled once for each turn of a
// loop, a second place.
// CHECK-LABEL: tile.kernel @turns
// CHECK: !tgpu.ring<2x[!tgpu.buffer<32x128xf32
// CHECK: !tgpu.ring<3x[
// TWO-LABEL: tile.kernel @turns
// TWO: !tgpu.ring<2x[
// TWO: !tgpu.ring<2x[
tile.kernel @turns(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %outer = tgpu.ring copy "tma" : !half
  %inner = tgpu.ring copy "tma" : !tgpu.ring<1x[!tgpu.buffer<64x128xf32, #a>, !tgpu.buffer<64x128xf32, #a>]>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    tgpu.push %outer : !half { tgpu.copy %x[%i, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %q = tgpu.pop %outer : !half -> !tgpu.buffer<32x128xf32, #h>
    scf.for %k = %c0 to %n step %c1 {
      tgpu.push %inner : !tgpu.ring<1x[!tgpu.buffer<64x128xf32, #a>, !tgpu.buffer<64x128xf32, #a>]> {
        tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32>
        tgpu.copy %x[%k, %c1] order [0, 1] to 1 : !tile.array<?x?xf32>
      }
      %b, %c = tgpu.pop %inner : !tgpu.ring<1x[!tgpu.buffer<64x128xf32, #a>, !tgpu.buffer<64x128xf32, #a>]>
        -> !tgpu.buffer<64x128xf32, #a>, !tgpu.buffer<64x128xf32, #a>
      tgpu.release %inner : !tgpu.ring<1x[!tgpu.buffer<64x128xf32, #a>, !tgpu.buffer<64x128xf32, #a>]>
    }
    tgpu.release %outer : !half
  }
  tile.return
}

// Threads copy: two blocks of four warps share a multiprocessor's 228 KiB, so three places
// of 32 KiB; eight warps take four.
// CHECK-LABEL: tile.kernel @two_blocks
// CHECK: !tgpu.ring<3x[
// CHECK-LABEL: tile.kernel @one_block
// CHECK: !tgpu.ring<4x[
// TWO-LABEL: tile.kernel @two_blocks
// TWO: !tgpu.ring<2x[
// REMARK: [Passed] {{.*}}Function=two_blocks {{.*}}Remark="tiles of `arg0` have 3 places of 32 KiB: more would leave no room for another block"
tile.kernel @two_blocks(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 4 : i32} {
  %inner = tgpu.ring copy "cp_async" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %inner : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %inner : !ring -> !tgpu.buffer<64x128xf32, #a>
    tgpu.release %inner : !ring
  }
  tile.return
}
// REMARK: [Passed] {{.*}}Function=one_block {{.*}}Remark="tiles of `arg0` have 4 places of 32 KiB: more hide no more latency"
tile.kernel @one_block(%x: !tile.array<?x?xf32>, %n: index) attributes {num_warps = 8 : i32} {
  %inner = tgpu.ring copy "cp_async" : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    tgpu.push %inner : !ring { tgpu.copy %x[%k, %c0] order [0, 1] to 0 : !tile.array<?x?xf32> }
    %b = tgpu.pop %inner : !ring -> !tgpu.buffer<64x128xf32, #a>
    tgpu.release %inner : !ring
  }
  tile.return
}

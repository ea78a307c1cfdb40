// RUN: tile-opt %s --tile-lower-to-simt | FileCheck %s
// Two blocks share the tile of b: each copies half of it, to both.

#sa = #tile.layout<[128, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0), (64, 0)]>
#sb = #tile.layout<[64, 128] offset [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (8, 1), (16, 2), (32, 4), (0, 8), (0, 16), (0, 32), (0, 64)]>
#acc = #tile.layout<[128, 128] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (0, 64)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0), (64, 0)]>
!a = !tgpu.buffer<128x64xbf16, #sa>
!b = !tgpu.buffer<64x128xbf16, #sb>
!ring = !tgpu.ring<2x[!tgpu.buffer<128x64xbf16, #sa>, !tgpu.buffer<64x128xbf16, #sb>]>

// b [n, k]: 128 rows are one box, or two of 64.
// CHECK-LABEL: llvm.func @pair(
// CHECK-SAME: tile.cluster = 2 : i32
// CHECK-SAME: tile.tensor_maps = [{box = array<i64: 128, 64>, param = 0 : i64, swizzle = 128 : i64}, {box = array<i64: 64, 64>, param = 1 : i64, swizzle = 128 : i64}]
tile.kernel @pair(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64, tgpu.resident_blocks = 1 : i64, tgpu.cluster = 2 : i64} {
  %c1 = arith.constant 1 : index
  // A place is free when eight warps of two blocks have released it.
  // CHECK: %[[WARPS:.*]] = arith.constant 16 : i32
  // CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.cluster.arrive.relaxed {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  %ring = tgpu.ring copy "tma" offset 0 barriers 65536 : !ring
  tgpu.specialize registers [24, 240] access {
    // CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: arith.shrui %[[BLOCK]]
    // CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x
    // CHECK: arith.shrui %[[BLOCKS]]
    %first = tgpu.resident_block
    %step = tgpu.num_resident_blocks
    scf.for %i = %first to %n step %step {
      // Each block's barrier expects all of the bytes.
      // CHECK: %[[BYTES:.*]] = arith.constant 32768 : i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true} : !llvm.ptr<3>
      // CHECK: %[[MASK:.*]] = arith.constant 3 : i16
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[MASK]] : !llvm.ptr<7>
      // CHECK-NOT: nvvm.cp.async.bulk
      tgpu.push %ring : !ring {
        tgpu.copy %a[%i, %c1] order [0, 1] to 0 : !tile.array<?x?xbf16>
        tgpu.copy %b[%c1, %i] order [1, 0] multicast to 1 : !tile.array<?x?xbf16>
      }
    }
  } execute {
    // CHECK: nvvm.setmaxregister increase
    // CHECK: %[[OWN:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: arith.andi %[[OWN]]
    %rank = tgpu.cluster_rank
    %z = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
    %r = scf.for %i = %rank to %n step %c1 iter_args(%s = %z) -> tensor<128x128xf32, #acc> {
      %x, %y = tgpu.pop %ring : !ring -> !a, !b
      %p = tgpu.mma %x, %y, %s {atom = "wgmma"} : !a, !b, tensor<128x128xf32, #acc>
      %w = tgpu.mma_wait %p pending 0 : (tensor<128x128xf32, #acc>) -> tensor<128x128xf32, #acc>
      // Lanes 0 and 1 arrive at blocks 0 and 1.
      // CHECK: %[[LANE:.*]] = arith.andi
      // CHECK: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
      // CHECK: llvm.call @tilec.mbarrier.arrive.cluster(%{{.*}}) : (!llvm.ptr<7>) -> ()
      tgpu.release %ring : !ring
      scf.yield %w : tensor<128x128xf32, #acc>
    }
  }
  // CHECK: nvvm.cluster.arrive.relaxed{{$}}
  // CHECK-NEXT: nvvm.cluster.wait{{$}}
  // CHECK-NEXT: llvm.return
  tile.return
}

// The launch says how many blocks a cluster has; where it is one, that copies both halves.
// CHECK-LABEL: llvm.func @of_launch(
// CHECK-SAME: tile.cluster = 2 : i32, tile.cluster_axis = 1 : i32
// CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.cluster.nctaid.x
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: %[[WARPS:.*]] = arith.muli %[[BLOCKS]], %[[EIGHT]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
tile.kernel @of_launch(%b: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 8 : i32, tgpu.access_warps = 4 : i64, tgpu.resident_blocks = 1 : i64, tgpu.cluster = 2 : i64, tgpu.cluster_axis = 1 : i64} {
  %c1 = arith.constant 1 : index
  %ring = tgpu.ring copy "tma" offset 0 barriers 65536 : !tgpu.ring<2x[!tgpu.buffer<64x128xbf16, #sb>]>
  tgpu.specialize registers [24, 240] access {
    // CHECK: nvvm.read.ptx.sreg.clusterid.x
    // CHECK: nvvm.read.ptx.sreg.nclusterid.x
    %first = tgpu.resident_block
    %step = tgpu.num_resident_blocks
    scf.for %i = %first to %n step %step {
      // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x
      // CHECK: %[[OF:.*]] = nvvm.read.ptx.sreg.cluster.nctaid.x
      // CHECK: %[[END:.*]] = arith.shli %{{.*}}, %[[OF]]
      // CHECK: %[[ALL:.*]] = arith.subi %[[END]]
      // CHECK: %[[MASK:.*]] = arith.trunci %[[ALL]] : i32 to i16
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[MASK]]
      // CHECK: %[[ALONE:.*]] = arith.cmpi ule
      // CHECK: scf.if %[[ALONE]] {
      // CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
      // CHECK: }
      tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<64x128xbf16, #sb>]> {
        tgpu.copy %b[%c1, %i] order [1, 0] multicast to 0 : !tile.array<?x?xbf16>
      }
    }
  } execute {
    scf.for %i = %c1 to %n step %c1 {
      %y = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<64x128xbf16, #sb>]> -> !b
      // CHECK: %[[FROM:.*]] = nvvm.read.ptx.sreg.cluster.nctaid.x
      // CHECK: arith.cmpi ult, %{{.*}}, %[[FROM]]
      // CHECK: llvm.call @tilec.mbarrier.arrive.cluster
      tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<64x128xbf16, #sb>]>
    }
  }
  tile.return
}

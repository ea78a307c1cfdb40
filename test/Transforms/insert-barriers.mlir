// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' | FileCheck %s
// A barrier stands between accesses that conflict, and nowhere else.

#l = #tile.layout<[64] register [(32)] lane [(1), (2), (4), (8), (16)] warp [(0), (0)]>
#full = #tile.layout<[128] lane [(1), (2), (4), (8), (16)] warp [(32), (64)]>
#other = #tile.layout<[128] lane [(64), (2), (4), (8), (16)] warp [(32), (1)]>
#p = #tile.layout<[64] offset [(1), (2), (4), (8), (16), (32)]>

// CHECK-LABEL: tile.kernel @shared
tile.kernel @shared(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64xf32, #p>
  %b = tgpu.alloc offset 256 : !tgpu.buffer<64xf32, #p>
  %c = tgpu.alloc offset 256 : !tgpu.buffer<64xf32, #p>
  // CHECK: tgpu.store
  // CHECK-NEXT: tgpu.store
  tgpu.store %t, %a : tensor<64xf32, #l>, !tgpu.buffer<64xf32, #p>
  tgpu.store %t, %b : tensor<64xf32, #l>, !tgpu.buffer<64xf32, #p>
  // One barrier for both reads.
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.load
  // CHECK-NEXT: tgpu.load
  %u = tgpu.load %a : !tgpu.buffer<64xf32, #p>, tensor<64xf32, #l>
  %v = tgpu.load %b : !tgpu.buffer<64xf32, #p>, tensor<64xf32, #l>
  // %c has the bytes of %b.
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.store
  tgpu.store %t, %c : tensor<64xf32, #l>, !tgpu.buffer<64xf32, #p>
  // CHECK-NEXT: tile.return
  tile.return
}

// The store of the next iteration meets the load of this one.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%x: f32, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64xf32, #p>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: tgpu.barrier
    // CHECK-NEXT: tgpu.store
    // CHECK-NEXT: tgpu.barrier
    // CHECK-NEXT: tgpu.load
    tgpu.store %t, %a : tensor<64xf32, #l>, !tgpu.buffer<64xf32, #p>
    %u = tgpu.load %a : !tgpu.buffer<64xf32, #p>, tensor<64xf32, #l>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @branches
tile.kernel @branches(%x: f32, %c: i1) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64xf32, #p>
  // CHECK: scf.if
  // CHECK-NEXT: tgpu.store
  scf.if %c {
    tgpu.store %t, %a : tensor<64xf32, #l>, !tgpu.buffer<64xf32, #p>
  }
  // CHECK: tgpu.barrier
  // CHECK-NEXT: tgpu.load
  %u = tgpu.load %a : !tgpu.buffer<64xf32, #p>, tensor<64xf32, #l>
  tile.return
}

// Each thread reads and writes its own elements: no barrier. In another layout, or
// elsewhere in the array, the elements are those of other threads.
// CHECK-LABEL: tile.kernel @array
tile.kernel @array(%a: !tile.array<?xf32, mut>, %b: !tile.array<?xf32>) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.load %arg0
  // CHECK-NEXT: tile.store %arg0
  %t = tile.load %a[%c0] : !tile.array<?xf32, mut> -> tensor<128xf32, #full>
  tile.store %a[%c0], %t : !tile.array<?xf32, mut>, tensor<128xf32, #full>
  // CHECK-NEXT: tile.load %arg1
  %s = tile.load %b[%c0] : !tile.array<?xf32> -> tensor<128xf32, #full>
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.load %arg0
  %u = tile.load %a[%c0] : !tile.array<?xf32, mut> -> tensor<128xf32, #other>
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.store %arg0
  tile.store %a[%c1], %t : !tile.array<?xf32, mut>, tensor<128xf32, #full>
  tile.return
}

// Tile by tile no iteration meets another; backwards it is not known.
// CHECK-LABEL: tile.kernel @array_loop
tile.kernel @array_loop(%a: !tile.array<?xf32, mut>, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %a[%i] : !tile.array<?xf32, mut> -> tensor<128xf32, #full>
    tile.store %a[%i], %t : !tile.array<?xf32, mut>, tensor<128xf32, #full>
  }
  // CHECK: scf.for
  // CHECK: arith.subi
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %n, %i : index
    %t = tile.load %a[%j] : !tile.array<?xf32, mut> -> tensor<128xf32, #full>
    tile.store %a[%j], %t : !tile.array<?xf32, mut>, tensor<128xf32, #full>
  }
  tile.return
}

// An element is written by one thread and read by all.
// CHECK-LABEL: tile.kernel @element
// CHECK: tile.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.load
tile.kernel @element(%a: !tile.array<?xf32, mut>, %x: f32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.store %a[%c0], %x elements : !tile.array<?xf32, mut>, f32
  %t = tile.load %a[%c0] elements : !tile.array<?xf32, mut> -> f32
  tile.return
}

// CHECK-LABEL: tile.kernel @overlap
// CHECK: tile.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.load
tile.kernel @overlap(%a: !tile.array<?xf32, mut>, %b: !tile.array<?xf32>, %x: f32) attributes {num_warps = 4 : i32, arrays_overlap} {
  %c0 = arith.constant 0 : index
  %t = tile.splat %x : f32 -> tensor<128xf32, #full>
  tile.store %a[%c0], %t : !tile.array<?xf32, mut>, tensor<128xf32, #full>
  %u = tile.load %b[%c0] : !tile.array<?xf32> -> tensor<128xf32, #full>
  tile.return
}

#rl = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(0, 0)]>
#rp = #tile.layout<[16, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 0), (8, 0)]>

// A pop is where all threads meet; what lies in a ring's bytes after its loop waits for
// the last readers, and the ring's next push for the readers of that.
// CHECK-LABEL: tile.kernel @rings
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: tgpu.push
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.release
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.push
tile.kernel @rings(%a: !tile.array<?x?xbf16>, %n: index, %x: f32, %y: bf16) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = tile.splat %x : f32 -> tensor<16x16xf32, #rl>
  %t = tile.splat %y : bf16 -> tensor<16x16xbf16, #rl>
  %ring = tgpu.ring copy "cp_async" offset 0 : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]>
  %out = tgpu.alloc offset 0 : !tgpu.buffer<16x16xbf16, #rp>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]> {
        tgpu.copy %a[%j, %c0] order [0, 1] to 0 : !tile.array<?x?xbf16>
      }
      %b = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]> -> !tgpu.buffer<16x16xbf16, #rp>
      %p = tgpu.mma %b, %b, %z {atom = "mma_sync"} : !tgpu.buffer<16x16xbf16, #rp>, !tgpu.buffer<16x16xbf16, #rp>, tensor<16x16xf32, #rl>
      tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]>
    }
    tgpu.store %t, %out : tensor<16x16xbf16, #rl>, !tgpu.buffer<16x16xbf16, #rp>
    %u = tgpu.load %out : !tgpu.buffer<16x16xbf16, #rp>, tensor<16x16xbf16, #rl>
    tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]> {
      tgpu.copy %a[%c0, %c0] order [0, 1] to 0 : !tile.array<?x?xbf16>
    }
    %b = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]> -> !tgpu.buffer<16x16xbf16, #rp>
    tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<16x16xbf16, #rp>]>
  }
  tile.return
}

// A warp group that copies out by itself meets only its own threads: its buffer needs no
// barrier, another buffer does.
// CHECK-LABEL: tile.kernel @copiesOfGroups
// CHECK: tgpu.store %{{.*}}, %[[OTHER:.*]] :
// CHECK-NEXT: tgpu.copy_out_wait pending 1 by_group
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: tgpu.copy_out
// CHECK-NEXT: tgpu.copy_out_wait pending 1 by_group
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: tgpu.copy_out
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load %[[OTHER]]
#groupRows = #tile.layout<[8, 64] register [(0, 1), (0, 2), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(0, 0), (0, 0), (4, 0)]>
#groupBuffer = #tile.layout<[8, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32)]>
tile.kernel @copiesOfGroups(%y: !tile.array<?x?xbf16, mut>, %x: bf16, %i: index) attributes {num_warps = 8 : i32} {
  %t = tile.splat %x : bf16 -> tensor<8x64xbf16, #groupRows>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<8x64xbf16, #groupBuffer>
  %o = tgpu.alloc offset 1024 : !tgpu.buffer<8x64xbf16, #groupBuffer>
  tgpu.store %t, %o : tensor<8x64xbf16, #groupRows>, !tgpu.buffer<8x64xbf16, #groupBuffer>
  tgpu.copy_out_wait pending 1 by_group
  tgpu.store %t, %b : tensor<8x64xbf16, #groupRows>, !tgpu.buffer<8x64xbf16, #groupBuffer>
  tgpu.copy_out %b, %y[%i, %i] order [0, 1] groups [256] : !tgpu.buffer<8x64xbf16, #groupBuffer>, !tile.array<?x?xbf16, mut>
  tgpu.copy_out_wait pending 1 by_group
  tgpu.store %t, %b : tensor<8x64xbf16, #groupRows>, !tgpu.buffer<8x64xbf16, #groupBuffer>
  tgpu.copy_out %b, %y[%i, %i] order [0, 1] groups [256] : !tgpu.buffer<8x64xbf16, #groupBuffer>, !tile.array<?x?xbf16, mut>
  %l = tgpu.load %o : !tgpu.buffer<8x64xbf16, #groupBuffer>, tensor<8x64xbf16, #groupRows>
  tile.store %y[%i, %i], %l : !tile.array<?x?xbf16, mut>, tensor<8x64xbf16, #groupRows>
  tile.return
}

// A product that completes later reads its buffer until it is waited for: the barrier
// before the wait is not the last one before the buffer is written again.
#acc = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#sw = #tile.layout<[64, 64] offset [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0)]>
// CHECK-LABEL: tile.kernel @in_flight
tile.kernel @in_flight(%x: bf16) attributes {num_warps = 8 : i32} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %t = tile.splat %x : bf16 -> tensor<64x64xbf16, #acc>
  %a = tgpu.alloc offset 0 : !tgpu.buffer<64x64xbf16, #sw>
  // CHECK: tgpu.mma %
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.mma_wait
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: tgpu.store
  %r = tgpu.mma %t, %a, %z {atom = "wgmma"} : tensor<64x64xbf16, #acc>, !tgpu.buffer<64x64xbf16, #sw>, tensor<64x64xf32, #acc>
  tgpu.barrier
  %w = tgpu.mma_wait %r pending 0 : (tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
  tgpu.store %t, %a : tensor<64x64xbf16, #acc>, !tgpu.buffer<64x64xbf16, #sw>
  tile.return
}

// A push under a condition always closes a group of copies, so it stays alone in its branch:
// what waits for the readers of its bytes stands before the branch.
#copied = #tile.layout<[8, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#read = #tile.layout<[8, 16] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
// CHECK-LABEL: tile.kernel @conditionalPush
// CHECK: tgpu.load
// CHECK: tgpu.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tgpu.push
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.pop
tile.kernel @conditionalPush(%x: !tile.array<?x16xf32>, %c: i1, %i: index) attributes {num_warps = 1 : i32} {
  %one = arith.constant 1 : index
  %b = tgpu.alloc offset 0 : !tgpu.buffer<8x16xf32, #copied>
  %r = tgpu.ring copy "cp_async" offset 0 : !tgpu.ring<2x[!tgpu.buffer<8x16xf32, #copied>]>
  %t = tgpu.load %b : !tgpu.buffer<8x16xf32, #copied>, tensor<8x16xf32, #read>
  scf.if %c {
    %j = arith.addi %i, %one : index
    tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x16xf32, #copied>]> {
      tgpu.copy %x[%j, %i] order [0, 1] to 0 : !tile.array<?x16xf32>
    }
  }
  scf.if %c {
    tgpu.push %r : !tgpu.ring<2x[!tgpu.buffer<8x16xf32, #copied>]> {
      tgpu.copy %x[%i, %i] order [0, 1] to 0 : !tile.array<?x16xf32>
    }
  }
  %p = tgpu.pop %r : !tgpu.ring<2x[!tgpu.buffer<8x16xf32, #copied>]> -> !tgpu.buffer<8x16xf32, #copied>
  %u = tgpu.load %p : !tgpu.buffer<8x16xf32, #copied>, tensor<8x16xf32, #read>
  tgpu.release %r : !tgpu.ring<2x[!tgpu.buffer<8x16xf32, #copied>]>
  tile.return
}

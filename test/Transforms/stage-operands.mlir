// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-stage-operands))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-stage-operands))' --remarks-filter=stage-operands --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// What warps exchange goes through buffers; what stays in a warp does not.

#acc = #tile.layout<[32, 32] register [(0, 1), (0, 2), (16, 0)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#a = #tile.layout<[32, 16] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)] warp [(8, 0), (16, 0)]>
#b = #tile.layout<[16, 32] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (0, 16), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>

// %a does not change in the loop: it is stored before it.
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[A:.*]] = tile.load %arg0
// CHECK: %[[BUFA:.*]] = tgpu.alloc : !tgpu.buffer<32x16xbf16
// CHECK: tgpu.store %[[A]], %[[BUFA]]
// CHECK: scf.for
// CHECK: %[[B:.*]] = tile.load %arg1
// CHECK: %[[BUFB:.*]] = tgpu.alloc : !tgpu.buffer<16x32xbf16
// CHECK: tgpu.store %[[B]], %[[BUFB]]
// CHECK: tgpu.mma %[[BUFA]], %[[BUFB]], %{{.*}} : !tgpu.buffer<32x16xbf16
// REMARK: [Missed] {{.*}}Function=product {{.*}}Remark="bf16[32, 16] goes from registers to shared memory, before the loop"
// REMARK: [Missed] {{.*}}Function=product {{.*}}Remark="bf16[16, 32] goes from registers to shared memory"
tile.kernel @product(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tile.dim %a, 1 : !tile.array<?x?xbf16>
  %z = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %x = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<32x16xbf16, #a>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%s = %z) -> (tensor<32x32xf32, #acc>) {
    %y = tile.load %b[%i, %c0] : !tile.array<?x?xbf16> -> tensor<16x32xbf16, #b>
    %t = tile.mma %x, %y, %s : tensor<32x16xbf16, #a>, tensor<16x32xbf16, #b>, tensor<32x32xf32, #acc>
    scf.yield %t : tensor<32x32xf32, #acc>
  }
  tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<32x32xf32, #acc>
  tile.return
}

#row = #tile.layout<[1, 1024] register [(0, 1), (0, 2), (0, 512)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] warp [(0, 128), (0, 256)]>
#one = #tile.layout<[1] lane [(0), (0), (0), (0), (0)] warp [(0), (0)]>

// Four warps hold one row: each reduces its part, all read the four results.
// CHECK-LABEL: tile.kernel @across
// CHECK: %[[P:.*]] = tgpu.warp_reduce(%{{.*}}) axes [1] : (tensor<1x1024xf32, #{{.*}}>) -> tensor<4x1xf32, #[[PARTIAL:.*]]> {
// CHECK: tgpu.yield
// CHECK: %[[BUF:.*]] = tgpu.alloc
// CHECK: tgpu.store %[[P]], %[[BUF]]
// CHECK: %[[G:.*]] = tgpu.load %[[BUF]]
// CHECK: tile.reduce(%[[G]]) axes [0]
// REMARK: [Missed] {{.*}}Function=across {{.*}}Remark="reduced within each warp, then 4 warps meet in shared memory"
tile.kernel @across(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<1x1024xf32, #row>
  %r = tile.reduce(%t) axes [1] : (tensor<1x1024xf32, #row>) -> tensor<1xf32, #one> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.maximumf %p, %q : f32
    tile.yield %0 : f32
  }
  tile.return
}

#rows = #tile.layout<[4, 128] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] warp [(1, 0), (2, 0)]>
#rowsOut = #tile.layout<[4] lane [(0), (0), (0), (0), (0)] warp [(1), (2)]>

// A row a warp: shuffles do.
// CHECK-LABEL: tile.kernel @within
// CHECK-NOT: tgpu
// CHECK: tile.reduce(%{{.*}}) axes [1]
// REMARK: [Passed] {{.*}}Function=within {{.*}}Remark="reduced within each warp by 5 steps of shuffles"
tile.kernel @within(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<4x128xf32, #rows>
  %r = tile.reduce(%t) axes [1] : (tensor<4x128xf32, #rows>) -> tensor<4xf32, #rowsOut> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    tile.yield %0 : f32
  }
  tile.return
}

#swizzled = #tile.layout<[4, 128] register [(0, 1), (1, 2)] lane [(0, 2), (0, 8), (0, 16), (0, 32), (0, 64)] warp [(1, 4), (2, 0)]>

// A layout that mixes both dims in one basis is converted first.
// CHECK-LABEL: tile.kernel @mixed
// CHECK: tgpu.alloc
// CHECK: %[[T:.*]] = tgpu.load
// CHECK: tile.reduce(%[[T]])
// REMARK: [Missed] {{.*}}Function=mixed {{.*}}Remark="f32[4, 128] changes its layout before it is reduced"
// REMARK: [Passed] {{.*}}Function=mixed {{.*}}Remark="reduced within each warp by 5 steps of shuffles"
tile.kernel @mixed(%x: f32) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<4x128xf32, #swizzled>
  %r = tile.reduce(%t) axes [1] : (tensor<4x128xf32, #swizzled>) -> tensor<4xf32, #rowsOut> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    tile.yield %0 : f32
  }
  tile.return
}

#cols = #tile.layout<[4, 128] register [(1, 0), (2, 0)] lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] warp [(0, 32), (0, 64)]>

// CHECK-LABEL: tile.kernel @conversions
// CHECK: %[[BUF:.*]] = tgpu.alloc : !tgpu.buffer<4x128xf16
// CHECK: tgpu.store %{{.*}}, %[[BUF]]
// CHECK: tgpu.load %[[BUF]]
// CHECK-NOT: tgpu.alloc
// CHECK: tile.convert_layout
#regs = #tile.layout<[4, 128] register [(0, 2), (0, 1)] lane [(0, 4), (0, 8), (0, 16), (0, 32), (0, 64)] warp [(1, 0), (2, 0)]>
// REMARK: [Missed] {{.*}}Function=conversions {{.*}}Remark="f16[4, 128] changes its layout through shared memory"
tile.kernel @conversions(%x: f16) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f16 -> tensor<4x128xf16, #rows>
  %far = tile.convert_layout %t : tensor<4x128xf16, #rows> -> tensor<4x128xf16, #cols>
  %near = tile.convert_layout %t : tensor<4x128xf16, #rows> -> tensor<4x128xf16, #regs>
  tile.return
}

// CHECK-LABEL: tile.kernel @transposed
// CHECK: tgpu.load %{{.*}} : !tgpu.buffer<4x128xf16, #{{.*}}>, tensor<4x128xf16, #[[L:.*]]>
// CHECK: tile.permute
#out = #tile.layout<[128, 4] register [(1, 0), (0, 1)] lane [(0, 2), (2, 0), (4, 0), (8, 0), (16, 0)] warp [(32, 0), (64, 0)]>
tile.kernel @transposed(%x: f16) attributes {num_warps = 4 : i32} {
  %t = tile.splat %x : f16 -> tensor<4x128xf16, #rows>
  %p = tile.permute %t [1, 0] : tensor<4x128xf16, #rows> -> tensor<128x4xf16, #out>
  tile.return
}

#fragments = #tile.layout<[16, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>

// The result of a product is the a of the next where it lies: no buffer but for b.
// CHECK-LABEL: tile.kernel @chain
// CHECK-COUNT-1: tgpu.alloc : !tgpu.buffer<16x16xbf16
// CHECK: tgpu.mma %{{.*}}, %{{.*}}, %{{.*}} {atom = "mma_sync"} : tensor<16x16xbf16
// REMARK: [Passed] {{.*}}Function=chain {{.*}}Remark="bf16[16, 16] stays in registers"
// REMARK: [Missed] {{.*}}Function=chain {{.*}}Remark="bf16[16, 16] goes from registers to shared memory"
tile.kernel @chain(%x: f32, %y: bf16) attributes {num_warps = 1 : i32} {
  %s = tile.splat %x : f32 -> tensor<16x16xf32, #fragments>
  %p = arith.truncf %s : tensor<16x16xf32, #fragments> to tensor<16x16xbf16, #fragments>
  %v = tile.splat %y : bf16 -> tensor<16x16xbf16, #fragments>
  %r = tile.mma %p, %v, %s {atom = "mma_sync"} : tensor<16x16xbf16, #fragments>, tensor<16x16xbf16, #fragments>, tensor<16x16xf32, #fragments>
  tile.return
}

// f8 summed exactly: the unit sums at most 128 products from zero, and what it gives is
// added when it has been waited for. A longer product adds its parts itself.
#f8a = #tile.layout<[64, 128] register [(0, 1), (0, 2), (0, 4), (0, 8), (16, 0), (32, 0)] lane [(0, 16), (0, 32), (0, 64), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#f8b = #tile.layout<[128, 16] register [(1, 0), (2, 0), (4, 0), (8, 0)] lane [(16, 0), (32, 0), (64, 0), (0, 1), (0, 2)] warp [(0, 4), (0, 8)]>
#f8long = #tile.layout<[64, 256] register [(0, 1), (0, 2), (0, 4), (0, 8), (0, 128), (16, 0), (32, 0)] lane [(0, 16), (0, 32), (0, 64), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
#f8tall = #tile.layout<[256, 16] register [(1, 0), (2, 0), (4, 0), (8, 0), (128, 0)] lane [(16, 0), (32, 0), (64, 0), (0, 1), (0, 2)] warp [(0, 4), (0, 8)]>
#f8acc = #tile.layout<[64, 16] register [(0, 1), (8, 0), (0, 8)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
// CHECK-LABEL: tile.kernel @promoted
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32
// CHECK: %[[PART:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %[[ZERO]] {atom = "wgmma_promoted"}
// CHECK: %[[WAITED:.*]] = tgpu.mma_wait %[[PART]] pending 0
// CHECK: arith.addf %{{.*}}, %[[WAITED]]
// CHECK: %[[LONG:.*]] = tgpu.mma %{{.*}} {atom = "wgmma_promoted"}
// CHECK: tgpu.mma_wait %[[LONG]] pending 0
// CHECK-NOT: arith.addf
// CHECK: tile.store
tile.kernel @promoted(%x: f32, %p: !tile.array<?x?xf8E4M3FN>, %y: !tile.array<?x?xf32, mut>) attributes {num_warps = 4 : i32} {
  %z = arith.constant 0 : index
  %acc = tile.splat %x : f32 -> tensor<64x16xf32, #f8acc>
  %a = tile.load %p[%z, %z] : !tile.array<?x?xf8E4M3FN> -> tensor<64x128xf8E4M3FN, #f8a>
  %b = tile.load %p[%z, %z] : !tile.array<?x?xf8E4M3FN> -> tensor<128x16xf8E4M3FN, #f8b>
  %r = tile.mma %a, %b, %acc {atom = "wgmma_promoted"} : tensor<64x128xf8E4M3FN, #f8a>, tensor<128x16xf8E4M3FN, #f8b>, tensor<64x16xf32, #f8acc>
  %c = tile.load %p[%z, %z] : !tile.array<?x?xf8E4M3FN> -> tensor<64x256xf8E4M3FN, #f8long>
  %d = tile.load %p[%z, %z] : !tile.array<?x?xf8E4M3FN> -> tensor<256x16xf8E4M3FN, #f8tall>
  %s = tile.mma %c, %d, %r {atom = "wgmma_promoted"} : tensor<64x256xf8E4M3FN, #f8long>, tensor<256x16xf8E4M3FN, #f8tall>, tensor<64x16xf32, #f8acc>
  tile.store %y[%z, %z], %s : !tile.array<?x?xf32, mut>, tensor<64x16xf32, #f8acc>
  tile.return
}

// The transpose of what another product has in shared memory is read there, and not held in
// registers.
#wide = #tile.layout<[64, 64] register [(0, 1), (8, 0), (0, 8), (0, 16), (0, 32)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)] warp [(16, 0), (32, 0)]>
#turned = #tile.layout<[64, 64] register [(1, 0), (0, 8), (8, 0), (16, 0), (32, 0)] lane [(2, 0), (4, 0), (0, 1), (0, 2), (0, 4)] warp [(0, 16), (0, 32)]>
// CHECK-LABEL: tile.kernel @product_transposed
// CHECK: %[[A:.*]] = tgpu.alloc
// CHECK: tgpu.store %{{.*}}, %[[A]]
// CHECK: tgpu.mma %[[A]], %{{.*}}, %{{.*}} {atom = "wgmma"}
// CHECK-NOT: tgpu.store %{{.*}}, %[[A]]
// CHECK: tgpu.mma %[[A]] transposed, %{{.*}}, %{{.*}} {atom = "wgmma"}
// REMARK: [Passed] {{.*}}Function=product_transposed {{.*}}Remark="bf16[64, 64] is read from shared memory, where another product has it"
tile.kernel @product_transposed(%b: !tile.array<?x?xbf16>, %c: !tile.array<?x?xf32, mut>, %x: bf16, %i: index) attributes {num_warps = 4 : i32} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wide>
  %a = tile.splat %x : bf16 -> tensor<64x64xbf16, #wide>
  %y = tile.load %b[%i, %i] : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #wide>
  %t = tile.permute %a [1, 0] : tensor<64x64xbf16, #wide> -> tensor<64x64xbf16, #turned>
  %p = tile.mma %t, %y, %z {atom = "wgmma"} : tensor<64x64xbf16, #turned>, tensor<64x64xbf16, #wide>, tensor<64x64xf32, #wide>
  %q = tile.mma %a, %y, %p {atom = "wgmma"} : tensor<64x64xbf16, #wide>, tensor<64x64xbf16, #wide>, tensor<64x64xf32, #wide>
  tile.store %c[%i, %i], %q : !tile.array<?x?xf32, mut>, tensor<64x64xf32, #wide>
  tile.return
}

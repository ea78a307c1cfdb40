// RUN: tile-opt %s | tile-opt | FileCheck %s
// Slices, takes, counts, and what goes through a scratch buffer keep their text.

#rows = #tile.layout<[8, 16] register [(0, 1), (0, 2)] lane [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#line = #tile.layout<[16] register [(1), (2)] lane [(4), (8), (0), (0), (0)]>
#plain = #tile.layout<[8, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]>
#part = #tile.layout<[2, 16] offset [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0)]>
#bins = #tile.layout<[4] offset [(1), (2)]>
#bytes = #tile.layout<[16] offset [(1), (2), (4), (8)]>

// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts(%x: i32, %i: index) {
  %t = tile.splat %x : i32 -> tensor<8x16xi32, #rows>
  %n = tile.splat %x : i32 -> tensor<16xi32, #line>
  %s = tgpu.alloc : !tgpu.buffer<2x16xi32, #part>
  // CHECK: tgpu.store_slice %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : tensor<8x16xi32, #{{.*}}>, !tgpu.buffer<2x16xi32, #{{.*}}>
  tgpu.store_slice %t[%i, %i], %s : tensor<8x16xi32, #rows>, !tgpu.buffer<2x16xi32, #part>
  %b = tgpu.alloc : !tgpu.buffer<8x16xi32, #plain>
  // CHECK: tgpu.take %{{.*}}[%{{.*}}] axis 1 : !tgpu.buffer<8x16xi32, #{{.*}}>, tensor<16xi32, #{{.*}}> -> tensor<8x16xi32, #{{.*}}>
  %u = tgpu.take %b[%n] axis 1 : !tgpu.buffer<8x16xi32, #plain>, tensor<16xi32, #line> -> tensor<8x16xi32, #rows>
  // CHECK: tgpu.take %{{.*}}[%{{.*}}] axis 0 along : !tgpu.buffer
  %v = tgpu.take %b[%t] axis 0 along : !tgpu.buffer<8x16xi32, #plain>, tensor<8x16xi32, #rows> -> tensor<8x16xi32, #rows>
  %h = tgpu.alloc : !tgpu.buffer<4xi32, #bins>
  // CHECK: tgpu.count %{{.*}}, %{{.*}} first 8 unsigned : tensor<8x16xi32, #{{.*}}>, !tgpu.buffer<4xi32, #{{.*}}>
  tgpu.count %t, %h first 8 unsigned : tensor<8x16xi32, #rows>, !tgpu.buffer<4xi32, #bins>
  tile.return
}

// CHECK-LABEL: tile.kernel @through
tile.kernel @through(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<8x16xi32, #rows>
  %b = tgpu.alloc : !tgpu.buffer<16xi8, #bytes>
  // CHECK: tgpu.flip %{{.*}} axis 1 through %{{.*}} : tensor<8x16xi32, #{{.*}}>, !tgpu.buffer<16xi8, #{{.*}}>
  %f = tgpu.flip %t axis 1 through %b : tensor<8x16xi32, #rows>, !tgpu.buffer<16xi8, #bytes>
  // CHECK: tgpu.scan(%{{.*}}) axis 0 reverse exclusive(%{{.*}} : i32) through %{{.*}} : !tgpu.buffer<16xi8, #{{.*}}>, (tensor<8x16xi32, #{{.*}}>) -> tensor<8x16xi32, #{{.*}}> {
  %s = tgpu.scan(%t) axis 0 reverse exclusive(%x : i32) through %b
      : !tgpu.buffer<16xi8, #bytes>, (tensor<8x16xi32, #rows>) -> tensor<8x16xi32, #rows> {
  ^bb0(%l: i32, %r: i32):
    %0 = arith.addi %l, %r : i32
    // CHECK: tgpu.yield
    tgpu.yield %0 : i32
  }
  // CHECK: tgpu.sort(%{{.*}}, %{{.*}}) axis 1 descending through %{{.*}} : !tgpu.buffer<16xi8
  %o:2 = tgpu.sort(%t, %s) axis 1 descending through %b
      : !tgpu.buffer<16xi8, #bytes>, (tensor<8x16xi32, #rows>, tensor<8x16xi32, #rows>) -> (tensor<8x16xi32, #rows>, tensor<8x16xi32, #rows>)
  tile.return
}

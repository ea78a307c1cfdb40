// RUN: tile-opt %s | tile-opt | FileCheck %s
// Rings, copies, asynchronous products and roles read back what they print.

#a = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#b = #tile.layout<[4, 8] offset [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0)]>
#acc = #tile.layout<[8, 8] register [(0, 1)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>

// A slot may be another view of the bytes of an earlier one, and a push may fill views alone;
// copies out may reduce.
// CHECK-LABEL: tile.kernel @views
// CHECK: %[[RING:.*]] = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, {{[^>]*}}>, !tgpu.buffer<4x8xf32, {{[^>]*}}> as 0, !tgpu.buffer<8x4xf32, {{[^>]*}}>]>
// CHECK: tgpu.copy %{{.*}} to 0 :
// CHECK: tgpu.copy %{{.*}} to 2 :
// CHECK: tgpu.push %[[RING]]
// CHECK-NEXT: tgpu.copy %{{.*}} order [1, 0] to 1 :
// CHECK: tgpu.pop %[[RING]] : {{.*}} -> {{.*}}, {{.*}}, {{.*}}
// CHECK: tgpu.copy_out %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] elements order [0, 1] reduce(add) :
#a2 = #tile.layout<[8, 4] offset [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]>
#t = #tile.layout<[4, 8] offset [(1, 0), (2, 0), (0, 1), (0, 2), (0, 4)]>
tile.kernel @views(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %i: index) {
  %ring = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a2>, !tgpu.buffer<4x8xf32, #t> as 0, !tgpu.buffer<8x4xf32, #a2>]>
  tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a2>, !tgpu.buffer<4x8xf32, #t> as 0, !tgpu.buffer<8x4xf32, #a2>]> {
    tgpu.copy %x[%i, %i] order [0, 1] to 0 : !tile.array<?x?xf32>
    tgpu.copy %x[%i, %i] order [0, 1] to 2 : !tile.array<?x?xf32>
  }
  tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a2>, !tgpu.buffer<4x8xf32, #t> as 0, !tgpu.buffer<8x4xf32, #a2>]> {
    tgpu.copy %x[%i, %i] order [1, 0] to 1 : !tile.array<?x?xf32>
  }
  %a, %b, %c = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a2>, !tgpu.buffer<4x8xf32, #t> as 0, !tgpu.buffer<8x4xf32, #a2>]>
    -> !tgpu.buffer<8x4xf32, #a2>, !tgpu.buffer<4x8xf32, #t>, !tgpu.buffer<8x4xf32, #a2>
  tgpu.copy_out %a, %y[%i, %i] elements order [0, 1] reduce(add) : !tgpu.buffer<8x4xf32, #a2>, !tile.array<?x?xf32, mut>
  tile.return
}

// CHECK-LABEL: tile.kernel @roles
// CHECK: %[[RING:.*]] = tgpu.ring copy "tma" offset 0 barriers 4096 : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, {{.*}}>, !tgpu.buffer<4x8xf32, {{.*}}>]>
// CHECK: tgpu.specialize registers [24, 240] access {
// CHECK:   tgpu.push %[[RING]] : {{.*}} {
// CHECK:     tgpu.copy %{{.*}}[%{{.*}}, %{{.*}}] order [0, 1] to 0 : !tile.array<?x?xf32>
// CHECK:     tgpu.copy %{{.*}}[%{{.*}}, %{{.*}}] elements order [1, 0] multicast once within [1, 0] to 1 : !tile.array<?x?xf32>
// CHECK: } execute {
// CHECK:   %[[X:.*]]:2 = tgpu.pop %[[RING]]
// CHECK:   %[[R:.*]] = tgpu.mma %[[X]]#0, %[[X]]#1
// CHECK:   tgpu.mma_wait %[[R]] pending 0
// CHECK:   tgpu.release %[[RING]]
// CHECK:   tgpu.take_turn
// CHECK:   tgpu.pass_turn
// CHECK:   tgpu.fence_async
// CHECK:   tgpu.copy_out %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] order [0, 1] :
// CHECK:   tgpu.copy_out_wait
tile.kernel @roles(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>) {
  %i = tgpu.resident_block
  %n = tgpu.num_resident_blocks
  %ring = tgpu.ring copy "tma" offset 0 barriers 4096
    : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]>
  %out = tgpu.alloc : !tgpu.buffer<8x4xf32, #a>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32, #acc>
  tgpu.specialize registers [24, 240] access {
    tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]> {
      tgpu.copy %x[%i, %n] order [0, 1] to 0 : !tile.array<?x?xf32>
      tgpu.copy %x[%n, %i] elements order [1, 0] multicast once within [1, 0] to 1 : !tile.array<?x?xf32>
    }
  } execute {
    %p, %q = tgpu.pop %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]>
      -> !tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>
    %r = tgpu.mma %p, %q, %zero {atom = "some"}
      : !tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>, tensor<8x8xf32, #acc>
    %w = tgpu.mma_wait %r pending 0 : (tensor<8x8xf32, #acc>) -> tensor<8x8xf32, #acc>
    tgpu.release %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]>
    tgpu.take_turn
    tgpu.pass_turn
    tgpu.fence_async
    tgpu.copy_out %out, %y[%i, %n] order [0, 1] : !tgpu.buffer<8x4xf32, #a>, !tile.array<?x?xf32, mut>
    tgpu.copy_out_wait
    // CHECK: tgpu.copy_out_wait pending 1 by_group
    // CHECK: tgpu.copy_out %{{.*}} order [0, 1] groups [16] :
    tgpu.copy_out_wait pending 1 by_group
    tgpu.copy_out %out, %y[%i, %n] order [0, 1] groups [16] : !tgpu.buffer<8x4xf32, #a>, !tile.array<?x?xf32, mut>
    // CHECK: tgpu.mma %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} {atom = "some"}
    %adds = arith.constant true
    %s = tgpu.mma %p, %q, %zero if %adds {atom = "some"}
      : !tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>, tensor<8x8xf32, #acc>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @gathered
// CHECK: tgpu.copy_gathered %{{.*}}[%{{.*}}, %{{.*}}] mask(%{{.*}} : tensor<8x4xi1, #[[I:.*]]>) in_bounds [false, true] run [1, 4] to 0 : !tile.array<?x?xf32>, [tensor<8x4xindex, #[[I]]>, tensor<8x4xi32, #[[I]]>]
// CHECK: tgpu.copy %{{.*}} to 1
#i = #tile.layout<[8, 4] register [(0, 1), (0, 2)] lane [(1, 0), (2, 0), (4, 0), (0, 0), (0, 0)]>
tile.kernel @gathered(%x: !tile.array<?x?xf32>, %n: index) {
  %p = arith.constant dense<1> : tensor<8x4xindex, #i>
  %q = arith.constant dense<2> : tensor<8x4xi32, #i>
  %m = arith.constant dense<true> : tensor<8x4xi1, #i>
  %ring = tgpu.ring copy "tma" : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]>
  tgpu.push %ring : !tgpu.ring<2x[!tgpu.buffer<8x4xf32, #a>, !tgpu.buffer<4x8xf32, #b>]> {
    tgpu.copy_gathered %x[%p, %q] mask(%m : tensor<8x4xi1, #i>) in_bounds [false, true] run [1, 4] to 0
      : !tile.array<?x?xf32>, [tensor<8x4xindex, #i>, tensor<8x4xi32, #i>]
    tgpu.copy %x[%n, %n] order [0, 1] to 1 : !tile.array<?x?xf32>
  }
  tile.return
}

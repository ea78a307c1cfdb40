// RUN: tile-opt %s --tile-lower-to-simt --split-input-file --verify-diagnostics | FileCheck %s
// Parts of tiles: registers where they are, addresses where they are not.

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (32)]>

// Mirrored: the other register of the lane on the other side.
// CHECK-LABEL: llvm.func @flip(
tile.kernel @flip(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  // CHECK: vector.shuffle %{{.*}} [1, 0] : vector<2xi32>, vector<2xi32>
  // CHECK: %[[ALL:.*]] = arith.constant 31 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
  // CHECK: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  %f = tile.flip %t axis 0 : tensor<64xi32, #l>
  tile.return
}

// An element of a warp's tile is shown by its lane; outside it is 0.
// CHECK-LABEL: llvm.func @element(
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl
// CHECK: arith.select
tile.kernel @element(%x: i32, %i: index) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  %e = tile.extract %t[%i] : tensor<64xi32, #l> -> i32
  tile.return
}

#half = #tile.layout<[32] register [(1)] lane [(2), (4), (8), (16), (0)]>
// CHECK-LABEL: llvm.func @insert(
// CHECK: arith.cmpi ult
// CHECK-COUNT-2: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
tile.kernel @insert(%x: i32, %i: index) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  %s = tile.splat %x : i32 -> tensor<32xi32, #half>
  %r = tile.insert %s into %t[%i] : tensor<32xi32, #half> into tensor<64xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (32)]>
#plain = #tile.layout<[64] offset [(1), (2), (4), (8), (16), (32)]>

// Two loads, from where the indices say; nothing is read outside.
// CHECK-LABEL: llvm.func @take(
tile.kernel @take(%x: i32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  %b = tgpu.alloc offset 0 : !tgpu.buffer<64xi32, #plain>
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK-NOT: llvm.load
  %r = tgpu.take %b[%t] axis 0 along : !tgpu.buffer<64xi32, #plain>, tensor<64xi32, #l> -> tensor<64xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (0)] warp [(32)]>

tile.kernel @unstaged(%x: i32, %i: index) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  // expected-error @+1 {{this slice needs shared memory: run --tile-stage-operands first}}
  %e = tile.extract %t[%i] : tensor<64xi32, #l> -> i32
  tile.return
}

// -----

#l = #tile.layout<[64] register [(1)] lane [(2), (4), (8), (16), (0)] warp [(32)]>

tile.kernel @unstaged_flip(%x: i32) attributes {num_warps = 2 : i32} {
  %t = tile.splat %x : i32 -> tensor<64xi32, #l>
  // expected-error @+1 {{this flip needs shared memory: run --tile-stage-operands first}}
  %f = tile.flip %t axis 0 : tensor<64xi32, #l>
  tile.return
}

// RUN: tile-opt %s --split-input-file --tile-defer-reductions --tile-verify-stage=stage=laid-out | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-defer-reductions --remarks-filter=defer-reductions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Threads exchange what a loop reduces when it has ended.

// REMARK: [Passed] {{.*}}Function=scaled {{.*}}Remark="each thread carries what its own elements come to; 4 threads meet when the loop has ended"
// REMARK-NOT: Function=exact
// REMARK: Function=maxima {{.*}}8 threads meet
// REMARK: Function=scalar {{.*}}128 threads meet
// REMARK-NOT: Function=needed

#a = #tile.layout<[16, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#r = #tile.layout<[16] register [(8)] lane [(0), (0), (1), (2), (4)]>
#c = #tile.layout<[16, 1] register [(8, 0)] lane [(0, 0), (0, 0), (1, 0), (2, 0), (4, 0)]>

// Columns 2 and 4 are in lanes, 1, 8 and 16 in registers. The factor is stretched.
// CHECK-DAG: #[[PART:.*]] = #tile.layout<[16, 1, 4] register [(8, 0, 0)] lane [(0, 0, 1), (0, 0, 2), (1, 0, 0), (2, 0, 0), (4, 0, 0)]>
// CHECK-LABEL: tile.kernel @scaled
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x1x4xf32, #[[PART]]>
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]]) -> (tensor<16x1x4xf32, #[[PART]]>)
// CHECK:   %[[P:.*]] = tile.load
// CHECK:   %[[THIN:.*]] = tile.reshape %{{.*}} -> tensor<16x1x1xf32
// CHECK:   %[[F:.*]] = tile.broadcast %[[THIN]] : {{.*}} -> tensor<16x1x4xf32, #[[PART]]>
// CHECK:   %[[CUT:.*]] = tile.reshape %[[P]] : {{.*}} -> tensor<16x4x4x2xf32
// CHECK:   %[[OWN:.*]] = tile.reduce(%[[CUT]]) axes [1, 3] : {{.*}} -> tensor<16x4xf32
// CHECK:   %[[NEW:.*]] = tile.reshape %[[OWN]] : {{.*}} -> tensor<16x1x4xf32, #[[PART]]>
// CHECK:   %[[NEXT:.*]] = math.fma %[[SUM]], %[[F]], %[[NEW]] fastmath<afn> : tensor<16x1x4xf32, #[[PART]]>
// CHECK:   scf.yield %[[NEXT]]
// CHECK: %[[ALL:.*]] = tile.reduce(%[[LOOP]]) axes [2] : {{.*}} -> tensor<16x1xf32
// CHECK: tile.store {{.*}}, %[[ALL]]
tile.kernel @scaled(%x: !tile.array<?x?xf32>, %y: !tile.array<?x?xf32, mut>, %n: index, %f: f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16x1xf32, #c>
  %s = tile.splat %f : f32 -> tensor<16x1xf32, #c>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<16x1xf32, #c> {
    %p = tile.load %x[%c0, %i] : !tile.array<?x?xf32> -> tensor<16x32xf32, #a>
    %q = tile.reduce(%p) axes [1] : (tensor<16x32xf32, #a>) -> tensor<16xf32, #r> {
    ^bb0(%g: f32, %h: f32):
      %t = arith.addf %g, %h fastmath<afn> : f32
      tile.yield %t : f32
    }
    %k = tile.reshape %q : tensor<16xf32, #r> -> tensor<16x1xf32, #c>
    %next = math.fma %sum, %s, %k fastmath<afn> : tensor<16x1xf32, #c>
    scf.yield %next : tensor<16x1xf32, #c>
  }
  tile.store %y[%c0, %c0], %l : !tile.array<?x?xf32, mut>, tensor<16x1xf32, #c>
  tile.return
}

// -----

#a = #tile.layout<[16, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#r = #tile.layout<[16] register [(8)] lane [(0), (0), (1), (2), (4)]>

// What each thread rounds is another sum: not where that is not allowed.
// CHECK-LABEL: tile.kernel @exact
// CHECK: scf.for {{.*}} -> (tensor<16xf32
tile.kernel @exact(%x: !tile.array<?x?xf32>, %y: !tile.array<?xf32, mut>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<16xf32, #r>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<16xf32, #r> {
    %p = tile.load %x[%c0, %i] : !tile.array<?x?xf32> -> tensor<16x32xf32, #a>
    %q = tile.reduce(%p) axes [1] : (tensor<16x32xf32, #a>) -> tensor<16xf32, #r> {
    ^bb0(%g: f32, %h: f32):
      %t = arith.addf %g, %h : f32
      tile.yield %t : f32
    }
    %next = arith.addf %sum, %q : tensor<16xf32, #r>
    scf.yield %next : tensor<16xf32, #r>
  }
  tile.store %y[%c0], %l : !tile.array<?xf32, mut>, tensor<16xf32, #r>
  tile.return
}

// -----

#a = #tile.layout<[16, 32] register [(0, 1), (8, 0), (0, 8), (0, 16)] lane [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]>
#r = #tile.layout<[32] register [(1), (8), (16)] lane [(2), (4), (0), (0), (0)]>

// Maxima are the same in any order. Rows are in registers and lanes, and the dim that threads
// differ in comes behind the columns.
// CHECK-LABEL: tile.kernel @maxima
// CHECK: %[[INIT:.*]] = tile.broadcast %{{.*}} -> tensor<32x8xf32, #[[PART:.*]]>
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[MAX:.*]] = %[[INIT]])
// CHECK:   %[[CUT:.*]] = tile.reshape %{{.*}} -> tensor<2x8x32xf32
// CHECK:   %[[OWN:.*]] = tile.reduce(%[[CUT]]) axes [0]
// CHECK:   %[[TURNED:.*]] = tile.permute %[[OWN]] [1, 0]
// CHECK:   arith.maximumf %[[MAX]], %[[TURNED]] : tensor<32x8xf32, #[[PART]]>
// CHECK: tile.reduce(%[[LOOP]]) axes [1] : {{.*}} -> tensor<32xf32
tile.kernel @maxima(%x: !tile.array<?x?xf32>, %y: !tile.array<?xf32, mut>, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tile.load %y[%c0] : !tile.array<?xf32, mut> -> tensor<32xf32, #r>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%max = %first) -> tensor<32xf32, #r> {
    %p = tile.load %x[%i, %c0] : !tile.array<?x?xf32> -> tensor<16x32xf32, #a>
    %q = tile.reduce(%p) axes [0] : (tensor<16x32xf32, #a>) -> tensor<32xf32, #r> {
    ^bb0(%g: f32, %h: f32):
      %t = arith.maximumf %g, %h : f32
      tile.yield %t : f32
    }
    %next = arith.maximumf %max, %q : tensor<32xf32, #r>
    scf.yield %next : tensor<32xf32, #r>
  }
  tile.store %y[%c0], %l : !tile.array<?xf32, mut>, tensor<32xf32, #r>
  tile.return
}

// -----

#v = #tile.layout<[256] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64), (128)]>

// A scalar: 128 threads, of which the first has what the sum begins with.
// CHECK-LABEL: tile.kernel @scalar
// CHECK: tile.iota : tensor<128xi32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}} : tensor<128xi32
// CHECK: %[[INIT:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}} : {{.*}}, tensor<128xi32
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[INIT]])
// CHECK:   %[[OWN:.*]] = tile.reduce(%{{.*}}) axes [1] : {{.*}} -> tensor<128xi32
// CHECK:   arith.addi %[[OWN]], %[[SUM]] : tensor<128xi32
// CHECK: tile.reduce(%[[LOOP]]) axes [0] : {{.*}} -> i32
tile.kernel @scalar(%x: !tile.array<?xi32>, %y: !tile.array<?xi32, mut>, %n: index, %s: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> i32 {
    %p = tile.load %x[%i] : !tile.array<?xi32> -> tensor<256xi32, #v>
    %q = tile.reduce(%p) axes [0] : (tensor<256xi32, #v>) -> i32 {
    ^bb0(%g: i32, %h: i32):
      %t = arith.addi %g, %h : i32
      tile.yield %t : i32
    }
    %next = arith.addi %q, %sum : i32
    scf.yield %next : i32
  }
  tile.store %y[%c0], %l elements : !tile.array<?xi32, mut>, i32
  tile.return
}

// -----

#v = #tile.layout<[256] register [(1)] lane [(2), (4), (8), (16), (32)] warp [(64), (128)]>

// Needed in the loop: nothing is gained.
// CHECK-LABEL: tile.kernel @needed
// CHECK: scf.for {{.*}} -> (i32)
tile.kernel @needed(%x: !tile.array<?xi32>, %y: !tile.array<?xi32, mut>, %n: index, %s: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> i32 {
    %p = tile.load %x[%i] : !tile.array<?xi32> -> tensor<256xi32, #v>
    %q = tile.reduce(%p) axes [0] : (tensor<256xi32, #v>) -> i32 {
    ^bb0(%g: i32, %h: i32):
      %t = arith.addi %g, %h : i32
      tile.yield %t : i32
    }
    %next = arith.addi %q, %sum : i32
    tile.store %y[%i], %next elements : !tile.array<?xi32, mut>, i32
    scf.yield %next : i32
  }
  tile.store %y[%c0], %l elements : !tile.array<?xi32, mut>, i32
  tile.return
}

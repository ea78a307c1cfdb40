// RUN: tile-opt %s --tile-scale-maxima | FileCheck %s
// In fast code, a positive factor is applied to the maximum and to the difference.

// Masked, and only then reduced: no product is left but that of the difference.
// CHECK-LABEL: tile.kernel @masked
// CHECK-SAME: %[[C:.*]]: f32)
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[FACTOR:.*]] = tile.splat %{{.*}} : f32 -> tensor<2x8xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}}
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[Y]], %[[FACTOR]] fastmath<afn> : tensor<2x8xf32>
// CHECK-NEXT: %[[M:.*]] = tile.reduce(%[[Y]])
// CHECK: %[[OWN:.*]] = tile.splat %{{.*}} : f32 -> tensor<2xf32>
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[M]], %[[OWN]] fastmath<afn> : tensor<2xf32>
// CHECK-NEXT: tile.reshape %[[SCALED]]
// CHECK: arith.subf %[[S]], %{{.*}}
tile.kernel @masked(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>, %c: f32) {
  %z = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %log2e = arith.constant 1.44269502 : f32
  %inf = arith.constant dense<0xFF800000> : tensor<2x8xf32>
  %positive = arith.cmpf ogt, %c, %zero : f32
  tile.assume %positive
  %x = tile.load %a[%z, %z] : !tile.array<?x?xf32> -> tensor<2x8xf32>
  %n = tile.dim %a, 1 : !tile.array<?x?xf32>
  %i = tile.iota : tensor<8xindex>
  %r = tile.reshape %i : tensor<8xindex> -> tensor<1x8xindex>
  %w = tile.broadcast %r : tensor<1x8xindex> -> tensor<2x8xindex>
  %e = tile.splat %n : index -> tensor<2x8xindex>
  %mask = arith.cmpi slt, %w, %e : tensor<2x8xindex>
  %f = arith.mulf %c, %log2e fastmath<afn> : f32
  %t = tile.splat %f : f32 -> tensor<2x8xf32>
  %p = arith.mulf %x, %t fastmath<afn> : tensor<2x8xf32>
  %s = arith.select %mask, %p, %inf : tensor<2x8xi1>, tensor<2x8xf32>
  %m = tile.reduce(%s) axes [1] : (tensor<2x8xf32>) -> tensor<2xf32> {
  ^bb0(%g: f32, %h: f32):
    %q = arith.maximumf %g, %h : f32
    tile.yield %q : f32
  }
  %k = tile.reshape %m : tensor<2xf32> -> tensor<2x1xf32>
  %l = tile.broadcast %k : tensor<2x1xf32> -> tensor<2x8xf32>
  %d = arith.subf %s, %l fastmath<afn> : tensor<2x8xf32>
  tile.store %b[%z, %z], %d : !tile.array<?x?xf32, mut>, tensor<2x8xf32>
  tile.return
}

// A constant, of all elements.
// CHECK-LABEL: tile.kernel @constant
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: %[[M:.*]] = tile.reduce(%[[X]])
// CHECK: %[[EIGHTH:.*]] = arith.constant 1.250000e-01 : f32
// CHECK-NEXT: arith.mulf %[[M]], %[[EIGHTH]] fastmath<afn> : f32
tile.kernel @constant(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>) {
  %z = arith.constant 0 : index
  %f = arith.constant dense<0.125> : tensor<8xf32>
  %x = tile.load %a[%z] : !tile.array<?xf32> -> tensor<8xf32>
  %p = arith.mulf %f, %x fastmath<afn> : tensor<8xf32>
  %m = tile.reduce(%p) axes [0] : (tensor<8xf32>) -> f32 {
  ^bb0(%g: f32, %h: f32):
    %q = arith.minimumf %g, %h : f32
    tile.yield %q : f32
  }
  %s = tile.splat %m : f32 -> tensor<8xf32>
  tile.store %b[%z], %s : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// A factor that may be negative or zero, a sum of products, and one outside of fast code.
// CHECK-LABEL: tile.kernel @others
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %{{.*}} fastmath<afn>
// CHECK: tile.reduce(%[[P]])
// CHECK: %[[Q:.*]] = arith.mulf %[[X]], %{{.*}} fastmath<afn>
// CHECK: tile.reduce(%[[Q]])
// CHECK: %[[R:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<8xf32>
// CHECK: tile.reduce(%[[R]])
tile.kernel @others(%a: !tile.array<?xf32>, %b: !tile.array<?xf32, mut>, %c: f32) {
  %z = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %f = arith.constant dense<0.125> : tensor<8xf32>
  %least = arith.cmpf oge, %c, %zero : f32
  tile.assume %least
  %t = tile.splat %c : f32 -> tensor<8xf32>
  %x = tile.load %a[%z] : !tile.array<?xf32> -> tensor<8xf32>
  %p = arith.mulf %x, %t fastmath<afn> : tensor<8xf32>
  %m = tile.reduce(%p) axes [0] : (tensor<8xf32>) -> f32 {
  ^bb0(%g: f32, %h: f32):
    %v = arith.maximumf %g, %h : f32
    tile.yield %v : f32
  }
  %q = arith.mulf %x, %f fastmath<afn> : tensor<8xf32>
  %n = tile.reduce(%q) axes [0] : (tensor<8xf32>) -> f32 {
  ^bb0(%g: f32, %h: f32):
    %v = arith.addf %g, %h : f32
    tile.yield %v : f32
  }
  %r = arith.mulf %x, %f : tensor<8xf32>
  %o = tile.reduce(%r) axes [0] : (tensor<8xf32>) -> f32 {
  ^bb0(%g: f32, %h: f32):
    %v = arith.maximumf %g, %h : f32
    tile.yield %v : f32
  }
  %d = arith.addf %m, %n : f32
  %e = arith.addf %d, %o : f32
  %s = tile.splat %e : f32 -> tensor<8xf32>
  tile.store %b[%z], %s : !tile.array<?xf32, mut>, tensor<8xf32>
  tile.return
}

// A factor that is computed as a tile stays where it is.
// CHECK-LABEL: tile.kernel @computed
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<afn> : tensor<4x4xf32>
// CHECK: tile.reduce(%[[P]])
tile.kernel @computed(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>, %s: f32) {
  %zero = arith.constant 0.0 : f32
  %p = arith.cmpf ogt, %s, %zero : f32
  tile.assume %p
  %i = arith.constant 0 : index
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %sp = tile.splat %s : f32 -> tensor<4x4xf32>
  %f = arith.mulf %sp, %two : tensor<4x4xf32>
  %x = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<4x4xf32>
  %t = arith.mulf %x, %f fastmath<afn> : tensor<4x4xf32>
  %m = tile.reduce(%t) axes [1] : (tensor<4x4xf32>) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    %q = arith.maximumf %l, %r : f32
    tile.yield %q : f32
  }
  %m2 = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
  tile.store %c[%i, %i], %m2 : !tile.array<?x?xf32, mut>, tensor<4x1xf32>
  tile.return
}

// RUN: tile-opt %s --tile-skip-neutral | FileCheck %s
// Masks of products by position are applied only where they leave something out.

// CHECK-LABEL: tile.kernel @causal
// CHECK: scf.for %[[J:arg[0-9]+]] =
// CHECK:   %[[FIRST:.*]] = arith.muli %[[J]], %c64
// CHECK:   %[[S:.*]] = tile.mma
// The last column lies inside the array, and not behind the first row.
// CHECK:   %[[LAST:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK:   %[[IN:.*]] = arith.cmpi slt, %[[LAST]], %arg1
// CHECK:   %[[SEEN:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : index
// CHECK:   %[[ALL:.*]] = arith.andi %[[IN]], %[[SEEN]] : i1
// CHECK:   %[[T:.*]] = scf.if %[[ALL]] -> (tensor<64x64xf32>) {
// CHECK:     scf.yield %[[S]]
// CHECK:   } else {
// CHECK:     %[[COLUMN:.*]] = arith.addi {{.*}} : tensor<1x64xindex>
// CHECK:     arith.cmpi slt, %[[COLUMN]]
// CHECK:     arith.cmpi sle
// CHECK:     %[[M:.*]] = arith.select {{.*}}, %[[S]], %{{.*}}
// CHECK:     scf.yield %[[M]]
// CHECK:   tile.mma %{{.*}}, %{{.*}}, %{{.*}}
tile.kernel @causal(%a: !tile.array<?x?xbf16>, %n: index) {
  %most = arith.constant 1048576 : index
  %few = arith.cmpi sle, %n, %most : index
  tile.assume %few
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %k = tile.load %a[%c1, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %iota = tile.iota : tensor<64xindex>
  %m = tile.block_id 0 : index
  %top = arith.muli %m, %c64 : index
  %tops = tile.splat %top : index -> tensor<64x1xindex>
  %down = tile.reshape %iota : tensor<64xindex> -> tensor<64x1xindex>
  %row = arith.addi %tops, %down : tensor<64x1xindex>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %first = arith.muli %j, %c64 : index
    %firsts = tile.splat %first : index -> tensor<1x64xindex>
    %across = tile.reshape %iota : tensor<64xindex> -> tensor<1x64xindex>
    %column = arith.addi %firsts, %across : tensor<1x64xindex>
    %ends = tile.splat %n : index -> tensor<1x64xindex>
    %in = arith.cmpi slt, %column, %ends : tensor<1x64xindex>
    %ins = tile.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %columns = tile.broadcast %column : tensor<1x64xindex> -> tensor<64x64xindex>
    %rows = tile.broadcast %row : tensor<64x1xindex> -> tensor<64x64xindex>
    %seen = arith.cmpi sle, %columns, %rows : tensor<64x64xindex>
    %mask = arith.andi %ins, %seen : tensor<64x64xi1>
    %s = tile.mma %q, %k, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = arith.select %mask, %s, %inf : tensor<64x64xi1>, tensor<64x64xf32>
    %p = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
    %sum = tile.mma %p, %k, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  tile.return
}

// Where columns may wrap, that is asked, too: the first is then above the last.
// CHECK-LABEL: tile.kernel @wraps
// CHECK:   %[[FIRST:.*]] = arith.addi %arg1, %{{.*}} : index
// CHECK:   %[[LAST:.*]] = arith.addi %arg1, %{{.*}} : index
// CHECK:   %[[ORDER:.*]] = arith.cmpi sle, %[[FIRST]], %[[LAST]] : index
// CHECK:   %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %arg2 : index
// CHECK:   %[[ALL:.*]] = arith.andi %[[ORDER]], %[[IN]] : i1
// CHECK:   scf.if %[[ALL]]
tile.kernel @wraps(%a: !tile.array<?x?xbf16>, %at: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %k = tile.load %a[%c1, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %iota = tile.iota : tensor<64xindex>
  %across = tile.reshape %iota : tensor<64xindex> -> tensor<1x64xindex>
  %firsts = tile.splat %at : index -> tensor<1x64xindex>
  %column = arith.addi %firsts, %across : tensor<1x64xindex>
  %ends = tile.splat %n : index -> tensor<1x64xindex>
  %in = arith.cmpi slt, %column, %ends : tensor<1x64xindex>
  %mask = tile.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
  scf.for %j = %c0 to %n step %c1 {
    %s = tile.mma %q, %k, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = arith.select %mask, %s, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  }
  tile.return
}

// A distance: the greatest is that of the last row and the first column. A multiple by a
// negative number turns the ends around.
// CHECK-LABEL: tile.kernel @window
// CHECK:   %[[FAR:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK:   %[[BACK:.*]] = arith.muli %[[FAR]], %{{.*}} : index
// CHECK:   %[[ALL:.*]] = arith.cmpi sgt, %[[BACK]], %{{.*}} : index
// CHECK:   scf.if %[[ALL]]
tile.kernel @window(%a: !tile.array<?x?xbf16>, %n: index, %w: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %k = tile.load %a[%c1, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %twice = arith.constant dense<-2> : tensor<64x64xindex>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %iota = tile.iota : tensor<64xindex>
  %across = tile.reshape %iota : tensor<64xindex> -> tensor<1x64xindex>
  %down = tile.reshape %iota : tensor<64xindex> -> tensor<64x1xindex>
  %columns = tile.broadcast %across : tensor<1x64xindex> -> tensor<64x64xindex>
  %rows = tile.broadcast %down : tensor<64x1xindex> -> tensor<64x64xindex>
  %distance = arith.subi %rows, %columns : tensor<64x64xindex>
  %back = arith.muli %distance, %twice : tensor<64x64xindex>
  %limit = tile.splat %w : index -> tensor<64x64xindex>
  %mask = arith.cmpi sgt, %back, %limit : tensor<64x64xindex>
  scf.for %j = %c0 to %n step %c1 {
    %s = tile.mma %q, %k, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = arith.select %mask, %s, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  }
  tile.return
}

// A mask that comes from elsewhere, and positions of 32 bits, which may wrap, stay as they are.
// CHECK-LABEL: tile.kernel @other
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @other(%a: !tile.array<?x?xbf16>, %n: index, %g: !tile.array<?x?xi8>, %at: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tile.load %a[%c0, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %k = tile.load %a[%c1, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0> : tensor<64x64xi8>
  %flags = tile.load %g[%c0, %c0] : !tile.array<?x?xi8> -> tensor<64x64xi8>
  %given = arith.cmpi sgt, %flags, %none : tensor<64x64xi8>
  %iota = tile.iota : tensor<64xi32>
  %across = tile.reshape %iota : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %across : tensor<1x64xi32> -> tensor<64x64xi32>
  %limit = tile.splat %at : i32 -> tensor<64x64xi32>
  %mask = arith.cmpi slt, %columns, %limit : tensor<64x64xi32>
  scf.for %j = %c0 to %n step %c1 {
    %s = tile.mma %q, %k, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = arith.select %given, %s, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %u = arith.select %mask, %s, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  }
  tile.return
}

// RUN: tile-opt %s | tile-opt | FileCheck %s
// Layouts print as they are read, under an alias, and conversions name both.

#rows = #tile.layout<[4, 64]
    register [(0, 1), (0, 2), (0, 4)]
    lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(0, 0)]>
#swapped = #tile.layout<[4, 64]
    register [(1, 0), (2, 0), (0, 32)]
    lane [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)] warp [(0, 0)]>
#shared = #tile.layout<[4, 4] offset [(0, 1), (0, 2), (1, 1), (2, 2)]>

// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<[4, 64] register [(0, 1), (0, 2), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(0, 0)]>
// CHECK-DAG: #[[SWAPPED:.*]] = #tile.layout<[4, 64] register [(1, 0), (2, 0), (0, 32)] lane
// CHECK-DAG: #[[SHARED:.*]] = #tile.layout<[4, 4] offset [(0, 1), (0, 2), (1, 1), (2, 2)]>

// CHECK-LABEL: tile.kernel @convert
tile.kernel @convert(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32, mut>, %i: index)
    attributes {buffer = #shared} {
  // CHECK: tile.load {{.*}} -> tensor<4x64xf32, #[[ROWS]]>
  %0 = tile.load %a[%i, %i] : !tile.array<?x?xf32> -> tensor<4x64xf32, #rows>
  // CHECK: tile.convert_layout %{{.*}} : tensor<4x64xf32, #[[ROWS]]> -> tensor<4x64xf32, #[[SWAPPED]]>
  %1 = tile.convert_layout %0 : tensor<4x64xf32, #rows> -> tensor<4x64xf32, #swapped>
  tile.store %b[%i, %i], %1 : !tile.array<?x?xf32, mut>, tensor<4x64xf32, #swapped>
  tile.return
}

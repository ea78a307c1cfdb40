// RUN: not tile-opt %s --tile-lower-to-simt 2>&1 | FileCheck %s
// Without layouts no thread knows its elements.

// CHECK: :[[#@LINE+3]]:8: error: 'tile.load' op makes a tile without a layout, which --tile-assign-layouts gives it
tile.kernel @k(%a: !tile.array<?xf32>) {
  %i = arith.constant 0 : index
  %x = tile.load %a[%i] : !tile.array<?xf32> -> tensor<32xf32>
  tile.return
}

// RUN: tile-opt %s --split-input-file --tile-print-facts --verify-diagnostics
// Multiples and ranges of indices, and where they come from.

tile.kernel @facts(%a: !tile.array<?x?xbf16> {tile.dims = ["m", "k"]}, %s: index)
    attributes {tile.facts = ["aligned16"]} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c12 = arith.constant 12 : index
  %c100 = arith.constant 100 : index
  %i = tile.block_id 0 : index
  // Rows are multiples of 16 bytes, 8 elements.
  // expected-remark @below {{dim 0: starts at a multiple of 32, index in [0, 2147483646], size a multiple of 1, checked}}
  // expected-remark @below {{dim 1: starts at a multiple of 1073741824, index in [0, 0], size a multiple of 8, checked}}
  %0 = tile.load %a[%i, %c0] : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
  %e = arith.muli %i, %c12 : index
  %f = arith.addi %e, %c100 : index
  // expected-remark @below {{dim 0: starts at a multiple of 4, index in [0, 25769803752]}}
  // expected-remark @below {{dim 1: starts at a multiple of 4, index in [100, 25769803852]}}
  %1 = tile.load %a[%e, %f] elements : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
  // A sum that may wrap can be anything.
  %w = arith.addi %s, %c5 : index
  %x = tile.shift left %s, %c5 : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [?, ?]}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [?, ?]}}
  %2 = tile.load %a[%w, %x] elements : !tile.array<?x?xbf16> -> tensor<32x64xbf16>
  tile.return
}

// -----

// What `requires` says of scalars and dims.
tile.kernel @requires(%a: !tile.array<?xf32>, %s: i32) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %c8 = arith.constant 8 : index
  %c8i = arith.constant 8 : i32
  %c64i = arith.constant 64 : i32
  %n = tile.dim %a, 0 : !tile.array<?xf32>
  %r0 = tile.remainder trunc signed %n, %c8 : index
  %p0 = arith.cmpi eq, %r0, %c0 : index
  tile.assume %p0
  %r1 = tile.remainder floor signed %s, %c8i : i32
  %p1 = arith.cmpi eq, %r1, %z : i32
  %p2 = arith.cmpi sle, %s, %c64i : i32
  %p3 = arith.cmpi slt, %z, %s : i32
  %p4 = arith.andi %p2, %p3 : i1
  %p5 = arith.andi %p4, %p1 : i1
  tile.assume %p5
  %i = arith.index_cast %s : i32 to index
  // expected-remark @below {{dim 0: starts at a multiple of 8, index in [1, 64], size a multiple of 8, checked}}
  %0 = tile.load %a[%i] elements : !tile.array<?xf32> -> tensor<64xf32>
  tile.return
}

// -----

// Quotients and remainders by what is not negative: by zero they are zero, and the dividend.
tile.kernel @quotients(%a: !tile.array<?x?xf32>, %s: index) {
  %c8 = arith.constant 8 : index
  %w = tile.dim %a, 1 : !tile.array<?x?xf32>
  %n = tile.divide ceil signed %w, %c8 : index
  %i = tile.block_id 0 : index
  %q = tile.divide trunc signed %i, %n : index
  %r = tile.remainder trunc signed %i, %n : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [0, 2147483646], size}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [0, 2147483646], size}}
  %0 = tile.load %a[%q, %r] elements : !tile.array<?x?xf32> -> f32
  // The dividend, or the divisor, may be negative.
  %u = tile.divide trunc signed %s, %n : index
  %v = tile.remainder floor signed %s, %n : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [?, ?], size}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [?, ?], size}}
  %1 = tile.load %a[%u, %v] elements : !tile.array<?x?xf32> -> f32
  %x = tile.divide trunc signed %i, %s : index
  %y = tile.remainder trunc signed %i, %s : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [?, ?], size}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [?, ?], size}}
  %2 = tile.load %a[%x, %y] elements : !tile.array<?x?xf32> -> f32
  tile.return
}

// -----

// Of unsigned quotients and remainders by what is positive, as loops that became one have them.
tile.kernel @unsigned(%a: !tile.array<?x?xf32>, %s: index) {
  %c1 = arith.constant 1 : index
  %n = tile.dim %a, 1 : !tile.array<?x?xf32>
  %d = arith.maxsi %n, %c1 : index
  %i = tile.block_id 0 : index
  %q = arith.divui %i, %d : index
  %r = arith.remui %i, %d : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [0, 2147483646], size}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [0, 2147483646], size}}
  %0 = tile.load %a[%q, %r] elements : !tile.array<?x?xf32> -> f32
  // Of a negative number, as unsigned, nothing is known.
  %u = arith.divui %s, %d : index
  %v = arith.remui %s, %d : index
  // expected-remark @below {{dim 0: starts at a multiple of 1, index in [?, ?], size}}
  // expected-remark @below {{dim 1: starts at a multiple of 1, index in [?, ?], size}}
  %1 = tile.load %a[%u, %v] elements : !tile.array<?x?xf32> -> f32
  tile.return
}

//===- TensorBox.h - a tile in shared memory as boxes of an array ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A copy engine moves boxes: at most 256 elements along each dim of the array, rows no
// wider than the swizzle, in row-major order. Which boxes make up a tile, and where in
// the buffer each goes:
//
//   128 x 128 of 16 bits, 128-byte swizzle    box [128, 64]   at (0, 0):  byte 0
//                                                             at (0, 64): byte 16384
//===----------------------------------------------------------------------===//
#ifndef TILEC_LAYOUT_TENSORBOX_H
#define TILEC_LAYOUT_TENSORBOX_H

#include "tilec/Layout/Layout.h"

namespace tilec {

struct BoxPlan {
  struct Piece {
    llvm::SmallVector<int64_t, 6> start; ///< per array dim, from the tile's first element
    int64_t byteOffset;                  ///< in the buffer
  };
  unsigned swizzleBytes = 0;
  llvm::SmallVector<int64_t, 6> box; ///< elements per array dim, outermost first
  llvm::SmallVector<Piece> pieces;
};

/// How a tile in `buffer` comes from (or goes to) a row-major array of `arrayRank` dims.
/// `arrayDims`: the array dim along which each tile dim runs; along the others the tile is
/// one element long. The number of boxes is a multiple of `parts` (a power of two), for
/// copies that several blocks share. Nothing where boxes cannot do it.
std::optional<BoxPlan> planBoxes(const Layout &buffer, unsigned elementBits,
                                 llvm::ArrayRef<int64_t> arrayDims, unsigned arrayRank,
                                 int64_t parts = 1);

} // namespace tilec

#endif // TILEC_LAYOUT_TENSORBOX_H

//===- Grid.h - the grid that a kernel runs on ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_TILE_GRID_H
#define TILEC_TILE_GRID_H

#include "tilec/Tile/TileOps.h"

namespace tilec::tile {

/// Axes of the grid. Where the program does not say, the launch may give three.
inline unsigned numGridAxes(KernelOp kernel) {
  return kernel.getGrid() ? unsigned(kernel.getGrid()->size()) : 3;
}

} // namespace tilec::tile

#endif // TILEC_TILE_GRID_H

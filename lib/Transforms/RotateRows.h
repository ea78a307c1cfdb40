//===- RotateRows.h - which kernels turn their rows ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ROTATEROWS_H
#define TILEC_LIB_TRANSFORMS_ROTATEROWS_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// On a number of a column of a turned row: in the turned tile, those of the row come first to
/// last behind what is ahead of it.
inline constexpr llvm::StringLiteral turnedPositionAttr = "tile.turned_position";

/// Whether RotateRows turns the kernel's rows in builds that rely on whole pieces: such a
/// kernel has one.
bool canRotateRows(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ROTATEROWS_H

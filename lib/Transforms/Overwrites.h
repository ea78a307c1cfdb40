//===- Overwrites.h - stores that may write an element again --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// What the copy engine writes is there some time later, and two of its copies may write in
// any order. So it is asked of stores of tiles whether they can write an element twice.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_OVERWRITES_H
#define TILEC_LIB_TRANSFORMS_OVERWRITES_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Whether `store` may write an element in two iterations of a loop around it.
bool mayWriteAgain(tile::StoreOp store);

/// Whether two stores of tiles to one array, in one position of the grid, may write the same
/// element.
bool mayWriteSame(tile::StoreOp first, tile::StoreOp second);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_OVERWRITES_H

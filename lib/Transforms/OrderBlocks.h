//===- OrderBlocks.h - which position each block takes --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ORDERBLOCKS_H
#define TILEC_LIB_TRANSFORMS_ORDERBLOCKS_H

#include "tilec/Tile/TileOps.h"

#include <string>

namespace tilec {

/// Has the blocks of a kernel, one for each position of the grid, take positions in an order
/// that suits what they read, and how long they take. Says which, in words; empty where they
/// take them as they are numbered.
std::string orderBlocks(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ORDERBLOCKS_H

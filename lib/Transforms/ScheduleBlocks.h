//===- ScheduleBlocks.h - which kernels gain from pairs of blocks ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_SCHEDULEBLOCKS_H
#define TILEC_LIB_TRANSFORMS_SCHEDULEBLOCKS_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Whether a kernel of stage `tile` would share copies between two blocks of a cluster if it
/// knew that the grid has pairs: its tiles are too small to take that for granted.
bool gainsFromPairs(tile::KernelOp kernel, llvm::StringRef chip);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SCHEDULEBLOCKS_H

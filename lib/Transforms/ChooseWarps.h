//===- ChooseWarps.h - how many warps a kernel runs on ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_CHOOSEWARPS_H
#define TILEC_LIB_TRANSFORMS_CHOOSEWARPS_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Warps of `kernel`: its `num_warps`, else its hint of that name, else what suits
/// its tiles. Writes the answer to `num_warps`. For passes that run on their own; in the
/// pipeline ChooseWarps has been there.
unsigned getOrChooseNumWarps(tile::KernelOp kernel);

/// The hint `num_warps` if a kernel can run on so many; or 0.
int64_t hintedNumWarps(tile::KernelOp kernel, llvm::StringRef chip);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_CHOOSEWARPS_H

//===- SplitK.h - which kernels let blocks share a sum -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_SPLITK_H
#define TILEC_LIB_TRANSFORMS_SPLITK_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// What keeps several blocks from sharing the kernel's loop over K (a clause); empty: nothing.
llvm::StringRef splitKObstacle(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SPLITK_H

//===- ResidentBlocks.h - how many blocks share a multiprocessor ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_RESIDENTBLOCKS_H
#define TILEC_LIB_TRANSFORMS_RESIDENTBLOCKS_H

#include "tilec/Support/Target.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

/// How many blocks of a persistent kernel a multiprocessor is to have at a time.
int64_t blocksPerMultiprocessor(tile::KernelOp kernel, const Chip &chip);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_RESIDENTBLOCKS_H

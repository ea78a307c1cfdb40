//===- StreamRows.h - which kernels go over their rows in parts ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_STREAMROWS_H
#define TILEC_LIB_TRANSFORMS_STREAMROWS_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Whether StreamRows takes the kernel's rows apart in builds whose arrays do not overlap.
/// Such a kernel has a build for them where nothing is known of alignment, too.
bool isOfLongRows(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_STREAMROWS_H

//===- KernelFacts.h - launch facts out of a kernel ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a `tile.kernel`. Out: the KernelInfo that launchers need, without builds:
// name, parameters, grid, preconditions, constants, hints.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_KERNELFACTS_H
#define TILEC_COMPILER_KERNELFACTS_H

#include "tilec/Support/KernelInfo.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

/// The launch facts that stand in `kernel`'s attributes and types.
KernelInfo describeKernel(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_COMPILER_KERNELFACTS_H

//===- DebugSites.h - prints and assertions by number --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A record of a kernel to the host bears the number of its `tile.print` or
// `tile.assert`, as an attribute of the operation: all builds of a kernel are copies
// and share the numbers, and so does what a pass duplicates.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_DEBUGSITES_H
#define TILEC_TILE_DEBUGSITES_H

#include "tilec/Support/KernelInfo.h"
#include "tilec/Tile/TileOps.h"

namespace tilec::tile {

/// Attribute of tile.print and tile.assert: their number in the kernel.
inline constexpr llvm::StringLiteral siteAttr = "tile.site";

/// What the host must know of a tile.print or tile.assert.
DebugSite describeSite(mlir::Operation *op);

/// Numbers the sites of `kernel` in program order and describes them.
std::vector<DebugSite> numberSites(KernelOp kernel);

/// Whether the kernel prints or asserts.
bool hasSites(KernelOp kernel);

/// Bytes of shared memory through which the threads of a block agree on a record.
inline constexpr int64_t siteSharedBytes = 16;

} // namespace tilec::tile

#endif // TILEC_TILE_DEBUGSITES_H

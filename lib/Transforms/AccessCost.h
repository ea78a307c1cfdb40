//===- AccessCost.h - layouts that suit device memory ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a load or store of a tile would like its layout to be, and what another
// layout would cost it.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ACCESSCOST_H
#define TILEC_LIB_TRANSFORMS_ACCESSCOST_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Bytes of an element in memory.
int64_t storedBytes(mlir::Type element);

/// Of a tile, or a scalar.
int64_t bytesOfTile(mlir::Type type);

/// 32-bit registers of a thread that hold a tile of laid-out `type`; 0 for anything else.
int64_t registersOf(mlir::Type type);

/// A tile's way to memory: what load and store have in common.
struct TileAccess {
  mlir::RankedTensorType tile;
  tile::ArrayType array;
  /// Tile dims from the fastest in memory to the slowest.
  llvm::SmallVector<unsigned, 6> order;
  /// Elements along order[0] that one instruction may move: 1 where neighbours are
  /// not neighbours in memory, or 16-byte alignment is not known.
  int64_t maxVector = 1;
  /// Neighbours along order[0] are neighbours in memory.
  bool contiguous = false;

  /// Access of a load or store of a tile (not of a scalar).
  static std::optional<TileAccess> of(mlir::Operation *op);
};

/// 16 bytes a thread if there is enough for all threads, lanes along memory. Warps
/// go to dims not in `reducedDims` first, so that these are combined within warps.
Layout coalescedLayout(const TileAccess &access, unsigned numWarps,
                       llvm::ArrayRef<int64_t> reducedDims = {});

/// The same for a gather, scatter or atomic: along its runs, if it has any.
Layout indexedLayout(mlir::Operation *op, unsigned numWarps);

/// What the block's instructions ask of the memory system: sectors of 32 bytes, and
/// four times the lines of 128 bytes, summed over instructions.
int64_t accessCost(const TileAccess &access, const Layout &layout);

/// The layout serves the access about as well as its own choice would: at most
/// twice the cost, or the tile is so small that it does not matter.
bool suitsAccess(const TileAccess &access, const Layout &layout, unsigned numWarps);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ACCESSCOST_H

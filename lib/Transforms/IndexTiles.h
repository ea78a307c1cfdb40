//===- IndexTiles.h - tiles that each thread makes for itself ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Indices and masks of what is gathered asynchronously: who copies wants them as it copies,
// not as the kernel's other tiles lie. They are made again for it, from loads of arrays
// that nobody writes, counting and arithmetic on.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_INDEXTILES_H
#define TILEC_LIB_TRANSFORMS_INDEXTILES_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// Whether each thread can do its part of `op`, which makes a tile, in any layout of the
/// result, if it has its parts of the operands.
bool canRemake(mlir::Operation *op);

/// The same for all that `tile` is made of.
bool canRemake(mlir::Value tile);

/// Makes tiles again, each step beside its original.
class TileRemaker {
public:
  /// `tile`, of which canRemake holds, in `layout`.
  mlir::Value make(mlir::Value tile, const Layout &layout);

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made;
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_INDEXTILES_H

//===- Copies.h - the mark of tiles that the copy engine moves -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// SelectCopies marks loads and stores; AssignLayouts leaves marked ones alone, and
// StageRings and StageStores make copies of them.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_COPIES_H
#define TILEC_LIB_TRANSFORMS_COPIES_H

#include "mlir/IR/Operation.h"

namespace tilec {

/// On tile.load and tile.store: who moves the tile, "tma".
inline constexpr llvm::StringLiteral copyAttrName = "tile.copy";

inline bool isCopied(mlir::Operation *op) { return op->hasAttr(copyAttrName); }

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_COPIES_H

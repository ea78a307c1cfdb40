//===- Combiner.h - what a reduction makes of two values -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Sums, maxima and minima are reductions whose combiner is one operation.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_COMBINER_H
#define TILEC_LIB_TRANSFORMS_COMBINER_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// The operation that combines the elements of a reduction's only source, where it is one on
/// the two of them, in their order; null otherwise.
inline mlir::Operation *combiningOp(tile::ReduceOp reduce) {
  mlir::Block &body = reduce.getCombiner().front();
  mlir::Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  bool isWhole = op && reduce.getSources().size() == 1 &&
                 llvm::equal(op->getOperands(), body.getArguments());
  return isWhole ? op : nullptr;
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_COMBINER_H

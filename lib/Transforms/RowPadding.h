//===- RowPadding.h - what is computed behind the end of a row -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A tile is longer than the row that it holds. Behind the row every load gives its padding, and
// often all elements come to the same constant there: e^(-inf - max) is 0 in softmax, and so is
// what layernorm takes by a mask. A pass over the row that only reduces such values need not go
// there, as long as it starts with what they come to.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ROWPADDING_H
#define TILEC_LIB_TRANSFORMS_ROWPADDING_H

#include "RowKernel.h"

namespace tilec {

/// Elements at places that are outside of every array along the row.
class RowPadding {
public:
  explicit RowPadding(const RowKernel &row) : row(row) {}

  /// What all those elements of a tile of the row's length are; null where they are no constant
  /// that is known, but for being NaN where an element inside is.
  mlir::TypedAttr of(mlir::Value value);

  /// Whether `reduce` finds the place of a greatest or least element (ArgReductions.h), and one
  /// behind the row only where no element of the row is better.
  bool isFoundLast(tile::ReduceOp reduce);

private:
  mlir::TypedAttr compute(mlir::Operation *op);
  mlir::TypedAttr fold(mlir::Operation *op);
  bool isPosition(mlir::Value value);
  bool isLengthOfRow(mlir::Value value);
  bool isGreatest(mlir::Value value, mlir::Value of);

  const RowKernel &row;
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> known;
  llvm::DenseSet<mlir::Value> mayBeNaN; ///< instead, where an element inside is
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ROWPADDING_H

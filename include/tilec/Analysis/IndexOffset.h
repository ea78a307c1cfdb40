//===- IndexOffset.h - an index as a place and a constant ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   %i = arith.addi %row, 2        takeOffset(%i) = {%row, 2}
//   %c = arith.constant 5          takeOffset(%c) = {null, 5}
//
// Two indices of one base are apart by the difference of their offsets.
//===----------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_INDEXOFFSET_H
#define TILEC_ANALYSIS_INDEXOFFSET_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tilec {

struct OffsetIndex {
  mlir::Value base; ///< null: a constant
  int64_t offset;
};

inline OffsetIndex takeOffset(mlir::Value index) {
  OffsetIndex result{index, 0};
  llvm::APInt constant;
  while (auto sum = result.base.getDefiningOp<mlir::arith::AddIOp>()) {
    if (!mlir::matchPattern(sum.getRhs(), mlir::m_ConstantInt(&constant)))
      return result;
    result.base = sum.getLhs();
    result.offset += constant.getSExtValue();
  }
  if (mlir::matchPattern(result.base, mlir::m_ConstantInt(&constant)))
    return {mlir::Value(), result.offset + constant.getSExtValue()};
  return result;
}

} // namespace tilec

#endif // TILEC_ANALYSIS_INDEXOFFSET_H

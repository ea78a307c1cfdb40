//===- LoopSums.h - sums that loops carry --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// For passes that let the first iteration begin the sum, or the last one end it.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_LOOPSUMS_H
#define TILEC_LIB_TRANSFORMS_LOOPSUMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tilec {

/// i1: the loop runs at least once. Made outside of the loop.
inline mlir::Value emitHasIteration(mlir::OpBuilder &builder, mlir::scf::ForOp loop) {
  using mlir::arith::CmpIPredicate;
  return mlir::arith::CmpIOp::create(
      builder, loop.getLoc(), loop.getUnsignedCmp() ? CmpIPredicate::ult : CmpIPredicate::slt,
      loop.getLowerBound(), loop.getUpperBound());
}

/// Replaces the loop by what `emit` puts there where it has an iteration, and gives for its
/// results; without one they are what the loop begins with.
inline void replaceIfAny(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> emit) {
  auto branch =
      mlir::scf::IfOp::create(builder, loop.getLoc(), loop.getResultTypes(),
                              emitHasIteration(builder, loop), /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  mlir::scf::YieldOp::create(builder, loop.getLoc(), loop.getInitArgs());
  builder.setInsertionPointToStart(branch.thenBlock());
  mlir::scf::YieldOp::create(builder, loop.getLoc(), emit());
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

/// i1: this is not the first iteration. Made in the loop.
inline mlir::Value emitIsLater(mlir::OpBuilder &builder, mlir::scf::ForOp loop) {
  return mlir::arith::CmpIOp::create(builder, loop.getLoc(), mlir::arith::CmpIPredicate::ne,
                                     loop.getInductionVar(), loop.getLowerBound());
}

/// Whether a sum that begins with `value` may leave it out: all zeros, none of them -0.
inline bool isZero(mlir::Value value) {
  return mlir::matchPattern(value, mlir::m_PosZeroFloat()) ||
         mlir::matchPattern(value, mlir::m_Zero());
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_LOOPSUMS_H

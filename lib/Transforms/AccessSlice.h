//===- AccessSlice.h - what copies need of a kernel ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// A backward slice: operations that copy, the scalars that say where, the tiles of indices
// of what is gathered, and the control flow around them. SpecializeWarps makes the access
// part of it; SelectCopies asks beforehand whether it can.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ACCESSSLICE_H
#define TILEC_LIB_TRANSFORMS_ACCESSSLICE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace tilec {

/// The operations and values that `roots`, operations of one kernel, need.
class AccessSlice {
public:
  explicit AccessSlice(llvm::ArrayRef<mlir::Operation *> roots);

  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  bool contains(mlir::Value value) const { return values.contains(value); }
  /// The first operation that threads which only copy cannot do, or null.
  mlir::Operation *getObstacle() const { return obstacle; }

private:
  void needOperation(mlir::Operation *op, bool isRoot = false);
  void needValue(mlir::Value value);
  void visit(mlir::Value value);

  llvm::DenseSet<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> values;
  llvm::SmallVector<mlir::Value> waiting;
  mlir::Operation *obstacle = nullptr;
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ACCESSSLICE_H

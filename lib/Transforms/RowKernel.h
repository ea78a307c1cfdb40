//===- RowKernel.h - a kernel that takes a row a position -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Softmax and the normalisations: a position of the grid loads a row, reduces it, computes
// and stores. All that has as many elements as the row is loads and stores of arrays,
// elementwise work, positions, and what is the same for all elements; nothing that the kernel
// writes is loaded. So it does not matter in which order, or in how many parts, the elements
// are gone over: StreamRows takes such rows part by part, RotateRows turns them.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ROWKERNEL_H
#define TILEC_LIB_TRANSFORMS_ROWKERNEL_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// A kernel's row, and the pass over it in which each operation has what it needs: a reduction
/// that follows from another one is in a pass of its own.
class RowKernel {
public:
  explicit RowKernel(tile::KernelOp kernel);

  /// Whether it is such a kernel, and reduces; sets the passes.
  bool analyse();

  /// The dim of a row of `length` elements; nothing where the type is no such row.
  static std::optional<unsigned> longDim(mlir::Type type, int64_t length);

  /// Whether a dim of an array is known to be as large as one of another.
  bool areEqual(mlir::Value array, unsigned dim, mlir::Value other, unsigned otherDim) const;

  bool isLong(mlir::Value value) const;
  bool isLong(mlir::Operation *op) const;
  bool isSink(mlir::Operation *op) const;

  tile::KernelOp kernel;
  int64_t length = 0;
  unsigned numPasses = 0;
  /// Of sinks; of others, the first pass that may use them.
  llvm::DenseMap<mlir::Operation *, unsigned> passes;
  llvm::SmallVector<mlir::Operation *> sinks;

private:
  bool visit(mlir::Operation *op);
  bool isAllowedBeside(mlir::Operation *op);
  bool isOfRow(mlir::Operation *op);
  bool isOfRow(tile::ReduceOp reduce);
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ROWKERNEL_H

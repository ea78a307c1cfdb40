//===- RowParts.h - a row's operations, part by part ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What passes over parts of a row (StreamRows) are made of. The operations of a kernel of rows
// (RowKernel.h) are written anew on parts of the row, reductions one after the other as they
// follow from each other, and what the parts come to is combined element by element:
//
//   %m = reduce max %x        →        %m = reduce max (max(%x0, max(%x1, …)))
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ROWPARTS_H
#define TILEC_LIB_TRANSFORMS_ROWPARTS_H

#include "RowKernel.h"
#include "RowPadding.h"

#include "mlir/IR/Builders.h"

namespace tilec {

class RowParts {
public:
protected:
  RowParts(RowKernel &row, int64_t part)
      : row(row), part(part), builder(row.kernel.getContext()), padding(row) {}

  /// Writes all passes over the row, and takes away what they replace. `emitPass` writes what
  /// one pass reduces and stores, its argument, at the builder's place.
  void writePasses(llvm::function_ref<void(llvm::ArrayRef<mlir::Operation *> sinks)> emitPass);

  /// The type of a row with `size` elements instead.
  mlir::RankedTensorType rowType(mlir::Type type, int64_t size);
  mlir::RankedTensorType partType(mlir::Type type) { return rowType(type, part); }

  mlir::Value constant(mlir::Location loc, mlir::RankedTensorType type, mlir::TypedAttr element);
  mlir::Value index(int64_t value);

  /// What changes nothing of what `reduce` combines it with, where its combiner is one operation
  /// that has such a value; null otherwise.
  static mlir::TypedAttr neutralOf(tile::ReduceOp reduce);

  /// Whether parts behind the row may be left out of a pass with `sinks`.
  bool mayEndEarly(llvm::ArrayRef<mlir::Operation *> sinks);

  /// What is reduced so far, elementwise, with `more`.
  llvm::SmallVector<mlir::Value> combine(tile::ReduceOp reduce, mlir::ValueRange before,
                                         mlir::ValueRange more);

  /// Reduces what all parts come to instead of the row.
  void finish(tile::ReduceOp reduce, mlir::ValueRange combined);

  /// The part `number` of a value.
  mlir::Value partOf(mlir::Value value);
  llvm::SmallVector<mlir::Value> partsOf(mlir::ValueRange values);
  void emitStore(tile::StoreOp store);
  /// The number of the part's first element.
  mlir::Value firstOfPart(mlir::Location loc);

  RowKernel &row;
  int64_t part; ///< elements
  mlir::OpBuilder builder;
  RowPadding padding;
  mlir::Value numParts; ///< that the row has elements in; null: not known
  mlir::Value number;   ///< of the part at hand
  llvm::DenseMap<mlir::Value, mlir::Value> parts; ///< of values, that have been written
  /// Of reductions: what they come to behind the row, if combining with it again and again
  /// changes nothing.
  llvm::DenseMap<mlir::Operation *, mlir::TypedAttr> paddings;

private:
  llvm::DenseSet<mlir::Operation *> foundLast; ///< reductions to a place that is not behind the row
  void countParts();
  mlir::TypedAttr paddingOf(tile::ReduceOp reduce);
  llvm::SmallVector<mlir::Value> indexOfPart(mlir::Location loc, mlir::ValueRange index,
                                             unsigned dim, bool elements);
  mlir::Value emitPart(mlir::Operation *op, mlir::RankedTensorType type);
  mlir::Value emitPositions(mlir::Location loc, mlir::RankedTensorType type);
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ROWPARTS_H

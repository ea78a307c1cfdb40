//===- IndexFacts.h - what is known of indices and sizes -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: a kernel in stage `tile` or `laid-out`. Out: answers about its scalar integers:
// which power of two divides them, in which range they lie, and whether a tile
// cannot reach over an array's edge. Sources of knowledge:
//
//   constants, fixed dims, block numbers        what the operations say
//   tile.assume at the top of the kernel        `requires k % 64 == 0`, `requires n <= 4096`
//   dims of one name                            are equal, the launcher checks
//   loops and branches around the question      in `for i in 0..n`, i < n
//
// Nothing is assumed of the grid: a caller may give another than the kernel's own.
//===----------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_INDEXFACTS_H
#define TILEC_ANALYSIS_INDEXFACTS_H

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tilec {

/// A closed interval of 64-bit signed numbers.
struct IndexRange {
  int64_t min = INT64_MIN, max = INT64_MAX;

  bool isSingle() const { return min == max; }
  IndexRange join(IndexRange other) const {
    return {std::min(min, other.min), std::max(max, other.max)};
  }
  IndexRange meet(IndexRange other) const {
    return {std::max(min, other.min), std::min(max, other.max)};
  }
};

/// All numbers of an integer or index type, or of the elements of a tile, read as signed.
IndexRange typeRange(mlir::Type type);

/// Where the result of integer arithmetic lies when operand `i` lies in `of(i)`, of a
/// scalar or of each element of a tile; none if `op` is something else.
std::optional<IndexRange> rangeOfArithmetic(mlir::Operation *op,
                                            llvm::function_ref<IndexRange(unsigned)> of);

class IndexFacts {
public:
  explicit IndexFacts(tile::KernelOp kernel);

  /// The largest known power of two (at most 2^30) that divides the value; for a
  /// value that is zero, 2^30.
  int64_t multipleOf(mlir::Value value) const { return multipleOf(value, 0); }

  /// Where the value lies, as seen at `at` (whose surrounding conditions hold).
  IndexRange rangeOf(mlir::Value value, mlir::Operation *at) const {
    return rangeOf(value, at, 0);
  }

  /// No element of the tile (or the one element) that a load or store names is outside
  /// the array along tile dim `dim`.
  bool isInBounds(tile::LoadOp op, unsigned dim) const;
  bool isInBounds(tile::StoreOp op, unsigned dim) const;

  /// The largest known power of two that divides the number of the first element along
  /// tile dim `dim`.
  int64_t startMultiple(tile::LoadOp op, unsigned dim) const;
  int64_t startMultiple(tile::StoreOp op, unsigned dim) const;

  /// The largest known power of two that divides dim `dim` of an array.
  int64_t dimMultiple(mlir::Value array, unsigned dim) const;
  /// Where the size of dim `dim` of an array lies.
  IndexRange rangeOfDim(mlir::Value array, unsigned dim) const {
    return rangeOfDim(Dim{array, dim});
  }

private:
  /// What stands for a number: the value, or the name of a dim.
  using Key = const void *;
  struct Comparison {
    mlir::arith::CmpIPredicate predicate;
    mlir::Value lhs, rhs;
  };
  struct Dim {
    mlir::Value array;
    unsigned number;
  };
  static constexpr unsigned maxDepth = 12;

  Key keyOf(mlir::Value value) const;
  Key keyOf(Dim dim) const;
  Key canonical(Key key) const;
  void limitDims();
  void learn(mlir::Value condition, bool holds);
  void learn(const Comparison &comparison);
  llvm::SmallVector<Comparison> conditionsAt(mlir::Operation *at) const;

  int64_t multipleOf(mlir::Value value, unsigned depth) const;
  IndexRange rangeOf(mlir::Value value, mlir::Operation *at, unsigned depth) const;
  IndexRange rangeOfResult(mlir::Operation *op, mlir::Operation *at, unsigned depth) const;
  IndexRange rangeOfArgument(mlir::BlockArgument argument, mlir::Operation *at,
                             unsigned depth) const;
  IndexRange rangeOfDim(Dim dim) const;
  std::optional<int64_t> staticSize(Dim dim) const;

  /// Values that `value` is known to be smaller than.
  llvm::SmallVector<mlir::Value> limitsOf(mlir::Value value, mlir::Operation *at) const;
  /// limit * tileSize <= dim?
  bool fits(mlir::Value limit, int64_t tileSize, Dim dim, mlir::Operation *at) const;
  template <typename Op> bool isInBoundsImpl(Op op, mlir::Type tile, unsigned dim) const;
  template <typename Op> int64_t startMultipleImpl(Op op, mlir::Type tile, unsigned dim) const;

  mutable tile::KernelOp kernel;
  llvm::DenseMap<Key, int64_t> multiples;
  llvm::DenseMap<Key, IndexRange> ranges;
  llvm::DenseMap<Key, Key> equals;
};

} // namespace tilec

#endif // TILEC_ANALYSIS_INDEXFACTS_H

//===- IndexTileFacts.h - what is known of tiles of indices ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: a kernel in stage `tile` or `laid-out`. Out: answers about the tiles by which
// gather, scatter and atomics name elements of arrays:
//
//   gather(table, [rows[:, None], arange(256)])
//
// does not leave `table` along its second dim if that has 256 columns or more, and
// moves runs of 16 bytes: along the tile's last dim the row is the same and the column
// counts up from a multiple of 8.
//===----------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_INDEXTILEFACTS_H
#define TILEC_ANALYSIS_INDEXTILEFACTS_H

#include "tilec/Analysis/IndexFacts.h"

namespace tilec {

/// The one element of a constant tile or scalar of integers whose elements are equal.
std::optional<int64_t> splatConstant(mlir::Value value);

class IndexTileFacts {
public:
  explicit IndexTileFacts(const IndexFacts &facts) : facts(facts) {}

  /// Where the elements of an integer tile or scalar lie, as seen at `at`.
  IndexRange rangeOf(mlir::Value value, mlir::Operation *at) const {
    return rangeOf(value, at, 0);
  }

  /// No element of `index` is outside dim `dim` of `array`.
  bool isInBounds(mlir::Value array, unsigned dim, mlir::Value index,
                  mlir::Operation *at) const;

  /// A dim of the tile and how many elements along it one access may move.
  struct Run {
    unsigned dim = 0;
    int64_t length = 1;
  };
  /// The longest run of at most 16 bytes of an access by index (TileMemoryOps.td says
  /// what a run is). `lastInBounds`: the index of the last dim is not outside.
  Run findRun(mlir::Value array, mlir::ValueRange index, mlir::Value mask,
              bool lastInBounds) const;

  /// A comparison that comes out the same for all elements of an aligned group of
  /// `length` along `dim`: of places that count up with a limit, both from multiples.
  bool isEvenComparison(mlir::arith::CmpIOp op, unsigned dim, int64_t length,
                        unsigned depth = 0) const;

private:
  static constexpr unsigned maxDepth = 16;

  IndexRange rangeOf(mlir::Value value, mlir::Operation *at, unsigned depth) const;
  /// Along `dim`, aligned groups of `length` elements are equal.
  bool isConstant(mlir::Value tile, unsigned dim, int64_t length, unsigned depth = 0) const;
  /// They count up by one from a multiple of `length`.
  bool isCounting(mlir::Value tile, unsigned dim, int64_t length, unsigned depth = 0) const;
  /// All elements are multiples of `length`.
  bool isMultiple(mlir::Value tile, int64_t length, unsigned depth = 0) const;

  const IndexFacts &facts;
};

} // namespace tilec

#endif // TILEC_ANALYSIS_INDEXTILEFACTS_H

//===- Span.h - subspaces of GF(2)^64 ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A vector over GF(2) is the bits of one uint64_t, addition is XOR. A Span is a
// subspace that grows one vector at a time. It keeps an echelon form (one row
// per leading bit) and, with each row, which of the added vectors were XORed to
// make it; so it answers not only "does v lie in the span" but "of which added
// vectors is v the sum", and that is all of linear algebra that layouts need:
// rank, inverse, kernel, intersection and complement are short loops over it.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LAYOUT_SPAN_H
#define TILEC_LAYOUT_SPAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tilec {

class Span {
public:
  Span() = default;
  explicit Span(llvm::ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      add(vector);
  }

  /// Adds a vector (at most 64 in all); true when it was not in the span yet.
  bool add(uint64_t vector);

  bool contains(uint64_t vector) const { return !reduce(vector).vector; }

  /// The vectors to add up to get `vector`: bit i stands for the i-th added
  /// one. Vectors that were already in the span when added never take part.
  std::optional<uint64_t> solve(uint64_t vector) const;

  /// What is left of `vector` after subtracting rows: zero when contained,
  /// and the same for any two vectors that differ by a member.
  uint64_t remainder(uint64_t vector) const { return reduce(vector).vector; }

  unsigned dimension() const { return rows.size(); }
  unsigned numAdded() const { return added; }

  /// A basis of the vectors that lie in both.
  static llvm::SmallVector<uint64_t> intersect(llvm::ArrayRef<uint64_t> a,
                                               llvm::ArrayRef<uint64_t> b);

private:
  struct Row {
    uint64_t vector = 0;
    uint64_t combination = 0;
  };
  Row reduce(uint64_t vector) const;

  llvm::SmallVector<Row, 16> rows;
  unsigned added = 0;
};

} // namespace tilec

#endif // TILEC_LAYOUT_SPAN_H

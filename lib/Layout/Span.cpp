//===- Span.cpp - subspaces of GF(2)^64 -------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gaussian elimination, one vector at a time. Rows are kept fully reduced: the
// leading bit of a row is clear in every other row, so that the remainder of a
// vector does not depend on the order in which rows are subtracted.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Span.h"
#include "llvm/ADT/bit.h"
#include <cassert>

using namespace tilec;

static uint64_t leadingBit(uint64_t vector) { return llvm::bit_floor(vector); }

Span::Row Span::reduce(uint64_t vector) const {
  Row result{vector, 0};
  for (const Row &row : rows) {
    if (result.vector & leadingBit(row.vector)) {
      result.vector ^= row.vector;
      result.combination ^= row.combination;
    }
  }
  return result;
}

bool Span::add(uint64_t vector) {
  assert(added < 64 && "combinations are kept in 64 bits");
  Row row = reduce(vector);
  row.combination ^= uint64_t(1) << added++;
  if (!row.vector)
    return false;
  for (Row &other : rows) {
    if (other.vector & leadingBit(row.vector)) {
      other.vector ^= row.vector;
      other.combination ^= row.combination;
    }
  }
  rows.push_back(row);
  return true;
}

std::optional<uint64_t> Span::solve(uint64_t vector) const {
  Row rest = reduce(vector);
  if (rest.vector)
    return std::nullopt;
  return rest.combination;
}

llvm::SmallVector<uint64_t> Span::intersect(llvm::ArrayRef<uint64_t> a,
                                            llvm::ArrayRef<uint64_t> b) {
  // A sum of a's that is also a sum of b's shows up as a dependency when both are
  // added to one span; b must be independent for the dependency to be about a.
  Span both;
  llvm::SmallVector<uint64_t> independent;
  for (uint64_t vector : a)
    if (both.add(vector))
      independent.push_back(vector);
  Span ofB;
  llvm::SmallVector<uint64_t> common;
  unsigned numA = a.size();
  for (uint64_t vector : b) {
    if (!ofB.add(vector))
      continue;
    std::optional<uint64_t> sum = both.solve(vector);
    both.add(vector);
    if (!sum)
      continue;
    uint64_t member = 0;
    for (unsigned i = 0; i < numA; ++i)
      if (*sum >> i & 1)
        member ^= a[i];
    common.push_back(member);
  }
  return common;
}

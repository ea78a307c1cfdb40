//===- Numbers.h - the values that inputs have ---------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// An element's value depends on seed and index only, so a reference computes any input
// again without keeping it. Floats are N(0, 1): one of 65 536 quantiles of the normal
// distribution, rounded to the dtype. Integers are uniform in -8 … 8.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_NUMBERS_H
#define TILEC_TOOLS_TILEBENCH_NUMBERS_H

#include "tilec/Support/DType.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilec::bench {

class Numbers {
public:
  Numbers(DType dtype, uint64_t seed);

  double at(int64_t index) const { return values[choice(index)]; }
  /// The elements from `first` on, as they lie in memory.
  void fill(std::byte *to, int64_t first, int64_t count) const;
  /// All of the first `count`, by many threads.
  void fillAll(std::byte *to, int64_t count) const;

  DType getType() const { return dtype; }

private:
  size_t choice(int64_t index) const;

  DType dtype;
  uint64_t seed;
  std::vector<double> values;  // of each choice, after rounding
  std::vector<uint64_t> words; // how each is stored
};

/// The value of one stored element.
double elementValue(DType dtype, const std::byte *at);

/// x with a share `p` (0 < p < 1) of the normal distribution below it.
double normalQuantile(double p);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_NUMBERS_H

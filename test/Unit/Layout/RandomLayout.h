//===- RandomLayout.h - layouts for property tests --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random surjective layouts, from tame (bits dealt out in random order) to wild
// (bases mixed by random sums, copies that are sums of other bits).
//===----------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H
#define TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H

#include "tilec/Layout/Layout.h"
#include <algorithm>
#include <random>

namespace tilec::test {

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  /// 0 … bound - 1.
  uint64_t below(uint64_t bound) { return engine() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }

  Layout::Shape shape(unsigned maxRank, unsigned maxBits) {
    Layout::Shape shape(below(maxRank + 1), 1);
    for (unsigned bits = shape.empty() ? 0 : below(maxBits + 1); bits > 0; --bits)
      shape[below(shape.size())] *= 2;
    return shape;
  }

  /// A layout over `laneBits` and `warpBits`, with registers as needed.
  Layout layout(llvm::ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits) {
    Layout result(shape);
    unsigned numBits = result.numOutputBits();
    std::vector<uint64_t> bases;
    for (unsigned bit = 0; bit < numBits; ++bit)
      bases.push_back(uint64_t(1) << bit);
    std::shuffle(bases.begin(), bases.end(), engine);
    bool wild = chance(50);
    if (wild)
      for (unsigned i = 0; i < 2 * numBits; ++i)
        mix(bases);
    unsigned next = 0;
    auto deal = [&](Input input, unsigned count, unsigned emptyPercent) {
      for (unsigned i = 0; i < count; ++i) {
        bool copy = next == bases.size() || chance(emptyPercent);
        result.addFlat(input, copy ? (wild && chance(30) ? sum(bases, next) : 0) : bases[next++]);
      }
    };
    deal(Input::Lane, laneBits, chance(30) ? 40 : 0);
    deal(Input::Warp, warpBits, chance(30) ? 40 : 0);
    while (next < bases.size() || chance(10))
      deal(Input::Register, 1, 5);
    return result;
  }

private:
  void mix(std::vector<uint64_t> &bases) {
    if (bases.size() < 2)
      return;
    uint64_t a = below(bases.size()), b = below(bases.size());
    if (a != b)
      bases[a] ^= bases[b];
  }
  uint64_t sum(const std::vector<uint64_t> &bases, unsigned count) {
    uint64_t result = 0;
    for (unsigned i = 0; i < count; ++i)
      if (chance(50))
        result ^= bases[i];
    return result;
  }

  std::mt19937 engine;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H

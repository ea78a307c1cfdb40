//===- ServingExamplesTest.cpp - examples around the products of models --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The loss of a large vocabulary, group norm, narrow numbers with scales, tokens by chance, a pass of a radix
// sort, and sums of runs, against references in double.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

#include <algorithm>

using namespace tilec;
using namespace tilec::test;

namespace {

class ServingTypes : public ::testing::TestWithParam<DType> {};

TEST_P(ServingTypes, LossOfScoresThatAreNotStored) {
  DType dtype = GetParam();
  struct Size { int64_t m, v, k, bm; const char *chip; };
  for (auto [m, v, k, bm, chip] : {Size{1, 1, 1, 16, "sm_80"}, {37, 75, 40, 16, "sm_80"}, {70, 150, 72, 64, "sm_90a"}}) {
    if (!isCovered(dtype, bm))
      continue;
    Case test{"linear_cross_entropy", "linear_cross_entropy", {define("T", dtype), define("BM", bm), define("BN", 64), define("BK", 32)},
              {}, {}, false, {}, 1e-5, chip};
    HostArray x = HostArray::random(dtype, {m, k}, 1), w = HostArray::random(dtype, {v, k}, 2), target(DType::I64, {m});
    for (int64_t i = 0; i < m; ++i) {
      target.set(size_t(i), i % 7 == 3 ? -100.0 : double(i * 31 % v));
      std::vector<double> scores;
      for (int64_t j = 0; j < v; ++j) {
        scores.push_back(0);
        for (int64_t q = 0; q < k; ++q)
          scores.back() += x.at(size_t(i * k + q)) * w.at(size_t(j * k + q));
      }
      double top = *std::max_element(scores.begin(), scores.end()), total = 0;
      for (double score : scores)
        total += std::exp(score - top);
      test.expected.push_back(i % 7 == 3 ? 0 : top + std::log(total) - scores[size_t(i * 31 % v)]);
    }
    test.arrays = {x, w, target, HostArray::poisoned(DType::F32, {m})};
    check(test, /*allWarps=*/m == 37);
  }
}

TEST_P(ServingTypes, GroupNorm) {
  DType dtype = GetParam();
  constexpr int64_t n = 2, c = 6, group = 2;
  for (int64_t pixels : {1, 64, 150}) {
    Case test{"groupnorm", "groupnorm", {define("T", dtype), define("C", group), define("BLOCK", 64)}, {}, {ScalarArg::f32(1e-5f)}, false, {},
              std::max(2 * epsilon(dtype), 1e-5)};
    HostArray x = HostArray::random(dtype, {n, c, pixels}, 1), weight = HostArray::random(DType::F32, {c}, 2), bias = HostArray::random(DType::F32, {c}, 3);
    int64_t count = group * pixels;
    for (int64_t g = 0; g < n * c / group; ++g) {
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < count; ++i)
        mean += x.at(size_t(g * count + i)) / double(count);
      for (int64_t i = 0; i < count; ++i)
        variance += std::pow(x.at(size_t(g * count + i)) - mean, 2) / double(count);
      for (int64_t i = 0; i < count; ++i) {
        size_t channel = size_t((g * group + i / pixels) % c);
        test.expected.push_back((x.at(size_t(g * count + i)) - mean) / std::sqrt(variance + 1e-5) * weight.at(channel) + bias.at(channel));
      }
    }
    test.arrays = {x, weight, bias, HostArray::poisoned(dtype, {n, c, pixels})};
    check(test, /*allWarps=*/pixels == 150);
  }
}

/// Values that are multiples of a power of two, and in each group its 448 or 127: scales are
/// exact, and so are the quotients.
TEST_P(ServingTypes, NarrowNumbersWithScales) {
  DType dtype = GetParam();
  for (auto [m, k] : {std::pair<int64_t, int64_t>{1, 1}, {5, 64}, {19, 150}}) {
    int64_t steps = (k + 63) / 64;
    Case test{"quantize", "quantize_f8", {define("T", dtype), define("G", 64), define("ROWS", 8)}, {}, {}, false, {}, 0};
    Case whole{"quantize", "quantize_i8", {define("T", dtype), define("COLS", 256)}, {}, {}, false, {}, 0};
    test.outputs = whole.outputs = 2;
    HostArray x(dtype, {m, k}), y = x;
    test.expected.resize(size_t(m * k + steps * m));
    whole.expected.resize(size_t(m * k + m));
    for (int64_t i = 0; i < m * k; ++i) {
      int64_t row = i / k, column = i % k;
      double scale = std::ldexp(1.0, int((row + column / 64) % 5) - 3), ofRow = std::ldexp(1.0, int(row % 4) - 2);
      double narrow = column % 64 == 0 ? -448 : double(i * 7 % 16); // e4m3 has all of 0 to 16
      double number = column == 0 ? 127 : double(i * 37 % 255) - 127;
      x.set(size_t(i), narrow * scale);
      y.set(size_t(i), number * ofRow);
      test.expected[size_t(i)] = narrow;
      test.expected[size_t(m * k + column / 64 * m + row)] = scale;
      whole.expected[size_t(i)] = number;
      whole.expected[size_t(m * k + row)] = ofRow;
    }
    test.arrays = {x, HostArray::poisoned(DType::F8E4M3, {m, k}), HostArray::poisoned(DType::F32, {steps, m})};
    whole.arrays = {y, HostArray::poisoned(DType::I8, {m, k}), HostArray::poisoned(DType::F32, {m})};
    check(test, /*allWarps=*/m == 19);
    check(whole, /*allWarps=*/m == 19);
  }
}

INSTANTIATE_TEST_SUITE_P(ServingExamples, ServingTypes, ::testing::Values(DType::F32, DType::F16, DType::BF16));

/// Rows of logits whose tokens have the probabilities 1/2, 1/4, 1/8, …, of which 0.8 leaves three.
TEST(Sample, TokensOfTheNucleus) {
  constexpr int64_t rows = 40, cols = 20;
  Case test{"sample", "sample", {define("COLS", 32)}, {}, {ScalarArg::f32(0.8f), ScalarArg::f32(2), ScalarArg::integer(DType::Int, 11)}, false, {}, 0};
  HostArray logits(DType::F32, {rows, cols});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j)
      logits.set(size_t(i * cols + (j * 7 + i) % cols), -double(j) * 2 * std::log(2.0)); // token j * 7 + i has 2^-(j + 1)
    double total = 0.5 + 0.25 + 0.125, norm = 1 - std::ldexp(1.0, -cols);
    double chance = double(philox(11, uint64_t(i))[0] >> 8) / 0x1p24 * total / norm;
    int64_t place = chance < 0.5 / norm ? 0 : chance < 0.75 / norm ? 1 : 2;
    test.expected.push_back(double((place * 7 + i) % cols));
  }
  test.arrays = {logits, HostArray::poisoned(DType::I32, {rows})};
  check(test);
}

TEST(RadixSort, FourBitsOfAPass) {
  for (int64_t n : {1, 64, 150}) {
    int64_t blocks = (n + 63) / 64;
    constexpr uint32_t shift = 8;
    HostArray keys(DType::U32, {n}), begins(DType::I32, {16, blocks});
    std::vector<uint32_t> values;
    for (int64_t i = 0; i < n; ++i) {
      values.push_back(uint32_t(i) * 2654435761u);
      keys.set(size_t(i), values.back());
    }
    auto digit = [](uint32_t key) { return key >> shift & 15; };
    std::vector<double> counts(size_t(16 * blocks));
    for (int64_t i = 0; i < n; ++i)
      ++counts[digit(values[size_t(i)]) * size_t(blocks) + size_t(i) / 64];
    double before = 0;
    for (size_t i = 0; i < counts.size(); before += counts[i++])
      begins.set(i, before);
    Case count{"radix_sort", "radix_count", {define("BLOCK", 64)}, {keys, HostArray::poisoned(DType::I32, {16, blocks})},
               {ScalarArg::integer(DType::U32, shift)}, false, counts, 0};
    check(count, /*allWarps=*/n == 150);
    std::stable_sort(values.begin(), values.end(), [&](uint32_t a, uint32_t b) { return digit(a) < digit(b); });
    Case scatter{"radix_sort", "radix_scatter", {define("BLOCK", 64)}, {keys, begins, HostArray::poisoned(DType::U32, {n})},
                 {ScalarArg::integer(DType::U32, shift)}, false, {values.begin(), values.end()}, 0};
    check(scatter, /*allWarps=*/n == 150);
  }
}

/// Small whole numbers: sums are exact in any order. Some ids name no segment.
TEST(SegmentSum, RunsOfEqualIds) {
  constexpr int64_t segments = 9;
  for (int64_t n : {1, 64, 300}) {
    Case test{"segment_sum", "segment_sum", {define("BLOCK", 64)}, {}, {}, false, std::vector<double>(segments), 0};
    HostArray ids(DType::I32, {n}), x(DType::F32, {n}), y(DType::F32, {segments});
    for (int64_t i = 0; i < n; ++i) {
      int64_t id = i * i * 12 / (n * n) - 1; // -1 … 10, longer runs first
      ids.set(size_t(i), double(id));
      x.set(size_t(i), double(i % 13) - 5);
      if (id >= 0 && id < segments)
        test.expected[size_t(id)] += x.at(size_t(i));
    }
    test.arrays = {ids, x, y};
    check(test, /*allWarps=*/n == 300);
  }
}

} // namespace

//===- ModelExamplesTest.cpp - examples between the products of models --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Rotary positions of halves and of neighbours, a selective scan over chunks of a sequence, and a product of
// 8-bit floats that have scales, against references in double.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class Dtypes : public ::testing::TestWithParam<DType> {};

TEST_P(Dtypes, RopeTurnsHalvesInPlace) {
  constexpr int64_t positions[] = {0, 1, 77, 1000}, tokens = std::size(positions), d = 32;
  DType dtype = GetParam();
  for (int64_t heads : {1, 5, 8}) {
    Case test{"rope", "rope", {define("T", dtype), define("D", d), define("H", 4)}, {}, {ScalarArg::f32(10000.0f)}, false, {}, 0};
    test.tolerance = std::max(2 * epsilon(dtype), 5e-4); // of the angle, in f32
    test.arrays = {HostArray(DType::I32, {tokens}), HostArray::random(dtype, {tokens, heads, d}, 1)};
    for (int64_t t = 0; t < tokens; ++t)
      test.arrays[0].set(t, double(positions[t]));
    for (int64_t i = 0; i < tokens * heads; ++i)
      for (int64_t j = 0; j < d; ++j) {
        double angle = double(positions[i / heads]) * std::pow(10000.0, -2.0 * double(j % (d / 2)) / d);
        double a = test.arrays[1].at(i * d + j % (d / 2)), b = test.arrays[1].at(i * d + j % (d / 2) + d / 2);
        test.expected.push_back(j < d / 2 ? a * std::cos(angle) - b * std::sin(angle) : a * std::sin(angle) + b * std::cos(angle));
      }
    check(test, /*allWarps=*/heads == 5);
  }
}

TEST_P(Dtypes, RopeTurnsNeighbours) {
  DType dtype = GetParam();
  for (auto [t, d] : {std::pair<int64_t, int64_t>{1, 2}, {37, 64}}) {
    constexpr int64_t heads = 3;
    Case test{"rope", "rope_pairs", {define("T", dtype), define("D", d), define("ROWS", 8)}, {}, {}, false, {}, 2 * epsilon(dtype)};
    test.arrays = {HostArray::random(dtype, {1, heads, t, d}, 1), HostArray::random(DType::F32, {t, d / 2}, 2),
                   HostArray::random(DType::F32, {t, d / 2}, 3), HostArray::poisoned(dtype, {1, heads, t, d})};
    for (int64_t i = 0; i < heads * t * d; ++i) {
      double re = test.arrays[0].at(i / 2 * 2), im = test.arrays[0].at(i / 2 * 2 + 1);
      double c = test.arrays[1].at(i / 2 % (t * d / 2)), s = test.arrays[2].at(i / 2 % (t * d / 2));
      test.expected.push_back(i % 2 ? re * s + im * c : re * c - im * s);
    }
    check(test, /*allWarps=*/t == 37);
  }
}

TEST_P(Dtypes, SelectiveScanCarriesStatesOverChunks) {
  constexpr int64_t batch = 2, channels = 3, states = 4;
  DType dtype = GetParam();
  for (int64_t length : {1, 15, 16, 17, 70}) {
    Case test{"selective_scan", "selective_scan", {define("T", dtype), define("N", states), define("L", 16)}, {}, {}, false, {}, 0};
    test.tolerance = std::max(2 * epsilon(dtype), 2e-6);
    HostArray x = HostArray::random(dtype, {batch, channels, length}, 1), step = HostArray::random(dtype, {batch, channels, length}, 2),
              rate = HostArray::random(DType::F32, {channels, states}, 3), b = HostArray::random(dtype, {batch, length, states}, 4),
              c = HostArray::random(dtype, {batch, length, states}, 5);
    for (size_t i = 0; i < step.size(); ++i)
      step.set(i, std::fabs(step.at(i)));
    for (size_t i = 0; i < rate.size(); ++i)
      rate.set(i, -std::fabs(rate.at(i)));
    for (int64_t i = 0; i < batch * channels; ++i) {
      double h[states] = {};
      for (int64_t t = 0; t < length; ++t) {
        double sum = 0;
        for (int64_t s = 0; s < states; ++s) {
          int64_t at = (i / channels * length + t) * states + s;
          h[s] = std::exp(step.at(i * length + t) * rate.at(i % channels * states + s)) * h[s] +
                 step.at(i * length + t) * x.at(i * length + t) * b.at(at);
          sum += c.at(at) * h[s];
        }
        test.expected.push_back(sum);
      }
    }
    test.arrays = {x, step, rate, b, c, HostArray::poisoned(dtype, {batch, channels, length})};
    check(test, /*allWarps=*/length == 70);
  }
}

INSTANTIATE_TEST_SUITE_P(ModelExamples, Dtypes, ::testing::Values(DType::F32, DType::F16, DType::BF16));

/// Values and scales are powers of two or small whole numbers: sums are exact, and the
/// result is rounded once.
TEST(MatmulF8Scaled, ScalesOfRowsAndBlocks) {
  struct Size { int64_t m, n, k; const char *chip; };
  for (Size size : {Size{1, 1, 1, "sm_80"}, {33, 136, 200, "sm_80"}, {70, 208, 304, "sm_90a"}}) {
    auto [m, n, k, chip] = size;
    int64_t steps = (k + 127) / 128, blocks = (n + 127) / 128;
    Case test{"matmul_f8_scaled", "matmul_f8_scaled", {define("BM", 64), define("BN", 64)}, {}, {}, false, {}, 2 * epsilon(DType::BF16), chip};
    HostArray a(DType::F8E4M3, {m, k}), b(DType::F8E4M3, {n, k}), rows(DType::F32, {steps, m}), blockScales(DType::F32, {blocks, steps});
    for (size_t i = 0; i < a.size(); ++i)
      a.set(i, double(int64_t(i * 7 + i / 5) % 7) - 3);
    for (size_t i = 0; i < b.size(); ++i)
      b.set(i, double(int64_t(i * 5 + i / 3) % 7) - 3);
    for (size_t i = 0; i < rows.size(); ++i)
      rows.set(i, std::ldexp(1.0, int(i % 5) - 2));
    for (size_t i = 0; i < blockScales.size(); ++i)
      blockScales.set(i, std::ldexp(1.0, int(i % 3)));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < k; ++q)
          sum += a.at(i * k + q) * b.at(j * k + q) * rows.at(q / 128 * m + i) * blockScales.at(j / 128 * steps + q / 128);
        test.expected.push_back(sum);
      }
    test.arrays = {a, b, rows, blockScales, HostArray::poisoned(DType::BF16, {m, n})};
    check(test, /*allWarps=*/m == 1);
  }
}

} // namespace

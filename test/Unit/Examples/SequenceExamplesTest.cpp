//===- SequenceExamplesTest.cpp - examples over sequences of tokens -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// States that run along a sequence in chunks (linear attention, Mamba 2), attention of sequences that lie
// one after the other, and keys that are written to pages, against references in double.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class SequenceTypes : public ::testing::TestWithParam<DType> {};

TEST_P(SequenceTypes, LinearAttentionCarriesItsState) {
  DType dtype = GetParam();
  struct Size { int64_t n, d, l; const char *chip; };
  for (auto [n, d, l, chip] : {Size{1, 16, 16, "sm_80"}, {37, 16, 16, "sm_80"}, {130, 64, 64, "sm_90a"}}) {
    constexpr int64_t heads = 2;
    if (!isCovered(dtype, l))
      continue;
    Case test{"linear_attention", "linear_attention", {define("T", dtype), define("D", d), define("L", l)}, {}, {}, false, {},
              std::max(12 * epsilon(dtype), 1e-4), chip};
    HostArray q = HostArray::random(dtype, {heads, n, d}, 1), k = HostArray::random(dtype, {heads, n, d}, 2),
              v = HostArray::random(dtype, {heads, n, d}, 3), decay(DType::F32, {heads});
    decay.set(0, 0.75);
    decay.set(1, 0.96875);
    for (size_t i = 0; i < q.size(); ++i) // scores as large as those of one number
      q.set(i, q.at(i) / double(d));
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> state(size_t(d * d));
      for (int64_t t = 0; t < n; ++t)
        for (int64_t j = 0; j < d; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < d; ++i) {
            double &s = state[size_t(i * d + j)];
            s = s * decay.at(size_t(h)) + k.at(size_t((h * n + t) * d + i)) * v.at(size_t((h * n + t) * d + j));
            sum += q.at(size_t((h * n + t) * d + i)) * s;
          }
          test.expected.push_back(sum);
        }
    }
    test.arrays = {q, k, v, decay, HostArray::poisoned(dtype, {heads, n, d})};
    check(test, /*allWarps=*/n == 37);
  }
}

TEST_P(SequenceTypes, Mamba2CarriesItsState) {
  DType dtype = GetParam();
  struct Size { int64_t t, n, p, l; const char *chip; };
  for (auto [t, n, p, l, chip] : {Size{1, 16, 16, 16, "sm_80"}, {41, 16, 32, 16, "sm_80"}, {100, 64, 64, 64, "sm_90a"}}) {
    constexpr int64_t heads = 2;
    if (!isCovered(dtype, l))
      continue;
    Case test{"mamba2", "mamba2", {define("T", dtype), define("N", n), define("P", p), define("L", l)}, {}, {}, false, {},
              std::max(12 * epsilon(dtype), 1e-4), chip};
    HostArray x = HostArray::random(dtype, {t, heads, p}, 1), steps = HostArray::random(DType::F32, {heads, t}, 2),
              rate(DType::F32, {heads}), b = HostArray::random(dtype, {t, n}, 3), c = HostArray::random(dtype, {t, n}, 4);
    rate.set(0, -0.5);
    rate.set(1, -2);
    for (size_t i = 0; i < steps.size(); ++i)
      steps.set(i, std::fabs(steps.at(i)));
    for (size_t i = 0; i < c.size(); ++i)
      c.set(i, c.at(i) / double(n));
    test.expected.resize(size_t(t * heads * p));
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> state(size_t(n * p));
      for (int64_t i = 0; i < t; ++i) {
        double step = steps.at(size_t(h * t + i)), left = std::exp(step * rate.at(size_t(h)));
        for (int64_t j = 0; j < p; ++j) {
          double sum = 0, input = x.at(size_t((i * heads + h) * p + j));
          for (int64_t s = 0; s < n; ++s) {
            double &value = state[size_t(s * p + j)];
            value = left * value + step * b.at(size_t(i * n + s)) * input;
            sum += c.at(size_t(i * n + s)) * value;
          }
          test.expected[size_t((i * heads + h) * p + j)] = sum;
        }
      }
    }
    test.arrays = {x, steps, rate, b, c, HostArray::poisoned(dtype, {t, heads, p})};
    check(test, /*allWarps=*/t == 41);
  }
}

/// What attention of one sequence is expected to give: causal, of the last tokens only, with slopes.
std::vector<double> attend(const std::vector<HostArray> &in, std::pair<int64_t, int64_t> tokens, int64_t h, double scale, int64_t window) {
  auto [begin, end] = tokens;
  int64_t heads = in[0].dims[1], d = in[0].dims[2];
  auto at = [&](const HostArray &array, int64_t t, int64_t i) { return array.at(size_t((t * heads + h) * d + i)); };
  std::vector<double> result;
  for (int64_t t = begin; t < end; ++t) {
    double total = 0;
    std::vector<double> sum(static_cast<size_t>(d));
    for (int64_t s = std::max(begin, t - window); s <= t; ++s) {
      double score = -in[4].at(size_t(h)) * double(t - s);
      for (int64_t i = 0; i < d; ++i)
        score += scale * at(in[0], t, i) * at(in[1], s, i);
      total += std::exp(score);
      for (int64_t i = 0; i < d; ++i)
        sum[size_t(i)] += std::exp(score) * at(in[2], s, i);
    }
    for (double value : sum)
      result.push_back(value / total);
  }
  return result;
}

TEST_P(SequenceTypes, AttentionOfSequencesOneAfterTheOther) {
  DType dtype = GetParam();
  struct Size { int64_t d, tile, window; const char *chip; };
  constexpr int64_t starts[] = {0, 37, 37, 101, 104}, heads = 2, tokens = 104;
  for (auto [d, tile, window, chip] : {Size{16, 16, 20, "sm_80"}, {16, 32, 0, "sm_80"}, {64, 64, 1000, "sm_90a"}}) {
    if (!isCovered(dtype, tile))
      continue;
    Case test{"attention_varlen", "attention_varlen", {define("T", dtype), define("D", d), define("BM", tile), define("BN", tile)}, {},
              {ScalarArg::f32(0.25f), ScalarArg::integer(DType::Int, window), ScalarArg::integer(DType::Int, 64)}, false, {}, std::max(4 * epsilon(dtype), 1e-5), chip};
    test.arrays = {HostArray::random(dtype, {tokens, heads, d}, 1), HostArray::random(dtype, {tokens, heads, d}, 2),
                   HostArray::random(dtype, {tokens, heads, d}, 3), HostArray(DType::I32, {std::size(starts)}), HostArray(DType::F32, {heads}),
                   HostArray::poisoned(dtype, {tokens, heads, d})};
    for (size_t i = 0; i < std::size(starts); ++i)
      test.arrays[3].set(i, double(starts[i]));
    test.arrays[4].set(0, 0.5);
    test.expected.resize(size_t(tokens * heads * d));
    for (size_t i = 0; i + 1 < std::size(starts); ++i)
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<double> values = attend(test.arrays, {starts[i], starts[i + 1]}, h, 0.25, window);
        for (size_t j = 0; j < values.size(); ++j)
          test.expected[size_t(((starts[i] + int64_t(j) / d) * heads + h) * d + int64_t(j) % d)] = values[j];
      }
    check(test, /*allWarps=*/tile == 16);
  }
}

TEST_P(SequenceTypes, KeysAreTurnedAndGoToTheirPages) {
  DType dtype = GetParam();
  constexpr int64_t d = 16, page = 8, pages = 3, most = 10, tokens = 5;
  constexpr int64_t slots[tokens] = {17, -1, 0, 23, 9}, positions[tokens] = {3, 9, 0, 7, 9};
  for (int64_t heads : {1, 5}) {
    Case test{"kv_cache", "kv_cache", {define("T", dtype), define("D", d), define("P", page), define("H", 4)}, {}, {}, false, {}, 2 * epsilon(dtype)};
    test.outputs = 2;
    test.arrays = {HostArray::random(dtype, {tokens, heads, d}, 1), HostArray::random(dtype, {tokens, heads, d}, 2),
                   HostArray(DType::I32, {tokens}), HostArray(DType::I32, {tokens}), HostArray::random(DType::F32, {most, d / 2}, 3),
                   HostArray::random(DType::F32, {most, d / 2}, 4), HostArray(dtype, {pages, heads, page, d}), HostArray(dtype, {pages, heads, page, d})};
    size_t half = size_t(pages * heads * page * d);
    test.expected.resize(2 * half);
    for (int64_t t = 0; t < tokens; ++t) {
      test.arrays[2].set(size_t(t), double(slots[t]));
      test.arrays[3].set(size_t(t), double(positions[t]));
      for (int64_t i = 0; slots[t] >= 0 && i < heads * d; ++i) {
        size_t from = size_t(t * heads * d + i), angle = size_t(positions[t] * (d / 2) + i % (d / 2));
        size_t to = size_t(((slots[t] / page * heads + i / d) * page + slots[t] % page) * d + i % d);
        bool isFirst = i % d < d / 2;
        double other = test.arrays[0].at(isFirst ? from + d / 2 : from - d / 2);
        test.expected[to] = test.arrays[0].at(from) * test.arrays[4].at(angle) + (isFirst ? -1 : 1) * other * test.arrays[5].at(angle);
        test.expected[half + to] = test.arrays[1].at(from);
      }
    }
    check(test, /*allWarps=*/heads == 5);
  }
}

INSTANTIATE_TEST_SUITE_P(SequenceExamples, SequenceTypes, ::testing::Values(DType::F32, DType::F16, DType::BF16));

} // namespace

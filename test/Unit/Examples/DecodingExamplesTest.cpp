//===- DecodingExamplesTest.cpp - examples of inference -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Attention of few queries, in parts of the keys and over pages, and products with weights
// of 4 bits, against references in double.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

#include <functional>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr int64_t queries = 8, width = 64;
constexpr double scale = 0.125;

/// Attention of `rows` queries at `q` to `n` keys; `at(j)` is the place of key and value j.
/// Gives the results and log2 of the sum of the exponentials of [from, to).
struct Attention {
  std::vector<double> result, lse;

  Attention(const HostArray &q, int64_t first, const HostArray &k, const HostArray &v, int64_t from,
            int64_t to, const std::function<int64_t(int64_t)> &at, int64_t rows = queries) {
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<double> scores, sum(width, 0.0);
      double total = 0;
      for (int64_t j = from; j < to; ++j) {
        double score = 0;
        for (int64_t d = 0; d < width; ++d)
          score += q.at(first + i * width + d) * k.at(at(j) + d);
        scores.push_back(std::exp(scale * score));
        total += scores.back();
      }
      for (int64_t j = from; j < to; ++j)
        for (int64_t d = 0; d < width; ++d)
          sum[d] += scores[j - from] * v.at(at(j) + d);
      for (double value : sum)
        result.push_back(to > from ? value / total : 0.0);
      lse.push_back(std::log2(total));
    }
  }
};

void append(std::vector<double> &to, const std::vector<double> &what) { to.insert(to.end(), what.begin(), what.end()); }

KernelArg scaleArg() { return ScalarArg::f32(float(scale)); }

TEST(FlashDecoding, PartsOfTheKeys) {
  for (auto [dtype, n, chip, rows] :
       {std::tuple{DType::F16, 1, "sm_80", queries}, {DType::F16, 64, "sm_80", queries},
        {DType::BF16, 200, "sm_80", queries}, {DType::BF16, 200, "sm_90a", queries},
        {DType::BF16, 200, "sm_90a", int64_t(1)}, {DType::BF16, 130, "sm_100a", queries}}) {
    int64_t b = 2, h = rows == 1 ? 4 : 2, part = 64, parts = (n + part - 1) / part;
    Case test{"flash_decoding", "flash_decoding",
              {define("T", dtype), define("G", rows), define("D", width), define("BN", 32), define("PART", part)},
              {}, {scaleArg()}, false, {}, 0, chip, 2};
    test.tolerance = 2 * epsilon(dtype);
    test.arrays = {HostArray::random(dtype, {b, h, rows, width}, 1), HostArray::random(dtype, {b, h, n, width}, 2),
                   HostArray::random(dtype, {b, h, n, width}, 3), HostArray::poisoned(DType::F32, {parts, b, h, rows, width}),
                   HostArray::poisoned(DType::F32, {parts, b, h, rows})};
    std::vector<double> lse;
    for (int64_t p = 0; p < parts; ++p)
      for (int64_t i = 0; i < b * h; ++i) {
        Attention part_(test.arrays[0], i * rows * width, test.arrays[1], test.arrays[2], p * part,
                        std::min<int64_t>((p + 1) * part, n), [&](int64_t j) { return (i * n + j) * width; }, rows);
        append(test.expected, part_.result);
        append(lse, part_.lse);
      }
    append(test.expected, lse);
    check(test, /*allWarps=*/n == 64);
  }
}

/// What the second kernel makes of two parts of the keys is attention to all of them.
TEST(FlashDecoding, SumOfParts) {
  int64_t n = 50, first = 20;
  HostArray q = HostArray::random(DType::F32, {1, 1, queries, width}, 1), k = HostArray::random(DType::F32, {1, 1, n, width}, 2),
            v = HostArray::random(DType::F32, {1, 1, n, width}, 3);
  auto at = [](int64_t j) { return j * width; };
  Attention low(q, 0, k, v, 0, first, at), high(q, 0, k, v, first, n, at);
  Case test{"flash_decoding", "flash_decoding_sum", {define("T", DType::F32), define("D", width)}, {}, {}, false, {}, 1e-5};
  test.arrays = {HostArray(DType::F32, {2, 1, 1, queries, width}), HostArray(DType::F32, {2, 1, 1, queries}),
                 HostArray::poisoned(DType::F32, {1, 1, queries, width})};
  for (size_t i = 0; i < low.result.size(); ++i) {
    test.arrays[0].set(i, low.result[i]);
    test.arrays[0].set(low.result.size() + i, high.result[i]);
  }
  for (size_t i = 0; i < size_t(queries); ++i) {
    test.arrays[1].set(i, low.lse[i]);
    test.arrays[1].set(queries + i, high.lse[i]);
  }
  test.expected = Attention(q, 0, k, v, 0, n, at).result;
  check(test);
}

TEST(PagedAttention, PagesByTable) {
  constexpr int64_t h = 2, pages = 12, most = 5, lens[] = {70, 0, 16, 17}, b = std::size(lens);
  for (auto [dtype, size, step, chip] : {std::tuple{DType::F16, 16, 32, "sm_80"}, {DType::BF16, 16, 64, "sm_90a"},
                                         {DType::BF16, 32, 16, "sm_90a"}, {DType::BF16, 32, 64, "sm_100a"}}) {
    Case test{"paged_attention", "paged_attention",
              {define("T", dtype), define("D", width), define("P", size), define("BN", step)},
              {}, {scaleArg()}, false, {}, 0, chip};
    test.tolerance = 2 * epsilon(dtype);
    test.arrays = {HostArray::random(dtype, {b, h, queries, width}, 1), HostArray::random(dtype, {pages, h, size, width}, 2),
                   HostArray::random(dtype, {pages, h, size, width}, 3), HostArray(DType::I32, {b, most}),
                   HostArray(DType::I32, {b}), HostArray::poisoned(dtype, {b, h, queries, width})};
    for (int64_t i = 0; i < b * most; ++i)
      test.arrays[3].set(i, double(i * 5 % pages));
    for (int64_t i = 0; i < b; ++i)
      test.arrays[4].set(i, double(lens[i]));
    for (int64_t i = 0; i < b * h; ++i) {
      auto at = [&](int64_t j) {
        auto page = int64_t(test.arrays[3].at(i / h * most + j / size));
        return ((page * h + i % h) * size + j % size) * width;
      };
      append(test.expected, Attention(test.arrays[0], i * queries * width, test.arrays[1], test.arrays[2], 0, lens[i / h], at).result);
    }
    check(test, /*allWarps=*/dtype == DType::F16);
  }
}

TEST(MatmulInt4, PairsOfNibbles) {
  struct Size { int64_t m, n, k; const char *chip; };
  for (Size size : {Size{1, 1, 2, "sm_80"}, {33, 70, 96, "sm_80"}, {70, 144, 160, "sm_80"}, {70, 144, 160, "sm_90a"},
                    {70, 144, 160, "sm_100a"}}) {
    auto [m, n, k, chip] = size;
    int64_t groups = (k + 31) / 32;
    Case test{"matmul_int4", "matmul_int4", {define("BM", 64), define("BN", 64), define("BK", 32), define("GROUP", 32)},
              {}, {}, false, {}, 2 * epsilon(DType::F16), chip};
    test.arrays = {HostArray::random(DType::F16, {m, k}, 1), HostArray(DType::U8, {k / 2, n}), HostArray(DType::F16, {groups, n}),
                   HostArray(DType::U8, {groups, n}), HostArray::poisoned(DType::F16, {m, n})};
    for (int64_t i = 0; i < k / 2 * n; ++i)
      test.arrays[1].set(i, double(i * 89 % 256));
    for (int64_t i = 0; i < groups * n; ++i) {
      test.arrays[2].set(i, std::ldexp(1.0, int(-3 - i % 4)));
      test.arrays[3].set(i, double(i * 7 % 16));
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          auto byte = int64_t(test.arrays[1].at(l / 2 * n + j)), group = l / 32 * n + j;
          sum += test.arrays[0].at(i * k + l) * (double(l % 2 ? byte >> 4 : byte & 15) - test.arrays[3].at(group)) *
                 test.arrays[2].at(group);
        }
        test.expected.push_back(sum);
      }
    check(test, /*allWarps=*/k == 96);
  }
}

TEST(MatmulInt8Weights, AScaleForEachColumn) {
  struct Size { int64_t m, n, k; int bm, bn; const char *chip; };
  for (Size size : {Size{33, 70, 96, 64, 64, "sm_80"}, {20, 80, 208, 16, 64, "sm_80"}, {70, 48, 80, 64, 128, "sm_120a"}, {1, 8, 0, 64, 64, "sm_90a"}, {70, 80, 208, 64, 64, "sm_90a"},
                    {130, 144, 72, 128, 128, "sm_90a"}, {20, 80, 656, 16, 64, "sm_90a"}, {33, 40, 96, 64, 64, "sm_100a"}}) {
    auto [m, n, k, bm, bn, chip] = size;
    Case test{"matmul_int8_weights", "matmul_int8_weights", {define("BM", bm), define("BN", bn), define("BK", 64)},
              {}, {}, false, {}, 2 * epsilon(DType::F16), chip};
    test.arrays = {HostArray::random(DType::F16, {m, k}, 1), HostArray(DType::I8, {k, n}), HostArray(DType::F16, {n}),
                   HostArray::poisoned(DType::F16, {m, n})};
    for (int64_t i = 0; i < k * n; ++i)
      test.arrays[1].set(i, double(i * 89 % 256 - 128));
    for (int64_t i = 0; i < n; ++i)
      test.arrays[2].set(i, std::ldexp(1.0, int(-7 - i % 4)));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += test.arrays[0].at(i * k + l) * test.arrays[1].at(l * n + j);
        test.expected.push_back(sum * test.arrays[2].at(j));
      }
    check(test, /*allWarps=*/k == 208);
  }
}

} // namespace

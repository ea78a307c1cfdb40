//===- GridExamplesTest.cpp - examples of images, grids and sparse rows --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Tiles that begin before their array (convolutions, stencils), blocks that wait for those
// before them (a prefix sum in one pass), sparse rows by gather.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

#include <array>

using namespace tilec;
using namespace tilec::test;

namespace {

/// Tiles of several images, rows and columns are one dim of a product, and are stored as such:
/// by the copy engine in one part or several, or copied by threads.
TEST(Conv2D, EdgesOfTheImage) {
  struct Size { int64_t n, h, w, c, k, r, images, rows, columns, channels; const char *chip; };
  for (Size size : {Size{1, 1, 1, 1, 1, 1, 1, 4, 16, 16, "sm_80"}, {2, 5, 11, 20, 9, 3, 2, 4, 8, 16, "sm_80"},
                    {1, 9, 17, 24, 24, 3, 1, 4, 16, 16, "sm_80"}, {3, 6, 10, 24, 40, 3, 2, 4, 8, 32, "sm_90a"},
                    {1, 5, 17, 24, 136, 3, 1, 8, 16, 128, "sm_90a"}, {1, 9, 17, 24, 24, 3, 1, 4, 16, 16, "sm_100a"}}) {
    auto [n, h, w, c, k, r, images, rows, columns, channels, chip] = size;
    Case test{"conv2d", "conv2d", {define("BI", images), define("BY", rows), define("BX", columns), define("BN", channels), define("BC", 16)},
              {}, {}, false, {}, 2 * epsilon(DType::F16), chip};
    test.arrays = {HostArray::random(DType::F16, {n, h, w, c}, 1), HostArray::random(DType::F16, {r, r, c, k}, 2),
                   HostArray::poisoned(DType::F16, {n, h, w, k})};
    for (int64_t place = 0; place < n * h * w; ++place)
      for (int64_t out = 0; out < k; ++out) {
        double sum = 0;
        for (int64_t tap = 0; tap < r * r; ++tap) {
          int64_t y = place / w % h + tap / r - r / 2, x = place % w + tap % r - r / 2;
          for (int64_t in = 0; y >= 0 && y < h && x >= 0 && x < w && in < c; ++in)
            sum += test.arrays[0].at(((place / (h * w) * h + y) * w + x) * c + in) * test.arrays[1].at((tap * c + in) * k + out);
        }
        test.expected.push_back(sum);
      }
    check(test, /*allWarps=*/n == 2);
  }
}

/// Pixels are the summed dim of a product, which takes them the other way round.
TEST(Conv2D, GradientOfFilters) {
  struct Size { int64_t n, h, w, c, k, r, images, rows, columns, parts; const char *chip; };
  for (Size size : {Size{1, 1, 1, 1, 1, 1, 1, 4, 16, 1, "sm_80"}, {3, 5, 9, 24, 8, 3, 2, 4, 4, 2, "sm_80"},
                    {3, 6, 10, 24, 40, 3, 2, 4, 8, 2, "sm_90a"}, {2, 9, 17, 72, 24, 3, 1, 8, 8, 2, "sm_90a"}}) {
    auto [n, h, w, c, k, r, images, rows, columns, parts, chip] = size;
    Case test{"conv2d", "conv2d_filters", {define("BI", images), define("BY", rows), define("BX", columns)},
              {}, {ScalarArg::integer(DType::Int, parts)}, false, {}, 0x1p-15, chip};
    test.repeats = parts == 1; // parts come in any order
    test.arrays = {HostArray::random(DType::F16, {n, h, w, c}, 1), HostArray::random(DType::F16, {n, h, w, k}, 2), HostArray(DType::F32, {r, r, c, k})};
    for (int64_t tap = 0; tap < r * r; ++tap)
      for (int64_t in = 0; in < c; ++in)
        for (int64_t out = 0; out < k; ++out) {
          double sum = 0;
          for (int64_t place = 0; place < n * h * w; ++place) {
            int64_t y = place / w % h + tap / r - r / 2, x = place % w + tap % r - r / 2;
            if (y >= 0 && y < h && x >= 0 && x < w)
              sum += test.arrays[0].at(((place / (h * w) * h + y) * w + x) * c + in) * test.arrays[1].at(place * k + out);
          }
          test.expected.push_back(sum);
        }
    check(test, /*allWarps=*/k == 8);
  }
}

TEST(Depthwise, EdgesOfTheImage) {
  struct Size { int64_t n, h, w, c, r, rows, columns; };
  for (Size size : {Size{1, 1, 1, 1, 1, 4, 4}, {2, 5, 11, 24, 3, 4, 8}, {1, 9, 8, 72, 5, 8, 8}}) {
    auto [n, h, w, c, r, rows, columns] = size;
    Case test{"depthwise", "depthwise", {define("BY", rows), define("BX", columns), define("BC", 32), define("R", r), define("S", r)}, {}, {}, false, {}, 2 * epsilon(DType::F16)};
    test.arrays = {HostArray::random(DType::F16, {n, h, w, c}, 1), HostArray::random(DType::F16, {r, r, c}, 2), HostArray::poisoned(DType::F16, {n, h, w, c})};
    for (int64_t i = 0; i < n * h * w * c; ++i) {
      double sum = 0;
      for (int64_t tap = 0; tap < r * r; ++tap) {
        int64_t y = i / (w * c) % h + tap / r - r / 2, x = i / c % w + tap % r - r / 2;
        if (y >= 0 && y < h && x >= 0 && x < w)
          sum += test.arrays[0].at(((i / (h * w * c) * h + y) * w + x) * c + i % c) * test.arrays[1].at(tap * c + i % c);
      }
      test.expected.push_back(sum);
    }
    check(test, /*allWarps=*/n == 2);
  }
}

TEST(Stencil, ZerosAround) {
  for (auto [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {17, 130}, {40, 256}}) {
    Case test{"stencil", "stencil", {define("BY", 8), define("BX", 64)}, {}, {}, false, {}, 0x1p-22};
    test.arrays = {HostArray::random(DType::F32, {h, w}, 1), HostArray::poisoned(DType::F32, {h, w})};
    auto at = [&](int64_t y, int64_t x) { return y < 0 || y >= h || x < 0 || x >= w ? 0.0 : test.arrays[0].at(y * w + x); };
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        test.expected.push_back((at(y, x - 1) + at(y, x + 1) + at(y - 1, x) + at(y + 1, x)) / 4);
    check(test);
  }
}

TEST(Stencil, SixNeighbours) {
  for (auto [d, h, w] : {std::array<int64_t, 3>{1, 1, 1}, {5, 9, 70}, {4, 8, 64}}) {
    Case test{"stencil", "stencil_3d", {define("BZ", 2), define("BY", 4), define("BX", 32)}, {}, {}, false, {}, 0x1p-22};
    test.arrays = {HostArray::random(DType::F32, {d, h, w}, 1), HostArray::poisoned(DType::F32, {d, h, w})};
    auto at = [&, d = d, h = h, w = w](int64_t z, int64_t y, int64_t x) {
      bool isInside = z >= 0 && z < d && y >= 0 && y < h && x >= 0 && x < w;
      return isInside ? test.arrays[0].at((z * h + y) * w + x) : 0.0;
    };
    for (int64_t z = 0; z < d; ++z)
      for (int64_t y = 0; y < h; ++y)
        for (int64_t x = 0; x < w; ++x)
          test.expected.push_back((at(z, y, x - 1) + at(z, y, x + 1) + at(z, y - 1, x) + at(z, y + 1, x) + at(z - 1, y, x) + at(z + 1, y, x)) / 6);
    check(test, /*allWarps=*/d == 5);
  }
}

TEST(PrefixSum, LooksBack) {
  for (int64_t n : {1, 64, 65, 4000}) {
    int64_t blocks = (n + 63) / 64;
    Case test{"prefix_sum", "prefix_sum", {define("BLOCK", 64)}, {}, {}, false, {}, 0};
    test.arrays = {HostArray::random(DType::I32, {n}, 1), HostArray::poisoned(DType::I32, {n}),
                   HostArray(DType::I64, {blocks}), HostArray(DType::I32, {1})};
    test.outputs = 3;
    double sum = 0;
    std::vector<double> ends;
    for (int64_t i = 0; i < n; ++i) {
      sum += test.arrays[0].at(i);
      test.expected.push_back(sum);
      if (i % 64 == 63 || i == n - 1)
        ends.push_back(sum * 4 + 2);
    }
    test.expected.insert(test.expected.end(), ends.begin(), ends.end());
    test.expected.push_back(double(blocks));
    check(test);
  }
}

TEST(SpMV, RowsOfAnyLength) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {33, 50}, {70, 40}}) {
    std::vector<double> starts{0}, columns, values, x, y;
    HostArray vector = HostArray::random(DType::F32, {n}, 1);
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0;
      int64_t count = i % 7 == 3 ? 0 : i % 11 == 5 ? n : (i * 5) % 13 % (n + 1);
      for (int64_t j = 0; j < count; ++j) {
        columns.push_back(double((i + j * 3) % n));
        values.push_back(double((i * 7 + j) % 9 - 4) / 8);
        sum += values.back() * vector.at(size_t(columns.back()));
      }
      starts.push_back(double(columns.size()));
      y.push_back(sum);
    }
    auto filled = [](DType dtype, const std::vector<double> &from) {
      HostArray array(dtype, {int64_t(from.size())});
      for (size_t i = 0; i < from.size(); ++i)
        array.set(i, from[i]);
      return array;
    };
    Case test{"spmv", "spmv", {define("ROWS", 16), define("LANES", 4)}, {}, {}, false, y, 0x1p-20};
    test.arrays = {filled(DType::I32, starts), filled(DType::I32, columns), filled(DType::F32, values), vector,
                   HostArray::poisoned(DType::F32, {m})};
    check(test);
  }
}

} // namespace

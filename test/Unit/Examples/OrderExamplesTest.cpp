//===- OrderExamplesTest.cpp - examples in which order counts --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Scans, sorts, histograms, transforms and reductions of several operands, as
// ExamplesTest.cpp does for the others.
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

#include <algorithm>
#include <complex>
#include <numeric>

using namespace tilec;
using namespace tilec::test;

namespace {

struct Shape {
  int64_t rows, cols;
};
constexpr Shape shapes[] = {{1, 1}, {3, 7}, {2, 1000}};

class Ordered : public ::testing::TestWithParam<std::tuple<int, DType>> {
protected:
  Shape shape() const { return shapes[std::get<0>(GetParam())]; }
  DType dtype() const { return std::get<1>(GetParam()); }
  /// With every number of warps in f32, with one otherwise.
  void run(const Case &test) const { check(test, dtype() == DType::F32); }
  Case rowCase(const char *file, const char *kernel) const {
    Case test{file, kernel, {define("T", dtype()), define("COLS", powerOfTwoAbove(shape().cols))}, {}, {}, false, {}, 0};
    test.arrays = {HostArray::random(dtype(), {shape().rows, shape().cols}, 21)};
    return test;
  }
};

TEST_P(Ordered, Cumsum) {
  auto [rows, cols] = shape();
  Case test = rowCase("cumsum", "cumsum");
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, cols}));
  test.tolerance = epsilon(dtype()) + double(cols) * 0x1p-22;
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back(sum += test.arrays[0].at(size_t(r * cols + c)));
  }
  run(test);
}

TEST_P(Ordered, Sort) {
  auto [rows, cols] = shape();
  Case test = rowCase("sort", "sort");
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, cols}));
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> row;
    for (int64_t c = 0; c < cols; ++c)
      row.push_back(test.arrays[0].at(size_t(r * cols + c)));
    std::sort(row.begin(), row.end());
    test.expected.insert(test.expected.end(), row.begin(), row.end());
  }
  run(test);
}

TEST_P(Ordered, ArgSort) {
  auto [rows, cols] = shape();
  Case test = rowCase("sort", "argsort");
  test.arrays.push_back(HostArray::poisoned(DType::I32, {rows, cols}));
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> from(static_cast<size_t>(cols));
    std::iota(from.begin(), from.end(), 0);
    std::sort(from.begin(), from.end(), [&](int64_t a, int64_t b) {
      return std::pair(test.arrays[0].at(size_t(r * cols + a)), a) <
             std::pair(test.arrays[0].at(size_t(r * cols + b)), b);
    });
    test.expected.insert(test.expected.end(), from.begin(), from.end());
  }
  run(test);
}

TEST_P(Ordered, TopK) {
  auto [rows, cols] = shape();
  int64_t k = std::min<int64_t>(8, powerOfTwoAbove(cols + 1) / 2);
  Case test = rowCase("topk", "topk");
  test.defines.push_back(define("K", k));
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, k}));
  test.arrays.push_back(HostArray::poisoned(DType::I32, {rows, k}));
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> from(static_cast<size_t>(cols));
    std::iota(from.begin(), from.end(), 0);
    std::sort(from.begin(), from.end(), [&](int64_t a, int64_t b) {
      return std::pair(-test.arrays[0].at(size_t(r * cols + a)), a) <
             std::pair(-test.arrays[0].at(size_t(r * cols + b)), b);
    });
    test.expected.insert(test.expected.end(), from.begin(), from.begin() + k);
  }
  run(test);
}

TEST_P(Ordered, OnlineSoftmax) {
  auto [rows, cols] = shape();
  Case test = rowCase("online_softmax", "online_softmax");
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, cols}));
  test.tolerance = 2 * epsilon(dtype());
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      sum += std::exp(test.arrays[0].at(size_t(r * cols + c)));
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back(std::exp(test.arrays[0].at(size_t(r * cols + c))) / sum);
  }
  run(test);
}

TEST_P(Ordered, LogCumSumExp) {
  auto [rows, cols] = shape();
  Case test = rowCase("online_softmax", "logcumsumexp");
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, cols}));
  test.tolerance = 4 * epsilon(dtype());
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back(std::log(sum += std::exp(test.arrays[0].at(size_t(r * cols + c)))));
  }
  run(test);
}

TEST_P(Ordered, Welford) {
  auto [rows, cols] = shape();
  Case test = rowCase("welford", "welford");
  test.arrays.push_back(HostArray::poisoned(DType::F32, {rows, 2}));
  test.tolerance = 16 * epsilon(DType::F32);
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < cols; ++c)
      mean += test.arrays[0].at(size_t(r * cols + c)) / double(cols);
    for (int64_t c = 0; c < cols; ++c)
      variance += std::pow(test.arrays[0].at(size_t(r * cols + c)) - mean, 2) / double(cols);
    test.expected.push_back(mean);
    test.expected.push_back(variance);
  }
  run(test);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ordered,
                         ::testing::Combine(::testing::Range(0, 3), ::testing::Values(DType::F32, DType::BF16)));

TEST(Histogram, CountsRows) {
  for (Shape shape : shapes)
    for (int64_t bins : {1, 256}) {
      Case test{"histogram_tile", "histogram_tile", {define("BINS", bins), define("N", 512)}, {}, {}, false, {}, 0};
      test.arrays = {HostArray::random(DType::I32, {shape.rows, shape.cols}, 22),
                     HostArray::poisoned(DType::I32, {shape.rows, bins})};
      test.expected.assign(size_t(shape.rows * bins), 0);
      for (int64_t i = 0; i < shape.rows * shape.cols; ++i) {
        double value = test.arrays[0].at(size_t(i));
        if (value >= 0 && value < double(bins))
          test.expected[size_t(i / shape.cols * bins) + size_t(value)] += 1;
      }
      check(test);
    }
}

TEST(Fourier, TransformsRows) {
  for (int log : {1, 5, 10}) {
    int64_t n = int64_t(1) << log, rows = 2;
    Case test{"fft", "fft", {define("N", n), define("LOG", int64_t(log))}, {}, {}, false, {}, 4e-6 * log};
    test.arrays = {HostArray::random(DType::F32, {rows, 2, n}, 23), HostArray::poisoned(DType::F32, {rows, 2, n})};
    test.expected.assign(size_t(rows * 2 * n), 0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < n; ++k) {
        std::complex<double> sum = 0;
        for (int64_t i = 0; i < n; ++i)
          sum += std::complex<double>(test.arrays[0].at(size_t(2 * r * n + i)),
                                      test.arrays[0].at(size_t((2 * r + 1) * n + i))) *
                 std::polar(1.0, -2 * M_PI * double(i * k % n) / double(n));
        test.expected[size_t(2 * r * n + k)] = sum.real();
        test.expected[size_t((2 * r + 1) * n + k)] = sum.imag();
      }
    check(test, /*allWarps=*/log == 5);
  }
}

} // namespace

//===- ExamplesTest.cpp - the examples against plain references ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every kernel of test/Examples at several sizes and dtypes, on the interpreter, on
// SIMT execution with 1, 2, 4 and 8 warps, and on the GPU where there is one; all
// against references in double written here. Outputs are poisoned first, and each
// launch is made twice and must give the same bits.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

#include <cmath>
#include <functional>

using namespace tilec;
using namespace tilec::test;

namespace {

struct Shape {
  int64_t rows, cols;
};
constexpr Shape shapes[] = {{1, 1}, {3, 7}, {2, 100}, {5, 1000}, {3, 1023}, {2, 4096}};
constexpr DType floats[] = {DType::F32, DType::F16, DType::BF16};

//===------------------------------------------------------------------------===//
// Elementwise
//===------------------------------------------------------------------------===//

class Vectors : public ::testing::TestWithParam<std::tuple<int64_t, DType>> {};

TEST_P(Vectors, Vadd) {
  auto [n, dtype] = GetParam();
  Case test{"vadd", "vadd", {define("T", dtype)}, {}, {}, false, {}, 0};
  test.arrays = {HostArray::random(dtype, {n}, 1), HostArray::random(dtype, {n}, 2), HostArray::poisoned(dtype, {n})};
  HostArray rounded(dtype, {n});
  for (int64_t i = 0; i < n; ++i) {
    rounded.set(i, test.arrays[0].at(i) + test.arrays[1].at(i)); // exact in double, rounded once
    test.expected.push_back(rounded.at(i));
  }
  check(test);
}

TEST_P(Vectors, Saxpy) {
  auto [n, dtype] = GetParam();
  if (!isFloat(dtype) || dtype == DType::F64)
    GTEST_SKIP() << "floats of at most 32 bits only: the kernel computes in f32";
  Case test{"saxpy", "saxpy", {define("T", dtype)}, {}, {ScalarArg::f32(1.5f)}, true, {}, epsilon(dtype)};
  test.arrays = {HostArray::random(dtype, {n}, 1), HostArray::random(dtype, {n}, 2)};
  for (int64_t i = 0; i < n; ++i)
    test.expected.push_back(1.5 * test.arrays[0].at(i) + test.arrays[1].at(i));
  check(test);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Vectors,
                         ::testing::Combine(::testing::Values(1, 7, 100, 1000, 1023, 4096),
                                            ::testing::Values(DType::F32, DType::F16, DType::BF16, DType::F64,
                                                              DType::I32, DType::I8, DType::I64)));

//===------------------------------------------------------------------------===//
// Rows
//===------------------------------------------------------------------------===//

class Rows : public ::testing::TestWithParam<std::tuple<int, DType>> {
protected:
  Shape shape() const { return shapes[std::get<0>(GetParam())]; }
  DType dtype() const { return std::get<1>(GetParam()); }
  Case rowCase(const char *name) const {
    return {name, name, {define("T", dtype()), define("COLS", powerOfTwoAbove(shape().cols))}, {}, {}, false, {},
            2 * epsilon(dtype())};
  }
};

static std::vector<double> softmaxOf(const HostArray &x, int64_t rows, int64_t cols) {
  std::vector<double> expected;
  for (int64_t r = 0; r < rows; ++r) {
    double top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      top = std::max(top, x.at(r * cols + c));
    for (int64_t c = 0; c < cols; ++c)
      sum += std::exp(x.at(r * cols + c) - top);
    for (int64_t c = 0; c < cols; ++c)
      expected.push_back(std::exp(x.at(r * cols + c) - top) / sum);
  }
  return expected;
}

TEST_P(Rows, Softmax) {
  auto [rows, cols] = shape();
  Case test = rowCase("softmax");
  if (cols <= 64) // several short rows a position, the last one with fewer
    test.defines.push_back(define("ROWS", 4));
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 3), HostArray::poisoned(dtype(), {rows, cols})};
  test.expected = softmaxOf(test.arrays[0], rows, cols);
  check(test);
}

// Few blocks of long rows are resident, and take one row after the other.
TEST(LongRows, Softmax) {
  for (int64_t cols : {16384, 16376, 16001}) {
    constexpr int64_t rows = 13;
    Case test{"softmax", "softmax", {define("COLS", 16384)}, {}, {}, false, {}, 2 * epsilon(DType::BF16)};
    test.arrays = {HostArray::random(DType::BF16, {rows, cols}, 3), HostArray::poisoned(DType::BF16, {rows, cols})};
    test.expected = softmaxOf(test.arrays[0], rows, cols);
    check(test, /*allWarps=*/false);
  }
}

TEST_P(Rows, Layernorm) {
  auto [rows, cols] = shape();
  Case test = rowCase("layernorm");
  test.scalars = {ScalarArg::f32(1e-5f)};
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 3), HostArray::random(dtype(), {cols}, 4),
                 HostArray::random(dtype(), {cols}, 5), HostArray::poisoned(dtype(), {rows, cols})};
  test.tolerance = 8 * epsilon(dtype());
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < cols; ++c)
      mean += test.arrays[0].at(r * cols + c) / double(cols);
    for (int64_t c = 0; c < cols; ++c)
      variance += std::pow(test.arrays[0].at(r * cols + c) - mean, 2) / double(cols);
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back((test.arrays[0].at(r * cols + c) - mean) / std::sqrt(variance + 1e-5) *
                                  test.arrays[1].at(c) +
                              test.arrays[2].at(c));
  }
  check(test);
}

TEST_P(Rows, Rmsnorm) {
  auto [rows, cols] = shape();
  Case test = rowCase("rmsnorm");
  test.scalars = {ScalarArg::f32(1e-5f)};
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 3), HostArray::random(dtype(), {cols}, 4),
                 HostArray::poisoned(dtype(), {rows, cols})};
  test.tolerance = 8 * epsilon(dtype());
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c)
      squares += std::pow(test.arrays[0].at(r * cols + c), 2) / double(cols);
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back(test.arrays[0].at(r * cols + c) / std::sqrt(squares + 1e-5) * test.arrays[1].at(c));
  }
  check(test);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Rows, ::testing::Combine(::testing::Range(0, 6), ::testing::ValuesIn(floats)));

//===------------------------------------------------------------------------===//
// Matrices
//===------------------------------------------------------------------------===//

constexpr Shape matrixShapes[] = {{1, 1}, {7, 100}, {100, 7}, {64, 64}, {129, 1023}, {1000, 33}};

class Matrices : public ::testing::TestWithParam<std::tuple<int, DType>> {
protected:
  Shape shape() const { return matrixShapes[std::get<0>(GetParam())]; }
  DType dtype() const { return std::get<1>(GetParam()); }
};

TEST_P(Matrices, Transpose) {
  auto [rows, cols] = shape();
  for (int block : {16, 64}) {
    Case test{"transpose", "transpose", {define("T", dtype()), define("B", block)}, {}, {}, false, {}, 0};
    test.arrays = {HostArray::random(dtype(), {rows, cols}, 6), HostArray::poisoned(dtype(), {cols, rows})};
    for (int64_t c = 0; c < cols; ++c)
      for (int64_t r = 0; r < rows; ++r)
        test.expected.push_back(test.arrays[0].at(r * cols + c));
    check(test);
  }
}

TEST_P(Matrices, Rowsum) {
  auto [rows, cols] = shape();
  // The error of a sum grows with its terms, not with its value.
  Case test{"sums", "rowsum", {define("T", dtype())}, {}, {}, false, {}, epsilon(dtype()) + double(cols) * 0x1p-24};
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 7), HostArray::poisoned(dtype(), {rows})};
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      sum += test.arrays[0].at(r * cols + c);
    test.expected.push_back(sum);
  }
  check(test);
}

TEST_P(Matrices, Colsum) {
  auto [rows, cols] = shape();
  Case test{"sums", "colsum", {define("T", dtype())}, {}, {}, false, {}, epsilon(dtype()) + double(rows) * 0x1p-24};
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 8), HostArray::poisoned(dtype(), {cols})};
  for (int64_t c = 0; c < cols; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r)
      sum += test.arrays[0].at(r * cols + c);
    test.expected.push_back(sum);
  }
  check(test);
}

TEST_P(Matrices, ColsumBands) {
  auto [rows, cols] = shape();
  constexpr int64_t parts = 5;
  Case test{"sums", "colsum_bands", {define("T", dtype()), define("BM", 16)}, {}, {}, false, {}, 1e-4};
  test.arrays = {HostArray::random(dtype(), {rows, cols}, 8), HostArray::poisoned(DType::F32, {parts, cols})};
  int64_t band = ((rows + 15) / 16 + parts - 1) / parts * 16;
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t c = 0; c < cols; ++c) {
      double sum = 0;
      for (int64_t r = part * band; r < std::min(rows, (part + 1) * band); ++r)
        sum += test.arrays[0].at(r * cols + c);
      test.expected.push_back(sum);
    }
  check(test);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Matrices, ::testing::Combine(::testing::Range(0, 6), ::testing::ValuesIn(floats)));

//===------------------------------------------------------------------------===//
// Matrix products
//===------------------------------------------------------------------------===//

struct Product {
  int64_t m, n, k;
  int bm, bn, bk;
};
constexpr Product products[] = {{1, 1, 1, 16, 16, 16},     {7, 100, 33, 32, 32, 32}, {100, 7, 0, 16, 16, 16},
                                {64, 64, 64, 64, 64, 32},  {129, 65, 70, 64, 32, 16}, {130, 200, 100, 128, 128, 64},
                                {5, 3, 9, 2, 4, 1}};

class Products : public ::testing::TestWithParam<std::tuple<int, DType>> {
protected:
  Case productCase(const char *name, bool bias, const std::function<double(double)> &epilogue) const {
    const Product &p = products[std::get<0>(GetParam())];
    DType dtype = std::get<1>(GetParam());
    Case test{name, name, {define("T", dtype), define("BM", p.bm), define("BN", p.bn), define("BK", p.bk)}, {}, {},
              false, {}, 2 * epsilon(dtype)};
    test.tolerance += 64 * 0x1p-23;
    test.arrays = {HostArray::random(dtype, {p.m, p.k}, 9), HostArray::random(dtype, {p.k, p.n}, 10)};
    if (bias)
      test.arrays.push_back(HostArray::random(dtype, {p.n}, 11));
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = bias ? test.arrays[2].at(j) : 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += test.arrays[0].at(i * p.k + k) * test.arrays[1].at(k * p.n + j);
        test.expected.push_back(epilogue(sum));
      }
    test.arrays.push_back(HostArray::poisoned(dtype, {p.m, p.n}));
    return test;
  }
};

TEST_P(Products, Matmul) { check(productCase("matmul", false, [](double x) { return x; })); }

TEST_P(Products, MatmulBiasGelu) {
  check(productCase("matmul_bias_gelu", true,
                    [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }),
        /*allWarps=*/false);
}

TEST_P(Products, MatmulBiasResidual) {
  Case test = productCase("matmul_bias_residual", true, [](double x) { return x; });
  HostArray skip = HostArray::random(std::get<1>(GetParam()), test.arrays.back().dims, 12);
  for (size_t i = 0; i < test.expected.size(); ++i)
    test.expected[i] += skip.at(i);
  test.arrays.insert(test.arrays.end() - 1, skip);
  check(test, /*allWarps=*/false);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Products, ::testing::Combine(::testing::Range(0, 7), ::testing::ValuesIn(floats)));

} // namespace

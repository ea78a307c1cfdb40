//===- TrainingExamplesTest.cpp - examples that networks train with ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The gradients of layernorm, cross-entropy, dropout, swiglu alone and behind two
// products, argmax: against references in double.
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr DType floats[] = {DType::F32, DType::F16, DType::BF16};

struct Shape {
  int64_t rows, cols;
};
constexpr Shape shapes[] = {{1, 1}, {5, 100}, {3, 1023}};

double silu(double x) { return x / (1 + std::exp(-x)); }

class Training : public ::testing::TestWithParam<std::tuple<int, DType>> {
protected:
  Shape shape() const { return shapes[std::get<0>(GetParam())]; }
  DType dtype() const { return std::get<1>(GetParam()); }
  /// With every number of warps in f32, with one otherwise.
  void run(const Case &test) const { check(test, dtype() == DType::F32); }
  /// A case whose first arrays are `count` random matrices of this shape.
  Case matrixCase(const char *name, int count) const {
    Case test{name, name, {define("T", dtype())}, {}, {}, false, {}, 2 * epsilon(dtype())};
    for (int i = 0; i < count; ++i)
      test.arrays.push_back(HostArray::random(dtype(), {shape().rows, shape().cols}, uint32_t(40 + i)));
    return test;
  }
};

//===------------------------------------------------------------------------===//
// Layernorm
//===------------------------------------------------------------------------===//

TEST_P(Training, LayernormBackward) {
  auto [rows, cols] = shape();
  constexpr int64_t parts = 2;
  Case test = matrixCase("layernorm_backward", 1);
  test.defines.push_back(define("COLS", powerOfTwoAbove(cols)));
  test.arrays.push_back(HostArray::random(dtype(), {cols}, 44));
  HostArray means(DType::F32, {rows}), scales(DType::F32, {rows});
  HostArray dy = HostArray::random(dtype(), {rows, cols}, 45);
  test.outputs = 3;
  // A row of one element is multiplied by 316, and what remains is rounding.
  test.tolerance = (cols == 1 ? 512 : 8) * epsilon(dtype());
  std::vector<double> dweights(size_t(parts * cols)), dbiases(size_t(parts * cols));
  for (int64_t r = 0; r < rows; ++r) {
    auto x = [&](int64_t c) { return test.arrays[0].at(size_t(r * cols + c)); };
    auto g = [&](int64_t c) { return dy.at(size_t(r * cols + c)); };
    auto gw = [&](int64_t c) { return g(c) * test.arrays[1].at(size_t(c)); };
    double n = double(cols), mean = 0, variance = 0, sum = 0, sumNormal = 0;
    for (int64_t c = 0; c < cols; ++c)
      mean += x(c) / n;
    for (int64_t c = 0; c < cols; ++c)
      variance += std::pow(x(c) - mean, 2) / n;
    double scale = 1 / std::sqrt(variance + 1e-5);
    means.set(size_t(r), mean);
    scales.set(size_t(r), scale);
    auto normal = [&](int64_t c) { return (x(c) - mean) * scale; };
    for (int64_t c = 0; c < cols; ++c) {
      sum += gw(c) / n;
      sumNormal += gw(c) * normal(c) / n;
      dweights[size_t(r % parts * cols + c)] += g(c) * normal(c);
      dbiases[size_t(r % parts * cols + c)] += g(c);
    }
    for (int64_t c = 0; c < cols; ++c)
      test.expected.push_back(scale * (gw(c) - sum - normal(c) * sumNormal));
  }
  for (const std::vector<double> *list : {&dweights, &dbiases})
    test.expected.insert(test.expected.end(), list->begin(), list->end());
  for (HostArray array : {means, scales, dy, HostArray::poisoned(dtype(), {rows, cols}),
                          HostArray::poisoned(DType::F32, {parts, cols}), HostArray::poisoned(DType::F32, {parts, cols})})
    test.arrays.push_back(array);
  run(test);
}

TEST_P(Training, LayernormBackwardSums) {
  auto [rows, cols] = shape();
  Case test = matrixCase("layernorm_backward", 0);
  test.kernel = "layernorm_backward_sums";
  for (uint32_t seed : {46, 47})
    test.arrays.push_back(HostArray::random(DType::F32, {rows, cols}, seed));
  for (const HostArray &parts : {test.arrays[0], test.arrays[1]}) {
    for (int64_t c = 0; c < cols; ++c) {
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r)
        sum += parts.at(size_t(r * cols + c));
      test.expected.push_back(sum);
    }
    test.arrays.push_back(HostArray::poisoned(dtype(), {cols}));
  }
  test.outputs = 2;
  run(test);
}

//===------------------------------------------------------------------------===//
// Swiglu
//===------------------------------------------------------------------------===//

TEST_P(Training, Swiglu) {
  auto [rows, cols] = shape();
  Case test = matrixCase("swiglu", 2);
  for (size_t i = 0; i < size_t(rows * cols); ++i)
    test.expected.push_back(silu(test.arrays[0].at(i)) * test.arrays[1].at(i));
  test.arrays.push_back(HostArray::poisoned(dtype(), {rows, cols}));
  run(test);
}

TEST_P(Training, MatmulSwiglu) {
  auto [m, n] = shape();
  constexpr int64_t k = 72;
  for (const char *chip : {"sm_80", "sm_90a"}) {
    Case test{"matmul_swiglu", "matmul_swiglu", {define("T", dtype()), define("BM", 64), define("BN", 32)}, {}, {}, false, {},
              4 * epsilon(dtype()) + 256 * 0x1p-23};
    test.chip = chip;
    test.arrays = {HostArray::random(dtype(), {m, k}, 48), HostArray::random(dtype(), {k, n}, 49),
                   HostArray::random(dtype(), {k, n}, 50)};
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double gate = 0, up = 0;
        for (int64_t l = 0; l < k; ++l) {
          gate += test.arrays[0].at(size_t(i * k + l)) * test.arrays[1].at(size_t(l * n + j));
          up += test.arrays[0].at(size_t(i * k + l)) * test.arrays[2].at(size_t(l * n + j));
        }
        test.expected.push_back(silu(gate) * up);
      }
    test.arrays.push_back(HostArray::poisoned(dtype(), {m, n}));
    check(test, /*allWarps=*/false);
  }
}

//===------------------------------------------------------------------------===//
// Rows of scores
//===------------------------------------------------------------------------===//

TEST_P(Training, CrossEntropy) {
  auto [rows, cols] = shape();
  Case test = matrixCase("cross_entropy", 1);
  test.tolerance = 4 * epsilon(DType::F32);
  test.defines.push_back(define("BLOCK", 64)); // several blocks a row
  HostArray target(DType::I64, {rows});
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      sum += std::exp(test.arrays[0].at(size_t(r * cols + c)));
    int64_t column = r == 1 ? -100 : r == 2 ? cols : r * 37 % cols; // the second and third name no column
    target.set(size_t(r), double(column));
    bool counts = column >= 0 && column < cols;
    test.expected.push_back(counts ? std::log(sum) - test.arrays[0].at(size_t(r * cols + column)) : 0);
  }
  test.arrays.push_back(target);
  test.arrays.push_back(HostArray::poisoned(DType::F32, {rows}));
  run(test);
}

TEST_P(Training, Argmax) {
  auto [rows, cols] = shape();
  Case test = matrixCase("argmax", 1);
  test.defines.push_back(define("COLS", powerOfTwoAbove(cols)));
  test.tolerance = 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t place = 0;
    for (int64_t c = 1; c < cols; ++c)
      if (test.arrays[0].at(size_t(r * cols + c)) > test.arrays[0].at(size_t(r * cols + place)))
        place = c;
    test.expected.push_back(double(place));
  }
  test.arrays.push_back(HostArray::poisoned(DType::I32, {rows}));
  run(test);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Training, ::testing::Combine(::testing::Range(0, 3), ::testing::ValuesIn(floats)));

//===------------------------------------------------------------------------===//
// Dropout
//===------------------------------------------------------------------------===//

TEST(Dropout, ForwardAndGradient) {
  constexpr int64_t seed = 0x123456789abcdef;
  for (DType dtype : floats)
    for (int64_t n : {1, 1000, 5000}) {
      int64_t dropped = 0;
      Case test{"dropout", "dropout", {define("T", dtype)}, {}, {ScalarArg::f32(0.25f), ScalarArg::integer(DType::Int, seed)},
                false, {}, epsilon(dtype)};
      test.arrays = {HostArray::random(dtype, {n}, 51)};
      for (int64_t i = 0; i < n; ++i) {
        bool stays = double(philox(seed, uint64_t(i / 4))[size_t(i % 4)] >> 8) * 0x1p-24 >= 0.25;
        dropped += !stays;
        test.expected.push_back(stays ? test.arrays[0].at(size_t(i)) / 0.75 : 0);
      }
      if (n > 1)
        EXPECT_NEAR(double(dropped) / double(n), 0.25, 0.05);
      test.arrays.push_back(HostArray::poisoned(dtype, {n}));
      check(test, dtype == DType::F32);
    }
}

} // namespace

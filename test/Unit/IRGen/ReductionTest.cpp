//===- ReductionTest.cpp - reductions mean what they say -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reductions of the language, run in the interpreter: accumulation in f32 for
// 16-bit floats, ties and NaN of argmin and argmax, axes, user-given fns.

#include "RunTest.h"

#include "tilec/Support/Numerics.h"

#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::test;
using Floats = std::vector<float>;

namespace {

const float quietNaN = std::numeric_limits<float>::quiet_NaN();

/// `expression` over `x: f32[8]` gives a scalar; stored as f32.
float reduceFloats(const std::string &expression, Floats x) {
  x.push_back(0);
  Floats y = runOn<float>("kernel k(y: mut array<f32, [n]>) {\n"
                          "  let x = load(y, [0], [8]);\n"
                          "  store_at(y, [8], (" +
                              expression + ").to(f32));\n}\n",
                          DType::F32, x);
  return y.back();
}

TEST(Reduction, ArgMaxTakesTheFirst) {
  EXPECT_EQ(reduceFloats("argmax(x)", {1, 5, 2, 5, 5, 0, 0, 0}), 1);
  EXPECT_EQ(reduceFloats("argmin(x)", {1, 5, 0, 5, -0.0f, 0, 0, 0}), 2);
  EXPECT_EQ(reduceFloats("argmax(x)", {-1, -0.0f, 0, -2, -3, -0.0f, 0, -1}), 1);
}

TEST(Reduction, TheFirstNaNWinsInBoth) {
  Floats x{1, 2, quietNaN, 9, quietNaN, -9, 3, 3};
  EXPECT_EQ(reduceFloats("argmax(x)", x), 2);
  EXPECT_EQ(reduceFloats("argmin(x)", x), 2);
  EXPECT_TRUE(std::isnan(reduceFloats("max(x)", x)));
  EXPECT_TRUE(std::isnan(reduceFloats("min(x)", x)));
  EXPECT_EQ(reduceFloats("maxnum(x)", x), 9);
  EXPECT_EQ(reduceFloats("minnum(x)", x), -9);
}

TEST(Reduction, SumsProductsAndBools) {
  Floats x{1, 2, 3, 4, 1, 1, 1, -1};
  EXPECT_EQ(reduceFloats("sum(x)", x), 12);
  EXPECT_EQ(reduceFloats("prod(x)", x), -24);
  EXPECT_EQ(reduceFloats("any(x > 3.0)", x), 1);
  EXPECT_EQ(reduceFloats("any(x > 4.0)", x), 0);
  EXPECT_EQ(reduceFloats("all(x < 5.0)", x), 1);
  EXPECT_EQ(reduceFloats("all(x > 0.0)", x), 0);
  EXPECT_EQ(reduceFloats("sum(x > 1.0)", x), 3);
}

TEST(Reduction, AxesAndRowMajorIndex) {
  Floats x{0, 1, 2, 3, 9, 5, 6, 7};
  EXPECT_EQ(reduceFloats("argmax(reshape(x, [2, 4]))", x), 4);
  // Per middle index: of {0, 1, 9, 5} the third, of {2, 3, 6, 7} the fourth.
  EXPECT_EQ(reduceFloats("sum(argmax(reshape(x, [2, 2, 2]), axis: [0, 2]) * "
                         "arange(2, start: 1))",
                         x),
            2 + 2 * 3);
  EXPECT_EQ(reduceFloats("sum(argmax(reshape(x, [2, 4]), axis: 1))", x), 3);
  EXPECT_EQ(reduceFloats("max(sum(reshape(x, [2, 4]), axis: 0))", x), 10);
  EXPECT_EQ(reduceFloats("sum(max(reshape(x, [4, 2]), axis: -1, keep: true) * "
                         "ones([4, 2], f32))",
                         x),
            40);
}

TEST(Reduction, SixteenBitsAccumulateInF32) {
  // 2048 + 1 is 2048 in f16: a sum in f16 would stay there.
  std::vector<uint16_t> y(
      4096, static_cast<uint16_t>(numerics::encode(DType::F16, 1)));
  y = runOn<uint16_t>("kernel k(y: mut array<f16, [n]>) {\n"
                      "  store_at(y, [0], sum(load(y, [0], [4096])));\n}\n",
                      DType::F16, y);
  EXPECT_EQ(numerics::decode(DType::F16, y[0]), 4096);
}

TEST(Reduction, NarrowIntegersWiden) {
  std::vector<int8_t> y(64, 100);
  y = runOn<int8_t>(
      "kernel k(y: mut array<i8, [n]>) {\n"
      "  store_at(y, [0], (sum(load(y, [0], [64])) / 100).to(i8));\n}\n",
      DType::I8, y);
  EXPECT_EQ(y[0], 64);
}

TEST(Reduction, UserFunctions) {
  // One operand, with an early return, and two operands: the mean and the
  // count.
  Floats y = runOn<float>(R"(
    fn larger(a, b) { if a > b { return a; } return b; }
    fn merge(m0, n0, m1, n1) { let n = n0 + n1; return ((m0 * n0 + m1 * n1) / n, n); }
    kernel k(y: mut array<f32, [n]>) {
      let x = load(y, [0], [8]);
      let big = reduce(x, 0, -inf, larger);
      let (mean, count) = reduce((x, ones([8], f32)), 0, (0.0, 0.0), merge);
      store_at(y, [0], big); store_at(y, [1], mean); store_at(y, [2], count);
    })",
                          DType::F32, {3, 1, 4, 1, 5, 9, 2, 7});
  EXPECT_EQ(y[0], 9);
  EXPECT_EQ(y[1], 4);
  EXPECT_EQ(y[2], 8);
}

} // namespace

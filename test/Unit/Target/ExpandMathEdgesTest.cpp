//===- ExpandMathEdgesTest.cpp - zeros, infinities, NaN --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Special operands: the class and sign of every result must be C99's, and ordinary
// results stay within their bound. Also the forms under fast math.
//===----------------------------------------------------------------------===//

#include "MathFunction.h"

#include <gtest/gtest.h>
#include <limits>

using tilec::MathFunction;
using tilec::ulpError;

namespace {

template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  T epsilon = Limits::epsilon();
  std::vector<T> values = {T(0), Limits::denorm_min(), Limits::min() / 2, Limits::min(),
                           epsilon * epsilon, epsilon / 4, T(1) - epsilon / 2,
                           T(1), T(1) + epsilon, T(0.5), T(2), T(3), T(2.5), T(1e6),
                           T(1) / epsilon, T(1) / epsilon + 1, T(4) / epsilon,
                           Limits::max() / 2, Limits::max(), Limits::infinity()};
  size_t count = values.size();
  for (size_t i = 0; i < count; ++i)
    values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <typename T>
void expectSame(T value, long double exact, const std::string &what) {
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(value)) << what << " is " << value;
    return;
  }
  EXPECT_LE(ulpError(value, exact), 2.0) << what << " is " << value << ", not " << exact;
  EXPECT_EQ(std::signbit(value), std::signbit(exact)) << what << " is " << value;
  if (exact == 0 || std::isinf(exact)) {
    EXPECT_EQ(value, T(exact)) << what;
  }
}

struct Unary {
  const char *operation;
  long double (*reference)(long double);
};

const Unary unary[] = {
    {"math.exp", std::exp},     {"math.exp2", std::exp2},   {"math.expm1", std::expm1},
    {"math.log", std::log},     {"math.log2", std::log2},   {"math.log10", std::log10},
    {"math.log1p", std::log1p}, {"math.sin", std::sin},     {"math.cos", std::cos},
    {"math.tan", std::tan},     {"math.asin", std::asin},   {"math.acos", std::acos},
    {"math.atan", std::atan},   {"math.sinh", std::sinh},   {"math.cosh", std::cosh},
    {"math.tanh", std::tanh},   {"math.erf", std::erf},     {"math.cbrt", std::cbrt}};

template <typename T> void unaryEdges(const char *type) {
  for (const Unary &c : unary) {
    MathFunction function(c.operation, type);
    std::vector<T> x = specialValues<T>();
    std::vector<T> y = function(x);
    for (size_t i = 0; i < x.size(); ++i) {
      std::string what = std::string(c.operation) + " " + type + " of " +
                         std::to_string(double(x[i])) + " (#" + std::to_string(i) + ")";
      expectSame<T>(y[i], c.reference(x[i]), what);
    }
  }
}

TEST(ExpandMathEdges, UnaryF32) { unaryEdges<float>("f32"); }
TEST(ExpandMathEdges, UnaryF64) { unaryEdges<double>("f64"); }

struct Binary {
  const char *operation;
  long double (*reference)(long double, long double);
};

const Binary binary[] = {
    {"math.powf", std::pow}, {"math.atan2", std::atan2}, {"arith.remf", std::fmod}};

template <typename T> void binaryEdges(const char *type) {
  for (const Binary &c : binary) {
    MathFunction function(c.operation, type, 2);
    std::vector<T> x, y;
    for (T a : specialValues<T>())
      for (T b : specialValues<T>()) {
        x.push_back(a);
        y.push_back(b);
      }
    std::vector<T> z = function(x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      char what[100];
      snprintf(what, sizeof what, "%s %s of %a, %a", c.operation, type, double(x[i]),
               double(y[i]));
      expectSame<T>(z[i], c.reference(x[i], y[i]), what);
    }
  }
}

TEST(ExpandMathEdges, BinaryF32) { binaryEdges<float>("f32"); }
TEST(ExpandMathEdges, BinaryF64) { binaryEdges<double>("f64"); }

} // namespace

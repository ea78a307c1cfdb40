//===- ExpandMathTest.cpp - accuracy of expanded functions -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every function on random operands of its interesting range and of all magnitudes,
// against the C library in long double (64 bits of mantissa), f32 and f64; f16 and
// bf16 on every operand there is.
//===----------------------------------------------------------------------===//

#include "MathFunction.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using tilec::MathFunction;
using tilec::ulpError;

namespace {

using Reference = long double (*)(long double);
using Reference2 = long double (*)(long double, long double);

struct Case {
  const char *operation;
  Reference reference;
  double low, high;   ///< interesting range
  double bound = 2.0; ///< in ulp
};

long double rsqrtReference(long double x) { return 1 / std::sqrt(x); }

const Case cases[] = {
    {"math.exp", std::exp, -110, 90},      {"math.exp2", std::exp2, -155, 130},
    {"math.expm1", std::expm1, -3, 4},     {"math.log", std::log, 0.3, 3},
    {"math.log2", std::log2, 0.3, 3},      {"math.log10", std::log10, 0.3, 3},
    {"math.log1p", std::log1p, -0.99, 3},  {"math.sin", std::sin, -300, 300},
    {"math.cos", std::cos, -300, 300},     {"math.tan", std::tan, -300, 300},
    {"math.asin", std::asin, -1, 1},       {"math.acos", std::acos, -1, 1},
    {"math.atan", std::atan, -4, 4},       {"math.sinh", std::sinh, -4, 4},
    {"math.cosh", std::cosh, -4, 4},       {"math.tanh", std::tanh, -4, 4},
    {"math.erf", std::erf, -5, 5},         {"math.cbrt", std::cbrt, -30, 30},
    {"math.rsqrt", rsqrtReference, 0, 10},
};

std::string caseName(const testing::TestParamInfo<Case> &info) {
  return std::string(info.param.operation).substr(5);
}

template <typename T> T fromBits(std::mt19937_64 &random) {
  if constexpr (sizeof(T) == 8) {
    uint64_t bits = random();
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    uint32_t bits = random();
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
}

/// Half of the operands uniform in the range, half of all magnitudes.
template <typename T> std::vector<T> operands(double low, double high, size_t count) {
  std::mt19937_64 random(20240229);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = i % 2 ? T(uniform(random)) : fromBits<T>(random);
  return values;
}

template <typename T> struct Worst {
  double error = 0;
  T at = 0, value = 0;
  void add(T x, T y, double e) {
    if (e > error || std::isnan(e))
      error = e, at = x, value = y;
  }
};

template <typename T>
void measure(const Case &c, const char *type, double scale, size_t count) {
  MathFunction function(c.operation, type);
  std::vector<T> x = operands<T>(c.low * scale, c.high * scale, count);
  std::vector<T> y = function(x);
  Worst<T> worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(x[i], y[i], ulpError(y[i], c.reference(x[i])));
  testing::Test::RecordProperty(c.operation, std::to_string(worst.error));
  printf("%-12s %s %.3f ulp at %a\n", c.operation, type, worst.error, double(worst.at));
  EXPECT_LE(worst.error, c.bound)
      << c.operation << " " << type << " at " << double(worst.at) << " ("
      << std::hexfloat << double(worst.at) << ") is " << double(worst.value);
}

class Unary : public testing::TestWithParam<Case> {};

TEST_P(Unary, F32) { measure<float>(GetParam(), "f32", 1, 1 << 19); }
TEST_P(Unary, F64) {
  bool exponential = std::string(GetParam().operation).starts_with("math.exp") &&
                     std::string(GetParam().operation) != "math.expm1";
  measure<double>(GetParam(), "f64", exponential ? 7 : 1, 1 << 18);
}

/// Bits of a 16-bit format to its value.
float fromHalf(uint16_t bits, bool isBF16) {
  if (isBF16) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
  }
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TEST_P(Unary, SixteenBits) {
  const Case &c = GetParam();
  for (bool isBF16 : {false, true}) {
    MathFunction function(c.operation, isBF16 ? "bf16" : "f16");
    std::vector<uint16_t> x(65536);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = i;
    std::vector<uint16_t> y = function(x);
    int digits = isBF16 ? 8 : 11, minExponent = isBF16 ? -126 : -14;
    float largest = isBF16 ? 0x1.fep127f : 65504.0f;
    for (size_t i = 0; i < x.size(); ++i) {
      long double exact = c.reference(fromHalf(x[i], isBF16));
      float value = fromHalf(y[i], isBF16);
      if (std::isnan(exact) || std::isnan(value)) {
        ASSERT_TRUE(std::isnan(exact) && std::isnan(value)) << c.operation << " " << i;
        continue;
      }
      int exponent = exact == 0 ? minExponent : std::max(minExponent, std::ilogb(exact));
      long double ulp = std::ldexp(1.0L, exponent - (digits - 1));
      if (std::isinf(value)) {
        ASSERT_GE(std::fabs(exact), largest + 0.499L * ulp) << c.operation << " " << i;
        continue;
      }
      ASSERT_LE(std::fabs(value - exact) / ulp, isBF16 ? 0.501 : 0.503)
          << c.operation << (isBF16 ? " bf16 " : " f16 ") << fromHalf(x[i], isBF16)
          << " is " << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ExpandMath, Unary, testing::ValuesIn(cases), caseName);

struct Case2 {
  const char *operation;
  Reference2 reference;
  double xLow, xHigh, yLow, yHigh;
};

const Case2 cases2[] = {
    {"math.powf", std::pow, 0, 10, -40, 40},
    {"math.powf", std::pow, 0.99, 1.01, -4000, 4000},
    {"math.atan2", std::atan2, -3, 3, -3, 3},
    {"arith.remf", std::fmod, -1000, 1000, -3, 3},
};

template <typename T> void measure2(const Case2 &c, const char *type, size_t count) {
  MathFunction function(c.operation, type, 2);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> ux(c.xLow, c.xHigh), uy(c.yLow, c.yHigh);
  std::vector<T> x(count), y(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = i % 4 < 3 ? T(ux(random)) : fromBits<T>(random);
    y[i] = i % 4 < 2 ? T(uy(random)) : fromBits<T>(random);
  }
  std::vector<T> z = function(x, y);
  bool isExact = std::string(c.operation) == "arith.remf";
  Worst<T> worst;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    double error = ulpError(z[i], c.reference(x[i], y[i]));
    if (error > worst.error)
      at = i;
    worst.add(x[i], z[i], error);
  }
  printf("%-12s %s %.3f ulp\n", c.operation, type, worst.error);
  EXPECT_LE(worst.error, isExact ? 0.0 : 2.0)
      << std::hexfloat << c.operation << "(" << double(x[at]) << ", " << double(y[at])
      << ") is " << double(z[at]);
}

TEST(ExpandMath, BinaryF32) {
  for (const Case2 &c : cases2)
    measure2<float>(c, "f32", 1 << 18);
}
TEST(ExpandMath, BinaryF64) {
  for (const Case2 &c : cases2)
    measure2<double>(c, "f64", 1 << 17);
}

// Large angles, where the reduction needs many digits of pi.
TEST(ExpandMath, LargeAngles) {
  for (const Case &c : cases) {
    std::string name = c.operation;
    if (name != "math.sin" && name != "math.cos" && name != "math.tan")
      continue;
    for (double magnitude : {1e4, 1e5, 1e8, 1e15, 1e30, 3e38}) {
      Case large = c;
      large.low = -magnitude, large.high = magnitude;
      measure<float>(large, "f32", 1, 1 << 15);
    }
    for (double magnitude : {1e8, 2e9, 1e18, 1e100, 1e308}) {
      Case large = c;
      large.low = -magnitude / 2, large.high = magnitude / 2;
      measure<double>(large, "f64", 1, 1 << 14);
    }
  }
}

// The approximate erf, with an accurate tanh here: what the polynomial adds to the error.
TEST(ExpandMath, ApproximateErf) {
  MathFunction erf("%r = math.erf %v fastmath<afn> : VECTOR", "f32");
  std::vector<float> x = {0.0f, -0.0f, 1e30f, -1e30f, 9.0f, -9.0f, 0x1p-149f};
  for (int i = 1; i < 1 << 16; ++i)
    x.push_back(float(i) * 0x1p-13f);
  std::vector<float> y = erf(x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y[i], std::erf(x[i]), 3.7e-4 * std::fabs(std::erf(x[i]))) << x[i];
  EXPECT_TRUE(std::signbit(y[1]));
}

} // namespace

//===- ElementwiseTest.cpp - operators mean what they say -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Each operation is generated, run in the interpreter on values that tell its
// rules apart (signs, zeros, NaN, least values, large shifts), and compared
// with an independent formula in C++.

#include "RunTest.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float quietNaN = std::numeric_limits<float>::quiet_NaN();

/// Applies `expression` over `x` and `z` (both T) to every pair; the first half
/// of the array holds the left operands, the second the right ones.
template <typename T>
std::vector<T>
applyPairs(std::string_view dtype, DType type, std::string_view expression,
           const std::vector<T> &left, const std::vector<T> &right) {
  std::vector<T> y(left);
  y.insert(y.end(), right.begin(), right.end());
  size_t half = left.size();
  std::string source = "kernel k(y: mut array<" + std::string(dtype) +
                       ", [n]>) {\n" + "  let x = load(y, [0], [" +
                       std::to_string(half) + "]);\n" +
                       "  let z = load(y, [1], [" + std::to_string(half) +
                       "]);\n" + "  store(y, [0], (" + std::string(expression) +
                       ").to(" + std::string(dtype) + "));\n}\n";
  std::vector<T> result = runOn<T>(source, type, y);
  result.resize(half);
  return result;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename T>
void checkIntegers(std::string_view dtype, DType type,
                   std::string_view expression,
                   const std::function<int64_t(int64_t, int64_t)> &reference,
                   bool skipZeroDivisor = false) {
  std::vector<T> left, right;
  for (int a = 0; a < 256; a += 3)
    for (int b = 0; b < 256; b += 5)
      if (!skipZeroDivisor || b != 0) {
        left.push_back(static_cast<T>(a));
        right.push_back(static_cast<T>(b));
      }
  left.push_back(static_cast<T>(0x80)), right.push_back(static_cast<T>(0xff));
  size_t size = 1;
  while (size * 2 <= left.size())
    size *= 2;
  left.erase(left.begin(), left.end() - size),
      right.erase(right.begin(), right.end() - size);
  std::vector<T> result = applyPairs<T>(dtype, type, expression, left, right);
  for (size_t i = 0; i < size; ++i)
    ASSERT_EQ(result[i], static_cast<T>(reference(left[i], right[i])))
        << dtype << " " << expression << ": " << int(left[i]) << ", "
        << int(right[i]);
}

int64_t floorDivide(int64_t a, int64_t b) {
  return static_cast<int64_t>(
      std::floor(static_cast<double>(a) / static_cast<double>(b)));
}

/// The same formula for both signednesses: on mathematical integers.
void checkBoth(std::string_view expression,
               const std::function<int64_t(int64_t, int64_t)> &reference,
               bool skipZeroDivisor = false) {
  checkIntegers<int8_t>("i8", DType::I8, expression, reference,
                        skipZeroDivisor);
  checkIntegers<uint8_t>("u8", DType::U8, expression, reference,
                         skipZeroDivisor);
}

TEST(Elementwise, IntegerArithmeticWraps) {
  checkBoth("x + z", [](int64_t a, int64_t b) { return a + b; });
  checkBoth("x - z", [](int64_t a, int64_t b) { return a - b; });
  checkBoth("x * z", [](int64_t a, int64_t b) { return a * b; });
  checkBoth("-x", [](int64_t a, int64_t) { return -a; });
  checkBoth("~x", [](int64_t a, int64_t) { return ~a; });
  checkBoth("x & z | x ^ z",
            [](int64_t a, int64_t b) { return (a & b) | (a ^ b); });
  checkBoth("mulhi(x, z)", [](int64_t a, int64_t b) { return (a * b) >> 8; });
}

TEST(Elementwise, IntegerDivision) {
  checkBoth("x / z", [](int64_t a, int64_t b) { return a / b; }, true);
  checkBoth("x % z", [](int64_t a, int64_t b) { return a % b; }, true);
  checkBoth("floordiv(x, z)", floorDivide, true);
  checkBoth(
      "mod(x, z)",
      [](int64_t a, int64_t b) { return a - b * floorDivide(a, b); }, true);
  checkBoth(
      "cdiv(x, z)", [](int64_t a, int64_t b) { return -floorDivide(-a, b); },
      true);
}

TEST(Elementwise, ShiftsOfAnyAmount) {
  checkBoth("x << z",
            [](int64_t a, int64_t b) { return b < 0 || b >= 8 ? 0 : a << b; });
  checkBoth("x >> z", [](int64_t a, int64_t b) {
    return b < 0 || b >= 8 ? (a < 0 ? -1 : 0) : a >> b;
  });
}

TEST(Elementwise, IntegerFunctions) {
  checkBoth("min(x, z)", [](int64_t a, int64_t b) { return std::min(a, b); });
  checkBoth("max(x, z)", [](int64_t a, int64_t b) { return std::max(a, b); });
  checkBoth("abs(x)", [](int64_t a, int64_t) { return std::abs(a); });
  checkBoth("sign(x)", [](int64_t a, int64_t) { return (a > 0) - (a < 0); });
  checkBoth("popcount(x)", [](int64_t a, int64_t) {
    return std::popcount(uint64_t(a & 0xff));
  });
  checkBoth("clz(x)",
            [](int64_t a, int64_t) { return std::countl_zero(uint8_t(a)); });
  checkBoth("ctz(x)",
            [](int64_t a, int64_t) { return std::countr_zero(uint8_t(a)); });
  checkBoth("clamp(x, 3, z)", [](int64_t a, int64_t b) {
    return std::min<int64_t>(std::max<int64_t>(a, 3), b);
  });
}

TEST(Elementwise, IntegerComparisons) {
  checkBoth("where(x < z, 1, 0)", [](int64_t a, int64_t b) { return a < b; });
  checkBoth("where(x >= z, 1, 0)", [](int64_t a, int64_t b) { return a >= b; });
  checkBoth("where(x == z || x > z, 1, 0)",
            [](int64_t a, int64_t b) { return a >= b; });
  checkBoth("where(!(x != z) && x <= z, 1, 0)",
            [](int64_t a, int64_t b) { return a == b; });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

const std::vector<float> specials{0.0f, -0.0f, 1.0f,  -1.0f,   2.5f, -2.5f,
                                  0.5f, 1.5f,  7.0f,  -7.0f,   3.0f, -3.0f,
                                  inf,  -inf,  1e30f, quietNaN};

void checkFloats(std::string_view expression,
                 const std::function<float(float, float)> &reference) {
  std::vector<float> left, right;
  for (float a : specials)
    for (float b : specials)
      left.push_back(a), right.push_back(b);
  std::vector<float> result =
      applyPairs<float>("f32", DType::F32, expression, left, right);
  for (size_t i = 0; i < left.size(); ++i) {
    float expected = reference(left[i], right[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(result[i]))
          << expression << ": " << left[i] << ", " << right[i];
      continue;
    }
    ASSERT_EQ(result[i], expected)
        << expression << ": " << left[i] << ", " << right[i];
    ASSERT_EQ(std::signbit(result[i]), std::signbit(expected))
        << expression << ": " << left[i] << ", " << right[i];
  }
}

float lesser(float a, float b) {
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
float greater(float a, float b) {
  return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}

TEST(Elementwise, MinAndMax) {
  auto orNaN = [](auto choose) {
    return [=](float a, float b) {
      return std::isnan(a) || std::isnan(b) ? quietNaN : choose(a, b);
    };
  };
  auto orOther = [](auto choose) {
    return [=](float a, float b) {
      return std::isnan(a) ? b : std::isnan(b) ? a : choose(a, b);
    };
  };
  checkFloats("min(x, z)", orNaN(lesser));
  checkFloats("max(x, z)", orNaN(greater));
  checkFloats("minnum(x, z)", orOther(lesser));
  checkFloats("maxnum(x, z)", orOther(greater));
}

TEST(Elementwise, FloatDivision) {
  checkFloats("x / z", [](float a, float b) { return a / b; });
  checkFloats("x % z", [](float a, float b) { return std::fmod(a, b); });
  checkFloats("floordiv(x, z)", [](float a, float b) {
    if (b == 0)
      return a / b;
    // NumPy's: the whole number that leaves mod(a, b).
    float rest = std::fmod(a, b), whole = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
      whole -= 1;
    whole = std::nearbyint(whole);
    return whole == 0 ? std::copysign(0.0f, a / b) : whole;
  });
  checkFloats("mod(x, z)", [](float a, float b) {
    float rest = std::fmod(a, b);
    if (rest == 0)
      return std::copysign(0.0f, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  });
}

TEST(Elementwise, FloatComparisons) {
  auto number = [](bool value) { return value ? 1.0f : 0.0f; };
  checkFloats("where(x == z, 1.0, 0.0)",
              [&](float a, float b) { return number(a == b); });
  checkFloats("where(x != z, 1.0, 0.0)",
              [&](float a, float b) { return number(a != b); });
  checkFloats("where(x < z, 1.0, 0.0)",
              [&](float a, float b) { return number(a < b); });
  checkFloats("where(x <= z, 1.0, 0.0)",
              [&](float a, float b) { return number(a <= b); });
  checkFloats("where(isnan(x), 1.0, 0.0)",
              [&](float a, float) { return number(std::isnan(a)); });
  checkFloats("where(isinf(x), 1.0, 0.0)",
              [&](float a, float) { return number(std::isinf(a)); });
  checkFloats("where(isfinite(x), 1.0, 0.0)",
              [&](float a, float) { return number(std::isfinite(a)); });
  checkFloats("where(x.to(bool), 1.0, 0.0)",
              [&](float a, float) { return number(a != 0); });
}

TEST(Elementwise, FloatFunctions) {
  checkFloats("abs(x)", [](float a, float) { return std::fabs(a); });
  checkFloats("-x", [](float a, float) { return -a; });
  checkFloats("sign(x)", [](float a, float) {
    return a > 0 ? 1 : a < 0 ? -1 : a;
  });
  checkFloats("floor(x)", [](float a, float) { return std::floor(a); });
  checkFloats("ceil(x)", [](float a, float) { return std::ceil(a); });
  checkFloats("trunc(x)", [](float a, float) { return std::trunc(a); });
  checkFloats("round(x)", [](float a, float) { return std::nearbyint(a); });
  checkFloats("sqrt(x)", [](float a, float) { return std::sqrt(a); });
  checkFloats("fma(x, z, 1.0)",
              [](float a, float b) { return std::fma(a, b, 1.0f); });
  checkFloats("x.to(i32).to(f32)", [](float a, float) {
    if (std::isnan(a))
      return 0.0f;
    return a > 2e9f    ? 2147483648.0f
           : a < -2e9f ? -2147483648.0f
                       : std::trunc(a) + 0.0f;
  });
  checkFloats("x.to(f8e4m3).to(f32)", [](float a, float) {
    return std::fabs(a) > 448 ? std::copysign(448.0f, a) : a;
  });
}

// Functions defined by a formula, against double.
TEST(Elementwise, Activations) {
  auto close = [](std::string_view expression, auto reference) {
    std::vector<float> x, z(64);
    for (int i = 0; i < 64; ++i)
      x.push_back(static_cast<float>(i - 32) * 0.4f);
    std::vector<float> result =
        applyPairs<float>("f32", DType::F32, expression, x, z);
    for (int i = 0; i < 64; ++i) {
      double expected = reference(static_cast<double>(x[i]));
      ASSERT_NEAR(result[i], expected,
                  1e-6 * std::max(1.0, std::fabs(expected)))
          << expression << ": " << x[i];
    }
  };
  close("sigmoid(x)", [](double x) { return 1 / (1 + std::exp(-x)); });
  close("silu(x)", [](double x) { return x / (1 + std::exp(-x)); });
  close("gelu(x)",
        [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
  close("gelu_tanh(x)", [](double x) {
    return 0.5 * x *
           (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  });
  close("pow(abs(x) + 1.0, 1.5)",
        [](double x) { return std::pow(std::fabs(x) + 1, 1.5); });
  close("atan2(x, 2.0)", [](double x) { return std::atan2(x, 2.0); });
}

// 16-bit floats compute functions in f32 and round once.
TEST(Elementwise, HalvesRoundOnce) {
  Generated generated("kernel k(y: mut array<f16, [n]>) {\n"
                      "  let x = load(y, [0], [8]);\n"
                      "  store(y, [0], exp(x) + x * x);\n}\n");
  std::string text = generated.text();
  EXPECT_NE(text.find("arith.extf %0 : tensor<8xf16> to tensor<8xf32>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("math.exp %1 : tensor<8xf32>"), std::string::npos)
      << text;
  EXPECT_NE(text.find("arith.truncf %2 : tensor<8xf32> to tensor<8xf16>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("arith.mulf %0, %0 : tensor<8xf16>"), std::string::npos)
      << text;
}

} // namespace

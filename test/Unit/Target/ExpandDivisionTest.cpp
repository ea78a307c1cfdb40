//===- ExpandDivisionTest.cpp - quotients by one divisor -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Four quotients by one divisor have the bits of four divisions, the sign of zeros
// included, for operands of all magnitudes and for those whose quotients lie next to
// the middle between two numbers.
//===----------------------------------------------------------------------===//

#include "MathFunction.h"

#include <bit>
#include <gtest/gtest.h>
#include <random>

using tilec::MathFunction;

namespace {

/// Operands in fours: the four of y are the same.
struct Operands {
  std::vector<float> x, y;
  void add(float a0, float a1, float a2, float a3, float b) {
    x.insert(x.end(), {a0, a1, a2, a3});
    y.insert(y.end(), {b, b, b, b});
  }
};

const MathFunction &division() {
  static MathFunction function("%s = vector.extract %w[0] : f32 from VECTOR\n"
                               "%d = vector.broadcast %s : f32 to VECTOR\n"
                               "%r = arith.divf %v, %d : VECTOR",
                               "f32", 2);
  return function;
}

void expectExact(const Operands &operands) {
  std::vector<float> z = division()(operands.x, operands.y);
  size_t wrong = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    float exact = operands.x[i] / operands.y[i];
    bool same = std::isnan(exact) ? std::isnan(z[i])
                                  : std::bit_cast<uint32_t>(exact) == std::bit_cast<uint32_t>(z[i]);
    if (!same && ++wrong <= 5)
      ADD_FAILURE() << std::hexfloat << operands.x[i] << " / " << operands.y[i] << " is "
                    << z[i] << ", not " << exact;
  }
  EXPECT_EQ(wrong, 0u);
}

class Random {
public:
  uint32_t bits() { return engine(); }
  float any() { return std::bit_cast<float>(bits()); }
  /// Either sign, exponent in [low, high].
  float within(int low, int high) {
    float mantissa = std::bit_cast<float>((bits() & 0x807FFFFFu) | 0x3F800000u);
    return std::ldexp(mantissa, low + int(engine() % uint32_t(high - low + 1)));
  }

private:
  std::mt19937 engine{20240521};
};

TEST(ExpandDivision, AllMagnitudes) {
  Random random;
  Operands operands;
  for (int i = 0; i < 1 << 20; ++i)
    operands.add(random.any(), random.any(), random.any(), random.any(), random.any());
  expectExact(operands);
}

// The first test holds, the second does, or at the borders now one and now the other.
TEST(ExpandDivision, SafeMagnitudes) {
  Random random;
  const std::pair<int, int> ranges[] = {{-63, 0}, {-100, 99}, {-66, 2}, {-103, -97}, {97, 103}};
  for (auto [low, high] : ranges) {
    Operands operands;
    for (int i = 0; i < 1 << 19; ++i) {
      float a[4];
      for (float &x : a)
        x = random.bits() % 16 == 0 && low != -63 ? std::copysign(0.0f, random.any())
                                                  : random.within(low, high);
      operands.add(a[0], a[1], a[2], a[3], std::fabs(random.within(-26, 26)));
    }
    expectExact(operands);
  }
}

// a next to b (q + ulp / 2): what rounds wrongly if anything does.
TEST(ExpandDivision, NextToMiddles) {
  Random random;
  Operands operands;
  for (int i = 0; i < 1 << 19; ++i) {
    float b = std::fabs(random.within(-20, 20)), a[4];
    for (float &x : a) {
      double q = random.within(-40, -22);
      double ulp = std::ldexp(1.0, std::ilogb(q) - 23);
      x = static_cast<float>(b * (q + std::copysign(ulp / 2, q)));
    }
    operands.add(a[0], a[1], a[2], a[3], b);
  }
  // Divisors and operands with long runs of ones, where the error of 1 / b is largest.
  for (int i = 0; i < 1 << 18; ++i) {
    auto nearTwo = [&] { return std::bit_cast<float>(0x3FFFFFFFu - random.bits() % 4096); };
    operands.add(nearTwo(), nearTwo(), nearTwo(), nearTwo(), nearTwo());
  }
  expectExact(operands);
}

namespace {

/// e^x / y, four lanes to a divisor, must be what e^x alone gives, divided.
void expectDividedPowers(const std::string &power, const Operands &operands) {
  MathFunction alone("math.exp", "f32");
  MathFunction quotient("%e = " + power + " : VECTOR\n"
                        "%s = vector.extract %w[0] : f32 from VECTOR\n"
                        "%d = vector.broadcast %s : f32 to VECTOR\n"
                        "%r = arith.divf %e, %d : VECTOR",
                        "f32", 2);
  std::vector<float> powers = alone(operands.x), z = quotient(operands.x, operands.y);
  size_t wrong = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    float exact = powers[i] / operands.y[i];
    bool same = std::isnan(exact) ? std::isnan(z[i])
                                  : std::bit_cast<uint32_t>(exact) == std::bit_cast<uint32_t>(z[i]);
    if (!same && ++wrong <= 5)
      ADD_FAILURE() << std::hexfloat << "e^" << operands.x[i] << " / " << operands.y[i] << " is "
                    << z[i] << ", not " << exact;
  }
  EXPECT_EQ(wrong, 0u);
}

} // namespace

// e^x takes a shorter way where it is divided and all lanes are ordinary, and the division
// asks nothing then. Bits are those of e^x alone, divided.
TEST(ExpandDivision, PowersOfAllMagnitudes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float outside[] = {-64.00001f, 64.00001f, -87.4f, 88.8f,  -103.9f,   -105.0f,
                           -1000.0f,   1000.0f,   -infinity, infinity, std::nanf(""), 0x1p-149f};
  Random random;
  auto any = [&] { return (float(random.bits()) / 0x1p31f - 1) * 64; };
  Operands operands;
  for (int i = 0; i < 1 << 18; ++i) {
    float x[4] = {any(), any(), any(), any()};
    if (i % 4 == 0)
      x[random.bits() % 4] = outside[random.bits() % std::size(outside)];
    operands.add(x[0], x[1], x[2], x[3], std::fabs(random.within(i % 2 ? 0 : -27, i % 2 ? 0 : 27)));
  }
  expectDividedPowers("math.exp %v", operands);
}

// The same where powers are known to be at most 1, with padding of -infinity and with what
// is too small for the short way of the division.
TEST(ExpandDivision, PowersOfAtMostOne) {
  const float outside[] = {-69.0f,   -69.3147f, -69.3148f, -70.0f, -87.4f,         -103.9f,
                           -105.0f, -1000.0f,  0.0f,      -0.0f,  std::nanf(""), -0x1p-149f};
  Random random;
  auto any = [&] { return -float(random.bits()) / 0x1p32f * (random.bits() % 2 ? 8 : 72); };
  const float padding = -std::numeric_limits<float>::infinity();
  Operands operands;
  for (int i = 0; i < 1 << 18; ++i) {
    float x[4] = {any(), any(), any(), any()};
    for (int lane = 0; lane < i % 5; ++lane)
      x[3 - lane] = padding;
    if (i % 3 == 0)
      x[random.bits() % 4] = outside[random.bits() % std::size(outside)];
    operands.add(x[0], x[1], x[2], x[3], std::fabs(random.within(i % 2 ? 0 : -27, i % 2 ? 0 : 27)));
  }
  expectDividedPowers("math.exp %v {tile.at_most_one}", operands);
}

namespace {

/// Four elements less their maximum, which may be NaN or infinite.
void addRow(Operands &rows, const float (&x)[4]) {
  float most = x[0];
  for (float other : x)
    most = std::isnan(other) || std::isnan(most) ? std::nanf("") : std::max(most, other);
  rows.add(x[0], x[1], x[2], x[3], most);
}

/// Rows around zero and far from it, with padding, and with what leaves a thing of e^x.
Operands makeRows() {
  const float infinity = std::numeric_limits<float>::infinity();
  const float outside[] = {-62.0f,  -62.4f,  -69.3147f,   -87.4f, -103.9f,      -104.0f,
                           -104.1f, -1000.0f, -3.4028e38f, 0.0f,   std::nanf(""), infinity,
                           -1e9f,   -0x1p-149f, 3.4028e38f, -0.0f, -0x1p-20f,     -0x1p-16f};
  Random random;
  auto any = [&] { return -float(random.bits()) / 0x1p32f * (random.bits() % 2 ? 8 : 105); };
  Operands rows;
  for (int i = 0; i < 1 << 18; ++i) {
    float base = i % 2 ? 0 : 1000 * float(random.bits()) / 0x1p32f;
    float x[4] = {base, base + any(), base + any(), base + any()};
    for (int lane = 0; lane < i % 5; ++lane)
      x[3 - lane] = -infinity;
    if (i % 3 == 0)
      x[random.bits() % 4] = outside[random.bits() % std::size(outside)];
    addRow(rows, x);
  }
  return rows;
}

std::string powersOfRow(const char *result) {
  return "%s = vector.extract %w[0] : f32 from VECTOR\n"
         "%m = vector.broadcast %s : f32 to VECTOR\n"
         "%d = arith.subf %v, %m : VECTOR\n" +
         std::string(result) + " = math.exp %d {tile.at_most_one, tile.share} : VECTOR\n";
}

} // namespace

// Powers that are only divided by their sum are 2^106 times as large, so none is subnormal.
TEST(ExpandDivision, PowersOfShares) {
  Operands rows = makeRows();
  std::vector<float> e = MathFunction(powersOfRow("%r"), "f32", 2)(rows.x, rows.y);
  double worst = 0, worstOfSmall = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    float x = rows.x[i] - rows.y[i];
    if (x < -104) { // less than half of the smallest number
      EXPECT_LE(e[i], std::ldexp(1.0f, -44)) << x;
      continue;
    }
    double error = tilec::ulpError(e[i], std::ldexp(std::exp((long double)x), 106));
    double &most = x < -73 ? worstOfSmall : worst;
    most = std::max(most, error);
  }
  EXPECT_LE(worst, 1.2); // where 2^x is exact; the chip's gives 1.94
  EXPECT_LE(worstOfSmall, 44.0);
}

// Their shares are those of a division, but for the last bit of subnormal ones.
TEST(ExpandDivision, Shares) {
  Operands rows = makeRows();
  std::string sum = "%e0 = vector.extract %e[0] : f32 from VECTOR\n";
  for (int lane = 1; lane < 4; ++lane) {
    std::string n = std::to_string(lane), before = lane == 1 ? "%e0" : "%sum" + std::to_string(lane - 1);
    sum += "%e" + n + " = vector.extract %e[" + n + "] : f32 from VECTOR\n"
           "%sum" + n + " = arith.addf " + before + ", %e" + n + " : f32\n";
  }
  MathFunction softmax(powersOfRow("%e") + sum + "%b = vector.broadcast %sum3 : f32 to VECTOR\n"
                                                 "%r = arith.divf %e, %b {tile.share} : VECTOR",
                       "f32", 2);
  std::vector<float> e = MathFunction(powersOfRow("%r"), "f32", 2)(rows.x, rows.y);
  std::vector<float> z = softmax(rows.x, rows.y);
  size_t wrong = 0;
  for (size_t row = 0; row < z.size(); row += 4) {
    float total = e[row] + e[row + 1] + e[row + 2] + e[row + 3];
    for (size_t i = row; i < row + 4; ++i) {
      float exact = e[i] / total;
      bool same = std::isnan(exact) ? std::isnan(z[i])
                  : exact != 0 && exact < 0x1p-126f
                      ? std::fabs(z[i] - exact) <= 0x1p-149f
                      : std::bit_cast<uint32_t>(exact) == std::bit_cast<uint32_t>(z[i]);
      if (!same && ++wrong <= 5)
        ADD_FAILURE() << std::hexfloat << rows.x[i] << " less " << rows.y[i] << " gives " << z[i]
                      << ", not " << exact;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(ExpandDivision, Specials) {
  std::vector<float> values;
  for (float x : {0.0f, 0x1p-149f, 0x1p-127f, 0x1p-126f, 0x1p-100f, 0x1.fffffep-101f, 0x1p-63f,
                  0x1.fffffep-64f, 0x1p-25f, 0x1.fffffep-26f, 1.0f, 0x1.fffffep0f, 2.0f, 3.0f,
                  0x1p25f, 0x1.000002p25f, 0x1p100f, 0x1.000002p100f, 0x1.fffffep127f,
                  std::numeric_limits<float>::infinity(),
                  std::numeric_limits<float>::quiet_NaN()})
    values.insert(values.end(), {x, -x});
  Operands operands;
  for (float b : values)
    for (float a : values)
      for (float other : values)
        for (float zero : {0.0f, -0.0f, 1.0f})
          operands.add(a, other, zero, 0.75f, b);
  expectExact(operands);
}

} // namespace

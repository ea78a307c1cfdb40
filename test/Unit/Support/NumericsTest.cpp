//===- NumericsTest.cpp - arithmetic against APFloat, APInt -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Conversions are compared with LLVM's APFloat, exhaustively for all f16 and
// bf16 patterns and all midpoints of the 8- and 16-bit formats; integer
// operations with APInt, exhaustively for 8 bits.

#include "tilec/Support/Numerics.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tilec;
using namespace tilec::numerics;
using llvm::APFloat;
using llvm::APInt;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double quietNaN = std::numeric_limits<double>::quiet_NaN();

const llvm::fltSemantics &semantics(DType type) {
  switch (type) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F32:
    return APFloat::IEEEsingle();
  case DType::TF32:
    return APFloat::FloatTF32();
  case DType::F8E4M3:
    return APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return APFloat::Float8E5M2();
  default:
    return APFloat::IEEEdouble();
  }
}

unsigned patternWidth(DType type) {
  return type == DType::TF32 ? 19 : dtypeBits(type);
}

APFloat::roundingMode mode(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return APFloat::rmNearestTiesToEven;
  case Rounding::TowardZero:
    return APFloat::rmTowardZero;
  case Rounding::Down:
    return APFloat::rmTowardNegative;
  default:
    return APFloat::rmTowardPositive;
  }
}

/// What APFloat and the language's rule for f8 give for `value`.
uint64_t expected(DType to, APFloat value, Rounding rounding) {
  if (value.isNaN())
    return nanBits(to);
  bool negative = value.isNegative();
  if (isF8(to)) {
    APFloat largest = APFloat::getLargest(semantics(to), negative);
    bool lost;
    largest.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &lost);
    if (abs(value) >= abs(largest))
      return largestFiniteBits(to, negative);
    rounding = Rounding::NearestEven;
  }
  bool lost;
  value.convert(semantics(to), mode(rounding), &lost);
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  return to == DType::TF32 ? bits << 13 : bits;
}

const DType floats[] = {DType::F16,  DType::BF16,   DType::F32,   DType::F64,
                        DType::TF32, DType::F8E4M3, DType::F8E5M2};
const Rounding roundings[] = {Rounding::NearestEven, Rounding::TowardZero,
                              Rounding::Down, Rounding::Up};

TEST(Numerics, DecodeAllNarrowPatterns) {
  for (DType type :
       {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3, DType::F8E5M2}) {
    unsigned width = patternWidth(type);
    for (uint64_t pattern = 0; pattern < (uint64_t(1) << width); ++pattern) {
      APFloat value(semantics(type), APInt(width, pattern));
      bool lost;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      uint64_t word = type == DType::TF32 ? pattern << 13 : pattern;
      double ours = decode(type, word);
      if (value.isNaN()) {
        EXPECT_TRUE(std::isnan(ours)) << dtypeName(type) << " " << pattern;
        continue;
      }
      ASSERT_EQ(ours, value.convertToDouble())
          << dtypeName(type) << " " << pattern;
      if (!isF8(type) || std::isfinite(ours)) // the way to f8 saturates
        ASSERT_EQ(encode(type, ours), word)
            << dtypeName(type) << " " << pattern;
    }
  }
}

TEST(Numerics, WidenAndNarrowKeepEveryWord) {
  for (DType type :
       {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3, DType::F8E5M2})
    for (uint64_t pattern = 0; pattern < (uint64_t(1) << patternWidth(type));
         ++pattern) {
      uint64_t word = type == DType::TF32 ? pattern << 13 : pattern;
      uint32_t wide = widen(type, word);
      ASSERT_EQ(narrow(type, wide), word) << dtypeName(type) << " " << pattern;
      float value = std::bit_cast<float>(wide);
      ASSERT_EQ(std::isnan(value), isNaN(type, word));
      if (!std::isnan(value))
        ASSERT_EQ(value, decode(type, word)) << dtypeName(type) << " " << pattern;
    }
}

TEST(Numerics, NarrowRoundsAsEncode) {
  std::mt19937 random(7);
  for (DType type :
       {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3, DType::F8E5M2})
    for (int i = 0; i < 100000; ++i) {
      uint32_t bits = static_cast<uint32_t>(random());
      float value = std::bit_cast<float>(bits);
      if (std::isfinite(value))
        ASSERT_EQ(narrow(type, bits), encode(type, value))
            << dtypeName(type) << " " << bits;
    }
}

TEST(Numerics, AllF16ToF8AndBack) {
  for (DType f8 : {DType::F8E4M3, DType::F8E5M2})
    for (uint64_t pattern = 0; pattern < 65536; ++pattern) {
      APFloat value(APFloat::IEEEhalf(), APInt(16, pattern));
      uint64_t word = cast(pattern, DType::F16, f8);
      ASSERT_EQ(word, expected(f8, value, Rounding::NearestEven))
          << dtypeName(f8) << " " << pattern;
      // Every f8 value is an f16: the way back and there again is exact.
      ASSERT_EQ(cast(cast(word, f8, DType::F16), DType::F16, f8), word);
    }
}

TEST(Numerics, All16BitPatternsToEachOther) {
  for (DType from : {DType::F16, DType::BF16})
    for (DType to : floats)
      for (Rounding rounding : roundings)
        for (uint64_t pattern = 0; pattern < 65536; ++pattern) {
          if (from == to)
            continue;
          APFloat value(semantics(from), APInt(16, pattern));
          ASSERT_EQ(cast(pattern, from, to, rounding),
                    expected(to, value, rounding))
              << dtypeName(from) << " " << pattern << " to " << dtypeName(to);
        }
}

// Around every midpoint of neighbours: where rounding decides.
TEST(Numerics, MidpointsFromF32) {
  for (DType to : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2})
    for (uint64_t pattern = 0; pattern < (uint64_t(1) << (dtypeBits(to) - 1));
         ++pattern) {
      double low = decode(to, pattern), high = decode(to, pattern + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        continue;
      float middle = static_cast<float>((low + high) / 2);
      for (float value : {std::nextafter(middle, 0.0f), middle,
                          std::nextafter(middle, INFINITY), -middle})
        for (Rounding rounding : roundings)
          ASSERT_EQ(encode(to, value, rounding),
                    expected(to, APFloat(value), rounding))
              << dtypeName(to) << " " << value;
    }
}

TEST(Numerics, RandomDoublesToEveryFormat) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint64_t word = random();
    if (i % 2) // exponents near those of the narrow formats
      word =
          (word & 0x800fffffffffffff) | ((1023 - 160 + random() % 300) << 52);
    APFloat value(APFloat::IEEEdouble(), APInt(64, word));
    for (DType to : floats)
      for (Rounding rounding : roundings)
        if (to != DType::F64)
          ASSERT_EQ(cast(word, DType::F64, to, rounding),
                    expected(to, value, rounding))
              << dtypeName(to) << " " << word;
  }
}

TEST(Numerics, OverflowFollowsTheRounding) {
  EXPECT_EQ(encode(DType::F16, 65519), 0x7bffu);
  EXPECT_EQ(encode(DType::F16, 65520), 0x7c00u);
  EXPECT_EQ(encode(DType::F16, 1e9, Rounding::TowardZero), 0x7bffu);
  EXPECT_EQ(encode(DType::F16, -1e9, Rounding::Up), 0xfbffu);
  EXPECT_EQ(encode(DType::F16, -1e9, Rounding::Down), 0xfc00u);
  EXPECT_EQ(encode(DType::F16, inf, Rounding::TowardZero), 0x7c00u);
}

TEST(Numerics, F8Saturates) {
  for (double big : {449.0, 464.0, 480.0, 1e30, inf}) {
    EXPECT_EQ(encode(DType::F8E4M3, big), 0x7eu);
    EXPECT_EQ(encode(DType::F8E4M3, -big), 0xfeu);
  }
  EXPECT_EQ(encode(DType::F8E5M2, 57345), 0x7bu);
  EXPECT_EQ(encode(DType::F8E5M2, -inf), 0xfbu);
  EXPECT_EQ(encode(DType::F8E4M3, quietNaN), 0x7fu);
  EXPECT_EQ(encode(DType::F8E5M2, quietNaN), 0x7fu);
}

TEST(Numerics, FloatToInteger) {
  auto toInteger = [](double value, DType to) {
    return static_cast<int64_t>(
        cast(encode(DType::F64, value), DType::F64, to));
  };
  EXPECT_EQ(toInteger(-1.9, DType::I32), -1);
  EXPECT_EQ(toInteger(1e10, DType::I32), INT32_MAX);
  EXPECT_EQ(toInteger(-inf, DType::I8), -128);
  EXPECT_EQ(toInteger(quietNaN, DType::I16), 0);
  EXPECT_EQ(toInteger(-5, DType::U32), 0);
  EXPECT_EQ(toInteger(300, DType::U8), 255);
  EXPECT_EQ(toInteger(1e30, DType::Int), INT64_MAX);
  EXPECT_EQ(toInteger(9.3e18, DType::I64), INT64_MAX);
  EXPECT_EQ(static_cast<uint64_t>(toInteger(9.3e18, DType::U64)),
            9300000000000000000u);
  EXPECT_EQ(static_cast<uint64_t>(toInteger(1e30, DType::U64)), UINT64_MAX);
  EXPECT_EQ(toInteger(0.25, DType::Bool), 1);
  EXPECT_EQ(toInteger(quietNaN, DType::Bool), 1);
  EXPECT_EQ(toInteger(-0.0, DType::Bool), 0);
}

TEST(Numerics, IntegerToFloatRoundsOnce) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    uint64_t word = random() >> (random() % 64);
    for (bool isSigned : {false, true})
      for (DType to :
           {DType::F16, DType::BF16, DType::F32, DType::F64, DType::TF32}) {
        APFloat value(semantics(to));
        value.convertFromAPInt(APInt(64, word), isSigned,
                               APFloat::rmNearestTiesToEven);
        uint64_t bits = value.bitcastToAPInt().getZExtValue();
        ASSERT_EQ(cast(word, isSigned ? DType::I64 : DType::U64, to),
                  to == DType::TF32 ? bits << 13 : bits)
            << dtypeName(to) << " " << word;
      }
  }
  // To f8 through f32: 2^24 + 1 is a tie in f32 only.
  EXPECT_EQ(cast(300, DType::I32, DType::F8E4M3), encode(DType::F8E4M3, 288));
  EXPECT_EQ(cast(~uint64_t(0), DType::I8, DType::F8E5M2),
            encode(DType::F8E5M2, -1));
}

TEST(Numerics, IntegersWrapAndExtend) {
  EXPECT_EQ(cast(300, DType::I32, DType::I8), 44u);
  EXPECT_EQ(cast(200, DType::U8, DType::I8), static_cast<uint64_t>(-56));
  EXPECT_EQ(cast(static_cast<uint64_t>(-1), DType::I8, DType::U32),
            0xffffffffu);
  EXPECT_EQ(cast(static_cast<uint64_t>(-1), DType::I8, DType::Int),
            ~uint64_t(0));
  EXPECT_EQ(cast(1, DType::Bool, DType::I64), 1u);
  EXPECT_EQ(add(DType::I8, 127, 1), static_cast<uint64_t>(-128));
  EXPECT_EQ(add(DType::U8, 255, 1), 0u);
  EXPECT_EQ(multiply(DType::U64, UINT64_MAX, UINT64_MAX), 1u);
  EXPECT_EQ(multiplyHigh(DType::U64, UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
  EXPECT_EQ(multiplyHigh(DType::I64, ~uint64_t(0), 1), ~uint64_t(0));
}

int64_t floorOf(int64_t a, int64_t b) {
  return static_cast<int64_t>(
      std::floor(static_cast<double>(a) / static_cast<double>(b)));
}
int64_t ceilOf(int64_t a, int64_t b) {
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(a) / static_cast<double>(b)));
}

TEST(Numerics, All8BitPairs) {
  for (DType type : {DType::I8, DType::U8})
    for (int left = 0; left < 256; ++left)
      for (int right = 0; right < 256; ++right) {
        uint64_t a = normalize(type, left), b = normalize(type, right);
        auto value = [](uint64_t word) { return static_cast<int64_t>(word); };
        auto wrapped = [&](int64_t result) {
          return normalize(type, static_cast<uint64_t>(result));
        };
        if (b != 0) {
          int64_t x = value(a), y = value(b);
          ASSERT_EQ(divide(type, a, b, QuotientRounding::Trunc),
                    wrapped(x / y));
          ASSERT_EQ(divide(type, a, b, QuotientRounding::Floor),
                    wrapped(floorOf(x, y)));
          ASSERT_EQ(divide(type, a, b, QuotientRounding::Ceil),
                    wrapped(ceilOf(x, y)));
          ASSERT_EQ(remainder(type, a, b, QuotientRounding::Trunc),
                    wrapped(x % y));
          ASSERT_EQ(remainder(type, a, b, QuotientRounding::Floor),
                    wrapped(x - y * floorOf(x, y)));
        }
        ASSERT_EQ(shiftLeft(type, a, b),
                  right < 8 ? wrapped(value(a) << right) : 0u);
        int64_t far = value(a) < 0 ? -1 : 0;
        ASSERT_EQ(shiftRight(type, a, b),
                  wrapped(right < 8 ? value(a) >> right : far));
        ASSERT_EQ(multiplyHigh(type, a, b),
                  wrapped((value(a) * value(b)) >> 8));
        ASSERT_EQ(compare(type, a, b),
                  value(a) < value(b) ? -1 : value(a) > value(b));
      }
}

TEST(Numerics, DivisionNeverTraps) {
  uint64_t least = leastInteger(DType::I64);
  EXPECT_EQ(divide(DType::I64, least, ~uint64_t(0), QuotientRounding::Trunc),
            least);
  EXPECT_EQ(remainder(DType::I64, least, ~uint64_t(0), QuotientRounding::Trunc),
            0u);
  EXPECT_EQ(divide(DType::I32, leastInteger(DType::I32), ~uint64_t(0),
                   QuotientRounding::Floor),
            leastInteger(DType::I32));
  divide(DType::I32, 1, 0, QuotientRounding::Ceil);
}

TEST(Numerics, BitCounts) {
  EXPECT_EQ(countLeadingZeros(DType::I8, 0), 8u);
  EXPECT_EQ(countTrailingZeros(DType::U64, 0), 64u);
  EXPECT_EQ(countLeadingZeros(DType::I16, 1), 15u);
  EXPECT_EQ(countLeadingZeros(DType::I8, normalize(DType::I8, 0x80)), 0u);
  EXPECT_EQ(populationCount(DType::I32, ~uint64_t(0)), 32u);
  EXPECT_EQ(absolute(DType::I8, normalize(DType::I8, 0x80)),
            normalize(DType::I8, 0x80));
}

TEST(Numerics, MinAndMaxOrderZerosAndNaN) {
  EXPECT_TRUE(std::signbit(minimum(0.0, -0.0)));
  EXPECT_FALSE(std::signbit(maximum(-0.0, 0.0)));
  EXPECT_TRUE(std::isnan(minimum(quietNaN, 1)));
  EXPECT_TRUE(std::isnan(maximum(1, quietNaN)));
  EXPECT_EQ(minimumNumber(quietNaN, 1), 1);
  EXPECT_EQ(maximumNumber(2, quietNaN), 2);
  EXPECT_TRUE(std::isnan(minimumNumber(quietNaN, quietNaN)));
}

TEST(Numerics, FloatRounding) {
  EXPECT_EQ(roundEven(0.5), 0);
  EXPECT_EQ(roundEven(1.5), 2);
  EXPECT_EQ(roundEven(2.5), 2);
  EXPECT_EQ(roundEven(-2.5), -2);
  EXPECT_TRUE(std::signbit(roundEven(-0.25)));
  EXPECT_EQ(roundEven(-inf), -inf);
  EXPECT_EQ(floorMod(-7, 3), 2);
  EXPECT_EQ(floorMod(7, -3), -2);
  EXPECT_TRUE(std::signbit(floorMod(6, -3)));
}

} // namespace

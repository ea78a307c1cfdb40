//===- ConstEvalTest.cpp - compile-time arithmetic is that of run time ---*- C++
//-*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compile-time values against Support/Numerics.h, which folders and interpreter
// use: two independent definitions of the language's rules, compared on random
// and special words of every dtype.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/ConstEval.h"
#include "tilec/Support/Numerics.h"
#include "gtest/gtest.h"
#include <random>

using namespace tilec;

namespace {

std::vector<uint64_t> words(DType type, unsigned count) {
  std::vector<uint64_t> list;
  for (uint64_t word :
       {0ull, 1ull, 2ull, 7ull, 0x7full, 0x80ull, 0xffull, 0x7fffull, 0x8000ull,
        0x7fffffffull, 0x80000000ull, 0x7fffffffffffffffull,
        0x8000000000000000ull, ~0ull, ~1ull})
    list.push_back(numerics::normalize(type, word));
  if (isFloat(type)) {
    list.push_back(numerics::nanBits(type));
    list.push_back(numerics::infinityBits(type));
    list.push_back(numerics::infinityBits(type, true));
    list.push_back(numerics::largestFiniteBits(type));
    for (double value : {0.5, 1.0, 1.5, 2.5, -0.5, -2.5, 65504.0, 65520.0, 1e10,
                         -1e20, 1e-8, 448.0, 464.0, 1e300})
      list.push_back(numerics::encode(type, value));
  }
  std::mt19937_64 random(static_cast<unsigned>(type) + 1);
  while (list.size() < count) {
    uint64_t word = random();
    // Small magnitudes of integers are as interesting as large ones.
    list.push_back(numerics::normalize(
        type, isFloat(type) ? word : word >> (random() % 64)));
  }
  if (type == DType::TF32)
    for (uint64_t &word : list)
      word = numerics::encode(type, numerics::decode(type, word));
  return list;
}

/// Equal words; NaNs are equal whatever their payload.
bool same(DType type, uint64_t a, uint64_t b) {
  return a == b || (isFloat(type) && numerics::isNaN(type, a) &&
                    numerics::isNaN(type, b));
}

TEST(ConstEval, Conversions) {
  for (unsigned from = 0; from < numDTypes; ++from)
    for (unsigned to = 0; to < numDTypes; ++to)
      for (uint64_t word : words(DType(from), 300)) {
        const uint64_t want = numerics::cast(word, DType(from), DType(to));
        ConstValue value(DType(from), word);
        // Through f32, as the checker makes explicit.
        const auto isStorage = [](DType type) {
          return isF8(type) || type == DType::TF32;
        };
        if ((isStorage(DType(from)) && !isFloat(DType(to))) ||
            (isStorage(DType(to)) && !isFloat(DType(from))))
          value = evalCast(value, DType::F32);
        const uint64_t found = evalCast(value, DType(to)).bits();
        ASSERT_TRUE(same(DType(to), found, want))
            << dtypeName(DType(from)) << " " << word << " to "
            << dtypeName(DType(to)) << ": " << found << " vs " << want;
      }
}

TEST(ConstEval, RoundedConversions) {
  using R = numerics::Rounding;
  for (auto [mine, theirs] :
       {std::pair(checked::Rounding::TowardZero, R::TowardZero),
        std::pair(checked::Rounding::Down, R::Down),
        std::pair(checked::Rounding::Up, R::Up)})
    for (DType from : {DType::F16, DType::F32, DType::F64})
      for (DType to : {DType::F16, DType::BF16, DType::F32, DType::TF32})
        for (uint64_t word : words(from, 500))
          ASSERT_TRUE(same(to,
                           evalCast(ConstValue(from, word), to, mine).bits(),
                           numerics::cast(word, from, to, theirs)))
              << dtypeName(from) << " " << word << " to " << dtypeName(to);
}

TEST(ConstEval, Integers) {
  using B = checked::BinaryOp;
  using Q = numerics::QuotientRounding;
  for (DType type : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8,
                     DType::U16, DType::U32, DType::U64, DType::Int}) {
    const std::vector<uint64_t> list = words(type, 120);
    for (uint64_t a : list)
      for (uint64_t b : list) {
        auto eval = [&](B op) {
          EvalResult result =
              evalBinary(op, ConstValue(type, a), ConstValue(type, b));
          return result.value ? result.value->bits() : 0;
        };
        ASSERT_EQ(eval(B::Add), numerics::add(type, a, b));
        ASSERT_EQ(eval(B::Sub), numerics::subtract(type, a, b));
        ASSERT_EQ(eval(B::Mul), numerics::multiply(type, a, b));
        ASSERT_EQ(eval(B::MulHi), numerics::multiplyHigh(type, a, b))
            << dtypeName(type) << a << " " << b;
        ASSERT_EQ(eval(B::Shl), numerics::shiftLeft(type, a, b));
        ASSERT_EQ(eval(B::Shr), numerics::shiftRight(type, a, b))
            << dtypeName(type) << a << " " << b;
        ASSERT_EQ(evalCompare(checked::CompareOp::Lt, ConstValue(type, a),
                              ConstValue(type, b)),
                  numerics::compare(type, a, b) < 0);
        if (b == 0)
          continue;
        ASSERT_EQ(eval(B::Div), numerics::divide(type, a, b, Q::Trunc));
        ASSERT_EQ(eval(B::FloorDiv), numerics::divide(type, a, b, Q::Floor));
        ASSERT_EQ(eval(B::CeilDiv), numerics::divide(type, a, b, Q::Ceil));
        ASSERT_EQ(eval(B::Rem), numerics::remainder(type, a, b, Q::Trunc));
        ASSERT_EQ(eval(B::Mod), numerics::remainder(type, a, b, Q::Floor));
      }
    for (uint64_t a : list) {
      auto eval = [&](checked::UnaryOp op) {
        return evalUnary(op, ConstValue(type, a)).value->bits();
      };
      ASSERT_EQ(eval(checked::UnaryOp::Abs), numerics::absolute(type, a));
      ASSERT_EQ(eval(checked::UnaryOp::Popcount),
                numerics::populationCount(type, a));
      ASSERT_EQ(eval(checked::UnaryOp::Clz),
                numerics::countLeadingZeros(type, a));
      ASSERT_EQ(eval(checked::UnaryOp::Ctz),
                numerics::countTrailingZeros(type, a));
    }
  }
}

TEST(ConstEval, Floats) {
  using B = checked::BinaryOp;
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const std::vector<uint64_t> list = words(type, 120);
    for (uint64_t a : list)
      for (uint64_t b : list) {
        auto eval = [&](B op) {
          return evalBinary(op, ConstValue(type, a), ConstValue(type, b))
              .value->bits();
        };
        const double x = numerics::decode(type, a),
                     y = numerics::decode(type, b);
        auto check = [&](B op, double want) {
          ASSERT_TRUE(same(type, eval(op), numerics::encode(type, want)))
              << checked::spelling(op).str() << " " << x << " " << y << ": "
              << numerics::decode(type, eval(op));
        };
        check(B::Min, numerics::minimum(x, y));
        check(B::Max, numerics::maximum(x, y));
        check(B::MinNum, numerics::minimumNumber(x, y));
        check(B::MaxNum, numerics::maximumNumber(x, y));
        check(
            B::Add,
            x + y); // in double, rounded once more: innocuous for these formats
        check(B::Mul, x * y);
        check(B::Div, x / y);
      }
  }
}

TEST(ConstEval, LiteralsAreRoundedOnce) {
  // Just above the tie of two f32 values; rounded through f64 it would be the
  // tie.
  const char *digits = "1.00000005960464477540";
  EXPECT_EQ(
      convertWeak(ConstValue::weakFloat(digits, false), DType::F32)->bits(),
      0x3f800001u);
  EXPECT_EQ(convertWeak(ConstValue::weakFloat("0.1", true), DType::F64)->bits(),
            0xbfb999999999999aull);
  EXPECT_FALSE(
      convertWeak(ConstValue::weakFloat("65520.0", false), DType::F16));
  EXPECT_TRUE(convertWeak(ConstValue::weakFloat("65519.0", false), DType::F16));
  EXPECT_TRUE(convertWeak(ConstValue::weakFloat("inf", true), DType::F16));
  EXPECT_FALSE(convertWeak(ConstValue::weakFloat("1.0", false), DType::I32));
  EXPECT_EQ(convertWeak(ConstValue::weakInt(128, true), DType::I8)->bits(),
            uint64_t(-128));
  EXPECT_FALSE(convertWeak(ConstValue::weakInt(128, false), DType::I8));
  EXPECT_FALSE(convertWeak(ConstValue::weakInt(1, true), DType::U8));
  EXPECT_EQ(convertWeak(ConstValue::weakInt(~0ull, false), DType::U64)->bits(),
            ~0ull);
  EXPECT_FALSE(convertWeak(ConstValue::weakInt(~0ull, false), DType::Int));
}

} // namespace

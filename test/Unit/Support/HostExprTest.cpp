//===- HostExprTest.cpp - host expressions ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Reading, printing and values of host expressions, including what must fail.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/HostExpr.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace tilec;

static const KernelArg sampleArgs[] = {
    ArrayArg::rowMajor(reinterpret_cast<void *>(0x1040), DType::F32, {300, 40}),
    ScalarArg::integer(DType::I32, -7),
    ScalarArg::f32(0.5f),
    ScalarArg::boolean(true),
    ScalarArg{DType::BF16, 0x3fc0},  // 1.5
    ScalarArg{DType::F16, 0xc000},   // -2
    ScalarArg{DType::F8E4M3, 0x7e},  // 448
    ScalarArg{DType::F8E5M2, 0x01},  // 2^-16
    ScalarArg{DType::U8, 0xff},
};

/// The value's text, or "error: …".
static std::string eval(std::string_view text) {
  auto e = HostExpr::parse(text);
  if (!e)
    return "parse error: " + e.failure().message;
  auto v = e->evaluate(sampleArgs);
  return v ? v->str() : "error: " + v.failure().message;
}

TEST(HostExpr, Operands) {
  EXPECT_EQ(eval("dim(0, 0)"), "300");
  EXPECT_EQ(eval("dim(0,1)"), "40");
  EXPECT_EQ(eval("arg(1)"), "-7");
  EXPECT_EQ(eval("arg(2)"), "0.5");
  EXPECT_EQ(eval("arg(3)"), "true");
  EXPECT_EQ(eval("arg(4)"), "1.5");
  EXPECT_EQ(eval("arg(5)"), "-2.0");
  EXPECT_EQ(eval("arg(6)"), "448.0");
  EXPECT_EQ(eval("arg(7) * 65536.0"), "1.0");
  EXPECT_EQ(eval("arg(8)"), "255");
  EXPECT_EQ(eval("aligned(0, 64)"), "true");
  EXPECT_EQ(eval("aligned(0, 128)"), "false");
}

TEST(HostExpr, NumberOfMultiprocessors) {
  EXPECT_EQ(eval("num_sms()"), "1"); // until told
  auto e = HostExpr::parse("min(num_sms() * 2, cdiv(dim(0, 0), 2))");
  ASSERT_TRUE(e) << e.failure().message;
  EXPECT_EQ(e->str(), "min(num_sms() * 2, cdiv(dim(0, 0), 2))");
  EXPECT_EQ(e->evaluate(sampleArgs, 132)->str(), "150");
  EXPECT_EQ(e->evaluate(sampleArgs, 20)->str(), "40");
  EXPECT_FALSE(HostExpr::parse("num_sms"));
  EXPECT_FALSE(HostExpr::parse("num_sms(0)"));
}

TEST(HostExpr, Precedence) {
  EXPECT_EQ(eval("1 + 2 * 3"), "7");
  EXPECT_EQ(eval("(1 + 2) * 3"), "9");
  EXPECT_EQ(eval("10 - 3 - 2"), "5");
  EXPECT_EQ(eval("100 / 10 / 5"), "2");
  EXPECT_EQ(eval("1 < 2 && 3 < 2 || true"), "true");
  EXPECT_EQ(eval("true || false && false"), "true");
  EXPECT_EQ(eval("1 < 2 ? 10 : 1 / 0"), "10");
  EXPECT_EQ(eval("false ? 1 : true ? 2 : 3"), "2");
  EXPECT_EQ(eval("-2 - -3"), "1");
  EXPECT_EQ(eval("!(1 == 2)"), "true");
}

TEST(HostExpr, IntegerDivision) {
  EXPECT_EQ(eval("-7 / 2"), "-3");
  EXPECT_EQ(eval("-7 % 2"), "-1");
  EXPECT_EQ(eval("floordiv(-7, 2)"), "-4");
  EXPECT_EQ(eval("mod(-7, 2)"), "1");
  EXPECT_EQ(eval("mod(7, -2)"), "-1");
  EXPECT_EQ(eval("cdiv(7, 2)"), "4");
  EXPECT_EQ(eval("cdiv(-7, 2)"), "-3");
  EXPECT_EQ(eval("cdiv(-8, 2)"), "-4");
  EXPECT_EQ(eval("-9223372036854775808 / -1"), "-9223372036854775808");
  EXPECT_EQ(eval("-9223372036854775808 % -1"), "0");
  EXPECT_EQ(eval("1 / 0"), "error: division by zero in `1 / 0`");
  EXPECT_EQ(eval("mod(1, 0)"), "error: division by zero in `mod(1, 0)`");
}

TEST(HostExpr, IntegersWrap) {
  EXPECT_EQ(eval("9223372036854775807 + 1"), "-9223372036854775808");
  EXPECT_EQ(eval("9223372036854775807 * 2"), "-2");
  EXPECT_EQ(eval("abs(-9223372036854775808)"), "-9223372036854775808");
  EXPECT_EQ(eval("min(3, -4)"), "-4");
  EXPECT_EQ(eval("max(3, -4)"), "3");
}

TEST(HostExpr, Floats) {
  EXPECT_EQ(eval("1 + 0.5"), "1.5");
  EXPECT_EQ(eval("1.0 / 0"), "inf");
  EXPECT_EQ(eval("-1.0 / 0.0 == -inf"), "true");
  EXPECT_EQ(eval("nan != nan"), "true");
  EXPECT_EQ(eval("nan <= nan"), "false");
  EXPECT_EQ(eval("max(1.0, nan)"), "nan");
  EXPECT_EQ(eval("min(0.0, -0.0)"), "-0.0");
  EXPECT_EQ(eval("max(-0.0, 0.0)"), "0.0");
  EXPECT_EQ(eval("mod(-7.5, 2.0)"), "0.5");
  EXPECT_EQ(eval("-7.5 % 2.0"), "-1.5");
  EXPECT_EQ(eval("floordiv(-7.5, 2.0)"), "-4.0");
  EXPECT_EQ(eval("int(-1e30)"), "-9223372036854775808");
  EXPECT_EQ(eval("int(nan)"), "0");
  EXPECT_EQ(eval("int(2.9)"), "2");
  EXPECT_EQ(eval("float(3)"), "3.0");
}

TEST(HostExpr, WrongKinds) {
  EXPECT_EQ(eval("1 && true"), "error: a bool is needed in `1 && true`");
  EXPECT_EQ(eval("true + 1"), "error: a number is needed, found a bool in `true + 1`");
  EXPECT_EQ(eval("dim(1, 0)"), "error: no such dim in `dim(1, 0)`");
  EXPECT_EQ(eval("dim(0, 2)"), "error: no such dim in `dim(0, 2)`");
  EXPECT_EQ(eval("arg(0)"), "error: no such scalar in `arg(0)`");
  EXPECT_EQ(eval("arg(99)"), "error: no such scalar in `arg(99)`");
  EXPECT_EQ(eval("aligned(0, 0)"), "error: alignment is not a positive int in `aligned(0, 0)`");
  // What is not needed is not evaluated.
  EXPECT_EQ(eval("false && 1 / 0 == 1"), "false");
  EXPECT_EQ(eval("true || 1 / 0 == 1"), "true");
}

TEST(HostExpr, MalformedText) {
  for (const char *text :
       {"", " ", "1 +", "(1", "1)", "1 < 2 < 3", "dim(0)", "dim(0, 1", "foo(1)", "x", "1 2", "&&",
        "99999999999999999999", "1e", "1.2.3", "? 1 : 2", "1 ? 2", "cdiv(1)", "abs()", "dim(-1, 0)",
        "@", "1 & 2", "= 1", "\xff\xfe"})
    EXPECT_FALSE(HostExpr::parse(text)) << text;
  EXPECT_EQ(HostExpr::parse("1 + foo(2)").failure().message,
            "host expression `1 + foo(2)`: unknown name `foo` at column 5");
}

TEST(HostExpr, LimitsOnText) {
  EXPECT_TRUE(HostExpr::parse(std::string(200, '(') + "1" + std::string(200, ')')));
  EXPECT_FALSE(HostExpr::parse(std::string(100000, '(')));
  EXPECT_FALSE(HostExpr::parse(std::string(100000, '-') + "dim(0, 0)"));
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i)
    sum += "+1";
  EXPECT_FALSE(HostExpr::parse(sum));
}

/// A random expression; its values may well be errors.
static HostExpr randomExpr(std::mt19937 &rng, int depth) {
  auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  if (depth == 0)
    switch (pick(6)) {
    case 0:
      return HostExpr::integer(static_cast<int64_t>(rng()) - (int64_t(1) << 31));
    case 1:
      return HostExpr::real((pick(2000) - 1000) / 8.0);
    case 2:
      return HostExpr::boolean(pick(2));
    case 3:
      return HostExpr::dim(0, pick(2));
    case 4:
      return HostExpr::numSMs();
    default:
      return HostExpr::arg(1 + pick(3));
    }
  using Op = HostExpr::Op;
  int op = static_cast<int>(Op::Aligned) +
           pick(static_cast<int>(Op::Select) - static_cast<int>(Op::Aligned) + 1);
  HostExpr x = randomExpr(rng, depth - 1), y = randomExpr(rng, depth - 1);
  if (op == static_cast<int>(Op::Aligned))
    return HostExpr::aligned(0, x);
  if (op <= static_cast<int>(Op::ToFloat))
    return HostExpr::unary(static_cast<Op>(op), x);
  if (op == static_cast<int>(Op::Select))
    return HostExpr::select(x, y, randomExpr(rng, depth - 1));
  return HostExpr::binary(static_cast<Op>(op), x, y);
}

TEST(HostExpr, PrintedTextReadsBackTheSame) {
  std::mt19937 rng(1);
  for (int i = 0; i < 3000; ++i) {
    HostExpr e = randomExpr(rng, i % 6);
    std::string text = e.str();
    auto back = HostExpr::parse(text);
    ASSERT_TRUE(back) << text << "\n" << back.failure().message;
    ASSERT_EQ(back->str(), text);
    ASSERT_EQ(back->getNodes().size(), e.getNodes().size()) << text;
    auto v = e.evaluate(sampleArgs), w = back->evaluate(sampleArgs);
    ASSERT_EQ(bool(v), bool(w)) << text;
    if (v) {
      ASSERT_EQ(v->str(), w->str()) << text;
    }
  }
}

//===- CheckedTest.cpp - what --checked finds ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Each defect is found by the interpreter and by compiled code, with one message; a
// program without defects says nothing.
//
//===------------------------------------------------------------------------===//

#include "SourceRunner.h"

#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

void expect(const std::string &source, const std::vector<KernelArg> &args,
            const std::string &failed) {
  CompileOptions options;
  options.checked = true;
  for (const RunResult &result : {interpret(source, args, options), emulate(source, args, options)}) {
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.failed, failed);
  }
}

ScalarArg number(int64_t value) { return ScalarArg::integer(DType::Int, value); }

TEST(Checked, Assumptions) {
  std::string source = "kernel k(n: int) grid [2] { assume(n + bid(0) < 10); }";
  expect(source, {number(8)}, "");
  expect(source, {number(9)},
         "k.tile:1:29: assertion failed: the assumption `n + bid(0) < 10` is false "
         "(block (1, 0, 0))");
}

TEST(Checked, Sums) {
  std::string source = "kernel k(a: int, b: int, y: mut array<int, [1]>) grid [1] {\n"
                       "  store_at(y, [0], a + b); }";
  int64_t y = 0;
  KernelArg out = ArrayArg::rowMajor(&y, DType::Int, {1});
  expect(source, {number(INT64_MAX - 1), number(1), out}, "");
  EXPECT_EQ(y, INT64_MAX);
  expect(source, {number(INT64_MIN), number(INT64_MAX), out}, "");
  std::string message = "k.tile:2:20: assertion failed: `a + b` leaves the range of `int` "
                        "(64 bits), and wraps (block (0, 0, 0))";
  expect(source, {number(INT64_MAX), number(1), out}, message);
  EXPECT_EQ(y, INT64_MIN);
  expect(source, {number(INT64_MIN), number(-1), out}, message);
}

TEST(Checked, Differences) {
  std::string source = "kernel k(a: int, b: int, y: mut array<int, [1]>) grid [1] {\n"
                       "  store_at(y, [0], a - b); }";
  int64_t y = 0;
  KernelArg out = ArrayArg::rowMajor(&y, DType::Int, {1});
  std::string message = "k.tile:2:20: assertion failed: `a - b` leaves the range of `int` "
                        "(64 bits), and wraps (block (0, 0, 0))";
  expect(source, {number(-1), number(INT64_MAX), out}, "");
  expect(source, {number(-1), number(INT64_MIN), out}, "");
  expect(source, {number(-2), number(INT64_MAX), out}, message);
  expect(source, {number(0), number(INT64_MIN), out}, message);
}

TEST(Checked, ProductsOnTiles) {
  // The first element of 0 … 15 whose product with 2^60 does not fit is 8.
  expect("kernel k(f: int, y: mut array<int, [16]>) grid [1] { store(y, [0], arange(16) * f); }",
         {number(int64_t(1) << 60), ArrayArg::rowMajor(std::vector<int64_t>(16).data(), DType::Int, {16})},
         "k.tile:1:68: assertion failed: `arange(16) * f` leaves the range of `int` (64 bits), "
         "and wraps (block (0, 0, 0), first at [8])");
}

TEST(Checked, Negation) {
  std::string source = "kernel k(a: int) grid [1] { print(\"{}\", -a); }";
  expect(source, {number(-INT64_MAX)}, "");
  expect(source, {number(INT64_MIN)},
         "k.tile:1:41: assertion failed: `-a` leaves the range of `int` (64 bits), and wraps "
         "(block (0, 0, 0))");
}

TEST(Checked, Divisors) {
  int32_t x[4] = {1, 2, 0, 4};
  expect("kernel k(x: array<i32, [n]>) grid [1] { let q = 7 / load(x, [0], [4]); }",
         {ArrayArg::rowMajor(x, DType::I32, {4})},
         "k.tile:1:49: assertion failed: `7 / load(x, [0], [4])` divides by zero, which gives any "
         "value (block (0, 0, 0), first at [2])");
  expect("kernel k(n: int) grid [1] { print(\"{}\", mod(7, n)); }", {number(3)},
         "");
}

TEST(Checked, WrappingOfOtherDTypesIsDefined) {
  expect("kernel k(a: i32) grid [1] { print(\"{}\", a + a); }",
         {ScalarArg::integer(DType::I32, INT32_MAX)}, "");
}

TEST(Checked, CombiningFnsAreLeftAlone) {
  expect("fn add(a, b) { return a + b; }\n"
         "kernel k(y: mut array<int, [1]>) grid [1] { store_at(y, [0], reduce(arange(16), 0, 0, add)); }",
         {ArrayArg::rowMajor(std::vector<int64_t>(1).data(), DType::Int, {1})}, "");
}

TEST(Checked, OtherBuildsTrust) {
  RunResult result = emulate("kernel k(n: int) grid [1] { assume(n * n < 10); }", {number(2)});
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.info.sites.empty());
}

} // namespace

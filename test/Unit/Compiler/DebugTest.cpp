//===- DebugTest.cpp - print and assert, run every way -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The interpreter and compiled code of 1, 2, 4 and 8 warps print the same lines and
// report the same assertions, and these are the right ones.
//
//===------------------------------------------------------------------------===//

#include "SourceRunner.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// Runs `source` every way; all must print `lines` and fail with `failed`.
void expect(const std::string &source, const std::vector<KernelArg> &args,
            const std::string &lines, const std::string &failed = "") {
  auto compare = [&](const RunResult &result, const std::string &how) {
    EXPECT_EQ(result.error, "") << how;
    EXPECT_EQ(result.lines, lines) << how;
    EXPECT_EQ(result.failed, failed) << how;
  };
  compare(interpret(source, args), "interpreter");
  for (unsigned warps : {1, 2, 4, 8}) {
    CompileOptions options;
    options.numWarps = warps;
    compare(emulate(source, args, options), std::to_string(warps) + " warps");
  }
}

TEST(Debug, PrintsScalarsOfEveryKind) {
  float x[2] = {0.1f, -3.0f};
  uint8_t u[1] = {255};
  expect("kernel k(x: array<f32, [n]>, u: array<u8, [1]>, s: i32) grid [2] {\n"
         "  let v = load_at(x, [bid(0)]);\n"
         "  print(\"{}: {} {} {} {} {}\", bid(0), v, load_at(u, [0]), s, v > 0, v.to(f64));\n"
         "}",
         {ArrayArg::rowMajor(x, DType::F32, {2}), ArrayArg::rowMajor(u, DType::U8, {1}),
          ScalarArg::integer(DType::I32, -7)},
         "0: 0.1 255 -7 true 0.10000000149011612\n1: -3.0 255 -7 false -3.0\n");
}

TEST(Debug, PrintsTilesRowMajor) {
  int32_t x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<KernelArg> args = {ArrayArg::rowMajor(x, DType::I32, {2, 4})};
  expect("kernel k(x: array<i32, [m, n]>) grid [1] {\n"
         "  let t = load(x, [0, 0], [2, 4]);\n"
         "  print(\"{} then {}!\", t, transpose(t).to(f16));\n"
         "  print(\"{}\", max(t, axis: 0));\n"
         "  print(\"nothing\");\n"
         "}",
         args,
         "[4, 5, 6, 7]\n"
         "[[0, 1, 2, 3], [4, 5, 6, 7]] then "
         "[[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]!\n"
         "nothing\n");
}

TEST(Debug, PrintsLargeTilesWhole) {
  std::vector<int8_t> x(64 * 128);
  std::string line = "[";
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = int8_t(i * 7);
    line += (i ? ", " : "") + std::string(i % 128 == 0 ? "[" : "") + std::to_string(x[i]) +
            (i % 128 == 127 ? "]" : "");
  }
  expect("kernel k(x: array<i8, [m, n]>) grid [1] { print(\"{}\", load(x, [0, 0], [64, 128])); }",
         {ArrayArg::rowMajor(x.data(), DType::I8, {64, 128})}, line + "]\n");
}

TEST(Debug, PrintsInLoopsAndBranches) {
  expect("kernel k(n: int) grid [3] {\n"
         "  for i in 0..n {\n"
         "    if (i + bid(0)) % 2 == 0 { print(\"{} {} {}\", bid(0), i, arange(2) * i); }\n"
         "  }\n"
         "}",
         {ScalarArg::integer(DType::Int, 3)},
         "0 0 [0, 0]\n0 2 [0, 2]\n1 1 [0, 1]\n2 0 [0, 0]\n2 2 [0, 2]\n");
}

TEST(Debug, AssertionsThatHoldAreSilent) {
  float x[100] = {};
  expect("kernel k(x: array<f32, [n]>) grid [cdiv(n, 64)] {\n"
         "  let t = load(x, [bid(0)], [64]);\n"
         "  assert(t == 0.0, \"zero\");\n"
         "  assert(bid(0) < 2);\n"
         "}",
         {ArrayArg::rowMajor(x, DType::F32, {100})}, "");
}

TEST(Debug, TheFirstFailingIndexIsTheLeast) {
  std::vector<float> x(2 * 32 * 64, 1.0f);
  x[64 * 3 + 9] = -1;  // block 0: [3, 9]
  x[64 * 3 + 10] = -1; // and after it
  x[64 * 20 + 1] = -1;
  x[2048 + 64 * 31 + 63] = -1; // block 1: [31, 63]
  std::string source = "kernel k(x: array<f32, [m, n]>) grid [cdiv(m, 32)] {\n"
                       "  let t = load(x, [bid(0), 0], [32, 64]);\n"
                       "  assert(t > 0, \"positive\");\n"
                       "  if bid(0) == 1 { assert(all(transpose(t) > 0)); }\n"
                       "  assert(transpose(t) > 0 || bid(0) == 1, \"too\");\n"
                       "  print(\"{}\", bid(0));\n"
                       "}";
  expect(source, {ArrayArg::rowMajor(x.data(), DType::F32, {64, 64})}, "0\n1\n",
         "k.tile:3:3: assertion failed: positive (block (0, 0, 0), first at [3, 9]; 2 times)\n"
         "k.tile:4:20: assertion failed: all(transpose(t) > 0) (block (1, 0, 0))\n"
         "k.tile:5:3: assertion failed: too (block (0, 0, 0), first at [1, 20])");
}

TEST(Debug, BlocksOfThreeAxes) {
  expect("kernel k() grid [2, 3, 4] { assert(bid(0) + bid(1) * bid(2) < 6, \"few\"); }", {}, "",
         "k.tile:1:29: assertion failed: few (block (0, 2, 3); 2 times)");
}

TEST(Debug, OutputsAreWrittenPastAFailedAssertion) {
  for (bool compiled : {false, true}) {
    int32_t y[4] = {};
    std::vector<KernelArg> args = {ArrayArg::rowMajor(y, DType::I32, {4})};
    std::string source = "kernel k(y: mut array<i32, [n]>) grid [n] {\n"
                         "  assert(bid(0) != 1, \"not one\"); store_at(y, [bid(0)], 5); }";
    RunResult result = compiled ? emulate(source, args) : interpret(source, args);
    EXPECT_EQ(result.error, "");
    EXPECT_NE(result.failed, "");
    for (int32_t value : y)
      EXPECT_EQ(value, 5);
  }
}

TEST(Debug, FullRingsDropWholeLines) {
  // 2048 lines of 4 KiB each in a ring of 4 MiB.
  RunResult result = emulate("kernel k() grid [2048] { print(\"{}\", arange(512)); }", {});
  EXPECT_EQ(result.error, "");
  size_t lines = size_t(llvm::count(result.lines, '\n'));
  EXPECT_GT(lines, 1000u);
  EXPECT_LT(lines, 1024u);
  for (llvm::StringRef rest = result.lines; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    EXPECT_TRUE(line.starts_with("[0, 1, ") && line.ends_with(", 511]"));
    rest = after;
  }
}

TEST(Debug, KernelsThatSayNothingPayNothing) {
  RunResult result = emulate("kernel k(y: mut array<f32, [n]>) grid [1] { store(y, [0], zeros([32], f32)); }",
                             {ArrayArg::rowMajor(std::vector<float>(32).data(), DType::F32, {32})},
                             {}, [](ChipCode &code) {
                               std::string text;
                               llvm::raw_string_ostream os(text);
                               code.llvmModule->print(os, nullptr);
                               EXPECT_EQ(text.find("cmpxchg"), std::string::npos);
                             });
  EXPECT_TRUE(result.info.sites.empty());
  EXPECT_EQ(result.info.builds.front().sharedBytes, 0u);
}

} // namespace

//===- ElementwiseTest.cpp - arithmetic, compiled and interpreted ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every pair of special values goes through every operation of arith that the language
// has on floats: zeros of both signs, subnormals, ties, limits, infinities, NaN. For
// the 16-bit types that shows "computed in f32, rounded once".
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

struct FloatCase {
  const char *type;
  DType dtype;
  std::vector<uint64_t> specials;
};

const std::vector<FloatCase> floatCases = {
    {"f16", DType::F16,
     {0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x3555, 0x4248, 0x7bff,
      0xfbff, 0x7c00, 0xfc00, 0x7e00}},
    {"bf16", DType::BF16,
     {0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f82, 0x3eab, 0x4049, 0x7f7f,
      0xff7f, 0x7f80, 0xff80, 0x7fc0}},
    {"f32", DType::F32,
     {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f800001,
      0x3eaaaaab, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000}},
    {"f64", DType::F64,
     {0, 0x8000000000000000, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
      0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x3fd5555555555555,
      0x400921fb54442d18, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff8000000000000}}};

class FloatTest : public ::testing::TestWithParam<FloatCase> {};

/// All pairs of specials as two arrays of 256.
std::pair<std::vector<uint8_t>, std::vector<uint8_t>> pairs(const FloatCase &c) {
  size_t size = dtypeBytes(c.dtype);
  std::vector<uint8_t> a(256 * size), b(256 * size);
  for (size_t i = 0; i < 256; ++i) {
    std::memcpy(&a[i * size], &c.specials[i / 16], size);
    std::memcpy(&b[i * size], &c.specials[i % 16], size);
  }
  return {a, b};
}

TEST_P(FloatTest, EveryOperationOnEveryPair) {
  const FloatCase &c = GetParam();
  std::string t = c.type;
  auto [a, b] = pairs(c);
  std::vector<std::string> values = {
      "arith.addf %x, %y : T",     "arith.subf %x, %y : T",     "arith.mulf %x, %y : T",
      "arith.divf %x, %y : T",     "arith.minimumf %x, %y : T", "arith.maximumf %x, %y : T",
      "arith.minnumf %x, %y : T",  "arith.maxnumf %x, %y : T",  "math.fma %x, %y, %x : T",
      "math.copysign %x, %y : T",  "math.absf %x : T",          "arith.negf %x : T",
      "math.floor %x : T",         "math.ceil %x : T",          "math.trunc %x : T",
      "math.roundeven %x : T",     "math.sqrt %x : T"};
  std::string body;
  int64_t count = 0;
  auto add = [&](const std::string &op) {
    std::string n = std::to_string(count++);
    body += "%k" + n + " = arith.constant " + n + " : index\n%v" + n + " = " + op + "\n%w" + n +
            " = tile.reshape %v" + n + " : T -> tensor<1x256xE>\ntile.store %c[%k" + n +
            ", %z], %w" + n + " : !tile.array<?x?xE, mut>, tensor<1x256xE>\n";
  };
  for (const std::string &op : values)
    add(op);
  for (const char *predicate : {"oeq", "une", "olt", "ole", "ogt", "oge"}) {
    std::string n = std::to_string(count);
    body += "%m" + n + " = arith.cmpf " + predicate + ", %x, %y : T\n";
    add("arith.select %m" + n + ", %x, %y : tensor<256xi1>, T");
  }
  auto replace = [](std::string text, const std::string &what, const std::string &with) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
      text.replace(at, what.size(), with);
    return text;
  };
  std::string text = R"(
    tile.kernel @floats(%a: !tile.array<?xE>, %b: !tile.array<?xE>, %c: !tile.array<?x?xE, mut>) {
      %z = arith.constant 0 : index
      %x = tile.load %a[%z] : !tile.array<?xE> -> T
      %y = tile.load %b[%z] : !tile.array<?xE> -> T
  )" + body + "tile.return\n}";
  text = replace(replace(text, "-> T", "-> tensor<256xE>"), ": T", ": tensor<256xE>");
  text = replace(replace(text, "xi1>, T", "xi1>, tensor<256xE>"), "xE", "x" + t);
  std::vector<HostArray> arrays = {{c.dtype, {256}, a}, {c.dtype, {256}, b},
                                   HostArray::output(c.dtype, {count, 256})};
  RunOptions options;
  options.warps = {2};
  EXPECT_EQ(checkKernel(text, arrays, options), "");
}

INSTANTIATE_TEST_SUITE_P(Types, FloatTest, ::testing::ValuesIn(floatCases),
                         [](const auto &info) { return std::string(info.param.type); });

/// Loops, branches and early ends with carried tiles and scalars.
TEST(ControlFlowTest, CarriesTilesAndScalars) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 17) - 8;
  for (int64_t n : {0, 1, 2, 5}) {
    std::vector<HostArray> arrays = {HostArray::of(DType::F32, {256}, values),
                                     HostArray::output(DType::F32, {256})};
    RunOptions options;
    options.scalars = {ScalarArg::integer(DType::Int, n), ScalarArg::boolean(n % 2)};
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @flow(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>, %n: index, %odd: i1) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %limit = arith.constant 100.0 : f32
        %x = tile.load %a[%c0] : !tile.array<?xf32> -> tensor<256xf32>
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<256xf32>) {
          %u = scf.if %odd -> (tensor<256xf32>) {
            %d = arith.addf %s, %x : tensor<256xf32>
            scf.yield %d : tensor<256xf32>
          } else {
            %d = arith.subf %s, %x : tensor<256xf32>
            scf.yield %d : tensor<256xf32>
          }
          scf.yield %u : tensor<256xf32>
        }
        %one = arith.constant dense<1.0> : tensor<256xf32>
        %w:2 = scf.while (%s = %r, %k = %c0) : (tensor<256xf32>, index) -> (tensor<256xf32>, index) {
          %sum = tile.reduce(%s) axes [0] : (tensor<256xf32>) -> f32 {
          ^bb0(%p: f32, %q: f32):
            %0 = arith.addf %p, %q : f32
            tile.yield %0 : f32
          }
          %more = arith.cmpf olt, %sum, %limit : f32
          scf.condition(%more) %s, %k : tensor<256xf32>, index
        } do {
        ^bb0(%s: tensor<256xf32>, %k: index):
          %d = arith.addf %s, %one : tensor<256xf32>
          %k1 = arith.addi %k, %c1 : index
          scf.yield %d, %k1 : tensor<256xf32>, index
        }
        tile.store %c[%c0], %w#0 : !tile.array<?xf32, mut>, tensor<256xf32>
        tile.return
      })", arrays, options), "") << n;
  }
}

/// any, all and counts over bools of every size, with edges that read as padding.
TEST(ReduceTest, Bools) {
  for (int64_t n : {1, 2, 16, 128, 1024}) {
    std::vector<uint8_t> bytes(size_t(n), 0);
    bytes.back() = 2; // any byte but zero is true
    std::vector<HostArray> arrays = {HostArray::of(DType::Bool, {n - n / 4}, [&] {
                                       std::vector<uint8_t> part(bytes.begin(), bytes.end());
                                       part.resize(size_t(n - n / 4), 0);
                                       return part;
                                     }()),
                                     HostArray::output(DType::Bool, {2})};
    std::string N = std::to_string(n);
    auto reduce = [&](const char *name, const char *op) {
      return std::string("%") + name + " = tile.reduce(%x) axes [0] : (tensor<" + N +
             "xi1>) -> i1 {\n^bb0(%p: i1, %q: i1):\n%0 = " + op +
             " %p, %q : i1\ntile.yield %0 : i1\n}\n";
    };
    EXPECT_EQ(checkKernel("tile.kernel @bools(%a: !tile.array<?xi1>, %c: !tile.array<?xi1, mut>) {\n"
                          "%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n"
                          "%x = tile.load %a[%z] pad(true) : !tile.array<?xi1> -> tensor<" + N +
                              "xi1>\n" + reduce("any", "arith.ori") + reduce("all", "arith.andi") +
                              "tile.store %c[%z], %any elements : !tile.array<?xi1, mut>, i1\n"
                              "tile.store %c[%o], %all elements : !tile.array<?xi1, mut>, i1\n"
                              "tile.return\n}", arrays), "") << n;
  }
}

} // namespace

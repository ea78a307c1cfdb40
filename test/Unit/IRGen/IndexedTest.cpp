//===- IndexedTest.cpp - slices, atomics, scans and sorts -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operations that move elements by index or along an axis, generated from
// source and run in the interpreter.

#include "RunTest.h"

#include "tilec/Support/Numerics.h"

#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::test;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

namespace {

/// Statements over `x = load(y, [0], [8])`; what they store in `y` comes back.
Ints onEight(const std::string &body, Ints y) {
  return runInts(
      "fn plus(a, b) { return a + b; }\n"
      "fn affine(a0, b0, a1, b1) { return (a0 * a1, b0 * a1 + b1); }\n"
      "kernel k(y: mut array<i32, [n]>) {\n  let x = load(y, [0], [8]);\n  " +
          body + "\n}\n",
      std::move(y));
}

const Ints eight{3, 1, 4, 1, 5, 9, 2, 6};

TEST(Indexed, SlicesOfTiles) {
  EXPECT_EQ(
      onEight(
          "let (lo, hi) = split(x, 0); store(y, [0], cat(hi, lo, axis: 0));",
          eight),
      (Ints{5, 9, 2, 6, 3, 1, 4, 1}));
  EXPECT_EQ(onEight("store(y, [0], flip(x, 0));", eight),
            (Ints{6, 2, 9, 5, 1, 4, 1, 3}));
  EXPECT_EQ(
      onEight("store(y, [0], insert(x, [1], extract(x, [3], [2])));", eight),
      (Ints{3, 1, 2, 6, 5, 9, 2, 6}));
  EXPECT_EQ(
      onEight("store_at(y, [0], x[5]); store_at(y, [1], x[x[0]]);", eight)[0],
      9);
  EXPECT_EQ(
      onEight("let m = reshape(x, [2, 4]); let t = cat(m, flip(m, 1), axis: 1);"
              "store(y, [0], reshape(extract(t, [1, 1], [1, 4]), [4]));",
              eight),
      (Ints{6, 2, 9, 5, 5, 9, 2, 6}));
}

// slice-C1, elem-C1
TEST(Indexed, OutsideATile) {
  // At run time: an element or slice outside is zeros, an insert outside
  // nothing.
  Ints y =
      onEight("let far = x[0] + 100;"
              "store_at(y, [0], x[far]); store_at(y, [1], x[-far]);"
              "store_at(y, [2], sum(extract(x, [far], [4])));"
              "store_at(y, [3], sum(insert(x, [far], extract(x, [0], [2]))));",
              eight);
  EXPECT_EQ(y, (Ints{0, 0, 0, 31, 5, 9, 2, 6}));
}

// take-C1
TEST(Indexed, Take) {
  EXPECT_EQ(onEight("store(y, [0], take(x, x, 0));", eight),
            (Ints{1, 1, 5, 1, 9, 0, 4, 2}));
  EXPECT_EQ(
      onEight("let m = reshape(x, [4, 2]); let i = reshape(x % 2, [4, 2]);"
              "store(y, [0], reshape(take(m, i, 1), [8]));",
              eight),
      (Ints{1, 1, 4, 1, 9, 9, 2, 2}));
}

// gather-C2
TEST(Indexed, GatherAndScatter) {
  EXPECT_EQ(onEight("store(y, [0], gather(y, [x - 2], pad: 7));", eight),
            (Ints{1, 7, 4, 7, 1, 6, 3, 5}));
  EXPECT_EQ(onEight("store(y, [0], gather(y, [x - 2], mask: x < 5));", eight),
            (Ints{1, 0, 4, 0, 0, 0, 3, 0}));
  EXPECT_EQ(onEight("scatter(y, [arange(8) * 2], x, mask: x > 3);", eight),
            (Ints{3, 1, 4, 1, 4, 9, 2, 6}));
  EXPECT_EQ(onEight("scatter(y, [arange(8) - 1], x);", eight),
            (Ints{1, 4, 1, 5, 9, 2, 6, 6}));
}

// atomic-C2
TEST(Indexed, AtomicsOfIntegers) {
  // A histogram of x % 4 over the first four elements, then the old values.
  EXPECT_EQ(onEight("let old = atomic_add(y, [x % 4], zeros([8], i32) + 10);"
                    "store_at(y, [7], max(old));",
                    eight),
            (Ints{13, 41, 24, 11, 5, 9, 2, 31}));
  EXPECT_EQ(onEight("atomic_max(y, [0], 7); atomic_min(y, [1], -2); "
                    "atomic_xor(y, [2], 5);"
                    "atomic_or(y, [3], 6); atomic_and(y, [4], 4);"
                    "store_at(y, [6], atomic_xchg(y, [5], 1));"
                    "store_at(y, [7], atomic_cas(y, [5], 1, 8) + atomic_cas(y, "
                    "[5], 1, 9));",
                    eight),
            (Ints{7, -2, 1, 7, 4, 8, 9, 9}));
  EXPECT_EQ(
      onEight(
          "store_at(y, [0], atomic_add(y, [99], 1)); atomic_store(y, [1], 5);"
          "store_at(y, [2], atomic_load(y, [1]));",
          eight),
      (Ints{0, 5, 5, 1, 5, 9, 2, 6}));
}

// atomic-C3
TEST(Indexed, AtomicMinAndMaxOfFloats) {
  Floats y = runOn<float>(R"(kernel k(y: mut array<f32, [n]>) {
      atomic_max(y, [0], 0.0); atomic_min(y, [1], -0.0); atomic_max(y, [2], -3.0);
      atomic_add(y, [3], 0.5); atomic_max(y, [4], nan);
    })",
                          DType::F32, {-0.0f, 0.0f, -5.0f, 1.0f, 1.0f});
  EXPECT_FALSE(std::signbit(y[0]));
  EXPECT_TRUE(std::signbit(y[1]));
  EXPECT_EQ(y[2], -3);
  EXPECT_EQ(y[3], 1.5f);
  EXPECT_TRUE(std::isnan(y[4]));
}

// scan-C1
TEST(Indexed, Scans) {
  EXPECT_EQ(onEight("store(y, [0], cumsum(x));", eight),
            (Ints{3, 4, 8, 9, 14, 23, 25, 31}));
  EXPECT_EQ(onEight("store(y, [0], cumsum(x, reverse: true));", eight),
            (Ints{31, 28, 27, 23, 22, 17, 8, 6}));
  EXPECT_EQ(onEight("store(y, [0], cumsum(x, exclusive: true));", eight),
            (Ints{0, 3, 4, 8, 9, 14, 23, 25}));
  EXPECT_EQ(onEight("store(y, [0], cummax(x, exclusive: true));", eight),
            (Ints{INT32_MIN, 3, 3, 4, 4, 5, 9, 9}));
  EXPECT_EQ(
      onEight(
          "store(y, [0], reshape(cumprod(reshape(x, [2, 4]), axis: 0), [8]));",
          eight),
      (Ints{3, 1, 4, 1, 15, 9, 8, 6}));
  EXPECT_EQ(
      onEight("store(y, [0], scan(x, 0, plus, exclusive: true, init: 100));",
              eight),
      (Ints{100, 103, 104, 108, 109, 114, 123, 125}));
}

TEST(Indexed, ScansKeepTheOrderOfOperands) {
  // Composition of maps t -> a t + b is associative and does not commute.
  Ints y =
      onEight("let (a, b) = scan((x, x * 0 + 1), 0, affine); store(y, [0], b);",
              {2, 3, 1, 1, 2, 1, 1, 5});
  Ints expected;
  int32_t b = 0;
  for (int32_t a : {2, 3, 1, 1, 2, 1, 1, 5})
    expected.push_back(b = b * a + 1);
  EXPECT_EQ(y, expected);
}

TEST(Indexed, Sorts) {
  EXPECT_EQ(onEight("store(y, [0], sort(x));", eight),
            (Ints{1, 1, 2, 3, 4, 5, 6, 9}));
  EXPECT_EQ(onEight("store(y, [0], argsort(x).to(i32));", eight),
            (Ints{1, 3, 6, 0, 2, 4, 7, 5}));
  EXPECT_EQ(
      onEight("store(y, [0], argsort(x, descending: true).to(i32));", eight),
      (Ints{5, 7, 4, 2, 0, 6, 1, 3}));
  EXPECT_EQ(onEight("let (k, v) = sort((x % 2, x), axis: 0); store(y, [0], v);",
                    eight),
            (Ints{4, 2, 6, 3, 1, 1, 5, 9}));
  EXPECT_EQ(
      onEight(
          "let (v, i) = topk(x, 4); store(y, [0], cat(v, i.to(i32), axis: 0));",
          eight),
      (Ints{9, 6, 5, 4, 5, 7, 4, 2}));
  EXPECT_EQ(onEight("store(y, [0], histogram(x, 8));", eight),
            (Ints{0, 2, 1, 1, 1, 1, 1, 0}));
}

TEST(Indexed, NaNSortsAsTheLargest) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  Floats y =
      runOn<float>("kernel k(y: mut array<f32, [n]>) {\n"
                   "  store(y, [0], sort(load(y, [0], [4]), axis: 0)); }",
                   DType::F32, {nan, 2, -INFINITY, INFINITY});
  EXPECT_EQ(y[0], -INFINITY);
  EXPECT_EQ(y[2], INFINITY);
  EXPECT_TRUE(std::isnan(y[3]));
  y = runOn<float>(
      "kernel k(y: mut array<f32, [n]>) {\n"
      "  store(y, [0], sort(load(y, [0], [4]), axis: 0, descending: true)); }",
      DType::F32, {1, 2, nan, INFINITY});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[3], 1);
}

// rand-C1
// Known answers of Philox4x32-10 (Random123): word 0 of the first counters.
TEST(Indexed, PhiloxKnownAnswers) {
  std::vector<uint32_t> y(1);
  y = runOn<uint32_t>("kernel k(y: mut array<u32, [n]>) { store(y, [0], "
                      "rand_u32(0, arange(1, u64))); }",
                      DType::U32, y);
  EXPECT_EQ(y[0], 0x6627e8d5u);
}

// assert-C1
TEST(Indexed, FailedAssertionsStop) {
  Generated generated("kernel k(y: mut array<i32, [n]>) { assert(load(y, [0], "
                      "[4]) < 3, \"too big\"); }");
  int32_t data[4] = {1, 2, 7, 9};
  std::vector<KernelArg> args{ArrayArg::rowMajor(data, DType::I32, {4})};
  auto kernel = *generated.module->getOps<tile::KernelOp>().begin();
  std::string text = llvm::toString(interpretKernel(kernel, args, {1, 1, 1}));
  EXPECT_NE(text.find("too big"), std::string::npos) << text;
  EXPECT_NE(text.find("[2]"), std::string::npos) << text;
  data[2] = data[3] = 0;
  EXPECT_EQ(llvm::toString(interpretKernel(kernel, args, {1, 1, 1})), "");
}

} // namespace

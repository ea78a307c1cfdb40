//===- SplitKTest.cpp - blocks of a cluster share one sum --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products whose loop over K is shared, as `hint(split_k: n)` asks and as the launch of a
// small grid decides, and some of the same kernels alone: loops of fewer rounds than blocks, of none, of parts that are not
// equal; several positions of the grid for a cluster; with a sum that is computed with
// afterwards. Against references in double, two launches bit for bit.
//
//===------------------------------------------------------------------------===//
#include "ProductCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Split {
  const char *type, *sum;
  int parts; ///< 0: no hint
  int bm, bn, bk;
  int64_t m, n, k;
};

std::string sourceOf(const Split &p) {
  std::string hint = p.parts ? " hint(split_k: " + std::to_string(p.parts) + ")" : "";
  std::string type = p.type, sum = p.sum;
  auto number = [](int64_t value) { return std::to_string(value); };
  return "kernel product(a: array<" + type + ", [m, k]>, b: array<" + type +
         ", [k, n]>, bias: array<" + sum + ", [q]>, c: mut array<" + sum + ", [m, n]>)\n  grid [cdiv(m, " +
         number(p.bm) + "), cdiv(n, " + number(p.bn) + ")]" + hint + "\n{\n  var acc = zeros([" +
         number(p.bm) + ", " + number(p.bn) + "], " + sum + ");\n  for i in 0..cdiv(k, " + number(p.bk) +
         ") {\n    acc = mma(load(a, [bid(0), i], [" + number(p.bm) + ", " + number(p.bk) +
         "]), load(b, [i, bid(1)], [" + number(p.bk) + ", " + number(p.bn) +
         "]), acc);\n  }\n  let row = load(bias, [bid(1)], [" + number(p.bn) +
         "]);\n  store(c, [bid(0), bid(1)], acc + row);\n}\n";
}

class SplitKTest : public ::testing::TestWithParam<Split> {
protected:
  /// Runs on `executor`, as on a device of `numSMs`; gives the result's bytes.
  std::vector<uint8_t> run(KernelRunner &runner, Executor executor) {
    const Split &p = GetParam();
    DType type = *parseDType(p.type), sum = *parseDType(p.sum);
    HostArray a = HostArray::random(type, {p.m, p.k}, 3), b = HostArray::random(type, {p.k, p.n}, 4);
    // The launch looks at how much there is for each position.
    int64_t length = p.parts ? p.n : 4 * bytesToShare / int64_t(dtypeBytes(sum));
    HostArray bias = HostArray::random(sum, {length}, 5), c = HostArray::poisoned(sum, {p.m, p.n});
    EXPECT_EQ(runner.run(executor, {a.arg(), b.arg(), bias.arg(), c.arg()}), "");
    double tolerance = sum == DType::I32 ? 0 : sum == DType::F64 ? 1e-13 : 2e-5;
    compareProduct(a, b, &bias, c, {p.m, p.n, p.k}, tolerance);
    return c.bytes;
  }
};

TEST_P(SplitKTest, Product) {
  runTwice(sourceOf(GetParam()),
           [&](KernelRunner &runner, Executor executor) { return run(runner, executor); });
}

INSTANTIATE_TEST_SUITE_P(
    Products, SplitKTest,
    ::testing::Values(
        // Products of warp groups fed by the copy engine; parts of 3, 2, 3, 2 rounds.
        Split{"bf16", "f32", 4, 64, 64, 64, 64, 64, 640},
        // Fewer rounds than blocks, one, none.
        Split{"bf16", "f32", 8, 64, 32, 64, 100, 40, 200},
        Split{"f16", "f32", 2, 64, 64, 64, 64, 64, 64},
        Split{"bf16", "f32", 2, 64, 64, 64, 64, 64, 0},
        // More positions than the emulated device has clusters.
        Split{"bf16", "f32", 2, 64, 32, 64, 130, 144, 192},
        // Tiles of few rows, multiplied the other way round.
        Split{"bf16", "f32", 4, 16, 64, 64, 20, 72, 640},
        Split{"f16", "f32", 0, 8, 128, 64, 8, 256, 576},
        // Two warp groups.
        Split{"bf16", "f32", 2, 128, 128, 64, 128, 136, 256},
        // Rings that threads fill, and rows that are not aligned.
        Split{"f32", "f32", 4, 32, 32, 16, 70, 40, 100},
        Split{"f64", "f64", 2, 32, 32, 16, 33, 36, 100},
        Split{"i8", "i32", 4, 64, 64, 64, 64, 64, 320},
        Split{"bf16", "f32", 4, 64, 64, 64, 33, 35, 333},
        // What threads read, and the copy engine brings; alone (a pair that shares copies, too)
        // and shared.
        Split{"f32", "f32", 1, 128, 64, 32, 130, 72, 100},
        Split{"f32", "f32", 1, 128, 128, 16, 150, 136, 48},
        Split{"f64", "f64", 1, 128, 64, 16, 100, 66, 50},
        Split{"f32", "f32", 2, 128, 64, 32, 128, 64, 160},
        Split{"f64", "f64", 4, 128, 64, 16, 128, 64, 80},
        // No hint: 4 positions of a grid for 132 multiprocessors.
        Split{"bf16", "f32", 0, 64, 64, 64, 128, 128, 576},
        Split{"f32", "f32", 0, 32, 32, 16, 64, 64, 256}));

} // namespace

//===- ClusterProductsTest.cpp - blocks that share copies --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products whose blocks are clusters of 2, 4 or 8 along the axis that saves more, as
// `hint(cluster: n)` asks: grids that are multiples of the cluster and that are not, with
// fewer positions than the cluster has blocks, several positions for a cluster, loops of
// more rounds than the ring has places and of none. Against references in double, two
// launches bit for bit.
//
//===------------------------------------------------------------------------===//
#include "ProductCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Shared {
  const char *type;
  int cluster, bm, bn, bk;
  int64_t m, n, k;
};

std::string sourceOf(const Shared &p) {
  std::string type = p.type;
  auto number = [](int64_t value) { return std::to_string(value); };
  return "kernel product(a: array<" + type + ", [m, k]>, b: array<" + type +
         ", [k, n]>, c: mut array<f32, [m, n]>)\n  grid [cdiv(m, " + number(p.bm) + "), cdiv(n, " +
         number(p.bn) + ")] hint(cluster: " + number(p.cluster) + ")\n{\n  var acc = zeros([" +
         number(p.bm) + ", " + number(p.bn) + "], f32);\n  for i in 0..cdiv(k, " + number(p.bk) +
         ") {\n    acc = mma(load(a, [bid(0), i], [" + number(p.bm) + ", " + number(p.bk) +
         "]), load(b, [i, bid(1)], [" + number(p.bk) + ", " + number(p.bn) +
         "]), acc);\n  }\n  store(c, [bid(0), bid(1)], acc);\n}\n";
}

class ClusterProductsTest : public ::testing::TestWithParam<Shared> {
protected:
  std::vector<uint8_t> run(KernelRunner &runner, Executor executor) {
    const Shared &p = GetParam();
    DType type = *parseDType(p.type);
    HostArray a = HostArray::random(type, {p.m, p.k}, 3), b = HostArray::random(type, {p.k, p.n}, 4);
    HostArray c = HostArray::poisoned(DType::F32, {p.m, p.n});
    EXPECT_EQ(runner.run(executor, {a.arg(), b.arg(), c.arg()}), "");
    compareProduct(a, b, nullptr, c, {p.m, p.n, p.k}, 2e-5);
    return c.bytes;
  }
};

TEST_P(ClusterProductsTest, Product) {
  runTwice(sourceOf(GetParam()),
           [&](KernelRunner &runner, Executor executor) { return run(runner, executor); });
}

INSTANTIATE_TEST_SUITE_P(
    Products, ClusterProductsTest,
    ::testing::Values(
        // Along axis 0, which saves b, and along axis 1.
        Shared{"bf16", 4, 64, 128, 64, 256, 128, 192}, Shared{"bf16", 4, 128, 64, 64, 120, 256, 192},
        // Three positions for four blocks, and five; of eight, one and nine.
        Shared{"bf16", 4, 64, 128, 32, 180, 136, 200}, Shared{"f16", 4, 64, 64, 64, 300, 64, 320},
        Shared{"bf16", 8, 64, 64, 64, 60, 72, 64}, Shared{"f16", 8, 64, 64, 32, 520, 64, 96},
        // More clusters than the emulated device holds, and no products at all.
        Shared{"bf16", 2, 64, 64, 32, 256, 264, 64}, Shared{"bf16", 4, 64, 64, 32, 256, 264, 40},
        Shared{"bf16", 4, 64, 64, 64, 256, 64, 0},
        // Two warp groups.
        Shared{"bf16", 4, 128, 128, 64, 512, 128, 136}));

} // namespace

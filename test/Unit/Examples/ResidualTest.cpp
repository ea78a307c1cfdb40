//===- ResidualTest.cpp - tiles that come for what is stored ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// d = gelu(a @ b + bias) + r, and without the activation, for sm_90a, where the parts of r come
// through the ring of the products: tiles of one part and of several, one warp group and two,
// alone and in clusters whose last block has no position of its own, shared along K, several
// positions for a block, more and fewer rounds than the ring has places and none, edges. Two
// residuals, and one of words beside halves. Against references in double, two launches bit
// for bit; SIMT execution would find a place that is read before it is filled, or filled
// before it is read, as a race or a deadlock.
//
//===------------------------------------------------------------------------===//
#include "ProductCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Layer {
  const char *hint; ///< "" or as `hint(cluster: 2)`
  const char *skip; ///< of r
  const char *stored; ///< of `acc`, `shift`, `skip`
  double (*want)(double sum, double skip);
  int bm, bn, bk;
  int64_t m, n, k;
};

std::string sourceOf(const Layer &p) {
  std::string bm = std::to_string(p.bm), bn = std::to_string(p.bn), bk = std::to_string(p.bk);
  return "kernel layer(a: array<bf16, [m, k]>, b: array<bf16, [k, n]>, bias: array<bf16, [n]>, r: array<" +
         std::string(p.skip) + ", [m, n]>, d: mut array<bf16, [m, n]>)\n  grid [cdiv(m, " + bm +
         "), cdiv(n, " + bn + ")] " + p.hint + "\n{\n  let shift = load(bias, [bid(1)], [" + bn +
         "]).to(f32);\n  var acc = zeros([" + bm + ", " + bn + "], f32);\n  for i in 0..cdiv(k, " + bk +
         ") {\n    acc = mma(load(a, [bid(0), i], [" + bm + ", " + bk + "]), load(b, [i, bid(1)], [" +
         bk + ", " + bn + "]), acc);\n  }\n  let skip = load(r, [bid(0), bid(1)], [" + bm + ", " +
         bn + "]).to(f32);\n  store(d, [bid(0), bid(1)], (" + p.stored + ").to(bf16));\n}\n";
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double added(double sum, double skip) { return sum + skip; }
double activated(double sum, double skip) { return gelu(sum) + skip; }
double gated(double sum, double skip) { return sum * skip + skip; }

constexpr const char *plain = "acc + shift + skip", *withGelu = "gelu(acc + shift) + skip",
                     *twice = "(acc + shift) * skip + skip";

class ResidualTest : public ::testing::TestWithParam<Layer> {
protected:
  std::vector<uint8_t> run(KernelRunner &runner, Executor executor) {
    const Layer &p = GetParam();
    HostArray a = HostArray::random(DType::BF16, {p.m, p.k}, 3);
    HostArray b = HostArray::random(DType::BF16, {p.k, p.n}, 4);
    HostArray bias = HostArray::random(DType::BF16, {p.n}, 5);
    HostArray r = HostArray::random(*parseDType(p.skip), {p.m, p.n}, 6);
    HostArray d = HostArray::poisoned(DType::BF16, {p.m, p.n});
    EXPECT_EQ(runner.run(executor, {a.arg(), b.arg(), bias.arg(), r.arg(), d.arg()}), "");
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      double sum = bias.at(size_t(i % p.n)), size = 1;
      for (int64_t step = 0; step < p.k; ++step) {
        double term = a.at(size_t(i / p.n * p.k + step)) * b.at(size_t(step * p.n + i % p.n));
        sum += term;
        size += std::fabs(term);
      }
      double want = p.want(sum, r.at(size_t(i))), got = d.at(size_t(i));
      if (!(std::fabs(got - want) <= 2e-5 * size + 0x1p-8 * std::fabs(want))) {
        ADD_FAILURE() << "row " << i / p.n << ", column " << i % p.n << ": " << got
                      << ", expected " << want;
        break;
      }
    }
    return d.bytes;
  }
};

TEST_P(ResidualTest, Layer) {
  runTwice(sourceOf(GetParam()),
           [&](KernelRunner &runner, Executor executor) { return run(runner, executor); });
}

INSTANTIATE_TEST_SUITE_P(
    Layers, ResidualTest,
    ::testing::Values(
        // One part, two, four; one warp group and two.
        Layer{"", "bf16", plain, added, 64, 64, 64, 128, 128, 192},
        Layer{"", "bf16", withGelu, activated, 64, 128, 64, 120, 136, 72},
        Layer{"", "bf16", plain, added, 128, 256, 64, 136, 264, 328},
        // A cluster's last block has no position; one of four; shared along K.
        Layer{"hint(cluster: 2)", "bf16", plain, added, 64, 128, 64, 320, 136, 136},
        // The same after positions whose copies are still on their way.
        Layer{"hint(cluster: 2)", "bf16", plain, added, 128, 256, 64, 300, 520, 72},
        Layer{"hint(cluster: 4)", "bf16", plain, added, 64, 64, 64, 184, 72, 200},
        Layer{"hint(split_k: 2)", "bf16", plain, added, 64, 128, 64, 64, 136, 320},
        // More positions than the emulated device has blocks; no products.
        Layer{"", "bf16", plain, added, 64, 64, 32, 256, 264, 40},
        Layer{"", "bf16", plain, added, 64, 64, 64, 72, 64, 0},
        // Words beside halves, and a residual of which there are two uses.
        Layer{"", "f32", plain, added, 64, 128, 64, 72, 136, 136},
        Layer{"", "bf16", twice, gated, 64, 128, 64, 72, 136, 136}));

} // namespace

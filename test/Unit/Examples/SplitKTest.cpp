//===- SplitKTest.cpp - several blocks share one sum -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products whose loop over K is shared, as `hint(split_k: n)` asks and as the launch of a
// small grid decides, and some of the same kernels alone: loops of fewer rounds than blocks, of none, of parts that are not
// equal; several positions of the grid; with a sum that is computed with afterwards. By blocks of
// clusters, and on other chips by way of memory, where the emulator also looks for races.
// Against references in double, two launches bit for bit.
//
//===------------------------------------------------------------------------===//
#include "ProductCase.h"

#include "tilec/Emulator/Plan.h"
#include "tilec/Support/Workspace.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Split {
  const char *type, *sum;
  int parts; ///< 0: no hint
  int bm, bn, bk;
  int64_t m, n, k;
  const char *chip = "sm_90a";
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
           [&](KernelRunner &runner, Executor executor) { return run(runner, executor); },
           GetParam().chip);
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

INSTANTIATE_TEST_SUITE_P(
    InMemory, SplitKTest,
    ::testing::Values(
        Split{"bf16", "f32", 4, 64, 64, 64, 64, 64, 640, "sm_80"},
        Split{"bf16", "f32", 2, 128, 64, 64, 130, 72, 200, "sm_120a"},
        // Fewer rounds than blocks, one, none.
        Split{"bf16", "f32", 8, 64, 32, 64, 100, 40, 200, "sm_89"},
        Split{"f16", "f32", 2, 64, 64, 64, 64, 64, 64, "sm_120a"},
        Split{"bf16", "f32", 8, 64, 64, 64, 64, 64, 0, "sm_80"},
        // Tiles of few rows, and of few elements a thread.
        Split{"f16", "f32", 4, 16, 64, 64, 20, 72, 640, "sm_80"},
        Split{"bf16", "f32", 2, 16, 16, 32, 33, 40, 160, "sm_80"},
        Split{"f16", "f32", 0, 16, 128, 64, 8, 256, 576, "sm_120a"},
        // Products by threads, of other types, and rows that are not aligned.
        Split{"f32", "f32", 4, 32, 32, 16, 70, 40, 100, "sm_80"},
        Split{"f64", "f64", 2, 32, 32, 16, 33, 36, 100, "sm_80"},
        Split{"f64", "f64", 4, 32, 32, 16, 33, 36, 80, "sm_120a"},
        Split{"i8", "i32", 4, 64, 64, 64, 64, 64, 320, "sm_89"},
        Split{"bf16", "f32", 4, 64, 64, 64, 33, 35, 333, "sm_80"},
        // No hint: 8 and 4 blocks for each position.
        Split{"bf16", "f32", 0, 64, 64, 64, 64, 128, 1088, "sm_80"},
        Split{"bf16", "f32", 0, 64, 64, 64, 128, 192, 576, "sm_89"},
        Split{"f32", "f32", 0, 32, 32, 16, 64, 64, 256, "sm_120a"}));

/// Two sums of one loop, and what is done with them. `small` is for grids that share by
/// themselves.
std::string gatedSource(bool isSmall) {
  return std::string(R"(
kernel gated(x: array<bf16, [m, k]>, w: array<bf16, [k, n]>, v: array<bf16, [k, n]>,
             unused: array<f32, [q]>, y: mut array<bf16, [m, n]>)
  grid [cdiv(m, 32), cdiv(n, 64)])") +
         (isSmall ? "" : " hint(split_k: 4)") + R"(
{
  var gate = zeros([32, 64], f32);
  var up = zeros([32, 64], f32);
  for i in 0..cdiv(k, 32) {
    let a = load(x, [bid(0), i], [32, 32]);
    gate = mma(a, load(w, [i, bid(1)], [32, 64]), gate);
    up = mma(a, load(v, [i, bid(1)], [32, 64]), up);
  }
  store(y, [bid(0), bid(1)], (gate / (1.0 + exp(-gate)) * up).to(bf16));
}
)";
}

TEST(MemorySumTest, TwoSumsOfOneLoop) {
  int64_t m = 40, n = 136, k = 232;
  for (bool isSmall : {false, true})
    for (const char *chip : {"sm_80", "sm_120a"}) {
      SCOPED_TRACE(chip);
      runTwice(
          gatedSource(isSmall),
          [&](KernelRunner &runner, Executor executor) {
            HostArray x = HostArray::random(DType::BF16, {m, k}, 6);
            HostArray w = HostArray::random(DType::BF16, {k, n}, 7);
            HostArray v = HostArray::random(DType::BF16, {k, n}, 8);
            HostArray unused(DType::F32, {isSmall ? 8 * bytesToShare / 4 : 1});
            HostArray y = HostArray::poisoned(DType::BF16, {m, n});
            EXPECT_EQ(runner.run(executor, {x.arg(), w.arg(), v.arg(), unused.arg(), y.arg()}), "");
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                double gate = 0, up = 0;
                for (int64_t l = 0; l < k; ++l) {
                  gate += x.at(size_t(i * k + l)) * w.at(size_t(l * n + j));
                  up += x.at(size_t(i * k + l)) * v.at(size_t(l * n + j));
                }
                double want = gate / (1 + std::exp(-gate)) * up;
                EXPECT_NEAR(y.at(size_t(i * n + j)), want, 0.01 * std::fabs(want) + 0.01);
              }
            return y.bytes;
          },
          chip);
    }
}

/// Whichever block comes last, the bits are the same, and counters go back to zero.
TEST(MemorySumTest, BlocksComeInAnyOrder) {
  CompileOptions options;
  Compilation compilation(options);
  compilation.loadText("product.tile",
                       sourceOf({"bf16", "f32", 8, 32, 32, 32, 0, 0, 0}));
  auto code = compilation.compileFor(*findChip("sm_80"), Stage::LLVM);
  ASSERT_TRUE(code);
  const KernelInfo &info = code->kernels.front();
  HostArray a = HostArray::random(DType::BF16, {64, 256}, 3);
  HostArray b = HostArray::random(DType::BF16, {256, 64}, 4);
  HostArray bias = HostArray::random(DType::F32, {64}, 5);
  std::vector<uint8_t> first;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    HostArray c = HostArray::poisoned(DType::F32, {64, 64});
    std::vector<KernelArg> args = {a.arg(), b.arg(), bias.arg(), c.arg()};
    auto plan = planLaunch(info, args);
    ASSERT_TRUE(plan) << plan.failure().message;
    EmulatorLaunch launch = makeEmulatorLaunch(info, *plan, args);
    EXPECT_EQ(launch.grid, (std::array<uint32_t, 3>{4, 8, 1}));
    if (seed)
      launch.seed = seed;
    launch.symbol = info.builds[plan->build].symbol;
    auto report = emulateLaunch(*code->llvmModule, launch);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    EXPECT_TRUE(report->clean());
    EXPECT_TRUE(std::all_of(launch.workspace.get(), launch.workspace.get() + counterBytes(4),
                            [](uint8_t byte) { return byte == 0; }));
    if (first.empty())
      first = c.bytes;
    EXPECT_EQ(c.bytes, first) << "seed " << seed;
  }
}

} // namespace

//===- IndexedExamplesTest.cpp - examples that access by index ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Gathers, scatters and atomics as kernels use them: embedding, histogram, split-K,
// grouped products, scatter_add, a reduction of the grid in one launch. Where floats
// are added in any order they are small whole numbers, whose sums are exact.
//
//===------------------------------------------------------------------------===//

#include "ExampleCase.h"

#include <functional>
#include <sys/mman.h>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr DType floats[] = {DType::F32, DType::F16, DType::BF16};

HostArray indices(std::vector<int64_t> values) {
  HostArray array(DType::I32, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    array.set(i, double(values[i]));
  return array;
}

/// Inside mostly, also negative and beyond the end, some twice.
HostArray someRows(int64_t count, int64_t rows) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i % 9 == 4 ? -1 - i : i % 11 == 7 ? rows + i : i * 31 % rows);
  return indices(values);
}

HostArray filled(DType dtype, std::vector<int64_t> dims, const std::function<double(int64_t)> &value) {
  HostArray array(dtype, std::move(dims));
  for (size_t i = 0; i < array.size(); ++i)
    array.set(i, value(int64_t(i)));
  return array;
}

/// Whole numbers from -3 to 3.
HostArray whole(DType dtype, std::vector<int64_t> dims, int64_t seed) {
  return filled(dtype, std::move(dims), [=](int64_t i) { return double((i * 7 + i / 5 + seed) % 7 - 3); });
}

HostArray zeros(DType dtype, std::vector<int64_t> dims) {
  return filled(dtype, std::move(dims), [](int64_t) { return 0.0; });
}

bool isInside(double row, int64_t rows) { return row >= 0 && row < double(rows); }

//===------------------------------------------------------------------------===//
// Rows by index
//===------------------------------------------------------------------------===//

class IndexedRows : public ::testing::TestWithParam<std::tuple<std::array<int64_t, 3>, DType>> {};

TEST_P(IndexedRows, Embedding) {
  auto [sizes, dtype] = GetParam();
  auto [vocab, n, d] = sizes;
  Case test{"embedding", "embedding", {define("T", dtype), define("BN", 64)}, {}, {}, false, {}, 0};
  test.arrays = {HostArray::random(dtype, {vocab, d}, 1), someRows(n, vocab), HostArray::poisoned(dtype, {n, d})};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j) {
      double row = test.arrays[1].at(i);
      test.expected.push_back(isInside(row, vocab) ? test.arrays[0].at(int64_t(row) * d + j) : 0);
    }
  check(test);
}

TEST_P(IndexedRows, ScatterAdd) {
  auto [sizes, dtype] = GetParam();
  auto [rows, n, d] = sizes;
  Case test{"scatter_add", "scatter_add", {define("T", dtype), define("BN", 64)}, {}, {}, false, {}, 0};
  test.arrays = {whole(dtype, {n, d}, 2), someRows(n, rows), zeros(dtype, {rows, d})};
  test.expected.assign(size_t(rows * d), 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      if (double row = test.arrays[1].at(i); isInside(row, rows))
        test.expected[size_t(int64_t(row) * d + j)] += test.arrays[0].at(i * d + j);
  check(test);
}

using Sizes = std::array<int64_t, 3>;
INSTANTIATE_TEST_SUITE_P(Sizes, IndexedRows,
                         ::testing::Combine(::testing::Values(Sizes{1, 1, 1}, Sizes{10, 33, 64}, Sizes{50, 40, 65},
                                                              Sizes{7, 16, 200}),
                                            ::testing::ValuesIn(floats)));

/// A table of 8 GiB, of which the kernel reads rows at both ends: offsets need 64 bits.
TEST(FarRows, Embedding) {
  constexpr int64_t vocab = int64_t(1) << 23, d = 512, n = 20;
  constexpr size_t bytes = size_t(vocab) * d * 2;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "no address space for the table";
  auto *table = static_cast<uint16_t *>(memory);
  std::vector<int64_t> rows = {0, vocab - 1, vocab, -1, vocab / 2, vocab / 2 - 1, 4194305, 1};
  rows.resize(n, 3);
  for (int64_t row : rows)
    for (int64_t j = 0; isInside(double(row), vocab) && j < d; ++j)
      table[row * d + j] = uint16_t(0x3f80 + (row % 61) + j % 3);
  HostArray ids = indices(rows);
  int64_t dims[] = {vocab, d};
  for (Executor executor : {Executor::Interpreter, Executor::SIMT}) {
    HostArray y = HostArray::poisoned(DType::BF16, {n, d});
    KernelRunner runner(example("embedding"), "embedding", {});
    EXPECT_EQ(runner.run(executor, {ArrayArg::rowMajor(table, DType::BF16, dims, 2), ids.arg(), y.arg()}), "");
    const auto *got = reinterpret_cast<const uint16_t *>(y.bytes.data());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < d; ++j)
        ASSERT_EQ(got[i * d + j], isInside(double(rows[i]), vocab) ? table[rows[i] * d + j] : 0)
            << executorName(executor) << ", row " << rows[i] << ", column " << j;
  }
  munmap(memory, bytes);
}

//===------------------------------------------------------------------------===//
// Counts
//===------------------------------------------------------------------------===//

TEST(Histogram, EveryKernel) {
  for (int64_t n : {1, 1000, 5000})
    for (const char *kernel : {"histogram", "histogram_few"}) {
      Case test{"histogram", kernel, {}, {}, {}, false, {}, 0};
      test.arrays = {filled(DType::I32, {n}, [](int64_t i) { return double(i * i % 23 - 3); }),
                     zeros(DType::I32, {16})};
      test.expected.assign(16, 0);
      for (int64_t i = 0; i < n; ++i)
        if (double bin = test.arrays[0].at(i); isInside(bin, 16))
          test.expected[size_t(bin)] += 1;
      check(test);
      test.kernel = "histogram_blocks";
      test.defines = {define("BINS", 16), define("BLOCK", 512)};
      test.scalars = {ScalarArg::integer(DType::Int, 3)};
      check(test);
    }
}

TEST(Histogram, GridOfBins) {
  for (int64_t n : {1, 1000, 5000}) {
    Case test{"histogram", "histogram_2d", {define("ROWS", 4), define("COLS", 8), define("BLOCK", 512)},
              {}, {ScalarArg::integer(DType::Int, 3)}, false, {}, 0};
    auto place = [](int64_t step) { return [=](int64_t i) { return double(i * step % 67 - 1) / 64; }; };
    test.arrays = {filled(DType::F32, {n}, place(7)), filled(DType::F32, {n}, place(11)), zeros(DType::I32, {4, 8})};
    test.expected.assign(32, 0);
    for (int64_t i = 0; i < n; ++i) {
      double row = std::floor(4 * test.arrays[0].at(i)), column = std::floor(8 * test.arrays[1].at(i));
      if (isInside(row, 4) && isInside(column, 8))
        test.expected[size_t(row * 8 + column)] += 1;
    }
    check(test);
  }
}

TEST(ReduceBlocks, LastBlockAddsUp) {
  for (int64_t n : {1, 1000, 20000}) {
    Case test{"reduce_blocks", "reduce_blocks", {define("BLOCKS", 8), define("BLOCK", 256)}, {}, {}, false, {}, 0};
    test.arrays = {whole(DType::F32, {n}, 5), HostArray::poisoned(DType::F32, {8}), zeros(DType::I32, {1}),
                   HostArray::poisoned(DType::F32, {1})};
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += test.arrays[0].at(i);
    test.expected = {sum};
    check(test);
  }
}

//===------------------------------------------------------------------------===//
// Products
//===------------------------------------------------------------------------===//

TEST(SplitK, AnySize) {
  for (DType dtype : floats)
    for (auto [m, n, k] : {Sizes{1, 1, 1}, Sizes{64, 64, 256}, Sizes{33, 70, 100}}) {
      Case test{"matmul_split_k", "matmul_split_k",
                {define("T", dtype), define("BM", 32), define("BN", 32), define("BK", 16)},
                {}, {ScalarArg::integer(DType::Int, 3)}, false, {}, 0};
      test.arrays = {whole(dtype, {m, k}, 1), whole(dtype, {k, n}, 2), zeros(DType::F32, {m, n})};
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum += test.arrays[0].at(i * k + l) * test.arrays[1].at(l * n + j);
          test.expected.push_back(sum);
        }
      check(test);
    }
}

/// Blocks of `block` rows of `tokens`, each of one expert.
Case groupedGemm(DType dtype, int64_t n, int64_t k, int64_t block, int bn, int bk, std::vector<int64_t> experts) {
  constexpr int64_t tokens = 21, numExperts = 3;
  int64_t rows = int64_t(experts.size()) * block;
  Case test{"grouped_gemm", "grouped_gemm",
            {define("T", dtype), define("BM", int(block)), define("BN", bn), define("BK", bk)}, {}, {}, false, {}, 0};
  test.tolerance = 2 * epsilon(dtype) + 64 * 0x1p-23;
  test.arrays = {HostArray::random(dtype, {tokens, k}, 1), HostArray::random(dtype, {numExperts, k, n}, 2),
                 someRows(rows, tokens), indices(experts), HostArray::poisoned(dtype, {rows, n})};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, row = test.arrays[2].at(i), expert = test.arrays[3].at(i / block);
      for (int64_t l = 0; isInside(row, tokens) && l < k; ++l)
        sum += test.arrays[0].at(int64_t(row) * k + l) * test.arrays[1].at((int64_t(expert) * k + l) * n + j);
      test.expected.push_back(sum);
    }
  return test;
}

TEST(GroupedGemm, RowsOfExperts) {
  for (DType dtype : floats)
    for (auto [n, k] : {std::pair<int64_t, int64_t>{64, 32}, {50, 45}})
      check(groupedGemm(dtype, n, k, 16, 32, 16, {2, 0, 0, 1}), /*allWarps=*/dtype == DType::F32);
}

/// Warps that only copy gather for one group of warps that multiply, and for two.
TEST(GroupedGemm, ByWarpsThatCopy) {
  for (int64_t block : {64, 128})
    for (int64_t k : {32, 200}) {
      Case test = groupedGemm(DType::BF16, 136, k, block, 128, 32, {2, 0});
      test.chip = "sm_90a";
      check(test, /*allWarps=*/false);
    }
}

//===------------------------------------------------------------------------===//
// The device
//===------------------------------------------------------------------------===//

/// `num_sms()` is 1 on the CPU, interpreted or compiled.
TEST(NumSMs, IsOneOnTheCPU) {
  for (Executor executor : {Executor::Interpreter, Executor::SIMT}) {
    HostArray y = HostArray::poisoned(DType::I64, {4});
    KernelRunner runner(example("../Lowering/Run/num-sms"), "spread", {});
    EXPECT_EQ(runner.run(executor, {y.arg()}), "");
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(y.at(i), 1) << executorName(executor);
  }
}

} // namespace

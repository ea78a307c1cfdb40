//===- TensorMemoryExamplesTest.cpp - products in tensor memory -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products as they become on sm_100a: one thread issues them, accumulators are in tensor
// memory, in loops that only add up for the whole loop. At sizes around the tiles' edges, in
// all types and orders, with 1 to 8 warps (fewer than four take other instructions).
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr const char *chip = "sm_100a";
constexpr const char *inputs = "../Unit/Examples/Inputs/orders";

/// sum over k of a(i, k) b(k, j).
template <typename A, typename B>
void appendProduct(Case &test, int64_t m, int64_t n, int64_t k, A a, B b) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < k; ++c)
        sum += a(i, c) * b(c, j);
      test.expected.push_back(sum);
    }
}

//===------------------------------------------------------------------------===//
// The plain product
//===------------------------------------------------------------------------===//

struct Product {
  int64_t m, n, k;
  int bm, bn, bk;
  bool allWarps = false;
};
constexpr Product products[] = {
    // Two blocks a cluster, of which the second has no place in the grid.
    {128, 128, 64, 128, 128, 64, true},
    {257, 264, 136, 128, 128, 64},
    // Two accumulators side by side, and columns for two instructions.
    {250, 64, 96, 256, 64, 32},
    {120, 264, 48, 128, 512, 16},
    // No products at all, fewer than the ring has places, several times around.
    {64, 64, 0, 64, 64, 64},
    {64, 64, 16, 64, 64, 16},
    {64, 72, 1000, 64, 64, 32},
    // Rows that are no multiples of 16 bytes.
    {70, 67, 65, 64, 64, 64, true},
};

class TensorMemoryProducts : public ::testing::TestWithParam<int> {};

TEST_P(TensorMemoryProducts, Matmul) {
  const Product &p = products[GetParam()];
  Case test{"matmul", "matmul",
            {"T=bf16", define("BM", p.bm), define("BN", p.bn), define("BK", p.bk)},
            {}, {}, false, {}, 2 * epsilon(DType::BF16)};
  test.chip = chip;
  test.arrays = {HostArray::random(DType::BF16, {p.m, p.k}, 9),
                 HostArray::random(DType::BF16, {p.k, p.n}, 10)};
  appendProduct(
      test, p.m, p.n, p.k, [&](int64_t i, int64_t k) { return test.arrays[0].at(size_t(i * p.k + k)); },
      [&](int64_t k, int64_t j) { return test.arrays[1].at(size_t(k * p.n + j)); });
  test.arrays.push_back(HostArray::poisoned(DType::BF16, {p.m, p.n}));
  check(test, p.allWarps);
}

INSTANTIATE_TEST_SUITE_P(Sizes, TensorMemoryProducts,
                         ::testing::Range(0, int(std::size(products))));

//===------------------------------------------------------------------------===//
// Types and orders
//===------------------------------------------------------------------------===//

struct Types {
  const char *type, *used, *sum;
  int bm, bk;
  double tolerance;
};
constexpr Types types[] = {
    {"bf16", "bf16", "f32", 128, 64, 1e-3},      {"f16", "f16", "f32", 64, 32, 1e-3},
    {"f8e4m3", "f8e4m3", "f32", 128, 128, 1e-3}, {"f8e5m2", "f8e5m2", "f32", 64, 64, 1e-3},
    {"i8", "i8", "i32", 128, 128, 0},            {"u8", "u8", "i32", 64, 32, 0},
    {"f32", "tf32", "f32", 128, 32, 0x1p-4},
};

class TensorMemoryOrders : public ::testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(TensorMemoryOrders, Products) {
  auto [index, ta, tb] = GetParam();
  const Types &t = types[index];
  constexpr int64_t m = 144, n = 80, k = 208;
  auto flag = [](bool value) { return value ? "true" : "false"; };
  Case test{inputs, "orders",
            {std::string("T=") + t.type, std::string("U=") + t.used, std::string("S=") + t.sum, std::string("TA=") + flag(ta),
             std::string("TB=") + flag(tb), define("BM", t.bm), define("BK", t.bk)},
            {}, {}, false, {}, t.tolerance};
  test.chip = chip;
  DType type = *parseDType(t.type);
  test.arrays = {HostArray::random(type, ta ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k}, 5),
                 HostArray::random(type, tb ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 6)};
  appendProduct(
      test, m, n, k,
      [&](int64_t i, int64_t c) { return test.arrays[0].at(size_t(ta ? c * m + i : i * k + c)); },
      [&](int64_t c, int64_t j) { return test.arrays[1].at(size_t(tb ? j * k + c : c * n + j)); });
  test.arrays.push_back(HostArray::poisoned(*parseDType(t.sum), {m, n}));
  check(test, /*allWarps=*/false);
}

/// All orders of one type of each width of what is multiplied, both transposed of the others.
std::vector<std::tuple<int, bool, bool>> orders() {
  std::vector<std::tuple<int, bool, bool>> result;
  for (int index = 0; index < int(std::size(types)); ++index)
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        if (index % 2 == 0 || (ta && tb))
          result.push_back({index, ta, tb});
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, TensorMemoryOrders, ::testing::ValuesIn(orders()));

/// f32 taken as tf32, and f8 summed as the unit does it: operands go by the copy engine.
class TensorMemoryPrecisions : public ::testing::TestWithParam<bool> {};

TEST_P(TensorMemoryPrecisions, MatmulNT) {
  bool isF8 = GetParam();
  constexpr int64_t m = 130, n = 72, k = 272;
  DType type = isF8 ? DType::F8E4M3 : DType::F32;
  Case test{"matmul_nt", "matmul_nt",
            {define("T", type), "O=f32", isF8 ? "FAST=true" : "TF32=true", define("BK", isF8 ? 128 : 32)},
            {}, {}, false, {}, isF8 ? 1e-3 : 0x1p-4};
  test.chip = chip;
  test.arrays = {HostArray::random(type, {m, k}, 5), HostArray::random(type, {n, k}, 6)};
  appendProduct(
      test, m, n, k, [&](int64_t i, int64_t c) { return test.arrays[0].at(size_t(i * k + c)); },
      [&](int64_t c, int64_t j) { return test.arrays[1].at(size_t(j * k + c)); });
  test.arrays.push_back(HostArray::poisoned(DType::F32, {m, n}));
  check(test, /*allWarps=*/false);
}

INSTANTIATE_TEST_SUITE_P(All, TensorMemoryPrecisions, ::testing::Bool());

//===------------------------------------------------------------------------===//
// What loops do with sums
//===------------------------------------------------------------------------===//

class TensorMemorySums : public ::testing::TestWithParam<int> {};

TEST_P(TensorMemorySums, KeptAndChanged) {
  int64_t rounds = GetParam();
  constexpr int64_t m = 136, n = 72, k = 200, step = 64;
  Case test{inputs, "sums", {}, {}, {}, false, {}, 1e-3};
  test.chip = chip;
  test.arrays = {HostArray::random(DType::BF16, {m, k}, 7), HostArray::random(DType::BF16, {k, n}, 8)};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double halved = 0, all = 0;
      for (int64_t first = 0; first < k; first += step) {
        double part = 0;
        for (int64_t c = first; c < std::min(k, first + step); ++c)
          part += test.arrays[0].at(size_t(i * k + c)) * test.arrays[1].at(size_t(c * n + j));
        halved = halved * 0.5 + part;
        all += part;
      }
      test.expected.push_back(halved + 1 + double(rounds) * all);
    }
  test.arrays.push_back(HostArray::poisoned(DType::F32, {m, n}));
  test.scalars = {KernelArg(ScalarArg::integer(DType::Int, rounds))};
  check(test, /*allWarps=*/rounds == 2);
}

INSTANTIATE_TEST_SUITE_P(Rounds, TensorMemorySums, ::testing::Values(0, 1, 2));

} // namespace

//===- SpecializedExamplesTest.cpp - products fed by the copy engine -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The plain matmul and attention as they become on sm_90a: resident blocks, warps that
// copy, clusters, products of warp groups. At sizes around the tiles' edges, where rows
// are multiples of 16 bytes (and a few where they are not, which take the general build).
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

//===------------------------------------------------------------------------===//
// Products
//===------------------------------------------------------------------------===//

struct Product {
  int64_t m, n, k;
  int bm, bn, bk;
};
constexpr Product products[] = {
    // Two blocks a cluster, of which the last one's second has no place in the grid.
    {260, 136, 136, 128, 128, 64},
    // One position along the axis of pairs: blocks are alone, and copy what pairs would share.
    {128, 128, 64, 128, 128, 64},
    {120, 520, 328, 128, 128, 64},
    {520, 128, 200, 256, 128, 32},
    // Smaller tiles in a grid of pairs, and of none.
    {200, 136, 136, 64, 128, 64},
    {120, 400, 72, 64, 128, 32},
    {60, 264, 72, 128, 64, 64},
    // Edges one before, at and after the tiles'.
    {127, 136, 72, 128, 128, 64},
    {129, 120, 56, 128, 128, 64},
    {257, 264, 136, 128, 128, 64},
    // No products at all, and fewer than the ring has places.
    {64, 64, 0, 64, 64, 64},
    {64, 64, 16, 64, 64, 16},
    // More than the ring has places, several times around.
    {64, 72, 1000, 64, 64, 32},
    // Results in several parts through two buffers, of two warp groups; rows in parts, too.
    {130, 264, 72, 128, 256, 64},
    {300, 136, 72, 256, 128, 64},
    // One warp group, narrow and wide; tiles that need padding inside.
    {65, 8, 64, 64, 8, 64},
    {100, 256, 128, 64, 256, 64},
    {40, 24, 96, 16, 16, 32},
    // Tiles of few rows, multiplied the other way round: one and two instructions wide, rings
    // several times around, edges in all dims.
    {8, 64, 16, 8, 64, 16},
    {21, 72, 200, 8, 64, 32},
    {33, 264, 136, 16, 64, 64},
    {31, 136, 1000, 32, 128, 64},
    {16, 264, 96, 16, 256, 32},
    // Rows that are no multiples of 16 bytes.
    {70, 67, 65, 64, 64, 64},
    {17, 67, 65, 16, 64, 64},
};

class SpecializedProducts : public ::testing::TestWithParam<std::tuple<int, DType>> {};

TEST_P(SpecializedProducts, Matmul) {
  const Product &p = products[std::get<0>(GetParam())];
  DType dtype = std::get<1>(GetParam());
  Case test{"matmul", "matmul", {define("T", dtype), define("BM", p.bm), define("BN", p.bn), define("BK", p.bk)}, {}, {},
            false, {}, 2 * epsilon(dtype)};
  test.chip = "sm_90a";
  test.arrays = {HostArray::random(dtype, {p.m, p.k}, 9), HostArray::random(dtype, {p.k, p.n}, 10)};
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k)
        sum += test.arrays[0].at(size_t(i * p.k + k)) * test.arrays[1].at(size_t(k * p.n + j));
      test.expected.push_back(sum);
    }
  test.arrays.push_back(HostArray::poisoned(dtype, {p.m, p.n}));
  check(test, /*allWarps=*/false);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SpecializedProducts,
                         ::testing::Combine(::testing::Range(0, int(std::size(products))),
                                            ::testing::Values(DType::BF16, DType::F16)));

/// Every type that can be multiplied, both operands along k. Sums of 272 products that reach
/// 60 where terms cancel: tolerances are those of the sum in its type, not of the result.
/// Units of f8 sum with 14 bits, of which SIMT execution knows nothing.
struct TypedProduct {
  const char *type, *sum, *result, *extra;
  int bk;
  double tolerance, unitTolerance = 0;
  int bm = 64;
  int64_t k = 272;
  int bn = 64;
};
constexpr TypedProduct typedProducts[] = {
    {"bf16", "f32", "bf16", "FAST=false", 64, 0x1p-6},  {"f16", "f16", "f16", "FAST=false", 64, 0x1p-2},
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13},
    {"f8e5m2", "f32", "bf16", "FAST=true", 64, 0x1p-6, 60 * 0x1p-12},
    {"i8", "i32", "i32", "FAST=false", 128, 0},         {"u8", "i32", "i32", "FAST=false", 32, 0},
    {"f32", "f32", "f32", "TF32=true", 32, 0x1p-4},     {"f32", "f32", "f32", "TF32=false", 32, 1e-4},
    {"f64", "f64", "f64", "FAST=false", 16, 1e-13},
    // Tiles of few rows.
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 16},
    {"f8e5m2", "f32", "bf16", "FAST=true", 64, 0x1p-6, 60 * 0x1p-12, 8},
    {"i8", "i32", "i32", "FAST=false", 64, 0, 0, 32},
    {"f32", "f32", "f32", "TF32=true", 32, 0x1p-4, 0, 16},
    {"f16", "f16", "f16", "FAST=false", 64, 0x1p-2, 0, 16},
    // Parts of 128 of K, of which one is added while another is multiplied: none, one, two,
    // three, four; by two warp groups; and 256 at a time, which are two sums.
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 64, 0},
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 64, 112},
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 64, 144},
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 80 * 0x1p-13, 64, 512},
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 128},
    {"f8e4m3", "f32", "f32", "FAST=false", 256, 1e-3, 60 * 0x1p-13},
    // Sums that leave room for products of half of the columns only.
    {"f8e4m3", "f32", "f32", "FAST=false", 128, 1e-3, 60 * 0x1p-13, 128, 272, 256},
    {"f8e4m3", "f32", "f32", "FAST=false", 256, 1e-3, 60 * 0x1p-13, 128, 272, 256},
};

class TypedProducts : public ::testing::TestWithParam<std::tuple<int, const char *>> {};

TEST_P(TypedProducts, MatmulNT) {
  const TypedProduct &p = typedProducts[std::get<0>(GetParam())];
  constexpr int64_t m = 100, n = 72;
  const int64_t k = p.k;
  Case test{"matmul_nt", "matmul_nt",
            {std::string("T=") + p.type, std::string("S=") + p.sum, std::string("O=") + p.result, p.extra,
             define("BM", p.bm), define("BN", p.bn), define("BK", p.bk)},
            {}, {}, false, {}, p.tolerance};
  test.chip = std::get<1>(GetParam());
  test.unitTolerance = p.unitTolerance;
  DType type = *parseDType(p.type);
  test.arrays = {HostArray::random(type, {m, k}, 5), HostArray::random(type, {n, k}, 6)};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < k; ++c)
        sum += test.arrays[0].at(size_t(i * k + c)) * test.arrays[1].at(size_t(j * k + c));
      test.expected.push_back(sum);
    }
  test.arrays.push_back(HostArray::poisoned(*parseDType(p.result), {m, n}));
  check(test, /*allWarps=*/false);
}

INSTANTIATE_TEST_SUITE_P(Types, TypedProducts,
                         ::testing::Combine(::testing::Range(0, int(std::size(typedProducts))),
                                            ::testing::Values("sm_80", "sm_90a")));

//===------------------------------------------------------------------------===//
// Attention
//===------------------------------------------------------------------------===//

struct Attention {
  int64_t batch, heads, m, n;
  int d, bm, bn;
  bool causal;
  const char *type = "bf16";
};
constexpr Attention attentions[] = {
    // One block of keys: the skewed loop runs no iteration.
    {1, 1, 64, 40, 64, 64, 64, false},
    // Two and several, with and without edges.
    {1, 2, 128, 128, 64, 128, 64, false},
    {2, 1, 100, 333, 64, 64, 64, false},
    {1, 3, 200, 200, 128, 128, 128, true},
    // Four warp groups.
    {1, 2, 300, 333, 64, 256, 64, false},
    {1, 1, 257, 300, 64, 256, 64, true},
    {1, 1, 65, 130, 64, 64, 64, true},
    // Heads of 16, that matrix units of warps take.
    {1, 1, 40, 50, 16, 16, 16, true},
    // Several blocks for each resident one, of unequal lengths.
    {2, 3, 190, 200, 64, 64, 64, true, "f16"},
    // A group of queries and many keys: products the other way round.
    {1, 2, 16, 301, 128, 16, 128, false},
    {2, 1, 5, 130, 64, 8, 64, true, "f16"},
    // One query and many keys; more rows than one warp group has, and wide heads.
    {1, 2, 1, 301, 128, 64, 128, true, "f16"},
    {1, 1, 131, 77, 256, 128, 64, false, "f16"},
};

class SpecializedAttention : public ::testing::TestWithParam<std::tuple<int, const char *>> {};

/// softmax(scale q k^T) v of one head, rows of which see the keys that they may.
void appendAttention(std::vector<double> &out, const Case &test, const Attention &p, int64_t head, double scale) {
  const HostArray &q = test.arrays[0], &k = test.arrays[1], &v = test.arrays[2];
  for (int64_t i = 0; i < p.m; ++i) {
    int64_t seen = p.causal ? i + 1 + p.n - p.m : p.n;
    std::vector<double> weights;
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < seen; ++j) {
      double dot = 0;
      for (int64_t c = 0; c < p.d; ++c)
        dot += q.at(size_t((head * p.m + i) * p.d + c)) * k.at(size_t((head * p.n + j) * p.d + c));
      weights.push_back(dot * scale);
      largest = std::max(largest, weights.back());
    }
    for (double &weight : weights)
      total += weight = std::exp(weight - largest);
    for (int64_t c = 0; c < p.d; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < seen; ++j)
        sum += weights[size_t(j)] * v.at(size_t((head * p.n + j) * p.d + c));
      out.push_back(sum / total);
    }
  }
}

TEST_P(SpecializedAttention, Attention) {
  const Attention &p = attentions[std::get<0>(GetParam())];
  DType type = *parseDType(p.type);
  Case test{"attention", "attention",
            {std::string("T=") + p.type, define("D", p.d), define("BM", p.bm), define("BN", p.bn),
             std::string("CAUSAL=") + (p.causal ? "true" : "false")},
            {}, {}, false, {}, 3 * epsilon(type)};
  test.chip = std::get<1>(GetParam());
  float scale = float(1 / std::sqrt(double(p.d)));
  for (int64_t rows : {p.m, p.n, p.n})
    test.arrays.push_back(HostArray::random(type, {p.batch, p.heads, rows, p.d}, uint32_t(30 + test.arrays.size())));
  for (int64_t head = 0; head < p.batch * p.heads; ++head)
    appendAttention(test.expected, test, p, head, scale);
  test.arrays.push_back(HostArray::poisoned(type, {p.batch, p.heads, p.m, p.d}));
  test.scalars = {ScalarArg::f32(scale)};
  check(test, /*allWarps=*/false);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SpecializedAttention,
                         ::testing::Combine(::testing::Range(0, int(std::size(attentions))),
                                            ::testing::Values("sm_80", "sm_90a", "sm_100a")));

} // namespace

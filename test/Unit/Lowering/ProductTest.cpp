//===- ProductTest.cpp - matrix products, compiled and interpreted ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products of every type on the instructions of several chips, of tiles from one
// element to 128 rows, with either operand transposed, with batches, and one after the
// other. Operands are small whole numbers, so that every order of summation agrees and
// results are compared byte for byte.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

struct Type {
  const char *array, *tile, *acc; ///< of the array, of the operand, of the sum
  DType arrayType, accType;
  const char *chip;
  const char *rules = ""; ///< between operands and types
};

const Type types[] = {
    {"f16", "f16", "f32", DType::F16, DType::F32, "sm_80"},
    {"f16", "f16", "f16", DType::F16, DType::F16, "sm_80"},
    {"bf16", "bf16", "f32", DType::BF16, DType::F32, "sm_80"},
    {"f32", "tf32", "f32", DType::F32, DType::F32, "sm_80"},
    {"f32", "f32", "f32", DType::F32, DType::F32, "sm_80"},
    {"f32", "f32", "f32", DType::F32, DType::F32, "sm_80", "precision(tf32)"},
    {"f32", "f32", "f32", DType::F32, DType::F32, "sm_80", "precision(tf32x3)"},
    {"f64", "f64", "f64", DType::F64, DType::F64, "sm_80"},
    {"f64", "f64", "f64", DType::F64, DType::F64, "sm_90"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_80"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_80", "a_unsigned"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_80", "b_unsigned"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_80", "a_unsigned b_unsigned"},
    {"f8E4M3FN", "f8E4M3FN", "f32", DType::F8E4M3, DType::F32, "sm_80"},
    {"f8E4M3FN", "f8E4M3FN", "f32", DType::F8E4M3, DType::F32, "sm_89"},
    {"f8E4M3FN", "f8E4M3FN", "f32", DType::F8E4M3, DType::F32, "sm_89", "precision(fast)"},
    {"f8E5M2", "f8E5M2", "f32", DType::F8E5M2, DType::F32, "sm_80"},
    {"f8E5M2", "f8E5M2", "f32", DType::F8E5M2, DType::F32, "sm_89"},
    {"f8E5M2", "f8E5M2", "f32", DType::F8E5M2, DType::F32, "sm_89", "precision(fast)"}};

std::string tensor(std::vector<int64_t> shape, const char *element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

struct Sizes {
  int64_t m, n, k;
  bool transposesA = false, transposesB = false;
};

/// acc + a b over an array two tiles deep, the second one cut at its edge.
std::string product(const Type &type, const Sizes &s, const RunOptions &options) {
  int64_t depth = s.k + (s.k + 1) / 2, rows = (s.m + s.m / 3), columns = s.n + s.n / 4;
  auto dims = [](int64_t a, int64_t b, bool transposes) {
    return transposes ? std::vector<int64_t>{b, a} : std::vector<int64_t>{a, b};
  };
  std::vector<HostArray> arrays = {
      wholeNumbers(type.arrayType, dims(rows, depth, s.transposesA), 1),
      wholeNumbers(type.arrayType, dims(depth, columns, s.transposesB), 2),
      HostArray::output(type.accType, {rows, columns})};
  std::string element = type.array, aa = "!tile.array<?x?x" + element + ">",
              ac = std::string("!tile.array<?x?x") + type.acc + ", mut>";
  std::string ta = tensor({s.m, s.k}, type.tile), tb = tensor({s.k, s.n}, type.tile),
              tc = tensor({s.m, s.n}, type.acc);
  bool casts = std::string(type.array) != type.tile;
  auto load = [&](const char *name, const char *array, const char *i, const char *j,
                  bool transposes, std::vector<int64_t> shape, const std::string &tile) {
    std::string loaded = tensor(shape, type.array), text = std::string("%") + name;
    text += casts ? "l" : "";
    text += std::string(" = tile.load %") + array;
    text += transposes ? std::string("[") + j + ", " + i + "] order [1, 0]"
                       : std::string("[") + i + ", " + j + "]";
    text += " : " + aa + " -> " + loaded + "\n";
    if (casts)
      text += std::string("%") + name + " = tile.cast %" + name + "l : " + loaded + " -> " +
              tile + "\n";
    return text;
  };
  std::string zero = type.acc[0] == 'i' ? "0" : "0.0";
  return checkKernel("tile.kernel @mm(%a: " + aa + ", %b: " + aa + ", %c: " + ac + R"() {
      %bm = tile.block_id 0 : index
      %bn = tile.block_id 1 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %z = arith.constant dense<)" + zero + "> : " + tc + R"(
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> ()" + tc + ") {\n" +
      load("x", "a", "%bm", "%i", s.transposesA, {s.m, s.k}, ta) +
      load("y", "b", "%i", "%bn", s.transposesB, {s.k, s.n}, tb) +
      "%t = tile.mma %x, %y, %s " + type.rules + " : " + ta + ", " + tb + ", " + tc + R"(
        scf.yield %t : )" + tc + R"(
      }
      tile.store %c[%bm, %bn], %r : )" + ac + ", " + tc + R"(
      tile.return
    })", arrays, options);
}

class Products : public ::testing::TestWithParam<Type> {
protected:
  void check(const Sizes &s, std::vector<unsigned> warps) {
    RunOptions options;
    options.chip = GetParam().chip;
    options.warps = std::move(warps);
    options.grid = {2, 2, 1};
    EXPECT_EQ(product(GetParam(), s, options), "")
        << s.m << "x" << s.n << "x" << s.k << (s.transposesA ? " A^T" : "")
        << (s.transposesB ? " B^T" : "");
  }
};

TEST_P(Products, SmallTilesArePadded) {
  check({1, 1, 1}, {1, 4});
  check({2, 16, 4}, {2});
  check({16, 2, 8, false, true}, {1});
  check({8, 8, 16, true, false}, {2});
  check({32, 4, 2, true, true}, {4});
}

TEST_P(Products, WarpsShareATile) {
  check({32, 64, 32}, {1, 8});
  check({64, 16, 64, false, true}, {2, 4});
}

TEST_P(Products, TransposedOperands) {
  check({64, 32, 32, true, false}, {4});
  check({32, 32, 64, false, true}, {2});
  check({32, 64, 32, true, true}, {4});
}

INSTANTIATE_TEST_SUITE_P(Types, Products, ::testing::ValuesIn(types));

const Type warpGroupTypes[] = {
    {"f16", "f16", "f32", DType::F16, DType::F32, "sm_90a"},
    {"f16", "f16", "f16", DType::F16, DType::F16, "sm_90a"},
    {"bf16", "bf16", "f32", DType::BF16, DType::F32, "sm_90a"},
    {"f32", "tf32", "f32", DType::F32, DType::F32, "sm_90a"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_90a", "a_unsigned"},
    {"i8", "i8", "i32", DType::I8, DType::I32, "sm_90a", "b_unsigned"},
    {"f8E4M3FN", "f8E4M3FN", "f32", DType::F8E4M3, DType::F32, "sm_90a"},
    {"f8E5M2", "f8E5M2", "f32", DType::F8E5M2, DType::F32, "sm_90a", "precision(fast)"}};

/// Products of four warps and eight, which read shared memory by themselves.
class WarpGroupProducts : public Products {};

TEST_P(WarpGroupProducts, RowsOfGroups) {
  check({64, 8, 32}, {4, 8});
  check({128, 32, 64, true, false}, {4, 8});
}

TEST_P(WarpGroupProducts, ColumnsOfGroups) {
  check({64, 64, 32, false, true}, {8});
  check({64, 16, 128, true, true}, {8});
}

INSTANTIATE_TEST_SUITE_P(Types, WarpGroupProducts, ::testing::ValuesIn(warpGroupTypes));

/// As many columns as an instruction has; twice that, for two groups.
TEST(ProductTest, WideWarpGroupProducts) {
  RunOptions options;
  options.chip = "sm_90a";
  options.grid = {2, 2, 1};
  options.warps = {4};
  EXPECT_EQ(product(warpGroupTypes[2], {64, 256, 16}, options), "");
  options.warps = {8};
  EXPECT_EQ(product(warpGroupTypes[2], {64, 512, 16, false, true}, options), "");
}

/// Long enough for a loop over K, by matrix loads and by elements.
TEST(ProductTest, DeepTilesLoopOverK) {
  RunOptions options;
  options.warps = {1};
  options.grid = {2, 2, 1};
  EXPECT_EQ(product(types[0], {32, 128, 256}, options), "");
  EXPECT_EQ(product(types[7], {32, 128, 32, true, false}, options), "");
}

TEST(ProductTest, BatchesAndOneForAll) {
  for (auto [dtype, element, batchB] :
       std::vector<std::tuple<DType, const char *, int64_t>>{
           {DType::BF16, "bf16", 4}, {DType::F16, "f16", 1}, {DType::F32, "f32", 4}}) {
    std::vector<HostArray> arrays = {wholeNumbers(dtype, {4, 32, 16}, 3),
                                     wholeNumbers(dtype, {batchB, 16, 16}, 4),
                                     HostArray::output(DType::F32, {4, 32, 16})};
    std::string ta = tensor({4, 32, 16}, element), tb = tensor({batchB, 16, 16}, element),
                tc = tensor({4, 32, 16}, "f32");
    std::string array = std::string("!tile.array<?x?x?x") + element + ">";
    EXPECT_EQ(checkKernel("tile.kernel @mm(%a: " + array + ", %b: " + array + R"(,
                                           %c: !tile.array<?x?x?xf32, mut>) {
        %c0 = arith.constant 0 : index
        %z = arith.constant dense<1.0> : )" + tc + R"(
        %x = tile.load %a[%c0, %c0, %c0] : )" + array + " -> " + ta + R"(
        %y = tile.load %b[%c0, %c0, %c0] : )" + array + " -> " + tb + R"(
        %t = tile.mma %x, %y, %z : )" + ta + ", " + tb + ", " + tc + R"(
        tile.store %c[%c0, %c0, %c0], %t : !tile.array<?x?x?xf32, mut>, )" + tc + R"(
        tile.return
      })", arrays), "") << element;
  }
}

/// (a b) c as in attention: the first result is an operand as it lies in registers.
static void checkChain(const char *chip, std::vector<unsigned> warps) {
  RunOptions options;
  options.chip = chip;
  options.warps = std::move(warps);
  for (auto [dtype, element] : std::vector<std::pair<DType, const char *>>{
           {DType::BF16, "bf16"}, {DType::F16, "f16"}, {DType::F8E5M2, "f8E5M2"}}) {
    std::vector<HostArray> arrays = {wholeNumbers(dtype, {64, 16}, 5),
                                     wholeNumbers(dtype, {16, 64}, 6),
                                     wholeNumbers(dtype, {64, 32}, 7),
                                     HostArray::output(DType::F32, {64, 32})};
    std::string array = std::string("!tile.array<?x?x") + element + ">";
    std::string ta = tensor({64, 16}, element), tb = tensor({16, 64}, element),
                tp = tensor({64, 64}, element), tv = tensor({64, 32}, element);
    EXPECT_EQ(checkKernel("tile.kernel @mm(%a: " + array + ", %b: " + array + ", %v: " + array +
                          R"(, %c: !tile.array<?x?xf32, mut>) {
        %c0 = arith.constant 0 : index
        %z = arith.constant dense<0.0> : tensor<64x64xf32>
        %y = arith.constant dense<0.0> : tensor<64x32xf32>
        %q = tile.load %a[%c0, %c0] : )" + array + " -> " + ta + R"(
        %k = tile.load %b[%c0, %c0] : )" + array + " -> " + tb + R"(
        %s = tile.mma %q, %k, %z : )" + ta + ", " + tb + R"(, tensor<64x64xf32>
        %small = arith.constant dense<0.03125> : tensor<64x64xf32>
        %scaled = arith.mulf %s, %small : tensor<64x64xf32>
        %p = tile.cast %scaled : tensor<64x64xf32> -> )" + tp + R"(
        %w = tile.load %v[%c0, %c0] : )" + array + " -> " + tv + R"(
        %t = tile.mma %p, %w, %y : )" + tp + ", " + tv + R"(, tensor<64x32xf32>
        tile.store %c[%c0, %c0], %t : !tile.array<?x?xf32, mut>, tensor<64x32xf32>
        tile.return
      })", arrays, options), "") << element;
  }
}

TEST(ProductTest, OneProductFeedsAnother) { checkChain("sm_80", {1, 2, 4, 8}); }
TEST(ProductTest, OneWarpGroupProductFeedsAnother) { checkChain("sm_90a", {4, 8}); }

/// Every f8 number but NaN times one, and NaN itself.
TEST(ProductTest, EveryF8IsConvertedExactly) {
  for (auto [dtype, element] : std::vector<std::pair<DType, const char *>>{
           {DType::F8E4M3, "f8E4M3FN"}, {DType::F8E5M2, "f8E5M2"}})
    for (const char *chip : {"sm_80", "sm_89"}) {
      std::vector<uint8_t> all(256 * 32), one(32 * 8);
      for (size_t i = 0; i < 256; ++i)
        all[i * 32] = uint8_t(i);
      for (size_t j = 0; j < 8; ++j)
        one[j] = dtype == DType::F8E4M3 ? 0x38 : 0x3c;
      std::vector<HostArray> arrays = {HostArray::of(dtype, {256, 32}, all),
                                       HostArray::of(dtype, {32, 8}, one),
                                       HostArray::output(DType::F32, {256, 8})};
      std::string array = std::string("!tile.array<?x?x") + element + ">";
      std::string ta = tensor({256, 32}, element), tb = tensor({32, 8}, element);
      RunOptions options;
      options.chip = chip;
      options.warps = {4};
      EXPECT_EQ(checkKernel("tile.kernel @mm(%a: " + array + ", %b: " + array + R"(,
                                             %c: !tile.array<?x?xf32, mut>) {
          %c0 = arith.constant 0 : index
          %z = arith.constant dense<0.0> : tensor<256x8xf32>
          %x = tile.load %a[%c0, %c0] : )" + array + " -> " + ta + R"(
          %y = tile.load %b[%c0, %c0] : )" + array + " -> " + tb + R"(
          %t = tile.mma %x, %y, %z : )" + ta + ", " + tb + R"(, tensor<256x8xf32>
          tile.store %c[%c0, %c0], %t : !tile.array<?x?xf32, mut>, tensor<256x8xf32>
          tile.return
        })", arrays, options), "") << element << " " << chip;
    }
}

} // namespace

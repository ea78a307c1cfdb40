//===- IndexedTest.cpp - gathers and scatters, compiled --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// tile.gather and tile.scatter of every type, at indices that are inside, negative,
// outside and masked; with tiles that fill the block and tiles of four elements; as
// runs of 16 bytes and as scalars. KernelRunner compares compiled code with the
// interpreter, some kernels for 1, 2, 4 and 8 warps.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

struct ElementType {
  const char *name; ///< in MLIR
  DType dtype;
};
constexpr ElementType elementTypes[] = {
    {"i1", DType::Bool},    {"i8", DType::I8},     {"f8E4M3FN", DType::F8E4M3},
    {"f8E5M2", DType::F8E5M2}, {"i16", DType::I16}, {"f16", DType::F16},
    {"bf16", DType::BF16},  {"i32", DType::I32},   {"f32", DType::F32},
    {"i64", DType::I64},    {"f64", DType::F64},   {"index", DType::Int}};

/// Bytes 0, 1, 2, …: no NaN in any float type of 16 bits or more.
HostArray counting(DType dtype, std::vector<int64_t> dims) {
  HostArray array = HostArray::output(dtype, std::move(dims));
  for (size_t i = 0; i < array.bytes.size(); ++i)
    array.bytes[i] = dtype == DType::Bool ? uint8_t(i % 3 == 1) : uint8_t(i * 7 % 60);
  return array;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Some inside, at both ends, negative, outside.
std::vector<int64_t> mixedIndices(int64_t count, int64_t size) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(i % 8 == 3   ? -1 - i
                     : i % 8 == 5 ? size + i
                     : i % 8 == 6 ? size - 1
                                  : i * 37 % size);
  return result;
}

template <typename T> HostArray indexArray(DType dtype, const std::vector<int64_t> &values) {
  return HostArray::of(dtype, {int64_t(values.size())}, std::vector<T>(values.begin(), values.end()));
}

HostArray maskArray(int64_t count) {
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(i % 5 != 2);
  return HostArray::of(DType::Bool, {count}, mask);
}

TEST(IndexedTest, GathersEveryType) {
  for (auto [name, dtype] : elementTypes)
    for (int64_t count : {4, 512}) {
      std::vector<HostArray> arrays = {counting(dtype, {100}),
                                       indexArray<int32_t>(DType::I32, mixedIndices(count, 100)),
                                       maskArray(count), HostArray::output(dtype, {count}),
                                       HostArray::output(dtype, {count})};
      std::string type = name;
      std::string pad = type[0] == 'i' ? (type == "i1" ? "true" : "7 : TT") : "1.5 : TT";
      std::string text = replaced(R"(
        tile.kernel @gathers(%a: !tile.array<?xTT>, %i: !tile.array<?xi32>, %m: !tile.array<?xi1>,
                             %c: !tile.array<?xTT, mut>, %d: !tile.array<?xTT, mut>) {
          %z = arith.constant 0 : index
          %x = tile.load %i[%z] : !tile.array<?xi32> -> tensor<NNxi32>
          %k = tile.load %m[%z] : !tile.array<?xi1> -> tensor<NNxi1>
          %g = tile.gather %a[%x] : !tile.array<?xTT>, [tensor<NNxi32>] -> tensor<NNxTT>
          %h = tile.gather %a[%x] mask(%k : tensor<NNxi1>) pad(PAD)
            : !tile.array<?xTT>, [tensor<NNxi32>] -> tensor<NNxTT>
          tile.store %c[%z], %g : !tile.array<?xTT, mut>, tensor<NNxTT>
          tile.store %d[%z], %h : !tile.array<?xTT, mut>, tensor<NNxTT>
          tile.return
        })", "PAD", pad);
      RunOptions options;
      options.warps = {count == 4 ? 8u : 2u};
      EXPECT_EQ(checkKernel(replaced(replaced(text, "TT", type), "NN", std::to_string(count)),
                            arrays, options), "") << name << ", " << count;
    }
}

TEST(IndexedTest, ScattersEveryType) {
  for (auto [name, dtype] : elementTypes)
    for (int64_t count : {4, 512}) {
      // Every target once: 37 and 1021 have no common divisor.
      std::vector<int64_t> targets;
      for (int64_t i = 0; i < count; ++i)
        targets.push_back(i % 8 == 3 ? -1 - i : i % 8 == 5 ? 1021 + i : i * 37 % 1021);
      std::vector<HostArray> arrays = {counting(dtype, {count}),
                                       indexArray<int32_t>(DType::I32, targets), maskArray(count),
                                       HostArray::output(dtype, {1021}),
                                       HostArray::output(dtype, {1021})};
      if (dtype == DType::Bool) // 0xa5 reads as true, and is written back as it is
        arrays[3].bytes = arrays[4].bytes = std::vector<uint8_t>(1021, 1);
      std::string text = replaced(R"(
        tile.kernel @scatters(%a: !tile.array<?xTT>, %i: !tile.array<?xi32>, %m: !tile.array<?xi1>,
                              %c: !tile.array<?xTT, mut>, %d: !tile.array<?xTT, mut>) {
          %z = arith.constant 0 : index
          %v = tile.load %a[%z] : !tile.array<?xTT> -> tensor<NNxTT>
          %x = tile.load %i[%z] : !tile.array<?xi32> -> tensor<NNxi32>
          %k = tile.load %m[%z] : !tile.array<?xi1> -> tensor<NNxi1>
          tile.scatter %c[%x], %v : !tile.array<?xTT, mut>, [tensor<NNxi32>], tensor<NNxTT>
          tile.scatter %d[%x], %v mask(%k : tensor<NNxi1>)
            : !tile.array<?xTT, mut>, [tensor<NNxi32>], tensor<NNxTT>
          tile.return
        })", "TT", name);
      RunOptions options;
      options.warps = {count == 4 ? 8u : 2u};
      EXPECT_EQ(checkKernel(replaced(text, "NN", std::to_string(count)), arrays, options), "")
          << name << ", " << count;
    }
}

/// Indices of every integer type, also such that wrap when they are cut to 32 bits.
TEST(IndexedTest, IndicesOfEveryWidth) {
  std::vector<int64_t> wide = {0,      99,         100,       -1,         int64_t(1) << 32, (int64_t(1) << 32) + 5,
                               -5,     INT64_MAX,  INT64_MIN, int64_t(1) << 31, 50, 51,
                               -(int64_t(1) << 32), 7, 98, (int64_t(1) << 40) + 1};
  std::vector<int64_t> narrow = {0, 99, 100, -1, 127, -128, 50, 51, 3, 4, 5, -7, 98, 97, 1, 2};
  const std::pair<const char *, HostArray> cases[] = {
      {"i8", indexArray<int8_t>(DType::I8, narrow)},
      {"i16", indexArray<int16_t>(DType::I16, narrow)},
      {"i64", indexArray<int64_t>(DType::I64, wide)},
      {"index", indexArray<int64_t>(DType::Int, wide)}};
  for (const auto &[type, indices] : cases) {
    std::vector<HostArray> arrays = {counting(DType::F32, {100}), indices,
                                     HostArray::output(DType::F32, {16})};
    EXPECT_EQ(checkKernel(replaced(R"(
      tile.kernel @widths(%a: !tile.array<?xf32>, %i: !tile.array<?xII>, %c: !tile.array<?xf32, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %i[%z] : !tile.array<?xII> -> tensor<16xII>
        %g = tile.gather %a[%x] pad(3.0 : f32) : !tile.array<?xf32>, [tensor<16xII>] -> tensor<16xf32>
        tile.store %c[%z], %g : !tile.array<?xf32, mut>, tensor<16xf32>
        tile.return
      })", "II", type), arrays), "") << type;
  }
}

/// Rows of a matrix, as runs of 16 bytes where arrays are aligned: some rows do not
/// exist, and the matrix ends within the tile.
TEST(IndexedTest, RowsAsRuns) {
  for (auto [name, dtype] : elementTypes) {
    if (dtype == DType::Bool)
      continue;
    int64_t columns = 96;
    std::vector<HostArray> arrays = {counting(dtype, {50, columns}),
                                     indexArray<int32_t>(DType::I32, mixedIndices(16, 50)),
                                     HostArray::output(dtype, {16, columns}),
                                     HostArray::output(dtype, {100, columns})};
    std::string run = std::to_string(std::max<size_t>(16 / dtypeBytes(dtype), 2));
    std::string text = replaced(R"(
      tile.kernel @rows(%a: !tile.array<?x?xTT>, %i: !tile.array<?xi32>,
                        %c: !tile.array<?x?xTT, mut>, %d: !tile.array<?x?xTT, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %i[%z] : !tile.array<?xi32> -> tensor<16xi32>
        %r = tile.reshape %x : tensor<16xi32> -> tensor<16x1xi32>
        %rows = tile.broadcast %r : tensor<16x1xi32> -> tensor<16x128xi32>
        %n = tile.iota : tensor<128xi32>
        %o = tile.reshape %n : tensor<128xi32> -> tensor<1x128xi32>
        %columns = tile.broadcast %o : tensor<1x128xi32> -> tensor<16x128xi32>
        %g = tile.gather %a[%rows, %columns] run [1, RUN]
          : !tile.array<?x?xTT>, [tensor<16x128xi32>, tensor<16x128xi32>] -> tensor<16x128xTT>
        tile.store %c[%z, %z], %g : !tile.array<?x?xTT, mut>, tensor<16x128xTT>
        %two = arith.constant dense<2> : tensor<16x1xi32>
        %s = arith.muli %r, %two : tensor<16x1xi32>
        %to = tile.broadcast %s : tensor<16x1xi32> -> tensor<16x128xi32>
        tile.scatter %d[%to, %columns], %g run [1, RUN]
          : !tile.array<?x?xTT, mut>, [tensor<16x128xi32>, tensor<16x128xi32>], tensor<16x128xTT>
        tile.return
      })", "RUN", run);
    // Rows named twice get equal values, so the winner does not matter.
    RunOptions options;
    options.warps = {4};
    EXPECT_EQ(checkKernel(replaced(text, "TT", name), arrays, options), "") << name;
  }
}

/// Duplicate targets: one of the values wins, and no race is reported.
TEST(IndexedTest, DuplicateTargets) {
  std::vector<HostArray> arrays = {HostArray::output(DType::I32, {4})};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @same(%c: !tile.array<?xi32, mut>) {
      %i = arith.constant dense<2> : tensor<256xi32>
      %v = arith.constant dense<5> : tensor<256xi32>
      tile.scatter %c[%i], %v : !tile.array<?xi32, mut>, [tensor<256xi32>], tensor<256xi32>
      tile.return
    })", arrays), "");
}

TEST(IndexedTest, Scalars) {
  for (int64_t at : {-1, 0, 3, 4}) {
    std::vector<HostArray> arrays = {counting(DType::F16, {3, 4}), HostArray::output(DType::F16, {3, 4})};
    RunOptions options;
    options.scalars = {ScalarArg::integer(DType::I32, at)};
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @one(%a: !tile.array<?x?xf16>, %c: !tile.array<?x?xf16, mut>, %i: i32) {
        %two = arith.constant 2 : index
        %g = tile.gather %a[%two, %i] pad(9.0 : f16) : !tile.array<?x?xf16>, [index, i32] -> f16
        tile.scatter %c[%two, %i], %g : !tile.array<?x?xf16, mut>, [index, i32], f16
        tile.return
      })", arrays, options), "") << at;
  }
}

/// In program order: what is scattered is there for the next gather, through other
/// threads too.
TEST(IndexedTest, ProgramOrder) {
  std::vector<int64_t> reversed;
  for (int64_t i = 0; i < 256; ++i)
    reversed.push_back(255 - i);
  std::vector<HostArray> arrays = {counting(DType::I32, {256}),
                                   indexArray<int32_t>(DType::I32, reversed)};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @again(%a: !tile.array<?xi32, mut>, %i: !tile.array<?xi32>) {
      %z = arith.constant 0 : index
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %x = tile.load %i[%z] : !tile.array<?xi32> -> tensor<256xi32>
      scf.for %k = %z to %five step %one {
        %g = tile.gather %a[%x] : !tile.array<?xi32, mut>, [tensor<256xi32>] -> tensor<256xi32>
        %n = tile.iota : tensor<256xi32>
        %s = arith.addi %g, %n : tensor<256xi32>
        tile.scatter %a[%n], %s : !tile.array<?xi32, mut>, [tensor<256xi32>], tensor<256xi32>
      }
      tile.return
    })", arrays), "");
}

} // namespace

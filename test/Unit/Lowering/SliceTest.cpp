//===- SliceTest.cpp - parts of tiles on threads -----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Slices, elements, flips and takes, at places known and not known, inside and outside:
// the threads together give what the interpreter gives, for 1, 2, 4 and 8 warps, and both
// what is computed here.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace tilec;

namespace {

std::vector<int32_t> numbers(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 100);
  return values;
}

std::vector<int32_t> contents(const HostArray &array) {
  std::vector<int32_t> values(array.bytes.size() / 4);
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

const std::vector<std::pair<std::string, DType>> everyType = {
    {"i1", DType::Bool},  {"i8", DType::I8},   {"i16", DType::I16},         {"i32", DType::I32},
    {"i64", DType::I64},  {"f16", DType::F16}, {"bf16", DType::BF16},       {"f32", DType::F32},
    {"f64", DType::F64},  {"f8E4M3FN", DType::F8E4M3}, {"f8E5M2", DType::F8E5M2}};

std::vector<uint8_t> bytesFor(const std::string &type, size_t count, DType dtype) {
  std::vector<uint8_t> bytes(count * dtypeBytes(dtype));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = type == "i1" ? i % 3 == 1 : uint8_t(i * 37 + i / 7) & 0x3f;
  return bytes;
}

/// `text` with every `TT` replaced.
std::string withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("TT")) != std::string::npos;)
    text.replace(at, 2, type);
  return text;
}

/// A 32x64 tile, its 8x16 slice at (i, j) stored, with the element there, and the tile with
/// the slice (2, 1) put at (i, j).
TEST(SliceTest, ReadsAndReplacesSlicesAnywhere) {
  std::vector<int32_t> x = numbers(32 * 64);
  for (bool isConstant : {false, true})
    for (auto [i, j] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {3, 2}, {-1, 0}, {0, 4}, {int64_t(1) << 32, 0}}) {
      if (isConstant && (i <= 0 || i > 3) && j != 4)
        continue; // one inside and one outside will do
      std::vector<HostArray> arrays = {
          HostArray::of(DType::I32, {32, 64}, x), HostArray::output(DType::I32, {8, 16}),
          HostArray::output(DType::I32, {32, 64}), HostArray::output(DType::I32, {1})};
      RunOptions options;
      options.scalars = {{DType::Int, uint64_t(i)}, {DType::Int, uint64_t(j)}};
      std::string index =
          isConstant ? "%i = arith.constant " + std::to_string(i) + " : index\n%j = arith.constant " +
                           std::to_string(j) + " : index\n"
                     : "%t0 = arith.addi %p, %z : index\n%t1 = arith.addi %q, %z : index\n"
                       "%i = arith.ori %t0, %z : index\n%j = arith.ori %t1, %z : index\n";
      ASSERT_EQ(checkKernel(R"(
        tile.kernel @slices(%a: !tile.array<?x?xi32>, %s: !tile.array<?x?xi32, mut>,
            %r: !tile.array<?x?xi32, mut>, %e: !tile.array<?xi32, mut>, %p: index, %q: index) {
          %z = arith.constant 0 : index
          %one = arith.constant 1 : index
          %two = arith.constant 2 : index
          %x = tile.load %a[%z, %z] : !tile.array<?x?xi32> -> tensor<32x64xi32>
          )" + index + R"(
          %y = tile.extract %x[%i, %j] : tensor<32x64xi32> -> tensor<8x16xi32>
          %v = tile.extract %x[%two, %one] : tensor<32x64xi32> -> tensor<8x16xi32>
          %n = tile.insert %v into %x[%i, %j] : tensor<8x16xi32> into tensor<32x64xi32>
          %w = tile.extract %x[%i, %j] : tensor<32x64xi32> -> i32
          tile.store %s[%z, %z], %y : !tile.array<?x?xi32, mut>, tensor<8x16xi32>
          tile.store %r[%z, %z], %n : !tile.array<?x?xi32, mut>, tensor<32x64xi32>
          tile.store %e[%z], %w elements : !tile.array<?xi32, mut>, i32
          tile.return
        })", arrays, options), "") << i << ", " << j;
      bool isInside = i >= 0 && i < 4 && j >= 0 && j < 4;
      std::vector<int32_t> slice(8 * 16, 0), replaced = x;
      for (int64_t r = 0; isInside && r < 8; ++r)
        for (int64_t c = 0; c < 16; ++c) {
          slice[size_t(r * 16 + c)] = x[size_t((i * 8 + r) * 64 + j * 16 + c)];
          replaced[size_t((i * 8 + r) * 64 + j * 16 + c)] = x[size_t((16 + r) * 64 + 16 + c)];
        }
      bool hasElement = i >= 0 && i < 32 && j >= 0 && j < 64;
      ASSERT_EQ(contents(arrays[1]), slice) << i << ", " << j;
      ASSERT_EQ(contents(arrays[2]), replaced) << i << ", " << j;
      ASSERT_EQ(contents(arrays[3])[0], hasElement ? x[size_t(i * 64 + j)] : 0) << i << ", " << j;
    }
}

/// Halves along each axis, exchanged; and four parts joined.
TEST(SliceTest, SplitsAndJoinsAlongEveryAxis) {
  const int64_t shape[] = {4, 8, 16};
  std::vector<int32_t> x = numbers(512);
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<HostArray> arrays = {HostArray::of(DType::I32, {4, 8, 16}, x),
                                     HostArray::output(DType::I32, {4, 8, 16}),
                                     HostArray::output(DType::I32, {16, 8, 16})};
    auto index = [&](const std::string &which) {
      std::string text;
      for (int64_t dim = 0; dim < 3; ++dim)
        text += (dim ? ", " : "") + (dim == axis ? which : "%z");
      return text;
    };
    std::string half = "tensor<";
    for (int64_t dim = 0; dim < 3; ++dim)
      half += std::to_string(shape[dim] / (dim == axis ? 2 : 1)) + "x";
    half += "i32>";
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @halves(%a: !tile.array<?x?x?xi32>, %c: !tile.array<?x?x?xi32, mut>,
                          %d: !tile.array<?x?x?xi32, mut>) {
        %z = arith.constant 0 : index
        %o = arith.constant 1 : index
        %x = tile.load %a[%z, %z, %z] : !tile.array<?x?x?xi32> -> tensor<4x8x16xi32>
        %l = tile.extract %x[)" + index("%z") + "] : tensor<4x8x16xi32> -> " + half + R"(
        %h = tile.extract %x[)" + index("%o") + "] : tensor<4x8x16xi32> -> " + half + R"(
        %s = tile.cat(%h, %l) axis )" + std::to_string(axis) + " : (" + half + ", " + half + R"() -> tensor<4x8x16xi32>
        %f = tile.cat(%x, %s, %s, %x) axis 0 : (tensor<4x8x16xi32>, tensor<4x8x16xi32>,
            tensor<4x8x16xi32>, tensor<4x8x16xi32>) -> tensor<16x8x16xi32>
        tile.store %c[%z, %z, %z], %s : !tile.array<?x?x?xi32, mut>, tensor<4x8x16xi32>
        tile.store %d[%z, %z, %z], %f : !tile.array<?x?x?xi32, mut>, tensor<16x8x16xi32>
        tile.return
      })", arrays), "") << axis;
    std::vector<int32_t> swapped(512), joined = x;
    for (int64_t i = 0; i < 512; ++i) {
      int64_t at[] = {i / 128, i / 16 % 8, i % 16};
      at[axis] ^= shape[axis] / 2;
      swapped[size_t(i)] = x[size_t((at[0] * 8 + at[1]) * 16 + at[2])];
    }
    joined.insert(joined.end(), swapped.begin(), swapped.end());
    joined.insert(joined.end(), swapped.begin(), swapped.end());
    joined.insert(joined.end(), x.begin(), x.end());
    EXPECT_EQ(contents(arrays[1]), swapped) << axis;
    EXPECT_EQ(contents(arrays[2]), joined) << axis;
  }
}

TEST(SliceTest, MovesEveryType) {
  for (auto [type, dtype] : everyType) {
    std::vector<HostArray> arrays = {
        HostArray::of(dtype, {16, 32}, bytesFor(type, 512, dtype)), HostArray::output(dtype, {16, 32}),
        HostArray::output(dtype, {16, 32}), HostArray::output(dtype, {8, 32}),
        HostArray::output(dtype, {16, 32}), HostArray::output(dtype, {1})};
    RunOptions options;
    options.warps = {1, 8};
    options.scalars = {{DType::Int, 1}};
    EXPECT_EQ(checkKernel(withType(R"(
      tile.kernel @moves(%a: !tile.array<?x?xTT>, %c: !tile.array<?x?xTT, mut>,
          %d: !tile.array<?x?xTT, mut>, %e: !tile.array<?x?xTT, mut>,
          %f: !tile.array<?x?xTT, mut>, %g: !tile.array<?xTT, mut>, %p: index) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z, %z] : !tile.array<?x?xTT> -> tensor<16x32xTT>
        %r = tile.flip %x axis 0 : tensor<16x32xTT>
        %s = tile.flip %r axis 1 : tensor<16x32xTT>
        %n = tile.iota : tensor<32xi32>
        %k = arith.constant dense<5> : tensor<32xi32>
        %m = arith.muli %n, %k : tensor<32xi32>
        %t = tile.take %x[%m] axis 1 : tensor<16x32xTT>, tensor<32xi32> -> tensor<16x32xTT>
        %u = tile.extract %x[%p, %z] : tensor<16x32xTT> -> tensor<8x32xTT>
        %v = tile.insert %u into %s[%z, %z] : tensor<8x32xTT> into tensor<16x32xTT>
        %w = tile.extract %x[%p, %p] : tensor<16x32xTT> -> TT
        tile.store %c[%z, %z], %s : !tile.array<?x?xTT, mut>, tensor<16x32xTT>
        tile.store %d[%z, %z], %t : !tile.array<?x?xTT, mut>, tensor<16x32xTT>
        tile.store %e[%z, %z], %u : !tile.array<?x?xTT, mut>, tensor<8x32xTT>
        tile.store %f[%z, %z], %v : !tile.array<?x?xTT, mut>, tensor<16x32xTT>
        tile.store %g[%z], %w elements : !tile.array<?xTT, mut>, TT
        tile.return
      })", type), arrays, options), "") << type;
  }
}

TEST(SliceTest, FlipsEveryAxis) {
  std::vector<int32_t> x = numbers(2048);
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<HostArray> arrays = {HostArray::of(DType::I32, {8, 64, 4}, x),
                                     HostArray::output(DType::I32, {8, 64, 4})};
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @flip(%a: !tile.array<?x?x?xi32>, %c: !tile.array<?x?x?xi32, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z, %z, %z] : !tile.array<?x?x?xi32> -> tensor<8x64x4xi32>
        %y = tile.flip %x axis )" + std::to_string(axis) + R"( : tensor<8x64x4xi32>
        tile.store %c[%z, %z, %z], %y : !tile.array<?x?x?xi32, mut>, tensor<8x64x4xi32>
        tile.return
      })", arrays), "") << axis;
    std::vector<int32_t> expected(2048);
    for (int64_t i = 0; i < 2048; ++i) {
      int64_t at[] = {i / 256, i / 4 % 64, i % 4};
      at[axis] = (axis == 0 ? 7 : axis == 1 ? 63 : 3) - at[axis];
      expected[size_t(i)] = x[size_t((at[0] * 64 + at[1]) * 4 + at[2])];
    }
    EXPECT_EQ(contents(arrays[1]), expected) << axis;
  }
}

/// Indices of several widths, inside and outside, of one line and of each element.
TEST(SliceTest, TakesByIndex) {
  std::vector<int32_t> x = numbers(16 * 32);
  for (auto [type, dtype] : std::vector<std::pair<std::string, DType>>{
           {"i8", DType::I8}, {"i32", DType::I32}, {"i64", DType::I64}}) {
    size_t size = dtypeBytes(dtype);
    std::vector<int64_t> index(16 * 64);
    std::vector<uint8_t> bytes(index.size() * size);
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = int64_t(i * 2654435761u >> 9) % 40 - 4;
      std::memcpy(&bytes[i * size], &index[i], size);
    }
    std::vector<HostArray> arrays = {
        HostArray::of(DType::I32, {16, 32}, x), HostArray::of(dtype, {16, 64}, bytes),
        HostArray::output(DType::I32, {16, 64}), HostArray::output(DType::I32, {64, 32})};
    EXPECT_EQ(checkKernel(withType(R"(
      tile.kernel @take(%a: !tile.array<?x?xi32>, %b: !tile.array<?x?xTT>,
          %c: !tile.array<?x?xi32, mut>, %d: !tile.array<?x?xi32, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z, %z] : !tile.array<?x?xi32> -> tensor<16x32xi32>
        %i = tile.load %b[%z, %z] : !tile.array<?x?xTT> -> tensor<16x64xTT>
        %t = tile.take %x[%i] axis 1 along : tensor<16x32xi32>, tensor<16x64xTT> -> tensor<16x64xi32>
        %r = tile.load %b[%z, %z] : !tile.array<?x?xTT> -> tensor<1x64xTT>
        %l = tile.reshape %r : tensor<1x64xTT> -> tensor<64xTT>
        %u = tile.take %x[%l] axis 0 : tensor<16x32xi32>, tensor<64xTT> -> tensor<64x32xi32>
        tile.store %c[%z, %z], %t : !tile.array<?x?xi32, mut>, tensor<16x64xi32>
        tile.store %d[%z, %z], %u : !tile.array<?x?xi32, mut>, tensor<64x32xi32>
        tile.return
      })", type), arrays), "") << type;
    std::vector<int32_t> along(16 * 64, 0), rows(64 * 32, 0);
    for (size_t r = 0; r < 16; ++r)
      for (size_t c = 0; c < 64; ++c)
        if (int64_t i = index[r * 64 + c]; i >= 0 && i < 32)
          along[r * 64 + c] = x[r * 32 + size_t(i)];
    for (size_t r = 0; r < 64; ++r)
      for (size_t c = 0; c < 32; ++c)
        if (int64_t i = index[r]; i >= 0 && i < 16)
          rows[r * 32 + c] = x[size_t(i) * 32 + c];
    EXPECT_EQ(contents(arrays[2]), along) << type;
    EXPECT_EQ(contents(arrays[3]), rows) << type;
  }
}

/// An element read at a place that changes, in a loop.
TEST(SliceTest, ReadsElementsInLoops) {
  std::vector<int32_t> x = numbers(256);
  std::vector<HostArray> arrays = {HostArray::of(DType::I32, {256}, x),
                                   HostArray::output(DType::I32, {1})};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @walk(%a: !tile.array<?xi32>, %c: !tile.array<?xi32, mut>) {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %n = arith.constant 40 : index
      %k = arith.constant 7 : index
      %zero = arith.constant 0 : i32
      %x = tile.load %a[%z] : !tile.array<?xi32> -> tensor<256xi32>
      %s = scf.for %i = %z to %n step %o iter_args(%t = %zero) -> i32 {
        %p = arith.muli %i, %k : index
        %e = tile.extract %x[%p] : tensor<256xi32> -> i32
        %u = arith.addi %t, %e : i32
        scf.yield %u : i32
      }
      tile.store %c[%z], %s elements : !tile.array<?xi32, mut>, i32
      tile.return
    })", arrays), "");
  int32_t sum = 0;
  for (size_t i = 0; i < 40; ++i)
    sum += i * 7 < 256 ? x[i * 7] : 0;
  EXPECT_EQ(contents(arrays[1])[0], sum);
}

} // namespace

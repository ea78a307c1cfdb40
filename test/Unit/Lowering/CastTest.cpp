//===- CastTest.cpp - conversions, compiled and interpreted ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// tile.cast between all pairs of types, over bit patterns that meet every rule: all
// 16-bit patterns, or a walk over the wider ones with ties, limits, infinities and
// NaNs. The interpreter's conversions are exact, so bytes must agree (NaNs excepted by
// being canonical on both sides).
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <bit>

using namespace tilec;

namespace {

struct CastType {
  const char *mlir;
  DType dtype;
  bool isUnsigned = false;
  bool isFloat() const { return mlir[0] == 'f' || mlir[0] == 'b'; }
};

const std::vector<CastType> castTypes = {
    {"i1", DType::Bool},     {"i8", DType::I8},       {"i8", DType::U8, true},
    {"i16", DType::I16},     {"i32", DType::I32},     {"i32", DType::U32, true},
    {"i64", DType::I64},     {"i64", DType::U64, true}, {"f16", DType::F16},
    {"bf16", DType::BF16},   {"f32", DType::F32},     {"f64", DType::F64},
    {"f8E4M3FN", DType::F8E4M3}, {"f8E5M2", DType::F8E5M2}};

/// 1 << 14 patterns of `type`.
std::vector<uint8_t> patterns(const CastType &type) {
  size_t size = dtypeBytes(type.dtype), count = 1 << 14;
  std::vector<uint8_t> bytes(count * size);
  uint64_t state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t random = state >> 11 ^ state << 30;
    uint64_t bits = random;
    if (size == 1)
      bits = type.dtype == DType::Bool ? i % 2 : i % 256;
    else if (size == 2)
      bits = i * 4 + i % 4;
    else if (i % 4 == 1) // few significant bits: ties and exact values
      bits = random & ~uint64_t(0) << (size * 8 - 16 + i % 8);
    else if (i % 4 == 2) { // of all sizes, near powers of two
      uint64_t power = uint64_t(1) << i % (size * 8);
      bits = power + (i / 64 % 5) - 2;
      if (i / 512 % 2)
        bits = 0 - bits;
      if (type.dtype == DType::F32)
        bits = std::bit_cast<uint32_t>(float(int64_t(bits)) * (i % 3 ? 1.0f : 0x1p-20f));
      if (type.dtype == DType::F64)
        bits = std::bit_cast<uint64_t>(double(int64_t(bits)) * (i % 3 ? 1.0 : 0x1p-20));
    } else if (i % 4 == 3 && type.dtype == DType::F64) {
      // Within reach of the narrow types, with a tail below an f32's last bit.
      bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(random) & 0x9fffe000u | 0x30000000u))) +
             (i / 8 % 3) - 1;
    }
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

std::string castKernel(const CastType &from, const CastType &to, const std::string &flags) {
  std::string f = from.mlir, t = to.mlir;
  return "tile.kernel @cast(%a: !tile.array<?x" + f + ">, %c: !tile.array<?x" + t + R"(, mut>) {
      %i = tile.block_id 0 : index
      %x = tile.load %a[%i] : !tile.array<?x)" + f + "> -> tensor<2048x" + f + R"(>
      %y = tile.cast %x)" + flags + " : tensor<2048x" + f + "> -> tensor<2048x" + t + R"(>
      tile.store %c[%i], %y : !tile.array<?x)" + t + ", mut>, tensor<2048x" + t + R"(>
      tile.return
    })";
}

std::string check(const CastType &from, const CastType &to, const std::string &flags) {
  std::vector<HostArray> arrays = {{from.dtype, {1 << 14}, patterns(from)},
                                   HostArray::output(to.dtype, {1 << 14})};
  RunOptions options;
  options.warps = {4};
  options.grid = {8, 1, 1};
  return checkKernel(castKernel(from, to, flags), arrays, options);
}

class CastTest : public ::testing::TestWithParam<CastType> {};

TEST_P(CastTest, ToEveryType) {
  const CastType &from = GetParam();
  for (const CastType &to : castTypes) {
    if (to.dtype == from.dtype)
      continue;
    std::string flags;
    if (from.isUnsigned)
      flags += " from_unsigned";
    if (to.isUnsigned && from.isFloat())
      flags += " to_unsigned";
    EXPECT_EQ(check(from, to, flags), "") << from.mlir << flags << " -> " << to.mlir;
  }
}

TEST_P(CastTest, InEveryRounding) {
  const CastType &from = GetParam();
  if (!from.isFloat())
    GTEST_SKIP() << "rounds between floats only";
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    for (const char *mode : {"rz", "rd", "ru"}) {
      const CastType &to = *std::find_if(castTypes.begin(), castTypes.end(),
                                         [&](const CastType &t) { return t.dtype == dtype; });
      if (to.dtype == from.dtype)
        continue;
      std::string flags = std::string(" round(") + mode + ")";
      EXPECT_EQ(check(from, to, flags), "") << from.mlir << flags << " -> " << to.mlir;
    }
}

INSTANTIATE_TEST_SUITE_P(From, CastTest, ::testing::ValuesIn(castTypes),
                         [](const auto &info) {
                           return std::string(info.param.isUnsigned ? "u_" : "") +
                                  info.param.mlir;
                         });

} // namespace

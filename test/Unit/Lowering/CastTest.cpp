//===- CastTest.cpp - conversions, compiled and interpreted ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// tile.cast between all pairs of types: every 8- and 16-bit pattern, and of the wider
// types those at which rounding, saturation and wrapping turn. The interpreter and
// compiled code must give the bits of numerics::cast (any NaN for a NaN in compiled
// code), and so must the folder.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "tilec/Support/Numerics.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace tilec;

namespace {

struct CastType {
  const char *mlir;
  DType dtype;
  bool isUnsigned = false;
  bool isFloat() const { return tilec::isFloat(dtype); }
};

const std::vector<CastType> castTypes = {
    {"i1", DType::Bool},     {"i8", DType::I8},       {"i8", DType::U8, true},
    {"i16", DType::I16},     {"i32", DType::I32},     {"i32", DType::U32, true},
    {"i64", DType::I64},     {"i64", DType::U64, true}, {"f16", DType::F16},
    {"bf16", DType::BF16},   {"f32", DType::F32},     {"f64", DType::F64},
    {"f8E4M3FN", DType::F8E4M3}, {"f8E5M2", DType::F8E5M2}, {"tf32", DType::TF32}};

constexpr size_t count = 1 << 16;

/// All numbers halfway between neighbours of the narrow formats, one step below and
/// above, the limits, infinities and NaNs with payloads: the f32 that rounding meets.
std::vector<uint32_t> hardF32() {
  std::vector<uint32_t> hard;
  auto around = [&](uint32_t bits) {
    for (uint32_t near : {bits - 1, bits, bits + 1})
      for (uint32_t sign : {0u, 0x80000000u})
        hard.push_back(near | sign);
  };
  for (DType type : {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16, DType::TF32}) {
    uint64_t step = type == DType::TF32 ? 1 << 13 : 1;
    uint64_t values = numerics::infinityBits(type) / step, stride = std::max<uint64_t>(1, values / 4096);
    for (uint64_t i = 0; i < values; i += stride) {
      double low = numerics::decode(type, i * step), high = numerics::decode(type, (i + 1) * step);
      around(std::bit_cast<uint32_t>(float((low + (std::isfinite(high) ? high : low)) / 2)));
    }
    // Beyond the largest finite value by half a unit: where overflow begins.
    double largest = numerics::decode(type, numerics::largestFiniteBits(type));
    double before = numerics::decode(type, numerics::largestFiniteBits(type) - step);
    around(std::bit_cast<uint32_t>(float(largest)));
    around(std::bit_cast<uint32_t>(float(largest + (largest - before) / 2)));
    around(std::bit_cast<uint32_t>(float(largest + (largest - before))));
  }
  for (int power = -1; power <= 64; ++power) // limits of integers
    around(std::bit_cast<uint32_t>(std::ldexp(1.0f, power)));
  for (uint32_t bits : {0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fc01234u, 0x7fffffffu, 1u, 0x800000u, 0x7f7fffffu})
    around(bits);
  return hard;
}

/// A 64-bit word: near powers of two, with few significant bits, and random ones.
uint64_t hardInteger(size_t i, unsigned width, uint64_t random) {
  if (i % 3 == 0) {
    uint64_t bits = (uint64_t(1) << i / 3 % width) + (i / 192 % 7) - 3;
    return i / 2048 % 2 ? 0 - bits : bits;
  }
  return i % 3 == 1 ? random & ~uint64_t(0) << (width - 16 + i % 8) : random;
}

/// `count` patterns of `type`: all there are of 8 and 16 bits.
std::vector<uint8_t> patterns(const CastType &type) {
  static const std::vector<uint32_t> hard = hardF32();
  size_t size = dtypeBytes(type.dtype);
  std::vector<uint8_t> bytes(count * size);
  uint64_t state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t random = state >> 11 ^ state << 30, bits = i;
    bool isHard = i < hard.size();
    if (type.dtype == DType::Bool)
      bits = i % 2;
    else if (type.dtype == DType::F32)
      bits = isHard ? hard[i] : random;
    else if (type.dtype == DType::F64) // the same with a tail, and in between
      bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(isHard ? hard[i] : uint32_t(random)))) +
             (i / 6 % 3) - 1;
    else if (size > 2)
      bits = hardInteger(i, unsigned(size * 8), random);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

/// numerics::cast of every element: what NumericsTest holds against APFloat.
std::vector<uint8_t> expected(const std::vector<uint8_t> &in, DType from, DType to,
                              numerics::Rounding rounding) {
  size_t size = dtypeBytes(from), sizeTo = dtypeBytes(to);
  std::vector<uint8_t> out(in.size() / size * sizeTo);
  for (size_t i = 0; i < in.size() / size; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, &in[i * size], size);
    word = numerics::cast(numerics::normalize(from, word), from, to, rounding);
    std::memcpy(&out[i * sizeTo], &word, sizeTo);
  }
  return out;
}

/// `from` → `to`; tf32, which no array has, comes and goes as f32.
std::string castBody(const CastType &from, const CastType &to, const std::string &flags,
                     const std::string &shape) {
  std::string f = from.mlir, t = to.mlir, out = t == "tf32" ? "f32" : t;
  std::string text = "%y = tile.cast %x" + flags + " : tensor<" + shape + f + "> -> tensor<" + shape + t + ">\n";
  if (out != t)
    return text + "%z = tile.cast %y : tensor<" + shape + "tf32> -> tensor<" + shape + "f32>\n";
  return text + "%z = tile.cast %y : tensor<" + shape + t + "> -> tensor<" + shape + t + ">\n";
}

std::string outputType(const CastType &to) { return to.dtype == DType::TF32 ? "f32" : to.mlir; }
DType outputDType(const CastType &to) { return to.dtype == DType::TF32 ? DType::F32 : to.dtype; }

std::string castKernel(const CastType &from, const CastType &to, const std::string &flags) {
  std::string f = from.mlir, t = outputType(to);
  return "tile.kernel @cast(%a: !tile.array<?x" + f + ">, %c: !tile.array<?x" + t + R"(, mut>) {
      %i = tile.block_id 0 : index
      %x = tile.load %a[%i] : !tile.array<?x)" + f + "> -> tensor<1024x" + f + R"(>
      )" + castBody(from, to, flags, "1024x") + "tile.store %c[%i], %z : !tile.array<?x" + t +
         ", mut>, tensor<1024x" + t + R"(>
      tile.return
    })";
}

/// The interpreter and compiled code against the definition.
std::string check(const CastType &from, const CastType &to, const std::string &flags,
                  numerics::Rounding rounding = numerics::Rounding::NearestEven) {
  std::vector<uint8_t> in = patterns(from);
  std::vector<HostArray> arrays = {{from.dtype, {count}, in},
                                   HostArray::output(outputDType(to), {count})};
  RunOptions options;
  options.warps = {4};
  options.grid = {count / 1024, 1, 1};
  options.onlyAligned = true;
  std::string problem = checkKernel(castKernel(from, to, flags), arrays, options);
  if (problem.empty() && (isF8(from.dtype) || isF8(to.dtype))) {
    arrays[1] = HostArray::output(outputDType(to), {count});
    options.chip = "sm_90a"; // converts f8
    problem = checkKernel(castKernel(from, to, flags), arrays, options);
  }
  if (problem.empty() && arrays[1].bytes != expected(in, from.dtype, to.dtype, rounding))
    problem = "the interpreter differs from the definition";
  return problem;
}

std::string signs(const CastType &from, const CastType &to) {
  return std::string(from.isUnsigned ? " from_unsigned" : "") +
         (to.isUnsigned && from.isFloat() ? " to_unsigned" : "");
}

class CastTest : public ::testing::TestWithParam<CastType> {};

// conv-C3 conv-C4 conv-C5 conv-C6 conv-C7
TEST_P(CastTest, ToEveryType) {
  const CastType &from = GetParam();
  for (const CastType &to : castTypes)
    if (to.dtype != from.dtype)
      EXPECT_EQ(check(from, to, signs(from, to)), "") << from.mlir << " -> " << to.mlir;
}

// conv-C8
TEST_P(CastTest, InEveryRounding) {
  const CastType &from = GetParam();
  if (!from.isFloat())
    GTEST_SKIP() << "rounds between floats only";
  const std::pair<const char *, numerics::Rounding> modes[] = {
      {"rz", numerics::Rounding::TowardZero}, {"rd", numerics::Rounding::Down}, {"ru", numerics::Rounding::Up}};
  for (const CastType &to : castTypes) {
    bool isNarrower = dtypeBits(to.dtype) < dtypeBits(from.dtype) || dtypeBits(to.dtype) <= 16 ||
                      to.dtype == DType::TF32;
    if (!to.isFloat() || isF8(to.dtype) || !isNarrower || to.dtype == from.dtype)
      continue;
    for (auto [name, rounding] : modes)
      EXPECT_EQ(check(from, to, std::string(" round(") + name + ")", rounding), "")
          << from.mlir << " " << name << " -> " << to.mlir;
  }
}

/// The folder on 256 patterns of each type.
TEST_P(CastTest, Folded) {
  const CastType &from = GetParam();
  if (from.dtype == DType::Bool)
    GTEST_SKIP() << "dense constants of bool are packed";
  std::vector<uint8_t> all = patterns(from), in;
  size_t size = dtypeBytes(from.dtype);
  for (size_t i = 0; i < count; i += count / 256)
    in.insert(in.end(), &all[(size == 1 ? i / 256 : i) * size], &all[(size == 1 ? i / 256 : i) * size] + size);
  for (const CastType &to : castTypes) {
    if (to.dtype == from.dtype)
      continue;
    std::string t = outputType(to);
    std::vector<HostArray> arrays = {HostArray::output(outputDType(to), {256})};
    std::string text = "tile.kernel @cast(%c: !tile.array<?x" + t + R"(, mut>) {
      %i = arith.constant 0 : index
      %x = arith.constant dense<"0x)" + llvm::toHex(in) + "\"> : tensor<256x" + from.mlir + ">\n" +
                       castBody(from, to, signs(from, to), "256x") + "tile.store %c[%i], %z : !tile.array<?x" + t +
                       ", mut>, tensor<256x" + t + R"(>
      tile.return
    })";
    EXPECT_EQ(interpretFolded(text, arrays), "") << from.mlir << " -> " << to.mlir;
    EXPECT_EQ(arrays[0].bytes, expected(in, from.dtype, to.dtype, numerics::Rounding::NearestEven))
        << from.mlir << " -> " << to.mlir;
  }
}

INSTANTIATE_TEST_SUITE_P(From, CastTest, ::testing::ValuesIn(castTypes.begin(), castTypes.end() - 1),
                         [](const auto &info) {
                           return std::string(info.param.isUnsigned ? "u_" : "") +
                                  info.param.mlir;
                         });

} // namespace

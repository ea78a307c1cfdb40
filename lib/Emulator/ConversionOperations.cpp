//===- ConversionOperations.cpp - byte permutes, dot products and 8-bit floats -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: intrinsics on the bits of a register that plain IR says only at length
// (PTX ISA, sections prmt, dp4a, cvt). Out: their value.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include "tilec/Support/Numerics.h"

#include <algorithm>

using namespace tilec;
using namespace tilec::emulator;

namespace {

struct ThreeWords {
  uint32_t a, b, c;
};

void permute(ThreadContext &, const void *arguments, void *result, uint32_t) {
  const auto &x = as<ThreeWords>(arguments);
  uint64_t bytes = uint64_t(x.b) << 32 | x.a;
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned selector = x.c >> (4 * i) & 15;
    uint32_t byte = uint32_t(bytes >> (8 * (selector & 7)) & 255);
    if (selector & 8)
      byte = byte & 128 ? 255 : 0;
    value |= byte << (8 * i);
  }
  to<uint32_t>(result) = value;
}

enum LogicVariant : uint32_t { AndOr, AndXor };

void logicOfThree(ThreadContext &, const void *arguments, void *result, uint32_t variant) {
  const auto &x = as<ThreeWords>(arguments);
  to<uint32_t>(result) = variant == AndOr ? (x.a & x.b) | x.c : (x.a & x.b) ^ x.c;
}

enum DotVariant : uint32_t { SignedA = 1, SignedB = 2 };

void dotProduct4(ThreadContext &, const void *arguments, void *result,
                 uint32_t variant) {
  const auto &x = as<ThreeWords>(arguments);
  uint32_t sum = x.c;
  for (unsigned i = 0; i < 4; ++i) {
    int32_t a = variant & SignedA ? int8_t(x.a >> (8 * i)) : uint8_t(x.a >> (8 * i));
    int32_t b = variant & SignedB ? int8_t(x.b >> (8 * i)) : uint8_t(x.b >> (8 * i));
    sum += uint32_t(a * b);
  }
  to<uint32_t>(result) = sum;
}

enum EightBit : uint32_t { E4M3 = 0, E5M2 = 1, FromHalf = 2, Relu = 4 };

DType eightBitType(uint32_t variant) {
  return variant & E5M2 ? DType::F8E5M2 : DType::F8E4M3;
}

/// Rounds to nearest even; finite and infinite values beyond the range saturate. A NaN
/// is 0x7f.
uint8_t encode(float value, uint32_t variant) {
  if ((variant & Relu) && value < 0)
    value = 0;
  return uint8_t(numerics::encode(eightBitType(variant), value));
}

float decode(uint8_t bits, uint32_t variant) {
  return float(numerics::decode(eightBitType(variant), bits));
}

struct TwoFloats {
  float upper, lower;
};
struct TwoHalves {
  _Float16 lower, upper;
};

void toEightBit(ThreadContext &, const void *arguments, void *result,
                uint32_t variant) {
  float upper, lower;
  if (variant & FromHalf) {
    upper = float(as<TwoHalves>(arguments).upper);
    lower = float(as<TwoHalves>(arguments).lower);
  } else {
    upper = as<TwoFloats>(arguments).upper;
    lower = as<TwoFloats>(arguments).lower;
  }
  to<uint16_t>(result) =
      uint16_t(encode(upper, variant) << 8 | encode(lower, variant));
}

void fromEightBit(ThreadContext &, const void *arguments, void *result,
                  uint32_t variant) {
  uint16_t bits = as<uint16_t>(arguments);
  float lower = decode(uint8_t(bits), variant);
  float upper = decode(uint8_t(bits >> 8), variant);
  if (variant & Relu) {
    lower = std::max(lower, 0.0f);
    upper = std::max(upper, 0.0f);
  }
  to<TwoHalves>(result) = {_Float16(lower), _Float16(upper)};
}

} // namespace

llvm::ArrayRef<OperationEntry> tilec::emulator::conversionOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.prmt", permute},
      {"tilec.lop3.and.or", logicOfThree, AndOr},
      {"tilec.lop3.and.xor", logicOfThree, AndXor},
      {"llvm.nvvm.idp4a.s.s", dotProduct4, SignedA | SignedB},
      {"llvm.nvvm.idp4a.s.u", dotProduct4, SignedA},
      {"llvm.nvvm.idp4a.u.s", dotProduct4, SignedB},
      {"llvm.nvvm.idp4a.u.u", dotProduct4, 0},
      {"llvm.nvvm.ff.to.e4m3x2.rn", toEightBit, E4M3},
      {"llvm.nvvm.ff.to.e4m3x2.rn.relu", toEightBit, E4M3 | Relu},
      {"llvm.nvvm.ff.to.e5m2x2.rn", toEightBit, E5M2},
      {"llvm.nvvm.ff.to.e5m2x2.rn.relu", toEightBit, E5M2 | Relu},
      {"llvm.nvvm.f16x2.to.e4m3x2.rn", toEightBit, E4M3 | FromHalf},
      {"llvm.nvvm.f16x2.to.e4m3x2.rn.relu", toEightBit, E4M3 | FromHalf | Relu},
      {"llvm.nvvm.f16x2.to.e5m2x2.rn", toEightBit, E5M2 | FromHalf},
      {"llvm.nvvm.f16x2.to.e5m2x2.rn.relu", toEightBit, E5M2 | FromHalf | Relu},
      {"llvm.nvvm.e4m3x2.to.f16x2.rn", fromEightBit, E4M3},
      {"llvm.nvvm.e4m3x2.to.f16x2.rn.relu", fromEightBit, E4M3 | Relu},
      {"llvm.nvvm.e5m2x2.to.f16x2.rn", fromEightBit, E5M2},
      {"llvm.nvvm.e5m2x2.to.f16x2.rn.relu", fromEightBit, E5M2 | Relu},
  };
  return entries;
}

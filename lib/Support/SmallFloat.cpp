//===- SmallFloat.cpp - 16- and 8-bit floats on the host ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// One row of numbers per format drives both directions. Encoding scales the value
// so that one unit in the last place is 1, and rounds to an integer in double,
// which is exact: a double has at least 42 bits more than any format here.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/SmallFloat.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace tilec;

namespace {
struct Format {
  int exponentBits, mantissaBits;
  bool hasInf;  // the top exponent is inf and NaN; else only all ones is NaN
  bool saturates;
};
} // namespace

static Format formatOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {5, 10, true, false};
  case DType::BF16:
    return {8, 7, true, false};
  case DType::F8E5M2:
    return {5, 2, true, true};
  default: // F8E4M3
    return {4, 3, false, true};
  }
}

double tilec::decodeSmallFloat(DType dtype, uint64_t bits) {
  if (dtype == DType::F64)
    return std::bit_cast<double>(bits);
  if (dtype == DType::F32 || dtype == DType::TF32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  Format f = formatOf(dtype);
  int top = (1 << f.exponentBits) - 1, bias = top >> 1;
  int exponent = static_cast<int>(bits >> f.mantissaBits) & top;
  int allOnes = (1 << f.mantissaBits) - 1;
  int mantissa = static_cast<int>(bits) & allOnes;
  bool negative = (bits >> (f.exponentBits + f.mantissaBits)) & 1;
  double magnitude;
  if (exponent == top && (f.hasInf ? mantissa != 0 : mantissa == allOnes))
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == top && f.hasInf)
    magnitude = std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - f.mantissaBits);
  else
    magnitude = std::ldexp(mantissa + allOnes + 1, exponent - bias - f.mantissaBits);
  return std::copysign(magnitude, negative ? -1.0 : 1.0);
}

/// To nearest, ties to even, whatever the rounding mode of the thread.
static double roundHalfEven(double v) {
  double down = std::floor(v), rest = v - down;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(down, 2.0) != 0))
    return down + 1;
  return down;
}

uint64_t tilec::encodeSmallFloat(DType dtype, double v) {
  if (dtype == DType::F64)
    return std::bit_cast<uint64_t>(v);
  if (dtype == DType::F32 || dtype == DType::TF32)
    return std::bit_cast<uint32_t>(static_cast<float>(v));
  Format f = formatOf(dtype);
  int top = (1 << f.exponentBits) - 1, bias = top >> 1;
  uint64_t sign = uint64_t(std::signbit(v)) << (f.exponentBits + f.mantissaBits);
  uint64_t infinity = uint64_t(top) << f.mantissaBits;
  uint64_t allOnes = infinity | ((uint64_t(1) << f.mantissaBits) - 1);
  if (std::isnan(v))
    return f.hasInf ? sign | infinity | (uint64_t(1) << (f.mantissaBits - 1)) : sign | allOnes;

  // Codes of one sign are ordered as their values: the largest finite code.
  uint64_t largest = f.hasInf ? infinity - 1 : allOnes - 1;
  uint64_t overflow = f.saturates ? largest : infinity;
  double magnitude = std::fabs(v);
  if (std::isinf(v))
    return sign | overflow;
  int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
  if (exponent < 1 - bias)
    exponent = 1 - bias; // subnormal
  if (exponent > bias + 1)
    return sign | overflow;
  // Units of the last place; a carry into the next exponent is carried by the sum.
  double units = roundHalfEven(std::ldexp(magnitude, f.mantissaBits - exponent));
  int64_t code = (int64_t(exponent + bias - 1) << f.mantissaBits) + static_cast<int64_t>(units);
  return sign | (static_cast<uint64_t>(code) > largest ? overflow : static_cast<uint64_t>(code));
}

//===- Numerics.cpp - the language's scalar arithmetic, exactly -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One routine rounds: it takes sign, a 64-bit significand and an exponent, and
// gives the bits of a format. Everything that makes a float goes through it, so
// each conversion rounds exactly once.

#include "tilec/Support/Numerics.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilec::numerics {

namespace {

/// A binary float format. `maxFinite` is the magnitude word of the largest
/// finite value, `nan` the quiet NaN, `shift` how far the format's bits are
/// shifted up in the word (tf32 lives in the top 19 bits of an f32).
struct Format {
  int mantissaBits;
  int bias;
  uint64_t maxFinite;
  uint64_t nan;
  bool hasInfinity;
  int width;
  int shift;
};

constexpr Format formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return {10, 15, 0x7bff, 0x7e00, true, 16, 0};
  case DType::BF16:
    return {7, 127, 0x7f7f, 0x7fc0, true, 16, 0};
  case DType::F32:
    return {23, 127, 0x7f7fffff, 0x7fc00000, true, 32, 0};
  case DType::TF32:
    return {10, 127, 0x3fbff, 0x3fe00, true, 19, 13};
  case DType::F8E4M3:
    return {3, 7, 0x7e, 0x7f, false, 8, 0};
  case DType::F8E5M2:
    return {2, 15, 0x7b, 0x7f, true, 8, 0};
  default:
    return {52, 1023, 0x7fefffffffffffff, 0x7ff8000000000000, true, 64, 0};
  }
}

constexpr uint64_t signBit(const Format &format) {
  return uint64_t(1) << (format.width - 1);
}

/// What a magnitude beyond the largest finite one becomes.
uint64_t overflow(DType type, const Format &format, bool negative,
                  Rounding rounding) {
  bool toInfinity = rounding == Rounding::NearestEven ||
                    rounding == (negative ? Rounding::Down : Rounding::Up);
  uint64_t magnitude = format.maxFinite + (toInfinity && !isF8(type) ? 1 : 0);
  return (magnitude | (negative ? signBit(format) : 0)) << format.shift;
}

/// ±significand * 2^exponent, rounded once. `significand` may be any word.
uint64_t round(DType type, bool negative, uint64_t significand, int exponent,
               Rounding rounding) {
  const Format format = formatOf(type);
  uint64_t sign = negative ? signBit(format) : 0;
  if (significand == 0)
    return sign << format.shift;
  // Leading bit to bit 63: the value is 1.xxx * 2^top.
  int leading = std::countl_zero(significand);
  significand <<= leading;
  int top = exponent + 63 - leading;
  int least = 1 - format.bias; // exponent of the least normal value
  int drop = 63 - format.mantissaBits + (top < least ? least - top : 0);
  uint64_t kept = drop > 63 ? 0 : significand >> drop;
  // Where the dropped part stands against half of the last kept bit.
  bool inexact, aboveHalf, half;
  if (drop > 64) {
    inexact = true, aboveHalf = half = false;
  } else {
    uint64_t rest =
        drop == 64 ? significand : significand & ((uint64_t(1) << drop) - 1);
    uint64_t middle = uint64_t(1) << (drop - 1);
    inexact = rest != 0, half = rest == middle, aboveHalf = rest > middle;
  }
  bool up = false;
  switch (rounding) {
  case Rounding::NearestEven:
    up = aboveHalf || (half && (kept & 1));
    break;
  case Rounding::TowardZero:
    break;
  case Rounding::Down:
    up = inexact && negative;
    break;
  case Rounding::Up:
    up = inexact && !negative;
    break;
  }
  // A carry out of the mantissa moves into the exponent field by itself. The
  // kept bits of a normal value hold the implicit one, hence the - 1.
  uint64_t field =
      top < least ? 0 : static_cast<uint64_t>(top + format.bias - 1);
  if (field > (format.maxFinite >> format.mantissaBits))
    return overflow(type, format, negative, rounding);
  uint64_t magnitude = (field << format.mantissaBits) + kept + (up ? 1 : 0);
  if (magnitude > format.maxFinite)
    return overflow(type, format, negative, rounding);
  return (magnitude | sign) << format.shift;
}

unsigned bitsOf(DType type) { return dtypeBits(type); }

int64_t asSigned(uint64_t word) { return static_cast<int64_t>(word); }

/// Truncated, saturated; NaN gives 0.
uint64_t floatToInteger(double value, DType to) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  unsigned bits = bitsOf(to);
  if (isUnsigned(to)) {
    if (value <= 0)
      return 0;
    return value >= std::ldexp(1.0, bits) ? greatestInteger(to)
                                          : static_cast<uint64_t>(value);
  }
  double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit)
    return greatestInteger(to);
  if (value <= -limit)
    return leastInteger(to);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

uint64_t integerToFloat(uint64_t word, DType from, DType to) {
  bool negative = isSigned(from) && asSigned(word) < 0;
  uint64_t magnitude = negative ? 0 - word : word;
  if (!isF8(to))
    return round(to, negative, magnitude, 0, Rounding::NearestEven);
  uint64_t single =
      round(DType::F32, negative, magnitude, 0, Rounding::NearestEven);
  return encode(to, decode(DType::F32, single));
}

} // namespace

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

uint64_t normalize(DType type, uint64_t word) {
  if (type == DType::TF32)
    return word & 0xffffe000;
  unsigned bits = bitsOf(type);
  if (bits == 64)
    return word;
  word &= (uint64_t(1) << bits) - 1;
  if (isSigned(type) && (word >> (bits - 1)) != 0)
    word |= ~uint64_t(0) << bits;
  return word;
}

double decode(DType type, uint64_t word) {
  if (type == DType::F64)
    return std::bit_cast<double>(word);
  if (type == DType::F32 || type == DType::TF32)
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  const Format format = formatOf(type);
  uint64_t sign = word & signBit(format),
           magnitude = word & (signBit(format) - 1);
  double value;
  if (magnitude > format.maxFinite) {
    value = format.hasInfinity && magnitude == format.maxFinite + 1
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  } else {
    uint64_t mantissa = magnitude & ((uint64_t(1) << format.mantissaBits) - 1);
    int field = static_cast<int>(magnitude >> format.mantissaBits);
    if (field != 0)
      mantissa |= uint64_t(1) << format.mantissaBits;
    value = std::ldexp(static_cast<double>(mantissa),
                       (field ? field : 1) - format.bias - format.mantissaBits);
  }
  return sign ? -value : value;
}

uint64_t encode(DType type, double value, Rounding rounding) {
  if (std::isnan(value))
    return nanBits(type);
  if (isF8(type))
    rounding = Rounding::NearestEven;
  bool negative = std::signbit(value);
  if (std::isinf(value))
    return infinityBits(type, negative);
  uint64_t word = std::bit_cast<uint64_t>(value);
  if (type == DType::F64)
    return word;
  uint64_t mantissa = word & ((uint64_t(1) << 52) - 1);
  int field = static_cast<int>((word >> 52) & 0x7ff);
  if (field != 0)
    mantissa |= uint64_t(1) << 52;
  return round(type, negative, mantissa, (field ? field : 1) - 1075, rounding);
}

uint32_t widen(DType type, uint64_t word) {
  if (type == DType::F32 || type == DType::TF32)
    return static_cast<uint32_t>(word);
  const Format format = formatOf(type);
  uint32_t magnitude = static_cast<uint32_t>(word & (signBit(format) - 1));
  uint32_t sign = word & signBit(format) ? 0x80000000 : 0;
  int toF32 = 23 - format.mantissaBits;
  uint32_t largest = static_cast<uint32_t>(format.maxFinite);
  if (magnitude > largest) {
    bool infinite = format.hasInfinity && magnitude == largest + 1;
    return sign | 0x7f800000 |
           (infinite ? 0 : magnitude << toF32 & 0x7fffff);
  }
  uint32_t field = magnitude >> format.mantissaBits;
  if (field != 0 || format.bias == 127) // subnormal in both
    return sign | ((magnitude << toF32) +
                   (static_cast<uint32_t>(127 - format.bias) << 23));
  float value = std::ldexp(static_cast<float>(magnitude),
                           1 - format.bias - format.mantissaBits);
  return sign | std::bit_cast<uint32_t>(value);
}

uint64_t narrow(DType type, uint32_t bits) {
  if (type == DType::F32)
    return bits;
  const Format format = formatOf(type);
  bool negative = bits >> 31;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    uint64_t kept = magnitude >> (23 - format.mantissaBits) &
                    ((uint64_t(1) << format.mantissaBits) - 1);
    uint64_t nan = kept == 0 || !format.hasInfinity
                       ? format.nan
                       : (format.nan >> format.mantissaBits
                          << format.mantissaBits) | kept;
    return (nan | (negative ? signBit(format) : 0)) << format.shift;
  }
  if (magnitude == 0x7f800000)
    return (format.maxFinite + (format.hasInfinity ? 1 : 0) |
            (negative ? signBit(format) : 0))
           << format.shift;
  int field = static_cast<int>(magnitude >> 23);
  uint32_t mantissa = magnitude & 0x7fffff;
  return round(type, negative, field ? mantissa | 0x800000 : mantissa,
               (field ? field : 1) - 150, Rounding::NearestEven);
}

uint64_t nanBits(DType type) {
  const Format format = formatOf(type);
  return format.nan << format.shift;
}

uint64_t infinityBits(DType type, bool negative) {
  const Format format = formatOf(type);
  uint64_t magnitude = format.maxFinite + (isF8(type) ? 0 : 1);
  return (magnitude | (negative ? signBit(format) : 0)) << format.shift;
}

uint64_t largestFiniteBits(DType type, bool negative) {
  const Format format = formatOf(type);
  return (format.maxFinite | (negative ? signBit(format) : 0)) << format.shift;
}

bool isNaN(DType type, uint64_t word) { return std::isnan(decode(type, word)); }

uint64_t leastInteger(DType type) {
  return isSigned(type) ? ~uint64_t(0) << (bitsOf(type) - 1) : 0;
}

uint64_t greatestInteger(DType type) {
  return ~uint64_t(0) >> (64 - bitsOf(type) + (isSigned(type) ? 1 : 0));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

uint64_t cast(uint64_t word, DType from, DType to, Rounding rounding) {
  if (from == to)
    return word;
  if (isFloat(from)) {
    double value = decode(from, word);
    if (to == DType::Bool)
      return value != 0; // true for NaN
    return isFloat(to) ? encode(to, value, rounding)
                       : floatToInteger(value, to);
  }
  if (to == DType::Bool)
    return word != 0;
  return isFloat(to) ? integerToFloat(word, from, to) : normalize(to, word);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

uint64_t add(DType type, uint64_t a, uint64_t b) {
  return normalize(type, a + b);
}
uint64_t subtract(DType type, uint64_t a, uint64_t b) {
  return normalize(type, a - b);
}
uint64_t multiply(DType type, uint64_t a, uint64_t b) {
  return normalize(type, a * b);
}

uint64_t multiplyHigh(DType type, uint64_t a, uint64_t b) {
  unsigned bits = bitsOf(type);
  if (isSigned(type))
    return normalize(
        type, static_cast<uint64_t>(
                  (static_cast<__int128>(asSigned(a)) * asSigned(b)) >> bits));
  return normalize(type, static_cast<uint64_t>(
                             (static_cast<unsigned __int128>(a) * b) >> bits));
}

uint64_t divide(DType type, uint64_t a, uint64_t b, QuotientRounding rounding) {
  if (b == 0)
    return 0;
  if (!isSigned(type))
    return a / b + (rounding == QuotientRounding::Ceil && a % b != 0 ? 1 : 0);
  if (b == ~uint64_t(0)) // also MIN / -1, which the host traps on
    return normalize(type, 0 - a);
  int64_t dividend = asSigned(a), divisor = asSigned(b);
  int64_t quotient = dividend / divisor;
  if (dividend % divisor != 0) {
    bool negative = (dividend < 0) != (divisor < 0);
    if (rounding == QuotientRounding::Floor && negative)
      --quotient;
    if (rounding == QuotientRounding::Ceil && !negative)
      ++quotient;
  }
  return normalize(type, static_cast<uint64_t>(quotient));
}

uint64_t remainder(DType type, uint64_t a, uint64_t b,
                   QuotientRounding rounding) {
  if (b == 0)
    return 0;
  return normalize(type, a - b * divide(type, a, b, rounding));
}

uint64_t shiftLeft(DType type, uint64_t a, uint64_t amount) {
  return amount >= bitsOf(type) ? 0 : normalize(type, a << amount);
}

uint64_t shiftRight(DType type, uint64_t a, uint64_t amount) {
  bool tooFar = amount >= bitsOf(type);
  if (isSigned(type))
    return static_cast<uint64_t>(asSigned(a) >> (tooFar ? 63 : amount));
  return tooFar ? 0 : a >> amount;
}

uint64_t absolute(DType type, uint64_t a) {
  return isSigned(type) && asSigned(a) < 0 ? normalize(type, 0 - a) : a;
}

/// The word without its extension.
static uint64_t ownBits(DType type, uint64_t a) {
  return bitsOf(type) == 64 ? a : a & ((uint64_t(1) << bitsOf(type)) - 1);
}

uint64_t populationCount(DType type, uint64_t a) {
  return static_cast<uint64_t>(std::popcount(ownBits(type, a)));
}

uint64_t countLeadingZeros(DType type, uint64_t a) {
  return static_cast<uint64_t>(std::countl_zero(ownBits(type, a))) -
         (64 - bitsOf(type));
}

uint64_t countTrailingZeros(DType type, uint64_t a) {
  uint64_t own = ownBits(type, a);
  return own == 0 ? bitsOf(type) : static_cast<uint64_t>(std::countr_zero(own));
}

int compare(DType type, uint64_t a, uint64_t b) {
  if (a == b)
    return 0;
  bool less = isSigned(type) ? asSigned(a) < asSigned(b) : a < b;
  return less ? -1 : 1;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double minimumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

double maximumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}

double sign(double a) {
  if (std::isnan(a) || a == 0)
    return a;
  return a < 0 ? -1 : 1;
}

double roundEven(double a) {
  double below = std::floor(a), rest = a - below;
  if (rest < 0.5 || std::isnan(rest))
    return std::copysign(std::isnan(rest) ? a : below, a);
  double rounded = rest > 0.5 || std::fmod(below, 2.0) != 0 ? below + 1 : below;
  return std::copysign(rounded, a);
}

double floorMod(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0)
    return std::copysign(rest, b);
  return std::signbit(rest) != std::signbit(b) ? rest + b : rest;
}

} // namespace tilec::numerics

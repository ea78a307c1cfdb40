//===- MathExponential.cpp - exp and what is made of it --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// e^x = 2^n * 2^f with n = round(x log2 e) and f = x log2 e - n in [-1/2, 1/2]: log2 e
// is a sum of two constants, and with fma the first difference rounds once. 2^n is
// applied in two steps, which makes subnormals right. Out of the format's range x is
// clamped to where the result is 0 or inf anyway; the clamps keep NaN.
//
// Where e^x - 1 is wanted, e^x = 2^n * e^r with r = x - n ln 2, and e^r - 1 is
// r + r^2 P(r).
//
// e^x in f32 leaves 2^f to the chip, with f in [0, 1], where its unit is off by
// 1.4 ulp at most (below 0 it is by 2.1). All e^x for the 2^32 x there are, computed on
// an H200, are within 1.94 ulp. There n is clamped instead of x, and f takes the rest: it
// is large where the result is 0 or inf. Where a factor of 2^106 does no harm (BoundPowers), no
// result is subnormal or too small to be divided as others are, and n is added to the exponent
// (of results below 2^-105 f has the rest, whose last bits count 22 times as much).
// 2^x in f32 is the chip's unit as it is: one
// instruction where accuracy would cost ten, in the innermost loop of every attention.
//===----------------------------------------------------------------------===//

#include "MathExpansions.h"

using namespace mlir;
using namespace tilec;

namespace {

/// e^x = 2^exponent * mantissa, the mantissa about in [0.7, 1.42].
struct Power {
  Value mantissa;
  MathBuilder::Exponent exponent;
};

const Polynomial expm1Polynomial = {expm1F32Data, expm1F64Data};
const Polynomial exp2Polynomial = {exp2F32Data, exp2F64Data};

/// For |x| below 2^10. `offset` is added to the exponent.
Power reducePower(MathBuilder &m, Value x, int offset = 0) {
  Value log2e = m.f(0x1.715476p+0, 0x1.71547652b82fep+0);
  MathBuilder::Exponent n = m.roundToExponent(x, log2e, offset);
  Value f = m.fma(x, log2e, m.neg(n.asFloat));
  f = m.fma(x, m.f(0x1.4ae0c0p-26, 0x1.777d0ffda0d24p-56), f);
  return {m.fma(f, m.horner(exp2Polynomial, f), m.one()), n};
}

/// e^x = 2^exponent * (1 + excess).
struct Reduced {
  Value excess;
  Value exponent;
};

/// For |x| below 2^20.
Reduced reduceExpm1(MathBuilder &m, Value x) {
  MathBuilder::Rounded n =
      m.roundSmallProduct(x, m.f(0x1.715476p+0, 0x1.71547652b82fep+0));
  Value first = m.fma(n.asFloat, m.f(-0x1.62e430p-1, -0x1.62e42fefa39efp-1), x);
  Value rest = m.mul(n.asFloat, m.f(0x1.05c610p-29, -0x1.abc9e3b39803fp-56));
  // The rounding error of r counts where e^x - 1 is smaller than its terms.
  MathBuilder::Pair r = m.fastTwoSum(first, rest);
  Value square = m.mul(r.high, r.high);
  Value tail = m.fma(square, m.horner(expm1Polynomial, r.high), r.low);
  return {m.add(r.high, tail), n.asInt};
}

const Polynomial sinhPolynomial = {sinhF32Data, sinhF64Data};
const Polynomial tanhPolynomial = {tanhF32Data, tanhF64Data};
const Polynomial erfPolynomial = {erfF32Data, erfF64Data};

Value clamp(MathBuilder &m, Value x, double low, double high) {
  return m.min(m.max(x, m.f(low)), m.f(high));
}

/// x + x^3 P(x^2).
Value oddSeries(MathBuilder &m, Value x, const Polynomial &polynomial) {
  Value square = m.mul(x, x);
  return m.fma(m.mul(square, x), m.horner(polynomial, square), x);
}

/// e^|x| / 2, without overflow where sinh and cosh have none.
Value halfExpOfMagnitude(MathBuilder &m, Value x) {
  Value a = m.min(m.abs(x), m.f(90, 711));
  Power e = reducePower(m, a, -1);
  return m.scale(e.mantissa, e.exponent);
}

/// n = round(product - 0.502), clamped to the exponents of normal numbers.
struct ClampedFloor {
  Value negative; ///< -n
  Value exponent; ///< n as an integer, in the field of the exponent
};

/// The range of n in 2^106 e^x: beyond, the fraction takes the rest.
constexpr int largeExponent = 106;

/// `factor` is such that x * factor = product / 253. An ordinary x needs no clamp; there
/// all is twice as large until the sum, the same bits from other constants, lest LLVM
/// finds what both forms have in common and computes it before it is known which.
ClampedFloor clampedFloor(MathBuilder &m, Value x, double factor, bool isOrdinary) {
  double scale = isOrdinary ? 2 : 1;
  // 0 stands for -126 and 1 for 127; the sum has n in its low bits.
  Value position = m.fma(x, m.f(factor * scale), m.f(125.498 / 253 * scale));
  if (!isOrdinary)
    position = m.saturate(position);
  Value sum = m.fma(position, m.f(253 / scale), m.f(0x1.8p23 - 126));
  return {m.sub(m.f(0x1.8p23), sum), m.shl(m.bits(sum), m.i(m.mantissaBits()))};
}

} // namespace

UnitPower tilec::splitExp(MathBuilder &m, Value x, bool isOrdinary) {
  ClampedFloor n = clampedFloor(m, x, 0x1.71547652b82fep+0 / 253, isOrdinary);
  Value f = m.fma(x, m.f(0x1.715476p+0), n.negative);
  return {m.fma(x, m.f(0x1.4ae0c0p-26), f), n.exponent};
}

UnitPower tilec::splitLargeExp(MathBuilder &m, Value x) {
  // 0 stands for -106 and 1 for 0; the sum has n + 106 in its low bits.
  Value position = m.saturate(m.fma(x, m.f(0x1.71547652b82fep+0 / largeExponent),
                                    m.f((largeExponent - 0.502) / largeExponent)));
  Value sum = m.fma(position, m.f(largeExponent), m.f(0x1.8p23));
  Value f = m.fma(x, m.f(0x1.715476p+0), m.sub(m.f(0x1.8p23 + largeExponent), sum));
  return {m.fma(x, m.f(0x1.4ae0c0p-26), f), m.shl(m.bits(sum), m.i(m.mantissaBits()))};
}

Value tilec::expandExp(MathBuilder &m, Value x) {
  x = m.isDouble ? clamp(m, x, -746, 710) : clamp(m, x, -104, 89);
  Power e = reducePower(m, x);
  return m.scale(e.mantissa, e.exponent);
}

Value tilec::expandExp2(MathBuilder &m, Value x) {
  x = m.isDouble ? clamp(m, x, -1076, 1025) : clamp(m, x, -151, 129);
  MathBuilder::Exponent n = m.roundToExponent(x, Value());
  Value r = m.sub(x, n.asFloat);
  return m.scale(m.fma(r, m.horner(exp2Polynomial, r), m.one()), n);
}

// 2^n (1 + p) - 1 = 2 (p s + (s - 1/2)) with s = 2^(n-1): s - 1/2 is exact, and
// s is finite for every n that occurs.
Value tilec::expandExpm1(MathBuilder &m, Value x) {
  Value c = m.isDouble ? clamp(m, x, -40, 710) : clamp(m, x, -20, 89);
  Reduced e = reduceExpm1(m, c);
  Value s = m.powerOfTwo(m.isub(e.exponent, m.i(1)));
  Value half = m.fma(e.excess, s, m.sub(s, m.f(0.5)));
  Value tiny = m.lt(m.abs(x), m.f(0x1p-25, 0x1p-54));
  return m.select(tiny, x, m.add(half, half));
}

Value tilec::expandSinh(MathBuilder &m, Value x) {
  Value e = halfExpOfMagnitude(m, x);
  Value large = m.copySign(m.sub(e, m.div(m.f(0.25), e)), x);
  return m.select(m.lt(m.abs(x), m.one()), oddSeries(m, x, sinhPolynomial), large);
}

Value tilec::expandCosh(MathBuilder &m, Value x) {
  Value e = halfExpOfMagnitude(m, x);
  return m.add(e, m.div(m.f(0.25), e));
}

// 1 - 2 / (e^(2a) + 1) for a >= 0.55, where the quotient is at most 1/2, so that
// its error is halved at least; 1 from where the quotient is below half an ulp.
Value tilec::expandTanh(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value twice = m.min(m.add(a, a), m.f(24, 48));
  Power e = reducePower(m, twice);
  Value power = m.scale(e.mantissa, e.exponent);
  Value large = m.sub(m.one(), m.div(m.f(2), m.add(power, m.one())));
  return m.copySign(
      m.select(m.lt(a, m.f(0.55)), oddSeries(m, a, tanhPolynomial), large), x);
}

// Near zero x + x P(x^2); then 1 - 2^q(a), where the polynomial q is log2 of
// erfc: its error counts little, as erfc is small against erf there.
Value tilec::expandErf(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value small = m.fma(x, m.horner(erfPolynomial, m.mul(x, x)), x);
  Value c = m.min(a, m.f(4, 6));
  Value q;
  if (m.isDouble) {
    Value near = m.horner(erfcNearF64Data, m.sub(c, m.f(1.5)));
    Value middle = m.horner(erfcMiddleF64Data, m.sub(c, m.f(3)));
    Value far = m.horner(erfcFarF64Data, m.sub(c, m.f(5)));
    q = m.select(m.lt(c, m.f(2.1)), near, m.select(m.lt(c, m.f(3.9)), middle, far));
  } else {
    q = m.horner(erfcTailF32Data, c);
  }
  MathBuilder::Rounded n = m.roundSmall(q);
  Value r = m.sub(q, n.asFloat);
  Value power = m.fma(r, m.horner(exp2Polynomial, r), m.one());
  Value large = m.fma(m.neg(power), m.powerOfTwo(n.asInt), m.one());
  return m.select(m.lt(a, m.f(0.92)), small, m.copySign(large, x));
}

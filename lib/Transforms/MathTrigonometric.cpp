//===- MathTrigonometric.cpp - sin and its inverses ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// sin, cos and tan reduce x to r = x - q pi/2 in about [-pi/4, pi/4], as a pair of
// values. Up to a limit three fma with the parts of pi/2 do (ReducePeriod.cpp has
// the other case, entered only when some lane needs it). Then q chooses between the
// series of sine and cosine, and the sign.
//
// The inverses are one series for atan on [0, 1], one for asin on [0, 1/2], and
// the identities that lead there.
//===----------------------------------------------------------------------===//

#include "MathExpansions.h"
#include "ReducePeriod.h"

using namespace mlir;
using namespace tilec;

namespace {

const Polynomial sinPolynomial = {sinF32Data, sinF64Data};
const Polynomial cosPolynomial = {cosF32Data, cosF64Data};
const Polynomial tanPolynomial = {tanF32Data, tanF64Data};
const Polynomial atanPolynomial = {atanF32Data, atanF64Data};
const Polynomial asinPolynomial = {asinF32Data, asinF64Data};

/// sin(r + low)
Value sinSeries(MathBuilder &m, Value r, Value low) {
  Value square = m.mul(r, r);
  Value rest = m.fma(m.mul(square, r), m.horner(sinPolynomial, square), low);
  return m.add(r, rest);
}

/// cos(r + low) = 1 - r^2/2 + …, with the error of the first difference.
Value cosSeries(MathBuilder &m, Value r, Value low) {
  Value square = m.mul(r, r);
  Value half = m.mul(square, m.f(0.5));
  Value first = m.sub(m.one(), half);
  Value error = m.sub(m.sub(m.one(), first), half);
  Value rest = m.fma(m.mul(square, square), m.horner(cosPolynomial, square), error);
  return m.add(first, m.fma(m.neg(r), low, rest));
}

/// sin(x + quarter * pi/2).
Value sinOfQuarter(MathBuilder &m, Value x, int64_t quarter) {
  ReducedAngle angle = reducePeriod(m, x);
  Value q = m.iadd(angle.quadrant, m.i(quarter));
  Value sine = sinSeries(m, angle.high, angle.low);
  Value cosine = cosSeries(m, angle.high, angle.low);
  Value value = m.select(m.ieq(m.iand(q, m.i(1)), m.i(0)), sine, cosine);
  Value negative = m.ieq(m.iand(q, m.i(2)), m.i(2));
  return m.select(negative, m.neg(value), value);
}

/// NaN where x is infinite or NaN.
Value nanUnlessFinite(MathBuilder &m, Value x, Value result) {
  return m.select(m.lt(m.abs(x), m.inf()), result, m.nan());
}

/// x where it is so small that sin x = x, which keeps the sign of zero.
Value identityNearZero(MathBuilder &m, Value x, Value result) {
  return m.select(m.lt(m.abs(x), m.f(0x1p-13, 0x1p-28)), x, result);
}

/// a + a^3 P(a^2)
Value oddSeries(MathBuilder &m, Value a, const Polynomial &polynomial) {
  Value square = m.mul(a, a);
  return m.fma(m.mul(square, a), m.horner(polynomial, square), a);
}

// Parts of pi/2; a - b is (high - b) + low.
Value halfPi(MathBuilder &m) { return m.f(0x1.921fb6p+0, 0x1.921fb54442d18p+0); }
Value halfPiLow(MathBuilder &m) { return m.f(-0x1.777a5cp-25, 0x1.1a62633145c07p-54); }
Value pi(MathBuilder &m) { return m.f(0x1.921fb6p+1, 0x1.921fb54442d18p+1); }
Value piLow(MathBuilder &m) { return m.f(-0x1.777a5cp-24, 0x1.1a62633145c07p-53); }

/// pi/2 - (a + low).
Value halfPiMinus(MathBuilder &m, Value a, Value low) {
  MathBuilder::Pair d = m.fastTwoSum(halfPi(m), m.neg(a));
  return m.add(d.high, m.add(d.low, m.sub(halfPiLow(m), low)));
}
/// pi - a.
Value piMinus(MathBuilder &m, Value a) {
  MathBuilder::Pair d = m.fastTwoSum(pi(m), m.neg(a));
  return m.add(d.high, m.add(d.low, piLow(m)));
}

/// atan(a) = a + tail for a in [0, 1].
Value atanTail(MathBuilder &m, Value a) {
  Value square = m.mul(a, a);
  return m.mul(m.mul(square, a), m.horner(atanPolynomial, square));
}

/// For |x| above 1/2: 2 asin(sqrt((1 - |x|) / 2)) = acos(|x|). The difference is
/// exact; above 1 the root is NaN, as asin is. The result is high + low.
MathBuilder::Pair acosOfLarge(MathBuilder &m, Value magnitude) {
  Value z = m.fma(magnitude, m.f(-0.5), m.f(0.5));
  Value root = m.sqrt(z);
  // The root's rounding error, from its square.
  Value error = m.fma(m.neg(root), root, z);
  Value correction = m.select(m.gt(root, m.zero()), m.div(error, m.add(root, root)),
                              m.zero());
  Value series = m.fma(m.mul(z, root), m.horner(asinPolynomial, z), correction);
  return {m.add(root, root), m.add(series, series)};
}

} // namespace

Value tilec::expandSin(MathBuilder &m, Value x) {
  return identityNearZero(m, x, nanUnlessFinite(m, x, sinOfQuarter(m, x, 0)));
}

Value tilec::expandCos(MathBuilder &m, Value x) {
  return nanUnlessFinite(m, x, sinOfQuarter(m, x, 1));
}

// tan(r + low) = t + low (1 + t^2), then -1/t in odd quadrants.
Value tilec::expandTan(MathBuilder &m, Value x) {
  ReducedAngle angle = reducePeriod(m, x);
  Value r = angle.high;
  Value square = m.mul(r, r);
  Value tail = m.mul(m.mul(square, r), m.horner(tanPolynomial, square));
  Value rough = m.add(r, tail);
  Value low = m.fma(angle.low, m.fma(rough, rough, m.one()), tail);
  MathBuilder::Pair t = m.fastTwoSum(r, low);
  // -1 / (t + t.low), corrected by the residual of the first quotient.
  Value q = m.div(m.f(-1), t.high);
  Value residual = m.fma(q, t.low, m.fma(q, t.high, m.one()));
  Value cotangent = m.fma(q, residual, q);
  Value odd = m.ieq(m.iand(angle.quadrant, m.i(1)), m.i(1));
  Value result = m.select(odd, cotangent, t.high);
  return identityNearZero(m, x, nanUnlessFinite(m, x, result));
}

Value tilec::expandAtan(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value large = m.gt(a, m.one());
  Value b = m.select(large, m.div(m.one(), a), a);
  Value tail = atanTail(m, b);
  return m.copySign(m.select(large, halfPiMinus(m, b, tail), m.add(b, tail)), x);
}

Value tilec::expandAtan2(MathBuilder &m, Value y, Value x) {
  Value a = m.abs(y), b = m.abs(x);
  Value larger = m.max(a, b), smaller = m.min(a, b);
  Value ratio = m.div(smaller, larger);
  ratio = m.select(m.eq(larger, m.zero()), m.zero(), ratio);
  ratio = m.select(m.eq(smaller, m.inf()), m.one(), ratio);
  Value tail = atanTail(m, ratio);
  Value t = m.select(m.gt(a, b), halfPiMinus(m, ratio, tail), m.add(ratio, tail));
  t = m.select(m.ilt(m.bits(x), m.i(0)), piMinus(m, t), t);
  return m.copySign(t, y);
}

Value tilec::expandAsin(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  MathBuilder::Pair acos = acosOfLarge(m, a);
  Value large = halfPiMinus(m, acos.high, acos.low);
  Value result = m.select(m.gt(a, m.f(0.5)), large, oddSeries(m, a, asinPolynomial));
  return m.copySign(result, x);
}

Value tilec::expandAcos(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  MathBuilder::Pair parts = acosOfLarge(m, a);
  Value large = m.add(parts.high, parts.low);
  large = m.select(m.lt(x, m.zero()), piMinus(m, large), large);
  // pi/2 - x - x^3 P, the sum of the small terms first.
  Value square = m.mul(x, x);
  Value tail = m.mul(m.mul(square, x), m.horner(asinPolynomial, square));
  MathBuilder::Pair d = m.fastTwoSum(halfPi(m), m.neg(x));
  Value small = m.add(d.high, m.sub(m.add(d.low, halfPiLow(m)), tail));
  return m.select(m.gt(a, m.f(0.5)), large, m.select(m.le(a, m.f(0.5)), small, m.nan()));
}

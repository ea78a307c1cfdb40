//===- MathLogarithm.cpp - log and pow -------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); f = m - 1 is exact, and
//
//   log(1 + f) = f + f^2 (f P(f) - 1/2)
//
// where f carries most of the value, so that only the last addition costs half an
// ulp. Bases 2 and 10 multiply f and e by constants in two parts.
//
// pow needs log2 to more bits than the format has, as y multiplies its error: it
// is computed as a pair of values by atanh, whose first two terms are kept exact.
//===----------------------------------------------------------------------===//

#include "MathExpansions.h"

using namespace mlir;
using namespace tilec;

namespace {

const Polynomial logPolynomial = {logF32Data, logF64Data};
const Polynomial exp2Polynomial = {exp2F32Data, exp2F64Data};
const Polynomial atanhTail = {atanhTailF32Data, atanhTailF64Data};

/// log_b(e) and log_b(2), in two parts, for both formats.
struct Base {
  double single[4];
  double full[4];
};

constexpr Base natural = {
    {1, 0, 0x1.62e430p-1, -0x1.05c610p-29},
    {1, 0, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}};
constexpr Base binary = {
    {0x1.715476p+0, 0x1.4ae0c0p-26, 1, 0},
    {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1, 0}};
constexpr Base decimal = {
    {0x1.bcb7b2p-2, -0x1.5b235ep-27, 0x1.344136p-2, -0x1.ec10c0p-27},
    {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f79ffp-2,
     -0x1.9dc1da994fd21p-59}};

/// log_b((1 + f) 2^exponent), f in [sqrt(1/2) - 1, sqrt(2) - 1].
Value combine(MathBuilder &m, Value f, Value exponent, const Base &base) {
  const double *c = m.isDouble ? base.full : base.single;
  Value e = m.toFloat(exponent);
  Value correction = m.mul(
      m.mul(f, f), m.fma(f, m.horner(logPolynomial, f), m.f(-0.5)));
  if (c[0] == 1) // natural: no factor for f
    return m.fma(e, m.f(c[2]), m.add(f, m.fma(e, m.f(c[3]), correction)));
  Value low = m.fma(f, m.f(c[1]), m.mul(correction, m.f(c[0])));
  if (c[2] == 1) // binary: no factor for e
    return m.add(e, m.fma(f, m.f(c[0]), low));
  low = m.fma(e, m.f(c[3]), low);
  return m.fma(e, m.f(c[2]), m.fma(f, m.f(c[0]), low));
}

/// Zero, negative, infinite and NaN operands.
Value withPoles(MathBuilder &m, Value operand, Value pole, Value result) {
  result = m.select(m.lt(operand, m.inf()), result, operand);
  result = m.select(m.lt(operand, pole), m.nan(), result);
  return m.select(m.eq(operand, pole), m.neg(m.inf()), result);
}

Value expandLogBase(MathBuilder &m, Value x, const Base &base) {
  MathBuilder::Split parts = m.split(x);
  Value f = m.sub(parts.mantissa, m.one());
  return withPoles(m, x, m.zero(), combine(m, f, parts.exponent, base));
}

/// log2 of a positive finite x, to about twice the format's bits.
MathBuilder::Pair preciseLog2(MathBuilder &m, Value x) {
  MathBuilder::Split parts = m.split(x);
  Value e = m.toFloat(parts.exponent);
  // s = f / (m + 1), with the rounding errors of sum and quotient.
  Value f = m.sub(parts.mantissa, m.one());
  Value d = m.add(parts.mantissa, m.one());
  Value dLow = m.sub(parts.mantissa, m.sub(d, m.one()));
  Value reciprocal = m.div(m.one(), d);
  Value s = m.mul(f, reciprocal);
  Value rest = m.fma(m.neg(s), dLow, m.fma(m.neg(s), d, f));
  Value sLow = m.mul(rest, reciprocal);
  // v = s^2 (1/3 + s^2 g(s^2))
  MathBuilder::Pair u = m.twoProduct(s, s);
  u.low = m.fma(m.add(s, s), sLow, u.low);
  MathBuilder::Pair c = m.fastTwoSum(m.f(0x1.555556p-2, 0x1.5555555555555p-2),
                                     m.mul(u.high, m.horner(atanhTail, u.high)));
  c.low = m.add(c.low, m.f(-0x1.555556p-27, 0x1.5555555555555p-56));
  MathBuilder::Pair v = m.twoProduct(u.high, c.high);
  v.low = m.add(v.low, m.fma(u.high, c.low, m.mul(u.low, c.high)));
  // sum = s + s v
  MathBuilder::Pair w = m.twoProduct(s, v.high);
  w.low = m.add(w.low, m.fma(s, v.low, m.mul(sLow, v.high)));
  MathBuilder::Pair sum = m.fastTwoSum(s, w.high);
  sum.low = m.add(sum.low, m.add(sLow, w.low));
  // e + sum * 2 / ln 2
  Value k = m.f(0x1.715476p+1, 0x1.71547652b82fep+1);
  Value kLow = m.f(0x1.4ae0c0p-25, 0x1.777d0ffda0d24p-55);
  MathBuilder::Pair p = m.twoProduct(sum.high, k);
  p.low = m.add(p.low, m.fma(sum.high, kLow, m.mul(sum.low, k)));
  MathBuilder::Pair result = m.fastTwoSum(e, p.high);
  return m.fastTwoSum(result.high, m.add(result.low, p.low));
}

/// x^y for positive finite x; 0 or inf where out of range.
Value powerOfPositive(MathBuilder &m, Value x, Value y) {
  MathBuilder::Pair log = preciseLog2(m, x);
  Value z = m.mul(y, log.high);
  Value zLow = m.fma(y, log.low, m.fma(y, log.high, m.neg(z)));
  Value limit = m.f(160, 1100);
  Value inRange = m.lt(m.abs(z), limit);
  z = m.select(inRange, z, m.copySign(limit, z));
  zLow = m.select(inRange, zLow, m.zero());
  MathBuilder::Exponent n = m.roundToExponent(z, Value());
  Value r = m.add(m.sub(z, n.asFloat), zLow);
  return m.scale(m.fma(r, m.horner(exp2Polynomial, r), m.one()), n);
}

} // namespace

Value tilec::expandLog(MathBuilder &m, Value x) { return expandLogBase(m, x, natural); }
Value tilec::expandLog2(MathBuilder &m, Value x) { return expandLogBase(m, x, binary); }
Value tilec::expandLog10(MathBuilder &m, Value x) { return expandLogBase(m, x, decimal); }

// The exponent comes from the rounded 1 + x; the mantissa's excess over 1 is
// then formed from x itself: (x + 1) s - 1 = x s + (s - 1) for s = 2^-exponent.
// Huge x is scaled down first, so that s exists.
Value tilec::expandLog1p(MathBuilder &m, Value x) {
  Value huge = m.gt(x, m.f(0x1p64, 0x1p600));
  Value down = m.f(0x1p-64, 0x1p-600);
  Value scaled = m.select(huge, m.mul(x, down), x);
  Value unit = m.select(huge, down, m.one());
  Value root = m.i(m.isDouble ? 0x3FE6A09E667F3BCD : 0x3F3504F3);
  Value exponent =
      m.sar(m.isub(m.bits(m.add(scaled, unit)), root), m.i(m.mantissaBits()));
  Value s = m.powerOfTwo(m.isub(m.i(0), exponent));
  Value f = m.fma(scaled, s, m.fma(unit, s, m.f(-1)));
  Value shift = m.select(huge, m.i(m.isDouble ? 600 : 64), m.i(0));
  Value result = withPoles(m, x, m.f(-1), combine(m, f, m.iadd(exponent, shift), natural));
  return m.select(m.lt(m.abs(x), m.f(0x1p-25, 0x1p-54)), x, result);
}

Value tilec::expandPow(MathBuilder &m, Value x, Value y) {
  Value a = m.abs(x);
  Value one = m.one(), zero = m.zero(), inf = m.inf();
  Value result = powerOfPositive(m, a, y);
  result = m.select(m.eq(a, one), one, result);
  Value growing = m.lt(y, zero);
  result = m.select(m.eq(a, zero), m.select(growing, inf, zero), result);
  result = m.select(m.eq(a, inf), m.select(growing, zero, inf), result);

  auto floor = [&](Value v) -> Value {
    return math::FloorOp::create(m.builder, m.loc, v);
  };
  Value whole = m.eq(floor(y), y);
  Value halfOfY = m.mul(y, m.f(0.5));
  Value odd = m.both(whole, m.ne(floor(halfOfY), halfOfY));
  Value negative = m.ilt(m.bits(x), m.i(0));
  result = m.select(m.both(odd, negative), m.neg(result), result);

  Value defined = m.either(whole, m.either(m.ge(x, zero), m.eq(a, inf)));
  result = m.select(defined, result, m.nan());
  Value sum = m.add(x, y);
  Value anyNaN = m.either(m.isNaN(x), m.isNaN(y));
  result = m.select(anyNaN, sum, result);
  return m.select(m.either(m.eq(x, one), m.eq(y, zero)), one, result);
}

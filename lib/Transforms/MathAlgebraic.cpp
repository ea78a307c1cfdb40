//===- MathAlgebraic.cpp - roots and remainders ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// cbrt is Newton's method on the inverse root, from a guess by integer division of
// the bits. The remainder is long division of the mantissas, a few dozen bits a
// step, exact by construction.
//===----------------------------------------------------------------------===//

#include "MathExpansions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

namespace {

/// Whether any lane holds.
Value anyLane(MathBuilder &m, Value condition) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  return vector::ReductionOp::create(m.builder, m.loc, vector::CombiningKind::OR,
                                     condition);
}

/// Mantissa with its leading one, and exponent, of a positive finite value:
/// value = mantissa * 2^exponent; mantissa < 2^(mantissaBits + 1).
struct Integral {
  Value mantissa;
  Value exponent;
};

Integral integral(MathBuilder &m, Value a) {
  Value bits = m.bits(a);
  Value field = m.shr(bits, m.i(m.mantissaBits()));
  Value fraction = m.iand(bits, m.i((int64_t(1) << m.mantissaBits()) - 1));
  Value subnormal = m.ieq(field, m.i(0));
  Value lead = m.select(subnormal, m.i(0), m.i(int64_t(1) << m.mantissaBits()));
  Value exponent = m.select(subnormal, m.i(1), field);
  return {m.ior(fraction, lead), m.isub(exponent, m.i(m.bias() + m.mantissaBits()))};
}

/// a mod b of unsigned 64-bit integers, as values of the builder's integer type;
/// a is shifted left by `step` first.
Value shiftedModulo(MathBuilder &m, Value a, Value step, Value b) {
  if (m.isDouble)
    return arith::RemUIOp::create(m.builder, m.loc, m.shl(a, step), b);
  Type wide = m.builder.getI64Type();
  if (auto shaped = dyn_cast<ShapedType>(m.intType))
    wide = shaped.clone(wide);
  auto extend = [&](Value v) -> Value {
    return arith::ExtUIOp::create(m.builder, m.loc, wide, v);
  };
  Value shifted = arith::ShLIOp::create(m.builder, m.loc, extend(a), extend(step));
  Value rest = arith::RemUIOp::create(m.builder, m.loc, shifted, extend(b));
  return arith::TruncIOp::create(m.builder, m.loc, m.intType, rest);
}

} // namespace

// r -> r + r (1 - x r^3) / 3 converges to x^(-1/3): the error e becomes 2 e^2. The
// guess is within 5 %; products are ordered so that none leaves the range. The last
// step corrects x r^2 by its residual, computed with the rounding error of y^2.
Value tilec::expandCbrt(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value tiny = m.lt(a, m.f(0x1p-126, 0x1p-1022));
  a = m.select(tiny, m.mul(a, m.f(0x1p24, 0x1p54)), a);
  Value third = m.f(0x1.555556p-2, 0x1.5555555555555p-2);
  Value guess = m.isub(m.i(m.isDouble ? 0x553EF0FF289DD796 : 0x54A21D2A),
                       m.udiv(m.bits(a), m.i(3)));
  Value r = m.fromBits(guess);
  for (int step = 0, steps = m.isDouble ? 4 : 3; step < steps; ++step) {
    Value cube = m.mul(m.mul(m.mul(a, r), r), r);
    Value error = m.sub(m.one(), cube);
    r = m.fma(m.mul(r, third), error, r);
  }
  Value y = m.mul(m.mul(a, r), r);
  MathBuilder::Pair square = m.twoProduct(y, y);
  Value residual = m.fma(m.neg(square.high), y, a);
  residual = m.fma(m.neg(square.low), y, residual);
  y = m.fma(m.mul(residual, m.mul(r, r)), third, y);
  y = m.select(tiny, m.mul(y, m.f(0x1p-8, 0x1p-18)), y);
  // Zero, infinity and NaN are their own roots.
  Value ordinary = m.both(m.gt(m.abs(x), m.zero()), m.lt(m.abs(x), m.inf()));
  return m.select(ordinary, m.copySign(y, x), m.add(x, x));
}

// In f32 by Newton's steps y -> y + y (1 - x y^2) / 2 from a guess that is within 3.5 %: 24
// plain instructions instead of some 100 for a root and a quotient, each with a form for
// operands out of the ordinary. 0.996 ulp at most (tried for all x), and exact for powers of 4.
Value tilec::expandRsqrt(MathBuilder &m, Value x) {
  if (m.isDouble)
    return m.div(m.one(), m.sqrt(x));
  // Half of x is to be a normal number.
  Value isTiny = m.lt(x, m.f(0x1p-100));
  Value a = m.select(isTiny, m.mul(x, m.f(0x1p24)), x);
  Value y = m.fromBits(m.isub(m.i(0x5F3759DF), m.shr(m.bits(a), m.i(1))));
  Value half = m.mul(a, m.f(0.5));
  for (int step = 0; step < 3; ++step) {
    Value error = m.fma(m.neg(m.mul(half, y)), y, m.f(0.5));
    y = m.fma(y, error, y);
  }
  y = m.select(isTiny, m.mul(y, m.f(0x1p12)), y);
  Value ordinary = m.both(m.gt(x, m.zero()), m.lt(x, m.inf()));
  Value atZero = m.select(m.eq(x, m.zero()), m.copySign(m.inf(), x), m.nan());
  return m.select(ordinary, y, m.select(m.eq(x, m.inf()), m.zero(), atZero));
}

// x = mx 2^ex, y = my 2^ey. While ex > ey, the remainder is shifted left by what
// fits above it in 64 bits and reduced modulo my. Lanes that are done shift by 0.
Value tilec::expandRemainder(MathBuilder &m, Value x, Value y) {
  Value a = m.abs(x), b = m.abs(y);
  Integral p = integral(m, a), q = integral(m, b);
  Value zero = m.i(0);
  // A zero divisor would trap; its lane is NaN in the end.
  Value divisor = m.select(m.ieq(q.mantissa, zero), m.i(1), q.mantissa);
  // Not to loop for lanes that are decided otherwise: smaller, infinite, NaN.
  Value ordinary = m.both(m.ge(a, b), m.both(m.gt(b, m.zero()), m.lt(a, m.inf())));
  Value distance = m.select(ordinary, m.isub(p.exponent, q.exponent), zero);
  Value start = shiftedModulo(m, p.mantissa, zero, divisor);

  Value chunk = m.i(m.isDouble ? 11 : 40);
  auto loop = scf::WhileOp::create(
      m.builder, m.loc, TypeRange{m.intType, m.intType}, ValueRange{start, distance},
      [&](OpBuilder &, Location loc, ValueRange values) {
        Value more = anyLane(m, m.igt(values[1], zero));
        scf::ConditionOp::create(m.builder, loc, more, values);
      },
      [&](OpBuilder &, Location loc, ValueRange values) {
        Value step = m.select(m.ilt(values[1], chunk), values[1], chunk);
        Value rest = shiftedModulo(m, values[0], step, divisor);
        scf::YieldOp::create(m.builder, loc,
                             ValueRange{rest, m.isub(values[1], step)});
      });
  // The remainder is below 2^(mantissaBits + 1), so its conversion is exact, and so
  // are the two products that scale it: the result has no bit below y's last.
  Value value = m.toFloat(loop.getResult(0));
  Value half = m.sar(q.exponent, m.i(1));
  value = m.mul(m.mul(value, m.powerOfTwo(half)),
                m.powerOfTwo(m.isub(q.exponent, half)));

  Value result = m.select(ordinary, value, a);
  // x infinite, y zero or NaN anywhere.
  Value defined = m.both(m.both(m.lt(a, m.inf()), m.gt(b, m.zero())),
                         m.le(b, m.inf()));
  return m.copySign(m.select(defined, result, m.nan()), x);
}

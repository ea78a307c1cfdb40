//===- NarrowFloat.cpp - code for conversions of narrow floats ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: floats (scalars or vectors). Out: arith operations on their bits. One
// routine rounds to every format in every direction: shift the significand so that
// its last bit is the format's last bit, round by what was shifted out, and add the
// exponent; a carry out of the significand then counts the exponent up by itself.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/NarrowFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace tilec;

NarrowFormat NarrowFormat::f16() {
  return {10, -14, 0x7bff, 0x7c00, 0x7e00, 16, false};
}
NarrowFormat NarrowFormat::bf16() {
  return {7, -126, 0x7f7f, 0x7f80, 0x7fc0, 16, false};
}
NarrowFormat NarrowFormat::tf32() {
  return {10, -126, 0x3fbff, 0x3fc00, 0x3fe00, 19, false};
}
NarrowFormat NarrowFormat::f8e4m3() { return {3, -6, 0x7e, 0, 0x7f, 8, true}; }
NarrowFormat NarrowFormat::f8e5m2() { return {2, -14, 0x7b, 0, 0x7e, 8, true}; }

namespace {

/// Shorthand for arith operations on scalars or vectors of one shape.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc, Type like)
      : builder(builder), loc(loc), like(like) {}

  Type type(Type element) const {
    if (auto vector = dyn_cast<VectorType>(like))
      return vector.clone(element);
    return element;
  }
  Type integer(unsigned width) const { return type(builder.getIntegerType(width)); }
  Value constant(uint64_t value, unsigned width = 32) const {
    auto element = builder.getIntegerType(width);
    Attribute attr = IntegerAttr::get(element, APInt(width, value, false, true));
    if (auto vector = dyn_cast<VectorType>(like))
      attr = SplatElementsAttr::get(vector.clone(element), attr);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
  }
  Value floating(Type element, double value) const {
    APFloat number(value);
    bool losesInfo;
    number.convert(cast<FloatType>(element).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &losesInfo);
    Attribute attr = FloatAttr::get(element, number);
    if (auto vector = dyn_cast<VectorType>(like))
      attr = SplatElementsAttr::get(vector.clone(element), attr);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
  }
  Value bitcast(Type element, Value v) const {
    return arith::BitcastOp::create(builder, loc, type(element), v);
  }
  Value band(Value a, Value b) const { return arith::AndIOp::create(builder, loc, a, b); }
  Value bor(Value a, Value b) const { return arith::OrIOp::create(builder, loc, a, b); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubIOp::create(builder, loc, a, b); }
  Value shl(Value a, Value b) const { return arith::ShLIOp::create(builder, loc, a, b); }
  Value shr(Value a, Value b) const { return arith::ShRUIOp::create(builder, loc, a, b); }
  Value umin(Value a, Value b) const { return arith::MinUIOp::create(builder, loc, a, b); }
  Value umax(Value a, Value b) const { return arith::MaxUIOp::create(builder, loc, a, b); }
  Value cmp(arith::CmpIPredicate p, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, p, a, b);
  }
  Value cmp(arith::CmpFPredicate p, Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, p, a, b);
  }
  Value select(Value c, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value widen(unsigned width, Value v) const {
    return arith::ExtUIOp::create(builder, loc, integer(width), v);
  }
  Value narrow(unsigned width, Value v) const {
    return arith::TruncIOp::create(builder, loc, integer(width), v);
  }

  OpBuilder &builder;
  Location loc;
  Type like;
};

using IntCmp = arith::CmpIPredicate;
using FloatCmp = arith::CmpFPredicate;

} // namespace

Value tilec::emitFloat8ToF32(OpBuilder &builder, Location loc, Value value,
                             bool isE5M2) {
  Bits b(builder, loc, value.getType());
  Type f32 = builder.getF32Type();
  Value bits = b.widen(32, value);
  Value sign = b.shl(b.band(bits, b.constant(0x80)), b.constant(24));
  Value magnitude = b.band(bits, b.constant(0x7f));
  // Put in place of an f32's fields, the number is too small by the difference of
  // the biases; a multiplication by a power of two mends that, subnormals included.
  unsigned mantissaBits = isE5M2 ? 2 : 3;
  int bias = isE5M2 ? 15 : 7;
  Value placed = b.bitcast(f32, b.shl(magnitude, b.constant(23 - mantissaBits)));
  Value scaled = arith::MulFOp::create(
      builder, loc, placed, b.floating(f32, std::ldexp(1.0, 127 - bias)));
  Value result = b.bitcast(builder.getI32Type(), scaled);
  Value nan = b.constant(0x7fc00000);
  if (isE5M2) {
    result = b.select(b.cmp(IntCmp::eq, magnitude, b.constant(0x7c)),
                      b.constant(0x7f800000), result);
    result = b.select(b.cmp(IntCmp::ugt, magnitude, b.constant(0x7c)), nan, result);
  } else {
    result = b.select(b.cmp(IntCmp::eq, magnitude, b.constant(0x7f)), nan, result);
  }
  return b.bitcast(f32, b.bor(result, sign));
}

/// `quotient` (the kept bits) rounded by `rest` (what was shifted out).
static Value roundQuotient(const Bits &b, Value quotient, Value rest, Value half,
                           Value sign, FloatRounding rounding) {
  Value zero = b.constant(0), one = b.constant(1);
  Value isInexact = b.cmp(IntCmp::ne, rest, zero);
  Value isNegative = b.cmp(IntCmp::ne, sign, zero);
  Value up;
  switch (rounding) {
  case FloatRounding::TowardZero:
    return quotient;
  case FloatRounding::NearestEven: {
    Value isOdd = b.cmp(IntCmp::ne, b.band(quotient, one), zero);
    Value isTie = b.cmp(IntCmp::eq, rest, half);
    up = b.bor(b.cmp(IntCmp::ugt, rest, half), b.band(isTie, isOdd));
    break;
  }
  case FloatRounding::Downward:
    up = b.band(isInexact, isNegative);
    break;
  case FloatRounding::Upward:
    up = b.select(isNegative, b.cmp(IntCmp::ne, zero, zero), isInexact);
    break;
  }
  return b.select(up, b.add(quotient, one), quotient);
}

Value tilec::emitF32ToNarrow(OpBuilder &builder, Location loc, Value value,
                             const NarrowFormat &format, FloatRounding rounding) {
  Bits b(builder, loc, value.getType());
  Value bits = b.bitcast(builder.getI32Type(), value);
  Value sign = b.band(bits, b.constant(0x80000000));
  Value magnitude = b.band(bits, b.constant(0x7fffffff));
  Value exponent = b.shr(magnitude, b.constant(23));
  Value isNormal = b.cmp(IntCmp::ne, exponent, b.constant(0));
  Value significand = b.band(magnitude, b.constant(0x7fffff));
  significand = b.select(isNormal, b.bor(significand, b.constant(0x800000)), significand);
  exponent = b.umax(exponent, b.constant(1));

  // The exponent (biased as f32's) at which the format's normal numbers begin.
  Value begin = b.constant(uint64_t(format.minExponent + 127));
  Value below = b.sub(b.umax(begin, exponent), exponent);
  Value above = b.sub(b.umax(exponent, begin), begin);
  Value shift = b.umin(b.add(below, b.constant(23 - format.mantissaBits)), b.constant(31));
  Value quotient = b.shr(significand, shift);
  Value unit = b.shl(b.constant(1), shift);
  Value rest = b.band(significand, b.sub(unit, b.constant(1)));
  Value half = b.shr(unit, b.constant(1));
  quotient = roundQuotient(b, quotient, rest, half, sign, rounding);
  Value result = b.add(quotient, b.shl(above, b.constant(format.mantissaBits)));

  // Overflow, infinity, NaN.
  Value maxFinite = b.constant(format.maxFinite);
  Value isOver = b.cmp(IntCmp::ugt, result, maxFinite);
  Value isInfinite = b.cmp(IntCmp::eq, magnitude, b.constant(0x7f800000));
  if (format.saturates) {
    result = b.select(b.bor(isOver, isInfinite), maxFinite, result);
  } else {
    Value infinity = b.constant(format.infinity);
    Value isNegative = b.cmp(IntCmp::ne, sign, b.constant(0));
    Value over = infinity;
    if (rounding == FloatRounding::TowardZero)
      over = maxFinite;
    else if (rounding == FloatRounding::Upward)
      over = b.select(isNegative, maxFinite, infinity);
    else if (rounding == FloatRounding::Downward)
      over = b.select(isNegative, infinity, maxFinite);
    result = b.select(isOver, over, result);
    result = b.select(isInfinite, infinity, result);
  }
  Value isNaN = b.cmp(IntCmp::ugt, magnitude, b.constant(0x7f800000));
  result = b.select(isNaN, b.constant(format.nan), result);
  return b.bor(result, b.shr(sign, b.constant(32 - format.width)));
}

/// The f32 next to `bits` toward zero.
static Value stepTowardZero(const Bits &b, Value bits) {
  return b.sub(bits, b.constant(1));
}

Value tilec::emitF64ToF32Odd(OpBuilder &builder, Location loc, Value value) {
  Bits b(builder, loc, value.getType());
  Value nearest = arith::TruncFOp::create(builder, loc, b.type(builder.getF32Type()), value);
  Value back = arith::ExtFOp::create(builder, loc, b.type(builder.getF64Type()), nearest);
  Value bits = b.bitcast(builder.getI32Type(), nearest);
  Value magnitude64 = b.constant(0x7fffffffffffffff, 64);
  Value was = b.band(b.bitcast(builder.getI64Type(), value), magnitude64);
  Value became = b.band(b.bitcast(builder.getI64Type(), back), magnitude64);
  Value cut = b.select(b.cmp(IntCmp::ugt, became, was), stepTowardZero(b, bits), bits);
  Value odd = b.bor(cut, b.constant(1));
  // `one`: ordered and unequal; a NaN stays what it is.
  Value isInexact = b.cmp(FloatCmp::ONE, back, value);
  return b.bitcast(builder.getF32Type(), b.select(isInexact, odd, bits));
}

Value tilec::emitF64ToF32(OpBuilder &builder, Location loc, Value value,
                          FloatRounding rounding) {
  Bits b(builder, loc, value.getType());
  Value nearest = arith::TruncFOp::create(builder, loc, b.type(builder.getF32Type()), value);
  if (rounding == FloatRounding::NearestEven)
    return nearest;
  Value back = arith::ExtFOp::create(builder, loc, b.type(builder.getF64Type()), nearest);
  Value bits = b.bitcast(builder.getI32Type(), nearest);
  Value zero64 = b.floating(builder.getF64Type(), 0.0);
  Value isNegative = b.cmp(FloatCmp::OLT, value, zero64);
  Value isAbove = b.cmp(FloatCmp::OGT, back, value);
  Value isBelow = b.cmp(FloatCmp::OLT, back, value);
  Value toward = stepTowardZero(b, bits);
  Value away = b.add(bits, b.constant(1));
  // The smallest number beyond zero on the side that is asked for.
  Value isZero = b.cmp(IntCmp::eq, b.band(bits, b.constant(0x7fffffff)), b.constant(0));
  Value down = b.select(isNegative, away, b.select(isZero, b.constant(0x80000001), toward));
  Value up = b.select(isNegative, toward, away);
  Value no = b.cmp(IntCmp::ne, b.constant(0), b.constant(0));
  Value stepDown = no, stepUp = no;
  switch (rounding) {
  case FloatRounding::NearestEven:
    break;
  case FloatRounding::Downward:
    stepDown = isAbove;
    break;
  case FloatRounding::Upward:
    stepUp = isBelow;
    break;
  case FloatRounding::TowardZero:
    stepDown = b.select(isNegative, no, isAbove);
    stepUp = b.select(isNegative, isBelow, no);
    break;
  }
  Value result = b.select(stepDown, down, b.select(stepUp, up, bits));
  return b.bitcast(builder.getF32Type(), result);
}

//===- MathBuilder.cpp - arithmetic on one float format --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The composites of MathBuilder.h. None branches and none has a case that traps
// or is undefined: a lane whose operands are out of range computes a value that
// its caller selects away.
//===----------------------------------------------------------------------===//

#include "MathBuilder.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace tilec;

Value MathBuilder::f(double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(floatType));
  TypedAttr attr = builder.getFloatAttr(element, value);
  if (auto shaped = dyn_cast<ShapedType>(floatType))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value MathBuilder::i(int64_t value) {
  TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(intType), value);
  if (auto shaped = dyn_cast<ShapedType>(intType))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value MathBuilder::horner(const Polynomial &polynomial, Value x) {
  return horner(isDouble ? polynomial.f64 : polynomial.f32, x);
}

Value MathBuilder::horner(ArrayRef<double> coefficients, Value x) {
  Value sum = f(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, f(coefficient));
  return sum;
}

// Adding 1.5 * 2^mantissaBits leaves the integer in the low bits of the sum, and
// the sum is rounded like any other: half to even.
MathBuilder::Rounded MathBuilder::fromShifted(Value shifted) {
  int64_t shiftBits = isDouble ? 0x4338000000000000 : 0x4B400000;
  return {sub(shifted, f(shift())), isub(bits(shifted), i(shiftBits))};
}

MathBuilder::Rounded MathBuilder::roundSmall(Value x) {
  return fromShifted(add(x, f(shift())));
}

MathBuilder::Rounded MathBuilder::roundSmallProduct(Value x, Value factor) {
  return fromShifted(fma(x, factor, f(shift())));
}

Value MathBuilder::powerOfTwo(Value n) {
  return fromBits(shl(iadd(n, i(bias())), i(mantissaBits())));
}

MathBuilder::Exponent MathBuilder::roundToExponent(Value x, Value factor, int offset) {
  Value magic = f(shift() + 2 * bias() + offset);
  Value shifted = factor ? fma(x, factor, magic) : add(x, magic);
  return {sub(shifted, magic), bits(shifted)};
}

// In two steps, as 2^n itself may be out of range. The first product is exact; the
// second rounds only where the result is subnormal. Half of the bits is n / 2 plus one
// bias in the field of the exponent; the high bits of the sum leave by the shift.
Value MathBuilder::scale(Value a, Exponent exponent) {
  Value half = shr(exponent.bits, i(1));
  Value rest = isub(exponent.bits, half);
  Value mantissa = i(mantissaBits());
  return mul(mul(a, fromBits(shl(half, mantissa))), fromBits(shl(rest, mantissa)));
}

MathBuilder::Split MathBuilder::split(Value x) {
  int lift = mantissaBits() + 1;
  Value tiny = lt(x, f(isDouble ? 0x1p-1022 : 0x1p-126));
  Value normal = select(tiny, mul(x, f(isDouble ? 0x1p53 : 0x1p24)), x);
  // Subtracting the bits of sqrt(1/2) before taking the exponent puts the
  // mantissa into [sqrt(1/2), sqrt(2)).
  Value root = i(isDouble ? 0x3FE6A09E667F3BCD : 0x3F3504F3);
  Value exponent = sar(isub(bits(normal), root), i(mantissaBits()));
  Value mantissa = fromBits(isub(bits(normal), shl(exponent, i(mantissaBits()))));
  return {mantissa, select(tiny, isub(exponent, i(lift)), exponent)};
}

MathBuilder::Pair MathBuilder::fastTwoSum(Value a, Value b) {
  Value sum = add(a, b);
  return {sum, sub(b, sub(sum, a))};
}

MathBuilder::Pair MathBuilder::twoSum(Value a, Value b) {
  Value sum = add(a, b);
  Value back = sub(sum, a);
  return {sum, add(sub(a, sub(sum, back)), sub(b, back))};
}

MathBuilder::Pair MathBuilder::twoProduct(Value a, Value b) {
  Value product = mul(a, b);
  return {product, fma(a, b, neg(product))};
}

//===- NarrowFloat.cpp - code for conversions of narrow floats ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: floats (scalars or vectors). Out: arith operations on their bits, or the chip's
// instruction on pairs. One routine rounds to every format in every direction: shift the
// significand so that its last bit is the format's last bit, round by what was shifted
// out, and add the exponent; a carry out of the significand then counts the exponent up
// by itself. Where the format has the exponents of f32, nothing is shifted, and the bits
// are rounded as they stand. To f8, which is rounded to nearest only, bits are rounded as they
// stand, too, or by an addition where the format has no more exponents (a third of the work).
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/NarrowFloat.h"

#include "tilec/Atoms/HelperCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>

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
NarrowFormat NarrowFormat::f8e5m2() { return {2, -14, 0x7b, 0, 0x7f, 8, true}; }

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

//===------------------------------------------------------------------------===//
// 8 bits
//===------------------------------------------------------------------------===//

/// `value`, a scalar or a vector, as a vector of an even number of elements.
static Value evenVector(OpBuilder &builder, Location loc, Value value) {
  auto shape = dyn_cast<VectorType>(value.getType());
  if (!shape)
    return vector::FromElementsOp::create(builder, loc, VectorType::get(2, value.getType()),
                                          ValueRange{value, value});
  if (shape.getNumElements() == 1)
    return vector::ShuffleOp::create(builder, loc, value, value, ArrayRef<int64_t>{0, 0});
  return value;
}

/// The inverse: `words` hold two elements of `element` each; the result has the
/// shape of `like`.
static Value fromWords(OpBuilder &builder, Location loc, ArrayRef<Value> words, Type element,
                       Type like) {
  auto packed = VectorType::get(int64_t(words.size()), words[0].getType());
  Value all = vector::FromElementsOp::create(builder, loc, packed, words);
  all = vector::BitCastOp::create(builder, loc, VectorType::get(2 * int64_t(words.size()), element), all);
  auto shape = dyn_cast<VectorType>(like);
  if (!shape)
    return vector::ExtractOp::create(builder, loc, all, 0);
  if (shape.getNumElements() == 1)
    return vector::ShuffleOp::create(builder, loc, all, all, ArrayRef<int64_t>{0});
  return all;
}

static Value callIntrinsic(OpBuilder &builder, Location loc, Type type, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), operands)
      .getResult(0);
}

/// Whether the chip converts pairs, and `value` comes in pairs (or is one).
static bool hasPairConversions(const Chip *chip, Value value) {
  auto shape = dyn_cast<VectorType>(value.getType());
  return chip && chip->has(ChipFeature::Fp8Convert) &&
         (!shape || (shape.getRank() == 1 &&
                     (shape.getNumElements() == 1 || shape.getNumElements() % 2 == 0)));
}

/// f8E4M3FN to f16 by the chip, two at a time.
static Value pairsToF16(OpBuilder &builder, Location loc, Value value) {
  Value even = evenVector(builder, loc, value);
  int64_t count = cast<VectorType>(even.getType()).getNumElements() / 2;
  Type i32 = builder.getI32Type(), f16 = builder.getF16Type();
  Value pairs = vector::BitCastOp::create(builder, loc, VectorType::get(count, builder.getI16Type()), even);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i) {
    Value pair = vector::ExtractOp::create(builder, loc, pairs, i);
    Value halves = callIntrinsic(builder, loc, VectorType::get(2, f16), "llvm.nvvm.e4m3x2.to.f16x2.rn", pair);
    words.push_back(LLVM::BitcastOp::create(builder, loc, i32, halves));
  }
  return fromWords(builder, loc, words, f16, value.getType());
}

/// f32 to f8 by the chip, two at a time. ptxas (13.0) merges a pair into the other half of
/// a register where it can, and dies where it finds the pair in two registers; it does not
/// try where the pair has been widened.
static Value pairsToFloat8(OpBuilder &builder, Location loc, Value value, bool isE5M2) {
  Value even = evenVector(builder, loc, value);
  StringRef name = isE5M2 ? "llvm.nvvm.ff.to.e5m2x2.rn" : "llvm.nvvm.ff.to.e4m3x2.rn";
  SmallVector<Value> words;
  for (int64_t i = 0, e = cast<VectorType>(even.getType()).getNumElements(); i < e; i += 2) {
    Value low = vector::ExtractOp::create(builder, loc, even, i);
    Value high = vector::ExtractOp::create(builder, loc, even, i + 1);
    Value pair = callIntrinsic(builder, loc, builder.getI16Type(), name, {high, low});
    Value wide = emitHelper(builder, loc, {"tilec.cvt.u32.u16", "", "", "none"}, builder.getI32Type(), pair).front();
    words.push_back(arith::TruncIOp::create(builder, loc, builder.getI16Type(), wide));
  }
  return fromWords(builder, loc, words, builder.getI8Type(), value.getType());
}

Value tilec::emitFloat8ToF32(OpBuilder &builder, Location loc, Value value,
                             bool isE5M2, const Chip *chip) {
  Bits b(builder, loc, value.getType());
  Type f16 = builder.getF16Type(), f32 = builder.getF32Type();
  if (isE5M2) { // the upper half of an f16
    Value half = b.bitcast(f16, b.shl(b.widen(16, value), b.constant(8, 16)));
    return arith::ExtFOp::create(builder, loc, b.type(f32), half);
  }
  if (hasPairConversions(chip, value))
    return arith::ExtFOp::create(builder, loc, b.type(f32), pairsToF16(builder, loc, value));
  Value bits = b.widen(32, value);
  Value sign = b.shl(b.band(bits, b.constant(0x80)), b.constant(24));
  Value magnitude = b.band(bits, b.constant(0x7f));
  // Put in place of an f32's fields, the number is too small by the difference of
  // the biases; a multiplication by a power of two mends that, subnormals included.
  Value placed = b.bitcast(f32, b.shl(magnitude, b.constant(20)));
  Value scaled = arith::MulFOp::create(builder, loc, placed, b.floating(f32, 0x1p120));
  Value result = b.bitcast(builder.getI32Type(), scaled);
  result = b.select(b.cmp(IntCmp::eq, magnitude, b.constant(0x7f)), b.constant(0x7fc00000), result);
  return b.bitcast(f32, b.bor(result, sign));
}

/// f32 to the bits (i32) of `format`, which saturates, to nearest even.
static Value roundToFloat8(const Bits &b, Value value, const NarrowFormat &format) {
  Type i32 = b.builder.getI32Type(), f32 = b.builder.getF32Type();
  Value bits = b.bitcast(i32, value);
  Value magnitude = b.band(bits, b.constant(0x7fffffff));
  // Normal numbers: bits below the format's last are rounded away, by less than a half of that, and
  // more where it is odd. The exponent loses the difference of the biases on the way.
  unsigned count = 23 - format.mantissaBits;
  uint32_t begin = uint32_t(format.minExponent + 127) << 23;
  uint32_t added = (1u << (count - 1)) - 1 - (begin - (1u << 23));
  Value odd = b.band(b.shr(magnitude, b.constant(count)), b.constant(1));
  Value normal = b.shr(b.add(b.add(magnitude, b.constant(added)), odd), b.constant(count));
  // Subnormal ones: added to a number whose last bit counts as the format's.
  float start = std::ldexp(1.0f, format.minExponent - int(format.mantissaBits) + 23);
  Value sum = arith::AddFOp::create(b.builder, b.loc, b.bitcast(f32, magnitude),
                                    b.floating(f32, start));
  Value subnormal = b.sub(b.bitcast(i32, sum), b.constant(llvm::bit_cast<uint32_t>(start)));
  Value isSubnormal = b.cmp(IntCmp::ult, magnitude, b.constant(begin));
  Value result = b.select(isSubnormal, subnormal, normal);
  result = b.umin(result, b.constant(format.maxFinite));
  Value isNaN = b.cmp(IntCmp::ugt, magnitude, b.constant(0x7f800000));
  result = b.select(isNaN, b.constant(format.nan), result);
  return b.bor(result, b.band(b.shr(bits, b.constant(24)), b.constant(0x80)));
}

Value tilec::emitF32ToFloat8(OpBuilder &builder, Location loc, Value value, bool isE5M2,
                             const Chip *chip) {
  if (hasPairConversions(chip, value))
    return pairsToFloat8(builder, loc, value, isE5M2);
  Bits b(builder, loc, value.getType());
  NarrowFormat format = isE5M2 ? NarrowFormat::f8e5m2() : NarrowFormat::f8e4m3();
  return b.narrow(8, roundToFloat8(b, value, format));
}

//===------------------------------------------------------------------------===//
// Rounding
//===------------------------------------------------------------------------===//

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

/// To a format with the exponents of f32: the lower bits of `value` go. A carry makes
/// the next binade, at last infinity; cutting off never leaves the finite numbers.
static Value emitCutF32(OpBuilder &builder, Location loc, Value value,
                        const NarrowFormat &format, FloatRounding rounding) {
  Bits b(builder, loc, value.getType());
  Value bits = b.bitcast(builder.getI32Type(), value);
  Value count = b.constant(23 - format.mantissaBits);
  uint64_t mask = (uint64_t(1) << (23 - format.mantissaBits)) - 1;
  Value isNegative = b.cmp(IntCmp::slt, bits, b.constant(0));
  Value all = b.constant(mask), none = b.constant(0), added;
  switch (rounding) {
  case FloatRounding::TowardZero:
    added = none;
    break;
  case FloatRounding::NearestEven:
    added = b.add(b.constant(mask >> 1), b.band(b.shr(bits, count), b.constant(1)));
    break;
  case FloatRounding::Downward:
    added = b.select(isNegative, all, none);
    break;
  case FloatRounding::Upward:
    added = b.select(isNegative, none, all);
    break;
  }
  Value isNaN = b.cmp(FloatCmp::UNO, value, value);
  return b.select(isNaN, b.constant(format.nan), b.shr(b.add(bits, added), count));
}

Value tilec::emitF32ToNarrow(OpBuilder &builder, Location loc, Value value,
                             const NarrowFormat &format, FloatRounding rounding) {
  if (format.minExponent == -126)
    return emitCutF32(builder, loc, value, format, rounding);
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

//===- Cast.cpp - conversions by the language's rules ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: `tile.cast`, and those arith conversions whose plain lowering would round
// twice or does not exist on every chip. Out: arith operations.
//
//   float → integer   compared against the range first: nothing undefined remains
//   f64 → 16 bits     through an f32 rounded to odd, so that it is rounded once
//   8 bits → f16, bf16, f32   by arithmetic on bits: converters are few
//   i32, i64 → bf16, tf32   through an f64 that keeps a sticky bit, likewise
//   f8, tf32, and roundings other than to nearest   see NarrowFloat.h
//
// Types here are the tile's (f8E4M3FN, tf32); values are as registers hold them.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Atoms/NarrowFloat.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static FloatRounding toFloatRounding(tile::CastRounding rounding) {
  switch (rounding) {
  case tile::CastRounding::NearestEven:
    return FloatRounding::NearestEven;
  case tile::CastRounding::TowardZero:
    return FloatRounding::TowardZero;
  case tile::CastRounding::Downward:
    return FloatRounding::Downward;
  case tile::CastRounding::Upward:
    return FloatRounding::Upward;
  }
  return FloatRounding::NearestEven;
}

//===------------------------------------------------------------------------===//
// Float to float
//===------------------------------------------------------------------------===//

/// Any float to f32 or, from f64, to itself: exact.
static Value widenFloat(OpBuilder &builder, Location loc, Value value, Type from,
                        const Chip *chip) {
  if (isFloat8(from))
    return emitFloat8ToF32(builder, loc, value, isa<Float8E5M2Type>(from), chip);
  if (from.isF16() || from.isBF16())
    return arith::ExtFOp::create(builder, loc,
                                 withElement(value.getType(), builder.getF32Type()), value);
  return value;
}

/// f32 to a narrower type, as the register holds it.
static Value narrowFloat(OpBuilder &builder, Location loc, Value value, Type to,
                         FloatRounding rounding, const Chip *chip) {
  if (isFloat8(to))
    return emitF32ToFloat8(builder, loc, value, isa<Float8E5M2Type>(to), chip);
  Type type = value.getType();
  auto round = [&](const NarrowFormat &format) {
    return emitF32ToNarrow(builder, loc, value, format, rounding);
  };
  auto truncate = [&](Value bits, unsigned width) -> Value {
    return arith::TruncIOp::create(
        builder, loc, withElement(type, builder.getIntegerType(width)), bits);
  };
  if (isa<FloatTF32Type>(to)) {
    Value bits = round(NarrowFormat::tf32());
    auto shift = arith::ConstantOp::create(
        builder, loc,
        isa<VectorType>(type)
            ? cast<TypedAttr>(Attribute(SplatElementsAttr::get(
                  cast<VectorType>(bits.getType()), Attribute(builder.getI32IntegerAttr(13)))))
            : cast<TypedAttr>(Attribute(builder.getI32IntegerAttr(13))));
    bits = arith::ShLIOp::create(builder, loc, bits, shift);
    return arith::BitcastOp::create(builder, loc, type, bits);
  }
  if (rounding == FloatRounding::NearestEven)
    return arith::TruncFOp::create(builder, loc, withElement(type, to), value);
  Value bits = truncate(round(to.isF16() ? NarrowFormat::f16() : NarrowFormat::bf16()), 16);
  return arith::BitcastOp::create(builder, loc, withElement(type, to), bits);
}

Value Emitter::castFloat(Value value, Type from, Type to, tile::CastRounding mode) {
  if (from == to)
    return value;
  FloatRounding rounding = toFloatRounding(mode);
  Value wide = widenFloat(builder, loc, value, from, chip);
  Type wideElement = getElementTypeOrSelf(wide.getType());
  if (to.isF64())
    return wideElement.isF64()
               ? wide
               : arith::ExtFOp::create(builder, loc,
                                       withElement(wide.getType(), to), wide)
                     .getResult();
  if (to.isF32())
    return wideElement.isF64() ? emitF64ToF32(builder, loc, wide, rounding) : wide;
  if (wideElement.isF64())
    wide = emitF64ToF32Odd(builder, loc, wide);
  return narrowFloat(builder, loc, wide, to, rounding, chip);
}

//===------------------------------------------------------------------------===//
// Float and integer
//===------------------------------------------------------------------------===//

/// An f32 to an integer of 8 to 32 bits: an instruction saturates, and gives 0 for NaN. It rounds,
/// too, where `value` has just been rounded.
static Value convertByInstruction(OpBuilder &builder, Location loc, Value value, unsigned width,
                                  bool isUnsigned) {
  auto round = value.getDefiningOp<math::RoundEvenOp>();
  if (round)
    value = round.getOperand();
  std::string name = "tilec.cvt.";
  name += round ? "rni." : "rzi.";
  name += (isUnsigned ? "u" : "s") + std::to_string(width) + ".f32";
  Type held = builder.getIntegerType(std::max(width, 16u)), type = builder.getIntegerType(width);
  auto convert = [&](Value element) -> Value {
    Value result = emitHelper(builder, loc, {name, "", "", "none"}, held, element).front();
    return width < 16 ? arith::TruncIOp::create(builder, loc, type, result).getResult() : result;
  };
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return convert(value);
  auto elements = vector::ToElementsOp::create(builder, loc, value);
  SmallVector<Value> results = llvm::map_to_vector(elements.getResults(), convert);
  return vector::FromElementsOp::create(builder, loc, vector.clone(type), results);
}

Value Emitter::castFloatToInt(Value value, Type from, Type to, bool isUnsigned) {
  Value wide = widenFloat(builder, loc, value, from, chip);
  Type floatType = wide.getType();
  auto element = cast<FloatType>(getElementTypeOrSelf(floatType));
  unsigned width = to.isIndex() ? 64 : to.getIntOrFloatBitWidth();
  if (element.isF32() && width >= 8 && width <= 32)
    return convertByInstruction(builder, loc, wide, width, isUnsigned);
  Type intElement = builder.getIntegerType(width);
  Type intType = withElement(floatType, intElement);
  auto number = [&](double value) {
    APFloat result(value);
    bool losesInfo;
    result.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(floatType, FloatAttr::get(element, result));
  };
  auto integer = [&](APInt value) {
    return constant(intType, IntegerAttr::get(intElement, value));
  };
  // Powers of two, exact in every float type: the first number beyond the range, and
  // the last (signed) or zero (unsigned) at the other end.
  double beyond = std::ldexp(1.0, int(isUnsigned ? width : width - 1));
  double least = isUnsigned ? 0.0 : -beyond;
  Value isAbove = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, wide,
                                        number(beyond));
  Value isInside = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, wide,
                                         number(least));
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, wide, wide);
  Value safe = arith::SelectOp::create(builder, loc, isInside, wide, number(least));
  safe = arith::SelectOp::create(builder, loc, isAbove, number(0.0), safe);
  Value result = isUnsigned
                     ? arith::FPToUIOp::create(builder, loc, intType, safe).getResult()
                     : arith::FPToSIOp::create(builder, loc, intType, safe).getResult();
  APInt greatest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  result = arith::SelectOp::create(builder, loc, isAbove, integer(greatest), result);
  result = arith::SelectOp::create(builder, loc, isNaN, integer(APInt(width, 0)), result);
  if (to.isIndex())
    result = arith::IndexCastOp::create(builder, loc, withElement(floatType, to), result);
  return result;
}

/// An f32 that rounds to bf16 and tf32 as the integer does. Integers of 32 and 64 bits
/// have more bits than f32 keeps, so that going to it by rounding would round twice.
/// f64 keeps 32 bits; of 64, all bits below the 16th are joined into one sticky bit,
/// which is enough where at most 11 bits are kept; then an f32 rounded to odd.
static Value intToF32Odd(OpBuilder &builder, Location loc, Value value, bool isUnsigned) {
  Type type = value.getType();
  Type f64 = withElement(type, builder.getF64Type());
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto integer = [&](int64_t number) -> Value {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), number);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  };
  auto convert = [&](Value v) -> Value {
    return isUnsigned ? arith::UIToFPOp::create(builder, loc, f64, v).getResult()
                      : arith::SIToFPOp::create(builder, loc, f64, v).getResult();
  };
  Value wide;
  if (width <= 32) {
    wide = convert(value);
  } else {
    // |value| < 2^48 is exact as it is.
    Value high = isUnsigned
                     ? arith::ShRUIOp::create(builder, loc, value, integer(16)).getResult()
                     : arith::ShRSIOp::create(builder, loc, value, integer(16)).getResult();
    Value low = arith::AndIOp::create(builder, loc, value, integer(0xffff));
    Value isSticky =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, low, integer(0));
    Value sticky = arith::ExtUIOp::create(builder, loc, type, isSticky);
    Value joined = convert(arith::OrIOp::create(builder, loc, high, sticky));
    TypedAttr scale = builder.getF64FloatAttr(65536.0);
    if (auto vector = dyn_cast<VectorType>(f64))
      scale = SplatElementsAttr::get(vector, Attribute(scale));
    Value scaled = arith::MulFOp::create(
        builder, loc, joined, arith::ConstantOp::create(builder, loc, scale));
    Value top = isUnsigned
                    ? arith::ShRUIOp::create(builder, loc, value, integer(47)).getResult()
                    : arith::ShRSIOp::create(builder, loc, value, integer(47)).getResult();
    Value isSmall =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, top, integer(0));
    if (!isUnsigned)
      isSmall = arith::OrIOp::create(
          builder, loc, isSmall,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, top, integer(-1)));
    wide = arith::SelectOp::create(builder, loc, isSmall, convert(value), scaled);
  }
  return emitF64ToF32Odd(builder, loc, wide);
}

/// Bytes to f16 or f32 by a logic operation and a subtraction: the chip has a quarter of the
/// units, or fewer, that convert. A number whose last bits count by one (2^10 in f16, 2^23 in
/// f32) takes a byte there, which is so added to it; a signed one with the sign's bit turned
/// around, so 128 more.
static Value bytesByBits(OpBuilder &builder, Location loc, Value bytes, FloatType to,
                         bool isUnsigned) {
  unsigned digits = to.getFPMantissaWidth() - 1;
  APFloat start(to.getFloatSemantics(), uint64_t(1) << digits);
  APInt bits = start.bitcastToAPInt() ^ APInt(to.getWidth(), isUnsigned ? 0 : 128);
  if (!isUnsigned)
    start = start + APFloat(to.getFloatSemantics(), 128);
  auto type = cast<VectorType>(bytes.getType()).clone(builder.getIntegerType(to.getWidth()));
  auto result = type.clone(to);
  Value pattern = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, bits));
  Value words = arith::ExtUIOp::create(builder, loc, type, bytes);
  words = arith::XOrIOp::create(builder, loc, words, pattern);
  Value sum = arith::BitcastOp::create(builder, loc, result, words);
  Value first = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(result, start));
  return arith::SubFOp::create(builder, loc, sum, first);
}

Value Emitter::castIntToFloat(Value value, Type from, Type to, bool isUnsigned) {
  if (auto vector = dyn_cast<VectorType>(value.getType()); vector && from.isInteger(8)) {
    if (to.isF16() && vector.getNumElements() % 2 == 0)
      return bytesByBits(builder, loc, value, builder.getF16Type(), isUnsigned);
    if (to.isF32() || to.isBF16())
      return castFloat(bytesByBits(builder, loc, value, builder.getF32Type(), isUnsigned),
                       builder.getF32Type(), to, tile::CastRounding::NearestEven);
  }
  if (from.isIndex())
    value = arith::IndexCastOp::create(
        builder, loc, withElement(value.getType(), builder.getI64Type()), value);
  isUnsigned |= from.isInteger(1);
  unsigned width = from.isIndex() ? 64 : from.getIntOrFloatBitWidth();
  if ((to.isBF16() || to.isTF32()) && width >= 32)
    return narrowFloat(builder, loc, intToF32Odd(builder, loc, value, isUnsigned), to,
                       FloatRounding::NearestEven, chip);
  // f16 overflows long before f32 rounds; f8 is defined to go through f32.
  Type step = to.isF64() ? to : Type(builder.getF32Type());
  Type type = withElement(value.getType(), step);
  Value result = isUnsigned ? arith::UIToFPOp::create(builder, loc, type, value).getResult()
                            : arith::SIToFPOp::create(builder, loc, type, value).getResult();
  return castFloat(result, step, to, tile::CastRounding::NearestEven);
}

Value Emitter::castInt(Value value, Type from, Type to, bool isUnsigned) {
  if (from == to)
    return value;
  Type type = withElement(value.getType(), to);
  isUnsigned |= from.isInteger(1);
  if (from.isIndex() || to.isIndex())
    return isUnsigned ? arith::IndexCastUIOp::create(builder, loc, type, value).getResult()
                      : arith::IndexCastOp::create(builder, loc, type, value).getResult();
  unsigned before = from.getIntOrFloatBitWidth(), after = to.getIntOrFloatBitWidth();
  if (after < before)
    return arith::TruncIOp::create(builder, loc, type, value);
  return isUnsigned ? arith::ExtUIOp::create(builder, loc, type, value).getResult()
                    : arith::ExtSIOp::create(builder, loc, type, value).getResult();
}

//===------------------------------------------------------------------------===//
// Operations
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitCast(tile::CastOp op) {
  Type from = getElementTypeOrSelf(op.getSource().getType());
  Type to = getElementTypeOrSelf(op.getType());
  Value value = get(op.getSource());
  bool isFromFloat = isa<FloatType>(from), isToFloat = isa<FloatType>(to);
  Value result;
  if (to.isInteger(1) && !from.isInteger(1)) {
    // Anything but zero is true, NaN too.
    Value wide = isFromFloat ? widenFloat(builder, loc, value, from, chip) : value;
    Value none = zero(wide.getType());
    result = isFromFloat
                 ? arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, wide, none)
                       .getResult()
                 : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, wide, none)
                       .getResult();
  } else if (isFromFloat && isToFloat) {
    result = castFloat(value, from, to, op.getRounding());
  } else if (isFromFloat) {
    result = castFloatToInt(value, from, to, op.getToUnsigned());
  } else if (isToFloat) {
    result = castIntToFloat(value, from, to, op.getFromUnsigned());
  } else {
    result = castInt(value, from, to, op.getFromUnsigned());
  }
  set(op, result);
  return success();
}

/// Bits as f16 or bf16. LLVM's InstCombine takes a float that it finds behind a bitcast
/// for an integer where it is compared with zero, and builds an invalid `and bfloat`; so
/// it must never find one of the two types behind a bitcast to the other. The bits pass
/// through a move that it does not look into, which costs nothing in the machine code.
static Value bitcastToHalf(OpBuilder &builder, Location loc, Value value, Type to) {
  Type integer = builder.getI16Type();
  if (!getElementTypeOrSelf(value.getType()).isInteger())
    value = arith::BitcastOp::create(builder, loc, withElement(value.getType(), integer), value);
  auto move = [&](Value bits) {
    return LLVM::CallIntrinsicOp::create(builder, loc, integer,
                                         builder.getStringAttr("llvm.nvvm.move.i16"), bits)
        .getResult(0);
  };
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    SmallVector<Value> elements;
    for (Value bits : vector::ToElementsOp::create(builder, loc, value).getResults())
      elements.push_back(move(bits));
    value = vector::FromElementsOp::create(builder, loc, vector, elements);
  } else {
    value = move(value);
  }
  return arith::BitcastOp::create(builder, loc, withElement(value.getType(), to), value);
}

std::optional<Value> Emitter::emitArithCast(Operation *op, Value operand) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return castFloat(operand, from, to, tile::CastRounding::NearestEven);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return castIntToFloat(operand, from, to, isa<arith::UIToFPOp>(op));
  if (!isa<arith::BitcastOp>(op))
    return std::nullopt;
  if (operand.getType() == withElement(operand.getType(), registerType(to)))
    return operand;
  if (to.isF16() || to.isBF16())
    return bitcastToHalf(builder, loc, operand, to);
  return std::nullopt;
}

//===- Elementwise.cpp - elementwise operations of the language -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One row per operation where a row suffices; the functions that the language
// defines by a formula have a function each. 16-bit floats compute functions in
// f32 and round once; + - * / and comparisons are exact on the type itself.

#include "Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Support/Numerics.h"
#include "tilec/Tile/TileOps.h"

#include <cmath>
#include <numbers>

using namespace mlir;
namespace tilec::irgen {

using checked::BinaryOp;
using checked::CompareOp;
using checked::UnaryOp;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Elementwise::constant(TypedAttr value, Value like) {
  if (auto tile = dyn_cast<RankedTensorType>(like.getType()))
    value = DenseElementsAttr::get(tile.clone(value.getType()),
                                   ArrayRef<Attribute>(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value Elementwise::integer(DType dtype, uint64_t word, Value like) {
  return constant(constantAttr(builder.getContext(), dtype,
                               numerics::normalize(dtype, word)),
                  like);
}

Value Elementwise::real(DType dtype, double value, Value like) {
  return constant(
      constantAttr(builder.getContext(), dtype, numerics::encode(dtype, value)),
      like);
}

mlir::Type Elementwise::like(Value x, mlir::Type element) {
  return tile::withElementType(x.getType(), element);
}

mlir::Type Elementwise::like(Value x, DType dtype) {
  return like(x, elementType(builder.getContext(), dtype));
}

Value Elementwise::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

/// Where functions of 16-bit floats are computed.
static DType computeType(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

Value Elementwise::unary(UnaryOp op, DType dtype, Value x) {
  if (!isFloat(dtype))
    return integerUnary(op, dtype, x);
  switch (op) {
  case UnaryOp::Neg:
    return arith::NegFOp::create(builder, loc, x, flags);
  case UnaryOp::Abs:
    return math::AbsFOp::create(builder, loc, x, flags);
  case UnaryOp::Sign:
    return sign(dtype, x);
  case UnaryOp::IsNan:
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  case UnaryOp::IsInf:
  case UnaryOp::IsFinite: {
    Value magnitude = math::AbsFOp::create(builder, loc, x);
    auto predicate = op == UnaryOp::IsInf ? arith::CmpFPredicate::OEQ
                                          : arith::CmpFPredicate::ONE;
    return arith::CmpFOp::create(builder, loc, predicate, magnitude,
                                 real(dtype, INFINITY, x));
  }
  default: {
    DType wide = computeType(dtype);
    return cast(floatUnary(op, wide, cast(x, dtype, wide)), wide, dtype);
  }
  }
}

Value Elementwise::floatUnary(UnaryOp op, DType dtype, Value x) {
  switch (op) {
#define MATH_OP(Name, Class)                                                   \
  case UnaryOp::Name:                                                          \
    return math::Class::create(builder, loc, x, flags);
    MATH_OP(Floor, FloorOp)
    MATH_OP(Ceil, CeilOp)
    MATH_OP(Round, RoundEvenOp)
    MATH_OP(Trunc, TruncOp)
    MATH_OP(Sqrt, SqrtOp)
    MATH_OP(Rsqrt, RsqrtOp)
    MATH_OP(Cbrt, CbrtOp)
    MATH_OP(Exp, ExpOp)
    MATH_OP(Exp2, Exp2Op)
    MATH_OP(Expm1, ExpM1Op)
    MATH_OP(Log, LogOp)
    MATH_OP(Log2, Log2Op)
    MATH_OP(Log10, Log10Op)
    MATH_OP(Log1p, Log1pOp)
    MATH_OP(Sin, SinOp)
    MATH_OP(Cos, CosOp)
    MATH_OP(Tan, TanOp)
    MATH_OP(Asin, AsinOp)
    MATH_OP(Acos, AcosOp)
    MATH_OP(Atan, AtanOp)
    MATH_OP(Sinh, SinhOp)
    MATH_OP(Cosh, CoshOp)
    MATH_OP(Tanh, TanhOp)
    MATH_OP(Erf, ErfOp)
#undef MATH_OP
  case UnaryOp::Sigmoid:
    return sigmoid(dtype, x);
  case UnaryOp::Silu:
    return silu(dtype, x);
  case UnaryOp::Gelu:
    return gelu(dtype, x);
  case UnaryOp::GeluTanh:
    return geluTanh(dtype, x);
  default:
    return x; // integer operations do not come here
  }
}

/// -1, 1, or x itself: zeros and NaN stay.
Value Elementwise::sign(DType dtype, Value x) {
  Value zero = real(dtype, 0, x);
  Value positive =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x, zero);
  Value negative =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, zero);
  return select(positive, real(dtype, 1, x),
                select(negative, real(dtype, -1, x), x));
}

/// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x so that no intermediate
/// overflows and small results stay accurate. The divisor lies in [1, 2]: `arcp` tells
/// ExpandDivision, which then needs no test of its range. Where approximations are
/// allowed 1 / (1 + e^-x) as it stands: an infinite divisor gives 0.
Value Elementwise::sigmoid(DType dtype, Value x) {
  if (isApproximate(dtype))
    return overOnePlusExp(dtype, real(dtype, 1, x), x);
  Value one = real(dtype, 1, x);
  Value magnitude = math::AbsFOp::create(builder, loc, x, flags);
  Value power = math::ExpOp::create(
      builder, loc, arith::NegFOp::create(builder, loc, magnitude, flags),
      flags);
  Value positive = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGE, x, real(dtype, 0, x));
  Value sum = arith::AddFOp::create(builder, loc, one, power, flags);
  bool isExact = flags == arith::FastMathFlags::none && dtype == DType::F32;
  return arith::DivFOp::create(builder, loc, select(positive, one, power), sum,
                               isExact ? arith::FastMathFlags::arcp : flags);
}

/// a / (1 + e^-x), approximately. The divisor is at least 1, which `arcp` tells
/// ExpandDivision.
Value Elementwise::overOnePlusExp(DType dtype, Value a, Value x) {
  Value power = math::ExpOp::create(
      builder, loc, arith::NegFOp::create(builder, loc, x, flags), flags);
  Value sum = arith::AddFOp::create(builder, loc, real(dtype, 1, x), power, flags);
  return arith::DivFOp::create(builder, loc, a, sum, flags | arith::FastMathFlags::arcp);
}

Value Elementwise::silu(DType dtype, Value x) {
  if (isApproximate(dtype))
    return overOnePlusExp(dtype, x, x);
  return arith::MulFOp::create(builder, loc, x, sigmoid(dtype, x), flags);
}

/// half + half * `odd`, which becomes an fma.
Value Elementwise::plusTimes(Value half, Value odd) {
  Value product = arith::MulFOp::create(builder, loc, half, odd, flags);
  return arith::AddFOp::create(builder, loc, product, half, flags);
}

/// x/2 * (1 + erf(x / sqrt 2)). Where approximations are allowed all is computed from x/2: one
/// multiplication less, and none where x is a sum (FuseMultiplyAdd).
Value Elementwise::gelu(DType dtype, Value x) {
  bool isFast = isApproximate(dtype);
  Value base = x;
  if (isFast)
    base = arith::MulFOp::create(builder, loc, x, real(dtype, 0.5, x), flags);
  Value scaled = arith::MulFOp::create(
      builder, loc, base, real(dtype, std::numbers::sqrt2 / (isFast ? 1 : 2), x), flags);
  Value erf = math::ErfOp::create(builder, loc, scaled, flags);
  if (isFast)
    return plusTimes(base, erf);
  Value sum =
      arith::AddFOp::create(builder, loc, real(dtype, 1, x), erf, flags);
  Value half =
      arith::MulFOp::create(builder, loc, x, real(dtype, 0.5, x), flags);
  return arith::MulFOp::create(builder, loc, half, sum, flags);
}

/// x/2 * (1 + tanh v) with v = sqrt(2/pi) * (x + 0.044715 x^3), which is
/// x * sigmoid(2v): nothing cancels where tanh is near -1. The first form, from x/2, where
/// approximations are allowed: tanh is one instruction then.
Value Elementwise::geluTanh(DType dtype, Value x) {
  auto times = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(builder, loc, a, b, flags);
  };
  bool takesTanh = isApproximate(dtype);
  Value base = takesTanh ? times(x, real(dtype, 0.5, x)) : x;
  double factor = 2 * std::sqrt(2 * std::numbers::inv_pi);
  double cubic = factor * 0.044715 * (takesTanh ? 4 : 1);
  Value square = times(base, base);
  Value inner = arith::AddFOp::create(builder, loc, real(dtype, factor, x),
                                      times(real(dtype, cubic, x), square), flags);
  Value v = times(inner, base);
  if (takesTanh)
    return plusTimes(base, math::TanhOp::create(builder, loc, v, flags));
  return times(x, sigmoid(dtype, v));
}

Value Elementwise::integerUnary(UnaryOp op, DType dtype, Value x) {
  switch (op) {
  case UnaryOp::Neg:
    return arith::SubIOp::create(builder, loc, integer(dtype, 0, x), x);
  case UnaryOp::Not:
    return arith::XOrIOp::create(builder, loc, x,
                                 integer(dtype, ~uint64_t(0), x));
  case UnaryOp::Abs:
    return isSigned(dtype) ? Value(math::AbsIOp::create(builder, loc, x)) : x;
  case UnaryOp::Sign: {
    Value zero = integer(dtype, 0, x);
    Value result =
        cast(compare(CompareOp::Gt, dtype, x, zero), DType::Bool, dtype);
    if (!isSigned(dtype))
      return result;
    return select(compare(CompareOp::Lt, dtype, x, zero),
                  integer(dtype, ~uint64_t(0), x), result);
  }
  case UnaryOp::Popcount:
  case UnaryOp::Clz:
  case UnaryOp::Ctz:
    return dtype == DType::Int
               ? cast(bitCount(op, cast(x, DType::Int, DType::I64)), DType::I64,
                      DType::Int)
               : bitCount(op, x);
  default:
    return x; // float functions do not come here
  }
}

Value Elementwise::bitCount(UnaryOp op, Value x) {
  if (op == UnaryOp::Popcount)
    return math::CtPopOp::create(builder, loc, x);
  if (op == UnaryOp::Clz)
    return math::CountLeadingZerosOp::create(builder, loc, x);
  return math::CountTrailingZerosOp::create(builder, loc, x);
}

//===----------------------------------------------------------------------===//
// Two and three operands
//===----------------------------------------------------------------------===//

Value Elementwise::binary(BinaryOp op, DType dtype, Value a, Value b) {
  return isFloat(dtype) ? floatBinary(op, dtype, a, b)
                        : integerBinary(op, dtype, a, b);
}

Value Elementwise::floatBinary(BinaryOp op, DType dtype, Value a, Value b) {
  switch (op) {
  case BinaryOp::Add:
    return arith::AddFOp::create(builder, loc, a, b, flags);
  case BinaryOp::Sub:
    return arith::SubFOp::create(builder, loc, a, b, flags);
  case BinaryOp::Mul:
    return arith::MulFOp::create(builder, loc, a, b, flags);
  case BinaryOp::Div:
    return arith::DivFOp::create(builder, loc, a, b, flags);
  case BinaryOp::Min:
    return arith::MinimumFOp::create(builder, loc, a, b);
  case BinaryOp::Max:
    return arith::MaximumFOp::create(builder, loc, a, b);
  case BinaryOp::MinNum:
    return arith::MinNumFOp::create(builder, loc, a, b);
  case BinaryOp::MaxNum:
    return arith::MaxNumFOp::create(builder, loc, a, b);
  default:
    break;
  }
  DType wide = computeType(dtype);
  Value x = cast(a, dtype, wide), y = cast(b, dtype, wide), result;
  switch (op) {
  case BinaryOp::Rem:
    result = arith::RemFOp::create(builder, loc, x, y, flags);
    break;
  case BinaryOp::FloorDiv:
    result = floatFloorDivide(wide, x, y);
    break;
  case BinaryOp::Mod:
    result = floatMod(wide, x, y);
    break;
  case BinaryOp::Pow:
    result = math::PowFOp::create(builder, loc, x, y, flags);
    break;
  case BinaryOp::Atan2:
    result = math::Atan2Op::create(builder, loc, x, y, flags);
    break;
  default:
    return a; // integer operations do not come here
  }
  return cast(result, wide, dtype);
}

/// The remainder with the divisor's sign; a zero has it too.
Value Elementwise::floatMod(DType dtype, Value a, Value b) {
  Value zero = real(dtype, 0, a);
  Value rest = arith::RemFOp::create(builder, loc, a, b, flags);
  Value isZero = compare(CompareOp::Eq, dtype, rest, zero);
  Value opposite = arith::XOrIOp::create(
      builder, loc, compare(CompareOp::Lt, dtype, rest, zero),
      compare(CompareOp::Lt, dtype, b, zero));
  Value moved = arith::AddFOp::create(builder, loc, rest, b, flags);
  Value signedZero = math::CopySignOp::create(builder, loc, zero, b);
  return select(isZero, signedZero, select(opposite, moved, rest));
}

/// NumPy's: the quotient is a whole number where `mod` is its remainder, so it is made
/// of what `fmod` leaves, not of a rounded a / b; a zero has the sign of a / b.
Value Elementwise::floatFloorDivide(DType dtype, Value a, Value b) {
  Value zero = real(dtype, 0, a), one = real(dtype, 1, a);
  Value rest = arith::RemFOp::create(builder, loc, a, b, flags);
  Value whole = arith::DivFOp::create(
      builder, loc, arith::SubFOp::create(builder, loc, a, rest, flags), b);
  Value opposite = arith::XOrIOp::create(
      builder, loc, compare(CompareOp::Lt, dtype, rest, zero),
      compare(CompareOp::Lt, dtype, b, zero));
  Value below = arith::AndIOp::create(
      builder, loc, opposite, compare(CompareOp::Ne, dtype, rest, zero));
  whole = select(below, arith::SubFOp::create(builder, loc, whole, one, flags),
                 whole);
  whole = math::RoundEvenOp::create(builder, loc, whole, flags);
  Value quotient = arith::DivFOp::create(builder, loc, a, b);
  Value signedZero = math::CopySignOp::create(builder, loc, zero, quotient);
  whole = select(compare(CompareOp::Eq, dtype, whole, zero), signedZero, whole);
  return select(compare(CompareOp::Eq, dtype, b, zero), quotient, whole);
}

static tile::QuotientRounding quotientRounding(BinaryOp op) {
  if (op == BinaryOp::FloorDiv || op == BinaryOp::Mod)
    return tile::QuotientRounding::Floor;
  return op == BinaryOp::CeilDiv ? tile::QuotientRounding::Ceil
                                 : tile::QuotientRounding::Trunc;
}

Value Elementwise::integerBinary(BinaryOp op, DType dtype, Value a, Value b) {
  bool hasSign = isSigned(dtype);
  auto signedness =
      hasSign ? tile::Signedness::Signed : tile::Signedness::Unsigned;
  switch (op) {
  case BinaryOp::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case BinaryOp::Sub:
    return arith::SubIOp::create(builder, loc, a, b);
  case BinaryOp::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::CeilDiv:
    return tile::DivideOp::create(builder, loc, a.getType(),
                                  quotientRounding(op), signedness, a, b);
  case BinaryOp::Rem:
  case BinaryOp::Mod:
    return tile::RemainderOp::create(builder, loc, a.getType(),
                                     quotientRounding(op), signedness, a, b);
  case BinaryOp::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case BinaryOp::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  case BinaryOp::Xor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case BinaryOp::Shl:
    return tile::ShiftOp::create(builder, loc, a.getType(),
                                 tile::ShiftKind::Left, a, b);
  case BinaryOp::Shr:
    return tile::ShiftOp::create(builder, loc, a.getType(),
                                 hasSign ? tile::ShiftKind::RightSigned
                                         : tile::ShiftKind::RightUnsigned,
                                 a, b);
  case BinaryOp::MulHi: {
    if (dtype == DType::Int) {
      Value high = integerBinary(op, DType::I64, cast(a, dtype, DType::I64),
                                 cast(b, dtype, DType::I64));
      return cast(high, DType::I64, dtype);
    }
    if (hasSign)
      return arith::MulSIExtendedOp::create(builder, loc, a, b).getHigh();
    return arith::MulUIExtendedOp::create(builder, loc, a, b).getHigh();
  }
  case BinaryOp::Min:
  case BinaryOp::MinNum:
    return hasSign ? Value(arith::MinSIOp::create(builder, loc, a, b))
                   : Value(arith::MinUIOp::create(builder, loc, a, b));
  case BinaryOp::Max:
  case BinaryOp::MaxNum:
    return hasSign ? Value(arith::MaxSIOp::create(builder, loc, a, b))
                   : Value(arith::MaxUIOp::create(builder, loc, a, b));
  default:
    return a; // float functions do not come here
  }
}

Value Elementwise::compare(CompareOp op, DType dtype, Value a, Value b) {
  auto index = static_cast<unsigned>(op);
  if (isFloat(dtype)) {
    using P = arith::CmpFPredicate;
    static constexpr P predicates[] = {P::OEQ, P::UNE, P::OLT,
                                       P::OLE, P::OGT, P::OGE};
    return arith::CmpFOp::create(builder, loc, predicates[index], a, b);
  }
  using P = arith::CmpIPredicate;
  static constexpr P signedOnes[] = {P::eq,  P::ne,  P::slt,
                                     P::sle, P::sgt, P::sge};
  static constexpr P unsignedOnes[] = {P::eq,  P::ne,  P::ult,
                                       P::ule, P::ugt, P::uge};
  return arith::CmpIOp::create(
      builder, loc, (isSigned(dtype) ? signedOnes : unsignedOnes)[index], a, b);
}

Value Elementwise::fma(DType dtype, Value a, Value b, Value c) {
  DType wide = computeType(dtype);
  Value result =
      math::FmaOp::create(builder, loc, cast(a, dtype, wide),
                          cast(b, dtype, wide), cast(c, dtype, wide), flags);
  return cast(result, wide, dtype);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Formats that `arith` has no arithmetic conversions for.
static bool isStorageFloat(DType dtype) {
  return isF8(dtype) || dtype == DType::TF32;
}

Value Elementwise::cast(Value x, DType from, DType to,
                        checked::Rounding rounding) {
  if (from == to)
    return x;
  bool viaTile = isStorageFloat(from) || isStorageFloat(to) ||
                 (isFloat(from) && isInteger(to));
  if (viaTile) {
    static constexpr tile::CastRounding roundings[] = {
        tile::CastRounding::NearestEven, tile::CastRounding::TowardZero,
        tile::CastRounding::Downward, tile::CastRounding::Upward};
    bool rounds = isFloat(from) && isFloat(to) && !isF8(to);
    return tile::CastOp::create(builder, loc, like(x, to), x,
                                rounds
                                    ? roundings[static_cast<unsigned>(rounding)]
                                    : tile::CastRounding::NearestEven,
                                isUnsigned(from), isUnsigned(to));
  }
  if (to == DType::Bool)
    return castToBool(x, from);
  if (isFloat(from))
    return castFloat(x, from, to, rounding);
  if (!isFloat(to))
    return castInteger(x, from, to);
  if (from == DType::Int)
    return cast(cast(x, DType::Int, DType::I64), DType::I64, to);
  if (isSigned(from))
    return arith::SIToFPOp::create(builder, loc, like(x, to), x);
  return arith::UIToFPOp::create(builder, loc, like(x, to), x);
}

Value Elementwise::castToBool(Value x, DType from) {
  Value zero = isFloat(from) ? real(from, 0, x) : integer(from, 0, x);
  return compare(CompareOp::Ne, from, x, zero);
}

Value Elementwise::castInteger(Value x, DType from, DType to) {
  mlir::Type type = like(x, to);
  if (from == DType::Int || to == DType::Int) {
    if (from == DType::Int || isSigned(from))
      return arith::IndexCastOp::create(builder, loc, type, x);
    return arith::IndexCastUIOp::create(builder, loc, type, x);
  }
  unsigned narrow = dtypeBits(from), wide = dtypeBits(to);
  if (narrow == wide)
    return x;
  if (narrow > wide)
    return arith::TruncIOp::create(builder, loc, type, x);
  if (isSigned(from))
    return arith::ExtSIOp::create(builder, loc, type, x);
  return arith::ExtUIOp::create(builder, loc, type, x);
}

/// Among f16, bf16, f32 and f64.
Value Elementwise::castFloat(Value x, DType from, DType to,
                             checked::Rounding rounding) {
  unsigned narrow = dtypeBits(from), wide = dtypeBits(to);
  if (narrow < wide)
    return arith::ExtFOp::create(builder, loc, like(x, to), x);
  if (narrow == wide) // f16 and bf16: exactly to f32, then round
    return castFloat(castFloat(x, from, DType::F32, rounding), DType::F32, to,
                     rounding);
  if (rounding == checked::Rounding::NearestEven)
    return arith::TruncFOp::create(builder, loc, like(x, to), x);
  static constexpr tile::CastRounding roundings[] = {
      tile::CastRounding::NearestEven, tile::CastRounding::TowardZero,
      tile::CastRounding::Downward, tile::CastRounding::Upward};
  return tile::CastOp::create(builder, loc, like(x, to), x,
                              roundings[static_cast<unsigned>(rounding)]);
}

Value Elementwise::bitcast(Value x, DType from, DType to) {
  if (from == to)
    return x;
  // `int` and tf32 take the way over the type that has their bits.
  if (from == DType::Int)
    return bitcast(cast(x, DType::Int, DType::I64), DType::I64, to);
  if (to == DType::Int)
    return cast(bitcast(x, from, DType::I64), DType::I64, DType::Int);
  if (from == DType::TF32)
    return bitcast(cast(x, DType::TF32, DType::F32), DType::F32, to);
  if (to == DType::TF32)
    return cast(bitcast(x, from, DType::F32), DType::F32, DType::TF32,
                checked::Rounding::TowardZero);
  if (isInteger(from) && isInteger(to))
    return x; // signedness is not in the type
  return arith::BitcastOp::create(builder, loc, like(x, to), x);
}

} // namespace tilec::irgen

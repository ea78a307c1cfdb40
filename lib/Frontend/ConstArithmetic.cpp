//===- ConstArithmetic.cpp - operations on compile-time scalars -----------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Integers of a dtype are computed in 128 bits and wrapped to their width: wide
// enough that nothing but the wrap can lose bits. Weak integers are not
// wrapped. Floats are computed in their own format. Functions with an ulp bound
// are computed by the host in double and rounded, which stays within the bound.
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/ConstEval.h"

#include "llvm/ADT/APSInt.h"
#include <cmath>

using namespace tilec;
using namespace tilec::checked;
using llvm::APFloat;
using llvm::APInt;

static constexpr auto nearest = APFloat::rmNearestTiesToEven;

/// A wide result as a value of the same kind as `like`.
static ConstValue narrow(const ConstValue &like, const APInt &wide) {
  if (like.isWeakInt())
    return ConstValue::weakInt(wide);
  const DType dtype = like.dtype();
  const APInt cut = wide.trunc(dtypeBits(dtype));
  return ConstValue(dtype, isSigned(dtype)
                               ? static_cast<uint64_t>(cut.getSExtValue())
                               : cut.getZExtValue());
}

static EvalResult okay(ConstValue value) { return {std::move(value), {}}; }
static EvalResult failed(EvalFailure failure) {
  return {std::nullopt, failure};
}

/// A float result as a value of the same kind as `like`.
static ConstValue likeFloat(const ConstValue &like, const APFloat &value) {
  return like.isWeakFloat() ? ConstValue::weakFloat(value)
                            : ConstValue::fromFloat(like.dtype(), value);
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// The value in f64, for functions of the host.
static double asDouble(const APFloat &value) {
  APFloat copy = value;
  bool losesInfo;
  copy.convert(APFloat::IEEEdouble(), nearest, &losesInfo);
  return copy.convertToDouble();
}

static std::optional<double> hostFunction(UnaryOp op, double x) {
  switch (op) {
  case UnaryOp::Sqrt:
    return std::sqrt(x);
  case UnaryOp::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryOp::Cbrt:
    return std::cbrt(x);
  case UnaryOp::Exp:
    return std::exp(x);
  case UnaryOp::Exp2:
    return std::exp2(x);
  case UnaryOp::Expm1:
    return std::expm1(x);
  case UnaryOp::Log:
    return std::log(x);
  case UnaryOp::Log2:
    return std::log2(x);
  case UnaryOp::Log10:
    return std::log10(x);
  case UnaryOp::Log1p:
    return std::log1p(x);
  case UnaryOp::Sin:
    return std::sin(x);
  case UnaryOp::Cos:
    return std::cos(x);
  case UnaryOp::Tan:
    return std::tan(x);
  case UnaryOp::Asin:
    return std::asin(x);
  case UnaryOp::Acos:
    return std::acos(x);
  case UnaryOp::Atan:
    return std::atan(x);
  case UnaryOp::Sinh:
    return std::sinh(x);
  case UnaryOp::Cosh:
    return std::cosh(x);
  case UnaryOp::Tanh:
    return std::tanh(x);
  case UnaryOp::Erf:
    return std::erf(x);
  case UnaryOp::Sigmoid:
    return 1 / (1 + std::exp(-x));
  default:
    return std::nullopt; // silu, gelu: left to run time
  }
}

static EvalResult evalFloatUnary(UnaryOp op, const ConstValue &x) {
  APFloat value = x.toFloat();
  switch (op) {
  case UnaryOp::Neg:
    value.changeSign();
    return okay(likeFloat(x, value));
  case UnaryOp::Abs:
    value.clearSign();
    return okay(likeFloat(x, value));
  case UnaryOp::Sign:
    if (value.isNaN() || value.isZero())
      return okay(x);
    return okay(likeFloat(x, APFloat(value.isNegative() ? -1.0 : 1.0)));
  case UnaryOp::Floor:
    value.roundToIntegral(APFloat::rmTowardNegative);
    return okay(likeFloat(x, value));
  case UnaryOp::Ceil:
    value.roundToIntegral(APFloat::rmTowardPositive);
    return okay(likeFloat(x, value));
  case UnaryOp::Trunc:
    value.roundToIntegral(APFloat::rmTowardZero);
    return okay(likeFloat(x, value));
  case UnaryOp::Round:
    value.roundToIntegral(nearest);
    return okay(likeFloat(x, value));
  case UnaryOp::IsNan:
    return okay(ConstValue::boolean(value.isNaN()));
  case UnaryOp::IsInf:
    return okay(ConstValue::boolean(value.isInfinity()));
  case UnaryOp::IsFinite:
    return okay(ConstValue::boolean(value.isFinite()));
  default:
    if (std::optional<double> result = hostFunction(op, asDouble(value)))
      return okay(likeFloat(x, APFloat(*result)));
    return failed(EvalFailure::NotEvaluated);
  }
}

EvalResult tilec::evalUnary(UnaryOp op, const ConstValue &x) {
  const DType dtype = x.dtype();
  if (dtype == DType::Bool)
    return op == UnaryOp::Not ? okay(ConstValue::boolean(!x.isTrue()))
                              : failed(EvalFailure::NotEvaluated);
  if (isFloat(dtype))
    return evalFloatUnary(op, x);
  const APInt wide = x.toWideInt();
  const unsigned width = dtypeBits(dtype);
  const APInt own = wide.trunc(width);
  const APInt zero(wide.getBitWidth(), 0);
  switch (op) {
  case UnaryOp::Neg:
    return okay(narrow(x, -wide));
  case UnaryOp::Not:
    return okay(narrow(x, ~wide));
  case UnaryOp::Abs:
    return okay(narrow(x, wide.isNegative() ? -wide : wide));
  case UnaryOp::Sign:
    return okay(narrow(x, wide.isZero()       ? zero
                          : wide.isNegative() ? zero - 1
                                              : zero + 1));
  case UnaryOp::Popcount:
    return okay(narrow(x, zero + own.popcount()));
  case UnaryOp::Clz:
    return okay(narrow(x, zero + own.countl_zero()));
  case UnaryOp::Ctz:
    return okay(narrow(x, zero + own.countr_zero()));
  default:
    return failed(EvalFailure::NotEvaluated);
  }
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static APFloat modFloat(APFloat x, const APFloat &y) {
  const APFloat divisor = y;
  x.mod(divisor);
  if (x.isZero()) {
    APFloat zero = APFloat::getZero(x.getSemantics(), divisor.isNegative());
    return divisor.isNaN() ? x : zero;
  }
  if (!x.isNaN() && x.isNegative() != divisor.isNegative())
    x.add(divisor, nearest);
  return x;
}

/// As Elementwise::floatFloorDivide of IRGen has it, which is as NumPy's.
static APFloat floorDivFloat(const APFloat &x, const APFloat &y) {
  APFloat ratio = x, rest = x, quotient = x;
  ratio.divide(y, nearest);
  if (y.isZero())
    return ratio;
  rest.mod(y);
  quotient.subtract(rest, nearest);
  quotient.divide(y, nearest);
  if (!rest.isZero() && !rest.isNaN() && rest.isNegative() != y.isNegative())
    quotient.subtract(APFloat::getOne(y.getSemantics()), nearest);
  if (quotient.isFinite())
    quotient.roundToIntegral(nearest);
  return quotient.isZero() ? APFloat::getZero(y.getSemantics(), ratio.isNegative()) : quotient;
}

/// min and max with -0 < +0. `propagate`: NaN wins (min, max) or loses
/// (minnum).
static APFloat minMaxFloat(const APFloat &x, const APFloat &y, bool isMax,
                           bool propagate) {
  if (x.isNaN() || y.isNaN()) {
    const APFloat &nan = x.isNaN() ? x : y;
    const APFloat &other = x.isNaN() ? y : x;
    return propagate ? nan : other;
  }
  if (x.isZero() && y.isZero())
    return (x.isNegative() == isMax) ? y : x;
  const bool xLess = x.compare(y) == APFloat::cmpLessThan;
  return xLess == isMax ? y : x;
}

static EvalResult evalFloatBinary(BinaryOp op, const ConstValue &x,
                                  const ConstValue &y) {
  APFloat a = x.toFloat();
  const APFloat b = y.toFloat();
  switch (op) {
  case BinaryOp::Add:
    a.add(b, nearest);
    break;
  case BinaryOp::Sub:
    a.subtract(b, nearest);
    break;
  case BinaryOp::Mul:
    a.multiply(b, nearest);
    break;
  case BinaryOp::Div:
    a.divide(b, nearest);
    break;
  case BinaryOp::Rem:
    a.mod(b);
    break;
  case BinaryOp::Mod:
    a = modFloat(a, b);
    break;
  case BinaryOp::FloorDiv:
    a = floorDivFloat(a, b);
    break;
  case BinaryOp::Min:
  case BinaryOp::Max:
    a = minMaxFloat(a, b, op == BinaryOp::Max, /*propagate=*/true);
    break;
  case BinaryOp::MinNum:
  case BinaryOp::MaxNum:
    a = minMaxFloat(a, b, op == BinaryOp::MaxNum, /*propagate=*/false);
    break;
  case BinaryOp::Pow:
    return okay(likeFloat(x, APFloat(std::pow(asDouble(a), asDouble(b)))));
  case BinaryOp::Atan2:
    return okay(likeFloat(x, APFloat(std::atan2(asDouble(a), asDouble(b)))));
  default:
    return failed(EvalFailure::NotEvaluated);
  }
  return okay(likeFloat(x, a));
}

static APInt floorDiv(const APInt &a, const APInt &b) {
  const APInt quotient = a.sdiv(b);
  const bool inexact = !a.srem(b).isZero();
  return inexact && a.isNegative() != b.isNegative() ? quotient - 1 : quotient;
}

static APInt ceilDiv(const APInt &a, const APInt &b) {
  const APInt quotient = a.sdiv(b);
  const bool inexact = !a.srem(b).isZero();
  return inexact && a.isNegative() == b.isNegative() ? quotient + 1 : quotient;
}

/// A shift of the value's own width; of weak integers, of 64 bits with check.
static EvalResult evalShift(bool left, const ConstValue &x, const APInt &a,
                            const APInt &amount) {
  const unsigned width = x.isWeakInt() ? a.getBitWidth() : dtypeBits(x.dtype());
  const bool tooFar = amount.isNegative() || amount.sge(width);
  const APInt zero(a.getBitWidth(), 0);
  if (!left)
    return okay(narrow(x, tooFar ? (a.isNegative() ? zero - 1 : zero)
                                 : a.ashr(amount.getZExtValue())));
  if (tooFar)
    return x.isWeakInt() && !amount.isNegative() && !a.isZero()
               ? failed(EvalFailure::Overflow)
               : okay(narrow(x, zero));
  bool overflow = false;
  const APInt shifted = x.isWeakInt() ? a.sshl_ov(amount, overflow)
                                      : a.shl(amount.getZExtValue());
  return overflow ? failed(EvalFailure::Overflow) : okay(narrow(x, shifted));
}

static EvalResult evalIntDivision(BinaryOp op, const ConstValue &x,
                                  const APInt &a, const APInt &b) {
  if (b.isZero())
    return failed(EvalFailure::DivisionByZero);
  switch (op) {
  case BinaryOp::Div:
    return okay(narrow(x, a.sdiv(b)));
  case BinaryOp::Rem:
    return okay(narrow(x, a.srem(b)));
  case BinaryOp::FloorDiv:
    return okay(narrow(x, floorDiv(a, b)));
  case BinaryOp::CeilDiv:
    return okay(narrow(x, ceilDiv(a, b)));
  default: // Mod
    return okay(narrow(x, a - floorDiv(a, b) * b));
  }
}

static EvalResult evalIntBinary(BinaryOp op, const ConstValue &x,
                                const ConstValue &y) {
  const APInt a = x.toWideInt(), b = y.toWideInt();
  const bool isWeak = x.isWeakInt();
  bool overflow = false;
  APInt result = a;
  switch (op) {
  case BinaryOp::Add:
    result = a.sadd_ov(b, overflow);
    break;
  case BinaryOp::Sub:
    result = a.ssub_ov(b, overflow);
    break;
  case BinaryOp::Mul:
    // Two 64-bit operands fit, but for u64 squared, whose low half is right.
    result = isWeak ? a.smul_ov(b, overflow) : a * b;
    break;
  case BinaryOp::Div:
  case BinaryOp::Rem:
  case BinaryOp::FloorDiv:
  case BinaryOp::CeilDiv:
  case BinaryOp::Mod:
    return evalIntDivision(op, x, a, b);
  case BinaryOp::And:
    result = a & b;
    break;
  case BinaryOp::Or:
    result = a | b;
    break;
  case BinaryOp::Xor:
    result = a ^ b;
    break;
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return evalShift(op == BinaryOp::Shl, x, a, b);
  case BinaryOp::Min:
  case BinaryOp::MinNum:
    result = a.slt(b) ? a : b;
    break;
  case BinaryOp::Max:
  case BinaryOp::MaxNum:
    result = a.sgt(b) ? a : b;
    break;
  case BinaryOp::MulHi:
    result = (a * b).ashr(dtypeBits(x.dtype()));
    break;
  default:
    return failed(EvalFailure::NotEvaluated);
  }
  if (isWeak && overflow)
    return failed(EvalFailure::Overflow);
  return okay(narrow(x, result));
}

EvalResult tilec::evalBinary(BinaryOp op, const ConstValue &x,
                             const ConstValue &y) {
  const DType dtype = x.dtype();
  if (isFloat(dtype))
    return evalFloatBinary(op, x, y);
  if (dtype != DType::Bool)
    return evalIntBinary(op, x, y);
  switch (op) {
  case BinaryOp::And:
    return okay(ConstValue::boolean(x.isTrue() && y.isTrue()));
  case BinaryOp::Or:
    return okay(ConstValue::boolean(x.isTrue() || y.isTrue()));
  case BinaryOp::Xor:
    return okay(ConstValue::boolean(x.isTrue() != y.isTrue()));
  default:
    return failed(EvalFailure::NotEvaluated);
  }
}

bool tilec::evalCompare(CompareOp op, const ConstValue &x,
                        const ConstValue &y) {
  APFloat::cmpResult order;
  if (isFloat(x.dtype())) {
    order = x.toFloat().compare(y.toFloat());
  } else {
    const APInt a = x.toWideInt(), b = y.toWideInt();
    order = a == b     ? APFloat::cmpEqual
            : a.slt(b) ? APFloat::cmpLessThan
                       : APFloat::cmpGreaterThan;
  }
  switch (op) {
  case CompareOp::Eq:
    return order == APFloat::cmpEqual;
  case CompareOp::Ne:
    return order != APFloat::cmpEqual;
  case CompareOp::Lt:
    return order == APFloat::cmpLessThan;
  case CompareOp::Le:
    return order == APFloat::cmpLessThan || order == APFloat::cmpEqual;
  case CompareOp::Gt:
    return order == APFloat::cmpGreaterThan;
  case CompareOp::Ge:
    return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
  }
  return false;
}

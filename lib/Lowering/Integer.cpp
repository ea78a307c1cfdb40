//===- Integer.cpp - division and shifts without undefined cases -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What the language defines and arith leaves open: divisors of 0 and -1 are replaced
// by one (the quotient of -1 is the negated dividend), and amounts of shifts are cut.
// A division by zero gives 0 and the dividend as remainder, as the interpreter has it:
// unspecified in the language, but the same everywhere, and what Analysis/IndexFacts.cpp
// counts on. Constant operands need none of this.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

namespace {

/// Integer arithmetic on values of one type.
struct Integers {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(int64_t value) const {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = builder.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value cmp(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value equals(Value a, int64_t b) const {
    return cmp(arith::CmpIPredicate::eq, a, constant(b));
  }
  Value differs(Value a, int64_t b) const {
    return cmp(arith::CmpIPredicate::ne, a, constant(b));
  }
  Value select(Value c, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value band(Value a, Value b) const { return arith::AndIOp::create(builder, loc, a, b); }
  Value bor(Value a, Value b) const { return arith::OrIOp::create(builder, loc, a, b); }
  Value bxor(Value a, Value b) const { return arith::XOrIOp::create(builder, loc, a, b); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) const { return arith::MulIOp::create(builder, loc, a, b); }

  /// A constant divisor that needs no guard.
  static bool isHarmless(Value divisor) {
    APInt value;
    return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() &&
           !value.isAllOnes();
  }

  struct Division {
    Value quotient, remainder; ///< rounded toward zero
    Value isByZero;            ///< null when the divisor is known
  };

  Division divide(Value a, Value b, bool isSigned) const {
    auto quotientOf = [&](Value divisor) -> Value {
      return isSigned ? arith::DivSIOp::create(builder, loc, a, divisor).getResult()
                      : arith::DivUIOp::create(builder, loc, a, divisor).getResult();
    };
    if (isHarmless(b)) {
      Value quotient = quotientOf(b);
      return {quotient, sub(a, mul(quotient, b)), {}};
    }
    Value isByZero = equals(b, 0);
    Value isMinusOne = isSigned ? equals(b, -1) : Value();
    Value replaced = isSigned ? bor(isByZero, isMinusOne) : isByZero;
    Value safe = select(replaced, constant(1), b);
    Value quotient = quotientOf(safe);
    Value remainder = select(isByZero, a, sub(a, mul(quotient, safe)));
    if (isSigned)
      quotient = select(isMinusOne, sub(constant(0), a), quotient);
    return {quotient, remainder, isByZero};
  }
};

} // namespace

LogicalResult Emitter::emitDivide(tile::DivideOp op) {
  Integers ints{builder, loc, lowerType(op.getType())};
  Value a = get(op.getLhs()), b = get(op.getRhs());
  bool isSigned = op.getSignedness() == tile::Signedness::Signed;
  auto [quotient, remainder, isByZero] = ints.divide(a, b, isSigned);
  auto finish = [&](Value result) {
    set(op, isByZero ? ints.select(isByZero, ints.constant(0), result) : result);
    return success();
  };
  if (op.getRounding() == tile::QuotientRounding::Trunc ||
      (op.getRounding() == tile::QuotientRounding::Floor && !isSigned))
    return finish(quotient);
  Value isInexact = ints.differs(remainder, 0);
  Value step = isInexact;
  if (isSigned) {
    // The exact quotient is negative where the signs differ.
    Value isNegative = ints.cmp(arith::CmpIPredicate::slt, ints.bxor(a, b), ints.constant(0));
    Value isPositive = ints.cmp(arith::CmpIPredicate::sge, ints.bxor(a, b), ints.constant(0));
    step = ints.band(isInexact, op.getRounding() == tile::QuotientRounding::Floor
                                    ? isNegative
                                    : isPositive);
  }
  Value one = ints.constant(1);
  Value next = op.getRounding() == tile::QuotientRounding::Floor ? ints.sub(quotient, one)
                                                                : ints.add(quotient, one);
  return finish(ints.select(step, next, quotient));
}

LogicalResult Emitter::emitRemainder(tile::RemainderOp op) {
  Integers ints{builder, loc, lowerType(op.getType())};
  Value a = get(op.getLhs()), b = get(op.getRhs());
  bool isSigned = op.getSignedness() == tile::Signedness::Signed;
  Value remainder = ints.divide(a, b, isSigned).remainder;
  if (op.getRounding() == tile::QuotientRounding::Floor && isSigned) {
    Value isNegative =
        ints.cmp(arith::CmpIPredicate::slt, ints.bxor(remainder, b), ints.constant(0));
    Value step = ints.band(ints.differs(remainder, 0), isNegative);
    remainder = ints.select(step, ints.add(remainder, b), remainder);
  }
  set(op, remainder);
  return success();
}

LogicalResult Emitter::emitShift(tile::ShiftOp op) {
  Type type = lowerType(op.getType());
  Integers ints{builder, loc, type};
  Value value = get(op.getValue()), amount = get(op.getAmount());
  Type element = getElementTypeOrSelf(type);
  int64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Value last = ints.constant(width - 1);
  if (op.getKind() == tile::ShiftKind::RightSigned) {
    Value cut = arith::MinUIOp::create(builder, loc, amount, last);
    set(op, arith::ShRSIOp::create(builder, loc, value, cut));
    return success();
  }
  Value isInside = ints.cmp(arith::CmpIPredicate::ule, amount, last);
  Value safe = ints.select(isInside, amount, ints.constant(0));
  Value shifted = op.getKind() == tile::ShiftKind::Left
                      ? arith::ShLIOp::create(builder, loc, value, safe).getResult()
                      : arith::ShRUIOp::create(builder, loc, value, safe).getResult();
  set(op, ints.select(isInside, shifted, ints.constant(0)));
  return success();
}

//===- MathBuilder.h - arithmetic on one float format ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What ExpandMath writes its formulas in: a builder for values of one type (f32
// or f64, scalar, vector or tensor) and integers of the same width and shape.
// Nothing here has flags: each operation rounds once, so that a formula has the
// same result bits on every machine.
//
//   Value r = m.fma(n, m.f(-0.69314575), x);      // r = x - n * ln2 (high part)
//   Value y = m.select(m.lt(x, m.f(0)), m.nan(), r);
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_MATHBUILDER_H
#define TILEC_LIB_TRANSFORMS_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

namespace tilec {

/// Coefficients for both formats, lowest order first.
struct Polynomial {
  llvm::ArrayRef<double> f32;
  llvm::ArrayRef<double> f64;
};

class MathBuilder {
public:
  using Value = mlir::Value;

  /// For values of `type`: f32 or f64, or a vector or tensor of those.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), floatType(type),
        isDouble(mlir::getElementTypeOrSelf(type).isF64()) {
    mlir::Type bits = builder.getIntegerType(isDouble ? 64 : 32);
    auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
    intType = shaped ? mlir::Type(shaped.clone(bits)) : bits;
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType;
  mlir::Type intType;
  bool isDouble;

  // The format.
  int mantissaBits() const { return isDouble ? 52 : 23; } ///< stored ones
  int bias() const { return isDouble ? 1023 : 127; }
  int minExponent() const { return isDouble ? -1022 : -126; }

  // Constants. f() takes a value that the format holds, or rounds it.
  Value f(double value);
  /// The constant of this format.
  Value f(double single, double full) { return f(isDouble ? full : single); }
  Value i(int64_t value);
  Value inf() { return f(std::numeric_limits<double>::infinity()); }
  Value nan() { return f(std::numeric_limits<double>::quiet_NaN()); }
  Value zero() { return f(0.0); }
  Value one() { return f(1.0); }

  // Arithmetic, each rounded once to nearest even.
  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return make<mlir::math::FmaOp>(a, b, c); }
  Value neg(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value abs(Value a) { return make<mlir::math::AbsFOp>(a); }
  Value sqrt(Value a) { return make<mlir::math::SqrtOp>(a); }
  Value copySign(Value magnitude, Value sign) {
    return make<mlir::math::CopySignOp>(magnitude, sign);
  }
  /// Smaller and larger; NaN when either is.
  Value min(Value a, Value b) { return make<mlir::arith::MinimumFOp>(a, b); }
  Value max(Value a, Value b) { return make<mlir::arith::MaximumFOp>(a, b); }
  /// a within [0, 1]; 0 for NaN. The assembler makes it part of a's instruction.
  Value saturate(Value a) {
    Value least = make<mlir::arith::MaxNumFOp>(a, zero());
    return make<mlir::arith::MinNumFOp>(least, one());
  }

  // Comparisons: false for NaN, but for isNaN and ne.
  Value lt(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  Value le(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLE, a, b); }
  Value gt(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OGT, a, b); }
  Value ge(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OGE, a, b); }
  Value eq(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  Value ne(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::UNE, a, b); }
  Value isNaN(Value a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  Value select(Value condition, Value yes, Value no) {
    return make<mlir::arith::SelectOp>(condition, yes, no);
  }
  Value both(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return make<mlir::arith::OrIOp>(a, b); }

  // Bits and integers of the same width.
  Value bits(Value a) {
    return mlir::arith::BitcastOp::create(builder, loc, intType, a);
  }
  Value fromBits(Value a) {
    return mlir::arith::BitcastOp::create(builder, loc, floatType, a);
  }
  Value iadd(Value a, Value b) { return make<mlir::arith::AddIOp>(a, b); }
  Value isub(Value a, Value b) { return make<mlir::arith::SubIOp>(a, b); }
  Value imul(Value a, Value b) { return make<mlir::arith::MulIOp>(a, b); }
  Value iand(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value ior(Value a, Value b) { return make<mlir::arith::OrIOp>(a, b); }
  Value ixor(Value a, Value b) { return make<mlir::arith::XOrIOp>(a, b); }
  Value shl(Value a, Value b) { return make<mlir::arith::ShLIOp>(a, b); }
  Value shr(Value a, Value b) { return make<mlir::arith::ShRUIOp>(a, b); }
  Value sar(Value a, Value b) { return make<mlir::arith::ShRSIOp>(a, b); }
  Value udiv(Value a, Value b) { return make<mlir::arith::DivUIOp>(a, b); }
  Value umin(Value a, Value b) { return make<mlir::arith::MinUIOp>(a, b); }
  Value umax(Value a, Value b) { return make<mlir::arith::MaxUIOp>(a, b); }
  Value uge(Value a, Value b) { return icompare(mlir::arith::CmpIPredicate::uge, a, b); }
  Value ieq(Value a, Value b) { return icompare(mlir::arith::CmpIPredicate::eq, a, b); }
  Value ilt(Value a, Value b) { return icompare(mlir::arith::CmpIPredicate::slt, a, b); }
  Value igt(Value a, Value b) { return icompare(mlir::arith::CmpIPredicate::sgt, a, b); }
  Value toFloat(Value a) {
    return mlir::arith::SIToFPOp::create(builder, loc, floatType, a);
  }

  // Composites.
  /// The polynomial in x by Horner's rule: c[0] + x * (c[1] + x * …).
  Value horner(const Polynomial &polynomial, Value x);
  Value horner(llvm::ArrayRef<double> coefficients, Value x);
  /// x rounded to an integer (half to even), as a float and as an integer.
  /// Right for |x| < 2^(mantissaBits - 1); anything, but no trap, beyond.
  struct Rounded {
    Value asFloat;
    Value asInt;
  };
  Rounded roundSmall(Value x);
  /// The same for x * factor, which is rounded only once.
  Rounded roundSmallProduct(Value x, Value factor);
  /// 2^n for integer n in [minExponent, bias].
  Value powerOfTwo(Value n);
  /// A rounded value as a float, and as the exponent of a power of two: 2 * bias is
  /// added in the bits of the rounding sum already, so that no integer addition is
  /// needed to make the power.
  struct Exponent {
    Value asFloat; ///< n
    Value bits;    ///< n + offset + 2 * bias in the low bits
  };
  /// x * factor rounded to n, |n| < 1.9 * bias; a null factor is 1.
  Exponent roundToExponent(Value x, Value factor, int offset = 0);
  /// a * 2^(n + offset) with one rounding, for a in [1/4, 4].
  Value scale(Value a, Exponent exponent);
  /// Mantissa in [sqrt(1/2), sqrt(2)) and exponent of a positive finite x,
  /// subnormals too.
  struct Split {
    Value mantissa;
    Value exponent; ///< as an integer
  };
  Split split(Value x);

  /// A pair whose sum is the value, |low| <= ulp(high) / 2.
  struct Pair {
    Value high;
    Value low;
  };
  /// a + b exactly, for |a| >= |b| or a = 0.
  Pair fastTwoSum(Value a, Value b);
  /// a + b exactly.
  Pair twoSum(Value a, Value b);
  /// a * b exactly, barring underflow.
  Pair twoProduct(Value a, Value b);

private:
  Rounded fromShifted(Value shifted);
  double shift() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }

  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(builder, loc, args...);
  }
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value icompare(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
};

// The polynomials of MathPolynomials.def: expF32Data, …
#define TILEC_POLYNOMIAL(name, ...)                                            \
  inline constexpr double name##Data[] = {__VA_ARGS__};
#include "MathPolynomials.def"
#undef TILEC_POLYNOMIAL

} // namespace tilec
#endif // TILEC_LIB_TRANSFORMS_MATHBUILDER_H

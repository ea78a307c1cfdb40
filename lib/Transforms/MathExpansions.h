//===- MathExpansions.h - one expansion a function -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What ExpandMath dispatches to. Operands and results are of the builder's float
// type. The file that defines a function derives it; the bound in its comment is
// what the unit tests measure.
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_MATHEXPANSIONS_H
#define TILEC_LIB_TRANSFORMS_MATHEXPANSIONS_H

#include "MathBuilder.h"

namespace tilec {

// MathExponential.cpp
mlir::Value expandExp(MathBuilder &m, mlir::Value x);
mlir::Value expandExp2(MathBuilder &m, mlir::Value x);
/// A power in f32 as 2^fraction * 2^n: what is left is the unit's part.
struct UnitPower {
  mlir::Value fraction;
  mlir::Value exponent; ///< n in the field of an f32's exponent, as an integer
};
/// `isOrdinary`: |x| is at most `ordinaryExponent`.
UnitPower splitExp(MathBuilder &m, mlir::Value x, bool isOrdinary);
inline constexpr double ordinaryExponent = 64;
/// The same of 2^106 e^x for x <= 0: never subnormal, and n >= 0, where 0 leaves what the
/// unit gives as it is.
UnitPower splitLargeExp(MathBuilder &m, mlir::Value x);
mlir::Value expandExpm1(MathBuilder &m, mlir::Value x);
mlir::Value expandSinh(MathBuilder &m, mlir::Value x);
mlir::Value expandCosh(MathBuilder &m, mlir::Value x);
mlir::Value expandTanh(MathBuilder &m, mlir::Value x);
mlir::Value expandErf(MathBuilder &m, mlir::Value x);

// MathLogarithm.cpp
mlir::Value expandLog(MathBuilder &m, mlir::Value x);
mlir::Value expandLog2(MathBuilder &m, mlir::Value x);
mlir::Value expandLog10(MathBuilder &m, mlir::Value x);
mlir::Value expandLog1p(MathBuilder &m, mlir::Value x);
mlir::Value expandPow(MathBuilder &m, mlir::Value x, mlir::Value y);

// MathTrigonometric.cpp
mlir::Value expandSin(MathBuilder &m, mlir::Value x);
mlir::Value expandCos(MathBuilder &m, mlir::Value x);
mlir::Value expandTan(MathBuilder &m, mlir::Value x);
mlir::Value expandAsin(MathBuilder &m, mlir::Value x);
mlir::Value expandAcos(MathBuilder &m, mlir::Value x);
mlir::Value expandAtan(MathBuilder &m, mlir::Value x);
mlir::Value expandAtan2(MathBuilder &m, mlir::Value y, mlir::Value x);

// MathAlgebraic.cpp
mlir::Value expandCbrt(MathBuilder &m, mlir::Value x);
mlir::Value expandRsqrt(MathBuilder &m, mlir::Value x);
/// C's fmod, exact; by a loop, so not on tensors.
mlir::Value expandRemainder(MathBuilder &m, mlir::Value x, mlir::Value y);

} // namespace tilec
#endif // TILEC_LIB_TRANSFORMS_MATHEXPANSIONS_H

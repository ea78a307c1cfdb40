//===- ReducePeriod.h - angles to a quarter turn ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first step of sin, cos and tan. See ReducePeriod.cpp.
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_REDUCEPERIOD_H
#define TILEC_LIB_TRANSFORMS_REDUCEPERIOD_H

#include "MathBuilder.h"

namespace tilec {

/// x = quadrant * pi/2 + high + low, |high| < 0.8, quadrant modulo 4 (any
/// representative). Anything for infinities and NaN.
struct ReducedAngle {
  mlir::Value high;
  mlir::Value low;
  mlir::Value quadrant;
};

/// Reduces x; on scalars and vectors with a branch for large operands.
ReducedAngle reducePeriod(MathBuilder &m, mlir::Value x);

} // namespace tilec
#endif // TILEC_LIB_TRANSFORMS_REDUCEPERIOD_H

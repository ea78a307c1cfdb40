//===- SmallFloat.h - 16- and 8-bit floats on the host ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Bits of f16, bf16, f8e4m3 and f8e5m2 ↔ double, for scalar arguments, host arrays
// and `.npy` files of the runtime side, which links no LLVM. Same values as the
// language's `.to()`: rounding to nearest even; f16 and bf16 overflow to inf; f8
// saturates to its largest finite value (inf too), NaN stays NaN.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_SMALLFLOAT_H
#define TILEC_SUPPORT_SMALLFLOAT_H

#include "tilec/Support/DType.h"

namespace tilec {

/// The value of the bits of a float dtype (any but bool and integers).
double decodeSmallFloat(DType dtype, uint64_t bits);

/// The bits of `v` in a float dtype (f64 and f32 too).
uint64_t encodeSmallFloat(DType dtype, double v);

} // namespace tilec

#endif // TILEC_SUPPORT_SMALLFLOAT_H

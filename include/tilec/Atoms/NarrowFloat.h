//===- NarrowFloat.h - code for conversions of narrow floats --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Conversions that not every chip has, or not with the language's rules. With a chip
// that has the instruction and gives the language's bits, it is used:
//
//   f32 -> f8   cvt.rn.satfinite.{e4m3,e5m2}x2.f32   where there are f8 conversions
//   f8 -> f16   cvt.rn.f16x2.e4m3x2                  likewise (e5m2 is half an f16)
//
// Everything else is integer code, the same on each chip and the CPU: tf32, whose
// instruction of the first chips rounds halves away from zero, and the directed
// roundings, of which no chip has all. All functions take and give scalars or vectors.
// f8 values are i8 here, tf32 values f32.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_NARROWFLOAT_H
#define TILEC_ATOMS_NARROWFLOAT_H

#include "tilec/Support/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tilec {

/// f8E5M2 or f8E4M3FN (as i8) to f32, exactly. `chip` may be null: any.
mlir::Value emitFloat8ToF32(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, bool isE5M2, const Chip *chip = nullptr);

/// f32 to f8E5M2 or f8E4M3FN (as i8), to nearest even, saturating.
mlir::Value emitF32ToFloat8(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, bool isE5M2, const Chip *chip);

enum class FloatRounding { NearestEven, TowardZero, Downward, Upward };

/// A binary format of at most 16 significant bits, or tf32.
struct NarrowFormat {
  unsigned mantissaBits;
  int minExponent;     ///< of the smallest normal number
  uint32_t maxFinite;  ///< bits of the largest finite number
  uint32_t infinity;   ///< bits of infinity (unused when saturating)
  uint32_t nan;        ///< bits of a NaN
  unsigned width;      ///< bits in all
  bool saturates;      ///< beyond maxFinite, infinity too, becomes maxFinite

  static NarrowFormat f16();
  static NarrowFormat bf16();
  static NarrowFormat tf32(); ///< as the upper 19 bits of an f32
  static NarrowFormat f8e4m3();
  static NarrowFormat f8e5m2();
};

/// The bits (i32) of f32 `value` rounded to `format`.
mlir::Value emitF32ToNarrow(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, const NarrowFormat &format,
                            FloatRounding rounding);

/// f64 to f32, where an inexact result has an odd last bit. Rounding that to a
/// format with at least two bits less is rounding the f64 (Boldo and Melquiond,
/// "Emulation of a FMA and correctly rounded sums", 2008).
mlir::Value emitF64ToF32Odd(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value);

/// f64 to f32 in the given rounding.
mlir::Value emitF64ToF32(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, FloatRounding rounding);

} // namespace tilec

#endif // TILEC_ATOMS_NARROWFLOAT_H

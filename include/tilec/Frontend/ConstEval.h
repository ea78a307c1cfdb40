//===- ConstEval.h - compile-time values and their arithmetic ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A compile-time scalar is a value of a dtype, or a weak literal that takes the
// dtype of what it meets. Operations here give what the language says that the
// same operation gives at run time: integers wrap at their width, shifts and
// divisions are defined everywhere but for a zero divisor, floats round once
// to the dtype. Weak integers have 128 bits and weak floats 113 bits of
// precision; a weak float that is a plain literal keeps its digits, so that it
// is rounded from decimal to its dtype once.
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_CONSTEVAL_H
#define TILEC_FRONTEND_CONSTEVAL_H

#include "tilec/Frontend/Checked.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <optional>

namespace tilec {

class ConstValue {
public:
  enum class Kind : uint8_t { WeakInt, WeakFloat, Typed };

  /// 0 of `int`.
  ConstValue() : ConstValue(DType::Int, 0) {}
  /// `bits` as in checked::ConstantExpr.
  ConstValue(DType dtype, uint64_t bits) : theKind(Kind::Typed), theDType(dtype), theBits(bits) {}

  static ConstValue boolean(bool value) { return ConstValue(DType::Bool, value); }
  static ConstValue integer(int64_t value) { return ConstValue(DType::Int, static_cast<uint64_t>(value)); }
  static ConstValue weakInt(const llvm::APInt &value);
  static ConstValue weakInt(uint64_t magnitude, bool negative);
  /// `digits`: the literal without sign and `_`; `inf` and `nan` too.
  static ConstValue weakFloat(llvm::StringRef digits, bool negative);
  static ConstValue weakFloat(const llvm::APFloat &value);
  static ConstValue fromFloat(DType dtype, const llvm::APFloat &value);

  Kind kind() const { return theKind; }
  bool isWeak() const { return theKind != Kind::Typed; }
  bool isWeakInt() const { return theKind == Kind::WeakInt; }
  bool isWeakFloat() const { return theKind == Kind::WeakFloat; }
  /// The dtype; of a weak value the one that it has alone: int or f32.
  DType dtype() const {
    return theKind == Kind::WeakInt ? DType::Int : theKind == Kind::WeakFloat ? DType::F32 : theDType;
  }
  /// Encoding of a typed value.
  uint64_t bits() const { return theBits; }
  bool isTrue() const { return theBits != 0; }
  /// Of a typed float or weak float, exact.
  llvm::APFloat toFloat() const;
  /// Of an integer, `int`, bool or weak integer: its value when it fits.
  std::optional<int64_t> toInt64() const;
  /// Of an integer, in 128 bits.
  llvm::APInt toWideInt() const;

  /// As in source: `128`, `0.5`, `-inf`, `true`.
  std::string str() const;

private:
  Kind theKind;
  DType theDType{};
  uint64_t theBits = 0;
  std::optional<llvm::APInt> wide;
  std::optional<llvm::APFloat> real;
  llvm::StringRef digits; // of a plain weak float literal, else empty
  bool negative = false;

  friend std::optional<ConstValue> convertWeak(const ConstValue &, DType);
  friend std::optional<ConstValue> negateWeak(const ConstValue &);
};

/// Whether `dtype` has arithmetic, comparison and math (type-C1).
bool isComputeFloat(DType dtype);
const llvm::fltSemantics &floatSemantics(DType dtype);

/// A weak value as `dtype`; nothing when it does not fit (lit-C1): an integer
/// out of range, a float literal for an integer, a finite one that overflows.
std::optional<ConstValue> convertWeak(const ConstValue &value, DType dtype);
/// The weak value with the dtype it has alone; nothing when it does not fit.
std::optional<ConstValue> strengthen(const ConstValue &value);

/// `.to(dtype)` of a typed value.
ConstValue evalCast(const ConstValue &value, DType dtype,
                    checked::Rounding rounding = checked::Rounding::NearestEven);

/// Why there is no value.
enum class EvalFailure : uint8_t { DivisionByZero, Overflow, NotEvaluated };
struct EvalResult {
  std::optional<ConstValue> value;
  EvalFailure failure = EvalFailure::NotEvaluated;
};

/// Operands are of one dtype that the operation accepts, or weak of one kind.
/// A weak integer result that needs more than 128 bits is Overflow.
EvalResult evalUnary(checked::UnaryOp op, const ConstValue &x);
EvalResult evalBinary(checked::BinaryOp op, const ConstValue &x, const ConstValue &y);
bool evalCompare(checked::CompareOp op, const ConstValue &x, const ConstValue &y);

} // namespace tilec

#endif // TILEC_FRONTEND_CONSTEVAL_H

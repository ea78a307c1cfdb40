//===- ConstEval.cpp - compile-time values and conversions ----------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Representation, literals and conversions of compile-time scalars; their
// arithmetic is in ConstArithmetic.cpp. APFloat does all rounding, so results
// do not depend on the host.
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/ConstEval.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"

using namespace tilec;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

static constexpr unsigned weakIntBits = 128;

bool tilec::isComputeFloat(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32 ||
         dtype == DType::F64;
}

const llvm::fltSemantics &tilec::floatSemantics(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F64:
    return APFloat::IEEEdouble();
  case DType::TF32:
    return APFloat::FloatTF32();
  case DType::F8E4M3:
    return APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return APFloat::Float8E5M2();
  default:
    return APFloat::IEEEsingle();
  }
}

static APFloat
convertTo(APFloat value, const llvm::fltSemantics &semantics,
          APFloat::roundingMode mode = APFloat::rmNearestTiesToEven) {
  bool losesInfo;
  value.convert(semantics, mode, &losesInfo);
  return value;
}

//===----------------------------------------------------------------------===//
// Construction and reading
//===----------------------------------------------------------------------===//

ConstValue ConstValue::weakInt(const APInt &value) {
  ConstValue result;
  result.theKind = Kind::WeakInt;
  result.wide = value;
  return result;
}

ConstValue ConstValue::weakInt(uint64_t magnitude, bool negative) {
  APInt value(weakIntBits, magnitude);
  return weakInt(negative ? -value : value);
}

ConstValue ConstValue::weakFloat(const APFloat &value) {
  ConstValue result;
  result.theKind = Kind::WeakFloat;
  result.real = convertTo(value, APFloat::IEEEquad());
  return result;
}

/// A decimal literal rounded once; NaN when the text is not a number.
static APFloat parseFloat(const llvm::fltSemantics &semantics,
                          llvm::StringRef digits) {
  APFloat value(semantics);
  if (!llvm::errorToBool(
          value.convertFromString(digits, APFloat::rmNearestTiesToEven)
              .takeError()))
    return value;
  return APFloat::getNaN(semantics);
}

ConstValue ConstValue::weakFloat(llvm::StringRef digits, bool negative) {
  const llvm::fltSemantics &quad = APFloat::IEEEquad();
  APFloat value = digits == "inf"   ? APFloat::getInf(quad)
                  : digits == "nan" ? APFloat::getNaN(quad)
                                    : parseFloat(quad, digits);
  if (negative)
    value.changeSign();
  ConstValue result = weakFloat(value);
  if (value.isFinite())
    result.digits = digits;
  result.negative = negative;
  return result;
}

/// Encodes a float that has the dtype's semantics.
static uint64_t encode(DType dtype, const APFloat &value) {
  // tf32 is kept as the f32 of equal value.
  const APFloat stored =
      dtype == DType::TF32 ? convertTo(value, APFloat::IEEEsingle()) : value;
  return stored.bitcastToAPInt().getZExtValue();
}

ConstValue ConstValue::fromFloat(DType dtype, const APFloat &value) {
  return ConstValue(dtype,
                    encode(dtype, convertTo(value, floatSemantics(dtype))));
}

APFloat ConstValue::toFloat() const {
  if (theKind == Kind::WeakFloat)
    return *real;
  if (theDType == DType::TF32)
    return convertTo(APFloat(APFloat::IEEEsingle(), APInt(32, theBits)),
                     APFloat::FloatTF32());
  return APFloat(floatSemantics(theDType), APInt(dtypeBits(theDType), theBits));
}

APInt ConstValue::toWideInt() const {
  if (theKind == Kind::WeakInt)
    return *wide;
  return APInt(weakIntBits, theBits, isSigned(theDType));
}

std::optional<int64_t> ConstValue::toInt64() const {
  APInt value = toWideInt();
  if (!value.isSignedIntN(64))
    return std::nullopt;
  return value.getSExtValue();
}

std::string ConstValue::str() const {
  if (theKind == Kind::Typed && theDType == DType::Bool)
    return theBits ? "true" : "false";
  if (theKind == Kind::WeakFloat ||
      (theKind == Kind::Typed && isFloat(theDType))) {
    if (!digits.empty())
      return (negative ? "-" : "") + digits.str();
    APFloat value = toFloat();
    if (value.isNaN())
      return "nan";
    if (value.isInfinity())
      return value.isNegative() ? "-inf" : "inf";
    if (theKind == Kind::WeakFloat)
      value = convertTo(value, APFloat::IEEEdouble());
    // The fewest digits that give the value back.
    llvm::SmallString<32> text;
    for (unsigned digits = 1; digits < 40; ++digits) {
      text.clear();
      value.toString(text, digits, 6);
      if (parseFloat(value.getSemantics(), text).bitwiseIsEqual(value))
        break;
    }
    if (text.find_first_of(".E") == llvm::StringRef::npos)
      text += ".0";
    return std::string(text);
  }
  llvm::SmallString<40> text;
  toWideInt().toString(text, 10, /*Signed=*/true);
  return std::string(text);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

std::optional<ConstValue> tilec::convertWeak(const ConstValue &value,
                                             DType dtype) {
  if (value.isWeakFloat()) {
    if (!isFloat(dtype))
      return std::nullopt;
    if (isF8(dtype) || value.digits.empty()) {
      // Typed by the f32 or exact value: f8 saturates, as its conversions do.
      APFloat real = *value.real;
      if (isF8(dtype))
        return evalCast(ConstValue::fromFloat(DType::F64, real), dtype);
      APFloat rounded = convertTo(real, floatSemantics(dtype));
      if (real.isFinite() && !rounded.isFinite())
        return std::nullopt;
      return ConstValue(dtype, encode(dtype, rounded));
    }
    APFloat rounded = parseFloat(floatSemantics(dtype), value.digits);
    if (!rounded.isFinite())
      return std::nullopt;
    if (value.negative)
      rounded.changeSign();
    return ConstValue(dtype, encode(dtype, rounded));
  }
  const APInt &wide = *value.wide;
  if (dtype == DType::Bool)
    return std::nullopt;
  if (isFloat(dtype)) {
    APFloat real(isF8(dtype) ? APFloat::IEEEdouble() : floatSemantics(dtype));
    real.convertFromAPInt(wide, /*IsSigned=*/true,
                          APFloat::rmNearestTiesToEven);
    if (!real.isFinite())
      return std::nullopt;
    if (isF8(dtype))
      return evalCast(ConstValue::fromFloat(DType::F64, real), dtype);
    return ConstValue(dtype, encode(dtype, real));
  }
  const unsigned bits = dtypeBits(dtype);
  const bool fits = isSigned(dtype) ? wide.isSignedIntN(bits)
                                    : !wide.isNegative() && wide.isIntN(bits);
  if (!fits)
    return std::nullopt;
  return ConstValue(dtype, wide.trunc(64).getZExtValue());
}

std::optional<ConstValue> tilec::strengthen(const ConstValue &value) {
  if (!value.isWeak())
    return value;
  return convertWeak(value, value.dtype());
}

/// Integer bits cut to the dtype's width and extended to 64 again.
static uint64_t wrap(DType dtype, uint64_t bits) {
  const unsigned width = dtypeBits(dtype);
  if (width == 64)
    return bits;
  const unsigned unused = 64 - width;
  if (isSigned(dtype))
    return static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >>
                                 unused);
  return bits << unused >> unused;
}

static ConstValue castFloatToFloat(const APFloat &value, DType dtype,
                                   checked::Rounding rounding) {
  static constexpr APFloat::roundingMode modes[] = {
      APFloat::rmNearestTiesToEven, APFloat::rmTowardZero,
      APFloat::rmTowardNegative, APFloat::rmTowardPositive};
  const llvm::fltSemantics &semantics = floatSemantics(dtype);
  if (!isF8(dtype))
    return ConstValue(
        dtype,
        encode(dtype, convertTo(value, semantics, modes[unsigned(rounding)])));
  if (value.isNaN())
    return ConstValue(
        dtype, encode(dtype, APFloat::getNaN(semantics, value.isNegative())));
  const APFloat largest = APFloat::getLargest(semantics, value.isNegative());
  APFloat rounded = value.isInfinity() ? largest : convertTo(value, semantics);
  if (!rounded.isFinite())
    rounded = largest;
  return ConstValue(dtype, encode(dtype, rounded));
}

static ConstValue castFromFloat(const APFloat &value, DType dtype,
                                checked::Rounding rounding) {
  if (isFloat(dtype))
    return castFloatToFloat(value, dtype, rounding);
  if (dtype == DType::Bool)
    return ConstValue::boolean(!value.isZero());
  if (value.isNaN())
    return ConstValue(dtype, 0);
  APSInt integer(dtypeBits(dtype), /*isUnsigned=*/!isSigned(dtype));
  bool isExact;
  value.convertToInteger(integer, APFloat::rmTowardZero, &isExact); // saturates
  return ConstValue(dtype, isSigned(dtype)
                               ? static_cast<uint64_t>(integer.getSExtValue())
                               : integer.getZExtValue());
}

ConstValue tilec::evalCast(const ConstValue &value, DType dtype,
                           checked::Rounding rounding) {
  const DType from = value.dtype();
  if (from == dtype)
    return value;
  if (isFloat(from))
    return castFromFloat(value.toFloat(), dtype, rounding);
  if (dtype == DType::Bool)
    return ConstValue::boolean(value.bits() != 0);
  if (!isFloat(dtype))
    return ConstValue(dtype, wrap(dtype, value.bits()));
  APFloat real(isF8(dtype) ? APFloat::IEEEsingle() : floatSemantics(dtype));
  real.convertFromAPInt(value.toWideInt(), /*IsSigned=*/true,
                        APFloat::rmNearestTiesToEven);
  return castFloatToFloat(real, dtype, checked::Rounding::NearestEven);
}

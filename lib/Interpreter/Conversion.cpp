//===- Conversion.cpp - from one element type to another -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The conversions of `arith` and `tile.cast`, each rounding once:
//
//   float → float   nearest even, or toward zero / down / up; f8 saturates
//   float → integer truncates, saturates, NaN gives 0
//   integer → float nearest even (f8: through f32)
//   integer → integer wraps; bool ↔ number
//
//===------------------------------------------------------------------------===//

#include "Elementwise.h"

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace tilec::interpreter {

static bool isF8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

static void setReal(HostTile &tile, size_t i, double v) {
  if (tile.form() == Form::F64)
    tile.doubles[i] = v;
  else
    tile.floats[i] = roundToType(v, tile.elementType());
}

/// A 64-bit integer as a double that rounds to narrower formats as the integer
/// would: bits below the 52nd are gathered into one, far from any rounding point.
static double oddDouble(uint64_t magnitude, bool negative) {
  if (magnitude >> 53)
    magnitude = (magnitude >> 12 | ((magnitude & 0xfff) != 0)) << 12;
  return negative ? -double(magnitude) : double(magnitude);
}

static void intToFloat(HostTile &result, const HostTile &in, size_t i, bool isUnsigned) {
  uint64_t raw = in.integer(i);
  int64_t value = in.sinteger(i);
  bool negative = !isUnsigned && value < 0;
  if (result.form() == Form::F64) {
    result.doubles[i] = negative || !isUnsigned ? double(value) : double(raw);
    return;
  }
  double wide = oddDouble(negative ? 0 - uint64_t(value) : raw, negative);
  Type type = result.elementType();
  // f8 goes through f32, by the language's rule.
  result.floats[i] = isF8(type) ? roundToType(float(wide), type) : roundToType(wide, type);
}

/// Truncation that saturates to the integer's range; NaN gives 0.
static uint64_t floatToInt(double v, unsigned width, bool isUnsigned) {
  if (std::isnan(v))
    return 0;
  v = std::trunc(v);
  double top = std::ldexp(1.0, isUnsigned ? width : width - 1);
  double bottom = isUnsigned ? 0 : -top;
  if (v >= top)
    return truncateTo(isUnsigned ? ~uint64_t(0) : (uint64_t(1) << (width - 1)) - 1, width);
  if (v <= bottom)
    return isUnsigned ? 0 : truncateTo(uint64_t(1) << (width - 1), width);
  return truncateTo(v < 0 ? uint64_t(int64_t(v)) : uint64_t(v), width);
}

/// Float to float with a directed rounding, by APFloat.
static void roundDirected(HostTile &result, const HostTile &in, size_t i, llvm::RoundingMode mode) {
  llvm::APFloat value = in.form() == Form::F64 ? llvm::APFloat(in.f64(i)) : llvm::APFloat(in.f32(i));
  bool lossy;
  value.convert(cast<FloatType>(result.elementType()).getFloatSemantics(), mode, &lossy);
  llvm::APFloat wide = value;
  if (result.form() == Form::F64) {
    wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
    result.doubles[i] = wide.convertToDouble();
    return;
  }
  wide.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  result.floats[i] = wide.convertToFloat();
}

static HostTile evaluateCast(tile::CastOp op, Operands in) {
  HostTile result = makeResult(op, in);
  const HostTile &source = *in[0];
  bool fromFloat = source.form() != Form::Int, toFloat = result.form() != Form::Int;
  bool toBool = result.elementType().isInteger(1), fromBool = source.elementType().isInteger(1);
  std::optional<llvm::RoundingMode> directed;
  switch (op.getRounding()) {
  case tile::CastRounding::NearestEven: break;
  case tile::CastRounding::TowardZero: directed = llvm::RoundingMode::TowardZero; break;
  case tile::CastRounding::Downward: directed = llvm::RoundingMode::TowardNegative; break;
  case tile::CastRounding::Upward: directed = llvm::RoundingMode::TowardPositive; break;
  }
  forEachStored(result, [&](size_t i) {
    if (toBool)
      result.ints[i] = fromFloat ? source.real(i) != 0 : source.integer(i) != 0;
    else if (fromFloat && toFloat && directed)
      roundDirected(result, source, i, *directed);
    else if (fromFloat && toFloat)
      setReal(result, i, source.real(i));
    else if (fromFloat)
      result.ints[i] = floatToInt(source.real(i), result.width(), op.getToUnsigned());
    else if (toFloat)
      intToFloat(result, source, i, fromBool || op.getFromUnsigned());
    else
      result.ints[i] = truncateTo(fromBool || op.getFromUnsigned() ? source.integer(i)
                                                                   : uint64_t(source.sinteger(i)),
                                  result.width());
  });
  return result;
}

template <typename F>
static HostTile convertInts(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) { result.ints[i] = truncateTo(f(i), result.width()); });
  return result;
}

static HostTile evaluateBitcast(Operation *op, Operands in) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) {
    uint64_t raw = 0;
    in[0]->writeElement(i, &raw);
    result.readElement(i, &raw);
  });
  return result;
}

std::optional<HostTile> evaluateConversion(Operation *op, Operands in) {
  auto sign = [&](size_t i) { return uint64_t(in[0]->sinteger(i)); };
  auto zero = [&](size_t i) { return in[0]->integer(i); };
  auto reals = [&] {
    HostTile result = makeResult(op, in);
    forEachStored(result, [&](size_t i) { setReal(result, i, in[0]->real(i)); });
    return result;
  };
  auto fromInt = [&](bool isUnsigned) {
    HostTile result = makeResult(op, in);
    forEachStored(result, [&](size_t i) { intToFloat(result, *in[0], i, isUnsigned); });
    return result;
  };
  auto toInt = [&](bool isUnsigned) {
    return convertInts(op, in, [&](size_t i) {
      return floatToInt(in[0]->real(i), widthOf(getElementTypeOrSelf(op->getResult(0))), isUnsigned);
    });
  };
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](tile::CastOp cast) { return evaluateCast(cast, in); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return reals(); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return convertInts(op, in, sign); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(
          [&](auto) { return convertInts(op, in, zero); })
      .Case([&](arith::SIToFPOp) { return fromInt(false); })
      .Case([&](arith::UIToFPOp) { return fromInt(true); })
      .Case([&](arith::FPToSIOp) { return toInt(false); })
      .Case([&](arith::FPToUIOp) { return toInt(true); })
      .Case([&](arith::BitcastOp) { return evaluateBitcast(op, in); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace tilec::interpreter

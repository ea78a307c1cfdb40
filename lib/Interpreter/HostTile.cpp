//===- HostTile.cpp - a tile's value in host memory ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Storage of the interpreter's values and the two ways in and out: attributes and
// array memory. Narrow floats are held as the float of equal value, so reading is
// exact and only results of arithmetic are rounded (roundToType).
//
//===------------------------------------------------------------------------===//

#include "tilec/Interpreter/HostTile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace tilec::interpreter {

Form formOf(Type elementType) {
  if (elementType.isF64())
    return Form::F64;
  return isa<FloatType>(elementType) ? Form::F32 : Form::Int;
}

unsigned widthOf(Type elementType) {
  return isa<IndexType>(elementType) ? 64 : elementType.getIntOrFloatBitWidth();
}

//===------------------------------------------------------------------------===//
// Rounding to narrow floats
//===------------------------------------------------------------------------===//

namespace {
/// What rounding needs to know of a float format.
struct Format {
  int digits;      // significant bits, the hidden one included
  int minExponent; // of the smallest normal number
  double largest;  // finite
  bool saturates;  // overflow gives `largest` instead of infinity
};
} // namespace

static Format formatOf(Type type) {
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  bool f8 = type.getIntOrFloatBitWidth() == 8;
  double largest = isa<Float8E4M3FNType>(type)   ? 448.0
                   : isa<Float8E5M2Type>(type)   ? 57344.0
                   : type.isF16()                ? 65504.0
                   : type.isBF16()               ? 0x1.FEp127
                   : isa<FloatTF32Type>(type)    ? 0x1.FFCp127
                                                 : 0x1.FFFFFEp127;
  return {int(llvm::APFloat::semanticsPrecision(semantics)),
          llvm::APFloat::semanticsMinExponent(semantics), largest, f8};
}

/// Nearest value of the format, ties to even. Scaling by powers of two is exact,
/// so nearbyint does the one rounding.
static double roundToFormat(double v, const Format &format) {
  if (v == 0 || std::isnan(v))
    return v;
  if (std::isinf(v))
    return format.saturates ? std::copysign(format.largest, v) : v;
  int exponent = std::max(std::ilogb(v), format.minExponent);
  int quantum = exponent - (format.digits - 1);
  double rounded = std::ldexp(std::nearbyint(std::ldexp(v, -quantum)), quantum);
  if (std::fabs(rounded) <= format.largest)
    return rounded;
  return std::copysign(format.saturates ? format.largest : INFINITY, v);
}

static float roundToBF16(float v) {
  uint32_t bits = std::bit_cast<uint32_t>(v);
  if ((bits & 0x7fffffff) > 0x7f800000) // NaN stays one
    return v;
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  return std::bit_cast<float>(bits);
}

float roundToType(float v, Type elementType) {
  if (elementType.isF32())
    return v;
  if (elementType.isBF16())
    return roundToBF16(v);
  return float(roundToFormat(v, formatOf(elementType)));
}

float roundToType(double v, Type elementType) {
  if (elementType.isF32())
    return float(v);
  return float(roundToFormat(v, formatOf(elementType)));
}

//===------------------------------------------------------------------------===//
// HostTile
//===------------------------------------------------------------------------===//

HostTile::HostTile(Type type, bool splat) : element(getElementTypeOrSelf(type)) {
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    dims.assign(shaped.getShape().begin(), shaped.getShape().end());
    count = shaped.getNumElements();
  }
  kind = formOf(element);
  bits = widthOf(element);
  size_t held = splat ? 1 : count;
  switch (kind) {
  case Form::Int:
    ints.resize(held);
    break;
  case Form::F32:
    floats.resize(held);
    break;
  case Form::F64:
    doubles.resize(held);
    break;
  }
}

size_t HostTile::stored() const {
  return kind == Form::Int ? ints.size() : kind == Form::F32 ? floats.size() : doubles.size();
}

void HostTile::copyElement(size_t to, const HostTile &other, size_t from) {
  switch (kind) {
  case Form::Int:
    ints[to] = other.integer(from);
    break;
  case Form::F32:
    floats[to] = other.f32(from);
    break;
  case Form::F64:
    doubles[to] = other.f64(from);
    break;
  }
}

HostTile HostTile::scalar(size_t i) const {
  HostTile result(element);
  result.copyElement(0, *this, i);
  return result;
}

HostTile HostTile::withType(Type type) const {
  HostTile result = *this;
  result.dims.clear();
  result.count = 1;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    result.dims.assign(shaped.getShape().begin(), shaped.getShape().end());
    result.count = shaped.getNumElements();
  }
  return result;
}

HostTile HostTile::expanded() const {
  if (stored() == count)
    return *this;
  HostTile result = *this;
  if (kind == Form::Int)
    result.ints.assign(count, ints[0]);
  else if (kind == Form::F32)
    result.floats.assign(count, floats[0]);
  else
    result.doubles.assign(count, doubles[0]);
  return result;
}

//===------------------------------------------------------------------------===//
// Array memory
//===------------------------------------------------------------------------===//

unsigned HostTile::bytesInMemory(Type elementType) {
  return std::max(1u, widthOf(elementType) / 8);
}

/// A 16- or 8-bit float from its bits.
static float decode(uint64_t raw, Type type) {
  if (type.isBF16())
    return std::bit_cast<float>(uint32_t(raw) << 16);
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  unsigned width = type.getIntOrFloatBitWidth();
  int digits = llvm::APFloat::semanticsPrecision(semantics);
  unsigned fractionBits = digits - 1;
  unsigned exponentBits = width - 1 - fractionBits;
  uint64_t fraction = raw & ((1u << fractionBits) - 1);
  unsigned exponent = (raw >> fractionBits) & ((1u << exponentBits) - 1);
  bool negative = (raw >> (width - 1)) & 1;
  unsigned top = (1u << exponentBits) - 1;
  int bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  float value;
  if (isa<Float8E4M3FNType>(type) && exponent == top && fraction == 7)
    value = NAN; // the one NaN of e4m3; it has no infinity
  else if (!isa<Float8E4M3FNType>(type) && exponent == top)
    value = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(float(fraction), 1 - bias - int(fractionBits));
  else
    value = std::ldexp(float(fraction + (1u << fractionBits)), int(exponent) - bias - int(fractionBits));
  return negative ? -value : value;
}

/// The bits of a value of a 16- or 8-bit float type.
static uint64_t encode(float v, Type type) {
  if (type.isBF16()) {
    uint32_t bits = std::bit_cast<uint32_t>(v);
    // A NaN whose payload lies below the cut must stay a NaN.
    return std::isnan(v) ? (bits >> 16) | 0x40 : bits >> 16;
  }
  llvm::APFloat value(v);
  bool lossy;
  value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return value.bitcastToAPInt().getZExtValue();
}

void HostTile::readElement(size_t i, const void *bytes) {
  unsigned size = bytesInMemory(element);
  uint64_t raw = 0;
  std::memcpy(&raw, bytes, size);
  if (kind == Form::Int)
    ints[i] = bits == 1 ? raw != 0 : truncateTo(raw, bits);
  else if (kind == Form::F64)
    doubles[i] = std::bit_cast<double>(raw);
  else
    floats[i] = size == 4 ? std::bit_cast<float>(uint32_t(raw)) : decode(raw, element);
}

void HostTile::writeElement(size_t i, void *bytes) const {
  unsigned size = bytesInMemory(element);
  uint64_t raw;
  if (kind == Form::Int)
    raw = integer(i);
  else if (kind == Form::F64)
    raw = std::bit_cast<uint64_t>(f64(i));
  else
    raw = size == 4 ? std::bit_cast<uint32_t>(f32(i)) : encode(f32(i), element);
  std::memcpy(bytes, &raw, size);
}

//===------------------------------------------------------------------------===//
// Attributes
//===------------------------------------------------------------------------===//

static void setFromAttribute(HostTile &tile, size_t i, const llvm::APInt &value) {
  tile.ints[i] = value.getZExtValue();
}
static void setFromAttribute(HostTile &tile, size_t i, const llvm::APFloat &value) {
  llvm::APFloat wide = value;
  bool lossy;
  if (tile.form() == Form::F64) {
    tile.doubles[i] = value.convertToDouble();
    return;
  }
  wide.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  tile.floats[i] = wide.convertToFloat();
}

HostTile HostTile::fromAttribute(TypedAttr value) {
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    HostTile tile(elements.getType(), elements.isSplat());
    if (tile.form() == Form::Int) {
      if (elements.isSplat())
        setFromAttribute(tile, 0, elements.getSplatValue<llvm::APInt>());
      else
        for (auto [i, v] : llvm::enumerate(elements.getValues<llvm::APInt>()))
          setFromAttribute(tile, i, v);
    } else if (elements.isSplat()) {
      setFromAttribute(tile, 0, elements.getSplatValue<llvm::APFloat>());
    } else {
      for (auto [i, v] : llvm::enumerate(elements.getValues<llvm::APFloat>()))
        setFromAttribute(tile, i, v);
    }
    return tile;
  }
  HostTile tile(value.getType());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    setFromAttribute(tile, 0, integer.getValue());
  else
    setFromAttribute(tile, 0, cast<FloatAttr>(value).getValue());
  return tile;
}

} // namespace tilec::interpreter

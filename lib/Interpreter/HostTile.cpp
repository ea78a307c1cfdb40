//===- HostTile.cpp - a tile's value in host memory ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Storage of the interpreter's values and the two ways in and out: attributes and
// array memory. Narrow floats are held as the float of equal value (NaNs with their
// sign and payload), so reading is exact and only results of arithmetic are rounded
// (roundToType). Formats are those of Support/Numerics.h.
//
//===------------------------------------------------------------------------===//

#include "tilec/Interpreter/HostTile.h"

#include "tilec/Support/Numerics.h"
#include "tilec/Tile/ElementDType.h"

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

float roundToType(float v, Type elementType) {
  if (elementType.isF32())
    return v;
  DType dtype = *tile::elementDType(elementType);
  return std::bit_cast<float>(
      numerics::widen(dtype, numerics::narrow(dtype, std::bit_cast<uint32_t>(v))));
}

float roundToType(double v, Type elementType) {
  if (elementType.isF32())
    return float(v);
  DType dtype = *tile::elementDType(elementType);
  return std::bit_cast<float>(numerics::widen(dtype, numerics::encode(dtype, v)));
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

uint64_t HostTile::word(size_t i, bool isUnsigned) const {
  if (kind == Form::F64)
    return std::bit_cast<uint64_t>(f64(i));
  if (kind == Form::F32)
    return numerics::narrow(*tile::elementDType(element), std::bit_cast<uint32_t>(f32(i)));
  return isUnsigned || bits == 1 ? integer(i) : uint64_t(sinteger(i));
}

void HostTile::setWord(size_t i, uint64_t word) {
  if (kind == Form::F64)
    doubles[i] = std::bit_cast<double>(word);
  else if (kind == Form::F32)
    floats[i] = std::bit_cast<float>(numerics::widen(*tile::elementDType(element), word));
  else
    ints[i] = truncateTo(word, bits);
}

void HostTile::readElement(size_t i, const void *bytes) {
  uint64_t raw = 0;
  std::memcpy(&raw, bytes, bytesInMemory(element));
  setWord(i, bits == 1 ? raw != 0 : raw);
}

void HostTile::writeElement(size_t i, void *bytes) const {
  uint64_t raw = word(i, /*isUnsigned=*/true);
  std::memcpy(bytes, &raw, bytesInMemory(element));
}

//===------------------------------------------------------------------------===//
// Attributes
//===------------------------------------------------------------------------===//

static void setFromAttribute(HostTile &tile, size_t i, const llvm::APInt &value) {
  tile.ints[i] = value.getZExtValue();
}
static void setFromAttribute(HostTile &tile, size_t i, const llvm::APFloat &value) {
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  tile.setWord(i, tile.elementType().isTF32() ? bits << 13 : bits);
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

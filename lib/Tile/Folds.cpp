//===- Folds.cpp - folding by the language's arithmetic -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Integer operations and conversions of constants. All values come from
// Support/Numerics.h, which the compile-time evaluator and the interpreter use
// too, so folding never changes a result.
//
//   tile.divide floor signed %c-7, %c2     →  -4
//   tile.cast %c1e9 : f32 -> f8E4M3FN      →  448

#include "tilec/Support/Numerics.h"
#include "tilec/Tile/ElementDType.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// Tiles of different elements are folded up to this size.
constexpr int64_t maxFoldedElements = 1 << 14;

uint64_t wordOf(Attribute attr, DType dtype) {
  if (auto floatAttr = dyn_cast<FloatAttr>(attr)) {
    uint64_t bits = floatAttr.getValue().bitcastToAPInt().getZExtValue();
    return dtype == DType::TF32 ? bits << 13 : bits;
  }
  return numerics::normalize(dtype,
                             cast<IntegerAttr>(attr).getValue().getZExtValue());
}

TypedAttr attrOf(uint64_t word, DType dtype, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APInt bits(floatType.getWidth(), dtype == DType::TF32 ? word >> 13 : word,
               false, true);
    return FloatAttr::get(type, APFloat(floatType.getFloatSemantics(), bits));
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(width, word, false, true));
}

/// Applies `fold` to every element of constants of one shape. `fold` gives
/// nothing where a result is not specified; then nothing is folded.
OpFoldResult foldElements(ArrayRef<Attribute> operands, Type resultType,
                          function_ref<TypedAttr(ArrayRef<Attribute>)> fold) {
  auto tile = dyn_cast<RankedTensorType>(resultType);
  if (llvm::any_of(operands, [](Attribute attr) { return !attr; }))
    return {};
  SmallVector<Attribute> scalars;
  for (Attribute operand : operands)
    if (Attribute value = getSplatConstant(operand))
      scalars.push_back(value);
  if (scalars.size() == operands.size()) {
    TypedAttr value = fold(scalars);
    if (!value || !tile)
      return value;
    return DenseElementsAttr::get(tile, ArrayRef<Attribute>(value));
  }
  if (!tile || tile.getNumElements() > maxFoldedElements)
    return {};
  SmallVector<SmallVector<Attribute>> columns;
  for (Attribute operand : operands) {
    auto dense = dyn_cast<DenseElementsAttr>(operand);
    if (!dense)
      return {};
    columns.emplace_back(dense.getValues<Attribute>());
  }
  SmallVector<Attribute> results;
  for (int64_t i = 0; i < tile.getNumElements(); ++i) {
    SmallVector<Attribute> row;
    for (const SmallVector<Attribute> &column : columns)
      row.push_back(column[i]);
    TypedAttr value = fold(row);
    if (!value)
      return {};
    results.push_back(value);
  }
  return DenseElementsAttr::get(tile, results);
}

/// Folds a binary integer operation by `compute` on words.
OpFoldResult
foldInteger(ArrayRef<Attribute> operands, Type type, bool isUnsigned,
            bool zeroDivisorUnspecified,
            function_ref<uint64_t(DType, uint64_t, uint64_t)> compute) {
  Type element = getElementTypeOrSelf(type);
  std::optional<DType> dtype = elementDType(element, isUnsigned);
  if (!dtype)
    return {};
  return foldElements(
      operands, type, [&](ArrayRef<Attribute> row) -> TypedAttr {
        uint64_t a = wordOf(row[0], *dtype), b = wordOf(row[1], *dtype);
        if (zeroDivisorUnspecified && b == 0)
          return {};
        return attrOf(compute(*dtype, a, b), *dtype, element);
      });
}

numerics::QuotientRounding quotientRounding(QuotientRounding rounding) {
  switch (rounding) {
  case QuotientRounding::Trunc:
    return numerics::QuotientRounding::Trunc;
  case QuotientRounding::Floor:
    return numerics::QuotientRounding::Floor;
  case QuotientRounding::Ceil:
    return numerics::QuotientRounding::Ceil;
  }
  return numerics::QuotientRounding::Trunc;
}

numerics::Rounding floatRounding(CastRounding rounding) {
  switch (rounding) {
  case CastRounding::NearestEven:
    return numerics::Rounding::NearestEven;
  case CastRounding::TowardZero:
    return numerics::Rounding::TowardZero;
  case CastRounding::Downward:
    return numerics::Rounding::Down;
  case CastRounding::Upward:
    return numerics::Rounding::Up;
  }
  return numerics::Rounding::NearestEven;
}

} // namespace

std::optional<DType> tilec::tile::elementDType(Type type, bool isUnsigned) {
  if (type.isIndex())
    return isUnsigned ? DType::U64 : DType::Int;
  if (type.isInteger()) {
    switch (type.getIntOrFloatBitWidth()) {
    case 1:
      return DType::Bool;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    default:
      return isUnsigned ? DType::U64 : DType::I64;
    }
  }
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isTF32())
    return DType::TF32;
  return std::nullopt;
}

OpFoldResult DivideOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getRhs(), m_One()) &&
      !getElementTypeOrSelf(getType()).isInteger(1))
    return getLhs();
  return foldInteger(
      adaptor.getOperands(), getType(), getSignedness() == Signedness::Unsigned,
      /*zeroDivisorUnspecified=*/true,
      [&](DType dtype, uint64_t a, uint64_t b) {
        return numerics::divide(dtype, a, b, quotientRounding(getRounding()));
      });
}

OpFoldResult RemainderOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getRhs(), m_One()) &&
      !getElementTypeOrSelf(getType()).isInteger(1))
    return Builder(getContext()).getZeroAttr(getType());
  return foldInteger(adaptor.getOperands(), getType(),
                     getSignedness() == Signedness::Unsigned,
                     /*zeroDivisorUnspecified=*/true,
                     [&](DType dtype, uint64_t a, uint64_t b) {
                       return numerics::remainder(
                           dtype, a, b, quotientRounding(getRounding()));
                     });
}

OpFoldResult ShiftOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getAmount(), m_Zero()))
    return getValue();
  return foldInteger(adaptor.getOperands(), getType(),
                     getKind() != ShiftKind::RightSigned,
                     /*zeroDivisorUnspecified=*/false,
                     [&](DType dtype, uint64_t value, uint64_t amount) {
                       return getKind() == ShiftKind::Left
                                  ? numerics::shiftLeft(dtype, value, amount)
                                  : numerics::shiftRight(dtype, value, amount);
                     });
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  Type from = getElementTypeOrSelf(getSource().getType()),
       to = getElementTypeOrSelf(getType());
  if (getSource().getType() == getType())
    return getSource();
  std::optional<DType> source = elementDType(from, getFromUnsigned());
  std::optional<DType> result = elementDType(to, getToUnsigned());
  if (!source || !result)
    return {};
  return foldElements(
      adaptor.getSource(), getType(), [&](ArrayRef<Attribute> row) {
        uint64_t word = numerics::cast(wordOf(row[0], *source), *source,
                                       *result, floatRounding(getRounding()));
        return attrOf(word, *result, to);
      });
}

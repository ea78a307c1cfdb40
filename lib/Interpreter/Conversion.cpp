//===- Conversion.cpp - from one element type to another -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The conversions of `arith` and `tile.cast`, by the rules of Support/Numerics.h,
// which the constant folder uses too.
//
//===------------------------------------------------------------------------===//

#include "Elementwise.h"

#include "tilec/Support/Numerics.h"
#include "tilec/Tile/ElementDType.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::interpreter {

static HostTile convert(Operation *op, Operands in, bool fromUnsigned, bool toUnsigned,
                        numerics::Rounding rounding = numerics::Rounding::NearestEven) {
  HostTile result = makeResult(op, in);
  const HostTile &source = *in[0];
  DType from = *tile::elementDType(source.elementType(), fromUnsigned);
  DType to = *tile::elementDType(result.elementType(), toUnsigned);
  forEachStored(result, [&](size_t i) {
    result.setWord(i, numerics::cast(source.word(i, fromUnsigned), from, to, rounding));
  });
  return result;
}

static HostTile evaluateCast(tile::CastOp op, Operands in) {
  numerics::Rounding rounding = numerics::Rounding::NearestEven;
  switch (op.getRounding()) {
  case tile::CastRounding::NearestEven: break;
  case tile::CastRounding::TowardZero: rounding = numerics::Rounding::TowardZero; break;
  case tile::CastRounding::Downward: rounding = numerics::Rounding::Down; break;
  case tile::CastRounding::Upward: rounding = numerics::Rounding::Up; break;
  }
  return convert(op, in, op.getFromUnsigned(), op.getToUnsigned(), rounding);
}

/// Integers to a type whose bool is its lowest bit: arith's rule.
static HostTile convertInts(Operation *op, Operands in, bool isSigned) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) {
    uint64_t value = isSigned ? uint64_t(in[0]->sinteger(i)) : in[0]->integer(i);
    result.ints[i] = truncateTo(value, result.width());
  });
  return result;
}

static HostTile evaluateBitcast(Operation *op, Operands in) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) { result.setWord(i, in[0]->word(i, true)); });
  return result;
}

std::optional<HostTile> evaluateConversion(Operation *op, Operands in) {
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](tile::CastOp cast) { return evaluateCast(cast, in); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto) { return convert(op, in, false, false); })
      .Case<arith::UIToFPOp>([&](auto) { return convert(op, in, true, false); })
      .Case<arith::FPToUIOp>([&](auto) { return convert(op, in, false, true); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return convertInts(op, in, true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(
          [&](auto) { return convertInts(op, in, false); })
      .Case([&](arith::BitcastOp) { return evaluateBitcast(op, in); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace tilec::interpreter

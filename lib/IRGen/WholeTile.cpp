//===- WholeTile.cpp - scans, sorts, histograms, random words -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operations over whole tiles beyond reductions. argsort and topk are sorts
// with positions as payload; Philox is plain integer arithmetic.

#include "Generator.h"

#include "tilec/Support/Numerics.h"

using namespace mlir;

namespace tilec::irgen {

using checked::BinaryOp;
using checked::ScanKind;

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static BinaryOp combiner(ScanKind kind) {
  switch (kind) {
  case ScanKind::Sum:
    return BinaryOp::Add;
  case ScanKind::Prod:
    return BinaryOp::Mul;
  case ScanKind::Max:
    return BinaryOp::Max;
  case ScanKind::Min:
    return BinaryOp::Min;
  }
  return BinaryOp::Add;
}

/// What an exclusive scan starts from: 0, 1, the least, the greatest value.
static uint64_t scanIdentity(ScanKind kind, DType dtype) {
  switch (kind) {
  case ScanKind::Sum:
    return 0;
  case ScanKind::Prod:
    return isFloat(dtype) ? numerics::encode(dtype, 1) : 1;
  case ScanKind::Max:
    return isFloat(dtype) ? numerics::infinityBits(dtype, /*negative=*/true)
                          : numerics::leastInteger(dtype);
  case ScanKind::Min:
    return isFloat(dtype) ? numerics::infinityBits(dtype)
                          : numerics::greatestInteger(dtype);
  }
  return 0;
}

Value Generator::scan(const checked::ScanExpr *expr, Location loc) {
  Value source = expression(expr->operand);
  DType dtype = expr->type.dtype();
  bool sums = expr->op == ScanKind::Sum || expr->op == ScanKind::Prod;
  DType wide = sums && (dtype == DType::F16 || dtype == DType::BF16)
                   ? DType::F32
                   : dtype;
  source = at(loc).cast(source, dtype, wide);
  SmallVector<Value> inits;
  if (expr->exclusive)
    inits.push_back(
        constant(wide, scanIdentity(expr->op, wide), Type::scalar(wide), loc));
  auto op = tile::ScanOp::create(
      builder, loc, source, inits, static_cast<int32_t>(expr->axis),
      expr->reverse,
      [&](OpBuilder &, Location, ValueRange left,
          ValueRange right) -> SmallVector<Value> {
        return {at(loc).binary(combiner(expr->op), wide, left[0], right[0])};
      });
  return at(loc).cast(op.getResult(0), wide, dtype);
}

SmallVector<Value> Generator::customScan(const checked::CustomScanExpr *expr,
                                         Location loc) {
  SmallVector<Value> sources = expressions(expr->operands),
                     inits = expressions(expr->inits);
  auto before = values;
  auto op = tile::ScanOp::create(
      builder, loc, sources, expr->exclusive ? ValueRange(inits) : ValueRange(),
      static_cast<int32_t>(expr->axis), expr->reverse,
      [&](OpBuilder &, Location, ValueRange left, ValueRange right) {
        return combine(expr->region, left, right);
      });
  values = before;
  return SmallVector<Value>(op.getResults());
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Keys of these types compare as unsigned words.
static bool sortsUnsigned(DType dtype) {
  return isUnsigned(dtype) || dtype == DType::Bool;
}

SmallVector<Value> Generator::sort(const checked::SortExpr *expr,
                                   Location loc) {
  SmallVector<Value> sources = expressions(expr->operands);
  auto op = tile::SortOp::create(
      builder, loc, ValueRange(sources).getTypes(), sources, expr->axis,
      expr->descending, sortsUnsigned(expr->operands.front()->type.dtype()));
  return SmallVector<Value>(op.getResults());
}

/// Sorted keys, and the position along the axis that each came from, as i32.
std::pair<Value, Value>
Generator::sortWithPositions(const checked::Expr *operand, unsigned axis,
                             bool descending, Location loc) {
  Value keys = expression(operand);
  int64_t along = axis;
  SmallVector<Value> sources{keys,
                             positionTile(operand->type.shape(), along, loc)};
  auto op = tile::SortOp::create(builder, loc, ValueRange(sources).getTypes(),
                                 sources, axis, descending,
                                 sortsUnsigned(operand->type.dtype()));
  return {op.getResult(0), op.getResult(1)};
}

/// The first k of a descending sort: it is stable, so ties keep the lowest
/// index.
SmallVector<Value> Generator::topK(const checked::TopKExpr *expr,
                                   Location loc) {
  auto [keys, positions] =
      sortWithPositions(expr->operand, expr->axis, /*descending=*/true, loc);
  SmallVector<Value> index;
  for (unsigned i = 0; i < expr->type.rank(); ++i)
    index.push_back(zero(Type::scalar(DType::Int), loc));
  mlir::Type keyType = valueType(context, expr->type);
  mlir::Type positionType =
      valueType(context, expr->type.withDType(DType::I32));
  Value top = tile::ExtractOp::create(builder, loc, keyType, keys, index);
  Value where =
      tile::ExtractOp::create(builder, loc, positionType, positions, index);
  return {top, at(loc).cast(where, DType::I32, DType::Int)};
}

Value Generator::wholeTile(const checked::Expr *expr, Location loc) {
  if (const auto *sort = llvm::dyn_cast<checked::ArgSortExpr>(expr)) {
    Value positions =
        sortWithPositions(sort->operand, sort->axis, sort->descending, loc)
            .second;
    return at(loc).cast(positions, DType::I32, DType::Int);
  }
  if (const auto *histogram = llvm::dyn_cast<checked::HistogramExpr>(expr))
    return tile::HistogramOp::create(
        builder, loc, valueType(context, expr->type),
        expression(histogram->operand),
        isUnsigned(histogram->operand->type.dtype()));
  return random(llvm::cast<checked::RandU32Expr>(expr), loc);
}

//===----------------------------------------------------------------------===//
// Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3)
//===----------------------------------------------------------------------===//

/// The low and the high half of a u64 value.
static std::pair<Value, Value> halves(Elementwise &at, Value word) {
  Value high = at.binary(BinaryOp::Shr, DType::U64, word,
                         at.integer(DType::U64, 32, word));
  return {at.cast(word, DType::U64, DType::U32),
          at.cast(high, DType::U64, DType::U32)};
}

Value Generator::random(const checked::RandU32Expr *expr, Location loc) {
  constexpr uint64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint64_t weyl[] = {0x9E3779B9, 0xBB67AE85};
  Elementwise at = this->at(loc);
  auto [key0, key1] = halves(at, expression(expr->seed));
  Value offsets = expression(expr->offsets);
  auto [low, high] = halves(at, offsets);
  Value none = at.integer(DType::U32, 0, low);
  SmallVector<Value> counter{low, high, none, none}, key{key0, key1};
  auto spread = [&](Value scalar) -> Value {
    if (!isa<RankedTensorType>(low.getType()))
      return scalar;
    return tile::SplatOp::create(builder, loc, low.getType(), scalar);
  };
  auto mix = [&](Value a, Value b, Value c) {
    return at.binary(BinaryOp::Xor, DType::U32,
                     at.binary(BinaryOp::Xor, DType::U32, a, b), c);
  };
  for (int round = 0; round < 10; ++round) {
    if (round > 0)
      for (int i = 0; i < 2; ++i)
        key[i] = at.binary(BinaryOp::Add, DType::U32, key[i],
                           at.integer(DType::U32, weyl[i], key[i]));
    auto first = arith::MulUIExtendedOp::create(
        builder, loc, counter[0], at.integer(DType::U32, multipliers[0], low));
    auto second = arith::MulUIExtendedOp::create(
        builder, loc, counter[2], at.integer(DType::U32, multipliers[1], low));
    counter = {
        mix(second.getHigh(), counter[1], spread(key[0])), second.getLow(),
        mix(first.getHigh(), counter[3], spread(key[1])), first.getLow()};
  }
  return counter[expr->word];
}

} // namespace tilec::irgen

//===- Reductions.cpp - reductions -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// `tile.reduce` of the language's reductions. 16-bit floats are summed in f32
// and rounded once; argmin and argmax reduce pairs of a value and its row-major
// position.

#include "Generator.h"

#include "tilec/Tile/ArgReductions.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilec::irgen {

using checked::BinaryOp;
using checked::CompareOp;
using checked::ReduceKind;

/// The operation between two elements.
static BinaryOp combiner(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return BinaryOp::Add;
  case ReduceKind::Prod:
    return BinaryOp::Mul;
  case ReduceKind::Min:
    return BinaryOp::Min;
  case ReduceKind::Max:
    return BinaryOp::Max;
  case ReduceKind::MinNum:
    return BinaryOp::MinNum;
  case ReduceKind::MaxNum:
    return BinaryOp::MaxNum;
  case ReduceKind::Any:
    return BinaryOp::Or;
  default:
    return BinaryOp::And;
  }
}

Value Generator::reduce(const checked::ReduceExpr *expr, Location loc) {
  if (expr->op == ReduceKind::ArgMin || expr->op == ReduceKind::ArgMax)
    return argReduce(expr, loc);
  Value source = expression(expr->operand);
  DType dtype = expr->type.dtype();
  source = at(loc).cast(source, expr->operand->type.dtype(), dtype);
  if (expr->axes.empty())
    return source;
  bool sums = expr->op == ReduceKind::Sum || expr->op == ReduceKind::Prod;
  DType wide = sums && (dtype == DType::F16 || dtype == DType::BF16)
                   ? DType::F32
                   : dtype;
  source = at(loc).cast(source, dtype, wide);
  auto op = tile::ReduceOp::create(
      builder, loc, source, expr->axes,
      [&](OpBuilder &, Location, ValueRange left,
          ValueRange right) -> SmallVector<Value> {
        return {at(loc).binary(combiner(expr->op), wide, left[0], right[0])};
      });
  return at(loc).cast(op.getResult(0), wide, dtype);
}

/// Row-major index within `axes` of each element of a tile of `shape`.
Value Generator::positionTile(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                              Location loc) {
  Value result;
  int64_t stride = 1;
  Elementwise at = this->at(loc);
  for (int64_t axis : llvm::reverse(axes)) {
    SmallVector<int64_t> thin(shape.size(), 1);
    thin[axis] = shape[axis];
    Value part = tile::IotaOp::create(
        builder, loc, valueType(context, Type::tile(DType::I32, shape[axis])));
    if (stride != 1)
      part = at.binary(BinaryOp::Mul, DType::I32, part,
                       at.integer(DType::I32, stride, part));
    auto place = [&](ArrayRef<int64_t> to, Value value, bool stretch) -> Value {
      mlir::Type type = valueType(context, Type::tile(DType::I32, to));
      if (type == value.getType())
        return value;
      if (stretch)
        return tile::BroadcastOp::create(builder, loc, type, value);
      return tile::ReshapeOp::create(builder, loc, type, value);
    };
    part = place(shape, place(thin, part, /*stretch=*/false), /*stretch=*/true);
    result = result ? at.binary(BinaryOp::Add, DType::I32, result, part) : part;
    stride *= shape[axis];
  }
  return result;
}

/// Of two (value, position) pairs the better value wins, NaN before all; ties
/// go to the lower position. Associative and commutative.
Value Generator::argReduce(const checked::ReduceExpr *expr, Location loc) {
  Value source = expression(expr->operand);
  const Type &type = expr->operand->type;
  DType dtype = type.dtype();
  if (expr->axes.empty())
    return zero(expr->type, loc);
  Value position = positionTile(type.shape(), expr->axes, loc);
  CompareOp better =
      expr->op == ReduceKind::ArgMax ? CompareOp::Gt : CompareOp::Lt;
  auto op = tile::ReduceOp::create(
      builder, loc, ValueRange{source, position}, expr->axes,
      [&](OpBuilder &, Location, ValueRange left,
          ValueRange right) -> SmallVector<Value> {
        Elementwise at = this->at(loc);
        auto either = [&](Value a, Value b) {
          return at.binary(BinaryOp::Or, DType::Bool, a, b);
        };
        auto both = [&](Value a, Value b) {
          return at.binary(BinaryOp::And, DType::Bool, a, b);
        };
        Value wins = at.compare(better, dtype, left[0], right[0]);
        Value tie = at.compare(CompareOp::Eq, dtype, left[0], right[0]);
        if (isFloat(dtype)) {
          Value leftNaN = at.unary(checked::UnaryOp::IsNan, dtype, left[0]);
          Value rightNaN = at.unary(checked::UnaryOp::IsNan, dtype, right[0]);
          Value rightIsNumber =
              at.unary(checked::UnaryOp::Not, DType::Bool, rightNaN);
          wins = either(wins, both(leftNaN, rightIsNumber));
          tie = either(tie, both(leftNaN, rightNaN));
        }
        Value first = at.compare(CompareOp::Lt, DType::I32, left[1], right[1]);
        Value takeLeft = either(wins, both(tie, first));
        return {at.select(takeLeft, left[0], right[0]),
                at.select(takeLeft, left[1], right[1])};
      });
  bool isUnsigned = isInteger(dtype) && !isSigned(dtype);
  std::string sought = expr->op == ReduceKind::ArgMax ? "max" : "min";
  op->setAttr(tile::argReductionAttr, builder.getStringAttr((isUnsigned ? "u" : "") + sought));
  return at(loc).cast(op.getResult(1), DType::I32, DType::Int);
}

SmallVector<Value> Generator::combine(const checked::Region &region,
                                      ValueRange left, ValueRange right) {
  for (auto [variable, value] : llvm::zip_equal(region.left, left))
    values[variable] = value;
  for (auto [variable, value] : llvm::zip_equal(region.right, right))
    values[variable] = value;
  llvm::SaveAndRestore combining(inCombiner, true);
  block(region.body);
  return expressions(region.results);
}

SmallVector<Value>
Generator::customReduce(const checked::CustomReduceExpr *expr, Location loc) {
  SmallVector<Value> sources = expressions(expr->operands);
  expressions(expr->inits); // identities: any number of uses, so none is needed
  if (expr->axes.empty())
    return sources;
  auto before = values;
  auto op = tile::ReduceOp::create(
      builder, loc, sources, expr->axes,
      [&](OpBuilder &, Location, ValueRange left, ValueRange right) {
        return combine(expr->region, left, right);
      });
  values = before;
  return SmallVector<Value>(op.getResults());
}

} // namespace tilec::irgen

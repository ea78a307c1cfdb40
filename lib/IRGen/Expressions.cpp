//===- Expressions.cpp - expressions -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Leaves, elementwise operations, shapes and loads. Operands are evaluated in
// the order of the members of each node.

#include "Generator.h"

#include "tilec/Support/Numerics.h"

using namespace mlir;

namespace tilec::irgen {

SmallVector<Value> Generator::expressions(ArrayRef<checked::Expr *> exprs) {
  SmallVector<Value> result;
  for (const checked::Expr *expr : exprs)
    result.push_back(expression(expr));
  return result;
}

SmallVector<Value> Generator::results(const checked::Expr *expr) {
  using Kind = checked::Expr::Kind;
  Location loc = location(expr->loc);
  switch (expr->kind) {
  case Kind::CustomReduce:
    return customReduce(llvm::cast<checked::CustomReduceExpr>(expr), loc);
  case Kind::CustomScan:
    return customScan(llvm::cast<checked::CustomScanExpr>(expr), loc);
  case Kind::Sort:
    return sort(llvm::cast<checked::SortExpr>(expr), loc);
  case Kind::TopK:
    return topK(llvm::cast<checked::TopKExpr>(expr), loc);
  default:
    if (Value value = expression(expr))
      return {value};
    return {};
  }
}

Value Generator::expression(const checked::Expr *expr) {
  using Kind = checked::Expr::Kind;
  Location loc = location(expr->loc);
  switch (expr->kind) {
  case Kind::Constant:
  case Kind::VarRead:
  case Kind::ScalarParam:
  case Kind::ArrayDim:
  case Kind::BlockId:
  case Kind::NumBlocks:
  case Kind::NumSMs:
  case Kind::Aligned:
    return leaf(expr, loc);
  case Kind::Unary:
  case Kind::Binary:
  case Kind::Compare:
  case Kind::Select:
  case Kind::Fma:
  case Kind::Cast:
  case Kind::Bitcast:
    return elementwise(expr, loc);
  case Kind::Conditional: {
    const auto *conditional = llvm::cast<checked::ConditionalExpr>(expr);
    Value condition = expression(conditional->condition);
    return conditionalValue(
        loc, valueType(context, expr->type), condition,
        [&] { return expression(conditional->whenTrue); },
        [&] { return expression(conditional->whenFalse); });
  }
  case Kind::Splat:
  case Kind::Arange:
  case Kind::Reshape:
  case Kind::Permute:
  case Kind::Broadcast:
    return shape(expr, loc);
  case Kind::Cat:
  case Kind::ExtractSlice:
  case Kind::InsertSlice:
  case Kind::ExtractElement:
  case Kind::Flip:
  case Kind::Take:
    return slice(expr, loc);
  case Kind::Load:
    return load(llvm::cast<checked::LoadExpr>(expr), loc);
  case Kind::Gather:
  case Kind::Atomic:
    return memory(expr, loc);
  case Kind::Reduce:
    return reduce(llvm::cast<checked::ReduceExpr>(expr), loc);
  case Kind::Scan:
    return scan(llvm::cast<checked::ScanExpr>(expr), loc);
  case Kind::Mma:
    return mma(llvm::cast<checked::MmaExpr>(expr), loc);
  case Kind::ArgSort:
  case Kind::Histogram:
  case Kind::RandU32:
    return wholeTile(expr, loc);
  case Kind::CustomReduce:
  case Kind::CustomScan:
  case Kind::Sort:
  case Kind::TopK:
    return results(expr).front();
  case Kind::Inline: {
    const auto *body = llvm::cast<checked::InlineExpr>(expr)->inlined;
    inlined(body);
    return valueOf(body->results.front(), loc);
  }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Value Generator::constant(DType dtype, uint64_t word, const Type &type,
                          Location loc) {
  TypedAttr value = constantAttr(context, dtype, word);
  if (type.isTile())
    value =
        DenseElementsAttr::get(llvm::cast<ShapedType>(valueType(context, type)),
                               ArrayRef<Attribute>(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value Generator::zero(const Type &type, Location loc) {
  return constant(type.dtype(), 0, type, loc);
}

Value Generator::leaf(const checked::Expr *expr, Location loc) {
  using Kind = checked::Expr::Kind;
  switch (expr->kind) {
  case Kind::Constant:
    return constant(expr->type.dtype(),
                    llvm::cast<checked::ConstantExpr>(expr)->bits, expr->type,
                    loc);
  case Kind::VarRead:
    return valueOf(llvm::cast<checked::VarReadExpr>(expr)->variable, loc);
  case Kind::ScalarParam:
    return arrayOf(llvm::cast<checked::ScalarParamExpr>(expr)->param);
  case Kind::ArrayDim: {
    const auto *dim = llvm::cast<checked::ArrayDimExpr>(expr);
    return tile::DimOp::create(builder, loc, arrayOf(dim->array), dim->axis);
  }
  case Kind::BlockId:
    return tile::BlockIdOp::create(
        builder, loc, llvm::cast<checked::BlockIdExpr>(expr)->axis);
  case Kind::NumBlocks:
    return tile::NumBlocksOp::create(
        builder, loc, llvm::cast<checked::NumBlocksExpr>(expr)->axis);
  case Kind::Aligned:
    // Only in what the launcher checks, so it holds here.
    return boolConstant(loc, true);
  default:
    return tile::NumSMsOp::create(builder, loc, builder.getIndexType());
  }
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value Generator::elementwise(const checked::Expr *expr, Location loc) {
  using Kind = checked::Expr::Kind;
  switch (expr->kind) {
  case Kind::Unary: {
    const auto *unary = llvm::cast<checked::UnaryExpr>(expr);
    Value x = expression(unary->operand);
    checkUnary(unary, x, loc);
    return at(loc).unary(unary->op, unary->operand->type.dtype(), x);
  }
  case Kind::Binary: {
    const auto *binary = llvm::cast<checked::BinaryExpr>(expr);
    Value a = expression(binary->left), b = expression(binary->right);
    Value result = at(loc).binary(binary->op, expr->type.dtype(), a, b);
    checkBinary(binary, a, b, result, loc);
    return result;
  }
  case Kind::Compare: {
    const auto *compare = llvm::cast<checked::CompareExpr>(expr);
    Value a = expression(compare->left), b = expression(compare->right);
    return at(loc).compare(compare->op, compare->left->type.dtype(), a, b);
  }
  case Kind::Select: {
    const auto *select = llvm::cast<checked::SelectExpr>(expr);
    Value condition = expression(select->condition);
    Value a = expression(select->whenTrue), b = expression(select->whenFalse);
    return at(loc).select(condition, a, b);
  }
  case Kind::Fma: {
    const auto *fma = llvm::cast<checked::FmaExpr>(expr);
    Value a = expression(fma->a), b = expression(fma->b),
          c = expression(fma->c);
    return at(loc).fma(expr->type.dtype(), a, b, c);
  }
  case Kind::Cast: {
    const auto *cast = llvm::cast<checked::CastExpr>(expr);
    Value x = expression(cast->operand);
    return at(loc).cast(x, cast->operand->type.dtype(), expr->type.dtype(),
                        cast->rounding);
  }
  default: {
    const auto *bitcast = llvm::cast<checked::BitcastExpr>(expr);
    Value x = expression(bitcast->operand);
    return at(loc).bitcast(x, bitcast->operand->type.dtype(),
                           expr->type.dtype());
  }
  }
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

Value Generator::shape(const checked::Expr *expr, Location loc) {
  using Kind = checked::Expr::Kind;
  mlir::Type type = valueType(context, expr->type);
  switch (expr->kind) {
  case Kind::Splat:
    return tile::SplatOp::create(
        builder, loc, type,
        expression(llvm::cast<checked::SplatExpr>(expr)->operand));
  case Kind::Arange:
    return arange(llvm::cast<checked::ArangeExpr>(expr), loc);
  case Kind::Reshape: {
    Value x = expression(llvm::cast<checked::ReshapeExpr>(expr)->operand);
    return x.getType() == type
               ? x
               : Value(tile::ReshapeOp::create(builder, loc, type, x));
  }
  case Kind::Permute: {
    const auto *permute = llvm::cast<checked::PermuteExpr>(expr);
    return tile::PermuteOp::create(builder, loc, expression(permute->operand),
                                   permute->axes);
  }
  default: {
    Value x = expression(llvm::cast<checked::BroadcastExpr>(expr)->operand);
    return x.getType() == type
               ? x
               : Value(tile::BroadcastOp::create(builder, loc, type, x));
  }
  }
}

static bool isConstant(const checked::Expr *expr, uint64_t bits) {
  const auto *constant = llvm::dyn_cast<checked::ConstantExpr>(expr);
  return constant && constant->bits == bits;
}

/// start + i * step; a float's index is converted first.
Value Generator::arange(const checked::ArangeExpr *expr, Location loc) {
  DType dtype = expr->type.dtype();
  DType counter = isFloat(dtype) ? DType::I32 : dtype;
  Value start = expression(expr->start), step = expression(expr->step);
  Value result = tile::IotaOp::create(
      builder, loc, valueType(context, expr->type.withDType(counter)));
  Elementwise at = this->at(loc);
  result = at.cast(result, counter, dtype);
  mlir::Type type = result.getType();
  uint64_t one = isFloat(dtype) ? numerics::encode(dtype, 1) : 1;
  if (!isConstant(expr->step, one)) {
    Value steps = tile::SplatOp::create(builder, loc, type, step);
    result = at.binary(checked::BinaryOp::Mul, dtype, result, steps);
  }
  if (!isConstant(expr->start, 0)) {
    Value starts = tile::SplatOp::create(builder, loc, type, start);
    result = at.binary(checked::BinaryOp::Add, dtype, result, starts);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Memory and mma
//===----------------------------------------------------------------------===//

DenseI64ArrayAttr Generator::orderAttr(ArrayRef<unsigned> order) {
  SmallVector<int64_t> dims(order.begin(), order.end());
  bool identity = true;
  for (auto [index, dim] : llvm::enumerate(dims))
    identity &= static_cast<int64_t>(index) == dim;
  return identity ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(dims);
}

Value Generator::load(const checked::LoadExpr *expr, Location loc) {
  SmallVector<Value> index = expressions(expr->index);
  TypedAttr pad;
  if (expr->pad && expr->pad->bits != 0)
    pad = constantAttr(context, expr->type.dtype(), expr->pad->bits);
  return tile::LoadOp::create(
      builder, loc, valueType(context, expr->type), arrayOf(expr->array), index,
      orderAttr(expr->order), pad, DenseBoolArrayAttr(),
      expr->elements ? builder.getUnitAttr() : UnitAttr());
}

Value Generator::mma(const checked::MmaExpr *expr, Location loc) {
  static constexpr tile::MmaPrecision precisions[] = {
      tile::MmaPrecision::Exact, tile::MmaPrecision::TF32,
      tile::MmaPrecision::TF32x3, tile::MmaPrecision::Fast};
  Value a = expression(expr->a), b = expression(expr->b),
        acc = expression(expr->acc);
  return tile::MmaOp::create(builder, loc, a, b, acc,
                             precisions[static_cast<unsigned>(expr->precision)],
                             isUnsigned(expr->a->type.dtype()),
                             isUnsigned(expr->b->type.dtype()));
}

} // namespace tilec::irgen

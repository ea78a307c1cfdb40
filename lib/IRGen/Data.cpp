//===- Data.cpp - elements moved by index; effects on the host -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Slices of tiles, gather, scatter and atomics on arrays, print and assert.

#include "Generator.h"

using namespace mlir;

namespace tilec::irgen {

Value Generator::slice(const checked::Expr *expr, Location loc) {
  using Kind = checked::Expr::Kind;
  mlir::Type type = valueType(context, expr->type);
  switch (expr->kind) {
  case Kind::Cat: {
    const auto *cat = llvm::cast<checked::CatExpr>(expr);
    SmallVector<Value> sources = expressions(cat->operands);
    return tile::CatOp::create(builder, loc, type, sources, cat->axis);
  }
  case Kind::ExtractSlice: {
    const auto *extract = llvm::cast<checked::ExtractSliceExpr>(expr);
    Value source = expression(extract->operand);
    return tile::ExtractOp::create(builder, loc, type, source,
                                   expressions(extract->index));
  }
  case Kind::InsertSlice: {
    const auto *insert = llvm::cast<checked::InsertSliceExpr>(expr);
    Value dest = expression(insert->operand);
    SmallVector<Value> index = expressions(insert->index);
    return tile::InsertOp::create(builder, loc, type, expression(insert->slice),
                                  dest, index);
  }
  case Kind::ExtractElement: {
    const auto *extract = llvm::cast<checked::ExtractElementExpr>(expr);
    Value source = expression(extract->operand);
    return tile::ExtractOp::create(builder, loc, type, source,
                                   expressions(extract->index));
  }
  case Kind::Flip: {
    const auto *flip = llvm::cast<checked::FlipExpr>(expr);
    return tile::FlipOp::create(builder, loc, type, expression(flip->operand),
                                flip->axis);
  }
  default: {
    const auto *take = llvm::cast<checked::TakeExpr>(expr);
    Value source = expression(take->operand);
    Value index = signedIndex(take->indices, loc);
    return tile::TakeOp::create(builder, loc, type, source, index, take->axis,
                                take->alongAxis);
  }
  }
}

/// An index as a signed value: unsigned dtypes move to a wider one. A u64
/// beyond the signed range is outside every array, as a negative index is.
Value Generator::signedIndex(const checked::Expr *expr, Location loc) {
  Value value = expression(expr);
  switch (DType dtype = expr->type.dtype()) {
  case DType::U8:
  case DType::U16:
    return at(loc).cast(value, dtype, DType::I32);
  case DType::U32:
    return at(loc).cast(value, dtype, DType::I64);
  default:
    return value;
  }
}

SmallVector<Value> Generator::signedIndices(ArrayRef<checked::Expr *> exprs,
                                            Location loc) {
  SmallVector<Value> result;
  for (const checked::Expr *expr : exprs)
    result.push_back(signedIndex(expr, loc));
  return result;
}

Value Generator::memory(const checked::Expr *expr, Location loc) {
  if (const auto *atomic = llvm::dyn_cast<checked::AtomicExpr>(expr))
    return this->atomic(atomic, loc);
  const auto *gather = llvm::cast<checked::GatherExpr>(expr);
  SmallVector<Value> index = signedIndices(gather->index, loc);
  Value mask = gather->mask ? expression(gather->mask) : Value();
  TypedAttr pad;
  if (gather->pad && gather->pad->bits != 0)
    pad = constantAttr(context, expr->type.dtype(), gather->pad->bits);
  return tile::GatherOp::create(builder, loc, valueType(context, expr->type),
                                arrayOf(gather->array), index, mask, pad,
                                /*in_bounds=*/nullptr, /*run=*/nullptr);
}

Value Generator::atomic(const checked::AtomicExpr *expr, Location loc) {
  auto optional = [&](const checked::Expr *operand) {
    return operand ? expression(operand) : Value();
  };
  SmallVector<Value> index = signedIndices(expr->index, loc);
  Value expected = optional(expr->expected), value = optional(expr->value);
  Value mask = optional(expr->mask);
  mlir::Type type =
      expr->type.isValue() ? valueType(context, expr->type) : mlir::Type();
  auto op = tile::AtomicOp::create(
      builder, loc, type, static_cast<tile::AtomicKind>(expr->op),
      arrayOf(expr->array), index, expected, value, mask,
      static_cast<tile::MemoryOrder>(expr->order),
      static_cast<tile::MemoryScope>(expr->scope),
      isUnsigned(expr->array->dtype), /*in_bounds=*/nullptr, /*run=*/nullptr);
  return op.getResult();
}

// The two enumerations list the same kinds in the same order.
static_assert(static_cast<int>(checked::AtomicKind::Add) ==
                  static_cast<int>(tile::AtomicKind::Add) &&
              static_cast<int>(checked::AtomicKind::Max) ==
                  static_cast<int>(tile::AtomicKind::Max) &&
              static_cast<int>(checked::AtomicKind::Cas) ==
                  static_cast<int>(tile::AtomicKind::Cas) &&
              static_cast<int>(checked::AtomicKind::Store) ==
                  static_cast<int>(tile::AtomicKind::Store));

void Generator::effect(const checked::Stmt *stmt, Location loc) {
  if (const auto *scatter = llvm::dyn_cast<checked::ScatterStmt>(stmt)) {
    SmallVector<Value> index = signedIndices(scatter->index, loc);
    Value value = expression(scatter->value);
    Value mask = scatter->mask ? expression(scatter->mask) : Value();
    tile::ScatterOp::create(builder, loc, arrayOf(scatter->array), index, value,
                            mask, /*in_bounds=*/nullptr, /*run=*/nullptr);
    return;
  }
  if (const auto *check = llvm::dyn_cast<checked::AssertStmt>(stmt)) {
    tile::AssertOp::create(builder, loc, expression(check->condition),
                           check->message);
    return;
  }
  const auto *print = llvm::cast<checked::PrintStmt>(stmt);
  SmallVector<StringRef> dtypes;
  for (const checked::Expr *value : print->values)
    dtypes.push_back(StringRef(dtypeName(value->type.dtype())));
  SmallVector<Value> printed = expressions(print->values);
  tile::PrintOp::create(builder, loc, builder.getStrArrayAttr(print->pieces),
                        printed, builder.getStrArrayAttr(dtypes));
}

} // namespace tilec::irgen

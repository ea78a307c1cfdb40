//===- SemaConvert.cpp - literals, dtype agreement, broadcasting ----------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Section 4 of the language reference. Weak literals take the dtype of what
// they meet; different dtypes do not mix, but for a scalar `int` beside i32,
// u32, i64 or u64, a scalar of those beside a tile of `int`, and an `int` known
// at compile time (conv-C1); shapes broadcast from the right (bcast-C1). What
// was implicit in the source becomes a node: Constant with dtype, Cast, Splat,
// Broadcast.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "llvm/ADT/SmallString.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Making expressions
//===----------------------------------------------------------------------===//

checked::ConstantExpr *Sema::makeConstant(const ConstValue &value, Type type,
                                          checked::Loc loc) {
  ++numNodes;
  auto *constant = out.create<checked::ConstantExpr>(type, loc);
  constant->bits = value.bits();
  return constant;
}

checked::Expr *Sema::makeInt(int64_t value, SourceRange range) {
  return makeConstant(ConstValue::integer(value), Type::scalar(DType::Int),
                      locOf(range));
}

checked::Expr *Sema::makeCast(checked::Expr *expr, DType dtype,
                              checked::Loc loc) {
  if (expr->type.dtype() == dtype)
    return expr;
  if (auto *constant = dyn_cast<checked::ConstantExpr>(expr)) {
    ConstValue value =
        evalCast(ConstValue(expr->type.dtype(), constant->bits), dtype);
    return makeConstant(value, expr->type.withDType(dtype), loc);
  }
  ++numNodes;
  auto *result =
      out.create<checked::CastExpr>(expr->type.withDType(dtype), loc);
  result->operand = expr;
  return result;
}

checked::Expr *Sema::makeReshape(checked::Expr *expr, ArrayRef<int64_t> shape) {
  if (expr->type.shape() == shape)
    return expr;
  const Type type = expr->type.withShape(shape);
  if (auto *constant = dyn_cast<checked::ConstantExpr>(expr))
    return makeConstant(ConstValue(type.dtype(), constant->bits), type,
                        expr->loc);
  ++numNodes;
  auto *result = out.create<checked::ReshapeExpr>(type, expr->loc);
  result->operand = expr;
  return result;
}

checked::Expr *Sema::materialize(const Operand &operand,
                                 std::optional<DType> dtype) {
  if (operand.isRuntime())
    return operand.expr;
  ConstValue value = *operand.constant;
  if (value.isWeak()) {
    const DType target = dtype.value_or(value.dtype());
    std::optional<ConstValue> strong = convertWeak(value, target);
    if (!strong)
      reportLiteral(operand, target);
    value = strong.value_or(ConstValue(target, 0));
  }
  return makeConstant(value, Type::scalar(value.dtype()), locOf(operand.range));
}

/// The value in `shape`, which it is known to broadcast to.
checked::Expr *Sema::broadcastTo(const Operand &operand,
                                 ArrayRef<int64_t> shape) {
  checked::Expr *expr = materialize(operand);
  if (expr->type.shape() == shape)
    return expr;
  const Type type = expr->type.withShape(shape);
  if (auto *constant = dyn_cast<checked::ConstantExpr>(expr))
    return makeConstant(ConstValue(type.dtype(), constant->bits), type,
                        expr->loc);
  ++numNodes;
  if (expr->type.isScalar()) {
    auto *splat = out.create<checked::SplatExpr>(type, expr->loc);
    splat->operand = expr;
    return splat;
  }
  SmallVector<int64_t> aligned(shape.size() - expr->type.rank(), 1);
  aligned.append(expr->type.shape().begin(), expr->type.shape().end());
  expr = makeReshape(expr, aligned);
  if (expr->type.shape() == shape)
    return expr;
  auto *broadcast = out.create<checked::BroadcastExpr>(type, expr->loc);
  broadcast->operand = expr;
  return broadcast;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

void Sema::reportLiteral(const Operand &operand, DType dtype) {
  const ConstValue &value = *operand.constant;
  const std::string name(dtypeName(dtype));
  auto builder = error(diag::literal_does_not_fit, operand.range);
  std::string text = value.str();
  builder.arg(text).arg(name);
  if (value.isWeakFloat() && isInteger(dtype))
    builder.label("a float literal")
        .help("convert the other side: `.to(f32)`, or write an integer");
  else if (dtype == DType::Bool)
    builder.label("a number").help("bool literals are `true` and `false`");
  else if (isInteger(dtype)) {
    const unsigned bits = dtypeBits(dtype);
    const llvm::APInt low = isSigned(dtype)
                                ? llvm::APInt::getSignedMinValue(bits)
                                : llvm::APInt(bits, 0);
    const llvm::APInt high = isSigned(dtype)
                                 ? llvm::APInt::getSignedMaxValue(bits)
                                 : llvm::APInt::getMaxValue(bits);
    llvm::SmallString<24> lowText, highText;
    low.toString(lowText, 10, isSigned(dtype));
    high.toString(highText, 10, isSigned(dtype));
    builder.label(name + " holds " + std::string(lowText) + " to " +
                  std::string(highText));
  } else {
    builder.label("beyond the largest finite value");
  }
}

/// Gives a weak literal a dtype (lit-C1); anything else is left alone.
/// Remembers of `choice` that it is between two literals.
void Sema::keepLiterals(Operand &choice, const Operand &a, const Operand &b) {
  if (a.isWeak() && b.isWeak())
    choice.literals = std::make_shared<std::pair<ConstValue, ConstValue>>(
        *a.constant, *b.constant);
}

/// Gives a choice between two literals the dtype, where both fit it.
void Sema::retypeChoice(Operand &choice, DType dtype) {
  std::optional<ConstValue> first = convertWeak(choice.literals->first, dtype),
                            second = convertWeak(choice.literals->second, dtype);
  if (!first || !second)
    return;
  const Type type = choice.type().withDType(dtype);
  auto arm = [&](const ConstValue &value) {
    return broadcastTo(Operand::constantOf(value, choice.range), type.shape());
  };
  if (auto *select = dyn_cast<checked::SelectExpr>(choice.expr)) {
    auto *result = make<checked::SelectExpr>(type, choice.range);
    result->condition = select->condition;
    result->whenTrue = arm(*first);
    result->whenFalse = arm(*second);
    choice.expr = result;
  } else {
    auto *conditional = cast<checked::ConditionalExpr>(choice.expr);
    auto *result = make<checked::ConditionalExpr>(type, choice.range);
    result->condition = conditional->condition;
    result->whenTrue = arm(*first);
    result->whenFalse = arm(*second);
    choice.expr = result;
  }
  choice.literals = nullptr;
}

bool Sema::convertWeakTo(Operand &operand, DType dtype) {
  if (operand.literals && operand.type().dtype() != dtype)
    retypeChoice(operand, dtype);
  if (!operand.isWeak())
    return true;
  std::optional<ConstValue> value = convertWeak(*operand.constant, dtype);
  if (!value) {
    reportLiteral(operand, dtype);
    return false;
  }
  operand.constant = *value;
  return true;
}

//===----------------------------------------------------------------------===//
// dtypes
//===----------------------------------------------------------------------===//

void Sema::reportDTypeMix(const Operand &left, const Operand &right,
                          SourceRange range, StringRef what) {
  const DType a = left.type().dtype(), b = right.type().dtype();
  const std::string aName(dtypeName(a)), bName(dtypeName(b));
  auto builder = error(diag::dtype_mismatch, range);
  builder.arg(what).arg(aName).arg(bName);
  builder.secondary(left.range, "this is " + describe(left))
      .secondary(right.range, "this is " + describe(right));
  const bool sameWidth = dtypeBits(a) == dtypeBits(b);
  // `var s = 0;` that is to add up floats.
  for (const Operand *operand : {&left, &right})
    if (Symbol *symbol = lookup(textOf(operand->range));
        symbol && symbol->isFromInt && isFloat(operand == &left ? b : a)) {
      builder.note(symbol->range, "an integer literal made this an `int`");
      builder.help("begin with `0.0`, or with `: " + (operand == &left ? bName : aName) +
                   "` behind the name");
      return;
    }
  if (isFloat(a) && isFloat(b) && sameWidth)
    builder.help("convert one side: `.to(" + aName + ")` or `.to(" + bName +
                 ")`; or both: `.to(f32)`");
  else if (isFloat(a) != isFloat(b))
    builder.help("convert the integer side: `.to(" +
                 (isFloat(a) ? aName : bName) + ")`");
  else if (!sameWidth)
    builder.help("convert the narrower side: `.to(" +
                 (dtypeBits(a) > dtypeBits(b) ? aName : bName) + ")`");
  else
    builder.help("convert one side: `.to(" + aName + ")` or `.to(" + bName +
                 ")`");
}

/// A scalar `int` takes these dtypes.
static bool absorbsInt(DType dtype) {
  return dtype == DType::I32 || dtype == DType::U32 || dtype == DType::I64 ||
         dtype == DType::U64;
}

/// A scalar of `from` becomes `to` by itself (conv-C1): `int` a narrower dtype, and
/// what `int` holds wholly, beside a tile of it, `int`.
static bool convertsSilently(Type from, DType to) {
  if (from == Type::scalar(DType::Int))
    return absorbsInt(to);
  return to == DType::Int && from.isScalar() && absorbsInt(from.dtype()) &&
         from.dtype() != DType::U64;
}

/// Which operand decides about the dtype: a choice between literals and a scalar `int`
/// only where nothing else does, a tile of `int` before scalars.
static unsigned decides(const Operand &operand) {
  if (operand.literals)
    return 0;
  if (operand.type() == Type::scalar(DType::Int))
    return 1;
  return operand.type().isScalar() ? 2 : 3;
}

/// Makes literals of the `int`s known at compile time that meet floats, or integers
/// that a scalar `int` does not become by itself.
static void weakenConstantInts(ArrayRef<Operand *> operands) {
  auto isConstantInt = [](const Operand *operand) {
    return operand->isConstant() && !operand->isWeak() &&
           operand->type() == Type::scalar(DType::Int);
  };
  bool wanted = llvm::any_of(operands, [](const Operand *operand) {
    DType dtype = operand->type().dtype();
    return isFloat(dtype) || (isInteger(dtype) && dtypeBits(dtype) < 32);
  });
  for (Operand *operand : operands) {
    if (!wanted || !isConstantInt(operand))
      continue;
    const int64_t value = *operand->constant->toInt64();
    const bool negative = value < 0;
    operand->constant =
        ConstValue::weakInt(negative ? -uint64_t(value) : uint64_t(value), negative);
  }
}

bool Sema::unifyDTypes(SmallVectorImpl<Operand *> &operands, SourceRange range,
                       StringRef what) {
  const Operand *first = nullptr; // the one that decides
  bool hasWeakFloat = false;
  if (llvm::any_of(operands, [](const Operand *o) { return o->isPoison(); }))
    return false;
  weakenConstantInts(operands);
  for (const Operand *operand : operands) {
    hasWeakFloat |= operand->isWeak() && operand->constant->isWeakFloat();
    if (operand->isWeak())
      continue;
    if (!first || decides(*first) < decides(*operand))
      first = operand;
  }
  if (!first) { // all weak: an integer beside a float becomes one
    for (Operand *operand : operands) {
      if (!hasWeakFloat || !operand->constant->isWeakInt())
        continue;
      llvm::APFloat value(llvm::APFloat::IEEEquad());
      value.convertFromAPInt(operand->constant->toWideInt(), /*IsSigned=*/true,
                             llvm::APFloat::rmNearestTiesToEven);
      operand->constant = ConstValue::weakFloat(value);
    }
    return true;
  }
  const DType target = first->type().dtype();
  for (Operand *operand : operands) {
    if (operand->isWeak()) {
      if (!convertWeakTo(*operand, target))
        return false;
      continue;
    }
    if (operand->literals && operand->type().dtype() != target)
      retypeChoice(*operand, target);
    if (operand->type().dtype() == target)
      continue;
    if (convertsSilently(operand->type(), target)) {
      if (operand->isConstant())
        operand->constant = evalCast(*operand->constant, target);
      else
        operand->expr = makeCast(operand->expr, target, locOf(operand->range));
      continue;
    }
    const bool isBefore =
        llvm::find(operands, operand) < llvm::find(operands, first);
    reportDTypeMix(isBefore ? *operand : *first, isBefore ? *first : *operand,
                   range, what);
    return false;
  }
  return true;
}

Operand Sema::castOperand(Operand operand, DType dtype,
                          checked::Rounding rounding, SourceRange range) {
  if (operand.isPoison())
    return operand;
  const DType from = operand.type().dtype();
  if (rounding != checked::Rounding::NearestEven &&
      (!isFloat(from) || !isFloat(dtype) || isF8(dtype))) {
    error(diag::rounding_misplaced, range)
        .arg(llvm::StringRef(dtypeName(from)))
        .arg(llvm::StringRef(dtypeName(dtype)));
    return Operand::poison(range);
  }
  if (operand.isConstant()) {
    ConstValue value = *operand.constant;
    if (value.isWeakFloat() &&
        (!isFloat(dtype) || rounding != checked::Rounding::NearestEven))
      value = evalCast(ConstValue::fromFloat(DType::F64, value.toFloat()),
                       dtype, rounding);
    else if (value.isWeak() && dtype == DType::Bool)
      value = ConstValue::boolean(!value.toWideInt().isZero());
    else if (value.isWeak()) {
      if (!convertWeakTo(operand, dtype))
        return Operand::poison(range);
      value = *operand.constant;
    } else {
      value = evalCast(value, dtype, rounding);
    }
    return Operand::constantOf(value, range);
  }
  // Storage formats convert to integers and back through f32.
  checked::Expr *expr = operand.expr;
  const auto isStorage = [](DType type) {
    return isF8(type) || type == DType::TF32;
  };
  if ((isStorage(from) && !isFloat(dtype)) ||
      (isStorage(dtype) && !isFloat(from)))
    expr = makeCast(expr, DType::F32, locOf(range));
  checked::Expr *converted = makeCast(expr, dtype, locOf(range));
  if (auto *node = dyn_cast<checked::CastExpr>(converted);
      node && converted != expr)
    node->rounding = rounding;
  return inheritShape(Operand::runtime(converted, range), {&operand});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The broadcast of two shapes, or the axis (from the right) where they differ.
static std::optional<unsigned> broadcastShapes(SmallVectorImpl<int64_t> &shape,
                                               ArrayRef<int64_t> other) {
  while (shape.size() < other.size())
    shape.insert(shape.begin(), 1);
  const size_t offset = shape.size() - other.size();
  for (size_t axis = other.size(); axis-- > 0;) {
    int64_t &dim = shape[axis + offset];
    if (dim == 1)
      dim = other[axis];
    else if (other[axis] != 1 && other[axis] != dim)
      return other.size() - 1 - axis;
  }
  return std::nullopt;
}

void Sema::reportBroadcast(const Operand &left, const Operand &right,
                           SourceRange range) {
  const Type a = left.type(), b = right.type();
  SmallVector<int64_t> merged(a.shape());
  const unsigned fromRight = broadcastShapes(merged, b.shape()).value_or(0);
  const unsigned aAxis = a.rank() - 1 - fromRight,
                 bAxis = b.rank() - 1 - fromRight;
  const std::string dims =
      std::to_string(a.dim(aAxis)) + " and " + std::to_string(b.dim(bAxis));
  auto builder = error(diag::broadcast_mismatch, range);
  builder.arg(shapeString(a.shape())).arg(shapeString(b.shape()));
  builder.arg((a.rank() == b.rank() ? "axis " + std::to_string(aAxis) + " is "
                                    : "aligned from the right, ") +
              dims);
  builder.secondary(left.range, "this is " + shapeString(a.shape()));
  builder.secondary(right.range, "this is " + shapeString(b.shape()));
  auto noteOrigin = [&](const Operand &operand, unsigned axis) {
    if (axis >= operand.origins.size())
      return;
    const std::string dim = std::to_string(operand.type().dim(axis));
    const std::string text = textOf(operand.origins[axis].range);
    builder.note(operand.origins[axis].range, dim == text
                                                  ? dim + " comes from here"
                                                  : dim + " is `" + text + "`");
  };
  noteOrigin(left, aAxis);
  noteOrigin(right, bAxis);
  // A reduction that lost its axis is the usual reason.
  for (const Operand *operand : {&left, &right}) {
    const Operand &other = operand == &left ? right : left;
    if (!operand->dropped)
      continue;
    SmallVector<int64_t> kept(operand->type().shape());
    const size_t axis = static_cast<size_t>(operand->dropped->axis);
    if (axis > kept.size() || kept.size() == maxTileRank)
      continue;
    kept.insert(kept.begin() + axis, 1);
    if (broadcastShapes(kept, other.type().shape()))
      continue;
    builder.note(operand->dropped->call,
                 "`" + textOf(operand->dropped->call) + "` dropped axis " +
                     llvm::Twine(operand->dropped->axis));
    builder.help("`keep: true` keeps it as an axis of one");
    return;
  }
  for (const Operand *operand : {&left, &right}) {
    const std::string text = textOf(operand->range);
    const llvm::StringRef call(text);
    if ((call.starts_with("max(") || call.starts_with("min(")) &&
        (call.ends_with(", 0)") || call.ends_with(", 1)"))) {
      builder.help("`" + text + "` compares each element with the number; along an axis it is `" +
                   call.take_front(3) + "(…, axis: " + call.drop_back(1).take_back(1) + ")`");
      return;
    }
  }
  if (a.rank() == 2 && b.rank() == 2 && a.dim(0) == b.dim(1) &&
      a.dim(1) == b.dim(0))
    builder.help("`permute(" + textOf(right.range) + ", [1, 0])` matches");
}

/// `x - sum(x, axis: 1)` of a square tile: the sum fits as a column, which it is, and
/// is taken for a row.
void Sema::warnDroppedAxis(const Operand &operand, const Operand &other,
                           SourceRange range) {
  if (!operand.dropped || !operand.isRuntime() || !other.isRuntime() ||
      operand.type().rank() + 1 != other.type().rank())
    return;
  SmallVector<int64_t> kept(operand.type().shape()), asRow(kept);
  asRow.insert(asRow.begin(), 1);
  const size_t axis = static_cast<size_t>(operand.dropped->axis);
  if (axis > kept.size())
    return;
  kept.insert(kept.begin() + axis, 1);
  // Both ways the other's shape is that of the result.
  const auto fits = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> merged(other.type().shape());
    return !broadcastShapes(merged, shape) && ArrayRef<int64_t>(merged) == other.type().shape();
  };
  if (kept == asRow || !fits(kept) || !fits(asRow))
    return;
  error(diag::dropped_axis, range)
      .arg(textOf(operand.dropped->call))
      .arg(int64_t(axis))
      .arg(shapeString(other.type().shape()))
      .secondary(operand.range, "this is " + shapeString(operand.type().shape()))
      .help("`keep: true` keeps the axis; `[None, :]` behind it says that a row is meant");
}

bool Sema::unifyShapes(SmallVectorImpl<Operand *> &operands, SourceRange range,
                       StringRef what) {
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < operands.size(); ++i) {
    SmallVector<int64_t> merged = shape;
    if (broadcastShapes(merged, operands[i]->type().shape())) {
      // Name the operand that the shape so far comes from.
      for (size_t j = 0; j < i; ++j) {
        SmallVector<int64_t> pair(operands[j]->type().shape());
        if (!broadcastShapes(pair, operands[i]->type().shape()))
          continue;
        reportBroadcast(*operands[j], *operands[i], range);
        return false;
      }
    }
    shape = merged;
  }
  if (!checkTileSize(shape, range))
    return false;
  for (const Operand *operand : operands)
    for (const Operand *other : operands)
      warnDroppedAxis(*operand, *other, range);
  for (Operand *operand : operands) {
    Operand unified =
        Operand::runtime(broadcastTo(*operand, shape), operand->range);
    if (operand->isRuntime() && operand->type().rank() == shape.size()) {
      unified.origins = operand->origins;
      unified.dropped = operand->dropped;
    }
    *operand = std::move(unified);
  }
  return true;
}

/// Where the dims of an elementwise result came from: from the operand that was
/// not stretched.
Operand Sema::inheritShape(Operand result, ArrayRef<Operand *> operands) {
  const unsigned rank = result.type().rank();
  SmallVector<Origin> origins(rank);
  bool hasAny = false;
  for (const Operand *operand : operands) {
    if (!operand->isRuntime())
      continue;
    // Look through the stretching of an operand.
    const checked::Expr *source = operand->expr;
    if (auto *broadcast = dyn_cast<checked::BroadcastExpr>(source))
      source = broadcast->operand;
    if (operand->origins.size() != rank || source->type.rank() != rank)
      continue;
    for (unsigned axis = 0; axis < rank; ++axis) {
      if (origins[axis].range.isValid() ||
          source->type.dim(axis) != result.type().dim(axis))
        continue;
      origins[axis] = operand->origins[axis];
      hasAny = true;
    }
    if (!result.dropped)
      result.dropped = operand->dropped;
  }
  if (!hasAny)
    return result;
  for (Origin &origin : origins)
    if (!origin.range.isValid())
      origin.range = result.range;
  result.origins = copy(origins);
  return result;
}

//===- SemaType.cpp - types, shapes and compile-time values in source -----===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Places of the syntax where a type, a shape, a compile-time value, an index or
// a condition is wanted.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Common
//===----------------------------------------------------------------------===//

/// An error, with the calls of fns that lead to it.
DiagnosticBuilder Sema::error(diag::Id id, SourceRange range) {
  DiagnosticBuilder builder = diags.report(id, range);
  unsigned shown = 0;
  for (FunctionContext *context = function; context && context->fn && shown < 4;
       context = context->caller, ++shown)
    builder.note(context->callRange,
                 "in this call of `" + context->fn->name.text + "`");
  return builder;
}

void Sema::labelOrigin(DiagnosticBuilder &builder, const Operand &operand,
                       unsigned axis, StringRef what) {
  if (axis < operand.origins.size())
    builder.secondary(operand.origins[axis].range, what);
  else
    builder.secondary(operand.range, what);
}

//===----------------------------------------------------------------------===//
// Compile-time values
//===----------------------------------------------------------------------===//

std::optional<int64_t> Sema::checkConstInt(const ast::Expr *expr,
                                           StringRef what) {
  Operand value = checkExpr(expr);
  if (value.isPoison())
    return std::nullopt;
  if (value.isRuntime() && isInteger(value.type().dtype())) {
    error(diag::not_compile_time, expr->getRange()).arg(what);
    return std::nullopt;
  }
  std::optional<int64_t> result;
  if (value.isConstant() && isInteger(value.constant->dtype()))
    result = value.constant->toInt64();
  if (!result)
    error(diag::not_integer, expr->getRange()).arg(what).arg(describe(value));
  return result;
}

std::optional<bool> Sema::checkConstBool(const ast::Expr *expr,
                                         StringRef what) {
  Operand value = checkCondition(expr, what);
  if (value.isConstant())
    return value.constant->isTrue();
  if (!value.isPoison())
    error(diag::not_compile_time, expr->getRange()).arg(what);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Names of types elsewhere.
static StringRef foreignDType(StringRef name) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"float16", "f16"},     {"half", "f16"},        {"fp16", "f16"},
      {"bfloat16", "bf16"},   {"float32", "f32"},     {"float", "f32"},
      {"fp32", "f32"},        {"float64", "f64"},     {"double", "f64"},
      {"fp64", "f64"},        {"int8", "i8"},         {"int16", "i16"},
      {"int32", "i32"},       {"int64", "i64"},       {"uint8", "u8"},
      {"uint16", "u16"},      {"uint32", "u32"},      {"uint64", "u64"},
      {"index", "int"},       {"size_t", "int"},      {"usize", "int"},
      {"isize", "int"},       {"i1", "bool"},         {"boolean", "bool"},
      {"fp8e4m3", "f8e4m3"},  {"fp8e5m2", "f8e5m2"},  {"float8e4nv", "f8e4m3"},
      {"float8e5", "f8e5m2"}, {"f8e4m3fn", "f8e4m3"}, {"char", "i8"},
      {"short", "i16"},       {"long", "i64"},        {"unsigned", "u32"},
      {"tfloat32", "tf32"},   {"f8", "f8e4m3"},       {"fp8", "f8e4m3"},
  };
  for (const auto &[foreign, ours] : table)
    if (foreign == name)
      return ours;
  return "";
}

std::optional<DType> Sema::resolveDType(const ast::Name &name) {
  FileId file = 0;
  Operand value = Operand::poison(name.range);
  if (Symbol *symbol = lookup(name.text)) {
    value = symbol->kind == Symbol::Kind::Value ? symbol->value
                                                : Operand::nothing(name.range);
  } else if (const ast::Decl *item = findItem(name.text, &file);
             item && llvm::isa<ast::ConstDecl>(item)) {
    value = globalConstant(*cast<ast::ConstDecl>(item), file, name.range);
  } else if (std::optional<DType> dtype =
                 parseDType(std::string_view(name.text))) {
    return dtype;
  } else {
    auto builder = error(diag::unknown_type, name.range);
    builder.arg(name.text);
    SmallVector<StringRef> names;
    for (unsigned i = 0; i < numDTypes; ++i)
      names.push_back(StringRef(dtypeName(static_cast<DType>(i))));
    StringRef ours = foreignDType(name.text);
    if (ours.empty())
      ours = closest(name.text, names).value_or("");
    if (!ours.empty())
      builder.fixIt(name.range, ours, "did you mean `" + ours + "`?");
    return std::nullopt;
  }
  if (value.kind == Operand::Kind::DType)
    return value.dtype;
  if (!value.isPoison())
    error(diag::unknown_type, name.range)
        .arg(name.text)
        .label("this is not a type");
  return std::nullopt;
}

std::optional<DType> Sema::checkDType(const ast::Expr *expr, StringRef what) {
  if (auto *name = dyn_cast<ast::NameExpr>(expr))
    return resolveDType({name->name, name->getRange()});
  Operand value = checkExpr(expr);
  if (value.kind == Operand::Kind::DType)
    return value.dtype;
  if (!value.isPoison())
    error(diag::argument_kind, expr->getRange())
        .arg(what)
        .arg("T")
        .arg("a dtype")
        .arg(describe(value));
  return std::nullopt;
}

Type Sema::resolveType(const ast::TypeExpr *type, ArrayRef<Origin> *origins) {
  if (auto *name = dyn_cast<ast::NameTypeExpr>(type)) {
    std::optional<DType> dtype = resolveDType(name->name);
    return dtype ? Type::scalar(*dtype) : Type::poison();
  }
  if (auto *tile = dyn_cast<ast::TileTypeExpr>(type)) {
    std::optional<DType> dtype = resolveDType(tile->element);
    SmallVector<int64_t> shape;
    if (!checkShapeList(tile->dims, type->getRange(), shape, origins) || !dtype)
      return Type::poison();
    return Type::tile(*dtype, shape);
  }
  error(diag::array_type_misplaced, type->getRange());
  return Type::poison();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool Sema::checkShape(const ast::Expr *expr, StringRef what,
                      SmallVectorImpl<int64_t> &shape,
                      ArrayRef<Origin> *origins) {
  if (auto *list = dyn_cast<ast::ListExpr>(expr))
    return checkShapeList(list->elements, expr->getRange(), shape, origins);
  Operand value = checkExpr(expr);
  if (value.isPoison())
    return false;
  auto builder = error(diag::argument_kind, expr->getRange());
  builder.arg(what)
      .arg("shape")
      .arg("a list of compile-time values")
      .arg(describe(value));
  if (value.isConstant())
    builder.fixIt(expr->getRange(), "[" + textOf(expr->getRange()) + "]",
                  "a shape is written in brackets");
  return false;
}

bool Sema::checkShapeList(ArrayRef<ast::Expr *> dims, SourceRange range,
                          SmallVectorImpl<int64_t> &shape,
                          ArrayRef<Origin> *origins) {
  SmallVector<Origin> places;
  bool isValid = true;
  for (const ast::Expr *expr : dims) {
    int64_t dim = 1;
    isValid &= checkTileDim(expr, dim);
    shape.push_back(dim);
    places.push_back({expr->getRange()});
  }
  if (dims.size() > maxTileRank) {
    error(diag::tile_rank, range).arg(int64_t(dims.size()));
    return false;
  }
  if (origins)
    *origins = copy(places);
  return isValid && checkTileSize(shape, range);
}

bool Sema::checkTileSize(ArrayRef<int64_t> shape, SourceRange range) {
  // Dims are at most 2^40 here: six of them do not fit in 64 bits.
  double elements = 1;
  for (int64_t dim : shape)
    elements *= static_cast<double>(dim);
  if (elements <= maxTileElements)
    return true;
  unsigned longest = 0;
  for (unsigned i = 1; i < shape.size(); ++i)
    if (shape[i] > shape[longest])
      longest = i;
  const std::string count = elements < 1e18
                                ? std::to_string(static_cast<int64_t>(elements))
                                : "over 10^18";
  error(diag::tile_too_large, range)
      .arg(shapeString(shape))
      .arg(count)
      .help("split axis " + llvm::Twine(longest) + " into several tiles");
  return false;
}

/// A tile dimension: a power of two, known at compile time (tile-C1).
bool Sema::checkTileDim(const ast::Expr *expr, int64_t &dim) {
  Operand value = checkExpr(expr);
  if (value.isPoison())
    return false;
  if (value.isRuntime() && isInteger(value.type().dtype()) &&
      value.type().isScalar()) {
    reportRuntimeDim(expr, value);
    return false;
  }
  std::optional<int64_t> constant;
  if (value.isConstant() && isInteger(value.constant->dtype()))
    constant = value.constant->toInt64();
  if (!constant) {
    error(diag::not_integer, expr->getRange())
        .arg("a tile dimension")
        .arg(describe(value));
    return false;
  }
  dim = *constant;
  if (dim > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(dim)) &&
      dim <= (int64_t(1) << 40))
    return true;
  std::string setBy;
  if (auto *name = dyn_cast<ast::NameExpr>(expr))
    if (Symbol *symbol = lookup(name->name);
        symbol && symbol->isConstParam && !symbol->setBy.empty())
      setBy = " (set by `" + symbol->setBy + "`)";
  auto builder = error(diag::tile_dim_not_power_of_two, expr->getRange());
  builder.arg(textOf(expr->getRange())).arg(dim).arg(setBy);
  if (dim == -1)
    builder.help("every dim is written out");
  if (dim > 1 && dim <= maxTileElements)
    builder.help("use " +
                 llvm::Twine(llvm::NextPowerOf2(static_cast<uint64_t>(dim))) +
                 "; loads pad and stores cut the edge");
  dim = 1;
  return false;
}

void Sema::reportRuntimeDim(const ast::Expr *expr, const Operand &value) {
  auto builder = error(diag::runtime_tile_dim, expr->getRange());
  const std::string text = textOf(expr->getRange());
  builder.arg(text);
  auto *name = dyn_cast<ast::NameExpr>(expr);
  Symbol *symbol = name ? lookup(name->name) : nullptr;
  if (!symbol)
    return;
  if (symbol->kind == Symbol::Kind::Dim && function && !function->fn) {
    builder.secondary(symbol->range,
                      "bound from the shape of `" + symbol->param->name + "`");
    builder.help("add `<BN: int>` and loop over `cdiv(" + text +
                 ", BN)` tiles");
  } else if (symbol->isParam && function && function->fn) {
    builder.secondary(symbol->range,
                      "this parameter needs a compile-time argument");
  } else if (symbol->isVar) {
    builder.secondary(symbol->range, "a `var` is a runtime value")
        .help("use `let` or `const`");
  } else {
    builder.secondary(symbol->range, "defined here");
    if (symbol->isParam)
      builder.help("make it a compile-time parameter: `<" + text +
                   ": int>` after the kernel's name");
  }
}

//===----------------------------------------------------------------------===//
// Indices and conditions
//===----------------------------------------------------------------------===//

checked::Expr *Sema::checkInt(const ast::Expr *expr, StringRef what) {
  return toInt(checkValue(expr), what);
}

checked::Expr *Sema::toInt(Operand value, StringRef what) {
  if (value.isPoison())
    return nullptr;
  const Type type = value.type();
  if (!type.isScalar() || !isInteger(type.dtype())) {
    auto builder = error(diag::not_integer, value.range);
    builder.arg(what).arg(describe(value));
    if (type.isScalar() && isFloat(type.dtype()) && value.isRuntime())
      builder.help("`.to(int)` truncates");
    else if (type.isTile() && isInteger(type.dtype()) && what == "an index")
      builder.help("`gather` and `scatter` take tiles of indices");
    return nullptr;
  }
  if (value.isWeak() && !convertWeakTo(value, DType::Int))
    return nullptr;
  return makeCast(materialize(value), DType::Int, locOf(value.range));
}

Operand Sema::checkCondition(const ast::Expr *expr, StringRef what) {
  Operand value = checkValue(expr);
  if (value.isPoison())
    return value;
  const Type type = value.type();
  if (type.isScalar() && type.dtype() == DType::Bool)
    return value;
  auto builder = error(diag::condition_type, expr->getRange());
  builder.arg(what).arg(describe(value));
  if (type.isTile() && type.dtype() == DType::Bool)
    builder.help("`any(…)` or `all(…)` makes one value of it");
  else if (type.isScalar() && isInteger(type.dtype()))
    builder.help("compare it: `" + textOf(expr->getRange()) + " != 0`");
  return Operand::poison(expr->getRange());
}

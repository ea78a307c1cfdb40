//===- SemaBuiltinMemory.cpp - loads and stores
//----------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// load, store, load_at, store_at: an array, one index per dim, a shape of the
// array's rank, and the order in which tile axes run along array axes.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const checked::Param *Sema::checkArrayArg(const ast::Expr *expr,
                                          StringRef builtin) {
  Operand value = checkExpr(expr);
  if (value.isArray())
    return value.array;
  if (value.isPoison())
    return nullptr;
  auto report = error(diag::argument_kind, expr->getRange());
  report.arg(builtin).arg("a").arg("an array").arg(describe(value));
  if (builtin == "gather" && value.isValue())
    report.help("`take(x, indices, axis)` takes elements of a tile");
  else if (builtin == "load" && value.isValue())
    report.help("`extract(x, index, shape)` takes a part of a tile");
  return nullptr;
}

bool Sema::checkWritable(const checked::Param *array, const ast::Expr *expr,
                         StringRef builtin) {
  if (array->isMut)
    return true;
  error(diag::store_read_only, expr->getRange())
      .arg(array->name)
      .label("`" + builtin + "` writes it")
      .secondary(array->range, "declared without `mut` here")
      .help("declare it `" + array->name + ": mut array<…>`");
  return false;
}

/// `i * BN` in an index of `load`, or a `let` of that, where the tile is BN wide.
void Sema::warnElementOffset(const ast::Expr *index, int64_t dim,
                             StringRef builtin) {
  // A loop in steps of a tile counts elements.
  auto *variable = dyn_cast<ast::NameExpr>(index);
  Symbol *symbol = variable ? lookup(variable->name) : nullptr;
  if (symbol && symbol->isLoopVar && symbol->step == dim && dim >= 8)
    warning(diag::element_offset, index->getRange())
        .arg(textOf(index->getRange()))
        .arg(builtin)
        .secondary(symbol->range, "goes in steps of " + std::to_string(dim))
        .help("let the loop count tiles, or use `load_at` and `store_at`, "
              "which count elements");
  auto *product = dyn_cast<ast::BinaryExpr>(symbol && symbol->init ? symbol->init : index);
  if (!product || product->op != ast::BinaryOp::Mul || dim <= 1)
    return;
  auto isTheDim = [&](const ast::Expr *expr) {
    if (auto *literal = dyn_cast<ast::IntLiteralExpr>(expr))
      return !literal->negative &&
             literal->magnitude == static_cast<uint64_t>(dim);
    auto *name = dyn_cast<ast::NameExpr>(expr);
    Symbol *symbol = name ? lookup(name->name) : nullptr;
    return symbol && symbol->kind == Symbol::Kind::Value &&
           symbol->value.isConstant() &&
           isInteger(symbol->value.constant->dtype()) &&
           symbol->value.constant->toInt64() == dim;
  };
  const ast::Expr *other = isTheDim(product->rhs)   ? product->lhs
                           : isTheDim(product->lhs) ? product->rhs
                                                    : nullptr;
  if (!other)
    return;
  auto builder = warning(diag::element_offset, index->getRange());
  builder.arg(textOf(index->getRange())).arg(builtin);
  if (symbol && symbol->init)
    builder.secondary(symbol->range, "`" + textOf(product->getRange()) + "`");
  builder.help("write `" + textOf(other->getRange()) +
            "`, or use `load_at` and `store_at`, which count elements");
}

/// The entries of an index, which is written as a list, at `place` if that is worth saying; null
/// after an error.
const ast::ListExpr *Sema::checkIsIndex(const ast::Expr *expr, StringRef builtin,
                                        const checked::Param *array, StringRef place) {
  if (auto *list = dyn_cast<ast::ListExpr>(expr))
    return list;
  Operand value = checkExpr(expr);
  if (value.isPoison())
    return nullptr;
  auto builder = error(diag::argument_kind, expr->getRange());
  builder.arg(builtin)
      .arg("index")
      .arg("a list with one entry per dim")
      .arg(describe(value));
  if (!place.empty() && value.isValue() && value.type().isTile() &&
      isInteger(value.type().dtype()))
    builder.help("tiles of indices are for `gather` and `scatter`; `load` and `store` take the "
                 "number of a tile: `[bid(0)]`");
  else if (value.isValue() && array && array->rank() == 1)
    builder.fixIt(expr->getRange(), "[" + textOf(expr->getRange()) + "]",
                  "an index is written in brackets");
  else if (!place.empty() &&
           (value.kind == Operand::Kind::Tuple || value.type().isTile()))
    builder.help("`[i, j]`, " + place.str());
  else if (place.empty() && value.isArray())
    builder.help("load a tile of it: `[load(" + value.array->name + ", [i], [B])]`");
  return nullptr;
}

/// An index has as many entries as the array has dims.
bool Sema::checkIndexRank(const ast::Expr *expr, const checked::Param *array, size_t entries) {
  if (entries == array->rank())
    return true;
  error(diag::index_rank, expr->getRange())
      .arg(array->name)
      .arg(int64_t(array->rank()))
      .arg(int64_t(entries))
      .arg(entries == 1 ? "y" : "ies")
      .secondary(array->range, "declared here");
  return false;
}

/// One index per axis, in tile axis order. `shape` is empty for one element.
bool Sema::checkIndexList(const ast::Expr *expr, StringRef builtin,
                          const checked::Param *array, ArrayRef<int64_t> shape,
                          bool elements,
                          SmallVectorImpl<checked::Expr *> &index) {
  const ast::ListExpr *list =
      checkIsIndex(expr, builtin, array, "before the shape of a load or the tile of a store");
  if (!list)
    return false;
  bool isValid = true;
  for (auto [axis, entry] : llvm::enumerate(list->elements)) {
    checked::Expr *value = checkInt(entry, "an index");
    isValid &= value != nullptr;
    index.push_back(value);
    if (!elements && axis < shape.size())
      warnElementOffset(entry, shape[axis], "load");
  }
  return array && checkIndexRank(expr, array, index.size()) && isValid;
}

/// `order: [1, 0]`; the identity when not given.
bool Sema::checkOrder(const ast::Expr *expr, unsigned rank,
                      SmallVectorImpl<unsigned> &order, StringRef name) {
  if (!expr) {
    for (unsigned i = 0; i < rank; ++i)
      order.push_back(i);
    return true;
  }
  auto *list = dyn_cast<ast::ListExpr>(expr);
  SmallVector<bool> seen(rank, false);
  bool isPermutation = list && list->elements.size() == rank;
  for (const ast::Expr *element :
       list ? list->elements : ArrayRef<ast::Expr *>()) {
    std::optional<int64_t> axis = checkConstInt(element, "an entry of `" + name.str() + "`");
    if (!axis)
      return false;
    if (*axis < 0 || *axis >= rank || seen[*axis]) {
      isPermutation = false;
      continue;
    }
    seen[*axis] = true;
    order.push_back(static_cast<unsigned>(*axis));
  }
  if (isPermutation)
    return true;
  error(diag::permutation, expr->getRange())
      .arg(name)
      .arg(int64_t(rank) - 1)
      .arg(textOf(expr->getRange()));
  return false;
}

checked::ConstantExpr *Sema::checkPad(const ast::Expr *expr, DType dtype,
                                      SourceRange callRange) {
  Operand pad = Operand::constantOf(ConstValue(dtype, 0), callRange);
  if (expr) {
    pad = checkValue(expr);
    if (pad.isPoison())
      return nullptr;
    if (pad.isRuntime()) {
      error(diag::pad_not_constant, expr->getRange());
      return nullptr;
    }
    if (!convertWeakTo(pad, dtype))
      return nullptr;
    Operand like = Operand::constantOf(ConstValue(dtype, 0), callRange);
    if (pad.type().dtype() != dtype) {
      if (!unifyPair(pad, like, expr->getRange(), "pad"))
        return nullptr;
      pad.constant = evalCast(*pad.constant, dtype);
    }
  }
  return makeConstant(*pad.constant, Type::scalar(dtype), locOf(pad.range));
}

//===----------------------------------------------------------------------===//
// load
//===----------------------------------------------------------------------===//

static std::string ies(size_t count) { return count == 1 ? "y" : "ies"; }

Operand Sema::makeLoad(CallArgs &args, bool elements) {
  const checked::Param *array =
      checkArrayArg(args.values[0], args.builtin->name);
  const ast::Expr *shapeExpr = args.get("shape");
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  bool isValid =
      !shapeExpr || checkShape(shapeExpr, args.builtin->name, shape, &origins);
  SmallVector<checked::Expr *> index;
  isValid &= checkIndexList(args.values[1], args.builtin->name, array, shape, elements,
                            index);
  if (!array)
    return Operand::poison(args.range);
  if (shapeExpr && isValid && shape.size() != array->rank()) {
    error(diag::shape_rank, shapeExpr->getRange())
        .arg(array->name)
        .arg(int64_t(array->rank()))
        .arg(int64_t(shape.size()))
        .arg(ies(shape.size()))
        .secondary(array->range, "declared here");
    return Operand::poison(args.range);
  }
  SmallVector<unsigned> order;
  isValid &= checkOrder(args.get("order"), array->rank(), order);
  checked::ConstantExpr *pad =
      checkPad(args.get("pad"), array->dtype, args.range);
  if (!isValid || !pad)
    return Operand::poison(args.range);
  auto *load =
      make<checked::LoadExpr>(Type::tile(array->dtype, shape), args.range);
  load->array = array;
  load->index = copy(index);
  load->order = copy(order);
  load->pad = pad;
  load->elements = elements;
  Operand result = Operand::runtime(load, args.range);
  result.origins = origins;
  return result;
}

Operand Sema::checkLoad(CallArgs &args) {
  return makeLoad(args, /*elements=*/false);
}
Operand Sema::checkLoadAt(CallArgs &args) {
  return makeLoad(args, /*elements=*/true);
}

//===----------------------------------------------------------------------===//
// store
//===----------------------------------------------------------------------===//

/// The value with the array's dtype: a literal takes it, a scalar `int`
/// converts where it would beside a value of that dtype, anything else must
/// have it.
Operand Sema::checkStored(const ast::Expr *expr, const checked::Param *array,
                          StringRef builtin) {
  Operand value = checkValue(expr);
  if (value.isPoison() || !array)
    return Operand::poison(expr->getRange());
  if (value.isWeak())
    return convertWeakTo(value, array->dtype)
               ? value
               : Operand::poison(expr->getRange());
  convertWeakTo(value, array->dtype);
  const DType from = value.type().dtype(), to = array->dtype;
  if (from == to)
    return value;
  const bool absorbs = to == DType::I32 || to == DType::U32 ||
                       to == DType::I64 || to == DType::U64;
  if (value.type() == Type::scalar(DType::Int) && absorbs)
    return castOperand(value, to, checked::Rounding::NearestEven, value.range);
  const std::string name(dtypeName(to));
  auto builder = error(diag::store_dtype, expr->getRange());
  builder.arg(value.type().str())
      .arg(array->name)
      .arg(name)
      .secondary(array->range, "declared here");
  const std::string text = textOf(expr->getRange());
  const bool isSimple = llvm::isa<ast::NameExpr>(expr) ||
                        llvm::isa<ast::CallExpr>(expr) ||
                        llvm::isa<ast::IndexExpr>(expr);
  builder.fixIt(expr->getRange(),
                isSimple ? text + ".to(" + name + ")"
                         : "(" + text + ").to(" + name + ")",
                "convert it: `.to(" + name + ")`");
  return Operand::poison(expr->getRange());
}

Operand Sema::makeStore(CallArgs &args, bool elements) {
  const StringRef name = args.builtin->name;
  const checked::Param *array = checkArrayArg(args.values[0], name);
  bool isValid = array && checkWritable(array, args.values[0], name);
  // The value is evaluated after the index, as it is written.
  SmallVector<checked::Expr *> index;
  isValid &= checkIndexList(args.values[1], name, array, {}, elements, index);
  Operand value = checkStored(args.values[2], array, name);
  if (!array || value.isPoison())
    return Operand::poison(args.range);
  const Type type = value.type();
  if (!elements)
    if (auto *list = dyn_cast<ast::ListExpr>(args.values[1]))
      for (auto [axis, entry] : llvm::enumerate(list->elements))
        if (axis < type.rank())
          warnElementOffset(entry, type.dim(axis), "store");
  if (type.rank() != array->rank() && !(elements && type.isScalar())) {
    auto builder = error(diag::store_rank, value.range);
    builder.arg(array->name)
        .arg(int64_t(array->rank()))
        .arg(int64_t(type.rank()));
    builder.secondary(array->range, "declared here");
    if (type.isScalar())
      builder.help(
          "`store_at` writes one element; `full` makes a tile of a scalar");
    else if (value.dropped)
      builder.note(value.dropped->call,
                   "this drops axis " + llvm::Twine(value.dropped->axis) +
                       "; `keep: true` keeps it as an axis of one");
    else if (type.rank() < array->rank())
      builder.help("`x[None, :]` adds an axis of one");
    else if (llvm::is_contained(type.shape(), 1))
      builder.help("`squeeze(x, axis)` removes an axis of one");
    return Operand::poison(args.range);
  }
  SmallVector<unsigned> order;
  isValid &= checkOrder(args.get("order"), array->rank(), order);
  if (!isValid)
    return Operand::poison(args.range);
  auto *store = emit<checked::StoreStmt>(args.range);
  store->array = array;
  store->index = copy(index);
  store->order = copy(order);
  store->elements = elements;
  store->value = materialize(value);
  return Operand::nothing(args.range);
}

Operand Sema::checkStore(CallArgs &args) {
  return makeStore(args, /*elements=*/false);
}
Operand Sema::checkStoreAt(CallArgs &args) {
  return makeStore(args, /*elements=*/true);
}

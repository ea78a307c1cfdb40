//===- SemaExpr.cpp - expressions
//-------------------------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Names, `?:`, members and indexing. Operators are in SemaOperator.cpp, calls
// in SemaCall.cpp, compile-time values and types in SemaType.cpp.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Nesting that is safe for every walk over the checked tree.
static constexpr unsigned maxDepth = 1500;

bool Sema::isTooDeep(SourceRange range) {
  if (depth < maxDepth)
    return false;
  if (!reportedSize)
    error(diag::calls_too_deep, range).arg(int64_t(maxDepth));
  reportedSize = true;
  return true;
}

bool Sema::isTooLarge(SourceRange range) {
  static constexpr size_t maxNodes = 1 << 18;
  if (reportedSize)
    return true;
  if (numNodes < maxNodes)
    return false;
  reportedSize = true;
  error(diag::program_too_large, range).arg(kernel ? kernel->name : "");
  return true;
}

Operand Sema::checkExpr(const ast::Expr *expr) {
  if (isTooLarge(expr->getRange()) || isTooDeep(expr->getRange()))
    return Operand::poison(expr->getRange());
  ++depth;
  Operand result = checkExprKind(expr);
  --depth;
  result.range = expr->getRange();
  return result;
}

Operand Sema::checkExprKind(const ast::Expr *expr) {
  const SourceRange range = expr->getRange();
  switch (expr->getKind()) {
  case ast::Expr::Kind::IntLiteral: {
    auto *literal = cast<ast::IntLiteralExpr>(expr);
    return Operand::constantOf(
        ConstValue::weakInt(literal->magnitude, literal->negative), range);
  }
  case ast::Expr::Kind::FloatLiteral: {
    auto *literal = cast<ast::FloatLiteralExpr>(expr);
    return Operand::constantOf(
        ConstValue::weakFloat(literal->digits, literal->negative), range);
  }
  case ast::Expr::Kind::BoolLiteral:
    return Operand::constantOf(
        ConstValue::boolean(cast<ast::BoolLiteralExpr>(expr)->value), range);
  case ast::Expr::Kind::StringLiteral:
    error(diag::not_a_value, range).arg("a string");
    return Operand::poison(range);
  case ast::Expr::Kind::Name:
    return checkName(*cast<ast::NameExpr>(expr));
  case ast::Expr::Kind::Unary:
    return checkUnaryOperator(*cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary:
    return checkBinaryOperator(*cast<ast::BinaryExpr>(expr));
  case ast::Expr::Kind::Conditional:
    return checkConditional(*cast<ast::ConditionalExpr>(expr));
  case ast::Expr::Kind::Call:
    return checkCall(*cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Member:
    return checkMember(*cast<ast::MemberExpr>(expr));
  case ast::Expr::Kind::Index:
    return checkIndex(*cast<ast::IndexExpr>(expr));
  case ast::Expr::Kind::List:
    error(diag::not_a_value, range)
        .arg("a list")
        .help("a tile is made by `full`, `arange`, `load`, …");
    return Operand::poison(range);
  case ast::Expr::Kind::Tuple:
    error(diag::tuple_as_value, range)
        .arg(int64_t(cast<ast::TupleExpr>(expr)->elements.size()))
        .help("a shape or an index is written `[a, b]`");
    return Operand::poison(range);
  }
  return Operand::poison(range);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Operand Sema::checkValue(const ast::Expr *expr) {
  return requireValue(checkExpr(expr));
}

Operand Sema::requireValue(Operand operand) {
  const SourceRange range = operand.range;
  switch (operand.kind) {
  case Operand::Kind::Poison:
  case Operand::Kind::Runtime:
  case Operand::Kind::Constant:
    return operand;
  case Operand::Kind::Nothing:
    error(diag::no_value, range)
        .arg(textOf(range))
        .help("a fn gives what it returns: `return x;`");
    break;
  case Operand::Kind::Array:
    error(diag::array_as_value, range)
        .arg(operand.array->name)
        .secondary(operand.array->range, "declared here")
        .help("`load` a tile of it");
    break;
  case Operand::Kind::Tuple:
    error(diag::tuple_as_value, range)
        .arg(int64_t(operand.elements.size()))
        .help("take it apart: `let (a, b) = …;`");
    break;
  case Operand::Kind::Shape:
    error(diag::not_a_value, range)
        .arg(describe(operand))
        .help("one dim of it is `" + operand.array->name + ".shape[0]`");
    break;
  case Operand::Kind::Builtin:
    error(diag::not_a_value, range)
        .arg(describe(operand))
        .help("call it: `" + textOf(range) + "(…)`");
    break;
  default:
    error(diag::not_a_value, range).arg(describe(operand));
    break;
  }
  return Operand::poison(range);
}

std::string Sema::describe(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Poison:
    return "unknown";
  case Operand::Kind::Nothing:
    return "nothing";
  case Operand::Kind::Runtime:
    return operand.type().str();
  case Operand::Kind::Constant:
    if (operand.constant->isWeak())
      return std::string(operand.constant->isWeakInt() ? "the integer `"
                                                       : "the float `") +
             operand.constant->str() + "`";
    return operand.type().str() + " `" + operand.constant->str() + "`";
  case Operand::Kind::Array:
    return "array `" + operand.array->name.str() + "`";
  case Operand::Kind::DType:
    return "dtype `" + std::string(dtypeName(operand.dtype)) + "`";
  case Operand::Kind::Fn:
    return "fn `" + operand.fn->name.text.str() + "`";
  case Operand::Kind::Builtin:
    return "function `" + operand.builtin->name.str() + "`";
  case Operand::Kind::Shape:
    return "the shape of `" + operand.array->name.str() + "`";
  case Operand::Kind::Tuple:
    return "a tuple of " + std::to_string(operand.elements.size()) + " values";
  }
  return "unknown";
}

std::string Sema::textOf(SourceRange range) const {
  // One line, not too long: it stands in the middle of a sentence.
  std::string text;
  bool wasSpace = false;
  for (char c : sources.getText(range)) {
    const bool isSpace = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!isSpace)
      text += c;
    else if (!wasSpace)
      text += ' ';
    wasSpace = isSpace;
  }
  static constexpr size_t limit = 60;
  if (text.size() <= limit)
    return text;
  text.resize(limit);
  while (!text.empty() &&
         (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
    text.pop_back(); // not inside a UTF-8 sequence
  return text + "…";
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Symbol *Sema::declare(StringRef name, SourceRange range) {
  Symbol &symbol = symbols.emplace_back();
  symbol.name = name;
  symbol.range = range;
  auto [place, isNew] = function->scopes.back().try_emplace(name, &symbol);
  if (!isNew) {
    if (name != "_")
    {
      auto builder = error(diag::redefinition, range);
      builder.arg(name).note(place->second->range, "first defined here");
      if (place->second->kind == Symbol::Kind::Dim)
        builder.help("an array binds its dims; a scalar parameter of the same value "
                     "is not needed");
    }
    place->second = &symbol;
  }
  return &symbol;
}

Symbol *Sema::lookup(StringRef name) {
  if (!function)
    return nullptr;
  for (const Scope &scope : llvm::reverse(function->scopes))
    if (Symbol *symbol = scope.lookup(name))
      return symbol;
  return nullptr;
}

checked::Variable *Sema::newVariable(StringRef name, Type type, bool isMutable,
                                     SourceRange range) {
  auto *variable = out.create<checked::Variable>();
  variable->name = out.copy(name);
  variable->type = type;
  variable->isMutable = isMutable;
  variable->loc = locOf(range);
  variable->id = kernel ? kernel->numVariables++ : 0;
  return variable;
}

Operand Sema::readSymbol(Symbol &symbol, SourceRange range) {
  Operand result;
  switch (symbol.kind) {
  case Symbol::Kind::Value:
    result = symbol.value;
    result.range = range;
    return result;
  case Symbol::Kind::Variable: {
    if (auto unset = flow.unset.find(symbol.variable);
        unset != flow.unset.end()) {
      error(diag::maybe_unset, range)
          .arg(symbol.name)
          .arg(unset->second)
          .secondary(symbol.range, "declared without a value");
      flow.unset.erase(unset); // once is enough
    }
    auto *read = make<checked::VarReadExpr>(symbol.variable->type, range);
    read->variable = symbol.variable;
    result = Operand::runtime(read, range);
    break;
  }
  case Symbol::Kind::ScalarParam: {
    auto *read = make<checked::ScalarParamExpr>(
        Type::scalar(symbol.param->dtype), range);
    read->param = symbol.param;
    result = Operand::runtime(read, range);
    break;
  }
  case Symbol::Kind::Dim: {
    auto *read = make<checked::ArrayDimExpr>(Type::scalar(DType::Int), range);
    read->array = symbol.param;
    read->axis = symbol.axis;
    result = Operand::runtime(read, range);
    break;
  }
  }
  result.origins = symbol.origins;
  result.dropped = symbol.dropped;
  return result;
}

Operand Sema::checkName(const ast::NameExpr &expr) {
  const SourceRange range = expr.getRange();
  if (Symbol *symbol = lookup(expr.name))
    return readSymbol(*symbol, range);
  FileId file = 0;
  const BuiltinInfo *builtin = findBuiltin(expr.name);
  const ast::Decl *item = findItem(expr.name, &file);
  // Kernels are not called, so one may have the name of a function.
  if (item && builtin &&
      (llvm::isa<ast::KernelDecl>(item) ||
       llvm::isa<ast::SpecializeDecl>(item)))
    item = nullptr;
  if (item) {
    if (auto *constant = dyn_cast<ast::ConstDecl>(item))
      return globalConstant(*constant, file, range);
    if (auto *fn = dyn_cast<ast::FnDecl>(item)) {
      Operand result = Operand::poison(range);
      if (fn->malformed)
        return result;
      result.kind = Operand::Kind::Fn;
      result.fn = fn;
      return result;
    }
    error(diag::not_a_value, range)
        .arg((llvm::isa<ast::KernelDecl>(item) ? "kernel `"
                                               : "specialisation `") +
             expr.name.str() + "`");
    return Operand::poison(range);
  }
  if (std::optional<DType> dtype = parseDType(std::string_view(expr.name)))
    return Operand::dtypeOf(*dtype, range);
  if (builtin) {
    Operand result = Operand::poison(range);
    result.kind = Operand::Kind::Builtin;
    result.builtin = builtin;
    return result;
  }
  reportUnknownName(expr.name, range);
  return Operand::poison(range);
}

//===----------------------------------------------------------------------===//
// ?:
//===----------------------------------------------------------------------===//

Operand Sema::checkConditional(const ast::ConditionalExpr &expr) {
  const SourceRange range = expr.getRange();
  Operand condition = checkValue(expr.cond);
  if (condition.isValue() && condition.type().isTile()) {
    error(diag::condition_type, expr.cond->getRange())
        .arg("the condition of `?:`")
        .arg(describe(condition))
        .help("`where(c, a, b)` chooses for each element");
    condition = Operand::poison(range);
  } else if (condition.isValue() && condition.type().dtype() != DType::Bool) {
    error(diag::condition_type, expr.cond->getRange())
        .arg("the condition of `?:`")
        .arg(describe(condition));
    condition = Operand::poison(range);
  }
  std::vector<checked::Stmt *> trueStmts, falseStmts;
  Operand whenTrue = checkArm(expr.onTrue, trueStmts),
          whenFalse = checkArm(expr.onFalse, falseStmts);
  if (condition.isPoison() || whenTrue.isPoison() || whenFalse.isPoison())
    return Operand::poison(range);
  if (whenTrue.kind == Operand::Kind::DType &&
      whenFalse.kind == Operand::Kind::DType) {
    if (condition.isConstant())
      return condition.constant->isTrue() ? whenTrue : whenFalse;
    error(diag::not_compile_time, expr.cond->getRange())
        .arg("what chooses between dtypes");
    return Operand::poison(range);
  }
  whenTrue = requireValue(std::move(whenTrue));
  whenFalse = requireValue(std::move(whenFalse));
  if (whenTrue.isPoison() || whenFalse.isPoison())
    return Operand::poison(range);
  for (const Operand *arm : {&whenTrue, &whenFalse}) {
    if (arm->type().isScalar())
      continue;
    error(diag::not_scalar, arm->range)
        .arg("an arm of `?:`")
        .arg(describe(*arm))
        .help("`where(c, a, b)` chooses between tiles");
    return Operand::poison(range);
  }
  if (!unifyPair(whenTrue, whenFalse, range, "?:"))
    return Operand::poison(range);
  if (condition.isConstant()) {
    const bool isTrue = condition.constant->isTrue();
    const auto &stmts = isTrue ? trueStmts : falseStmts;
    block->insert(block->end(), stmts.begin(), stmts.end());
    return isTrue ? whenTrue : whenFalse;
  }
  Operand chosen;
  if (trueStmts.empty() && falseStmts.empty())
    keepLiterals(chosen, whenTrue, whenFalse);
  checked::Expr *arms[] = {
      afterStatements(trueStmts, materialize(whenTrue), whenTrue.range),
      afterStatements(falseStmts, materialize(whenFalse), whenFalse.range)};
  auto *result = make<checked::ConditionalExpr>(arms[0]->type, range);
  result->condition = materialize(condition);
  result->whenTrue = arms[0];
  result->whenFalse = arms[1];
  chosen.kind = Operand::Kind::Runtime;
  chosen.expr = result;
  chosen.range = range;
  return chosen;
}

//===----------------------------------------------------------------------===//
// Members and indexing
//===----------------------------------------------------------------------===//

Operand Sema::checkMember(const ast::MemberExpr &expr) {
  Operand base = checkExpr(expr.base);
  const SourceRange range = expr.getRange();
  if (base.isPoison())
    return base;
  if (base.isArray() && expr.member.text == "shape") {
    base.kind = Operand::Kind::Shape;
    return base;
  }
  auto builder = error(diag::unknown_member, expr.member.range);
  builder.arg(describe(base)).arg(expr.member.text);
  if (expr.member.text == "dtype")
    builder.help("give the dtype a name, `<T: float>`, and use `T`");
  else if (base.isArray())
    builder.help("an array has `shape`");
  else if (expr.member.text == "T" || expr.member.text == "t")
    builder.help("`transpose(" + textOf(base.range) + ")`");
  else if (expr.member.text == "to")
    builder.help("`.to(T)` is a call");
  else if (base.kind == Operand::Kind::Builtin)
    builder.help("call it: `" + textOf(base.range) + "(…)`; the axes of the grid are 0, 1, 2");
  else if (expr.member.text == "shape" && base.isValue())
    builder.help(
        "the shape of a tile is known: it was given where the tile was made");
  return Operand::poison(range);
}

Operand Sema::checkIndex(const ast::IndexExpr &expr) {
  Operand base = checkExpr(expr.base);
  const SourceRange range = expr.getRange();
  if (base.kind == Operand::Kind::Shape)
    return checkShapeIndex(expr, base);
  if (base.isArray()) {
    error(diag::array_as_value, base.range)
        .arg(base.array->name)
        .help("`load_at(" + base.array->name +
              ", [i, j])` reads one element, `load` a tile, `gather` elements anywhere");
    return Operand::poison(range);
  }
  base = requireValue(std::move(base));
  if (base.isPoison())
    return base;
  const bool isElement =
      llvm::all_of(expr.items, [](const ast::IndexItem &item) {
        return item.kind == ast::IndexItem::Kind::Value;
      });
  return isElement ? checkElement(expr, base) : checkAxes(expr, base);
}

/// `a.shape[d]`, d a constant.
Operand Sema::checkShapeIndex(const ast::IndexExpr &expr,
                              const Operand &shape) {
  const SourceRange range = expr.getRange();
  const checked::Param &array = *shape.array;
  if (expr.items.size() != 1 || !expr.items[0].value) {
    error(diag::argument_kind, expr.brackets)
        .arg("shape")
        .arg("index")
        .arg("one axis")
        .arg(textOf(expr.brackets));
    return Operand::poison(range);
  }
  std::optional<unsigned> axis =
      checkAxis(expr.items[0].value, array.rank(), "an index of `shape`");
  if (!axis)
    return Operand::poison(range);
  const checked::ArrayDim &dim = array.dims[*axis];
  if (dim.constant)
    return Operand::constantOf(ConstValue::integer(*dim.constant), range);
  // Equal dims are read from the first array that binds the name.
  const checked::Param *first = &array;
  unsigned firstAxis = *axis;
  for (const checked::Param *param : llvm::reverse(kernel->params))
    for (unsigned i = param->rank(); i-- > 0;)
      if (param->dims[i].name == dim.name && !param->dims[i].constant)
        first = param, firstAxis = i;
  auto *read = make<checked::ArrayDimExpr>(Type::scalar(DType::Int), range);
  read->array = first;
  read->axis = firstAxis;
  return Operand::runtime(read, range);
}

/// `x[i, :, None]`: without the axes that have an index, with axes of one; trailing `:`
/// may be left out.
Operand Sema::checkAxes(const ast::IndexExpr &expr, Operand base) {
  const Type type = base.type();
  SmallVector<int64_t> shape, slice(type.shape());
  SmallVector<checked::Expr *> index;
  SmallVector<Origin> origins;
  unsigned axis = 0;
  auto keepAxis = [&] {
    shape.push_back(type.dim(axis));
    origins.push_back(axis < base.origins.size() ? base.origins[axis]
                                                 : Origin{base.range});
    index.push_back(makeInt(0, expr.brackets));
  };
  for (const ast::IndexItem &item : expr.items) {
    if (item.kind == ast::IndexItem::Kind::NewAxis) {
      shape.push_back(1);
      origins.push_back({item.range});
      continue;
    }
    if (item.kind == ast::IndexItem::Kind::Value) {
      checked::Expr *entry = checkElementIndex(item, type, axis);
      if (!entry)
        return Operand::poison(expr.getRange());
      index.push_back(entry);
      if (axis < type.rank())
        slice[axis] = 1;
    } else if (axis < type.rank()) {
      keepAxis();
    }
    ++axis;
  }
  for (; axis < type.rank(); ++axis)
    keepAxis();
  if (axis > type.rank()) {
    error(diag::element_rank, expr.brackets)
        .arg(int64_t(type.rank()))
        .arg(type.rank() == 1 ? "y" : "ies")
        .arg(int64_t(axis));
    return Operand::poison(expr.getRange());
  }
  if (shape.size() > maxTileRank) {
    error(diag::tile_rank, expr.brackets).arg(int64_t(shape.size()));
    return Operand::poison(expr.getRange());
  }
  checked::Expr *value = materialize(base);
  if (!llvm::all_of(index, llvm::IsaPred<checked::ConstantExpr>) ||
      slice != type.shape()) {
    auto *extract = make<checked::ExtractSliceExpr>(type.withShape(slice),
                                                    expr.getRange());
    extract->operand = value;
    extract->index = copy(index);
    value = extract;
  }
  Operand result =
      Operand::runtime(makeReshape(value, shape), expr.getRange());
  result.origins = copy(origins);
  return result;
}

/// One entry of an index, an `int` within axis `axis` as far as is known; null after an error.
checked::Expr *Sema::checkElementIndex(const ast::IndexItem &item, Type type,
                                       unsigned axis) {
  Operand value = checkValue(item.value);
  checked::Expr *entry = toInt(value, "an index");
  if (!entry || axis >= type.rank())
    return entry;
  std::optional<int64_t> constant =
      value.isConstant() ? value.constant->toInt64() : std::nullopt;
  if (constant && (*constant < 0 || *constant >= type.dim(axis))) {
    auto report = error(diag::element_outside, item.range);
    report.arg(*constant).arg(int64_t(axis)).arg(type.str());
    if (*constant < 0 && *constant >= -type.dim(axis))
      report.help("the last one is " + std::to_string(type.dim(axis) - 1));
    return nullptr;
  }
  return entry;
}

/// `x[i, j]`, a scalar.
Operand Sema::checkElement(const ast::IndexExpr &expr, Operand base) {
  const Type type = base.type();
  const SourceRange range = expr.getRange();
  if (expr.items.size() != type.rank()) {
    auto builder = error(diag::element_rank, expr.brackets);
    builder.arg(int64_t(type.rank()))
        .arg(type.rank() == 1 ? "y" : "ies")
        .arg(int64_t(expr.items.size()))
        .secondary(expr.base->getRange(), "this is " + type.str());
    const std::string text = textOf(expr.getRange());
    if (expr.items.size() < type.rank())
      builder.help("`" + text.substr(0, text.size() - 1) +
                   ", :]` is the slice there");
    return Operand::poison(range);
  }
  SmallVector<checked::Expr *> index;
  for (auto [axis, item] : llvm::enumerate(expr.items)) {
    index.push_back(checkElementIndex(item, type, unsigned(axis)));
    if (!index.back())
      return Operand::poison(range);
  }
  // Then the index says nothing new.
  if (type.numElements() == 1 && llvm::all_of(index, llvm::IsaPred<checked::ConstantExpr>))
    return Operand::runtime(makeReshape(materialize(base), {}), range);
  auto *result =
      make<checked::ExtractElementExpr>(Type::scalar(type.dtype()), range);
  result->operand = materialize(base);
  result->index = copy(index);
  return Operand::runtime(result, range);
}

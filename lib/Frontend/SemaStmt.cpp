//===- SemaStmt.cpp - statements
//-------------------------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Definitions, assignments, returns. Control flow is in SemaFlow.cpp. A `let`
// of a compile-time value makes no variable: its name stands for the value, so
// that it may be a tile dim, and a literal stays weak.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Sema::checkBlock(const ast::Block &body) {
  function->scopes.emplace_back();
  checkStmts(body.stmts);
  for (const auto &[name, symbol] : function->scopes.back())
    function->ended[name] = symbol->range;
  function->scopes.pop_back();
}

void Sema::checkStmts(ArrayRef<ast::Stmt *> stmts) {
  for (auto [index, stmt] : llvm::enumerate(stmts)) {
    if (flow.isSkipped || reportedSize || diags.shouldStop())
      return;
    if (flow.isReachable) {
      checkStmt(stmt);
      continue;
    }
    // What is never executed is checked, for its errors, and thrown away.
    warning(diag::unreachable_code, stmt->getRange());
    std::vector<checked::Stmt *> discarded;
    const size_t numReturns = function->returns.size();
    {
      Saved<std::vector<checked::Stmt *> *> savedBlock(block, &discarded);
      Saved<Flow> savedFlow(flow, Flow());
      for (const ast::Stmt *dead : stmts.drop_front(index))
        checkStmt(dead);
    }
    function->returns.resize(numReturns);
    return;
  }
}

void Sema::checkStmt(const ast::Stmt *stmt) {
  if (isTooLarge(stmt->getRange()) || isTooDeep(stmt->getRange()))
    return;
  ++depth;
  switch (stmt->getKind()) {
  case ast::Stmt::Kind::Let:
    checkLet(*cast<ast::LetStmt>(stmt));
    break;
  case ast::Stmt::Kind::Var:
    checkVar(*cast<ast::VarStmt>(stmt));
    break;
  case ast::Stmt::Kind::Const:
    checkConst(*cast<ast::ConstStmt>(stmt));
    break;
  case ast::Stmt::Kind::Assign:
    checkAssign(*cast<ast::AssignStmt>(stmt));
    break;
  case ast::Stmt::Kind::For:
    checkFor(*cast<ast::ForStmt>(stmt));
    break;
  case ast::Stmt::Kind::While:
    checkWhile(*cast<ast::WhileStmt>(stmt));
    break;
  case ast::Stmt::Kind::If:
    checkIf(*cast<ast::IfStmt>(stmt));
    break;
  case ast::Stmt::Kind::Break:
    checkLoopExit(*stmt, /*isBreak=*/true);
    break;
  case ast::Stmt::Kind::Continue:
    checkLoopExit(*stmt, /*isBreak=*/false);
    break;
  case ast::Stmt::Kind::Return:
    checkReturn(*cast<ast::ReturnStmt>(stmt));
    break;
  case ast::Stmt::Kind::Expr:
    checkExprStmt(*cast<ast::ExprStmt>(stmt));
    break;
  case ast::Stmt::Kind::Fast:
    checkFast(*cast<ast::FastStmt>(stmt));
    break;
  case ast::Stmt::Kind::Block: {
    std::vector<checked::Stmt *> stmts = checkNested(stmt);
    if (!stmts.empty())
      emit<checked::ScopeStmt>(stmt->getRange())->body =
          copy(ArrayRef<checked::Stmt *>(stmts));
    break;
  }
  }
  --depth;
}

std::vector<checked::Stmt *> Sema::checkNested(const ast::Stmt *body) {
  std::vector<checked::Stmt *> stmts;
  Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
  if (auto *inner = dyn_cast<ast::Block>(body))
    checkBlock(*inner);
  else
    checkStmt(body);
  return stmts;
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// Makes the name of a `let` stand for the value.
Operand Sema::define(const ast::Name &name, Operand value) {
  switch (value.kind) {
  case Operand::Kind::Runtime:
    return bindVariable(name.text, value, name.range);
  case Operand::Kind::Nothing:
    error(diag::no_value, value.range)
        .arg(textOf(value.range))
        .help("a fn gives what it returns: `return x;`");
    value = Operand::poison(name.range);
    break;
  case Operand::Kind::Tuple:
    error(diag::tuple_as_value, value.range)
        .arg(int64_t(value.elements.size()))
        .help("take it apart: `let (a, b) = …;`");
    value = Operand::poison(name.range);
    break;
  case Operand::Kind::Builtin:
    error(diag::not_a_value, value.range)
        .arg(describe(value))
        .help("call it: `" + textOf(value.range) + "(…)`");
    value = Operand::poison(name.range);
    break;
  default:
    break;
  }
  Symbol *symbol = declare(name.text, name.range);
  symbol->value = value;
  return value;
}

Operand Sema::bindVariable(StringRef name, Operand value, SourceRange range) {
  checked::Variable *variable =
      newVariable(name, value.type(), /*isMutable=*/false, range);
  auto *let = emit<checked::LetStmt>(range);
  let->variables = copy(ArrayRef<checked::Variable *>(variable));
  let->init = materialize(value);
  Symbol *symbol = declare(name, range);
  symbol->kind = Symbol::Kind::Variable;
  symbol->variable = variable;
  symbol->origins = value.origins;
  symbol->dropped = value.dropped;
  return readSymbol(*symbol, range);
}

/// The value as one of `type`: a literal takes its dtype, anything else has it.
Operand Sema::conform(Operand value, const Type &type,
                      const ast::TypeExpr *annotation) {
  if (value.isPoison() || type.isPoison())
    return Operand::poison(value.range);
  if (value.isWeak() && type.isScalar()) {
    if (!convertWeakTo(value, type.dtype()))
      return Operand::poison(value.range);
    return value;
  }
  if (value.isValue() && value.type() == type)
    return value;
  auto builder = error(diag::annotation_mismatch, value.range);
  builder.arg(textOf(value.range))
      .arg(type.str())
      .arg(describe(value))
      .secondary(annotation->getRange(), "annotated here");
  if (value.isValue() && type.isTile() && value.type().isScalar())
    builder.help(
        "`full(" + shapeString(type.shape()) + ", " + textOf(value.range) +
        ", " + std::string(dtypeName(type.dtype())) + ")` makes a tile of it");
  else if (value.isValue() && value.type().shape() == type.shape())
    builder.help("convert it: `.to(" + std::string(dtypeName(type.dtype())) +
                 ")`");
  return Operand::poison(value.range);
}

void Sema::checkLet(const ast::LetStmt &stmt) {
  if (stmt.isTuple)
    return checkLetTuple(stmt);
  Operand value = checkExpr(stmt.init);
  if (stmt.type) {
    Type type = resolveType(stmt.type, nullptr);
    value = conform(value, type, stmt.type);
  }
  define(stmt.names.front(), value);
  if (Symbol *symbol = lookup(stmt.names.front().text))
    symbol->init = stmt.init;
}

void Sema::checkLetTuple(const ast::LetStmt &stmt) {
  Operand value = checkExpr(stmt.init);
  if (value.kind == Operand::Kind::Tuple &&
      value.elements.size() == stmt.names.size()) {
    for (auto [name, element] : llvm::zip(stmt.names, value.elements))
      define(name, element);
    return;
  }
  if (!value.isPoison())
    error(diag::tuple_count,
          stmt.names.front().range.to(stmt.names.back().range))
        .arg(int64_t(stmt.names.size()))
        .arg(value.kind == Operand::Kind::Tuple ? int64_t(value.elements.size())
                                                : 1)
        .secondary(stmt.init->getRange(), "the value");
  for (const ast::Name &name : stmt.names)
    declare(name.text, name.range)->value = Operand::poison(name.range);
}

void Sema::checkVar(const ast::VarStmt &stmt) {
  ArrayRef<Origin> origins;
  Type type;
  bool isFromInt = false;
  Operand value = Operand::poison(stmt.name.range);
  if (stmt.type)
    type = resolveType(stmt.type, &origins);
  if (stmt.init) {
    value = checkValue(stmt.init);
    if (stmt.type)
      value = conform(value, type, stmt.type);
    type = value.type();
    isFromInt = !value.isPoison() && value.isWeak() && value.constant->isWeakInt();
    if (!value.isPoison() && value.isWeak() &&
        !convertWeakTo(value, value.constant->dtype()))
      type = Type::poison();
  }
  Symbol *symbol = declare(stmt.name.text, stmt.name.range);
  if (type.isPoison()) {
    symbol->value = Operand::poison(stmt.name.range);
    symbol->isVar = true;
    return;
  }
  checked::Variable *variable =
      newVariable(stmt.name.text, type, /*isMutable=*/true, stmt.name.range);
  auto *let = emit<checked::LetStmt>(stmt.getRange());
  let->variables = copy(ArrayRef<checked::Variable *>(variable));
  if (stmt.init)
    let->init = materialize(value);
  else
    flow.unset[variable] = "here";
  symbol->kind = Symbol::Kind::Variable;
  symbol->isVar = true;
  symbol->isFromInt = isFromInt;
  symbol->variable = variable;
  symbol->origins = value.isPoison() ? origins : value.origins;
  symbol->dropped = value.dropped;
}

void Sema::checkConst(const ast::ConstStmt &stmt) {
  Operand value = checkExpr(stmt.init);
  if (stmt.type)
    value = conform(value, resolveType(stmt.type, nullptr), stmt.type);
  if (value.isRuntime()) {
    error(diag::not_compile_time, stmt.init->getRange())
        .arg("the value of a `const`")
        .help("use `let` for a runtime value");
    value = Operand::poison(stmt.name.range);
  }
  define(stmt.name, value);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

void Sema::noteAssigned(checked::Variable *variable) {
  for (AssignedFrame *frame : frames)
    if (variable->id < frame->firstInnerId)
      frame->assigned.insert(variable);
}

void Sema::reportAssignMismatch(const ast::AssignStmt &stmt,
                                const Symbol &symbol, const Operand &value) {
  const Type before = symbol.variable->type, after = value.type();
  const bool sameDType = before.dtype() == after.dtype();
  // Only shapes where they are the difference.
  auto spelled = [&](const Type &type) {
    return sameDType && before.isTile() && after.isTile() ? shapeString(type.shape())
                                                          : type.str();
  };
  const bool isCarried =
      !function->loops.empty() &&
      symbol.variable->id < function->loops.back().firstInnerId;
  auto builder = error(isCarried ? diag::loop_carried_type : diag::assign_type,
                       stmt.value->getRange());
  builder.arg(symbol.name).arg(spelled(before)).arg(spelled(after));
  builder.label("this is " + after.str())
      .secondary(symbol.range, "`" + symbol.name + "` is " + before.str());
  const std::string dtype(dtypeName(before.dtype()));
  if (before.shape() == after.shape())
    builder.help("convert it: `.to(" + dtype + ")`");
  else if (before.isTile() && after.isScalar())
    builder.help("`full(" + shapeString(before.shape()) + ", " +
                 textOf(value.range) + ", " + dtype + ")` makes a tile of it");
  else if (before.isScalar() && after.isTile())
    builder.help("begin with a tile: `var " + symbol.name.str() + " = zeros(" +
                 shapeString(after.shape()) + ", " +
                 std::string(dtypeName(after.dtype())) + ")`");
  else if (value.dropped)
    builder.note(value.dropped->call,
                 "this drops axis " + llvm::Twine(value.dropped->axis) +
                     "; `keep: true` keeps it as an axis of one");
  else if (sameDType && before.rank() == after.rank() &&
           llvm::all_of(llvm::zip_equal(before.shape(), after.shape()), [](auto dims) {
             return std::get<0>(dims) == 1 || std::get<0>(dims) == std::get<1>(dims);
           }))
    builder.help("begin with the whole shape: `broadcast_to(…, " + shapeString(after.shape()) +
                 ")`");
}

void Sema::checkAssign(const ast::AssignStmt &stmt) {
  Symbol *symbol = lookup(stmt.target.text);
  if (!symbol || !symbol->isVar) {
    Operand value = checkExpr(stmt.value);
    if (!symbol && !findItem(stmt.target.text))
      return reportUnknownName(stmt.target.text, stmt.target.range, /*isTarget=*/true);
    if (symbol && symbol->kind == Symbol::Kind::Value &&
        symbol->value.isPoison())
      return;
    StringRef what = !symbol                ? "an item of the file"
                     : symbol->isConstParam ? "a compile-time parameter"
                     : symbol->kind == Symbol::Kind::Dim ? "a dim of an array"
                     : symbol->isParam                   ? "a parameter"
                     : symbol->isLoopVar ? "a loop variable"
                                         : "which is defined by `let`";
    auto builder = error(diag::assign_to_immutable, stmt.target.range);
    builder.arg(stmt.target.text).arg(what);
    if (symbol)
      builder.secondary(symbol->range, "defined here");
    if (symbol && !symbol->isConstParam && !symbol->isParam &&
        !symbol->isLoopVar && symbol->kind != Symbol::Kind::Dim)
      builder.help("define it by `var`");
    else if (symbol && symbol->value.isArray())
      builder.help("arrays are written with `store` or `store_at`");
    else if (symbol && !symbol->isConstParam)
      builder.help("copy it: `var c = " + stmt.target.text.str() + ";`");
    return;
  }
  Operand value;
  if (stmt.op) {
    Operand current = readSymbol(*symbol, stmt.target.range);
    Operand operand = checkValue(stmt.value);
    value =
        applyBinary(*stmt.op, current, operand, stmt.getRange(), stmt.opRange);
    value.range = stmt.value->getRange();
  } else {
    value = checkValue(stmt.value);
  }
  if (symbol->kind != Symbol::Kind::Variable)
    return; // its definition was wrong
  checked::Variable *variable = symbol->variable;
  flow.unset.erase(variable);
  noteAssigned(variable);
  if (value.isPoison())
    return;
  if (value.isWeak() && variable->type.isScalar() &&
      !convertWeakTo(value, variable->type.dtype()))
    return;
  if (!(value.type() == variable->type)) {
    reportAssignMismatch(stmt, *symbol, value);
    symbol->kind = Symbol::Kind::Value; // what follows is no further error
    symbol->value = Operand::poison(symbol->range);
    return;
  }
  auto *assign = emit<checked::AssignStmt>(stmt.getRange());
  assign->variable = variable;
  assign->value = materialize(value);
}

//===----------------------------------------------------------------------===//
// Return and expression statements
//===----------------------------------------------------------------------===//

void Sema::checkReturn(const ast::ReturnStmt &stmt) {
  if (!function->fn) {
    if (stmt.value)
      error(diag::return_in_kernel, stmt.value->getRange())
          .help("write results through a `mut` array");
    if (function->runtimeDepth)
      emit<checked::ReturnStmt>(stmt.getRange());
    flow.isReachable = false;
    return;
  }
  PendingReturn pending;
  pending.range = stmt.getRange();
  if (auto *tuple =
          stmt.value ? dyn_cast<ast::TupleExpr>(stmt.value) : nullptr) {
    for (const ast::Expr *element : tuple->elements)
      pending.values.push_back(checkValue(element));
  } else if (stmt.value) {
    Operand value = checkExpr(stmt.value);
    if (value.kind == Operand::Kind::Tuple)
      pending.values = value.elements;
    else
      pending.values.push_back(std::move(value));
  }
  // The only return of a straight body defines the results; others assign them.
  const bool isOnly = !function->runtimeDepth && function->returns.empty();
  for (auto [index, value] : llvm::enumerate(pending.values)) {
    checked::Stmt *target = nullptr;
    if (function->results.size() <= index)
      function->results.push_back(newVariable(
          function->fn->name.text, Type::poison(), !isOnly, stmt.getRange()));
    for (size_t frame = function->firstFrame; frame < frames.size(); ++frame)
      frames[frame]->assigned.insert(function->results[index]);
    if (isOnly && value.isRuntime()) {
      auto *let = emit<checked::LetStmt>(stmt.getRange());
      let->init = value.expr;
      target = let;
    } else if (!isOnly) {
      target = emit<checked::AssignStmt>(stmt.getRange());
    }
    pending.targets.push_back(target);
  }
  if (function->runtimeDepth)
    emit<checked::ReturnStmt>(stmt.getRange())->target = function->inlined;
  function->returns.push_back(std::move(pending));
  flow.isReachable = false;
}

void Sema::checkExprStmt(const ast::ExprStmt &stmt) {
  Operand value = checkCall(*stmt.call);
  if (value.kind == Operand::Kind::Nothing || value.isPoison())
    return;
  if (value.isRuntime()) {
    if (auto *inlined = dyn_cast<checked::InlineExpr>(value.expr)) {
      emit<checked::InlineStmt>(stmt.getRange())->inlined = inlined->inlined;
      return;
    }
    if (llvm::isa<checked::AtomicExpr>(value.expr)) {
      emit<checked::EvalStmt>(stmt.getRange())->value = value.expr;
      return;
    }
  }
  // A fn may be called for what it does although it also returns something.
  const bool isBuiltin = [&] {
    auto *name = dyn_cast<ast::NameExpr>(stmt.call->callee);
    return !name || (!lookup(name->name) && !findItem(name->name));
  }();
  if (isBuiltin)
    error(diag::unused_result, stmt.call->getRange())
        .arg(textOf(stmt.call->callee->getRange()));
}

void Sema::checkFast(const ast::FastStmt &stmt) {
  std::vector<checked::Stmt *> stmts = checkNested(stmt.body);
  emit<checked::FastStmt>(stmt.getRange())->body =
      copy(ArrayRef<checked::Stmt *>(stmts));
}

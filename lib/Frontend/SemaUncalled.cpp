//===- SemaUncalled.cpp - names in fns that nothing calls -----------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A fn is checked where it is called, with the types of the arguments. One that
// no kernel calls would never be looked at; here at least its names are
// resolved, so that a misspelt one in a library does not wait for the first
// user.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

void Sema::checkUncalledFns() {
  for (const ast::File *file : program.roots) {
    for (const ast::Decl *decl : file->decls) {
      auto *fn = dyn_cast<ast::FnDecl>(decl);
      if (!fn || fn->malformed || inlinedFns.contains(fn) || diags.shouldStop())
        continue;
      FunctionContext context;
      context.file = file->id;
      context.scopes.emplace_back();
      Saved<FunctionContext *> saved(function, &context);
      for (const ast::FnParam &param : fn->params) {
        if (param.defaultValue)
          resolveNames(param.defaultValue);
        declare(param.name.text, param.name.range);
      }
      resolveNames(fn->body);
    }
  }
}

/// Statements of a scope of their own.
void Sema::resolveNames(const ast::Stmt *stmt) {
  if (!stmt)
    return;
  auto declareName = [&](const ast::Name &name) {
    declare(name.text, name.range);
  };
  switch (stmt->getKind()) {
  case ast::Stmt::Kind::Let:
    resolveNames(cast<ast::LetStmt>(stmt)->init);
    for (const ast::Name &name : cast<ast::LetStmt>(stmt)->names)
      declareName(name);
    return;
  case ast::Stmt::Kind::Var:
    if (const ast::Expr *init = cast<ast::VarStmt>(stmt)->init)
      resolveNames(init);
    return declareName(cast<ast::VarStmt>(stmt)->name);
  case ast::Stmt::Kind::Const:
    resolveNames(cast<ast::ConstStmt>(stmt)->init);
    return declareName(cast<ast::ConstStmt>(stmt)->name);
  case ast::Stmt::Kind::Assign: {
    const ast::Name &target = cast<ast::AssignStmt>(stmt)->target;
    if (!lookup(target.text) && !findItem(target.text))
      reportUnknownName(target.text, target.range, /*isTarget=*/true);
    return resolveNames(cast<ast::AssignStmt>(stmt)->value);
  }
  case ast::Stmt::Kind::For: {
    auto *loop = cast<ast::ForStmt>(stmt);
    for (const ast::Expr *bound : {loop->lo, loop->hi, loop->step})
      if (bound)
        resolveNames(bound);
    function->scopes.emplace_back();
    declareName(loop->var);
    resolveNames(loop->body);
    function->scopes.pop_back();
    return;
  }
  case ast::Stmt::Kind::While:
    resolveNames(cast<ast::WhileStmt>(stmt)->cond);
    return resolveNames(cast<ast::WhileStmt>(stmt)->body);
  case ast::Stmt::Kind::If: {
    auto *choice = cast<ast::IfStmt>(stmt);
    resolveNames(choice->cond);
    if (choice->isConst())
      return; // the arm that is not taken need not make sense
    resolveNames(choice->thenBlock);
    return resolveNames(choice->elseStmt);
  }
  case ast::Stmt::Kind::Return:
    if (const ast::Expr *value = cast<ast::ReturnStmt>(stmt)->value)
      resolveNames(value);
    return;
  case ast::Stmt::Kind::Expr:
    return resolveNames(cast<ast::ExprStmt>(stmt)->call);
  case ast::Stmt::Kind::Fast:
    return resolveNames(cast<ast::FastStmt>(stmt)->body);
  case ast::Stmt::Kind::Block:
    function->scopes.emplace_back();
    for (const ast::Stmt *inner : cast<ast::Block>(stmt)->stmts)
      resolveNames(inner);
    function->scopes.pop_back();
    return;
  case ast::Stmt::Kind::Break:
  case ast::Stmt::Kind::Continue:
    return;
  }
}

void Sema::resolveNames(const ast::Expr *expr) {
  switch (expr->getKind()) {
  case ast::Expr::Kind::Name: {
    StringRef name = cast<ast::NameExpr>(expr)->name;
    if (!lookup(name) && !findItem(name) && !findBuiltin(name) &&
        !parseDType(std::string_view(name)))
      reportUnknownName(name, expr->getRange());
    return;
  }
  case ast::Expr::Kind::Unary:
    return resolveNames(cast<ast::UnaryExpr>(expr)->operand);
  case ast::Expr::Kind::Binary:
    resolveNames(cast<ast::BinaryExpr>(expr)->lhs);
    return resolveNames(cast<ast::BinaryExpr>(expr)->rhs);
  case ast::Expr::Kind::Conditional:
    resolveNames(cast<ast::ConditionalExpr>(expr)->cond);
    resolveNames(cast<ast::ConditionalExpr>(expr)->onTrue);
    return resolveNames(cast<ast::ConditionalExpr>(expr)->onFalse);
  case ast::Expr::Kind::Call:
    resolveNames(cast<ast::CallExpr>(expr)->callee);
    for (const ast::Argument &arg : cast<ast::CallExpr>(expr)->args)
      // `round: rz`: words, not names.
      if (!arg.name || !llvm::isa<ast::NameExpr>(arg.value))
        resolveNames(arg.value);
    return;
  case ast::Expr::Kind::Member:
    return resolveNames(cast<ast::MemberExpr>(expr)->base);
  case ast::Expr::Kind::Index:
    resolveNames(cast<ast::IndexExpr>(expr)->base);
    for (const ast::IndexItem &item : cast<ast::IndexExpr>(expr)->items)
      if (item.value)
        resolveNames(item.value);
    return;
  case ast::Expr::Kind::List:
    for (const ast::Expr *element : cast<ast::ListExpr>(expr)->elements)
      resolveNames(element);
    return;
  case ast::Expr::Kind::Tuple:
    for (const ast::Expr *element : cast<ast::TupleExpr>(expr)->elements)
      resolveNames(element);
    return;
  default:
    return;
  }
}

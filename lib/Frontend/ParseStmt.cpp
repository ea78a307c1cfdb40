//===- ParseStmt.cpp - statements and blocks --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   block     = "{" { statement } "}"
//   statement = "let" (name [ ":" type ] | "(" name { "," name } ")") "=" expr
//   ";"
//             | "var" name [ ":" type ] [ "=" expr ] ";"
//             | "const" name [ ":" type ] "=" expr ";"
//             | name ("=" | "+=" | …) expr ";"
//             | "for" [ "const" ] name "in" expr ".." expr [ "step" expr ]
//             block | "while" expr block | "if" [ "const" ] expr block [ "else"
//             (if | block) ] | "break" ";" | "continue" ";" | "return" [ expr |
//             tuple ] ";" | call ";" | block | "fast" block
//
// Habits from other languages (`int x = 1;`, `i++`, `elif`, `for (…;…;…)`) are
// recognised and answered with what is written here.
//
//===----------------------------------------------------------------------===//

#include "ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tilec {

using namespace ast;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Column at which the text of the line with this location begins.
static unsigned indentation(const SourceManager &sources, SourceLoc loc) {
  StringRef line =
      sources.getLine(sources.getFile(loc), sources.getLineCol(loc).line);
  return line.size() - line.ltrim(" \t").size();
}

/// Reports the block opened at `open` as not closed. The brace that is missing
/// may belong to a block inside it: the first one whose `}` stands further left
/// than its opening line. The file is read once more to find that.
void Parser::reportUnclosedBlock(const Token &open) {
  if (tok.bad)
    return;
  tok.bad = true;
  auto report = error(open.range(), diag::unclosed_delimiter, "{");
  report.label("opened here");
  StoredDiagnostics ignored;
  DiagnosticEngine quiet(sources, ignored);
  Lexer again(file, sources, quiet);
  SmallVector<Token, 16> blocks;
  for (Token t = again.next(); t.loc < tok.loc; t = again.next()) {
    if (t.is(Kind::LBrace) && t.loc > open.loc) {
      blocks.push_back(t);
    } else if (t.is(Kind::RBrace) && !blocks.empty()) {
      Token block = blocks.pop_back_val();
      if (t.startsLine &&
          indentation(sources, t.loc) < indentation(sources, block.loc)) {
        report
            .secondary(block.range(),
                       "the `}` of this block is probably missing")
            .secondary(t.range(), "this one stands further left");
        return;
      }
    }
  }
}

/// At `{`; null only where the block is nested too deeply.
Block *Parser::parseBlock() {
  Token open = tok;
  Nesting nesting(*this);
  if (!nesting) {
    skipBalanced();
    return nullptr;
  }
  advance();
  SmallVector<Stmt *, 16> stmts;
  while (!at(Kind::RBrace) && !at(Kind::EndOfFile)) {
    if (atItemStart() && !at(Kind::kw_const)) {
      if (atFirstColumn())
        break; // the next item: a brace is missing above
      refuseNestedItem();
      continue;
    }
    SourceLoc before = tok.loc;
    if (Stmt *stmt = parseStatement())
      stmts.push_back(stmt);
    else if (tok.loc == before && !at(Kind::RBrace))
      advance();
  }
  if (!accept(Kind::RBrace))
    reportUnclosedBlock(open);
  return ctx.create<Block>(from(open.loc), ctx.copy(ArrayRef<Stmt *>(stmts)));
}

/// The block of a `for`, `while`, …; says so where braces are left out.
Block *Parser::parseBlockOf(StringRef statement) {
  if (at(Kind::LBrace))
    return parseBlock();
  if (at(Kind::Equal)) {
    errorHere(diag::assign_in_condition)
        .fixIt(tok.range(), "==", "compare with `==`");
  } else if (!refuseForeignOperator()) {
    auto report = errorHere(diag::block_needs_braces, statement);
    report.label("expected `{`, found " + found());
    if (at(Kind::Colon))
      report.fixIt(tok.range(), " {",
                   "open the body with `{` and close it with `}`");
    else if (at(Kind::Semicolon))
      report.help("delete this `;`");
    else
      report.help("braces are needed around one statement too");
  }
  if (accept(Kind::Colon) ||
      (at(Kind::Semicolon) && (advance(), at(Kind::LBrace))))
    return at(Kind::LBrace) ? parseBlock() : nullptr;
  return skipToBlock() ? parseBlock() : nullptr;
}

/// `kernel` or `fn` inside a body: parsed, so that only this is reported.
void Parser::refuseNestedItem() {
  auto report = errorHere(diag::nested_item, tok.text);
  if (at(Kind::kw_fn))
    report.help("a `fn` is inlined where it is called, wherever it stands");
  parseItem();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Stmt *Parser::parseStatement() {
  SourceLoc begin = tok.loc;
  switch (tok.kind) {
  case Kind::kw_let:
    return parseLet();
  case Kind::kw_var:
    return parseVar();
  case Kind::kw_const:
    return parseConstStatement();
  case Kind::kw_for:
    return parseFor();
  case Kind::kw_while:
    return parseWhile();
  case Kind::kw_if:
    return parseIf();
  case Kind::kw_return:
    return parseReturn();
  case Kind::kw_fast:
    return parseFast();
  case Kind::LBrace:
    return parseBlock();
  case Kind::kw_break:
    advance();
    expectSemicolon("`break`");
    return ctx.create<BreakStmt>(from(begin));
  case Kind::kw_continue:
    advance();
    expectSemicolon("`continue`");
    return ctx.create<ContinueStmt>(from(begin));
  case Kind::Semicolon:
    errorHere(diag::expected_statement, found())
        .fixIt(tok.range(), "", "delete this `;`");
    advance();
    return nullptr;
  case Kind::kw_else:
    errorHere(diag::expected_statement, found())
        .help("`else` stands directly behind the `}` of its `if`");
    advance();
    if (at(Kind::kw_if))
      return parseIf();
    return at(Kind::LBrace) ? parseBlock() : nullptr;
  case Kind::RParen:
  case Kind::RBracket:
    errorHere(diag::unmatched_delimiter, tok.text);
    advance();
    skipStatement();
    return nullptr;
  case Kind::kw_import:
  case Kind::kw_specialize:
  case Kind::kw_in:
  case Kind::kw_mut:
  case Kind::kw_as:
    errorHere(diag::expected_statement, found());
    skipStatement();
    return nullptr;
  default:
    return parseExprStatement();
  }
}

Stmt *Parser::parseLet() {
  SourceLoc begin = tok.loc;
  advance();
  SmallVector<Name, 4> names;
  TypeExpr *type = nullptr;
  bool isTuple = at(Kind::LParen);
  auto fail = [&]() -> Stmt * {
    skipStatement();
    return nullptr;
  };
  if (at(Kind::kw_mut)) {
    error({begin, tok.end()}, diag::misplaced_mut)
        .fixIt({begin, tok.end()}, "var",
               "a variable that changes is declared with `var`");
    advance();
  }
  if (isTuple) {
    Token open = tok;
    advance();
    bool ok = parseList(Kind::RParen, open, [&] {
      names.push_back(parseName("a variable"));
      return bool(names.back());
    });
    if (!ok)
      return fail();
    if (names.size() < 2) {
      error(from(open.loc), diag::tuple_misplaced)
          .help("a tuple has two or more names");
      isTuple = false;
      if (names.empty())
        return fail();
    }
  } else {
    names.push_back(parseName("a variable"));
    if (!names.back())
      return fail();
    if (at(Kind::Comma)) {
      errorHere(diag::expected_token, "`=`", found())
          .help("several values are taken apart with `let (a, b) = …`");
      return fail();
    }
  }
  if (at(Kind::Colon) && !isTuple) {
    advance();
    type = parseType();
    if (!type)
      return fail();
  }
  Expr *init = parseInitializer("let", names.front());
  if (!init)
    return fail();
  expectSemicolon("the declaration");
  return ctx.create<LetStmt>(from(begin), ctx.copy(ArrayRef<Name>(names)),
                             isTuple, type, init);
}

/// `= expr` behind a declared name.
Expr *Parser::parseInitializer(StringRef keyword, Name name) {
  if (accept(Kind::Equal))
    return parseExprOrTuple();
  if (at(Kind::Semicolon) || tok.startsLine || at(Kind::RBrace)) {
    if (tok.bad)
      return nullptr;
    auto report = error(SourceRange(previousEnd), diag::missing_initializer,
                        (keyword + " " + name.text).str());
    report.label("expected `= …`");
    if (keyword == "let")
      report.help("`var " + name.text.str() +
                  ": T;` declares a variable that is set later");
    return nullptr;
  }
  if (refuseForeignOperator() || refuseCDeclaration(name.range))
    return nullptr;
  errorHere(diag::expected_token, "`=`", found());
  return nullptr;
}

Stmt *Parser::parseVar() {
  SourceLoc begin = tok.loc;
  advance();
  auto fail = [&]() -> Stmt * {
    skipStatement();
    return nullptr;
  };
  if (at(Kind::LParen)) {
    errorHere(diag::expected_name, "the name of a variable", found())
        .help("take a tuple apart with `let (a, b) = …`, then `var x = a;`");
    return fail();
  }
  Name name = parseName("a variable");
  if (!name)
    return fail();
  TypeExpr *type = nullptr;
  Expr *init = nullptr;
  if (accept(Kind::Colon)) {
    type = parseType();
    if (!type)
      return fail();
  }
  if (at(Kind::Semicolon) && !type) {
    error(name.range, diag::var_needs_type_or_value, name.text)
        .help("`var " + name.text.str() + " = 0.0;` or `var " +
              name.text.str() + ": f32;`");
    return fail();
  }
  if (!at(Kind::Semicolon) && (!type || !tok.startsLine)) {
    init = parseInitializer("var", name);
    if (!init)
      return fail();
  }
  expectSemicolon("the declaration");
  return ctx.create<VarStmt>(from(begin), name, type, init);
}

Stmt *Parser::parseConstStatement() {
  SourceLoc begin = tok.loc;
  advance();
  Name name = parseName("a constant");
  TypeExpr *type = nullptr;
  bool ok = bool(name);
  if (ok && accept(Kind::Colon)) {
    type = parseType();
    ok = type != nullptr;
  }
  Expr *init = ok ? parseInitializer("const", name) : nullptr;
  if (!init) {
    skipStatement();
    return nullptr;
  }
  expectSemicolon("the constant");
  return ctx.create<ConstStmt>(from(begin), name, type, init);
}

Stmt *Parser::parseReturn() {
  SourceLoc begin = tok.loc;
  advance();
  Expr *value = nullptr;
  bool absent = at(Kind::Semicolon) || at(Kind::RBrace) ||
                (tok.startsLine && atStatementKeyword());
  if (!absent) {
    value = parseExprOrTuple();
    if (!value) {
      skipStatement();
      return nullptr;
    }
    if (at(Kind::Comma)) {
      errorHere(diag::missing_semicolon, "the returned value")
          .help("several values are returned as a tuple: `return (a, b);`");
      skipStatement();
      return nullptr;
    }
  }
  expectSemicolon(value ? "the returned value" : "`return`");
  return ctx.create<ReturnStmt>(from(begin), value);
}

Stmt *Parser::parseFast() {
  SourceLoc begin = tok.loc;
  advance();
  Block *body = parseBlockOf("`fast`");
  return body ? ctx.create<FastStmt>(from(begin), body) : nullptr;
}

//===----------------------------------------------------------------------===//
// Loops and conditions
//===----------------------------------------------------------------------===//

Stmt *Parser::parseFor() {
  SourceLoc begin = tok.loc;
  advance();
  SourceRange constRange;
  // Reads the body in any case, for the errors in it.
  auto fail = [&]() -> Stmt * {
    if (skipToBlock())
      parseBlock();
    return nullptr;
  };
  if (at(Kind::kw_const)) {
    constRange = tok.range();
    advance();
  }
  if (at(Kind::LParen)) {
    errorHere(diag::for_needs_range)
        .help("`for i in 0..n { … }`, with `step 2` before the body for a "
              "stride");
    skipBalanced();
    return fail();
  }
  Name var = parseName("a loop variable");
  if (!var)
    return fail();
  if (!accept(Kind::kw_in)) {
    if (at(Kind::Identifier)) // for int i = 0
      errorHere(diag::for_needs_range).help("`for i in 0..n { … }`");
    else
      errorHere(diag::expected_token, "`in`", found())
          .help("`for " + var.text.str() + " in 0..n { … }`");
    return fail();
  }
  Expr *lo = parseExpr();
  if (!lo)
    return fail();
  if (!at(Kind::DotDot)) {
    auto report = errorHere(diag::for_needs_range);
    report.label("expected `..`, found " + found());
    auto *call = dyn_cast<CallExpr>(lo);
    auto *callee = call ? dyn_cast<NameExpr>(call->callee) : nullptr;
    if (callee && callee->name == "range" && call->args.size() == 1)
      report.fixIt(lo->getRange(), "0.." + sources.getText(call->args[0].range),
                   "a range is written with `..`");
    else
      report.help("`for " + var.text.str() + " in 0..n { … }`");
    return fail();
  }
  advance();
  if (at(Kind::Equal)) {
    error(SourceRange(tok.loc.advanced(-2), tok.end()), diag::foreign_operator,
          "..=")
        .help("the upper bound is not part of the range: write `lo..hi + 1`");
    return fail();
  }
  Expr *hi = parseExpr();
  if (!hi)
    return fail();
  Expr *step = nullptr;
  if (atWord("step")) {
    advance();
    step = parseExpr();
    if (!step)
      return fail();
  } else if (at(Kind::DotDot)) {
    errorHere(diag::range_misplaced)
        .help("a stride is written `lo..hi step s`");
    return fail();
  }
  Block *body = parseBlockOf("a `for` loop");
  if (!body)
    return nullptr;
  return ctx.create<ForStmt>(from(begin), constRange, var, lo, hi, step, body);
}

/// The condition of an `if` or `while`.
Expr *Parser::parseCondition(StringRef statement) {
  Expr *cond = at(Kind::LBrace) ? (reportNoExpression(), nullptr) : parseExpr();
  if (!cond)
    return nullptr;
  if (at(Kind::Equal)) {
    errorHere(diag::assign_in_condition)
        .fixIt(tok.range(), "==", "compare with `==`");
    return nullptr;
  }
  return cond;
}

Stmt *Parser::parseWhile() {
  SourceLoc begin = tok.loc;
  advance();
  Expr *cond = parseCondition("`while`");
  Block *body = cond            ? parseBlockOf("a `while` loop")
                : skipToBlock() ? parseBlock()
                                : nullptr;
  if (!cond || !body)
    return nullptr;
  return ctx.create<WhileStmt>(from(begin), cond, body);
}

Stmt *Parser::parseIf() {
  SourceLoc begin = tok.loc;
  Nesting nesting(*this);
  advance();
  if (!nesting) {
    // A chain of `else if` without end: skipped arm by arm, in a loop.
    while (skipToBlock()) {
      skipBalanced();
      if (!accept(Kind::kw_else))
        break;
    }
    return nullptr;
  }
  SourceRange constRange;
  if (at(Kind::kw_const)) {
    constRange = tok.range();
    advance();
  }
  Expr *cond = parseCondition("`if`");
  Block *thenBlock = cond            ? parseBlockOf("an `if`")
                     : skipToBlock() ? parseBlock()
                                     : nullptr;
  bool ok = cond && thenBlock;
  Stmt *elseStmt = nullptr;
  if (atWord("elif") || atWord("elsif") || atWord("elseif")) {
    errorHere(diag::foreign_keyword, tok.text)
        .fixIt(tok.range(), "else if", "write `else if`");
    elseStmt = parseIf(); // takes the word in place of `if`
    ok = false;
  } else if (accept(Kind::kw_else)) {
    elseStmt = at(Kind::kw_if) ? parseIf() : parseBlockOf("an `else`");
    ok &= elseStmt != nullptr;
  }
  if (!ok)
    return nullptr;
  return ctx.create<IfStmt>(from(begin), constRange, cond, thenBlock, elseStmt);
}

//===----------------------------------------------------------------------===//
// Expression statements and assignments
//===----------------------------------------------------------------------===//

/// `int x = 1;`, `f32[BM] acc;`: at the name, behind what looks like a type.
bool Parser::refuseCDeclaration(SourceRange type) {
  if (!at(Kind::Identifier) || tok.startsLine || tok.bad)
    return false;
  errorHere(diag::c_style_declaration)
      .secondary(type, "")
      .help(
          "`let " + tok.text.str() + " = …;`, or `var " + tok.text.str() +
          " = …;` for one that changes; a type is written behind the name: `" +
          tok.text.str() + ": f32[BM]`");
  return true;
}

/// Words that begin statements in other languages.
bool Parser::refuseForeignStatement() {
  if (!at(Kind::Identifier))
    return false;
  StringRef help =
      StringSwitch<StringRef>(tok.text)
          .Cases({"do", "loop"}, "loops are `for` and `while`")
          .Cases({"switch", "match"}, "choose with `if` and `else if`")
          .Case("goto", "loops are left with `break`")
          .Cases({"def", "function", "func", "lambda"},
                 "a `fn` is declared outside of bodies")
          .Cases({"struct", "class", "enum", "typedef", "type", "using"},
                 "there are no types of your own; a `fn` returns a tuple")
          .Cases({"elif", "elsif", "elseif"},
                 "write `else if` behind the `}` of the `if`")
          .Case("auto", "declare with `let` or `var`")
          .Case("unless", "write `if !c`")
          .Case("yield", "a result is stored to a `mut` array")
          .Cases({"try", "throw", "raise"},
                 "there are no exceptions; see `assert`")
          .Default("");
  // `grid [n]`: an index that stands alone means nothing either.
  StringRef rest = sources.getText(SourceRange(
      tok.end(), sources.getLoc(file, sources.getText(file).size())));
  rest = rest.ltrim(" \t");
  if (atWord("grid") && rest.starts_with("[")) {
    errorHere(diag::foreign_keyword, tok.text)
        .help("clauses stand between the parameters and the body");
    return true;
  }
  if (help.empty())
    return false;
  // Punctuation that continues an expression means a variable of that name.
  if (rest.empty() || StringRef("=(.+-*/%&|^<>[;,@?").contains(rest.front()))
    return false;
  errorHere(diag::foreign_keyword, tok.text).help(help);
  return true;
}

Stmt *Parser::parseExprStatement() {
  SourceLoc begin = tok.loc;
  auto fail = [&]() -> Stmt * {
    skipStatement();
    return nullptr;
  };
  if (refuseForeignStatement()) {
    advance();
    return fail();
  }
  bool plainWord = at(Kind::Identifier);
  Expr *expr = plainWord || at(Kind::LParen) ||
                       !tok.isAny(Kind::Comma, Kind::Colon, Kind::Equal,
                                  Kind::Dot, Kind::DotDot, Kind::Question)
                   ? parseExprOrTuple()
                   : (errorHere(diag::expected_statement, found()), nullptr);
  if (!expr)
    return fail();
  if (at(Kind::Equal) ||
      (tok.kind >= Kind::PlusEqual && tok.kind <= Kind::GreaterGreaterEqual))
    return parseAssignment(expr, begin);
  if (refuseCDeclaration(expr->getRange()))
    return fail();
  if (at(Kind::Comma) || at(Kind::Colon)) {
    if (refuseForeignOperator())
      return fail();
    if (at(Kind::Colon) && isa<NameExpr>(expr))
      errorHere(diag::missing_semicolon, "the expression")
          .label("found " + found())
          .help("declare with `let x: T = …;` or `var x: T;`");
    else
      errorHere(diag::missing_semicolon, "the expression")
          .label("found " + found());
    return fail();
  }
  if (auto *call = dyn_cast<CallExpr>(expr)) {
    expectSemicolon("the call");
    return ctx.create<ExprStmt>(from(begin), call);
  }
  unsigned errors = diags.getNumErrors();
  if (at(Kind::RBrace) && !tok.bad) {
    error(expr->getRange(), diag::expression_has_no_effect)
        .help("a fn gives a value by `return …;`");
    return nullptr;
  }
  expectSemicolon("the expression");
  if (diags.getNumErrors() != errors)
    return nullptr;
  auto *binary = dyn_cast<BinaryExpr>(expr);
  auto report = error(expr->getRange(), diag::expression_has_no_effect);
  if (binary && binary->op == BinaryOp::Eq && isa<NameExpr>(binary->lhs))
    report.fixIt(binary->opRange, "=", "assign with `=`");
  else
    report.help("only calls stand alone; return a value with `return x;`");
  return nullptr;
}

static std::optional<BinaryOp> compoundOperator(TokenKind kind) {
  // clang-format off
  switch (kind) {
  case TokenKind::PlusEqual: return BinaryOp::Add;
  case TokenKind::MinusEqual: return BinaryOp::Sub;
  case TokenKind::StarEqual: return BinaryOp::Mul;
  case TokenKind::SlashEqual: return BinaryOp::Div;
  case TokenKind::PercentEqual: return BinaryOp::Rem;
  case TokenKind::AmpEqual: return BinaryOp::BitAnd;
  case TokenKind::PipeEqual: return BinaryOp::BitOr;
  case TokenKind::CaretEqual: return BinaryOp::BitXor;
  case TokenKind::LessLessEqual: return BinaryOp::Shl;
  case TokenKind::GreaterGreaterEqual: return BinaryOp::Shr;
  default: return std::nullopt;
  }
  // clang-format on
}

/// At the `=` or `op=` behind `target`.
Stmt *Parser::parseAssignment(Expr *target, SourceLoc begin) {
  Token op = tok;
  auto *name = dyn_cast<NameExpr>(target);
  if (!name) {
    bool isTuple = isa<TupleExpr>(target);
    bool isElement = isa<IndexExpr>(target);
    error(target->getRange(), diag::invalid_assignment_target,
          isTuple     ? "a tuple"
          : isElement ? "an element"
                      : "this expression")
        .help(
            isTuple ? "take it apart with `let (a, b) = …`"
            : isElement
                ? "arrays are written with `store` or `store_at`; a tile never "
                  "changes: `x = insert(x, index, part)` makes a new one"
                : "only a `var` is assigned to");
  }
  advance();
  Expr *value = parseExpr();
  if (!value) {
    skipStatement();
    return nullptr;
  }
  if (at(Kind::Equal)) {
    errorHere(diag::missing_semicolon, "the assignment")
        .help("an assignment is not a value; write two statements");
    skipStatement();
    return nullptr;
  }
  expectSemicolon("the assignment");
  if (!name)
    return nullptr;
  return ctx.create<AssignStmt>(from(begin), Name{name->name, name->getRange()},
                                compoundOperator(op.kind), op.range(), value);
}

} // namespace tilec

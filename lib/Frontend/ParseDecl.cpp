//===- ParseDecl.cpp - items, parameters, clauses, types --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   item    = "kernel" name [ "<" cparam, … ">" ] "(" kparam, … ")" { clause }
//   block
//           | "fn" name "(" fparam, … ")" block
//           | "const" name [ ":" type ] "=" expr ";"
//           | "import" string ";"
//           | "specialize" name "<" argument, … ">" "as" name ";"
//           | "static_assert" "(" expr [ "," string ] ")" ";"
//   cparam  = name ":" bound [ "=" expr ]        kparam = name ":" type
//   fparam  = name [ "=" expr ]
//   clause  = "requires" expr, …  |  "grid" "[" expr, … "]"
//           | "hint" [ chip ] "(" name ":" expr, … ")"
//   type    = name [ "[" expr, … "]" ]
//           | [ "mut" ] [ "strided" ] "array" "<" type "," "[" expr, … "]" ">"
//
//===----------------------------------------------------------------------===//

#include "ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tilec {

using namespace ast;

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The next item, or null where there is none; then something was skipped.
Decl *Parser::parseItem() {
  SmallVector<StringRef, 8> docs;
  for (StringRef line : lexer.getDocs())
    docs.push_back(ctx.copy(line));
  Decl *decl = nullptr;
  switch (tok.kind) {
  case Kind::kw_kernel:
    decl = parseKernel();
    break;
  case Kind::kw_fn:
    decl = parseFn();
    break;
  case Kind::kw_const:
    decl = parseConst();
    break;
  case Kind::kw_import:
    decl = parseImport();
    break;
  case Kind::kw_specialize:
    decl = parseSpecialize();
    break;
  default:
    if (atWord("static_assert")) {
      decl = parseStaticAssert();
      break;
    }
    reportNoItem();
    return nullptr;
  }
  if (decl)
    decl->doc = ctx.copy(ArrayRef<StringRef>(docs));
  return decl;
}

void Parser::reportNoItem() {
  if (tok.isAny(Kind::RBrace, Kind::RParen, Kind::RBracket)) {
    errorHere(diag::unmatched_delimiter, tok.text);
    advance();
    return;
  }
  if (at(Kind::Semicolon)) {
    errorHere(diag::expected_item, found())
        .fixIt(tok.range(), "", "delete this `;`");
    advance();
    return;
  }
  if (atStatementKeyword()) {
    errorHere(diag::statement_outside_body)
        .help(at(Kind::kw_let) || at(Kind::kw_var)
                  ? "a value known at compile time is declared with `const`"
                  : "put it into a `kernel` or a `fn`");
  } else {
    StringRef help =
        at(Kind::Identifier)
            ? StringSwitch<StringRef>(tok.text)
                  .Cases({"def", "function", "func", "void", "auto", "inline"},
                         "begin with `fn` for a function, with `kernel` for "
                         "what is launched")
                  .Cases({"__global__", "extern", "pub", "static", "template"},
                         "what is launched begins with `kernel`; it takes "
                         "compile-time "
                         "parameters in `<…>`")
                  .Cases({"include", "use", "using", "from", "module"},
                         "bring in another file with `import \"path.tile\";`")
                  .Cases({"struct", "class", "enum", "typedef", "type"},
                         "there are no types of your own")
                  .Default("")
            : "";
    auto report = errorHere(diag::expected_item, found());
    if (!help.empty())
      report.help(help);
  }
  advance();
  skipToItem();
}

/// The body of a kernel or fn; null after an error.
Block *Parser::parseBody(StringRef what, Name name) {
  if (at(Kind::LBrace))
    return parseBlock();
  if (at(Kind::Semicolon) || at(Kind::EndOfFile) || atItemStart())
    errorHere(diag::body_missing, what, name.text);
  else if (at(Kind::Equal))
    errorHere(diag::body_missing, what, name.text).help("`{ return …; }`");
  else {
    auto report = errorHere(diag::expected_token,
                            what == "kernel"
                                ? "`requires`, `grid`, `hint` or the body in braces"
                                : "the body in braces",
                            found());
    if (what == "kernel" && (atWord("num_warps") || atWord("num_stages") || atWord("cluster")))
      report.help("`hint(" + tok.text.str() + ": 4)`");
    else if (at(Kind::Colon))
      report.fixIt(tok.range(), "", "delete it");
  }
  if (accept(Kind::Semicolon) || atItemStart())
    return nullptr;
  while (!at(Kind::EndOfFile) && !at(Kind::LBrace) && !at(Kind::Semicolon) &&
         !(atItemStart() && tok.startsLine))
    advance();
  if (at(Kind::LBrace))
    parseBlock(); // for the errors in it
  else
    accept(Kind::Semicolon);
  return nullptr;
}

/// `-> T` behind parameters.
void Parser::refuseReturnType(StringRef declaration) {
  if (!at(Kind::Arrow))
    return;
  SourceLoc begin = tok.loc;
  bool bad = tok.bad;
  advance();
  if (!at(Kind::LBrace) && !atClause() && !parseType())
    return;
  if (bad)
    return;
  if (declaration == "kernel")
    error(from(begin), diag::kernel_returns)
        .help("write results through a parameter of type `mut array<T, […]>`");
  else
    error(from(begin), diag::fn_annotation, "result type")
        .fixIt(from(begin), "", "delete it");
}

Decl *Parser::parseKernel() {
  SourceLoc begin = tok.loc;
  advance();
  Name name = parseName("a kernel");
  if (!name) {
    skipToItem();
    return nullptr;
  }
  auto *kernel = ctx.create<KernelDecl>(from(begin), name);
  bool ok = parseConstParams(*kernel);
  if (ok && !at(Kind::LParen)) {
    errorHere(diag::expected_token, "`(`", found());
    ok = false;
  }
  ok = ok && parseKernelParams(*kernel);
  if (ok) {
    refuseReturnType("kernel");
    ok = parseClauses(*kernel);
  }
  if (ok) {
    kernel->body = parseBody("kernel", name);
  } else if (at(Kind::LBrace)) {
    parseBlock(); // for the errors in it
  } else {
    kernel->malformed = true;
    while (!at(Kind::EndOfFile) && !at(Kind::LBrace) &&
           !(atItemStart() && tok.startsLine))
      advance();
    if (at(Kind::LBrace))
      parseBlock();
  }
  kernel->malformed |= !kernel->body;
  kernel->setRange(from(begin));
  return kernel;
}

Decl *Parser::parseFn() {
  SourceLoc begin = tok.loc;
  advance();
  Name name = parseName("a fn");
  if (!name) {
    skipToItem();
    return nullptr;
  }
  auto *fn = ctx.create<FnDecl>(from(begin), name);
  if (at(Kind::Less)) {
    errorHere(diag::fn_annotation, "compile-time parameters")
        .help("every `fn` is generic; take a dtype or a value as an ordinary "
              "parameter: `fn f(x, T)`");
    while (!tok.isAny(Kind::LParen, Kind::LBrace, Kind::EndOfFile,
                      Kind::Semicolon))
      advance();
  }
  Token open = tok;
  SmallVector<FnParam, 8> params;
  bool ok = expect(Kind::LParen) &&
            parseList(Kind::RParen, open, [&] { return parseFnParam(params); });
  fn->params = ctx.copy(ArrayRef<FnParam>(params));
  fn->paramsRange = from(open.loc);
  if (ok) {
    refuseReturnType("fn");
    fn->body = parseBody("fn", name);
  } else {
    while (!at(Kind::EndOfFile) && !at(Kind::LBrace) &&
           !(atItemStart() && tok.startsLine))
      advance();
    if (at(Kind::LBrace))
      parseBlock();
  }
  fn->malformed = !fn->body;
  fn->setRange(from(begin));
  return fn;
}

bool Parser::parseFnParam(SmallVectorImpl<FnParam> &params) {
  SourceLoc begin = tok.loc;
  Name name = parseName("a parameter");
  if (!name)
    return false;
  if (at(Kind::Identifier)) {
    refuseCDeclaration(name.range);
    return false;
  }
  if (at(Kind::Colon)) {
    SourceLoc colon = tok.loc;
    advance();
    if (!parseType())
      return false;
    error(from(colon), diag::fn_annotation, "parameter types")
        .fixIt(from(colon), "", "delete it");
  }
  Expr *value = nullptr;
  if (accept(Kind::Equal)) {
    value = parseExpr();
    if (!value)
      return false;
  }
  params.push_back({name, value, from(begin)});
  return true;
}

Decl *Parser::parseConst() {
  SourceLoc begin = tok.loc;
  advance();
  Name name = parseName("a constant");
  TypeExpr *type = nullptr;
  Expr *init = nullptr;
  bool ok = bool(name);
  if (ok && accept(Kind::Colon)) {
    type = parseType();
    ok = type != nullptr;
  }
  if (ok)
    init = parseInitializer("const", name);
  if (init)
    expectSemicolon("the constant");
  else
    skipToItem();
  if (!name)
    return nullptr;
  auto *decl = ctx.create<ConstDecl>(from(begin), name, type, init);
  decl->malformed = !init;
  return decl;
}

Decl *Parser::parseImport() {
  SourceLoc begin = tok.loc;
  advance();
  Token path = tok;
  if (!at(Kind::StringLiteral)) {
    errorHere(diag::expected_token, "a path in quotes", found())
        .help("`import \"path.tile\";`");
    skipToItem();
    return nullptr;
  }
  auto *string = cast<StringLiteralExpr>(parseString());
  expectSemicolon("the import");
  if (path.bad)
    return nullptr;
  return ctx.create<ImportDecl>(from(begin), string->value, path.range());
}

Decl *Parser::parseSpecialize() {
  SourceLoc begin = tok.loc;
  advance();
  Name kernel = parseName("the kernel to specialise");
  Token open = tok;
  SmallVector<Argument, 8> args;
  Name as;
  bool ok = kernel && expect(Kind::Less);
  if (ok) {
    SaveAndRestore angles(inAngles, true);
    ok = parseArguments(Kind::Greater, open, args);
  }
  if (ok && at(Kind::Semicolon)) {
    errorHere(diag::expected_token, "`as`", found())
        .help("name it: `specialize " + kernel.text.str() + "<…> as " +
              kernel.text.str() + "_f16;`");
    ok = false;
  }
  ok = ok && expect(Kind::kw_as);
  if (ok)
    as = parseName("the specialised kernel");
  if (!as) {
    skipStatement();
    return nullptr;
  }
  expectSemicolon("the specialisation");
  return ctx.create<SpecializeDecl>(from(begin), kernel,
                                    ctx.copy(ArrayRef<Argument>(args)), as);
}

Decl *Parser::parseStaticAssert() {
  SourceLoc begin = tok.loc;
  advance();
  Token open = tok;
  Expr *cond = nullptr;
  StringLiteralExpr *message = nullptr;
  bool ok = expect(Kind::LParen) && (cond = parseExpr());
  if (ok && accept(Kind::Comma) && !at(Kind::RParen)) {
    if (at(Kind::StringLiteral))
      message = cast<StringLiteralExpr>(parseString());
    else
      ok = expect(Kind::StringLiteral, "a message in quotes");
    if (ok)
      accept(Kind::Comma);
  }
  ok = ok && expectClose(Kind::RParen, open);
  if (!ok) {
    skipToItem();
    return nullptr;
  }
  expectSemicolon("`static_assert`");
  return ctx.create<StaticAssertDecl>(from(begin), cond, message);
}

//===----------------------------------------------------------------------===//
// Kernel parameters
//===----------------------------------------------------------------------===//

bool Parser::parseConstParams(KernelDecl &kernel) {
  if (!at(Kind::Less))
    return true;
  Token open = tok;
  advance();
  SmallVector<ConstParam, 8> params;
  SaveAndRestore angles(inAngles, true);
  bool ok =
      parseList(Kind::Greater, open, [&] { return parseConstParam(params); });
  kernel.constParams = ctx.copy(ArrayRef<ConstParam>(params));
  return ok;
}

bool Parser::parseConstParam(SmallVectorImpl<ConstParam> &params) {
  SourceLoc begin = tok.loc;
  if (at(Kind::kw_const)) {
    SourceRange word = tok.range();
    errorHere(diag::reserved_word, tok.text,
              "the name of a compile-time parameter")
        .fixIt(word, "",
               "delete it: what stands in `<…>` is known at compile time");
    advance();
  }
  Name name = parseName("a compile-time parameter");
  if (!name)
    return false;
  if (at(Kind::Identifier)) {
    errorHere(diag::c_style_declaration)
        .secondary(name.range, "")
        .help("the bound stands behind the name: `" + tok.text.str() + ": int`");
    return false;
  }
  Name bound;
  if (at(Kind::Colon)) {
    advance();
    bound = parseName("a bound");
    if (!bound)
      return false;
    if (at(Kind::Dot)) { // tl.constexpr
      errorHere(diag::expected_token, "`,` or `>`", found())
          .help("a size is `" + name.text.str() + ": int`; all that stands in `<…>` is known at "
                "compile time");
      return false;
    }
  } else {
    error(name.range, diag::missing_bound, name.text)
        .help("`" + name.text.str() + ": int` for a number, `" +
              name.text.str() + ": float` for a dtype");
  }
  Expr *value = nullptr;
  if (accept(Kind::Equal)) {
    value = parseExpr();
    if (!value)
      return false;
  }
  params.push_back({name, bound, value, from(begin)});
  return true;
}

bool Parser::parseKernelParams(KernelDecl &kernel) {
  Token open = tok;
  advance();
  SmallVector<KernelParam, 8> params;
  SaveAndRestore angles(inAngles, false);
  bool ok =
      parseList(Kind::RParen, open, [&] { return parseKernelParam(params); });
  kernel.params = ctx.copy(ArrayRef<KernelParam>(params));
  return ok;
}

bool Parser::parseKernelParam(SmallVectorImpl<KernelParam> &params) {
  SourceLoc begin = tok.loc;
  if (at(Kind::kw_mut)) {
    errorHere(diag::misplaced_mut).help("`name: mut array<T, [n]>`");
    advance();
  }
  Name name = parseName("a parameter");
  if (!name)
    return false;
  if (!at(Kind::Colon)) {
    if (at(Kind::Identifier) && tok.text != "array" && !tok.startsLine) {
      refuseCDeclaration(name.range);
      return false;
    }
    if (at(Kind::Comma) || at(Kind::RParen)) {
      errorHere(diag::missing_type, name.text)
          .help("`" + name.text.str() + ": f32` or `" + name.text.str() +
                ": array<f32, [n]>`");
      return true;
    }
    auto report = errorHere(diag::expected_token, "`:` and a type", found());
    if (at(Kind::Star) || at(Kind::Amp))
      report.help("there are no pointers; a parameter is `x: array<f32, [n]>`, or `n: int`");
    return false;
  }
  advance();
  TypeExpr *type = parseType();
  if (!type)
    return false;
  if (at(Kind::Equal)) {
    errorHere(diag::kernel_default)
        .help("compile-time parameters have defaults: `<N: int = 4>`");
    return false;
  }
  params.push_back({name, type, from(begin)});
  return true;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

bool Parser::atClause() const {
  return atWord("requires") || atWord("grid") || atWord("hint");
}

bool Parser::parseClauses(KernelDecl &kernel) {
  SmallVector<HintClause, 4> hints;
  bool ok = true;
  while (ok && atClause()) {
    if (atWord("requires"))
      ok = parseRequires(kernel);
    else if (atWord("grid"))
      ok = parseGrid(kernel);
    else
      ok = parseHint(hints);
    if (ok && (at(Kind::Semicolon) || at(Kind::Comma) || at(Kind::Colon))) {
      errorHere(diag::expected_token, "another clause or the body in braces", found())
          .fixIt(tok.range(), "", "delete it");
      advance();
    }
  }
  kernel.hints = ctx.copy(ArrayRef<HintClause>(hints));
  return ok;
}

bool Parser::parseRequires(KernelDecl &kernel) {
  SourceRange word = tok.range();
  if (kernel.requiresRange.isValid())
    errorHere(diag::duplicate_clause, "requires")
        .secondary(SourceRange(kernel.requiresRange.begin,
                               kernel.requiresRange.begin.advanced(8)),
                   "the first one")
        .help("one clause takes several conditions: `requires a, b`");
  advance();
  SmallVector<Expr *, 8> list;
  do {
    if (!list.empty() && atClause()) {
      errorHere(diag::expected_expression, found())
          .help("delete the `,` before it");
      return true;
    }
    Expr *condition = parseExpr();
    if (!condition)
      return false;
    if (at(Kind::Equal)) {
      errorHere(diag::assign_in_condition)
          .fixIt(tok.range(), "==", "compare with `==`");
      return false;
    }
    list.push_back(condition);
  } while (accept(Kind::Comma));
  kernel.requirements = ctx.copy(ArrayRef<Expr *>(list));
  kernel.requiresRange = from(word.begin);
  return true;
}

bool Parser::parseGrid(KernelDecl &kernel) {
  SourceRange word = tok.range();
  if (kernel.gridRange.isValid())
    errorHere(diag::duplicate_clause, "grid")
        .secondary(SourceRange(kernel.gridRange.begin,
                               kernel.gridRange.begin.advanced(4)),
                   "the first one");
  advance();
  Token open = tok;
  if (!at(Kind::LBracket)) {
    errorHere(diag::expected_token, "`[`", found())
        .help("`grid [cdiv(n, BN)]`: one to three numbers of blocks");
    return false;
  }
  advance();
  SmallVector<Expr *, 4> list;
  bool ok = parseList(Kind::RBracket, open, [&] {
    list.push_back(parseExpr());
    return list.back() != nullptr;
  });
  if (!ok)
    return false;
  kernel.grid = ctx.copy(ArrayRef<Expr *>(list));
  kernel.gridRange = from(word.begin);
  if (list.empty() || list.size() > 3)
    error(from(open.loc), diag::grid_rank, list.size());
  return true;
}

bool Parser::parseHint(SmallVectorImpl<HintClause> &hints) {
  SourceLoc begin = tok.loc;
  advance();
  Name chip;
  if (at(Kind::Identifier))
    chip = parseName("a chip");
  SourceRange head = from(begin);
  Token open = tok;
  SmallVector<Argument, 8> args;
  if (!at(Kind::LParen)) {
    errorHere(diag::expected_token, "`(`", found())
        .help("`hint(num_warps: 8)`; a chip's name may stand before the `(`");
    return false;
  }
  advance();
  if (!parseArguments(Kind::RParen, open, args))
    return false;
  for (const Argument &arg : args)
    if (!arg.name) {
      error(arg.range, diag::hint_not_named).help("`hint(num_warps: 8)`");
      break;
    }
  for (const HintClause &other : hints)
    if (other.chip.text == chip.text) {
      error(head, diag::duplicate_clause,
            chip ? "hint " + chip.text.str() : std::string("hint"))
          .secondary(
              SourceRange(other.range.begin, other.range.begin.advanced(4)),
              "the first one");
      break;
    }
  hints.push_back({chip, ctx.copy(ArrayRef<Argument>(args)), from(begin)});
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TypeExpr *Parser::parseType() {
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  SourceLoc begin = tok.loc;
  SourceRange mutRange, stridedRange;
  if (at(Kind::kw_mut)) {
    mutRange = tok.range();
    advance();
  }
  if (atWord("strided")) {
    stridedRange = tok.range();
    advance();
  }
  if (at(Kind::kw_mut)) { // strided mut array
    errorHere(diag::misplaced_mut).help("`mut strided array<…>`");
    mutRange = tok.range();
    advance();
  }
  if (atWord("array") && !tok.bad)
    return parseArrayType(begin, mutRange, stridedRange);
  if (mutRange.isValid() || stridedRange.isValid()) {
    auto report = errorHere(diag::expected_token, "`array<…>`", found());
    if (at(Kind::Identifier))
      report.help("an array type is `mut array<" + tok.text.str() + ", [m, n]>`");
    return nullptr;
  }
  if (!at(Kind::Identifier)) {
    auto report = errorHere(diag::expected_type, found());
    if (at(Kind::Star) || at(Kind::Amp))
      report.help("there are no pointers; take `array<f32, [n]>`");
    return nullptr;
  }
  Name name = parseName("a type");
  if (at(Kind::Star)) {
    errorHere(diag::expected_token, "`,` or `)`", found())
        .help("there are no pointers; take `array<" + name.text.str() +
              ", [n]>`");
    return nullptr;
  }
  if (at(Kind::Less)) {
    errorHere(diag::expected_token, "`array<…>`",
              ("`" + name.text + "<`").str())
        .help("an array type is `array<f32, [m, n]>`");
    return nullptr;
  }
  if (!at(Kind::LBracket))
    return ctx.create<NameTypeExpr>(name);
  auto *dims = dyn_cast_or_null<ListExpr>(parseList());
  if (!dims)
    return nullptr;
  return ctx.create<TileTypeExpr>(from(begin), name, dims->elements);
}

/// At the word `array`.
TypeExpr *Parser::parseArrayType(SourceLoc begin, SourceRange mutRange,
                                 SourceRange stridedRange) {
  static constexpr const char *form = "an array type is `array<f32, [m, n]>`";
  advance();
  Token open = tok;
  if (!accept(Kind::Less)) {
    errorHere(diag::expected_token, "`<`", found()).help(form);
    return nullptr;
  }
  TypeExpr *element = parseType();
  if (!element)
    return nullptr;
  if (!at(Kind::Comma)) {
    auto report = errorHere(diag::expected_token, "`,` and the sizes", found());
    report.help(form);
    return nullptr;
  }
  advance();
  if (!at(Kind::LBracket)) {
    errorHere(diag::expected_token, "`[`", found()).help(form);
    return nullptr;
  }
  SaveAndRestore dimsOnly(inDims, true);
  auto *dims = dyn_cast_or_null<ListExpr>(parseList());
  if (!dims)
    return nullptr;
  accept(Kind::Comma);
  if (at(Kind::GreaterEqual) || at(Kind::GreaterGreater)) {
    errorHere(diag::expected_token, "`>`", found())
        .help(at(Kind::GreaterEqual) ? "put a space between `>` and `=`"
                                     : form);
    return nullptr;
  }
  if (!expectClose(Kind::Greater, open))
    return nullptr;
  return ctx.create<ArrayTypeExpr>(from(begin), mutRange, stridedRange, element,
                                   dims->elements, dims->getRange());
}

} // namespace tilec

//===- ParseExpr.cpp - expressions, arguments, lists ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Precedence climbing with Rust's levels, `?:` below them and `@` beside `*`:
//
//   expr        = binary [ "?" expr ":" expr ]
//   binary      = unary { op unary }
//   unary       = ("-" | "!" | "~") unary | postfix
//   postfix     = primary { "(" args ")" | "[" items "]" | "." name }
//   primary     = name | number | "true" | … | "(" expr ")" | "[" list "]"
//
// A minus sign directly before a number belongs to the number, so it binds more
// tightly than a method: `-128.to(i8)` is (-128).to(i8).
//
//===----------------------------------------------------------------------===//

#include "ParserImpl.h"
#include "tilec/Support/DType.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

using namespace llvm;

namespace tilec {

using namespace ast;

namespace {

struct Operator {
  unsigned precedence = 0; // 0: not a binary operator
  BinaryOp op = BinaryOp::Add;
};

constexpr unsigned comparisonLevel = 3;

Operator binaryOperator(TokenKind kind) {
  // clang-format off
  switch (kind) {
  case TokenKind::PipePipe: return {1, BinaryOp::LogicalOr};
  case TokenKind::AmpAmp: return {2, BinaryOp::LogicalAnd};
  case TokenKind::EqualEqual: return {comparisonLevel, BinaryOp::Eq};
  case TokenKind::ExclaimEqual: return {comparisonLevel, BinaryOp::Ne};
  case TokenKind::Less: return {comparisonLevel, BinaryOp::Lt};
  case TokenKind::LessEqual: return {comparisonLevel, BinaryOp::Le};
  case TokenKind::Greater: return {comparisonLevel, BinaryOp::Gt};
  case TokenKind::GreaterEqual: return {comparisonLevel, BinaryOp::Ge};
  case TokenKind::Pipe: return {4, BinaryOp::BitOr};
  case TokenKind::Caret: return {5, BinaryOp::BitXor};
  case TokenKind::Amp: return {6, BinaryOp::BitAnd};
  case TokenKind::LessLess: return {7, BinaryOp::Shl};
  case TokenKind::GreaterGreater: return {7, BinaryOp::Shr};
  case TokenKind::Plus: return {8, BinaryOp::Add};
  case TokenKind::Minus: return {8, BinaryOp::Sub};
  case TokenKind::Star: return {9, BinaryOp::Mul};
  case TokenKind::Slash: return {9, BinaryOp::Div};
  case TokenKind::Percent: return {9, BinaryOp::Rem};
  case TokenKind::At: return {9, BinaryOp::MatMul};
  default: return {};
  }
  // clang-format on
}

bool opensWithGreater(TokenKind kind) {
  return kind == TokenKind::Greater || kind == TokenKind::GreaterEqual ||
         kind == TokenKind::GreaterGreater;
}

} // namespace

Expr *Parser::checked(Expr *expr) {
  if (expr->getHeight() <= maxExprHeight)
    return expr;
  error(expr->getRange(), diag::expression_too_long, maxExprHeight)
      .help("name a part of it with `let`");
  return nullptr;
}

Expr *Parser::parseExpr() {
  SourceLoc begin = tok.loc;
  Expr *primary = parseUnary();
  return primary ? parseExprFrom(primary, begin) : nullptr;
}

Expr *Parser::parseExprFrom(Expr *primary, SourceLoc begin) {
  Expr *expr = parseBinary(primary, begin, 1);
  return expr ? parseConditional(expr, begin) : nullptr;
}

Expr *Parser::parseExprOrTuple() {
  if (!at(Kind::LParen))
    return parseExpr();
  SourceLoc begin = tok.loc;
  Expr *expr = parseParenthesized(/*tupleAllowed=*/true);
  if (!expr || isa<TupleExpr>(expr))
    return expr;
  expr = parsePostfix(expr, begin);
  return expr ? parseExprFrom(expr, begin) : nullptr;
}

Expr *Parser::parseConditional(Expr *cond, SourceLoc begin) {
  if (!at(Kind::Question))
    return cond;
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  advance();
  Expr *onTrue = parseExpr();
  if (!onTrue || !expect(Kind::Colon, "`:` of `?:`"))
    return nullptr;
  Expr *onFalse = parseExpr();
  if (!onFalse)
    return nullptr;
  return checked(
      ctx.create<ConditionalExpr>(from(begin), cond, onTrue, onFalse));
}

/// Extends `lhs` by operators of at least this precedence. All are left
/// associative; a comparison takes no second one.
Expr *Parser::parseBinary(Expr *lhs, SourceLoc begin, unsigned minimum) {
  bool isComparison = false;
  while (true) {
    Operator next = binaryOperator(tok.kind);
    if (next.precedence < std::max(minimum, 1u))
      return lhs;
    if (inAngles && opensWithGreater(tok.kind))
      return lhs;
    SourceRange opRange = tok.range();
    if (next.precedence == comparisonLevel && isComparison &&
        !refuseChain(cast<BinaryExpr>(lhs), opRange))
      return nullptr;
    isComparison = next.precedence == comparisonLevel;
    advance();
    if (touchesPrevious() && refuseForeignOperator())
      return nullptr;

    SourceLoc rhsBegin = tok.loc;
    Expr *rhs = parseUnary();
    if (rhs)
      rhs = parseBinary(rhs, rhsBegin, next.precedence + 1);
    if (!rhs)
      return nullptr;
    lhs = checked(
        ctx.create<BinaryExpr>(from(begin), next.op, opRange, lhs, rhs));
    if (!lhs)
      return nullptr;
  }
}

/// `a < b < c`, or `f<T>(x)` which looks the same. `secondOp` is the current
/// token. Whether it makes sense to read on.
bool Parser::refuseChain(BinaryExpr *first, SourceRange secondOp) {
  if (first->op == BinaryOp::Lt && at(Kind::Greater) &&
      isa<NameExpr, MemberExpr>(first->lhs)) {
    error(first->opRange, diag::generic_in_expression)
        .secondary(secondOp, "")
        .help("a `fn` is generic without a list, and dtypes are ordinary "
              "arguments: "
              "`f(x, f32)`, `x.to(f32)`");
    return false;
  }
  StringRef middle = sources.getText(first->rhs->getRange());
  error(secondOp, diag::chained_comparison)
      .secondary(first->opRange, "the first comparison")
      .fixIt(SourceRange(secondOp.begin), ("&& " + middle + " ").str(),
             "join two comparisons with `&&`");
  return true;
}

Expr *Parser::parseUnary() {
  UnaryOp op;
  switch (tok.kind) {
  case Kind::Minus:
    op = UnaryOp::Neg;
    break;
  case Kind::Exclaim:
    op = UnaryOp::Not;
    break;
  case Kind::Tilde:
    op = UnaryOp::BitNot;
    break;
  default: {
    SourceLoc begin = tok.loc;
    Expr *primary = parsePrimary();
    return primary ? parsePostfix(primary, begin) : nullptr;
  }
  }
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  SourceRange opRange = tok.range();
  advance();
  if (op == UnaryOp::Neg && tok.isAny(Kind::IntLiteral, Kind::FloatLiteral,
                                      Kind::kw_inf, Kind::kw_nan)) {
    Expr *number = parseNumber(/*negative=*/true, opRange.begin);
    return number ? parsePostfix(number, opRange.begin) : nullptr;
  }
  if (op == UnaryOp::Neg && at(Kind::Minus) && touchesPrevious()) {
    // `--i` is a decrement to some; `- -i` and `-(-i)` are not.
    error(opRange.to(tok.range()), diag::foreign_operator, "--")
        .help("count down with `i -= 1`; negate twice with `-(-x)`");
    return nullptr;
  }
  Expr *operand = parseUnary();
  if (!operand)
    return nullptr;
  return checked(
      ctx.create<UnaryExpr>(from(opRange.begin), op, opRange, operand));
}

Expr *Parser::parsePostfix(Expr *base, SourceLoc begin) {
  while (base) {
    if (at(Kind::LParen)) {
      Nesting nesting(*this);
      Token open = tok;
      if (!nesting)
        return nullptr;
      advance();
      SmallVector<Argument, 8> args;
      {
        SaveAndRestore angles(inAngles, false);
        if (!parseArguments(Kind::RParen, open, args))
          return nullptr;
      }
      base = checked(ctx.create<CallExpr>(from(begin), base,
                                          ctx.copy(ArrayRef<Argument>(args)),
                                          from(open.loc)));
    } else if (at(Kind::LBracket)) {
      base = parseIndex(base, begin);
    } else if (at(Kind::Dot)) {
      advance();
      if (at(Kind::IntLiteral) || at(Kind::FloatLiteral)) {
        errorHere(diag::expected_name, "the name of a member", found())
            .help("a float literal has a digit before its point: `0.5`");
        return nullptr;
      }
      Name member = parseName("a member");
      if (!member)
        return nullptr;
      base = checked(ctx.create<MemberExpr>(from(begin), base, member));
    } else {
      return base;
    }
  }
  return nullptr;
}

Expr *Parser::parsePrimary() {
  switch (tok.kind) {
  case Kind::Identifier:
  case Kind::kw_fast: { // a word too, in `precision: fast`
    auto *name = ctx.create<NameExpr>(tok.range(), tok.text);
    advance();
    return name;
  }
  case Kind::IntLiteral:
  case Kind::FloatLiteral:
  case Kind::kw_inf:
  case Kind::kw_nan:
    return parseNumber(/*negative=*/false, tok.loc);
  case Kind::kw_true:
  case Kind::kw_false: {
    auto *literal = ctx.create<BoolLiteralExpr>(tok.range(), at(Kind::kw_true));
    advance();
    return literal;
  }
  case Kind::LParen:
    return parseParenthesized(/*tupleAllowed=*/false);
  case Kind::LBracket:
    return parseList();
  case Kind::StringLiteral:
    errorHere(diag::string_misplaced);
    return nullptr;
  default:
    if (llvm::is_contained(wordsAsNames, tok.kind)) {
      auto *name = ctx.create<NameExpr>(tok.range(), tok.text);
      advance();
      return name;
    }
    reportNoExpression();
    return nullptr;
  }
}

void Parser::reportNoExpression() {
  if (refuseForeignOperator())
    return;
  auto report = errorHere(diag::expected_expression, found());
  if (inDims)
    report.help("a size that is known at the launch has a name: `[m, n]`");
  else if (at(Kind::Plus))
    report.help("there is no unary `+`");
  else if (at(Kind::Dot))
    report.help("a float literal has a digit before its point: `0.5`");
  else if (at(Kind::kw_if))
    report.help(
        "to choose a value write `c ? a : b`, or `where(c, a, b)` for tiles");
  else if (at(Kind::Amp) || at(Kind::Star))
    report.help(
        "there are no pointers; `load` and `store` take the array by name");
  else if (at(Kind::kw_fn) || at(Kind::Pipe))
    report.help("a `fn` is declared outside of bodies and passed by its name");
}

/// A number, or `inf` or `nan`; `begin` is that of its sign, if it has one.
Expr *Parser::parseNumber(bool negative, SourceLoc begin) {
  Token number = tok;
  advance();
  SourceRange range = from(begin);
  if (number.is(Kind::IntLiteral)) {
    uint64_t value;
    if (!parseInteger(number.text, value) && !number.bad) {
      error(number.range(), diag::integer_too_large)
          .help("the largest is 18446744073709551615, that is 2^64 - 1");
      value = 0;
    }
    return ctx.create<IntLiteralExpr>(range, value, negative);
  }
  StringRef digits = number.text;
  if (number.hasEscapesOrSeps) {
    std::string plain = digits.str();
    llvm::erase(plain, '_');
    digits = ctx.copy(StringRef(plain));
  }
  APFloat value(APFloat::IEEEdouble());
  if (number.is(Kind::kw_inf)) {
    value = APFloat::getInf(APFloat::IEEEdouble());
  } else if (number.is(Kind::kw_nan)) {
    value = APFloat::getNaN(APFloat::IEEEdouble());
  } else if (!number.bad) {
    auto status = value.convertFromString(digits, APFloat::rmNearestTiesToEven);
    if (!status) // cannot be: the lexer has checked the form
      consumeError(status.takeError());
    else if (*status & APFloat::opOverflow)
      error(number.range(), diag::float_too_large, number.text.take_front(40))
          .help("infinity is `inf`");
  }
  if (negative)
    value.changeSign();
  return ctx.create<FloatLiteralExpr>(range, digits, value.convertToDouble(),
                                      negative);
}

Expr *Parser::parseString() {
  Token string = tok;
  advance();
  StringRef value;
  if (string.bad)
    tok.bad = true; // it may have swallowed what should come now
  else if (string.hasEscapesOrSeps)
    value = ctx.copy(StringRef(unescape(string.text)));
  else
    value = string.text.drop_front().drop_back();
  return ctx.create<StringLiteralExpr>(string.range(), value);
}

/// What stands in parentheses in a cast of C.
static bool isCType(StringRef name) {
  return parseDType(std::string_view(name)) ||
         StringSwitch<bool>(name)
             .Cases({"int", "float", "double", "half", "unsigned", "long", "char", "size_t"}, true)
             .Default(false);
}

Expr *Parser::parseParenthesized(bool tupleAllowed) {
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  SaveAndRestore angles(inAngles, false);
  Token open = tok;
  advance();
  SmallVector<Expr *, 4> elements;
  bool hasComma = false;
  while (!at(Kind::RParen) || elements.empty()) {
    Expr *element = parseExpr();
    if (!element)
      return nullptr;
    elements.push_back(element);
    if (at(Kind::Equal)) {
      errorHere(diag::assign_in_condition)
          .fixIt(tok.range(), "==", "compare with `==`");
      return nullptr;
    }
    if (!accept(Kind::Comma))
      break;
    hasComma = true;
  }
  if (!expectClose(Kind::RParen, open))
    return nullptr;
  SourceRange range = from(open.loc);
  if (!hasComma) {
    auto *name = dyn_cast<NameExpr>(elements.front());
    if (name && isCType(name->name) && !tok.startsLine && !tok.bad &&
        tok.isAny(Kind::Identifier, Kind::IntLiteral, Kind::FloatLiteral)) {
      error(range, diag::foreign_operator, sources.getText(range))
          .help("a conversion is `x.to(T)`");
      tok.bad = true;
      return nullptr;
    }
    return elements.front();
  }
  if (!tupleAllowed || elements.size() < 2) {
    error(range, diag::tuple_misplaced)
        .help(
            elements.size() < 2
                ? "a tuple has two or more values; delete the `,`"
                : "tuples are written in `return`, in `let (a, b) = …` and as "
                  "operands of `reduce`, `scan` and `sort`; a shape or an "
                  "index "
                  "is `[a, b]`");
    return nullptr;
  }
  return checked(
      ctx.create<TupleExpr>(range, ctx.copy(ArrayRef<Expr *>(elements))));
}

Expr *Parser::parseList() {
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  SaveAndRestore angles(inAngles, false);
  Token open = tok;
  advance();
  SmallVector<Expr *, 8> elements;
  bool ok = parseList(Kind::RBracket, open, [&] {
    elements.push_back(parseExpr());
    return elements.back() != nullptr;
  });
  if (!ok)
    return nullptr;
  return checked(ctx.create<ListExpr>(from(open.loc),
                                      ctx.copy(ArrayRef<Expr *>(elements))));
}

//===----------------------------------------------------------------------===//
// Indices and arguments
//===----------------------------------------------------------------------===//

Expr *Parser::parseIndex(Expr *base, SourceLoc begin) {
  Nesting nesting(*this);
  if (!nesting)
    return nullptr;
  SaveAndRestore angles(inAngles, false);
  Token open = tok;
  advance();
  SmallVector<IndexItem, 8> items;
  if (!parseList(Kind::RBracket, open, [&] { return parseIndexItem(items); }))
    return nullptr;
  SourceRange brackets = from(open.loc);
  if (items.empty()) {
    error(brackets, diag::empty_index);
    return nullptr;
  }
  return checked(ctx.create<IndexExpr>(
      from(begin), base, ctx.copy(ArrayRef<IndexItem>(items)), brackets));
}

bool Parser::parseIndexItem(SmallVectorImpl<IndexItem> &items) {
  SourceLoc begin = tok.loc;
  auto refuseBounds = [&] {
    errorHere(diag::slice_bounds)
        .help(
            "`extract(x, index, shape)` takes a part of a tile; for an array, "
            "`load` does");
    return false;
  };
  if (accept(Kind::Colon)) {
    if (!at(Kind::Comma) && !at(Kind::RBracket))
      return refuseBounds();
    items.push_back({IndexItem::Kind::All, nullptr, from(begin)});
    return true;
  }
  if (atWord("None")) {
    advance();
    if (at(Kind::Comma) || at(Kind::RBracket)) {
      items.push_back({IndexItem::Kind::NewAxis, nullptr, from(begin)});
      return true;
    }
    return true; // the list reports what it found instead
  }
  Expr *value = parseExpr();
  if (!value)
    return false;
  if (at(Kind::Colon) || at(Kind::DotDot))
    return refuseBounds();
  items.push_back({IndexItem::Kind::Value, value, from(begin)});
  return true;
}

/// Arguments behind the opening token, with the closing one.
bool Parser::parseArguments(Kind close, const Token &open,
                            SmallVectorImpl<Argument> &args) {
  if (!parseList(close, open, [&] { return parseArgument(args); }))
    return false;
  // Few arguments: comparing all pairs is the fastest way.
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].name)
      continue;
    for (size_t j = 0; j < std::min<size_t>(i, 256); ++j) {
      if (args[j].name.text != args[i].name.text)
        continue;
      error(args[i].name.range, diag::duplicate_argument, args[i].name.text)
          .secondary(args[j].range, "given here first");
      break;
    }
  }
  return true;
}

bool Parser::parseArgument(SmallVectorImpl<Argument> &args) {
  SourceLoc begin = tok.loc;
  Name name;
  Expr *value = at(Kind::StringLiteral) ? parseString() : parseExprOrTuple();
  if (!value)
    return false;
  auto *word = dyn_cast<NameExpr>(value);
  if (word && at(Kind::Colon)) {
    name = {word->name, word->getRange()};
    advance();
    value = at(Kind::StringLiteral) ? parseString() : parseExprOrTuple();
    if (!value)
      return false;
  } else if (at(Kind::Equal)) {
    if (word)
      errorHere(diag::named_argument_equals, word->name)
          .fixIt({previousEnd, tok.end()}, ":", "write `:`");
    else
      errorHere(diag::assign_in_condition)
          .fixIt(tok.range(), "==", "compare with `==`");
    return false;
  }
  if (!name && !args.empty() && args.back().name)
    error(from(begin), diag::positional_after_named)
        .secondary(args.back().range, "this one is named");
  args.push_back({name, value, from(begin)});
  return true;
}

//===----------------------------------------------------------------------===//
// Operators of other languages
//===----------------------------------------------------------------------===//

/// At a token that fits nowhere: if it is an operator of another language, says
/// what is written here instead.
bool Parser::refuseForeignOperator() {
  if (tok.bad)
    return false;
  SourceLoc previous = previousEnd.advanced(-1);
  bool touches = touchesPrevious();
  StringRef before =
      touches ? sources.getText(SourceRange(previous, previousEnd)) : "";
  auto refuse = [&](StringRef spelled, SourceRange range, StringRef help) {
    error(range, diag::foreign_operator, spelled).help(help);
    tok.bad = true;
    return true;
  };
  SourceRange both(previous, tok.end());
  SourceRange withNext(tok.loc, tok.end().advanced(1));
  StringRef pair = sources.getText(withNext);
  if (at(Kind::Star) && before == "*")
    return refuse("**", both, "a power is `pow(x, y)`");
  if (at(Kind::Plus) && before == "+")
    return refuse("++", both, "count up with `i += 1`");
  if (at(Kind::Plus) && pair == "++")
    return refuse("++", withNext, "count up with `i += 1`");
  if (pair == ":=")
    return refuse(":=", withNext, "declare with `let x = …`, assign with `=`");
  if (pair == "::")
    return refuse("::", withNext,
                  "names have no qualification; `import` brings them in");
  if (touches &&
      sources.getText(SourceRange(previous.advanced(-1), previousEnd)) == "--")
    return refuse("--", SourceRange(previous.advanced(-1), previousEnd),
                  "count down with `i -= 1`");
  if (at(Kind::Equal) && before == "=")
    return refuse("===", both, "equality is `==`");
  if (atWord("and"))
    return refuse("and", tok.range(), "logical and is `&&`");
  if (atWord("or"))
    return refuse("or", tok.range(), "logical or is `||`");
  if (at(Kind::kw_as))
    return refuse("as", tok.range(), "a conversion is `x.to(T)`");
  if (at(Kind::Arrow))
    return refuse("->", tok.range(), "a member is `x.name`");
  if (at(Kind::kw_if) && !tok.startsLine && !touches)
    return refuse("if … else", tok.range(),
                  "to choose a value write `c ? a : b`");
  return false;
}

} // namespace tilec

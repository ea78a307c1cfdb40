//===- Parser.cpp - tokens, errors and recovery of the parser ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What all parsing functions stand on; see ParserImpl.h for the rules.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "ParserImpl.h"

using namespace llvm;

namespace tilec {

ast::File *parseFile(FileId file, ast::Context &ctx,
                     const SourceManager &sources, DiagnosticEngine &diags) {
  return Parser(file, ctx, sources, diags).parse();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void Parser::advance() {
  previousEnd = tok.end();
  if (diags.shouldStop()) { // nothing more will be said
    tok.kind = Kind::EndOfFile;
    tok.text = "";
    return;
  }
  tok = lexer.next();
}

bool Parser::atFirstColumn() const {
  size_t offset = tok.loc.getOffset() - sources.getLoc(file, 0).getOffset();
  return offset == 0 || sources.getText(file)[offset - 1] == '\n';
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string Parser::found() const {
  switch (tok.kind) {
  case Kind::Identifier:
  case Kind::IntLiteral:
  case Kind::FloatLiteral:
    if (tok.text.size() > 40)
      return ("`" + tok.text.take_front(40) + "...`").str();
    return ("`" + tok.text + "`").str();
  default:
    return describe(tok.kind).str();
  }
}

bool Parser::expect(Kind kind, StringRef what) {
  if (accept(kind))
    return true;
  errorHere(diag::expected_token, what.empty() ? describe(kind) : what,
            found());
  return false;
}

static constexpr StringRef quotientHelp =
    "`//` begins a comment; a quotient is `a / b`, or `floordiv(a, b)`, which "
    "rounds down";

bool Parser::isQuotientInComment(StringRef close) const {
  StringRef between =
      sources.getText(SourceRange(previousEnd, tok.loc)).ltrim(" \t");
  return between.starts_with("//") && !between.starts_with("///") &&
         between.split('\n').first.contains(close);
}

bool Parser::expectClose(Kind close, const Token &open) {
  if (accept(close))
    return true;
  if (!at(Kind::EndOfFile) && refuseForeignOperator())
    return false;
  const bool isQuotient =
      isQuotientInComment(describe(close).trim('`')); // `]`, as it is spelled
  auto report = errorHere(diag::expected_token, describe(close), found());
  report.secondary(open.range(), at(Kind::EndOfFile)
                                     ? "this `" + open.text + "` is not closed"
                                     : "to close this `" + open.text + "`");
  if (isQuotient)
    report.help(quotientHelp);
  return false;
}

void Parser::expectSemicolon(StringRef after) {
  if (accept(Kind::Semicolon))
    return;
  if (!tok.startsLine && refuseForeignOperator())
    return skipStatement();
  if (tok.startsLine || at(Kind::RBrace) || at(Kind::EndOfFile) ||
      atStatementKeyword()) {
    if (!tok.bad && isQuotientInComment(";"))
      error(SourceRange(previousEnd), diag::missing_semicolon, after)
          .help(quotientHelp);
    else if (!tok.bad)
      error(SourceRange(previousEnd), diag::missing_semicolon, after)
          .fixIt(SourceRange(previousEnd), ";", "add `;`");
    return;
  }
  if (at(Kind::RParen) || at(Kind::RBracket))
    errorHere(diag::unmatched_delimiter, tok.text);
  else
    errorHere(diag::missing_semicolon, after).label("found " + found());
  skipStatement();
}

ast::Name Parser::parseName(StringRef what) {
  if (at(Kind::Identifier)) {
    ast::Name name{tok.text, tok.range()};
    advance();
    return name;
  }
  if (isKeyword(tok.kind)) {
    errorHere(diag::reserved_word, tok.text, "the name of " + what.str());
    if (endsName()) { // so that what uses the name is no further error
      wordsAsNames.push_back(tok.kind);
      ast::Name name{tok.text, tok.range()};
      advance();
      return name;
    }
  } else if (at(Kind::IntLiteral) || at(Kind::FloatLiteral))
    errorHere(diag::number_as_name, tok.text);
  else
    errorHere(diag::expected_name, "the name of " + what.str(), found());
  return {};
}

bool Parser::endsName() const {
  const char *end = tok.text.end();
  StringRef rest(end, sources.getText(file).end() - end);
  rest = rest.ltrim(" \t");
  return !rest.empty() && StringRef("=:,);>").contains(rest.front()) &&
         !rest.starts_with("==");
}

Parser::Nesting::Nesting(Parser &parser)
    : parser(parser), ok(++parser.depth <= ast::maxNesting) {
  if (ok || parser.reportedDepth)
    return;
  parser.reportedDepth = true; // once a file: the rest would repeat it
  parser.errorHere(diag::nesting_too_deep, ast::maxNesting);
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

bool Parser::atStatementKeyword() const {
  return tok.isAny(Kind::kw_let, Kind::kw_var, Kind::kw_const, Kind::kw_for,
                   Kind::kw_while, Kind::kw_if, Kind::kw_break,
                   Kind::kw_continue, Kind::kw_return);
}

bool Parser::atItemStart() const {
  return tok.isAny(Kind::kw_kernel, Kind::kw_fn, Kind::kw_import,
                   Kind::kw_specialize) ||
         (at(Kind::kw_const) && atFirstColumn()) ||
         (atWord("static_assert") && atFirstColumn());
}

/// Skips from an opening delimiter to behind its partner, or to an item in the
/// first column. Counts instead of recursing.
void Parser::skipBalanced() {
  unsigned open = 0;
  do {
    if (tok.isAny(Kind::LParen, Kind::LBracket, Kind::LBrace))
      ++open;
    else if (tok.isAny(Kind::RParen, Kind::RBracket, Kind::RBrace))
      --open;
    advance();
  } while (open != 0 && !at(Kind::EndOfFile) &&
           !(atItemStart() && atFirstColumn()));
}

/// Skips what is left of a statement.
void Parser::skipStatement() {
  unsigned open = 0;
  while (!at(Kind::EndOfFile)) {
    if (tok.startsLine && (atStatementKeyword() || atItemStart()))
      return;
    if (at(Kind::LBrace)) {
      skipBalanced();
      if (open == 0 && !at(Kind::kw_else) && !at(Kind::Semicolon))
        return;
      continue;
    }
    if (at(Kind::RBrace))
      return;
    if (at(Kind::Semicolon) && open == 0) {
      advance();
      return;
    }
    if (tok.isAny(Kind::LParen, Kind::LBracket))
      ++open;
    else if (tok.isAny(Kind::RParen, Kind::RBracket) && open != 0)
      --open;
    else if (at(Kind::Semicolon))
      open = 0; // no parentheses go over a `;`
    if (!at(Kind::Semicolon))
      advance();
  }
}

bool Parser::skipToBlock() {
  unsigned open = 0;
  while (!at(Kind::EndOfFile) && !at(Kind::RBrace)) {
    if (at(Kind::LBrace))
      return true;
    if (tok.startsLine && (atStatementKeyword() || atItemStart()))
      return false;
    if (at(Kind::Semicolon) && open == 0) {
      advance();
      return false;
    }
    if (tok.isAny(Kind::LParen, Kind::LBracket))
      ++open;
    else if (tok.isAny(Kind::RParen, Kind::RBracket) && open != 0)
      --open;
    advance();
  }
  return false;
}

void Parser::skipToItem() {
  while (!at(Kind::EndOfFile)) {
    if (atItemStart() && tok.startsLine)
      return;
    if (at(Kind::LBrace)) {
      skipBalanced();
      continue;
    }
    bool ends = at(Kind::Semicolon);
    advance();
    if (ends)
      return;
  }
}

bool Parser::parseList(Kind close, const Token &open,
                       function_ref<bool()> element) {
  while (!at(close) && !at(Kind::EndOfFile)) {
    if (!element())
      return false;
    if (!accept(Kind::Comma))
      break;
  }
  return expectClose(close, open);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

ast::File *Parser::parse() {
  SmallVector<ast::Decl *, 32> decls;
  while (!at(Kind::EndOfFile)) {
    SourceLoc before = tok.loc;
    unsigned errors = diags.getNumErrors();
    if (ast::Decl *decl = parseItem()) {
      decl->malformed |= diags.getNumErrors() != errors;
      decls.push_back(decl);
    }
    if (tok.loc == before && !at(Kind::EndOfFile))
      advance();
  }
  auto *result = ctx.create<ast::File>();
  result->id = file;
  result->decls = ctx.copy(ArrayRef<ast::Decl *>(decls));
  return result;
}

} // namespace tilec

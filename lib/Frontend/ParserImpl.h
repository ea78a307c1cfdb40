//===- ParserImpl.h - the parser's class ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A recursive-descent parser with one token of lookahead, in four files:
//   Parser.cpp     tokens, errors, recovery
//   ParseDecl.cpp  kernel, fn, const, import, specialize, types
//   ParseStmt.cpp  statements and blocks
//   ParseExpr.cpp  expressions, arguments, lists
//
// Errors. A function that cannot build its node reports once and returns null;
// null travels up, silently, to the statement, clause or item, which skips to a
// place where reading can go on: behind the next `;`, before a `}`, or at a
// line that begins a statement or an item. No second error is reported at a
// token that already has one, and every loop consumes a token or stops.
//
// Depth. Everything that recurses holds a Nesting guard; beyond 256 levels it
// reports and skips without recursing.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_FRONTEND_PARSERIMPL_H
#define TILEC_LIB_FRONTEND_PARSERIMPL_H

#include "tilec/Frontend/AST.h"
#include "tilec/Frontend/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilec {

class Parser {
public:
  Parser(FileId file, ast::Context &ctx, const SourceManager &sources,
         DiagnosticEngine &diags)
      : file(file), ctx(ctx), sources(sources), diags(diags),
        lexer(file, sources, diags) {
    tok = lexer.next();
  }

  ast::File *parse();

private:
  using Kind = TokenKind;

  //--- tokens (Parser.cpp) ---
  void advance();
  bool at(Kind kind) const { return tok.kind == kind; }
  bool atWord(llvm::StringRef word) const {
    return tok.kind == Kind::Identifier && tok.text == word;
  }
  bool accept(Kind kind) {
    if (!at(kind))
      return false;
    advance();
    return true;
  }
  /// The current token stands directly behind the previous one.
  bool touchesPrevious() const { return tok.loc == previousEnd; }
  /// `n // 256]`, meant as a quotient: the comment before this token has `close`.
  bool isQuotientInComment(llvm::StringRef close) const;
  /// The first column: where items are written, even in a file whose braces are
  /// wrong.
  bool atFirstColumn() const;
  SourceRange from(SourceLoc begin) const {
    return {begin, std::max(begin, previousEnd)};
  }

  //--- errors ---
  /// The current token as messages call it: "`foo`", "the end of the file".
  std::string found() const;
  /// Reports at the current token, unless it already has an error.
  template <typename... Args>
  DiagnosticBuilder errorHere(diag::Id id, const Args &...args) {
    DiagnosticBuilder report = diags.report(id, tok.range(), args...);
    if (tok.bad)
      report.drop();
    tok.bad = true;
    return report;
  }
  template <typename... Args>
  DiagnosticBuilder error(SourceRange range, diag::Id id, const Args &...args) {
    return diags.report(id, range, args...);
  }
  /// Takes a token of this kind or reports what was expected instead.
  bool expect(Kind kind, llvm::StringRef what = "");
  /// Takes the delimiter that closes `open`.
  bool expectClose(Kind close, const Token &open);
  /// Takes the `;` that ends a statement; says "missing" where it plainly is.
  void expectSemicolon(llvm::StringRef after);
  /// Takes a name; `what` says of what, as in "a variable".
  ast::Name parseName(llvm::StringRef what);
  /// What stands behind the current token shows that it is meant as a name.
  bool endsName() const;

  //--- recovery ---
  bool atStatementKeyword() const;
  bool atItemStart() const;
  void skipBalanced();
  void skipStatement();
  void skipToItem();
  /// Skips to `{` on the way to `;` or `}`; whether it is there.
  bool skipToBlock();

  /// Counts nesting; false beyond the limit, which it has then reported.
  class Nesting {
  public:
    explicit Nesting(Parser &parser);
    ~Nesting() { --parser.depth; }
    explicit operator bool() const { return ok; }

  private:
    Parser &parser;
    bool ok;
  };

  //--- declarations (ParseDecl.cpp) ---
  ast::Decl *parseItem();
  ast::Decl *parseKernel();
  ast::Decl *parseFn();
  ast::Decl *parseConst();
  ast::Decl *parseImport();
  ast::Decl *parseSpecialize();
  ast::Decl *parseStaticAssert();
  void reportNoItem();
  bool parseConstParams(ast::KernelDecl &kernel);
  bool parseConstParam(llvm::SmallVectorImpl<ast::ConstParam> &params);
  bool parseKernelParams(ast::KernelDecl &kernel);
  bool parseKernelParam(llvm::SmallVectorImpl<ast::KernelParam> &params);
  bool parseClauses(ast::KernelDecl &kernel);
  bool parseRequires(ast::KernelDecl &kernel);
  bool parseGrid(ast::KernelDecl &kernel);
  bool parseHint(llvm::SmallVectorImpl<ast::HintClause> &hints);
  bool atClause() const;
  void refuseReturnType(llvm::StringRef declaration);
  bool parseFnParam(llvm::SmallVectorImpl<ast::FnParam> &params);
  ast::Block *parseBody(llvm::StringRef what, ast::Name name);

  ast::TypeExpr *parseType();
  ast::TypeExpr *parseArrayType(SourceLoc begin, SourceRange mutRange,
                                SourceRange stridedRange);

  //--- statements (ParseStmt.cpp) ---
  ast::Block *parseBlock();
  void reportUnclosedBlock(const Token &open);
  ast::Block *parseBlockOf(llvm::StringRef statement);
  ast::Stmt *parseStatement();
  ast::Stmt *parseLet();
  ast::Stmt *parseVar();
  ast::Stmt *parseConstStatement();
  ast::Stmt *parseFor();
  ast::Stmt *parseWhile();
  ast::Stmt *parseIf();
  ast::Stmt *parseReturn();
  ast::Stmt *parseFast();
  ast::Stmt *parseExprStatement();
  ast::Stmt *parseAssignment(ast::Expr *target, SourceLoc begin);
  ast::Expr *parseCondition(llvm::StringRef statement);
  ast::Expr *parseInitializer(llvm::StringRef keyword, ast::Name name);
  bool refuseForeignStatement();
  bool refuseCDeclaration(SourceRange type);
  void refuseNestedItem();

  //--- expressions (ParseExpr.cpp) ---
  ast::Expr *parseExpr();
  /// An expression or `(a, b)`.
  ast::Expr *parseExprOrTuple();
  ast::Expr *parseExprFrom(ast::Expr *primary, SourceLoc begin);
  ast::Expr *parseConditional(ast::Expr *cond, SourceLoc begin);
  ast::Expr *parseBinary(ast::Expr *lhs, SourceLoc begin, unsigned minimum);
  ast::Expr *parseUnary();
  ast::Expr *parsePostfix(ast::Expr *base, SourceLoc begin);
  ast::Expr *parsePrimary();
  ast::Expr *parseNumber(bool negative, SourceLoc begin);
  ast::Expr *parseString();
  ast::Expr *parseParenthesized(bool tupleAllowed);
  ast::Expr *parseList();
  ast::Expr *parseIndex(ast::Expr *base, SourceLoc begin);
  bool parseIndexItem(llvm::SmallVectorImpl<ast::IndexItem> &items);
  bool parseArguments(Kind close, const Token &open,
                      llvm::SmallVectorImpl<ast::Argument> &args);
  bool parseArgument(llvm::SmallVectorImpl<ast::Argument> &args);
  bool refuseChain(ast::BinaryExpr *first, SourceRange secondOp);
  bool refuseForeignOperator();
  void reportNoExpression();
  /// Refuses a tree that has become too high for recursion over it.
  ast::Expr *checked(ast::Expr *expr);

  /// Runs `element` for a list with an optional trailing comma, up to `close`.
  bool parseList(Kind close, const Token &open,
                 llvm::function_ref<bool()> element);

  FileId file;
  ast::Context &ctx;
  const SourceManager &sources;
  DiagnosticEngine &diags;
  Lexer lexer;
  Token tok;
  SourceLoc previousEnd;
  unsigned depth = 0;
  bool reportedDepth = false;
  /// Reserved words that named something, which has been reported: where an
  /// expression is wanted they are names.
  llvm::SmallVector<Kind, 2> wordsAsNames;
  bool inDims = false; ///< in the sizes of an array type
  /// Between `<` and `>`: `>` closes the list.
  bool inAngles = false;
};

} // namespace tilec

#endif // TILEC_LIB_FRONTEND_PARSERIMPL_H

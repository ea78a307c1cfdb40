//===- Lexer.h - source text to tokens --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the text of a file. Out: tokens, one at a time, and located errors for
// what is no token. A mistake never ends the stream: the lexer reports it and
// goes on with the token that was most likely meant, marked `bad` so that the
// parser does not complain about the same place again.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_LEXER_H
#define TILEC_FRONTEND_LEXER_H

#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Frontend/Source.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tilec {

enum class TokenKind : uint8_t {
#define TOKEN(name, description) name,
#define PUNCTUATOR(name, spelling) name,
#define KEYWORD(name) kw_##name,
#include "tilec/Frontend/Tokens.def"
};

/// How a message calls a kind: "`;`", "a name", "the end of the file".
llvm::StringRef describe(TokenKind kind);
/// The text of a punctuator or keyword without quotes, "" for the others.
llvm::StringRef spelling(TokenKind kind);
bool isKeyword(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  bool bad = false;              // an error about it has been reported
  bool startsLine = false;       // first token on its line
  bool hasEscapesOrSeps = false; // a string with `\`, a number with `_`
  SourceLoc loc;
  llvm::StringRef text;

  bool is(TokenKind k) const { return kind == k; }
  template <typename... Kinds>
  bool isAny(Kinds... kinds) const {
    return (is(kinds) || ...);
  }
  SourceRange range() const {
    return {loc, loc.advanced(static_cast<int32_t>(text.size()))};
  }
  SourceLoc end() const {
    return loc.advanced(static_cast<int32_t>(text.size()));
  }
};

class Lexer {
public:
  Lexer(FileId file, const SourceManager &sources, DiagnosticEngine &diags);

  /// The next token; EndOfFile for ever at the end.
  Token next();

  /// The `///` lines directly before the token that `next` gave last, without
  /// slashes and one space.
  llvm::ArrayRef<llvm::StringRef> getDocs() const { return docs; }

private:
  void checkUTF8();
  void skipSpace(bool &startsLine);
  void skipBlockComment();
  void lexIdentifier(Token &token);
  void lexNumber(Token &token);
  void lexDigits(Token &token, unsigned base);
  void lexFraction(Token &token);
  void lexSuffix(Token &token, unsigned base);
  void lexString(Token &token);
  void lexSingleQuoted(Token &token);
  void lexPunctuator(Token &token);
  bool lexUnknown(Token &token);
  bool lexUnknownUnicode(Token &token);
  void lexForeignName(Token &token);

  SourceLoc locOf(const char *p) const {
    return base.advanced(static_cast<int32_t>(p - text.data()));
  }
  SourceRange rangeOf(const char *from, const char *to) const {
    return {locOf(from), locOf(to)};
  }

  llvm::StringRef text;
  SourceLoc base;
  const char *cur, *end;
  DiagnosticEngine &diags;
  llvm::SmallVector<llvm::StringRef, 8> docs;
  bool reportedNull = false;
};

/// The value of an integer token ("0xff", "1_000"); false if it needs more than
/// 64 bits. Characters that are no digits are skipped: the lexer reported them.
bool parseInteger(llvm::StringRef text, uint64_t &value);
/// The text of a string token without quotes, escapes resolved.
std::string unescape(llvm::StringRef quoted);

} // namespace tilec

#endif // TILEC_FRONTEND_LEXER_H

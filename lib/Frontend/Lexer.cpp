//===- Lexer.cpp - source text to tokens ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One pass over a null-terminated buffer; a character class table decides the
// common cases. All errors are reported here, with the token that was most
// likely meant going on to the parser: `“text”` is a string, `×` is `*`, `0x`
// is 0.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstring>

using namespace llvm;

namespace tilec {

//===----------------------------------------------------------------------===//
// Token kinds
//===----------------------------------------------------------------------===//

StringRef describe(TokenKind kind) {
  switch (kind) {
#define TOKEN(name, description)                                               \
  case TokenKind::name:                                                        \
    return description;
#define PUNCTUATOR(name, spelling)                                             \
  case TokenKind::name:                                                        \
    return "`" spelling "`";
#define KEYWORD(name)                                                          \
  case TokenKind::kw_##name:                                                   \
    return "`" #name "`";
#include "tilec/Frontend/Tokens.def"
  }
  return "";
}

StringRef spelling(TokenKind kind) {
  StringRef text = describe(kind);
  return text.starts_with("`") ? text.drop_front().drop_back() : "";
}

bool isKeyword(TokenKind kind) { return kind >= TokenKind::kw_as; }

//===----------------------------------------------------------------------===//
// Character classes
//===----------------------------------------------------------------------===//

namespace {

/// Longer numbers carry no information and would take long to convert.
constexpr size_t maxNumberLength = 1024;

enum CharClass : uint8_t {
  Space = 1,      // but not the line end
  IdentStart = 2, // letters and _
  Digit = 4,
};

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> c{};
  for (char s : {' ', '\t', '\r', '\f', '\v'})
    c[static_cast<unsigned char>(s)] = Space;
  for (int i = 'a'; i <= 'z'; ++i)
    c[i] = c[i - 'a' + 'A'] = IdentStart;
  c['_'] = IdentStart;
  for (int i = '0'; i <= '9'; ++i)
    c[i] = Digit;
  return c;
}
constexpr std::array<uint8_t, 256> classes = makeClasses();

bool is(char c, unsigned mask) {
  return classes[static_cast<unsigned char>(c)] & mask;
}
bool isIdent(char c) { return is(c, IdentStart | Digit); }
bool isDigitOf(char c, unsigned base) {
  return base == 16  ? isHexDigit(c)
         : base == 2 ? c == '0' || c == '1'
                     : is(c, Digit);
}

/// A character that people type or paste for an ASCII one.
struct Lookalike {
  unsigned codePoint;
  TokenKind meant; // EndOfFile: nothing, it is skipped
  const char *help;
};
constexpr Lookalike lookalikes[] = {
    {0x00D7, TokenKind::Star, "multiplication is `*`"},
    {0x00B7, TokenKind::Star, "multiplication is `*`"},
    {0x00F7, TokenKind::Slash, "division is `/`"},
    {0x2212, TokenKind::Minus, "minus is `-`"},
    {0x2013, TokenKind::Minus, "minus is `-`"},
    {0x2014, TokenKind::Minus, "minus is `-`"},
    {0x2264, TokenKind::LessEqual, "less or equal is `<=`"},
    {0x2265, TokenKind::GreaterEqual, "greater or equal is `>=`"},
    {0x2260, TokenKind::ExclaimEqual, "not equal is `!=`"},
    {0x2192, TokenKind::Arrow, nullptr},
    {0x2026, TokenKind::DotDot, "a range is `lo..hi`"},
    {0xFF1B, TokenKind::Semicolon, "a statement ends with the ASCII `;`"},
    {0x037E, TokenKind::Semicolon, "a statement ends with the ASCII `;`"},
    {0xFF0C, TokenKind::Comma, "use the ASCII `,`"},
    {0xFF1A, TokenKind::Colon, "use the ASCII `:`"},
    {0xFF08, TokenKind::LParen, "use the ASCII `(`"},
    {0xFF09, TokenKind::RParen, "use the ASCII `)`"},
    {0x00A0, TokenKind::EndOfFile, "this is a no-break space; use a space"},
    {0x200B, TokenKind::EndOfFile, "this is a zero-width space; delete it"},
    {0xFEFF, TokenKind::EndOfFile, "this is a byte-order mark; delete it"},
};

/// Decodes the character at `p`; 0 where the bytes are no UTF-8.
unsigned decode(const char *p, const char *end, unsigned &size) {
  auto *source = reinterpret_cast<const UTF8 *>(p);
  UTF32 result = 0, *target = &result;
  size = getNumBytesForUTF8(*source);
  if (size > static_cast<size_t>(end - p) ||
      ConvertUTF8toUTF32(&source, source + size, &target, target + 1,
                         strictConversion) != conversionOK) {
    size = 1;
    return 0;
  }
  return result;
}

/// A letter of some alphabet: what could have been meant as part of a name.
bool isLetter(unsigned c) {
  bool isPunctuation = (c >= 0x2000 && c < 0x2C00) ||
                       (c >= 0x3000 && c < 0x3040) ||
                       (c >= 0xFE00 && c < 0xFF10) || c >= 0x1F000;
  return c >= 0xC0 && c != 0xD7 && c != 0xF7 && !isPunctuation;
}

/// "`×` (U+00D7)"
std::string showCharacter(StringRef utf8, unsigned codePoint) {
  return ("`" + utf8 + "` (U+").str() +
         utohexstr(codePoint, /*LowerCase=*/false, 4) + ")";
}

TokenKind keywordKind(StringRef text) {
  if (text.size() < 2 || text.size() > 10 || text[0] < 'a')
    return TokenKind::Identifier;
  return StringSwitch<TokenKind>(text)
#define KEYWORD(name) .Case(#name, TokenKind::kw_##name)
#include "tilec/Frontend/Tokens.def"
      .Default(TokenKind::Identifier);
}

} // namespace

//===----------------------------------------------------------------------===//
// Lexer
//===----------------------------------------------------------------------===//

Lexer::Lexer(FileId file, const SourceManager &sources, DiagnosticEngine &diags)
    : text(sources.getText(file)), base(sources.getLoc(file, 0)),
      cur(text.begin()), end(text.end()), diags(diags) {
  checkUTF8();
  if (text.starts_with("\xEF\xBB\xBF"))
    cur += 3;
}

/// Reports the first byte that is no UTF-8; the others would only repeat it.
void Lexer::checkUTF8() {
  const char *p = text.begin();
  while (p != end) {
    uint64_t word;
    if (end - p >= 8 &&
        (std::memcpy(&word, p, 8), (word & 0x8080808080808080ull) == 0)) {
      p += 8;
      continue;
    }
    unsigned size = 1;
    if (static_cast<unsigned char>(*p) >= 0x80 && decode(p, end, size) == 0) {
      diags.report(diag::invalid_utf8, rangeOf(p, p + 1))
          .label("byte 0x" + utohexstr(static_cast<unsigned char>(*p)))
          .help("save the file as UTF-8");
      return;
    }
    p += size;
  }
}

Token Lexer::next() {
  Token token;
  docs.clear();
  while (true) {
    skipSpace(token.startsLine);
    token.loc = locOf(cur);
    const char *start = cur;
    if (cur == end) {
      token.kind = TokenKind::EndOfFile;
      return token;
    }
    if (is(*cur, IdentStart))
      lexIdentifier(token);
    else if (is(*cur, Digit))
      lexNumber(token);
    else if (*cur == '"')
      lexString(token);
    else
      lexPunctuator(token);
    if (token.kind == TokenKind::EndOfFile && !lexUnknown(token))
      continue; // reported and skipped
    token.text = StringRef(start, cur - start);
    return token;
  }
}

void Lexer::skipSpace(bool &startsLine) {
  startsLine |= cur == text.begin();
  while (cur != end) {
    if (is(*cur, Space)) {
      ++cur;
    } else if (*cur == '\n') {
      startsLine = true;
      ++cur;
    } else if (*cur == '/' && cur[1] == '/') {
      const char *start = cur + 2;
      auto *lineEnd =
          static_cast<const char *>(std::memchr(start, '\n', end - start));
      cur = lineEnd ? lineEnd : end;
      StringRef comment(start, cur - start);
      if (comment.consume_front("/") && !comment.starts_with("/")) {
        comment.consume_front(" ");
        docs.push_back(comment.rtrim());
      }
    } else if (*cur == '/' && cur[1] == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::skipBlockComment() {
  const char *start = cur, *innermost = cur;
  unsigned depth = 0;
  while (cur != end) {
    if (*cur == '/' && cur[1] == '*') {
      innermost = cur;
      cur += 2;
      ++depth;
    } else if (*cur == '*' && cur[1] == '/') {
      cur += 2;
      if (--depth == 0)
        return;
    } else {
      ++cur;
    }
  }
  auto report =
      diags.report(diag::unterminated_comment, rangeOf(start, start + 2));
  if (innermost != start)
    report.note(rangeOf(innermost, innermost + 2),
                "comments nest; this one is inside of it");
  report.help("close it with `*/`");
}

void Lexer::lexIdentifier(Token &token) {
  const char *start = cur;
  while (isIdent(*cur))
    ++cur;
  token.kind = keywordKind(StringRef(start, cur - start));
  unsigned size;
  if (static_cast<unsigned char>(*cur) >= 0x80 &&
      isLetter(decode(cur, end, size)))
    lexForeignName(token);
}

/// A word with letters that are not ASCII; `cur` is at the first of them.
void Lexer::lexForeignName(Token &token) {
  unsigned size;
  unsigned codePoint = decode(cur, end, size);
  std::string shown = showCharacter(StringRef(cur, size), codePoint);
  diags.report(diag::invalid_character, rangeOf(cur, cur + size), shown)
      .help("names are made of ASCII letters, digits and `_`");
  while (cur != end && (isIdent(*cur) || isLetter(decode(cur, end, size))))
    cur += isIdent(*cur) ? 1 : size;
  token.kind = TokenKind::Identifier;
  token.bad = true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void Lexer::lexNumber(Token &token) {
  token.kind = TokenKind::IntLiteral;
  const char *start = cur;
  unsigned base = 10;
  if (*cur == '0' && (cur[1] == 'x' || cur[1] == 'b')) {
    base = cur[1] == 'x' ? 16 : 2;
    cur += 2;
    if (!isIdent(*cur)) {
      diags.report(diag::no_digits, rangeOf(start, cur), StringRef(start, 2),
                   base == 16 ? "hexadecimal" : "binary");
      token.bad = true;
      return;
    }
  }
  lexDigits(token, base);
  if (base == 10)
    lexFraction(token);
  lexSuffix(token, base);
  if (size_t(cur - start) > maxNumberLength && !token.bad) {
    diags.report(diag::number_too_long, rangeOf(start, cur), maxNumberLength);
    token.bad = true;
  }
}

/// Digits with `_` between them.
void Lexer::lexDigits(Token &token, unsigned base) {
  const char *start = cur;
  while (isDigitOf(*cur, base) || *cur == '_') {
    if (*cur == '_') {
      token.hasEscapesOrSeps = true;
      bool between = cur != start && cur[-1] != '_' && isDigitOf(cur[1], base);
      if (!between && !token.bad) {
        diags.report(diag::misplaced_underscore, rangeOf(cur, cur + 1));
        token.bad = true;
      }
    }
    ++cur;
  }
}

/// `.5` and `e-3` after the digits of a decimal number.
void Lexer::lexFraction(Token &token) {
  auto startsExponent = [&](const char *p) {
    return (*p == 'e' || *p == 'E') &&
           (is(p[1], Digit) ||
            ((p[1] == '+' || p[1] == '-') && is(p[2], Digit)));
  };
  if (*cur == '.' && is(cur[1], Digit)) {
    token.kind = TokenKind::FloatLiteral;
    ++cur;
    lexDigits(token, 10);
  } else if (*cur == '.' && cur[1] != '.' &&
             (!is(cur[1], IdentStart) || startsExponent(cur + 1))) {
    // `1.` and `1.e5`; but `1..n` is a range and `1.to(T)` a method.
    token.kind = TokenKind::FloatLiteral;
    ++cur;
    diags.report(diag::float_needs_digit, rangeOf(cur - 1, cur))
        .fixIt(rangeOf(cur, cur), "0", "write a `0` after the point");
    token.bad = true;
  }
  if (startsExponent(cur)) {
    token.kind = TokenKind::FloatLiteral;
    cur += is(cur[1], Digit) ? 1 : 2;
    lexDigits(token, 10);
  } else if ((*cur == 'e' || *cur == 'E') && !isIdent(cur[1])) {
    token.kind = TokenKind::FloatLiteral;
    const char *start = cur;
    cur += cur[1] == '+' || cur[1] == '-' ? 2 : 1;
    diags.report(diag::no_exponent_digits, rangeOf(start, cur));
    token.bad = true;
  }
}

/// Letters that stick to a number.
void Lexer::lexSuffix(Token &token, unsigned base) {
  const char *start = cur;
  while (isIdent(*cur))
    ++cur;
  if (start == cur || token.bad)
    return;
  token.bad = true;
  if (base != 10) {
    diags.report(diag::invalid_digit, rangeOf(start, start + 1),
                 StringRef(start, 1), base == 16 ? "hexadecimal" : "binary");
    return;
  }
  StringRef suffix(start, cur - start);
  auto report = diags.report(diag::number_suffix, rangeOf(start, cur), suffix);
  if (suffix[0] == 'X' || suffix[0] == 'B')
    report.help("hexadecimal and binary numbers begin with `0x` and `0b`");
  else
    report.help(
        "a literal takes the type of what it is used with; `.to(T)` converts");
}

bool parseInteger(StringRef text, uint64_t &value) {
  unsigned base = 10;
  if (text.consume_front("0x"))
    base = 16;
  else if (text.consume_front("0b"))
    base = 2;
  value = 0;
  bool fits = true;
  for (char c : text) {
    if (!isDigitOf(c, base))
      continue;
    bool overflow = false;
    value = SaturatingMultiplyAdd<uint64_t>(value, base, hexDigitValue(c),
                                            &overflow);
    fits &= !overflow;
  }
  return fits;
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

void Lexer::lexString(Token &token) {
  token.kind = TokenKind::StringLiteral;
  const char *start = cur++;
  while (cur != end && *cur != '\n') {
    if (*cur == '"') {
      ++cur;
      return;
    }
    if (*cur != '\\') {
      ++cur;
      continue;
    }
    token.hasEscapesOrSeps = true;
    unsigned size = 1;
    if (cur + 1 != end && cur[1] != '\n') {
      if (!StringRef("ntr0\\\"").contains(cur[1])) {
        decode(cur + 1, end, size);
        diags
            .report(diag::invalid_escape, rangeOf(cur, cur + 1 + size),
                    isPrint(cur[1]) || size > 1 ? StringRef(cur + 1, size)
                                                : StringRef("?"))
            .help("the escapes are `\\n \\t \\r \\0 \\\\ \\\"`");
        token.bad = true;
      }
      cur += size;
    }
    ++cur;
  }
  const char *shown = cur;
  while (shown > start + 1 && is(shown[-1], Space))
    --shown;
  diags.report(diag::unterminated_string, rangeOf(start, shown))
      .help("close it with `\"`; a line end in a string is `\\n`");
  token.bad = true;
}

std::string unescape(StringRef quoted) {
  std::string result;
  quoted.consume_front("\"");
  quoted.consume_back("\"");
  for (size_t i = 0; i < quoted.size(); ++i) {
    char c = quoted[i];
    if (c == '\\' && i + 1 < quoted.size()) {
      c = quoted[++i];
      c = c == 'n'   ? '\n'
          : c == 't' ? '\t'
          : c == 'r' ? '\r'
          : c == '0' ? '\0'
                     : c;
    }
    result += c;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Punctuators and what is no token
//===----------------------------------------------------------------------===//

/// Leaves EndOfFile where the character begins none.
void Lexer::lexPunctuator(Token &token) {
  auto take = [&](TokenKind kind, int size) {
    token.kind = kind;
    cur += size;
  };
  // Op, `op=`, and the doubled forms.
  auto withEqual = [&](TokenKind plain, TokenKind equal) {
    cur[1] == '=' ? take(equal, 2) : take(plain, 1);
  };
  using K = TokenKind;
  // clang-format off
  switch (*cur) {
  case '(': return take(K::LParen, 1);
  case ')': return take(K::RParen, 1);
  case '[': return take(K::LBracket, 1);
  case ']': return take(K::RBracket, 1);
  case '{': return take(K::LBrace, 1);
  case '}': return take(K::RBrace, 1);
  case ',': return take(K::Comma, 1);
  case ';': return take(K::Semicolon, 1);
  case ':': return take(K::Colon, 1);
  case '?': return take(K::Question, 1);
  case '@': return take(K::At, 1);
  case '~': return take(K::Tilde, 1);
  case '.': return cur[1] == '.' ? take(K::DotDot, 2) : take(K::Dot, 1);
  case '!': return withEqual(K::Exclaim, K::ExclaimEqual);
  case '=': return withEqual(K::Equal, K::EqualEqual);
  case '+': return withEqual(K::Plus, K::PlusEqual);
  case '*': return withEqual(K::Star, K::StarEqual);
  case '/': return withEqual(K::Slash, K::SlashEqual);
  case '%': return withEqual(K::Percent, K::PercentEqual);
  case '^': return withEqual(K::Caret, K::CaretEqual);
  case '-': return cur[1] == '>' ? take(K::Arrow, 2) : withEqual(K::Minus, K::MinusEqual);
  case '&': return cur[1] == '&' ? take(K::AmpAmp, 2) : withEqual(K::Amp, K::AmpEqual);
  case '|': return cur[1] == '|' ? take(K::PipePipe, 2) : withEqual(K::Pipe, K::PipeEqual);
  case '<':
    if (cur[1] == '<')
      return cur[2] == '=' ? take(K::LessLessEqual, 3) : take(K::LessLess, 2);
    return withEqual(K::Less, K::LessEqual);
  case '>':
    if (cur[1] == '>')
      return cur[2] == '=' ? take(K::GreaterGreaterEqual, 3) : take(K::GreaterGreater, 2);
    return withEqual(K::Greater, K::GreaterEqual);
  default:
    return;
  }
  // clang-format on
}

/// `'text'` up to the closing quote on the same line.
void Lexer::lexSingleQuoted(Token &token) {
  const char *start = cur++;
  const char *p = cur;
  while (p != end && *p != '\n' && *p != '\'')
    ++p;
  bool closed = p != end && *p == '\'';
  if (closed)
    cur = p + 1;
  diags.report(diag::invalid_character, rangeOf(start, cur), "`'`")
      .help("a string is written with double quotes");
  if (closed) {
    token.kind = TokenKind::StringLiteral;
    token.bad = true;
  }
}

/// Reports a run of characters that begin no token. False: they are skipped;
/// true: `token` is what was most likely meant.
bool Lexer::lexUnknown(Token &token) {
  const char *start = cur;
  unsigned char c = *cur;
  if (c == '\'') {
    lexSingleQuoted(token);
    return token.kind != TokenKind::EndOfFile;
  }
  if (c == 0) {
    while (cur != end && *cur == 0)
      ++cur;
    if (!reportedNull)
      diags.report(diag::null_byte, rangeOf(start, start + 1));
    reportedNull = true;
    return false;
  }
  if (c < 0x80) {
    ++cur;
    std::string shown = isPrint(c)
                            ? "`" + std::string(1, c) + "`"
                            : "0x" + utohexstr(c, /*LowerCase=*/false, 2);
    auto report =
        diags.report(diag::invalid_character, rangeOf(start, cur), shown);
    if (c == '#') {
      report.help("there is no preprocessor; comments begin with `//`");
      while (cur != end && *cur != '\n')
        ++cur;
      return false;
    }
    while (cur != end && *cur == static_cast<char>(c))
      ++cur; // a run of one character is one mistake
    return false;
  }
  return lexUnknownUnicode(token);
}

bool Lexer::lexUnknownUnicode(Token &token) {
  const char *start = cur;
  unsigned size;
  unsigned codePoint = decode(cur, end, size);
  if (codePoint == 0) {
    ++cur;
    return false; // reported by checkUTF8
  }
  if (isLetter(codePoint)) {
    lexForeignName(token);
    return true;
  }
  cur += size;
  std::string shown = showCharacter(StringRef(start, size), codePoint);
  for (const Lookalike &l : lookalikes) {
    if (l.codePoint != codePoint)
      continue;
    auto report =
        diags.report(diag::invalid_character, rangeOf(start, cur), shown);
    if (l.help)
      report.help(l.help);
    token.kind = l.meant;
    token.bad = l.meant != TokenKind::EndOfFile;
    return token.bad;
  }
  auto report =
      diags.report(diag::invalid_character, rangeOf(start, cur), shown);
  if (codePoint >= 0x2018 && codePoint <= 0x201F) {
    report.help("a string is written with the ASCII `\"`");
    // Up to the closing quote, U+2018 … U+201F, on the same line.
    StringRef line =
        StringRef(cur, end - cur).take_until([](char c) { return c == '\n'; });
    size_t close = line.find("\xE2\x80");
    if (close + 2 < line.size() && (line[close + 2] & 0xF8) == 0x98) {
      cur += close + 3;
      token.kind = TokenKind::StringLiteral;
      token.bad = true;
      return true;
    }
  }
  while (cur != end && static_cast<unsigned char>(*cur) >= 0x80 &&
         !isLetter(decode(cur, end, size)))
    cur += size; // a run of them is one mistake
  return false;
}

} // namespace tilec

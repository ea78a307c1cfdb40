//===- LexerTest.cpp - tokens and what is none ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Lexer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tilec;

namespace {

struct Lexed {
  explicit Lexed(StringRef text) {
    FileId id = sources.addText("test.tile", text);
    Lexer lexer(id, sources, diags);
    for (Token t = lexer.next(); !t.is(TokenKind::EndOfFile); t = lexer.next())
      tokens.push_back(t);
    EXPECT_TRUE(lexer.next().is(TokenKind::EndOfFile))
        << "the end stays the end";
  }
  /// The texts of the tokens between spaces.
  std::string texts() const {
    std::string result;
    for (const Token &t : tokens)
      result += (result.empty() ? "" : " ") + t.text.str();
    return result;
  }
  /// The codes of all errors between spaces.
  std::string codes() const {
    std::string result;
    for (const Diagnostic &d : stored.list)
      result += (result.empty() ? "" : " ") + getInfo(d.id).code.str();
    return result;
  }
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags{sources, stored};
  std::vector<Token> tokens;
};

TokenKind kindOf(StringRef text) {
  Lexed lexed(text);
  EXPECT_EQ(lexed.tokens.size(), 1u) << text.str();
  return lexed.tokens.empty() ? TokenKind::EndOfFile : lexed.tokens[0].kind;
}

TEST(Lexer, EveryPunctuatorIsOneToken) {
#define PUNCTUATOR(name, spelling) EXPECT_EQ(kindOf(spelling), TokenKind::name);
#include "tilec/Frontend/Tokens.def"
}

TEST(Lexer, EveryKeywordIsOneTokenAndIsNoPartOfAName) {
#define KEYWORD(name)                                                          \
  EXPECT_EQ(kindOf(#name), TokenKind::kw_##name);                              \
  EXPECT_EQ(kindOf(#name "_"), TokenKind::Identifier);                         \
  EXPECT_EQ(kindOf("x" #name), TokenKind::Identifier);
#include "tilec/Frontend/Tokens.def"
}

TEST(Lexer, WordsOfOnePlaceAreNames) {
  for (StringRef word : {"grid", "requires", "hint", "step", "array", "strided",
                         "static_assert", "None", "_", "A9_z"})
    EXPECT_EQ(kindOf(word), TokenKind::Identifier) << word.str();
}

TEST(Lexer, TakesTheLongestPunctuator) {
  EXPECT_EQ(Lexed("a<<=b>>=c<<d>>e<=f>=g->h..i&&j||k").texts(),
            "a <<= b >>= c << d >> e <= f >= g -> h .. i && j || k");
  EXPECT_EQ(Lexed("a---b").texts(), "a - - - b");
}

TEST(Lexer, NumbersKeepTheirText) {
  for (StringRef number : {"0", "007", "42", "1_000", "0xff", "0xF_F", "0b1_0"})
    EXPECT_EQ(kindOf(number), TokenKind::IntLiteral) << number.str();
  for (StringRef number :
       {"0.5", "1e5", "1E+5", "1e-5", "1_0.2_5e1_0", "2.5e3"})
    EXPECT_EQ(kindOf(number), TokenKind::FloatLiteral) << number.str();
}

TEST(Lexer, APointIsPartOfANumberOnlyBeforeADigit) {
  EXPECT_EQ(Lexed("0..n").texts(), "0 .. n");
  EXPECT_EQ(Lexed("1.to(T)").texts(), "1 . to ( T )");
  EXPECT_EQ(Lexed("1.5.to").texts(), "1.5 . to");
  EXPECT_EQ(Lexed("0..0.5").texts(), "0 .. 0.5");
}

TEST(Lexer, WrongNumbersAreOneErrorAndOneToken) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"0x", "T0012"}, {"0b", "T0012"},   {"0xfg", "T0013"}, {"0b12", "T0013"},
      {"1_", "T0014"}, {"1__0", "T0014"}, {"0x_1", "T0014"}, {"1.0_", "T0014"},
      {"1f", "T0015"}, {"1.0f", "T0015"}, {"0X1", "T0015"},  {"2x", "T0015"},
      {"1e", "T0016"}, {"1e+", "T0016"},  {"1.", "T0017"},   {"1.e5", "T0017"},
  };
  for (auto [text, code] : cases) {
    Lexed lexed(text);
    EXPECT_EQ(lexed.codes(), code) << text.str();
    ASSERT_EQ(lexed.tokens.size(), 1u) << text.str();
    EXPECT_TRUE(lexed.tokens[0].bad) << text.str();
  }
}

TEST(Lexer, NumbersHaveALength) {
  EXPECT_EQ(Lexed(std::string(1024, '1')).codes(), "");
  EXPECT_EQ(Lexed(std::string(1025, '1')).codes(), "T0020");
  EXPECT_EQ(Lexed("0." + std::string(1 << 20, '1')).codes(), "T0020");
}

TEST(Lexer, ParsesIntegersExactlyUpTo64Bits) {
  uint64_t value;
  EXPECT_TRUE(parseInteger("18446744073709551615", value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_FALSE(parseInteger("18446744073709551616", value));
  EXPECT_TRUE(parseInteger("0xffff_ffff_ffff_ffff", value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_FALSE(parseInteger("0x1_0000_0000_0000_0000", value));
  EXPECT_TRUE(parseInteger("0b1010", value));
  EXPECT_EQ(value, 10u);
  EXPECT_TRUE(parseInteger("1_000", value));
  EXPECT_EQ(value, 1000u);
}

TEST(Lexer, CommentsNestAndSeparate) {
  EXPECT_EQ(Lexed("a/* x /* y */ z */b // c\nd").texts(), "a b d");
  EXPECT_EQ(Lexed("a /* /* */").codes(), "T0008");
  EXPECT_EQ(Lexed("a /*").codes(), "T0008");
  EXPECT_EQ(Lexed("a //").codes(), "");
  EXPECT_EQ(Lexed("/**/").codes(), "");
  EXPECT_EQ(Lexed("/*/").codes(), "T0008");
}

TEST(Lexer, KeepsTheDocCommentBeforeAToken) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  FileId id =
      sources.addText("t", "/// one\n///  two \n//// no\n// no\n///\nkernel x");
  Lexer lexer(id, sources, diags);
  lexer.next();
  ASSERT_EQ(lexer.getDocs().size(), 3u);
  EXPECT_EQ(lexer.getDocs()[0], "one");
  EXPECT_EQ(lexer.getDocs()[1], " two");
  EXPECT_EQ(lexer.getDocs()[2], "");
  lexer.next();
  EXPECT_TRUE(lexer.getDocs().empty());
}

TEST(Lexer, StringsEndOnTheirLine) {
  EXPECT_EQ(Lexed(R"("a\n\t\\\"\0b")").codes(), "");
  EXPECT_EQ(unescape(R"("a\n\t\\\"b")"), "a\n\t\\\"b");
  EXPECT_EQ(Lexed("\"abc\nx").codes(), "T0009");
  EXPECT_EQ(Lexed("\"abc").codes(), "T0009");
  EXPECT_EQ(Lexed("\"abc\\").codes(), "T0009");
  EXPECT_EQ(Lexed("\"\\q\"").codes(), "T0010");
  EXPECT_EQ(Lexed("\"\\é\"").codes(), "T0010");
}

TEST(Lexer, ForeignCharactersGoOnAsWhatWasMeant) {
  EXPECT_EQ(Lexed("a × b").codes(), "T0005");
  EXPECT_EQ(Lexed("a × b").tokens[1].kind, TokenKind::Star);
  EXPECT_EQ(Lexed("a ≤ b").tokens[1].kind, TokenKind::LessEqual);
  EXPECT_EQ(Lexed("größe = 1").codes(), "T0005");
  EXPECT_EQ(Lexed("größe = 1").tokens.size(), 3u);
  EXPECT_EQ(Lexed("α").tokens[0].kind, TokenKind::Identifier);
  EXPECT_EQ(Lexed("“abc” x").codes(), "T0005");
  EXPECT_EQ(Lexed("“abc” x").tokens.size(), 2u);
  EXPECT_EQ(Lexed("'abc' x").tokens.size(), 2u);
  EXPECT_EQ(Lexed("a\xC2\xA0+ b").texts(), "a + b"); // no-break space
  EXPECT_EQ(Lexed("a $$$ b").codes(), "T0005");
  EXPECT_EQ(Lexed("#include <x>\na").texts(), "a");
  EXPECT_EQ(Lexed("🙂🙂 a").codes(), "T0005");
}

TEST(Lexer, ReportsBadBytesOnce) {
  EXPECT_EQ(Lexed("a \xFF b \xFE c").codes(), "T0006");
  EXPECT_EQ(Lexed("a \xFF b \xFE c").texts(), "a b c");
  EXPECT_EQ(Lexed(StringRef("a \0\0 b \0", 9)).codes(), "T0007");
  EXPECT_EQ(Lexed("// caf\xE9").codes(), "T0006") << "also in comments";
  EXPECT_EQ(Lexed("\xE2\x82").codes(), "T0006") << "cut character at the end";
}

TEST(Lexer, SkipsAByteOrderMarkAtTheStart) {
  EXPECT_EQ(Lexed("\xEF\xBB\xBFkernel").codes(), "");
  EXPECT_EQ(Lexed("a \xEF\xBB\xBF b").codes(), "T0005");
}

TEST(Lexer, LinesEndInAnyWay) {
  Lexed lexed("a b\r\nc\n\n  d");
  ASSERT_EQ(lexed.tokens.size(), 4u);
  EXPECT_TRUE(lexed.tokens[0].startsLine);
  EXPECT_FALSE(lexed.tokens[1].startsLine);
  EXPECT_TRUE(lexed.tokens[2].startsLine);
  EXPECT_TRUE(lexed.tokens[3].startsLine);
  EXPECT_EQ(lexed.sources.getLineCol(lexed.tokens[3].loc), (LineCol{4, 3}));
}

} // namespace

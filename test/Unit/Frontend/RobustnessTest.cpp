//===- RobustnessTest.cpp - any text gives errors, never a crash ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parser reads prefixes, mutations and garbage. What holds for every text:
// it returns; every message is located inside the text and can be printed as
// text and JSON; and a text without errors prints to one that gives the same
// tree.
//
//===----------------------------------------------------------------------===//

#include "SyntaxTest.h"
#include "tilec/Frontend/Lexer.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace tilec;

namespace {

const StringRef programs[] = {
    R"(
/// C = A x B
kernel matmul<T: float = bf16, BM: int = 128, BK: int = 64>(
    a: array<T, [m, k]>, b: array<T, [k, n]>, c: mut strided array<T, [m, n]>)
  requires k % 8 == 0, aligned(a, 128)
  grid [cdiv(m, BM), cdiv(n, BM)]
  hint sm_90a(num_stages: 3)
{
  var acc = zeros([BM, BM], f32);
  for i in 0..cdiv(k, BK) step 1 {
    acc = mma(load(a, [bid(0), i], [BM, BK], pad: -inf), load(b, [i, bid(1)], [BK, BM]), acc);
  }
  store(c, [bid(0), bid(1)], acc.to(T));
}
)",
    R"(
import "x.tile";
fn silu(x, eps = 1e-5) { return x / (1 + exp(-x)); }
fn two(a, b) { let (x, y) = split(a, 0); return (x[:, None], y[0, 1] ? 0x1F : 0b11); }
const N = (1 << 4) + 2;
specialize softmax<f16, COLS: N> as s16;
static_assert(N > 1, "a \"string\"\n");
)",
    R"(
kernel k(n: int, y: mut array<f32, [n]>) {
  /* a /* nested */ comment */
  if const n == 3 && !(n > 4) { return; } else if n < 5 { fast { f(n); } } else { }
  while true || false { break; continue; }
  var x: f32[16];
  x <<= ~1; // done
  print("n = {}", n);
}
)"};

/// Checks what holds for every text; returns whether it is correct.
bool check(StringRef text) {
  Parsed parsed(text, /*maxErrors=*/20);
  std::string output;
  raw_string_ostream os(output);
  TextDiagnosticPrinter printer(parsed.sources, os, /*color=*/true);
  JSONDiagnosticPrinter json(parsed.sources, os);
  for (const Diagnostic &d : parsed.stored.list) {
    if (d.id != diag::too_many_errors) {
      EXPECT_TRUE(d.range.isValid());
      EXPECT_LE(d.range.begin, d.range.end);
      EXPECT_LE(d.range.end, parsed.sources.getLoc(0, text.size()));
    }
    printer.handle(d);
    json.handle(d);
  }
  if (!parsed.stored.list.empty())
    return false;
  std::string once = parsed.printed();
  Parsed again(once);
  EXPECT_TRUE(again.stored.list.empty())
      << text.str() << "\nprints\n"
      << once << again.stored.list.front().message;
  EXPECT_EQ(again.printed(), once) << text.str();
  return true;
}

TEST(Robustness, ThePrograms) {
  for (StringRef program : programs)
    EXPECT_TRUE(check(program)) << program.str();
}

TEST(Robustness, EveryPrefix) {
  for (StringRef program : programs) {
    size_t correct = 0;
    for (size_t n = 0; n < program.size(); ++n)
      correct += check(program.take_front(n));
    // Only prefixes that end between items are programs.
    EXPECT_LT(correct, program.size() / 4);
    for (size_t n = 1; n < program.size(); ++n)
      check(program.drop_front(n));
  }
}

TEST(Robustness, EveryCutInsideABodyIsAnError) {
  StringRef program = programs[0];
  size_t open = program.find("\n{") + 2, close = program.rfind('}');
  for (size_t n = open; n < close; ++n)
    EXPECT_FALSE(check(program.take_front(n))) << n;
}

TEST(Robustness, EveryMissingToken) {
  for (StringRef program : programs) {
    SourceManager sources;
    StoredDiagnostics stored;
    DiagnosticEngine diags(sources, stored);
    FileId id = sources.addText("p", program);
    Lexer lexer(id, sources, diags);
    SourceLoc start = sources.getLoc(id, size_t(0));
    for (Token t = lexer.next(); !t.is(TokenKind::EndOfFile);
         t = lexer.next()) {
      size_t at = t.loc.getOffset() - start.getOffset();
      std::string without = program.str();
      without.replace(at, t.text.size(), " ");
      check(without);
      for (StringRef other :
           {"(", ")", "{", "}", "<", ">", "kernel", "x", ";", ",", "1", "\""}) {
        std::string replaced = program.str();
        replaced.replace(at, t.text.size(), (" " + other + " ").str());
        check(replaced);
      }
    }
  }
}

TEST(Robustness, RandomBytesInPrograms) {
  std::mt19937 random(1);
  for (StringRef program : programs)
    for (int round = 0; round < 3000; ++round) {
      std::string text = program.str();
      for (unsigned n = random() % 4 + 1; n != 0; --n) {
        size_t at = random() % text.size();
        switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 8);
          break;
        case 2:
          text.insert(at, 1, "(){}[]<>\"/*;:,.=+-'#\\"[random() % 22]);
          break;
        case 3: {
          size_t from = random() % text.size();
          text.insert(at, text.substr(from, random() % 32));
          break;
        }
        }
        if (text.empty())
          text = " ";
      }
      check(text);
    }
}

TEST(Robustness, RandomTokens) {
  const StringRef words[] = {
#define PUNCTUATOR(name, spelling) spelling,
#define KEYWORD(name) #name,
#include "tilec/Frontend/Tokens.def"
      "x",
      "f32",
      "1",
      "1.5",
      "\"s\"",
      "array",
      "grid",
      "step",
      "requires",
      "hint",
      "static_assert",
      "\n",
      "\nkernel k() {",
      "\n}",
      "// c\n"};
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    std::string text = round % 2 ? "kernel k() {\n" : "";
    for (unsigned n = random() % 60; n != 0; --n) {
      text += words[random() % std::size(words)];
      text += ' ';
    }
    check(text);
  }
}

TEST(Robustness, BinaryGarbage) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 200 + 1, ' ');
    for (char &c : text)
      c = static_cast<char>(random());
    check(text);
  }
  EXPECT_FALSE(check(StringRef("\x7F"
                               "ELF\2\1\1\0\0\0\0",
                               11)));
}

TEST(Robustness, EveryByteAlone) {
  for (int c = 0; c < 256; ++c) {
    char text[] = {static_cast<char>(c)};
    check(StringRef(text, 1));
    check(("kernel k() { let x = " + StringRef(text, 1) + "; }").str());
    check(("kernel k() { let x = " + StringRef(text, 1)).str());
  }
}

TEST(Robustness, RepeatedFragments) {
  for (StringRef fragment : {"(",
                             "[",
                             "{",
                             "kernel k() {",
                             "f(",
                             "x[",
                             "-",
                             "!",
                             "a.",
                             "a ? ",
                             "<",
                             "/*",
                             "\"",
                             "if a {",
                             "else ",
                             "if a { } else ",
                             "for i in 0..",
                             "array<",
                             "let (",
                             "kernel k(a: array<",
                             "a + ",
                             "a < ",
                             "static_assert(",
                             "fn f(",
                             "\\",
                             "1.",
                             "0x",
                             "specialize k<",
                             "hint(",
                             "requires ",
                             "kernel k() requires ",
                             "x = ",
                             "return ",
                             "}",
                             ")",
                             "]",
                             ";",
                             ",",
                             ":",
                             "::",
                             "..",
                             "as ",
                             "mut ",
                             "elif "})
    for (StringRef prefix :
         {"", "kernel k() { ", "kernel k() { let x = ", "kernel k(a: "}) {
      std::string text = prefix.str();
      for (int i = 0; i < 2000; ++i)
        text += fragment;
      EXPECT_FALSE(check(text)) << text.substr(0, 80);
    }
}

} // namespace

//===- ParserErrorsTest.cpp - messages about wrong syntax -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each case: a text and exactly the errors it gives, so that cascades fail.
//
//===----------------------------------------------------------------------===//

#include "SyntaxTest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tilec;
using testing::ElementsAre;

namespace {

/// The codes of the errors of statements in a kernel, between spaces.
std::string inBody(StringRef text) {
  Parsed parsed(("kernel k() {\n  " + text + "\n}").str());
  std::string result;
  for (const Diagnostic &d : parsed.stored.list) {
    EXPECT_TRUE(d.range.isValid());
    result += (result.empty() ? "" : " ") + getInfo(d.id).code.str();
  }
  return result;
}

std::string inFile(StringRef text) {
  Parsed parsed(text);
  std::string result;
  for (const Diagnostic &d : parsed.stored.list)
    result += (result.empty() ? "" : " ") + getInfo(d.id).code.str();
  return result;
}

struct Case {
  StringRef text, codes;
};

TEST(ParserErrors, Statements) {
  const Case cases[] = {
      {"let x = 1", "T0110"},
      {"let x = 1\nlet y = 2;", "T0110"},
      {"f()\ng()", "T0110 T0110"},
      {"let x;", "T0133"},
      {"let x", "T0133"},
      {"var x;", "T0134"},
      {"let = 1;", "T0104"},
      {"let in = 1;", "T0105"},
      {"let 2 = 1;", "T0142"},
      {"let x, y = f();", "T0101"},
      {"let (a) = f();", "T0135"},
      {"let () = f();", "T0135"},
      {"let (a, b = f();", "T0101"},
      {"var (a, b) = f();", "T0104"},
      {"let mut x = 1;", "T0132"},
      {"const N;", "T0133"},
      {"int x = 1;", "T0114"},
      {"const int x = 1;", "T0114"},
      {"f32[16] x = 1;", "T0114"},
      {"float acc[16];", "T0114"},
      {"x: f32 = 1;", "T0110"},
      {"x == 1;", "T0123"},
      {"x;", "T0123"},
      {"x + f();", "T0123"},
      {"x[0] = 1;", "T0124"},
      {"f() = 1;", "T0124"},
      {"(a, b) = f();", "T0124"},
      {"x = y = 1;", "T0110"},
      {"x, y = 1;", "T0110"},
      {"return a, b;", "T0110"},
      {";", "T0107"},
      {"f();;", "T0107"},
      {") f();", "T0109"},
      {"= 1;", "T0107"},
      {"let x = ;", "T0102"},
      {"x = ;", "T0102"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(inBody(c.text), c.codes) << c.text.str();
}

TEST(ParserErrors, ControlFlow) {
  const Case cases[] = {
      {"if a = b { }", "T0111"},
      {"while a = b { }", "T0111"},
      {"if (a = b) { }", "T0111"},
      {"if a f();", "T0138"},
      {"if a: f();", "T0138"},
      {"while a; { }", "T0138"},
      {"if { }", "T0102"},
      {"if a { } else f();", "T0138"},
      {"else { }", "T0107"},
      {"if a { } elif b { } else { }", "T0126"},
      {"for (int i = 0; i < n; i++) { f(); }", "T0137"},
      {"for i in n { f(); }", "T0137"},
      {"for i in range(n) { f(); }", "T0137"},
      {"for i in 0..=n { f(); }", "T0125"},
      {"for i in 0..n..2 { }", "T0136"},
      {"for int i in 0..n { }", "T0137"},
      {"for i = 0..n { }", "T0101"},
      {"for i in 0..n { let x }", "T0133"},
      {"do { f(); } ", "T0126"},
      {"switch x { }", "T0126"},
      {"break", "T0110"},
      {"fn g() { } f();", "T0139"},
      {"import \"a\"; f();", "T0139"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(inBody(c.text), c.codes) << c.text.str();
}

TEST(ParserErrors, Expressions) {
  const Case cases[] = {
      {"let x = a < b < c;", "T0112"},
      {"let x = a == b == c;", "T0112"},
      {"let x = f<f32>(y);", "T0113"},
      {"let x = y.to<f32>();", "T0113"},
      {"i++;", "T0125"},
      {"++i;", "T0125"},
      {"i--;", "T0125"},
      {"let x = a ** b;", "T0125"},
      {"let x = a and b;", "T0125"},
      {"let x = a or b;", "T0125"},
      {"if a and b { }", "T0125"},
      {"let x = a as f32;", "T0125"},
      {"x := 1;", "T0125"},
      {"let x = a::b;", "T0125"},
      {"let x = p->q;", "T0125"},
      {"let x = a if b else c;", "T0125"},
      {"let x = a === b;", "T0125"},
      {"let x = .5;", "T0102"},
      {"let x = +1;", "T0102"},
      {"let x = a + ;", "T0102"},
      {"let x = a b;", "T0110"},
      {"let x = f(a b);", "T0101"},
      {"let x = f(a;", "T0101"},
      {"let x = [a, b;", "T0101"},
      {"let x = f(a = 1);", "T0121"},
      {"let x = f(a: 1, 2);", "T0119"},
      {"let x = f(a: 1, a: 2);", "T0120"},
      {"let x = (a, b);", ""},
      {"let x = 1 + (a, b);", "T0135"},
      {"let x = f((a,));", "T0135"},
      {"let x = ();", "T0102"},
      {"let x = y[];", "T0140"},
      {"let x = y[0:4];", "T0141"},
      {"let x = y[:4];", "T0141"},
      {"let x = \"s\";", "T0144"},
      {"let x = a ? b;", "T0101"},
      {"let x = a.;", "T0104"},
      {"let x = a.0;", "T0104"},
      {"let x = 99999999999999999999;", "T0011"},
      {"let x = 1e999;", "T0018"},
      {"let x = f(1, (2, 3);", "T0101"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(inBody(c.text), c.codes) << c.text.str();
}

TEST(ParserErrors, Items) {
  const Case cases[] = {
      {"let x = 1;\nconst N = 2;", "T0143"},
      {"def f(x): return x\nconst N = 2;", "T0106"},
      {"}\nconst N = 2;", "T0109"},
      {"kernel k();", "T0145"},
      {"kernel k()", "T0145"},
      {"kernel { }", "T0104"},
      {"kernel if() { }", "T0105"},
      {"kernel k { }", "T0101"},
      {"kernel k() { ", "T0108"},
      {"kernel k(a) { }", "T0131"},
      {"kernel k(f32 a) { }", "T0114"},
      {"kernel k(mut a: array<f32, [n]>) { }", "T0132"},
      {"kernel k(a: strided mut array<f32, [n]>) { }", "T0132"},
      {"kernel k(a: f32*) { }", "T0101"},
      {"kernel k(a: *f32) { }", "T0103"},
      {"kernel k(a: array<f32>) { }", "T0101"},
      {"kernel k(a: array<f32, m, k>) { }", "T0101"},
      {"kernel k(a: array[f32]) { }", "T0101"},
      {"kernel k(a: mut f32) { }", "T0101"},
      {"kernel k(a: int = 1) { }", "T0128"},
      {"kernel k() -> f32 { }", "T0129"},
      {"kernel k<N = 4>() { }", "T0130"},
      {"kernel k<const N: int>() { }", "T0105"},
      {"kernel k<int N>() { }", "T0114"},
      {"kernel k() grid [1, 2, 3, 4] { }", "T0118"},
      {"kernel k() grid [] { }", "T0118"},
      {"kernel k() grid (1) { }", "T0101"},
      {"kernel k() grid [1] grid [2] { }", "T0117"},
      {"kernel k() requires a requires b { }", "T0117"},
      {"kernel k() requires a, grid [1] { }", "T0102"},
      {"kernel k() requires a = b { }", "T0111"},
      {"kernel k() hint(4) { }", "T0122"},
      {"kernel k() hint(a: 1) hint(b: 2) { }", "T0117"},
      {"kernel k() hint sm_80(a: 1) hint sm_80(b: 2) { }", "T0117"},
      {"kernel k() where a { }", "T0101"},
      {"fn f(x: f32) { }", "T0127"},
      {"fn f<T>(x) { }", "T0127"},
      {"fn f(x) -> f32 { }", "T0127"},
      {"fn f(x) = x;", "T0145"},
      {"fn f(x) => x;", "T0145"},
      {"import foo;", "T0101"},
      {"import \"foo\"", "T0110"},
      {"specialize k<f16>;", "T0101"},
      {"specialize k as j;", "T0101"},
      {"const = 1;", "T0104"},
      {"const X;", "T0133"},
      {"static_assert(1;", "T0101"},
      {"static_assert(1, 2);", "T0101"},
      {"struct X { };", "T0106"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(inFile(c.text), c.codes) << c.text.str();
}

TEST(ParserErrors, SeveralErrorsAreReportedAtTheirPlaces) {
  Parsed parsed("kernel k() {\n"
                "  let x = 1\n"
                "  let y = a < b < c;\n"
                "  store(c, [0], (1;\n"
                "  i++;\n"
                "}\n"
                "fn f(x: f32) { return 1 }\n");
  EXPECT_THAT(parsed.errors(),
              ElementsAre("T0110 at 2:12", "T0112 at 3:17", "T0101 at 4:19",
                          "T0125 at 5:4", "T0127 at 7:7", "T0110 at 7:24"));
}

TEST(ParserErrors, AMissingBraceIsFoundByIndentation) {
  Parsed parsed("kernel a() {\n"
                "  for i in 0..3 {\n"
                "    f();\n"
                "}\n"
                "kernel b() { }\n");
  EXPECT_THAT(parsed.errors(), ElementsAre("T0108 at 1:12"));
  ASSERT_EQ(parsed.stored.list[0].secondary.size(), 2u);
  EXPECT_EQ(
      parsed.sources.getLineCol(parsed.stored.list[0].secondary[0].range.begin),
      (LineCol{2, 17}));
  ASSERT_EQ(parsed.file->decls.size(), 2u) << "the next kernel is still there";
}

TEST(ParserErrors, DeclarationsWithErrorsKeepTheirNames) {
  Parsed parsed("kernel a() { let x = ; }\nkernel b() { }\nfn c(x: f32) { }");
  ASSERT_EQ(parsed.file->decls.size(), 3u);
  EXPECT_TRUE(parsed.file->decls[0]->malformed);
  EXPECT_FALSE(parsed.file->decls[1]->malformed);
  EXPECT_TRUE(parsed.file->decls[2]->malformed);
  EXPECT_EQ(parsed.file->decls[0]->name.text, "a");
}

TEST(ParserErrors, NestingHasALimit) {
  auto nested = [](StringRef open, StringRef inner, StringRef close, int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += open;
    text += inner;
    for (int i = 0; i < n; ++i)
      text += close;
    return text;
  };
  for (int n : {300, 100000}) {
    EXPECT_EQ(inBody("let x = " + nested("(", "1", ")", n) + ";"), "T0115");
    EXPECT_EQ(inBody("let x = " + nested("[", "1", "]", n) + ";"), "T0115");
    EXPECT_EQ(inBody("let x = " + nested("f(", "1", ")", n) + ";"), "T0115");
    EXPECT_EQ(inBody("let x = " + nested("y[", "1", "]", n) + ";"), "T0115");
    EXPECT_EQ(inBody("let x = " + nested("!", "y", "", n) + ";"), "T0115");
    EXPECT_EQ(inBody("let x = " + nested("a ? b : ", "c", "", n) + ";"),
              "T0115");
    EXPECT_EQ(inBody(nested("{", "", "}", n)), "T0115");
    EXPECT_EQ(inBody(nested("if a { ", "", "}", n)), "T0115");
    EXPECT_EQ(inBody("if a { }" + nested(" else if b { }", "", "", n)),
              "T0115");
    EXPECT_EQ(
        inFile("kernel k(a: " + nested("array<", "f32", ", [n]>", n) + ") { }"),
        "T0115");
    EXPECT_EQ(inBody("let x = " + nested("a + ", "b", "", 4 * n) + ";"),
              "T0116");
    EXPECT_EQ(inBody("let x = a" + nested(".b", "", "", 4 * n) + ";"), "T0116");
  }
}

TEST(ParserErrors, StopsAfterTooManyErrors) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "let x = ;\n";
  Parsed parsed("kernel k() {\n" + text + "}", /*maxErrors=*/20);
  EXPECT_EQ(parsed.stored.list.size(), 21u);
  EXPECT_EQ(parsed.stored.list.back().id, diag::too_many_errors);
}

} // namespace

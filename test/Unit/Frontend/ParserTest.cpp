//===- ParserTest.cpp - trees of correct programs ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Most cases are read in the printed form, where every operator has
// parentheses.
//
//===----------------------------------------------------------------------===//

#include "SyntaxTest.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::ast;

namespace {

/// The printed form of an expression.
std::string expr(StringRef text) {
  Parsed parsed(("const x = " + text + ";").str());
  EXPECT_TRUE(parsed.stored.list.empty())
      << text.str() << ": " << parsed.stored.list.front().message;
  std::string result = parsed.printed();
  StringRef printed = result;
  printed.consume_front("const x = ");
  printed.consume_back(";\n");
  return printed.str();
}

/// The printed form of statements in a body, a line each.
std::string body(StringRef text) {
  Parsed parsed(("kernel k() {\n" + text + "\n}").str());
  EXPECT_TRUE(parsed.stored.list.empty())
      << text.str() << ": " << parsed.stored.list.front().message;
  std::string result = parsed.printed();
  StringRef printed = result;
  printed.consume_front("kernel k()\n{\n");
  printed.consume_back("}\n");
  return printed.str();
}

TEST(Parser, OperatorsBindAsInRust) {
  EXPECT_EQ(expr("a + b * c - d"), "((a + (b * c)) - d)");
  EXPECT_EQ(expr("a * b / c % d @ e"), "((((a * b) / c) % d) @ e)");
  EXPECT_EQ(expr("a << b + c"), "(a << (b + c))");
  EXPECT_EQ(expr("a & b << c"), "(a & (b << c))");
  EXPECT_EQ(expr("a | b ^ c & d"), "(a | (b ^ (c & d)))");
  EXPECT_EQ(expr("a & b == c | d"), "((a & b) == (c | d))");
  EXPECT_EQ(expr("a < b && c >= d || e != f"),
            "(((a < b) && (c >= d)) || (e != f))");
  EXPECT_EQ(expr("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(expr("a >> b >> c"), "((a >> b) >> c)");
  EXPECT_EQ(expr("(a < b) == (c < d)"), "((a < b) == (c < d))");
}

TEST(Parser, ConditionalBindsLeastAndToTheRight) {
  EXPECT_EQ(expr("a || b ? c : d + 1"), "((a || b) ? c : (d + 1))");
  EXPECT_EQ(expr("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
  EXPECT_EQ(expr("a ? b ? c : d : e"), "(a ? (b ? c : d) : e)");
}

TEST(Parser, UnaryBindsMoreThanBinaryAndLessThanPostfix) {
  EXPECT_EQ(expr("-a * b"), "((-a) * b)");
  EXPECT_EQ(expr("!a && ~b == c"), "((!a) && ((~b) == c))");
  EXPECT_EQ(expr("-a.to(f32)"), "(-a.to(f32))");
  EXPECT_EQ(expr("-a[0]"), "(-a[0])");
  EXPECT_EQ(expr("!!a"), "(!(!a))");
}

TEST(Parser, AMinusBelongsToItsNumber) {
  EXPECT_EQ(expr("-128.to(i8)"), "-128.to(i8)");
  EXPECT_EQ(expr("a - 1"), "(a - 1)");
  EXPECT_EQ(expr("a -1"), "(a - 1)");
  EXPECT_EQ(expr("- 1.5"), "-1.5");
  EXPECT_EQ(expr("-inf"), "-inf");
  EXPECT_EQ(expr("-(1)"), "(-(1))");
  EXPECT_EQ(expr("a - -1"), "(a - -1)");
  Parsed parsed("const x = -9223372036854775808;");
  auto *literal =
      cast<IntLiteralExpr>(cast<ConstDecl>(parsed.file->decls[0])->init);
  EXPECT_TRUE(literal->negative);
  EXPECT_EQ(literal->magnitude, uint64_t(1) << 63);
}

TEST(Parser, LiteralsHaveTheirValues) {
  EXPECT_EQ(expr("0xff + 0b11 + 1_000"), "((255 + 3) + 1000)");
  Parsed parsed("const x = 1_0.2_5e1;");
  auto *literal =
      cast<FloatLiteralExpr>(cast<ConstDecl>(parsed.file->decls[0])->init);
  EXPECT_EQ(literal->digits, "10.25e1");
  EXPECT_EQ(literal->value, 102.5);
  EXPECT_EQ(expr("[inf, nan, true, false]"), "[inf, nan, true, false]");
  EXPECT_EQ(expr("f(\"a\\n\\\"b\\\\\")"), "f(\"a\\n\\\"b\\\\\")");
}

TEST(Parser, PostfixChains) {
  EXPECT_EQ(expr("a.shape[0]"), "a.shape[0]");
  EXPECT_EQ(expr("(a + b).to(f32, round: rz)[0, i]"),
            "(a + b).to(f32, round: rz)[0, i]");
  EXPECT_EQ(expr("x[:, None]"), "x[:, None]");
  EXPECT_EQ(expr("f()()[0].g"), "f()()[0].g");
}

TEST(Parser, ListsMayEndInAComma) {
  EXPECT_EQ(expr("f(a, b: [1, 2,],)"), "f(a, b: [1, 2])");
  EXPECT_EQ(expr("x[0, 1,]"), "x[0, 1]");
  EXPECT_EQ(expr("f()"), "f()");
  EXPECT_EQ(expr("[]"), "[]");
}

TEST(Parser, TuplesAreOperandsOfCalls) {
  EXPECT_EQ(expr("reduce((x, y), 0, (i, j), f)"),
            "reduce((x, y), 0, (i, j), f)");
  EXPECT_EQ(expr("f((a + b) * c)"), "f(((a + b) * c))");
  EXPECT_EQ(expr("f((a).b)"), "f(a.b)");
}

TEST(Parser, RangesCoverWhatIsWritten) {
  Parsed parsed("const x = (a + b) * foo(c, axis: 1);");
  auto *product =
      cast<BinaryExpr>(cast<ConstDecl>(parsed.file->decls[0])->init);
  auto text = [&](SourceRange range) {
    return parsed.sources.getText(range).str();
  };
  EXPECT_EQ(text(product->getRange()), "(a + b) * foo(c, axis: 1)");
  EXPECT_EQ(text(product->opRange), "*");
  EXPECT_EQ(text(product->lhs->getRange()), "a + b");
  auto *call = cast<CallExpr>(product->rhs);
  EXPECT_EQ(text(call->getRange()), "foo(c, axis: 1)");
  EXPECT_EQ(text(call->parens), "(c, axis: 1)");
  EXPECT_EQ(text(call->args[1].range), "axis: 1");
  EXPECT_EQ(text(call->args[1].name.range), "axis");
  EXPECT_EQ(text(parsed.file->decls[0]->getRange()),
            "const x = (a + b) * foo(c, axis: 1);");
}

TEST(Parser, Declarations) {
  EXPECT_EQ(
      body("let x = 1; let y: f32[BM, 2 * BN] = x; let (a, b) = f();"),
      "  let x = 1;\n  let y: f32[BM, (2 * BN)] = x;\n  let (a, b) = f();\n");
  EXPECT_EQ(body("var x = 1; var y: f32[BM]; const N: int = 4;"),
            "  var x = 1;\n  var y: f32[BM];\n  const N: int = 4;\n");
}

TEST(Parser, Assignments) {
  EXPECT_EQ(
      body("x = 1; x += 1; x -= 1; x *= 1; x /= 1; x %= 1;"),
      "  x = 1;\n  x += 1;\n  x -= 1;\n  x *= 1;\n  x /= 1;\n  x %= 1;\n");
  EXPECT_EQ(body("x &= 1; x |= 1; x ^= 1; x <<= 1; x >>= 1;"),
            "  x &= 1;\n  x |= 1;\n  x ^= 1;\n  x <<= 1;\n  x >>= 1;\n");
}

TEST(Parser, ControlFlow) {
  EXPECT_EQ(body("for i in 0..n { } for i in a + 1..b step 2 { } for const i "
                 "in 0..4 { }"),
            "  for i in 0..n {\n  }\n  for i in (a + 1)..b step 2 {\n  }\n"
            "  for const i in 0..4 {\n  }\n");
  EXPECT_EQ(
      body("while c { break; continue; } return; return x; return (x, y);"),
      "  while c {\n    break;\n    continue;\n  }\n  return;\n  return x;\n"
      "  return (x, y);\n");
  EXPECT_EQ(body("if a { f(); } else if const b { } else { }"),
            "  if a {\n    f();\n  } else if const b {\n  } else {\n  }\n");
  EXPECT_EQ(body("{ f(); } fast { g(); }"),
            "  {\n    f();\n  }\n  fast {\n    g();\n  }\n");
}

TEST(Parser, WordsOfOnePlaceNameVariables) {
  EXPECT_EQ(body("let step = 1; let array = grid; hint(requires); let None = "
                 "strided;"),
            "  let step = 1;\n  let array = grid;\n  hint(requires);\n  let "
            "None = strided;\n");
}

TEST(Parser, Kernels) {
  Parsed parsed(
      "/// Doc.\n"
      "kernel k<T: float = bf16, N: int = 1 << 4, B: bool = (1 > 2)>(\n"
      "    n: int, a: array<T, [m, 128]>, b: mut strided array<f32, [m]>)\n"
      "  requires m % 8 == 0, aligned(a, 128)\n"
      "  hint(num_warps: 4) grid [cdiv(m, N), 1]\n"
      "  hint sm_90a(cluster: [2, 1]) { }\n");
  ASSERT_TRUE(parsed.stored.list.empty());
  auto *kernel = cast<KernelDecl>(parsed.file->decls[0]);
  EXPECT_EQ(kernel->name.text, "k");
  ASSERT_EQ(kernel->doc.size(), 1u);
  EXPECT_EQ(kernel->doc[0], "Doc.");
  EXPECT_EQ(kernel->constParams.size(), 3u);
  EXPECT_EQ(kernel->params.size(), 3u);
  auto *type = cast<ArrayTypeExpr>(kernel->params[2].type);
  EXPECT_TRUE(type->isMut());
  EXPECT_TRUE(type->isStrided());
  EXPECT_EQ(kernel->requirements.size(), 2u);
  EXPECT_EQ(kernel->grid.size(), 2u);
  EXPECT_EQ(kernel->hints.size(), 2u);
  EXPECT_EQ(kernel->hints[1].chip.text, "sm_90a");
  EXPECT_FALSE(kernel->malformed);
}

TEST(Parser, OtherItems) {
  Parsed parsed("import \"a.tile\";\nfn f(x, eps = 1e-5) { return x; }\n"
                "specialize k<f16, BM: 128> as k_f16;\n"
                "static_assert(N > 1, \"why\");\nstatic_assert(N > 1);\n"
                "const N: int = 4;\n");
  EXPECT_TRUE(parsed.stored.list.empty());
  EXPECT_EQ(parsed.printed(),
            "import \"a.tile\";\n\nfn f(x, eps = 1e-5) {\n  return x;\n}\n\n"
            "specialize k<f16, BM: 128> as k_f16;\n\n"
            "static_assert((N > 1), \"why\");\n\nstatic_assert((N > 1));\n\n"
            "const N: int = 4;\n");
}

TEST(Parser, AnEmptyFileIsAProgram) {
  EXPECT_TRUE(Parsed("").stored.list.empty());
  EXPECT_TRUE(Parsed("\n// nothing\n").stored.list.empty());
}

TEST(Parser, DeepButLegalNestingIsFine) {
  std::string parens = std::string(200, '(') + "1" + std::string(200, ')');
  EXPECT_EQ(expr(parens), "1");
  std::string sum = "a";
  for (int i = 0; i < 1000; ++i)
    sum += " + a";
  EXPECT_FALSE(expr(sum).empty());
}

} // namespace

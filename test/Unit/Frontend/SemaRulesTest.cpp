//===- SemaRulesTest.cpp - the named rules of the language ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each named rule of docs/language.md that the checker enforces: a statement
// that keeps it and one that breaks it.
//
//===----------------------------------------------------------------------===//

#include "SemaTest.h"

using namespace llvm;
using namespace tilec;

namespace {

struct Rule {
  StringRef name, kept, broken, code;
};

TEST(SemaRules, InABody) {
  const Rule rules[] = {
      {"kernel-C2", "return;", "return $1;", "T0508"},
      {"kernel-C3", "store(c, [0, 0], x);", "store($a, [0, 0], x);", "T0314"},
      {"var-C1", "var q: f32; q = 1; let u = q;", "var q: f32; let u = $q;",
       "T0504"},
      {"var-C2", "let q = 1; { let q = 2; }", "let q = 1; let $q = 2;",
       "T0201"},
      {"loop-C1", "var q = x; for i in 0..4 { q = x; }",
       "var q = x; for i in 0..4 { q = $r; }", "T0503"},
      {"loop-C2", "for i in 0..4 step num { }", "for i in 0..4 step $0 { }",
       "T0411"},
      {"loop-C3", "while true { break; }", "$break;", "T0505"},
      {"loop-C3", "for const i in 0..2 { while true { break; } }", "for const i in 0..2 { $break; }", "T0511"},
      {"loop-C3", "for const i in 0..4096 { }", "$for const i in 0..4097 { }", "T0410"},
      {"cond-C1", "if flag { }", "if $p { }", "T0325"},
      {"type-C1", "let q = t8.to(f32) + 1;", "let q = $t8 + 1;", "T0308"},
      {"type-C2", "let q = flag.to(i32) + 1;", "let q = $flag + 1;", "T0308"},
      {"tile-C1", "let q = zeros([64], f32);", "let q = zeros([$65], f32);",
       "T0301"},
      {"tile-C2", "let q = zeros([1024, 1024], f32);",
       "let q = zeros($[1024, 2048], f32);", "T0303"},
      {"tile-C2", "let q = zeros([1024, 1], f32) + zeros([1, 1024], f32);",
       "let q = $zeros([1024, 1], f32) + zeros([1, 2048], f32);", "T0303"},
      {"tile-C3", "let q = zeros([1, 1, 1, 1, 1, 2], f32);",
       "let q = zeros($[1, 1, 1, 1, 1, 1, 2], f32);", "T0304"},
      {"lit-C1", "let q = y * 65504.0;", "let q = y * $65520.0;", "T0307"},
      {"lit-C1", "let q = it + 2147483647;", "let q = it + $2147483648;",
       "T0307"},
      {"lit-C1", "let q = it.to(i8) + -128;", "let q = it.to(i8) + $128;",
       "T0307"},
      {"conv-C1", "let q = y.to(f32) + x;", "let q = $y + x;", "T0306"},
      {"conv-C1", "let q = it + big;", "let q = $it.to(i16) + big;", "T0306"},
      {"conv-C2", "for i in num..big { let q = load(v, [num.to(u8)], [4]); }",
       "for i in num..$s { }", "T0311"},
      {"bcast-C1", "let q = x + zeros([1, 128], f32);",
       "let q = $x + zeros([2, 128], f32);", "T0305"},
      {"load-C1", "let q = load(a, [0, 0], [4, 4]);",
       "let q = load(a, $[0], [4, 4]);", "T0309"},
      {"load-C2", "let q = load(a, [0, 0], [4, 4]);",
       "let q = load(a, [0, 0], $[4]);", "T0310"},
      {"load-C3", "let q = load(ia, [0], [4], pad: -1);",
       "let q = load(ia, [0], [4], pad: $0.5);", "T0307"},
      {"load-C5", "let q = load(a, [0, 0], [4, 4], order: [1, 0]);",
       "let q = load(a, [0, 0], [4, 4], order: $[1, 1]);", "T0321"},
      {"store-C1", "store(w, [0], r);", "store($v, [0], r);", "T0314"},
      {"store-C2", "store(c, [0, 0], r[None, :]);", "store(c, [0, 0], $r);",
       "T0313"},
      {"store-C3", "store(h, [0, 0], x.to(f16));", "store(h, [0, 0], $x);",
       "T0312"},
      {"mma-C1", "let q = x @ transpose(x);", "let q = $x @ x;", "T0315"},
      {"mma-C2", "let q = y @ transpose(y);", "let q = $y @ transpose(x);",
       "T0316"},
  };
  for (const Rule &rule : rules) {
    EXPECT_EQ(mismatch({rule.kept, ""}, /*isBody=*/true), "")
        << rule.name.str();
    EXPECT_EQ(mismatch({rule.broken, rule.code}, /*isBody=*/true), "")
        << rule.name.str();
  }
}

TEST(SemaRules, OfDeclarations) {
  const Rule rules[] = {
      {"kernel-C1", "kernel k(s: f32, a: array<f32, [n]>) { }",
       "kernel k(s: $f32[4]) { }", "T0209"},
      {"kernel-C2", "fn f() { } kernel k() { f(); }",
       "kernel j() { } kernel k() { $j(); }", "T0205"},
      {"fn-C1",
       "fn g(x) { return x; } fn f(x) { return g(g(x)); } kernel k(s: f32) { "
       "let q = f(f(s)); }",
       "fn f(x) { return $f(x); } kernel k(s: f32) { let q = f(s); }", "T0206"},
      {"fn-C2",
       "fn f(x) { if x > 0 { return 1; } return x; } kernel k(s: f32) { let q "
       "= f(s); }",
       "fn f(x) { if x > 0 { return x; } $return x > 0; } kernel k(s: f32) { "
       "let q = f(s); }",
       "T0507"},
      {"fn-C3",
       "fn f(n) { return zeros([n], f32); } kernel k() { let q = f(8); }",
       "fn f(n) { return zeros([$n], f32); } kernel k(s: int) { let q = f(s); "
       "}",
       "T0302"},
      {"param-C1", "kernel k<T: float = f16>() { }",
       "kernel k<T: float = $i32>() { }", "T0405"},
      {"array-C1", "kernel k(a: array<f32, [n]>, b: array<f32, [n]>) { }",
       "kernel k(a: array<f32, [$N]>) { }", "T0212"},
      {"array-C2", "kernel k(a: array<f32, [a0, b, c, d, e, f]>) { }",
       "kernel k(a: array<$tf32, [n]>) { }", "T0210"},
  };
  for (const Rule &rule : rules) {
    EXPECT_EQ(mismatch({rule.kept, ""}, /*isBody=*/false), "")
        << rule.name.str();
    EXPECT_EQ(mismatch({rule.broken, rule.code}, /*isBody=*/false), "")
        << rule.name.str();
  }
}

/// Files in memory.
class MapLoader : public FileLoader {
public:
  std::map<std::string, std::string> texts;
  ErrorOr<std::unique_ptr<MemoryBuffer>> load(StringRef path) override {
    auto it = texts.find(path.str());
    if (it == texts.end())
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return MemoryBuffer::getMemBufferCopy(it->second, path);
  }
};

std::string checkFiles(std::map<std::string, std::string> texts) {
  MapLoader loader;
  loader.texts = std::move(texts);
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  ast::Context ctx;
  ast::Program program = parseProgram({"main"}, ctx, sources, diags, loader);
  check(program, diags);
  std::string result;
  for (const Diagnostic &d : stored.list)
    result +=
        (result.empty() ? "" : " ") + getInfo(d.id).code.str() + "@" +
        (d.range.isValid() ? sources.getFileName(d.range.begin).str() : "");
  return result;
}

TEST(SemaRules, ImportC1) {
  // A file sees its imports, not theirs; a fn sees the names of its own file.
  const char *library =
      "import \"base\"; const N = 2; fn f(x) { return x * scale(N); }";
  const char *base = "fn scale(x) { return x + 1; }";
  EXPECT_EQ(
      checkFiles(
          {{"main",
            "import \"library\"; kernel k(s: f32) { let q = f(s).to(f16); }"},
           {"library", library},
           {"base", "fn scale(x) { return x.to(f32) + 1; }"}}),
      "");
  EXPECT_EQ(checkFiles({{"main", "import \"library\"; kernel k() { let q = "
                                 "zeros([N], f32); let u = scale(1); }"},
                        {"library", library},
                        {"base", base}}),
            "T0202@main");
  EXPECT_EQ(checkFiles({{"main", "import \"base\"; fn scale(x) { return x; }"},
                        {"base", base}}),
            "T0201@main");
  EXPECT_EQ(checkFiles({{"main", "import \"a\"; import \"b\";"},
                        {"a", "const N = 1;"},
                        {"b", "const N = 2;"}}),
            "T0201@b");
  // The same file twice is no clash.
  EXPECT_EQ(
      checkFiles(
          {{"main", "import \"base\"; import \"base\"; const M = scale(1);"},
           {"base", base}}),
      "");
}

} // namespace

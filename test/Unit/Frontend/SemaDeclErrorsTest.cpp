//===- SemaDeclErrorsTest.cpp - wrong declarations and instances ---*- C++
//-*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels, fns, constants, specialisations and `-D`, each with exactly the
// errors it gives, at the places marked `$`.
//
//===----------------------------------------------------------------------===//

#include "SemaTest.h"

using namespace llvm;
using namespace tilec;

namespace {

void expectPrograms(ArrayRef<WrongProgram> cases, CheckOptions options = {}) {
  for (const WrongProgram &wrong : cases)
    EXPECT_EQ(mismatch(wrong, /*isBody=*/false, options), "");
}

CheckOptions defines(std::vector<std::string> list) {
  CheckOptions options;
  options.defines = std::move(list);
  return options;
}

TEST(SemaDeclErrors, Items) {
  expectPrograms({
      {"const A = 1; const $A = 2;", "T0201"},
      {"fn f() { } kernel $f() { }", "T0201"},
      {"const $A = B; const B = A; kernel k() { let q = zeros([A], f32); }",
       "T0217"},
      {"kernel k(a: array<f32, [n]>) { let q = A; } const A = $bid(0);",
       "T0401"},
      {"kernel k() { $A = 2; } const A = 1;", "T0501"},
      {"static_assert($1 == 2, \"no\");", "T0406"},
      {"static_assert($1);", "T0325"},
      {"const A = 100; kernel k() { let q = zeros([$A], f32); }", "T0301"},
      {"const A: i8 = $300; kernel k() { let q = A; }", "T0307"},
  });
}

TEST(SemaDeclErrors, Parameters) {
  expectPrograms({
      {"kernel k(t: $f32[4]) { }", "T0209"},
      {"kernel k(t: $tf32) { }", "T0210"},
      {"kernel k(t: array<$tf32, [n]>) { }", "T0210"},
      {"kernel k(t: $foo) { }", "T0213"},
      {"kernel k(t: array<$float, [n]>) { }", "T0213"},
      {"kernel k(t: array<f32, $[]>) { }", "T0211"},
      {"kernel k(t: array<f32, $[a, b, c, d, e, f, g]>) { }", "T0211"},
      {"kernel k(t: array<f32, [$N]>) { }", "T0212"},
      {"kernel k(t: array<f32, [n, $n + 1]>) { }", "T0212"},
      {"kernel k(t: array<f32, [$1.5]>) { }", "T0212"},
      {"kernel k(t: array<f32, [$-1]>) { }", "T0226"},
      {"kernel k(a: f32, $a: f32) { }", "T0201"},
      {"kernel k(n: int, t: array<f32, [$n]>) { }", "T0201"},
      {"kernel k(t: array<f32, [n]>, $n: int) { }", "T0201"},
      {"kernel k(t: $f33) { let q = t + 1; let u = exp(t); }", "T0213"},
      {"kernel k(t: mut array<f32, [$N]>) { store(t, [0], load(t, [0], [4])); }",
       "T0212"},
  });
}

TEST(SemaDeclErrors, CompileTimeParameters) {
  expectPrograms({
      {"kernel k<$BM: int>() { }", "T0402"},
      {"kernel k<BM: int = $f32>() { }", "T0405"},
      {"kernel k<BM: int = $1.5>() { }", "T0405"},
      {"kernel k<BM: int = $true>() { }", "T0405"},
      {"kernel k<T: float = $i32>() { }", "T0405"},
      {"kernel k<T: float = $f8e4m3>() { }", "T0405"},
      {"kernel k<T: unsigned = $i32>() { }", "T0405"},
      {"kernel k<T: signed = $u8>() { }", "T0405"},
      {"kernel k<T: integer = $f16>() { }", "T0405"},
      {"kernel k<T: number = $bool>() { }", "T0405"},
      {"kernel k<T: dtype = $4>() { }", "T0405"},
      {"kernel k<B: bool = $1>() { }", "T0405"},
      {"kernel k<T: $wild = f32>() { }", "T0214"},
      {"kernel k<A: int = 1, $A: int = 2>() { }", "T0201"},
      {"kernel k<A: int = $B>() { }", "T0202"},
      {"kernel k<A: int = 4, B: int = A * 2, C: int = 0 / $0>() { }", "T0326"},
  });
}

TEST(SemaDeclErrors, Clauses) {
  expectPrograms({
      {"kernel k(a: array<f32, [n]>) grid [$1.5] { }", "T0311"},
      {"kernel k(a: array<f32, [n]>) grid [$-1] { }", "T0414"},
      {"kernel k(a: array<f32, [n]>) grid [$1 << 31] { }", "T0414"},
      {"kernel k(a: array<f32, [n]>) grid [$q] { }", "T0202"},
      {"kernel k(a: array<f32, [n]>) grid [$bid(0)] { }", "T0413"},
      {"kernel k(a: array<f32, [n]>) grid [n + $clz(n)] { }", "T0413"},
      {"kernel k(a: array<f32, [n]>) requires $n { }", "T0325"},
      {"kernel k(a: array<f32, [n]>) requires $1 == 2 { }", "T0419"},
      {"kernel k(a: array<f32, [n]>) requires n > 0, $bid(0) == 1 { }",
       "T0413"},
      {"kernel k(a: array<f32, [n]>) requires aligned($n, 16) { }", "T0223"},
      {"kernel k(a: array<f32, [n]>) requires aligned(a, $10) { }", "T0418"},
      {"kernel k(a: array<f32, [n]>) requires aligned(a, $n) { }", "T0401"},
      {"kernel k() hint($num_wraps: 4) { }", "T0215"},
      {"kernel k() hint(num_warps: $3) { }", "T0227"},
      {"kernel k() hint(num_warps: $64) { }", "T0227"},
      {"kernel k() hint(num_stages: $0) { }", "T0227"},
      {"kernel k() hint(persistent: $9) { }", "T0227"},
      {"kernel k() hint $sm_10(num_stages: 2) { }", "T0216"},
  });
}

TEST(SemaDeclErrors, Fns) {
  expectPrograms({
      {"fn f(x) { return $f(x); } kernel k(s: f32) { let q = f(s); }", "T0206"},
      {"fn f(x) { return g(x); } fn g(x) { return $f(x); } kernel k(s: f32) { "
       "let q = f(s); }",
       "T0206"},
      {"fn f(x) { if x > 0.0 { return x; } $} kernel k(s: f32) { let q = f(s); "
       "}",
       "T0506"},
      {"fn f(x) { if x > 0.0 { return x; } $return 1 > 0; } kernel k(s: f32) { "
       "let q = f(s); }",
       "T0507"},
      {"fn f(x) { if x > 0.0 { return x; } $return; } kernel k(s: f32) { let q "
       "= f(s); }",
       "T0507"},
      {"fn f(x) { if x > 0 { return x; } return $1 << 70; } kernel k(s: i32) { "
       "let q = f(s.to(int)); }",
       "T0307"},
      {"fn f(x, y) { return x; } kernel k(s: f32) { let q = f$(s); }", "T0218"},
      {"fn f(x) { return x; } kernel k(s: f32) { let q = f$(s, s); }", "T0219"},
      {"fn f(x) { return x; } kernel k(s: f32) { let q = f($z: s); }", "T0220"},
      {"fn f(x) { return x; } kernel k(s: f32) { let q = f(s, $x: s); }",
       "T0222"},
      {"fn f(n) { return zeros([$n], f32); } kernel k(s: int) { let q = f(s); "
       "}",
       "T0302"},
      {"fn f(x) { return $x + 1.5; } kernel k(s: f32) { let q = f(true); }",
       "T0308"},
      {"fn f(x) { $x = 1; } kernel k(s: f32) { f(s); }", "T0501"},
      {"fn f() { } kernel k() { let q = $f(); }", "T0330"},
      {"fn f() { return (1, 2); } kernel k() { let q = $f() + 1; }", "T0510"},
      {"fn f() { return (1, 2); } kernel k() { let ($a, b, c) = f(); }",
       "T0509"},
      {"fn f(g, x) { return $g(x); } kernel k(s: f32) { let q = f(s, s); }",
       "T0204"},
      {"fn f() { $break; } kernel k() { for i in 0..4 { f(); } }", "T0505"},
      {"fn f() { let y = $s; } kernel k(s: f32) { f(); }", "T0202"},
      {"fn f(x) { return x; } kernel k(a: array<f32, [n]>) { let q = $f(a) + "
       "1.0; }",
       "T0334"},
  });
}

TEST(SemaDeclErrors, FnsThatNothingCalls) {
  expectPrograms({
      {"fn f(x, y = $q) { let (a, b) = g(x); for i in 0..x { var c = i; c += $z; } } "
       "fn g(x) { return (x[0, $w], [x, x.to(f16, round: rz)]); }",
       "T0202 T0202 T0202"},
      {"fn f(x) { if const x { return nonsense; } $y = 1; }", "T0202"},
      {"fn f(x) { while x > 0.0 { break; } fast { $g(x); } { let z = 1; } return $z; }", "T0202 T0202"},
      {"fn f(x, g) { return g(x, sum(x, axis: 0)) @ x ? -x : (x); } const N = 1; fn h() { return N; }", ""},
  });
}

TEST(SemaDeclErrors, CombiningFns) {
  expectPrograms({
      {"fn f(x) { return x; } kernel k() { let q = $reduce(arange(4), 0, 0, "
       "f); }",
       "T0223"},
      {"fn f(x, y) { return x > y; } kernel k() { let q = $reduce(arange(4), "
       "0, 0, f); }",
       "T0335"},
      {"fn f(x, y) { $print(\"{}\", x); return x + y; } kernel k() { let q = "
       "reduce(arange(4), 0, 0, f); }",
       "T0346"},
      {"fn f(x, y) { return x + y; } kernel k() { let q = reduce(arange(4), 0, "
       "$1.5, f); }",
       "T0307"},
      {"fn f(x, y) { return x + y; } kernel k() { let q = reduce(arange(4), 0, "
       "$(0, 1), f); }",
       "T0336"},
      {"fn f(x, y) { return x + y; } kernel k() { let q = reduce($1, 0, 0, f); "
       "}",
       "T0322"},
      {"kernel k() { let q = reduce(arange(4), 0, 0, $1); }", "T0223"},
      {"fn f(a, b, x, y) { return (a, b); } kernel k() { "
       "let (q, r) = reduce((arange(4), $arange(8)), 0, (0, 0), f); }",
       "T0345"},
  });
}

TEST(SemaDeclErrors, Specialisations) {
  expectPrograms({
      {"specialize $nothing<1> as s;", "T0208"},
      {"kernel k<A: int>() { } $specialize k<1, 2> as s;", "T0408"},
      {"kernel k<A: int>() { } specialize k<$B: 1> as s;", "T0407"},
      {"kernel k<A: int>() { } specialize k<1, $A: 2> as s;", "T0222"},
      {"kernel k<A: int>() { } specialize k<$f32> as s;", "T0405"},
      {"kernel k<A: int, $B: int>() { } specialize k<1> as s;", "T0402"},
      {"kernel k<A: int>() { } specialize k<1> as $k;", "T0201"},
      {"kernel k<A: int>() { } specialize k<1> as s; specialize k<2> as $s;",
       "T0201"},
      {"kernel k<A: int>() { $s(); } specialize k<1> as s;", "T0205"},
  });
}

TEST(SemaDeclErrors, Defines) {
  const char *kernels = "kernel k<BM: int = 64, T: float = f32>() { let q = "
                        "zeros([BM], T); } kernel j() { }";
  auto errors = [&](std::vector<std::string> list) {
    return Checked(kernels, defines(list)).errors();
  };
  EXPECT_EQ(errors({"BM=32"}), "");
  EXPECT_EQ(errors({"k.BM=0x20"}), "");
  EXPECT_EQ(errors({"T=f16", "BM=16"}), "");
  EXPECT_EQ(errors({"BLOCK_M=64"}), "T0403 at nowhere");
  EXPECT_EQ(errors({"j.BM=64"}), "T0403 at nowhere");
  EXPECT_EQ(errors({"i.BM=64"}), "T0403 at nowhere");
  EXPECT_EQ(errors({"BM"}), "T0404 at nowhere");
  EXPECT_EQ(errors({"BM="}), "T0404 at nowhere");
  EXPECT_EQ(errors({"=3"}), "T0404 at nowhere");
  EXPECT_EQ(errors({"BM=abc"}), "T0404 at nowhere");
  EXPECT_EQ(errors({"BM=99999999999999999999"}), "T0404 at nowhere");
  EXPECT_EQ(errors({"BM=true"}), "T0405 at 1:10");
  EXPECT_EQ(errors({"T=i8"}), "T0405 at 1:24");
  EXPECT_EQ(errors({"BM=100"}), "T0301 at 1:59");
  CheckOptions options;
  options.kernel = "kk";
  EXPECT_EQ(Checked(kernels, options).errors(), "T0417 at nowhere");
}

TEST(SemaDeclErrors, LimitsOfInlining) {
  // A chain of fns deeper than the walk goes.
  std::string chain = "fn f0(x) { return x; }\n";
  for (int i = 1; i < 1000; ++i)
    chain += "fn f" + std::to_string(i) + "(x) { return f" +
             std::to_string(i - 1) + "(x + 1); }\n";
  Checked deep(chain + "kernel k() { let q = f999(bid(0)); }");
  EXPECT_NE(deep.errors().find("T0513"), std::string::npos);
  EXPECT_EQ(deep.stored.list.size(), 1u);

  // A body that doubles at each level.
  std::string doubling = "fn f0(x) { return exp(x); }\n";
  for (int i = 1; i < 40; ++i)
    doubling += "fn f" + std::to_string(i) + "(x) { return f" +
                std::to_string(i - 1) + "(x) + f" + std::to_string(i - 1) +
                "(x); }\n";
  Checked large(doubling + "kernel k(s: f32) { let q = f39(s); }");
  EXPECT_NE(large.errors().find("T0416"), std::string::npos);
  EXPECT_EQ(large.stored.list.size(), 1u);

  // So do nested unrolled loops.
  std::string loops = "kernel k(c: mut array<f32, [n]>) { ";
  for (int i = 0; i < 6; ++i)
    loops += "for const i" + std::to_string(i) + " in 0..1000 { ";
  loops += "store_at(c, [i0 + i5], 1.0); } } } } } } }";
  Checked unrolled(loops);
  EXPECT_NE(unrolled.errors().find("T0416"), std::string::npos);
  EXPECT_EQ(unrolled.stored.list.size(), 1u);

  // A long chain of operators is fine.
  std::string sum = "kernel k(s: f32) { let q = s";
  for (int i = 0; i < 1000; ++i)
    sum += " + s";
  EXPECT_EQ(Checked(sum + "; }").errors(), "");
}

} // namespace

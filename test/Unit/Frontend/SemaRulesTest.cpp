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
      {"lit-C1", "let q = it.to(i8) * where(it > 0, 127, -128);", "let q = $it.to(i8) * where(it > 0, 128, 0);", "T0306"},
      {"conv-C1", "let q = y.to(f32) + x;", "let q = $y + x;", "T0306"},
      {"conv-C1", "let q = it + big;", "let q = $it.to(i16) + big;", "T0306"},
      {"conv-C1", "let q = arange(BN) < num && num + 1 > arange(BN);", "let q = $arange(BN) + it;",
       "T0306"},
      {"conv-C1", "let q = it.to(i16) + BN; let u = x * BN + BN / 2.0;", "let q = $x * big;", "T0306"},
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
      {"mma-C3", "let q = mma(x, transpose(x), zeros([64, 64], f32), precision: tf32x3);",
       "let q = mma(y, transpose(y), zeros([64, 64], f32), precision: $tf32);", "T0342"},
      {"mma-C3", "let q = mma(t8, transpose(t8), zeros([64, 64], f32), precision: fast);",
       "let q = mma(x, transpose(x), zeros([64, 64], f32), precision: $fast);", "T0342"},
      {"arg-C1", "let q = load(a, index: [0, 0], shape: [4, 4]);", "let q = load(a, shape: [4, 4], $[0, 0]);", "T0119"},
      {"arg-C1", "let q = sum(x, axis: 1);", "let q = sum(x, $1);", "T0221"},
      {"arg-C1", "let q = sum(x, keep: true);", "let q = sum(x, $keap: true);", "T0220"},
      {"arg-C1", "let q = clamp(x, lo: 0, hi: 1);", "let q = clamp(x, 0, 1, $lo: 0);", "T0222"},
      {"const-C1", "const N = BM * 2; let q = zeros([N], f32);", "const N = $num * 2;", "T0401"},
      {"const-C1", "const U = T == f32 && BM != 3 ? f16 : T; let q: f16[4] = zeros([4], U);",
       "let q = zeros([4], $flag ? f16 : f32);", "T0401"},
      {"const-C1", "if const T != f16 { } else { nonsense(); }", "if const $T == 1 { }", "T0203"},
      {"const-C1", "if const BM > 4 { }", "if const $num > 4 { }", "T0401"},
      {"const-C1", "for const i in 0..BM / 32 { }", "for const i in 0..$num { }", "T0401"},
      {"const-C2", "static_assert(BM == 64, \"as given\");", "static_assert($BM == 63, \"odd\");", "T0406"},
      {"var-C3", "var q = 1.0; q = s;", "let q = 1.0; $q = s;", "T0501"},
      {"var-C3", "var q = x; q = x + 1;", "var q = x; q = $y;", "T0502"},
      {"var-C3", "let q: f32[64, 128] = x;", "let q: f16[64, 128] = $x;", "T0329"},
      {"tuple-C1", "let (q, u) = num_tiles(a, [4, 4]);", "let ($q, u, g) = num_tiles(a, [4, 4]);", "T0509"},
      {"tuple-C1", "let (q, u) = num_tiles(a, [4, 4]); let g = q + u;", "let q = $num_tiles(a, [4, 4]);", "T0510"},
      {"expr-C1", "store(c, [0, 0], x);", "$x + 1;", "T0123"},
      {"expr-C1", "let q = exp(x);", "$exp(x);", "T0512"},
      {"conv-C8", "let q = x.to(f16, round: rd);", "let q = $x.to(f8e4m3, round: rd);", "T0327"},
      {"conv-C8", "let q = s.to(bf16, round: rz);", "let q = $num.to(f32, round: rz);", "T0327"},
      {"conv-C9", "let q = bitcast(x, i32);", "let q = $bitcast(x, i16);", "T0328"},
      {"conv-C9", "let q = bitcast(t8, u8);", "let q = $bitcast(p, u8);", "T0308"},
      {"div-C1", "let q = it / num;", "let q = it / $0;", "T0326"},
      {"div-C1", "let q = x / 0.0;", "let q = it % ($2 - 2);", "T0326"},
      {"cmp-C1", "let q = s < 1 && s > 0;", "let q = 0 < s $< 1;", "T0112"},
      {"grid-C2", "let q = bid(0) + num_blocks(0);", "let q = bid($3);", "T0409"},
      {"make-C1", "let q = full([4], s) + full([4], 1, f32);", "let q = full([4], $r);", "T0332"},
      {"make-C1", "let q = arange(4, f32, start: s, step: 0.5);", "let q = arange(4, $bool);", "T0308"},
      {"rand-C1", "let q = rand(num, it);", "let q = rand($s, it);", "T0223"},
      {"rand-C1", "let q = rand(num, it, word: 3);", "let q = rand(num, it, word: $4);", "T0347"},
      {"rand-C1", "let q = rand_u32(num, it, word: 1 + 1);", "let q = rand_u32(num, it, word: $-1);", "T0347"},
      {"rand-C1", "let q = rand_u32(num, it, word: 0);", "let q = rand_u32(num, it, word: $num);", "T0401"},
      {"reshape-C1", "let q = reshape(r, [2, 64]);", "let q = $reshape(r, [2, 32]);", "T0320"},
      {"axis-C1", "let q = sum(x, axis: -1);", "let q = sum(x, axis: $2);", "T0318"},
      {"axis-C1", "let q = sum(x, axis: [0, 1]);", "let q = sum(x, axis: [0, $-2]);", "T0319"},
      {"permute-C1", "let q = permute(x, [1, 0]);", "let q = permute(x, $[0, 0]);", "T0321"},
      {"shape-C1", "let q = squeeze(r[None, :], 0);", "let q = squeeze(x, $0);", "T0338"},
      {"shape-C1", "let q = broadcast_to(r, [4, 128]);", "let q = $broadcast_to(r, [4, 64]);", "T0339"},
      {"elem-C1", "let q = x[63, num];", "let q = x[$64, 0];", "T0324"},
      {"elem-C1", "let q = x[1, 2];", "let q = x$[1];", "T0323"},
      {"elem-C1", "let q = x[num, :];", "let q = x$[num, :, 0];", "T0323"},
      {"elem-C1", "let q = x[None, :, 3];", "let q = x[:, $128];", "T0324"},
      {"reduce-C1", "let q = any(p) || all(p, axis: 0)[0];", "let q = any($x);", "T0308"},
      {"reduce-C1", "let q: i32 = sum(it.to(i8));", "let q: i8 = $sum(it.to(i8));", "T0329"},
      {"reduce-C2", "let q: int = argmax(x);", "let q: i32 = $argmax(x);", "T0329"},
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
      {"array-C2", "kernel k(a: array<f32, [a0]>) { }",
       "kernel k(a: array<f32, $[a0, b, c, d, e, f, g]>) { }", "T0211"},
      {"kernel-C4", "kernel k() grid [1] requires 1 < 2 { }", "kernel k() grid [1] $grid [2] { }", "T0117"},
      {"requires-C1", "kernel k(a: array<f32, [n]>, s: f32) requires n % 4 == 0 && s > 0, aligned(a, 64) { }",
       "kernel k(a: array<f32, [n]>) requires aligned(a, $48) { }", "T0418"},
      {"requires-C1", "kernel k(n: int) requires n > 3 { }", "kernel k() requires $bid(0) > 3 { }", "T0413"},
      {"requires-C1", "kernel k<N: int = 4>() requires N > 3 { }", "kernel k<N: int = 3>() requires $N > 3 { }", "T0419"},
      {"grid-C1", "kernel k(n: int) grid [n, 2, 3] { }", "kernel k() grid $[1, 2, 3, 4] { }", "T0118"},
      {"grid-C1", "kernel k() grid [0] { }", "kernel k() grid [$-1] { }", "T0414"},
      {"hint-C1", "kernel k() hint(num_warps: 8) hint sm_90a(num_warps: 4) { }", "kernel k() hint($warps: 8) { }", "T0215"},
      {"hint-C1", "kernel k() hint(num_stages: 3) { }", "kernel k() hint(num_warps: $3) { }", "T0227"},
      {"hint-C1", "kernel k() hint sm_80(num_warps: 2) { }", "kernel k() hint $sm_81(num_warps: 2) { }", "T0216"},
      {"const-C1", "fn f(n) { if const n > 4 { return n / 2; } return n; } kernel k<B: int = f(64)>() { let q = zeros([B], f32); }",
       "fn f(n) { var p = n; return p; } kernel k<B: int = $f(64)>() { }", "T0401"},
      {"const-C1", "const N = 4; kernel k() { let q = zeros([N], f32); }", "const $N = N + 1; kernel k() { let q = zeros([N], f32); }", "T0217"},
      {"reduce-C3",
       "fn f(x, y) { return x + y; } kernel k(a: array<f32, [n]>) { let q = reduce(load(a, [0], [8]), 0, 0, f); }",
       "fn f(x, y) { return x < y; } kernel k(a: array<f32, [n]>) { let q = $reduce(load(a, [0], [8]), 0, 0, f); }",
       "T0335"},
      {"reduce-C3",
       "fn f(x, y, u, v) { return (x + u, y + v); } kernel k(a: array<f32, [n]>) { let t = load(a, [0], [8]); "
       "let (q, p) = reduce((t, t), 0, (0, 0), f); }",
       "fn f(x, y, u, v) { return (x + u, y + v); } kernel k(a: array<f32, [n]>) { let t = load(a, [0], [8]); "
       "let (q, p) = reduce((t, t), 0, $(0, 0, 0), f); }",
       "T0336"},
      {"text-C2", "kernel k(s: f32) { let q = ((((s)))); }", "", ""},
      {"text-C3", "const N = 0xffff_ffff_ffff_ffff; const X = 1.7e308;", "const N = $0x1_0000_0000_0000_0000;", "T0011"},
      {"text-C3", "const N = 1;", "const X = $1.0e309;", "T0018"},
      {"text-C4", "const N = 1_000; const X = 0b1_0; const Y = 2.5e-3;", "const N = 1$__0;", "T0014"},
      {"text-C4", "const N = 1;", "const X = 1$.;", "T0017"},
      {"text-C4", "const N = 1;", "const X = 1.0$f;", "T0015"},
      {"text-C5", "/* a /* nested */ comment */ const N = 1; // and one of a line", "const N = 1; $/* /* */", "T0008"},
  };
  for (const Rule &rule : rules) {
    EXPECT_EQ(mismatch({rule.kept, ""}, /*isBody=*/false), "")
        << rule.name.str();
    EXPECT_EQ(mismatch({rule.broken, rule.code}, /*isBody=*/false), "")
        << rule.name.str();
  }
}

/// Rules of operations that not every executor has.
TEST(SemaRules, OfOperationsByIndex) {
  CheckOptions options;
  const Rule rules[] = {
      {"gather-C1", "let q = gather(a, [it, 0], mask: it > 0);", "let q = gather(v, [$r]);", "T0223"},
      {"gather-C1", "scatter(w, [it], r);", "$scatter(w, [it], zeros([4], f32));", "T0305"},
      {"atomic-C1", "let q = atomic_add(h, [0, 0], 1);", "let q = $atomic_and(w, [it], 1);", "T0341"},
      {"atomic-C1", "let q = atomic_cas(ia, [it], 0, 1);", "let q = $atomic_xchg(h, [0, 0], 1);", "T0341"},
      {"atomic-C4", "let q = atomic_load(ia, [it], order: acquire);",
       "let q = atomic_load(ia, [it], order: $release);", "T0224"},
      {"atomic-C4", "atomic_store(ia, [it], 1, order: release);", "atomic_store(ia, [it], 1, order: $acquire);", "T0224"},
      {"cat-C1", "let q = cat(x, x, axis: 0);", "let q = $cat(x, x, x, axis: 0);", "T0340"},
      {"cat-C1", "let q = cat(r, r, r, r, axis: 0);", "let q = cat(x, $r, axis: 0);", "T0345"},
      {"slice-C1", "let q = extract(x, [num, 0], [4, 4]);", "let q = extract(x, [0, 0], $[256, 4]);", "T0345"},
      {"slice-C1", "let (q, u) = split(x, 0);", "let (q, u) = split($zeros([1, 4], f32), 0);", "T0345"},
      {"take-C1", "let q = take(x, arange(4), 0);", "let q = take(x, $zeros([4, 4], i32), 0);", "T0345"},
      {"take-C1", "let q = take(x, zeros([64, 2], i32), 1);", "let q = take(x, $zeros([4], f32), 0);", "T0308"},
      {"scan-C1", "let q = cumsum(x, axis: 1, exclusive: true);", "let q = cummax($p, axis: 0);", "T0308"},
      {"scan-C1", "let q: i32[64, 128] = cumsum(p, axis: 1);", "let q = scan$(r, 0, exp, exclusive: true);", "T0218"},
      {"sort-C1", "let (q, u) = topk(r, 8);", "let q = topk(r, $3);", "T0343"},
      {"sort-C1", "let q = histogram(it, 16);", "let q = histogram($r, 16);", "T0308"},
      {"sort-C1", "let q = sort(x, axis: 0);", "let q = sort($p, axis: 0);", "T0308"},
      {"print-C1", "print(\"{} {}\", s, r);", "$print(\"{}\");", "T0344"},
      {"assert-C1", "assert(p, \"positive\");", "assert($num);", "T0223"},
  };
  for (const Rule &rule : rules) {
    EXPECT_EQ(mismatch({rule.kept, ""}, /*isBody=*/true, options), "") << rule.name.str();
    EXPECT_EQ(mismatch({rule.broken, rule.code}, /*isBody=*/true, options), "") << rule.name.str();
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

// import-C1
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

//===- SemaAcceptTest.cpp - right programs and what they become ---*- C++
//-*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The printed checked program shows what was implicit in the source: dtypes of
// literals, casts, broadcasts, folded values, inlined fns, unrolled loops.
//
//===----------------------------------------------------------------------===//

#include "SemaTest.h"

using namespace llvm;
using namespace tilec;

namespace {

/// The checked statements of a body, without the head's.
std::string body(StringRef statements) {
  Checked checked((bodyHead + "\n" + statements + "\n}").str());
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  std::string printed = checked.printed();
  StringRef text = printed;
  // The head ends with the definition of `p`.
  text = text.substr(text.find("let p."));
  text = text.drop_front(text.find('\n') + 1);
  std::string result;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (StringRef line : lines)
    result += line.substr(std::min<size_t>(2, line.size())).str() + "\n";
  return StringRef(result).rtrim().str();
}

/// The checked expression that a `let` is given.
std::string value(StringRef expr) {
  std::string text = body(("let q = " + expr + ";").str());
  return text.substr(text.find(" = ") + 3);
}

/// What a compile-time expression is worth, by way of a store.
std::string constant(StringRef expr, StringRef type) {
  Checked checked(("kernel k(o: mut array<" + type +
                   ", [n]>) { store_at(o, [0], " + expr + "); }")
                      .str());
  EXPECT_EQ(checked.errors(), "") << expr.str() << checked.messages();
  std::string text = checked.printed();
  size_t at = text.rfind("(const ");
  if (at == std::string::npos)
    return text;
  text = text.substr(at + 7);
  return text.substr(0, text.find(" : "));
}

TEST(SemaAccept, LiteralsTakeTheOtherDType) {
  EXPECT_EQ(value("y * 2"),
            "(mul y.1 (const 2.0 : f16[64, 128]) : f16[64, 128])");
  EXPECT_EQ(value("1 - it"), "(sub (const 1 : i32[128]) it.3 : i32[128])");
  EXPECT_EQ(value("s + 0.1"), "(add s (const 0.1 : f32) : f32)");
  EXPECT_EQ(value("max(y, 0)"),
            "(max y.1 (const 0.0 : f16[64, 128]) : f16[64, 128])");
  EXPECT_EQ(value("where(p, y, -inf)"),
            "(where p.5 y.1 (const -inf : f16[64, 128]) : f16[64, 128])");
  EXPECT_EQ(value("where(p, 1, 0)"),
            "(where p.5 (const 1 : int[64, 128]) (const 0 : int[64, 128]) : "
            "int[64, 128])");
  EXPECT_EQ(body("let one = 1 / 3.0; let q = y + one;"),
            "let q.6: f16[64, 128] = (add y.1 (const 0.3333 : f16[64, 128]) : "
            "f16[64, 128])");
  EXPECT_EQ(body("var q = 0; var u = 1.5;"),
            "var q.6: int = (const 0 : int)\nvar u.7: f32 = (const 1.5 : f32)");
}

TEST(SemaAccept, IntBesideOtherIntegers) {
  EXPECT_EQ(value("num + big"), "(add num (cast big : i32) : i32)");
  EXPECT_EQ(value("BM + num"), "(add (const 64 : i32) num : i32)");
  EXPECT_EQ(value("it * bid(0)"),
            "(mul it.3 (splat (cast (bid 0) : i32) : i32[128]) : i32[128])");
  EXPECT_EQ(value("arange(BN) < n"),
            "(lt (arange (const 0 : int) (const 1 : int) : int[128]) "
            "(splat (dim a 1 : int) : int[128]) : bool[128])");
  EXPECT_EQ(value("load(v, [num], [4])"),
            "(load v [(cast num : int)] pad (const 0.0 : f32) : f32[4])");
}

TEST(SemaAccept, Broadcasting) {
  EXPECT_EQ(value("x + s"),
            "(add x.0 (splat s : f32[64, 128]) : f32[64, 128])");
  EXPECT_EQ(value("x + r"), "(add x.0 (broadcast (reshape r.2 : f32[1, 128]) : "
                            "f32[64, 128]) : f32[64, 128])");
  EXPECT_EQ(value("r[:, None] * r"),
            "(mul (broadcast (reshape r.2 : f32[128, 1]) : f32[128, 128]) "
            "(broadcast (reshape r.2 : f32[1, 128]) : f32[128, 128]) : "
            "f32[128, 128])");
  EXPECT_EQ(value("x - max(x, axis: 1, keep: true)"),
            "(sub x.0 (broadcast (reshape (max axes [1] x.0 : f32[64]) : "
            "f32[64, 1]) : f32[64, 128]) : f32[64, 128])");
}

/// A choice between literals takes the other operand's dtype; alone it has its own.
TEST(SemaAccept, ChoicesBetweenLiterals) {
  EXPECT_EQ(value("t8.to(f16) * where(t8.to(f32) > 0.0, 1, -1)"),
            "(mul (cast t8.4 : f16[64, 128]) (where (gt (cast t8.4 : f32[64, 128]) "
            "(const 0.0 : f32[64, 128]) : bool[64, 128]) (const 1.0 : f16[64, 128]) "
            "(const -1.0 : f16[64, 128]) : f16[64, 128]) : f16[64, 128])");
  EXPECT_EQ(value("where(it > 0, 1, 0)"),
            "(where (gt it.3 (const 0 : i32[128]) : bool[128]) (const 1 : int[128]) "
            "(const 0 : int[128]) : int[128])");
}

TEST(SemaAccept, Conversions) {
  EXPECT_EQ(value("x.to(f16)"), "(cast x.0 : f16[64, 128])");
  EXPECT_EQ(value("x.to(f32)"), "x.0");
  EXPECT_EQ(value("s.to(f16, round: rz)"), "(cast rz s : f16)");
  EXPECT_EQ(value("it.to(f8e4m3)"),
            "(cast (cast it.3 : f32[128]) : f8e4m3[128])");
  EXPECT_EQ(value("t8.to(i32)[:, :, None]"),
            "(reshape (cast (cast t8.4 : f32[64, 128]) : i32[64, 128]) : "
            "i32[64, 128, 1])");
  EXPECT_EQ(value("bitcast(s, i32)"), "(bitcast s : i32)");
  EXPECT_EQ(value("num.to(f32) / 2"),
            "(div (cast num : f32) (const 2.0 : f32) : f32)");
}

TEST(SemaAccept, ShortCircuitAndConditional) {
  EXPECT_EQ(
      value("flag && num > 0"),
      "(if flag (gt num (const 0 : i32) : bool) (const false : bool) : bool)");
  EXPECT_EQ(
      value("flag || num > 0"),
      "(if flag (const true : bool) (gt num (const 0 : i32) : bool) : bool)");
  EXPECT_EQ(value("p && p"), "(and p.5 p.5 : bool[64, 128])");
  EXPECT_EQ(value("flag ? s : 1"), "(if flag s (const 1.0 : f32) : f32)");
  EXPECT_EQ(body("let q = BM > 32 ? 1 : 2; let u = zeros([q], f32);"),
            "let u.6: f32[1] = (const 0.0 : f32[1])");
}

TEST(SemaAccept, Fns) {
  // One return of an expression: no trace of the call is left.
  Checked plain("fn silu(x) { return x / (1 + exp(-x)); } kernel k(s: f32, c: "
                "mut array<f32, [n]>) { "
                "store_at(c, [0], silu(s)); }");
  EXPECT_NE(plain.printed().find("store_at c [(const 0 : int)] (div s (add "
                                 "(const 1.0 : f32) (exp (neg s : f32) : "
                                 "f32) : f32) : f32)"),
            std::string::npos)
      << plain.printed();
  // Early returns: variables of the results, and exits.
  Checked early("fn f(x, y = 0.5) { if x > 0 { return y; } return x; } kernel "
                "k(s: f16, c: mut array<f16, [n]>) { "
                "store_at(c, [0], f(s)); }");
  EXPECT_NE(early.printed().find(R"((inline f {
   var f.0: f16
   if (gt s (const 0.0 : f16) : bool) assigns f.0 {
    f.0 = (const 0.5 : f16)
    return from f
   }
   f.0 = s
  } → f.0 : f16))"),
            std::string::npos)
      << early.printed();
}

TEST(SemaAccept, EffectsOfAFnStayWhereItIsCalled) {
  Checked checked(
      "fn f(c) { store_at(c, [0], 1.0); return 2; } "
      "kernel k(c: mut array<f32, [n]>, b: bool) { let q = b ? f(c) : 3; }");
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  EXPECT_NE(checked.printed().find("(if b (inline f {\n   store_at c"),
            std::string::npos)
      << checked.printed();
}

TEST(SemaAccept, FnsOfOtherThings) {
  // Arrays, dtypes, fns, compile-time values, results used at compile time.
  Checked checked(R"(
fn get(arr, T, N) { return load(arr, [0], [N]).to(T); }
fn twice(f, x) { return f(f(x)); }
fn halve(x) { return x / 2; }
fn pair(x) { return (x + 1, x - 1); }
fn shape(n) { if const n > 4 { return n / 2; } return n; }
kernel k(a: array<f16, [n]>, c: mut array<f32, [n]>) {
  let v = get(a, f32, shape(32));
  let (p, q) = pair(twice(halve, v));
  store(c, [0], p * q);
})");
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  EXPECT_NE(checked.printed().find("(cast (load a [(const 0 : int)] pad (const "
                                   "0.0 : f16) : f16[16]) : f32[16])"),
            std::string::npos)
      << checked.printed();
}

TEST(SemaAccept, CompileTimeControlFlow) {
  EXPECT_EQ(
      body("if const BM > 128 { nonsense(1); } else { store(w, [0], r); }"),
      "scope {\n store w [(const 0 : int)] r.2\n}");
  EXPECT_EQ(body("for const i in 0..2 { store(w, [i], r * i.to(f32)); }"),
            "scope {\n store w [(const 0 : int)] (mul r.2 (const 0.0 : "
            "f32[128]) : f32[128])\n}\n"
            "scope {\n store w [(const 1 : int)] (mul r.2 (const 1.0 : "
            "f32[128]) : f32[128])\n}");
  EXPECT_EQ(body("const N = BN / 2; let q = zeros([N, cdiv(N, 3) + 10], f32);"),
            "let q.6: f32[64, 32] = (const 0.0 : f32[64, 32])");
}

TEST(SemaAccept, DefiniteAssignment) {
  for (StringRef text :
       {"var q: f32; if flag { q = 1; } else { q = 2; } let u = q;",
        "var q: f32; while true { q = 1; if flag { break; } } let u = q;",
        "var q: f32; for i in 0..4 { q = 1; } let u = q;",
        "var q: f32; if flag { return; } else { q = 2; } let u = q;",
        "for i in 0..big { var q: f32; if flag { continue; } else { q = 1; } "
        "let u = q; }",
        "var q: f32; q = 1; q += 2;"})
    EXPECT_EQ(Checked((bodyHead + text + "}").str()).errors(), "")
        << text.str();
}

TEST(SemaAccept, ScopesAndShadowing) {
  EXPECT_EQ(body("let q = s; { let q = num; } if flag { let q = x; }"),
            "let q.6: f32 = s\nscope {\n let q.7: i32 = num\n}\nif flag {\n "
            "let q.8: f32[64, 128] = x.0\n}");
  // The body is a scope inside that of the parameters.
  EXPECT_EQ(body("let s = s + 1; let n = 4; let q = zeros([n], f32);"),
            "let s.6: f32 = (add s (const 1.0 : f32) : f32)\nlet q.7: f32[4] = "
            "(const 0.0 : f32[4])");
}

TEST(SemaAccept, LoopsSayWhatTheyAssign) {
  EXPECT_EQ(body("var q = 0; var u = 0; for i in 0..n { q += i; if flag { u = "
                 "1; break; } }"),
            "var q.6: int = (const 0 : int)\nvar u.7: int = (const 0 : int)\n"
            "for i.8 in (const 0 : int) (dim a 1 : int) (const 1 : int) "
            "assigns q.6, u.7 {\n"
            " q.6 = (add q.6 i.8 : int)\n if flag assigns u.7 {\n  u.7 = "
            "(const 1 : int)\n  break\n }\n}");
}

TEST(SemaAccept, Reductions) {
  EXPECT_EQ(value("sum(x)"), "(sum axes [0, 1] x.0 : f32)");
  EXPECT_EQ(value("sum(p, axis: -1)"),
            "(sum axes [1] (cast p.5 : i32[64, 128]) : i32[64])");
  EXPECT_EQ(value("prod(it.to(u8), axis: [0])"),
            "(prod axes [0] (cast (cast it.3 : u8[128]) : u32[128]) : u32)");
  EXPECT_EQ(value("argmax(x, axis: 0)"), "(argmax axes [0] x.0 : int[128])");
  EXPECT_EQ(value("any(p, axis: 1, keep: true)"),
            "(reshape (any axes [1] p.5 : bool[64]) : bool[64, 1])");
  EXPECT_EQ(value("max(x, axis: [1, 0])"), "(max axes [0, 1] x.0 : f32)");
}

TEST(SemaAccept, CustomReduce) {
  Checked checked(R"(
fn welford(m0, c0, m1, c1) { let c = c0 + c1; return ((m0 * c0 + m1 * c1) / max(c, 1), c); }
kernel k(a: array<f32, [n]>, c: mut array<f32, [n]>) {
  let v = load(a, [0], [64]);
  let (m, w) = reduce((v, ones([64], f32)), 0, (0, 0), welford);
  store_at(c, [0], m / w);
})");
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  EXPECT_NE(checked.printed().find("let .8: f32, .9: f32 = (reduce axes [0]"),
            std::string::npos)
      << checked.printed();
}

TEST(SemaAccept, Elements) {
  EXPECT_EQ(value("r[num]"), "(element r.2 [(cast num : int)] : f32)");
  EXPECT_EQ(value("zeros([1, 1], f32)[0, 0]"), "(const 0.0 : f32)");
  for (StringRef expr : {"y[0, num]", "p[1, 2]", "t8[0, 0]", "it.to(i8)[5]",
                         "arange(4)[big]", "x.to(tf32)[0, 0]"})
    EXPECT_FALSE(value(expr).empty());
}

TEST(SemaAccept, Mma) {
  EXPECT_EQ(value("y @ transpose(y)"),
            "(mma y.1 (permute [1, 0] y.1 : f16[128, 64]) (const 0.0 : f32[64, "
            "64]) : f32[64, 64])");
  EXPECT_EQ(value("mma(y, transpose(y), zeros([BM, BM], f16))"),
            "(mma y.1 (permute [1, 0] y.1 : f16[128, 64]) (const 0.0 : f16[64, "
            "64]) : f16[64, 64])");
  EXPECT_EQ(value("mma(t8, transpose(t8.to(f8e5m2)), zeros([BM, BM], f32), "
                  "precision: fast)")
                .substr(0, 9),
            "(mma fast");
  EXPECT_EQ(value("zeros([2, 4, 8], f16) @ zeros([1, 8, 4], f16)"),
            "(mma (const 0.0 : f16[2, 4, 8]) (const 0.0 : f16[2, 8, 4]) (const "
            "0.0 : f32[2, 4, 4]) : f32[2, 4, 4])");
}

TEST(SemaAccept, HostExpressions) {
  Checked checked("kernel k<B: int = 64>(a: array<f32, [m, 8]>, s: f32, i: "
                  "i32, u: u32, b: bool, z: mut array<f32, [m]>)\n"
                  "requires m % B == 0 && !b, s > 0.1, i * 2 < 5, u - 1 > 3, "
                  "aligned(a, 128) || m < 4, 8 == a.shape[1],\n"
                  "max(m, 4) >= 4, (b ? m : 4) != 0, num_sms() * 2 > m\n"
                  "grid [cdiv(m, B), i, z.shape[0] + 1] { }");
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  const checked::Kernel &kernel = *checked.program->kernels.front();
  std::vector<std::string> texts = kernel.grid;
  for (const checked::Requirement &requirement : kernel.requirements)
    texts.push_back(requirement.hostText);
  EXPECT_EQ(
      texts,
      (std::vector<std::string>{
          "cdiv(dim(0, 0), 64)", "arg(2)", "dim(0, 0) + 1",
          "dim(0, 0) % 64 == 0 && !arg(4)", "arg(1) > 0.10000000149011612",
          "mod(arg(2) * 2 + 2147483648, 4294967296) - 2147483648 < 5",
          "mod(arg(3) - 1, 4294967296) > 3", "aligned(0, 128) || dim(0, 0) < 4",
          "max(dim(0, 0), 4) >= 4", "(arg(4) ? dim(0, 0) : 4) != 0",
          "num_sms() * 2 > dim(0, 0)"}));
  EXPECT_EQ(kernel.requirements[0].text, "m % B == 0 && !b");
  EXPECT_EQ(kernel.requirements[4].condition, nullptr);
}

TEST(SemaAccept, Instances) {
  const char *text =
      "kernel k<T: float, B: int = 4>() { let q = zeros([B], T); }\n"
      "specialize k<f16, B: 8> as k8; specialize k<f32> as kf;";
  EXPECT_EQ(Checked(text).program->kernels.size(), 2u);
  CheckOptions options;
  options.defines = {"T=bf16", "k.B=2", "k8.B=64"};
  Checked all(text, options, {"k<f64, B: 16>", "k<f16> as mine"});
  ASSERT_NE(all.program, nullptr) << all.messages();
  std::string names;
  for (const auto &kernel : all.program->kernels)
    names += kernel->name.str() + "<" + kernel->constants[0].text + "," +
             kernel->constants[1].text + "> ";
  EXPECT_EQ(names,
            "k<bf16,2> k8<f16,8> kf<f32,2> k_f64_B_16<f64,16> mine<f16,2> ");
  options.kernel = "kf";
  EXPECT_EQ(Checked(text, options).program->kernels.size(), 1u);
}

TEST(SemaAccept, Constants) {
  EXPECT_EQ(constant("7 / 2", "i32"), "3");
  EXPECT_EQ(constant("-7 / 2", "i32"), "-3");
  EXPECT_EQ(constant("floordiv(-7, 2)", "i32"), "-4");
  EXPECT_EQ(constant("cdiv(-7, 2)", "i32"), "-3");
  EXPECT_EQ(constant("-7 % 2", "i32"), "-1");
  EXPECT_EQ(constant("mod(-7, 2)", "i32"), "1");
  EXPECT_EQ(constant("mod(-7.5, 2.0)", "f32"), "0.5");
  EXPECT_EQ(constant("7.0 / 2", "f32"), "3.5");
  EXPECT_EQ(constant("(100).to(i8) + 100", "i8"), "-56");
  EXPECT_EQ(constant("(-128).to(i8) / -1", "i8"), "-128");
  EXPECT_EQ(constant("(1).to(i8) << 7", "i8"), "-128");
  EXPECT_EQ(constant("(1).to(u8) << 8", "u8"), "0");
  EXPECT_EQ(constant("(-1).to(i8) >> 100", "i8"), "-1");
  EXPECT_EQ(constant("(1).to(i32) << -1", "i32"), "0");
  EXPECT_EQ(constant("(200).to(u8) + 100", "u8"), "44");
  EXPECT_EQ(constant("~(0).to(u16)", "u16"), "65535");
  EXPECT_EQ(constant("mulhi((-2).to(i32), 3)", "i32"), "-1");
  EXPECT_EQ(constant("mulhi((0xffffffffffffffff).to(u64), 0xffffffffffffffff)",
                     "u64"),
            "18446744073709551614");
  EXPECT_EQ(
      constant("clz((0).to(i16)) + ctz((8).to(i16)) + popcount((-1).to(i16))",
               "i16"),
      "35");
  EXPECT_EQ(constant("(3.99).to(i32)", "i32"), "3");
  EXPECT_EQ(constant("(1e30).to(i32)", "i32"), "2147483647");
  EXPECT_EQ(constant("nan.to(i32)", "i32"), "0");
  EXPECT_EQ(constant("(-1.5).to(u8)", "u8"), "0");
  EXPECT_EQ(constant("inf.to(f8e4m3)", "f8e4m3"), "4.5E+2");
  EXPECT_EQ(constant("inf.to(f8e5m2)", "f8e5m2"), "6.0E+4");
  EXPECT_EQ(constant("(1e9).to(f32).to(f16)", "f16"), "inf");
  EXPECT_EQ(constant("(1.1).to(f64).to(bf16, round: rd) ", "bf16"), "1.09");
  EXPECT_EQ(constant("max(nan, 1.0)", "f32"), "nan");
  EXPECT_EQ(constant("maxnum(nan, 1.0)", "f32"), "1.0");
  EXPECT_EQ(constant("min(0.0, -0.0)", "f32"), "-0.0");
  EXPECT_EQ(constant("round(2.5)", "f32"), "2.0");
  EXPECT_EQ(constant("nan != nan", "bool"), "true");
  EXPECT_EQ(constant("nan < 1.0 || nan >= 1.0", "bool"), "false");
  EXPECT_EQ(constant("nan.to(bool)", "bool"), "true");
  EXPECT_EQ(constant("true.to(f16)", "f16"), "1.0");
  EXPECT_EQ(constant("bitcast((1.0).to(f32), u32)", "u32"), "1065353216");
  EXPECT_EQ(constant("16777217", "f32"), "16777216.0");
  EXPECT_EQ(constant("0.1", "f64"), "0.1");
}

} // namespace

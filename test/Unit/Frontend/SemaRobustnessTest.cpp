//===- SemaRobustnessTest.cpp - mutated programs never crash ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Right programs with tokens replaced, removed, doubled and exchanged at random
// go through parser and checker. What holds for each: the checker returns;
// there is a program exactly when there is no error; the program can be
// printed; every message can be printed, and is inside the text.
//
//===----------------------------------------------------------------------===//

#include "SemaTest.h"
#include "tilec/Frontend/Lexer.h"
#include <random>

using namespace llvm;
using namespace tilec;

namespace {

const StringRef programs[] = {
    R"(
kernel matmul<T: float = bf16, BM: int = 64, BN: int = 32, BK: int = 16>(
    a: array<T, [m, k]>, b: array<T, [k, n]>, c: mut strided array<T, [m, n]>, alpha: f32, flag: bool, num: i32)
  requires k % 8 == 0, aligned(a, 16), alpha > 0.0 || flag
  grid [cdiv(m, BM), cdiv(n, BN)]
  hint(num_warps: 4)
{
  var acc = zeros([BM, BN], f32);
  for i in 0..cdiv(k, BK) {
    acc = mma(load(a, [bid(0), i], [BM, BK], pad: 0), load(b, [i, bid(1)], [BK, BN]), acc);
    if flag && num > 3 { break; }
  }
  let scaled = acc * alpha + arange(BN, f32)[None, :];
  store(c, [bid(0), bid(1)], where(scaled > 0, scaled, -scaled).to(T));
}
specialize matmul<f16, BM: 128> as big;
)",
    R"(
const N = (1 << 4) + 2 * 8;
fn silu(x) { return x / (1 + exp(-x)); }
fn pick(x, y = 0.5) { if x > 0 { return x; } else { return y; } }
fn pair(x, n) { let t = reshape(x, [n, 2]); return (sum(t, axis: 1), max(t, axis: 1)); }
fn combine(m0, c0, m1, c1) { return (m0 + m1, max(c0, c1)); }
static_assert(N == 32, "N");
kernel k(a: array<f32, [n]>, w: mut array<f32, [n]>, h: mut array<i32, [n, 4]>, s: f32) grid [n] {
  let v = silu(load(a, [0], [N]));
  let (p, q) = pair(v, N / 2);
  let (r, t) = reduce((v, v), 0, (0, -inf), combine);
  var u: f32;
  if r > t { u = pick(s); } else { u = pick(t, y: 1); }
  for const i in 0..3 { store_at(w, [i], u * (i + 1).to(f32)); }
  while u < 100.0 { u *= 2.0; if u == 64.0 { continue; } }
  let x = load_at(h, [num_blocks(0), 1]) ^ 0x1F;
  store(h, [bid(0), 0], full([1, 4], x << 2, i32) | arange(4, i32)[None, :]);
  fast { store_at(w, [a.shape[0] - 1], clamp(u, 0.0, 1.0)); }
  if const N > 8 { return; } else { nothing(); }
}
)",
    R"(
fn apply(f, x, T) { return f(x).to(T); }
kernel shapes<T: number = i32, ON: bool = true>(a: array<T, [4, n, 8]>, o: mut array<T, [n]>, b: mut array<bool, [n]>) {
  let x = load(a, [0, bid(0), 0], [4, 16, 8], order: [2, 1, 0]);
  let y = permute(x, [2, 0, 1]);
  let z = transpose(y) @ y;
  let (i, j, l) = num_tiles(a, [1, 2, 4]);
  let m = argmax(squeeze(expand_dims(sum(x.to(f32), axis: [0, 2]), 0), 0));
  var best = ON ? m : i;
  best = min(best, j * l);
  store_at(o, [best], best.to(T));
  store(b, [0], broadcast_to(any(x > 2, axis: 0), [8, 16, 8])[0, 0, 0] ? isnan(zeros([4], f16)) : ones([4], bool));
  let e = bitcast(x, u32) >> 3;
  let g = apply(exp, 1.5, f16) + apply(sqrt, 2.0, f16);
  let f8 = zeros([16, 16], f8e4m3);
  let acc = mma(f8, f8, zeros([16, 16], f32), precision: fast).to(bf16, round: rz);
}
)"};

std::vector<std::string> tokens(StringRef text) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  FileId id = sources.addText("p", text);
  Lexer lexer(id, sources, diags);
  std::vector<std::string> result;
  for (Token t = lexer.next(); !t.is(TokenKind::EndOfFile); t = lexer.next())
    result.push_back(t.text.str());
  return result;
}

/// Checks what holds for every text; returns whether it is correct.
bool check(const std::string &text) {
  CheckOptions options;
  std::string printed;
  raw_string_ostream os(printed);
  options.staticPrint = &os;
  Checked checked(text, options);
  EXPECT_EQ(checked.program == nullptr, checked.diags.hasErrors()) << text;
  for (const Diagnostic &d : checked.stored.list)
    if (d.range.isValid()) {
      EXPECT_LE(d.range.begin, d.range.end);
      EXPECT_LE(d.range.end, checked.sources.getLoc(0, text.size()));
    }
  checked.messages();
  checked.printed();
  return checked.program != nullptr;
}

TEST(SemaRobustness, ThePrograms) {
  EXPECT_TRUE(check(programs[0].str()));
  EXPECT_TRUE(check(programs[1].str()));
  EXPECT_FALSE(
      check(programs[2].str())); // one of its kernels is wrong on purpose
}

TEST(SemaRobustness, EveryMissingToken) {
  for (StringRef program : programs) {
    const std::vector<std::string> list = tokens(program);
    for (size_t skip = 0; skip < list.size(); ++skip) {
      std::string text;
      for (size_t i = 0; i < list.size(); ++i)
        if (i != skip)
          text += list[i] + (i % 12 ? " " : "\n");
      check(text);
    }
  }
}

TEST(SemaRobustness, RandomMutations) {
  std::vector<std::vector<std::string>> lists;
  std::vector<std::string> pool = {"0",      "-1",
                                   "1.5",    "inf",
                                   "true",   "i8",
                                   "f8e4m3", "tf32",
                                   "bool",   "int",
                                   "[]",     "None",
                                   ":",      "(x, y)",
                                   "[2]",    "cat",
                                   "gather", "scan",
                                   "sort",   "print",
                                   "bid",    "18446744073709551615",
                                   "1e300",  "fn",
                                   "var",    "\"s\"",
                                   "axis",   "order"};
  for (StringRef program : programs) {
    lists.push_back(tokens(program));
    pool.insert(pool.end(), lists.back().begin(), lists.back().end());
  }
  std::mt19937 random(7);
  auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  unsigned numCorrect = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> list = lists[below(lists.size())];
    for (size_t change = 0, count = 1 + below(3); change < count; ++change) {
      const size_t at = below(list.size());
      switch (below(4)) {
      case 0:
        list[at] = pool[below(pool.size())];
        break;
      case 1:
        list.erase(list.begin() + at);
        break;
      case 2:
        list.insert(list.begin() + at, pool[below(pool.size())]);
        break;
      default:
        std::swap(list[at], list[below(list.size())]);
        break;
      }
    }
    std::string text;
    for (const std::string &token : list)
      text += token + " ";
    numCorrect += check(text);
  }
  EXPECT_GT(numCorrect, 20u); // mutations are not all refused by the parser
}

} // namespace

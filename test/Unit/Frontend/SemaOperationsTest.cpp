//===- SemaOperationsTest.cpp - slices, indices, order, debugging ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Slices, gathers, atomics, scans, sorts, random numbers, printing: what is accepted, and
// what the checker makes of it.
//
//===----------------------------------------------------------------------===//

#include "SemaTest.h"

using namespace llvm;
using namespace tilec;

namespace {

void expectBodies(ArrayRef<WrongProgram> cases) {
  for (const WrongProgram &wrong : cases)
    EXPECT_EQ(mismatch(wrong, /*isBody=*/true), "");
}

/// The last checked statements of a body.
std::string last(StringRef statement) {
  Checked checked((bodyHead + statement + "\n}").str());
  EXPECT_EQ(checked.errors(), "") << checked.messages();
  std::string text = checked.printed();
  text = text.substr(text.find('\n', text.find("let p.")) + 1);
  return StringRef(text).trim().str();
}

TEST(SemaOperations, Slices) {
  EXPECT_EQ(last("let q = cat(x, x, axis: 0);"),
            "let q.6: f32[128, 128] = (cat axis 0 [x.0, x.0] : f32[128, 128])");
  EXPECT_EQ(last("let (q, u) = split(r, 0);"),
            "let .6: f32[128] = r.2\n  let q.7: f32[64] = (extract .6 [(const "
            "0 : int)] : f32[64])\n"
            "  let u.8: f32[64] = (extract .6 [(const 1 : int)] : f32[64])");
  EXPECT_EQ(last("let q = extract(x, [num, 0], [4, 4]);"),
            "let q.6: f32[4, 4] = (extract x.0 [(cast num : int), (const 0 : "
            "int)] : f32[4, 4])");
  EXPECT_EQ(last("let q = insert(r, [2], zeros([4], f32));"),
            "let q.6: f32[128] = (insert r.2 [(const 2 : int)] (const 0.0 : "
            "f32[4]) : f32[128])");
  EXPECT_EQ(last("let q = take(x, arange(4), 0);"),
            "let q.6: f32[4, 128] = (take axis 0 x.0 (arange (const 0 : int) "
            "(const 1 : int) : int[4]) : f32[4, 128])");
  EXPECT_EQ(
      last("let q = x[3, num];"),
      "let q.6: f32 = (element x.0 [(const 3 : int), (cast num : int)] : f32)");
  EXPECT_EQ(last("let q = flip(r, -1);"),
            "let q.6: f32[128] = (flip axis 0 r.2 : f32[128])");
  expectBodies({
      {"let q = $cat(x, x, x, axis: 0);", "T0340"},
      {"let q = $cat(x, y, axis: 0);", "T0306"},
      {"let q = cat(x, $r, axis: 0);", "T0345"},
      {"let q = cat(x, $s, axis: 0);", "T0322"},
      {"let q = cat(x, x, axis: $2);", "T0318"},
      {"let q = cat$(x, x);", "T0218"},
      {"let q = $cat(zeros([1 << 20], f32), zeros([1 << 20], f32), axis: 0);",
       "T0303"},
      {"let (q, u) = split($zeros([1, 4], f32), 0);", "T0345"},
      {"let q = extract(x, $[0], [4, 4]);", "T0223"},
      {"let q = extract(x, [0, 0], $[4]);", "T0345"},
      {"let q = extract(x, [0, 0], $[256, 4]);", "T0345"},
      {"let q = $insert(x, [0, 0], y);", "T0306"},
      {"let q = flip(x, $2);", "T0318"},
      {"let q = take(x, $zeros([4], f32), 0);", "T0308"},
      {"let q = take(x, $zeros([4, 4], i32), 0);", "T0345"},
  });
}

TEST(SemaOperations, GatherAndAtomics) {
  EXPECT_EQ(last("let q = gather(v, [it], mask: it > 0, pad: 1);"),
            "let q.6: f32[128] = (gather v [it.3] mask (gt it.3 (const 0 : "
            "i32[128]) : bool[128]) pad (const 1.0 : "
            "f32) : f32[128])");
  EXPECT_EQ(last("let q = gather(a, [it, 0]);"),
            "let q.6: f32[128] = (gather a [it.3, (const 0 : int[128])] pad "
            "(const 0.0 : f32) : f32[128])");
  EXPECT_EQ(last("scatter(w, [it], 0.5);"),
            "scatter w [it.3] (const 0.5 : f32[128])");
  EXPECT_EQ(last("atomic_add(w, [it], r, order: release, scope: sys);"),
            "eval (atomic_add w [it.3] r.2 : f32[128])");
  EXPECT_EQ(last("let q = atomic_cas(ia, [0], 1, 2);"),
            "let q.6: i32 = (atomic_cas ia [(const 0 : int)] (const 1 : i32) "
            "(const 2 : i32) : i32)");
  EXPECT_EQ(
      last("atomic_store(ia, [0], 7);"),
      "eval (atomic_store ia [(const 0 : int)] (const 7 : i32) : nothing)");
  expectBodies({
      {"let q = gather(v, $it);", "T0223"},
      {"let q = gather(a, $[it]);", "T0309"},
      {"let q = gather(v, [$r]);", "T0223"},
      {"let q = gather(v, [it], mask: $it);", "T0223"},
      {"let q = $gather(a, [it, arange(4)]);", "T0305"},
      {"scatter($v, [it], r);", "T0314"},
      {"scatter(w, [it], $it);", "T0312"},
      {"$scatter(w, [it], zeros([4], f32));", "T0305"},
      {"atomic_add($b, [0, 0], 1);", "T0314"},
      {"$atomic_and(w, [it], 1);", "T0341"},
      {"atomic_add(w, [it], r, order: $strong);", "T0224"},
      {"atomic_store(ia, [it], 1, order: $acquire);", "T0224"},
      {"let q = atomic_load(ia, [it], order: $release);", "T0224"},
      {"$atomic_xchg(h, [0, 0], 1);", "T0341"},
  });
}

TEST(SemaOperations, ScansAndSorts) {
  EXPECT_EQ(last("let q = cumsum(p, axis: 1, reverse: true);"),
            "let q.6: i32[64, 128] = (cumsum axis 1 reverse (cast p.5 : "
            "i32[64, 128]) : i32[64, 128])");
  EXPECT_EQ(last("let q = cummax(r, exclusive: true);"),
            "let q.6: f32[128] = (cummax axis 0 exclusive r.2 : f32[128])");
  EXPECT_EQ(last("let (q, u) = sort((r, it), descending: true);"),
            "let .6: f32[128], .7: i32[128] = (sort axis 0 descending [r.2, "
            "it.3] : f32[128])\n"
            "  let q.8: f32[128] = .6\n  let u.9: i32[128] = .7");
  EXPECT_EQ(last("let q = argsort(x, axis: 0);"),
            "let q.6: int[64, 128] = (argsort axis 0 x.0 : int[64, 128])");
  EXPECT_EQ(last("let (q, u) = topk(x, 4, axis: 1);").substr(0, 39),
            "let .6: f32[64, 4], .7: int[64, 4] = (t");
  EXPECT_EQ(last("let q = histogram(it, 16);"),
            "let q.6: i32[16] = (histogram it.3 : i32[16])");
  Checked scan(
      "fn f(x, y) { return x + y; } kernel k(a: array<f32, [n]>) { "
      "let q = scan(load(a, [0], [8]), 0, f, exclusive: true, init: 0); }");
  EXPECT_EQ(scan.errors(), "") << scan.messages();
  expectBodies({
      {"let q = cumsum$(x);", "T0218"},
      {"let q = cumsum($s);", "T0322"},
      {"let q = cummax($p, axis: 0);", "T0308"},
      {"let q = cumsum(r, reverse: $flag);", "T0401"},
      {"let q = sort($p, axis: 0);", "T0308"},
      {"let (q, u) = sort((r, $x));", "T0345"},
      {"let q = topk(r, $3);", "T0343"},
      {"let q = topk(r, $256);", "T0343"},
      {"let q = histogram($r, 16);", "T0308"},
      {"let q = histogram(it, $10);", "T0301"},
      {"let q = scan$(r, 0, exp, exclusive: true);", "T0218"},
      {"let q = scan(r, 0, $1);", "T0223"},
  });
}

TEST(SemaOperations, RandomAndPrinting) {
  EXPECT_EQ(last("let q = rand_u32(7, arange(4));"),
            "let q.9: u32[4] = (inline rand_u32 {\n   let seed.6: u64 = (const "
            "7 : u64)\n"
            "   let offsets.7: u64[4] = (cast (arange (const 0 : int) (const 1 "
            ": int) : int[4]) : u64[4])\n"
            "   let rand_u32.8: u32[4] = (rand_u32 word 0 seed.6 offsets.7 : "
            "u32[4])\n"
            "  } → rand_u32.8 : u32[4])");
  EXPECT_NE(last("let q = randn(num, it);").find("(rand_u32 word 1"),
            std::string::npos);
  EXPECT_EQ(last("print(\"a {} b {}\", s, 1);"),
            "print \"a \" \" b \" \"\" s (const 1 : int)");
  EXPECT_EQ(last("assert(p, \"positive\");"), "assert p.5 \"positive\"");
  EXPECT_EQ(last("assert(num > 0);"),
            "assert (gt num (const 0 : i32) : bool) \"num > 0\"");
  expectBodies({
      {"let q = rand($s, 0);", "T0223"},
      {"let q = rand($it, 0);", "T0223"},
      {"let q = rand(0, $r);", "T0223"},
      {"$print(\"{}\");", "T0344"},
      {"print(\"{}\", $a);", "T0334"},
      {"print($s);", "T0223"},
      {"assert($num);", "T0223"},
      {"assert(p, $1);", "T0223"},
  });
}

} // namespace

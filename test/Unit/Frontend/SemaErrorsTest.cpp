//===- SemaErrorsTest.cpp - wrong statements and their errors ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each case gives exactly the errors it names, at the places marked `$`: a
// cascade, a second message about the same mistake, fails the test.
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

TEST(SemaErrors, Names) {
  expectBodies({
      {"let q = $nothing_like_this;", "T0202"},
      {"let q = $lod(a, [0, 0], [BM, BN]);", "T0202"},
      {"let q = $tl.load(a);", "T0202"},
      {"$undefined = 1;", "T0202"},
      {"let q = 1; let $q = 2;", "T0201"},
      {"let (q, $q) = num_tiles(a, [4, 4]);", "T0201"},
      {"let q = s; let u = q + $q2;", "T0202"},
  });
}

TEST(SemaErrors, NamesThatAreNotValues) {
  expectBodies({
      {"let q = $f32 + 1;", "T0203"},
      {"let q = $exp + 1;", "T0203"},
      {"let q = $k + 1;", "T0203"},
      {"let q = $a + 1.0;", "T0334"},
      {"let q = $a[0, 0];", "T0334"},
      {"let q = $a.shape + 1;", "T0203"},
      {"let q = $[1, 2];", "T0203"},
      {"let q = $exp;", "T0203"},
      {"let q = $num_tiles(a, [4, 4]) + 1;", "T0510"},
      {"let q = $num_tiles(a, [4, 4]);", "T0510"},
      {"let q = $store(c, [0, 0], x);", "T0330"},
      {"let q = x.$T;", "T0207"},
      {"let q = x.$shape[0];", "T0207"},
      {"let q = a.$rank;", "T0207"},
  });
}

TEST(SemaErrors, Calls) {
  expectBodies({
      {"let q = $s(1);", "T0204"},
      {"let q = $f32(s);", "T0204"},
      {"let max = 1.0; let q = $max(x);", "T0204"},
      {"let q = x.$sum(axis: 1);", "T0207"},
      {"let q = x.$astype(f16);", "T0207"},
      {"$k(1);", "T0205"},
      {"let q = exp$();", "T0218"},
      {"let q = exp(x, $x);", "T0219"},
      {"let q = load(a, [0, 0], [4, 4], $0.0);", "T0221"},
      {"let q = sum(x, $1);", "T0221"},
      {"let q = sum(x, $dim: 1);", "T0220"},
      {"let q = max(x, 1.0, axis: $1);", "T0220"},
      {"let q = exp(x, $x: s);", "T0222"},
      {"let q = s.to(f16, round: $up);", "T0224"},
      {"let q = mma(x, x, x, precision: $high);", "T0224"},
      {"$exp(x);", "T0512"},
      {"$num_tiles(a, [4, 4]);", "T0512"},
      {"let ($q, u, z) = 1;", "T0509"},
  });
}

TEST(SemaErrors, Shapes) {
  expectBodies({
      {"let q = zeros([$100], f32);", "T0301"},
      {"let q = zeros([$0], f32);", "T0301"},
      {"let q = zeros([$-4, 4], f32);", "T0301"},
      {"let q = zeros([4, $BM + 1], f32);", "T0301"},
      {"let q = zeros([$n], f32);", "T0302"},
      {"let q = zeros([$a.shape[0]], f32);", "T0302"},
      {"let q = zeros([4, $num], f32);", "T0302"},
      {"var z = 4; let q = zeros([$z], f32);", "T0302"},
      {"let q = zeros([$1.5], f32);", "T0311"},
      {"let q = zeros([$true], f32);", "T0311"},
      {"let q = zeros([$s], f32);", "T0311"},
      {"let q = zeros($[2048, 1024], f32);", "T0303"},
      {"let q = zeros($[1, 1, 1, 1, 1, 1, 1], f32);", "T0304"},
      {"let q = zeros($BM, f32);", "T0223"},
      {"let q = zeros($x, f32);", "T0223"},
      {"let q = $zeros([1 << 12, 1], f32) + zeros([1, 1 << 12], f32);",
       "T0303"},
      {"let q = zeros([4], $float32);", "T0213"},
      {"let q = zeros([4], $s);", "T0213"},
      {"let q = zeros([4], $1 + 1);", "T0223"},
      {"let q: $f33 = 1.0;", "T0213"},
      {"var q: f32[$3];", "T0301"},
      {"var q: $array<f32, [4]>;", "T0225"},
      {"let q: f32[4] = $x;", "T0329"},
      {"let q: f16 = $s;", "T0329"},
      {"let q: f32[4] = $0.0;", "T0329"},
      {"let q: i8 = $300;", "T0307"},
  });
}

TEST(SemaErrors, Broadcasting) {
  expectBodies({
      {"let q = $x + transpose(x);", "T0305"},
      {"let q = $x + zeros([BM], f32);", "T0305"},
      {"let q = $x - max(x, axis: 1);", "T0305"},
      {"let q = $where(p, x, zeros([4, 4], f32));", "T0305"},
      {"let q = $fma(x, x, zeros([4], f32));", "T0305"},
      {"let q = $clamp(x, zeros([4], f32), 1.0);", "T0305"},
      {"let q = $broadcast_to(x, [4, 4]);", "T0339"},
      {"let q = $broadcast_to(x, [BN]);", "T0339"},
  });
}

TEST(SemaErrors, DTypes) {
  expectBodies({
      {"let q = $y + x;", "T0306"},
      {"let q = $x + it;", "T0306"},
      {"let q = $it + it.to(u32);", "T0306"},
      {"let q = $s + d;", "T0306"},
      {"let q = $arange(BN) + it;", "T0306"},
      {"let q = $it.to(i8) + big;", "T0306"},
      {"let q = $s + big;", "T0306"},
      {"let q = $where(p, x, y);", "T0306"},
      {"let q = $max(x, y);", "T0306"},
      {"let q = $fma(x, y, x);", "T0306"},
      {"let q = $flag ? s : num;", "T0306"},
      {"let q = it + $1.5;", "T0307"},
      {"let q = it.to(i8) + $300;", "T0307"},
      {"let q = it.to(u8) - $-1;", "T0307"},
      {"let q = ($300).to(i8);", "T0307"},
      {"let q = y * $70000.0;", "T0307"},
      {"let q = flag == $1;", "T0307"},
      {"let q = load(ia, [0], [4], pad: $-inf);", "T0307"},
      {"let q = $flag + flag;", "T0308"},
      {"let q = $t8 + t8;", "T0308"},
      {"let q = -$flag;", "T0308"},
      {"let q = !$num;", "T0308"},
      {"let q = ~$s;", "T0308"},
      {"let q = $s << 1.0;", "T0308"},
      {"let q = $s & s;", "T0308"},
      {"let q = exp($it);", "T0308"},
      {"let q = exp($1);", "T0308"},
      {"let q = exp($t8);", "T0308"},
      {"let q = popcount($x);", "T0308"},
      {"let q = cdiv($s, s);", "T0308"},
      {"let q = any($x);", "T0308"},
      {"let q = max($p);", "T0308"},
      {"let q = flag && $num;", "T0308"},
      {"let q = $num || flag;", "T0308"},
      {"let q = $bitcast(s, f64);", "T0328"},
      {"let q = $bitcast(s, bool);", "T0308"},
      {"let q = $bitcast(s, tf32);", "T0308"},
      {"let q = $num.to(f32, round: rz);", "T0327"},
      {"let q = $s.to(f8e4m3, round: rz);", "T0327"},
  });
}

TEST(SemaErrors, Arithmetic) {
  expectBodies({
      {"let q = num / $0;", "T0326"},
      {"let q = num % $0;", "T0326"},
      {"let q = floordiv(it, $0);", "T0326"},
      {"let q = 1 / $0;", "T0326"},
      {"let q = cdiv(n, $BM - 64);", "T0326"},
      {"let q = $(1 << 126) * 4;", "T0412"},
      {"let q = $1 << 200;", "T0412"},
      {"let q: int = $1 << 63;", "T0307"},
  });
}

TEST(SemaErrors, Conditions) {
  expectBodies({
      {"if $num { }", "T0325"},
      {"if $s { }", "T0325"},
      {"if $p { }", "T0325"},
      {"if $x { }", "T0325"},
      {"while $num { }", "T0325"},
      {"let q = $num ? 1 : 2;", "T0325"},
      {"let q = $p ? x : x;", "T0325"},
      {"let q = flag ? $x : x;", "T0332"},
      {"let q = where($num, x, x);", "T0223"},
      {"if const $flag { }", "T0401"},
      {"if const $BM { }", "T0325"},
      {"assume($num);", "T0325"},
      {"assume($false);", "T0419"},
  });
}

TEST(SemaErrors, LoadsAndStores) {
  expectBodies({
      {"let q = load(a, $[0], [4, 4]);", "T0309"},
      {"let q = load(v, $[0, 1], [4]);", "T0309"},
      {"let q = load(a, [0, 0], $[4]);", "T0310"},
      {"let q = load($x, [0, 0], [4, 4]);", "T0223"},
      {"let q = load(v, $0, [4]);", "T0223"},
      {"let q = load(v, [$s], [4]);", "T0311"},
      {"let q = load(v, [$it], [4]);", "T0311"},
      {"let q = load(v, [$flag], [4]);", "T0311"},
      {"let q = load(v, [$1.0], [4]);", "T0311"},
      {"let q = load(v, [0], [4], pad: $s);", "T0331"},
      {"let q = load(a, [0, 0], [4, 4], order: $[0, 0]);", "T0321"},
      {"let q = load(a, [0, 0], [4, 4], order: $[1]);", "T0321"},
      {"let q = load(a, [0, 0], [4, 4], order: [$num, 0]);", "T0401"},
      {"let q = load_at(a, $[0]);", "T0309"},
      {"store($a, [0, 0], x);", "T0314"},
      {"store_at($v, [0], 1.0);", "T0314"},
      {"store(c, [0, 0], $y);", "T0312"},
      {"store(h, [0, 0], $x);", "T0312"},
      {"store(ia, [0], $arange(4));", "T0312"},
      {"store(c, [0, 0], $r);", "T0313"},
      {"store(c, [0, 0], $1.0);", "T0313"},
      {"store(c, [0, 0], $max(x, axis: 1));", "T0313"},
      {"store(c, $[0], x);", "T0309"},
      {"store($x, [0, 0], x);", "T0223"},
      {"store_at(ia, [0], $1.5);", "T0307"},
      {"let q = load(v, [$bid(0) * BN], [BN]);", "T0902"},
      {"store(w, [$bid(0) * 128], r);", "T0902"},
      {"let q = load(v, [$BN * bid(0)], [BN]);", "T0902"},
      {"for i in 0..n step BN { let q = load(v, [$i], [BN]); }", "T0902"},
      {"$scatter(w, [0], r);", "T0905"},
  });
}

TEST(SemaErrors, Indexing) {
  expectBodies({
      {"let q = x[$1.0, 0];", "T0311"},
      {"let q = x$[0];", "T0323"},
      {"let q = x[0, $128];", "T0324"},
      {"let q = x[$-1, 0];", "T0324"},
      {"let q = x$[:, :, :];", "T0323"},
      {"let q = x$[0, :, :];", "T0323"},
      {"let q = x$[None, None, None, None, None];", "T0304"},
      {"let q = s$[0];", "T0323"},
      {"let q = a.shape[$2];", "T0318"},
      {"let q = a.shape[$num];", "T0401"},
      {"let q = a.shape$[0, 1];", "T0223"},
  });
}

TEST(SemaErrors, WholeTiles) {
  expectBodies({
      {"let q = sum(x, axis: $2);", "T0318"},
      {"let q = sum(x, axis: $-3);", "T0318"},
      {"let q = sum(x, axis: [0, $0]);", "T0319"},
      {"let q = sum(x, axis: [1, $-1]);", "T0319"},
      {"let q = sum(x, axis: $[]);", "T0223"},
      {"let q = sum(x, axis: $num);", "T0401"},
      {"let q = sum(x, axis: 1, keep: $flag);", "T0401"},
      {"let q = sum($s);", "T0322"},
      {"let q = max($s);", "T0322"},
      {"let q = $reshape(x, [BM, BM]);", "T0320"},
      {"let q = permute(x, $[0]);", "T0321"},
      {"let q = permute(x, $[0, 2]);", "T0321"},
      {"let q = permute($s, [0]);", "T0322"},
      {"let q = transpose($r);", "T0223"},
      {"let q = expand_dims(x, $4);", "T0318"},
      {"let q = squeeze(x, $0);", "T0338"},
      {"let q = full([4], $r, f32);", "T0332"},
      {"let q = $full([4], s, f16);", "T0306"},
      {"let q = full([4], $1.5, i32);", "T0307"},
      {"let q = arange($100);", "T0301"},
      {"let q = arange($num);", "T0302"},
      {"let q = arange(4, start: $r);", "T0332"},
      {"let q = arange(4, $bool);", "T0308"},
      {"let q = bid($3);", "T0409"},
      {"let q = bid($num);", "T0409"},
      {"let q = num_blocks($-1);", "T0409"},
      {"let q = $bid(1);", "T0903"},
      {"let q = num_tiles(a, $[4]);", "T0310"},
      {"let q = $arch();", "T0415"},
      {"assume($aligned(a, 16));", "T0420"},
  });
}

TEST(SemaErrors, Mma) {
  expectBodies({
      {"let q = $mma(x, x, zeros([BM, BN], f32));", "T0315"},
      {"let q = $mma(x, r, zeros([BM, BN], f32));", "T0315"},
      {"let q = $x @ r;", "T0315"},
      {"let q = $x @ x;", "T0315"},
      {"let q = $zeros([2, 4, 4], f32) @ zeros([4, 4, 4], f32);", "T0315"},
      {"let q = mma(x, transpose(x), $zeros([BN, BN], f32));", "T0345"},
      {"let q = $mma(x, transpose(y), zeros([BM, BM], f32));", "T0316"},
      {"let q = $it[None, :] @ it[:, None];", "T0316"},
      {"let q = $mma(y, transpose(y), zeros([BM, BM], bf16));", "T0317"},
      {"let q = $mma(t8, transpose(t8), zeros([BM, BM], f16));", "T0317"},
      {"let q = mma($s, x, x);", "T0322"},
      {"let q = mma(y, transpose(y), zeros([BM, BM], f32), precision: $tf32);",
       "T0342"},
      {"let q = mma(x, transpose(x), zeros([BM, BM], f32), precision: $fast);",
       "T0342"},
  });
}

TEST(SemaErrors, Assignment) {
  expectBodies({
      {"$x = x;", "T0501"},
      {"$num = 1;", "T0501"},
      {"$BM = 1;", "T0501"},
      {"$n = 1;", "T0501"},
      {"for i in 0..4 { $i = 1; }", "T0501"},
      {"var q = 0; q = $1.5;", "T0307"},
      {"var q = 0; q = $s;", "T0502"},
      {"var q = x; q = $r;", "T0502"},
      {"var q = x; q = $0.0;", "T0502"},
      {"var q = zeros([BM, 1], f32); for i in 0..4 { q = $x; }", "T0503"},
      {"var q = zeros([BM, 1], f32); while flag { q += $x; }", "T0503"},
      {"var q = zeros([BN], f16); for i in 0..4 { q = $r; }", "T0503"},
      {"var q: f32[4]; let u = $q;", "T0504"},
      {"var q: f32; if flag { q = 1.0; } let u = $q; let z = q;", "T0504"},
      {"var q: f32; for i in 0..big { q = 1.0; } let u = $q;", "T0504"},
      {"var q: f32; while flag { if num > 1 { break; } q = 1.0; } let u = $q;",
       "T0504"},
      {"var q: f32; $q += 1.0;", "T0504"},
      {"var q: f32; if flag { q = 1.0; } else if num > 2 { } else { q = 2.0; } "
       "let u = $q;",
       "T0504"},
  });
}

TEST(SemaErrors, ControlFlow) {
  expectBodies({
      {"$break;", "T0505"},
      {"$continue;", "T0505"},
      {"for const i in 0..4 { $break; }", "T0511"},
      {"for const i in 0..4 { if flag { $continue; } }", "T0511"},
      {"for i in $0.5..4 { }", "T0311"},
      {"for i in 0..$x { }", "T0311"},
      {"for i in 0..4 step $0 { }", "T0411"},
      {"for i in 0..4 step $-1 { }", "T0411"},
      {"for const i in 0..$n { }", "T0401"},
      {"for const i in 0..4 step $0 { }", "T0411"},
      {"$for const i in 0..5000 { }", "T0410"},
      {"return $x;", "T0508"},
      {"return; $let q = 1;", "T0901"},
      {"for i in 0..4 { break; $store(c, [0, 0], x); }", "T0901"},
      {"while true { } $let q = 1;", "T0901"},
      {"return; $let q = $nothing_like_this;", "T0901 T0202"},
      {"let ($q, u) = s;", "T0509"},
      {"let ($q, u, z) = num_tiles(a, [4, 4]);", "T0509"},
      {"const Q = $s;", "T0401"},
      {"static_assert($BM == 63, \"no\");", "T0406"},
      {"static_assert($flag);", "T0401"},
      {"$static_print(\"{}\");", "T0344"},
  });
}

} // namespace

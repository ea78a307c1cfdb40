//===- ControlFlowTest.cpp - loops and exits mean what they say -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Programs with every combination of loops, conditions and exits, run in the
// interpreter and compared with the same written in C++.

#include "RunTest.h"

using namespace tilec;
using namespace tilec::test;
using Ints = std::vector<int32_t>;

namespace {

TEST(ControlFlow, ForCarriesVariables) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, count: int) {
      var a = 1; var b = 1;
      for i in 0..count { let next = a + b; a = b; b = next; }
      store_at(y, [0], a.to(i32)); store_at(y, [1], b.to(i32));
    })";
  EXPECT_EQ(runInts(source, {0, 0}, {0}), (Ints{1, 1}));
  EXPECT_EQ(runInts(source, {0, 0}, {10}), (Ints{89, 144}));
  EXPECT_EQ(runInts(source, {0, 0}, {-3}), (Ints{1, 1}));
}

TEST(ControlFlow, StepOfZeroOrLessRunsNothing) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, step: int) {
      var rounds = 0;
      for i in 0..10 step step { rounds += 1; }
      store_at(y, [0], rounds.to(i32));
    })";
  EXPECT_EQ(runInts(source, {7}, {3}), Ints{4});
  EXPECT_EQ(runInts(source, {7}, {0}), Ints{0});
  EXPECT_EQ(runInts(source, {7}, {-2}), Ints{0});
}

TEST(ControlFlow, BreakAndContinue) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, stop: int) {
      var sum = 0; var last = -1;
      for i in 0..100 {
        if i % 3 == 1 { continue; }
        if i >= stop { break; }
        sum += i;
        last = i;
      }
      store_at(y, [0], sum.to(i32)); store_at(y, [1], last.to(i32));
    })";
  for (int stop : {0, 1, 7, 50, 1000}) {
    int sum = 0, last = -1;
    for (int i = 0; i < 100; ++i) {
      if (i % 3 == 1)
        continue;
      if (i >= stop)
        break;
      sum += i;
      last = i;
    }
    EXPECT_EQ(runInts(source, {0, 0}, {stop}), (Ints{sum, last})) << stop;
  }
}

TEST(ControlFlow, BreakLeavesTheInnermostLoop) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, limit: int) {
      var count = 0;
      for i in 0..5 {
        for j in 0..5 {
          if j > i { break; }
          if j == limit { continue; }
          count += 1;
        }
        count += 100;
        if i == 3 { break; }
      }
      store_at(y, [0], count.to(i32));
    })";
  for (int limit : {0, 2, 9}) {
    int count = 0;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        if (j > i)
          break;
        if (j == limit)
          continue;
        count += 1;
      }
      count += 100;
      if (i == 3)
        break;
    }
    EXPECT_EQ(runInts(source, {0}, {limit}), Ints{count}) << limit;
  }
}

TEST(ControlFlow, WhileWithBreak) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, start: int) {
      var x = start; var rounds = 0;
      while x != 1 {
        if rounds == 50 { break; }
        if x % 2 == 0 { x = x / 2; } else { x = 3 * x + 1; }
        rounds += 1;
      }
      store_at(y, [0], rounds.to(i32)); store_at(y, [1], x.to(i32));
    })";
  EXPECT_EQ(runInts(source, {0, 0}, {6}), (Ints{8, 1}));
  EXPECT_EQ(runInts(source, {0, 0}, {1}), (Ints{0, 1}));
  EXPECT_EQ(runInts(source, {0, 0}, {27})[0], 50);
}

TEST(ControlFlow, ReturnFromTheMiddleOfLoops) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, key: int) {
      store_at(y, [0], -1);
      for i in 0..4 {
        var j = 0;
        while j < 4 {
          if i * 4 + j == key {
            store_at(y, [0], (100 * i + j).to(i32));
            return;
          }
          j += 1;
        }
      }
      store_at(y, [1], 1);
    })";
  EXPECT_EQ(runInts(source, {0, 0}, {6}), (Ints{102, 0}));
  EXPECT_EQ(runInts(source, {0, 0}, {16}), (Ints{-1, 1}));
}

TEST(ControlFlow, ElseArmThatExits) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, a: int) {
      var x = 1;
      if a > 0 { x = 2; } else { if a == 0 { return; } x = 3; }
      if a > 10 { x = 20; } else { store_at(y, [1], 5); return; }
      store_at(y, [0], x.to(i32));
    })";
  EXPECT_EQ(runInts(source, {9, 9}, {0}), (Ints{9, 9}));
  EXPECT_EQ(runInts(source, {9, 9}, {-1}), (Ints{9, 5}));
  EXPECT_EQ(runInts(source, {9, 9}, {11}), (Ints{20, 9}));
}

TEST(ControlFlow, FunctionsReturnEarly) {
  const char *source = R"(
    fn digits(x) {
      if x < 0 { return -1; }
      var count = 1; var rest = x;
      while true {
        rest = rest / 10;
        if rest == 0 { return count; }
        count += 1;
        if count > 5 { break; }
      }
      return 99;
    }
    kernel k(y: mut array<i32, [n]>, a: int) {
      for i in 0..2 {
        if digits(a) == 3 { store_at(y, [i], 33); continue; }
        store_at(y, [i], digits(a + i).to(i32));
      }
    })";
  EXPECT_EQ(runInts(source, {0, 0}, {-5}), (Ints{-1, -1}));
  EXPECT_EQ(runInts(source, {0, 0}, {9}), (Ints{1, 2}));
  EXPECT_EQ(runInts(source, {0, 0}, {123}), (Ints{33, 33}));
  EXPECT_EQ(runInts(source, {0, 0}, {1234567}), (Ints{99, 99}));
}

TEST(ControlFlow, UnsetUntilAssigned) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, a: int) {
      var x: i32;
      if a > 0 { x = 4; } else { x = 5; }
      var z: i32[2];
      for i in 0..2 { z = arange(2, i32, start: x); store(y, [0], z); }
    })";
  EXPECT_EQ(runInts(source, {0, 0}, {1}), (Ints{4, 5}));
  EXPECT_EQ(runInts(source, {0, 0}, {0}), (Ints{5, 6}));
}

TEST(ControlFlow, ConditionsEvaluateOnlyWhatTheyNeed) {
  // The right side of && would not end.
  const char *source = R"(
    fn forever(x) { var i = x; while i > 0 { i += 1; } return i != 1; }
    kernel k(y: mut array<i32, [n]>, a: int) {
      if a > 100 && forever(a) { store_at(y, [0], 1); }
      if a < 100 || forever(a) { store_at(y, [1], 2); }
      store_at(y, [2], a > 100 ? 7 : 8);
    })";
  EXPECT_EQ(runInts(source, {0, 0, 0}, {5}), (Ints{0, 2, 8}));
}

TEST(ControlFlow, EffectsOfAnArmStayInIt) {
  // What the calls give is known while compiling, what they store is not.
  const char *source = R"(
    fn mark(a, i) { store_at(a, [i], 1); return true; }
    fn seven(a, i) { store_at(a, [i], 1); return 7; }
    kernel k(y: mut array<i32, [n]>, a: int) {
      if a > 0 && mark(y, 0) { store_at(y, [1], 1); }
      if a > 0 || mark(y, 2) { store_at(y, [3], 1); }
      let x = a > 0 ? seven(y, 4) : seven(y, 5);
      store_at(y, [6], x.to(i32));
      if true && mark(y, 7) { store_at(y, [7], 2); }
    })";
  EXPECT_EQ(runInts(source, Ints(8), {1}), (Ints{1, 1, 0, 1, 1, 0, 7, 2}));
  EXPECT_EQ(runInts(source, Ints(8), {0}), (Ints{0, 0, 1, 1, 0, 1, 7, 2}));
}

TEST(ControlFlow, ShadowingAndConstantLoops) {
  const char *source = R"(
    kernel k(y: mut array<i32, [n]>, a: int) {
      let x = 1;
      { let x = a; store_at(y, [0], x.to(i32)); }
      for const i in 0..3 { store_at(y, [1 + i], (x + i).to(i32)); }
      if const 1 > 2 { store_at(y, [0], 9); }
    })";
  EXPECT_EQ(runInts(source, {0, 0, 0, 0}, {6}), (Ints{6, 1, 2, 3}));
}

// Many exits in a row: deep nesting would exhaust the stack.
TEST(ControlFlow, ThousandsOfExits) {
  std::string source =
      "kernel k(y: mut array<i32, [n]>, a: int) {\n  for i in 0..3 {\n";
  for (int i = 0; i < 3000; ++i)
    source += "    if a == " + std::to_string(i) + " { break; }\n    let v" +
              std::to_string(i) + " = i + " + std::to_string(i) + ";\n";
  source += "    store_at(y, [i], v2999.to(i32));\n  }\n}\n";
  EXPECT_EQ(runInts(source, {0, 0, 0}, {3000}), (Ints{2999, 3000, 3001}));
  EXPECT_EQ(runInts(source, {0, 0, 0}, {2500}), (Ints{0, 0, 0}));
  EXPECT_EQ(runInts(source, {0, 0, 0}, {5}), (Ints{0, 0, 0}));
}

} // namespace

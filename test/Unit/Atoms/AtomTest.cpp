//===- AtomTest.cpp - layouts of matrix products ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// For every size and number of warps: the accumulator covers the matrix, and what a
// thread reads of the operands is all rows and columns that its elements need.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Atom.h"

#include "gtest/gtest.h"

#include <set>

using namespace tilec;

namespace {

std::set<int64_t> coordinates(const Layout &layout, uint64_t lane, uint64_t warp,
                              unsigned dim) {
  std::set<int64_t> result;
  for (uint64_t reg = 0; reg < layout.size(Input::Register); ++reg)
    result.insert(layout.apply(Position::thread(reg, lane, warp))[dim]);
  return result;
}

TEST(AtomTest, FmaLayoutsFitTogether) {
  const Atom *atom = findAtom("fma");
  ASSERT_TRUE(atom);
  for (int64_t m : {1, 2, 16, 128})
    for (int64_t n : {1, 8, 64})
      for (int64_t k : {1, 4, 32})
        for (unsigned warps : {1u, 2u, 4u, 8u}) {
          MmaProblem problem;
          problem.aShape = {m, k};
          problem.bShape = {k, n};
          problem.accShape = {m, n};
          problem.numWarps = warps;
          EXPECT_EQ(selectAtom(problem), atom);
          Layout acc = atom->accLayout(problem);
          EXPECT_TRUE(acc.isSurjective()) << acc.str();
          EXPECT_EQ(acc.numBits(Input::Lane), 5u);
          EXPECT_EQ(acc.size(Input::Warp), warps);
          Layout a = atom->readOperand(problem, acc, Operand::A, true).layout;
          Layout b = atom->readOperand(problem, acc, Operand::B, true).layout;
          EXPECT_TRUE(a.isSurjective()) << a.str();
          EXPECT_TRUE(b.isSurjective()) << b.str();
          for (uint64_t warp = 0; warp < warps; ++warp)
            for (uint64_t lane = 0; lane < 32; lane += 5) {
              EXPECT_EQ(coordinates(acc, lane, warp, 0), coordinates(a, lane, warp, 0));
              EXPECT_EQ(coordinates(acc, lane, warp, 1), coordinates(b, lane, warp, 1));
              EXPECT_EQ(coordinates(a, lane, warp, 1).size(), size_t(k));
              EXPECT_EQ(coordinates(b, lane, warp, 0).size(), size_t(k));
            }
        }
}

TEST(AtomTest, UnknownNamesHaveNoAtom) { EXPECT_EQ(findAtom("abacus"), nullptr); }

} // namespace

//===- WgmmaTest.cpp - layouts and descriptors of warp groups --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Fragments against the tables of the PTX manual; descriptors against the addresses that
// the unit reads for them, which must be where the buffer's layout has the elements.
//
//===------------------------------------------------------------------------===//
#include "OperandAddresses.h"
#include "ProblemTest.h"

#include "tilec/Atoms/Wgmma.h"
#include "tilec/Support/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class WgmmaTest : public ProblemTest {
protected:
  WgmmaTest() : ProblemTest(/*features=*/~0u) {}

  const Atom *atom = findAtom("wgmma");
};

TEST_F(WgmmaTest, Supports) {
  EXPECT_TRUE(atom->supports(bf16Problem(64, 8, 16, 4)));
  EXPECT_TRUE(atom->supports(bf16Problem(128, 256, 64, 8)));
  EXPECT_FALSE(atom->supports(bf16Problem(32, 256, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(64, 4, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(64, 64, 8, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(64, 64, 64, 2)));
  // 256 accumulators a thread, and 512.
  EXPECT_TRUE(atom->supports(bf16Problem(128, 256, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(256, 256, 64, 4)));
  EXPECT_FALSE(atom->supports(problem(64, 64, 64, 4, b.getF32Type(), b.getF32Type())));
  EXPECT_FALSE(atom->supports(problem(64, 64, 64, 4, b.getF64Type(), b.getF64Type())));
  EXPECT_TRUE(atom->supports(problem(64, 64, 64, 4, b.getF16Type(), b.getF16Type())));
  EXPECT_FALSE(atom->supports(problem(64, 64, 64, 4, b.getBF16Type(), b.getBF16Type())));
  EXPECT_TRUE(atom->supports(problem(64, 64, 32, 4, b.getI8Type(), b.getI32Type())));
  // Sums of f8 are exact unless the program says otherwise.
  MmaProblem f8 = problem(64, 64, 64, 4, b.getType<mlir::Float8E4M3FNType>(), b.getF32Type());
  EXPECT_FALSE(atom->supports(f8));
  EXPECT_TRUE(findAtom("wgmma_promoted")->supports(f8));
  f8.precision = tile::MmaPrecision::Fast;
  EXPECT_TRUE(atom->supports(f8));
}

/// Thread t of a warp group holds in register r: row 16w + l/4 + 8(r/2 % 2), column
/// 2(l % 4) + r % 2 + 8(r / 4).
TEST_F(WgmmaTest, AccumulatorFragments) {
  struct Case {
    int64_t m, n;
    unsigned warps;
    int64_t rowOfGroup1, columnOfGroup1;
  };
  for (Case c : {Case{64, 8, 4, 0, 0}, Case{64, 256, 4, 0, 0}, Case{128, 256, 8, 64, 0},
                 Case{64, 128, 8, 0, 64}, Case{128, 64, 4, 0, 0}}) {
    Layout acc = atom->accLayout(bf16Problem(c.m, c.n, 64, c.warps));
    EXPECT_TRUE(acc.isSurjective());
    int64_t groups = c.warps / 4, columns = c.columnOfGroup1 ? c.n / groups : c.n;
    int64_t perBlock = columns / 2;
    for (uint64_t reg = 0; reg < acc.size(Input::Register); ++reg)
      for (uint64_t lane : {0u, 1u, 5u, 31u})
        for (uint64_t warp = 0; warp < c.warps; ++warp) {
          int64_t block = int64_t(reg) / perBlock, r = int64_t(reg) % perBlock;
          bool second = warp >= 4;
          int64_t row = int64_t(16 * (warp % 4) + lane / 4) + 8 * (r / 2 % 2) + 64 * block +
                        (second ? c.rowOfGroup1 : 0);
          int64_t column =
              int64_t(2 * (lane % 4)) + r % 2 + 8 * (r / 4) + (second ? c.columnOfGroup1 : 0);
          EXPECT_EQ(acc.apply(Position::thread(reg, lane, warp)),
                    (Layout::Coords{row, column}));
        }
  }
}

/// 16 bits: register i half h holds row 16w + l/4 + 8(i % 2), k 2(l % 4) + h + 8(i / 2);
/// 8 bits: byte b holds k 4(l % 4) + b + 16(i / 2); 32 bits: k l % 4 + 4(i / 2).
TEST_F(WgmmaTest, FragmentsOfA) {
  mlir::Type types[] = {b.getI8Type(), b.getBF16Type(), b.getType<mlir::FloatTF32Type>()};
  for (auto [index, type] : llvm::enumerate(types)) {
    int64_t perWord = 4 >> index;
    MmaProblem p = problem(128, 64, 64, 4, type, b.getF32Type());
    Layout a = *atom->aRegisters(p, atom->accLayout(p));
    EXPECT_TRUE(a.isSurjective());
    int64_t perStep = 4 * perWord, steps = 64 / (8 * perWord);
    for (int64_t reg = 0; reg < int64_t(a.size(Input::Register)); ++reg)
      for (int64_t lane : {0, 1, 6, 31})
        for (int64_t warp = 0; warp < 4; ++warp) {
          int64_t inWord = reg % perWord, word = reg / perWord % 4, step = reg / perStep;
          int64_t row = 16 * warp + lane / 4 + 8 * (word % 2) + 64 * (step / steps);
          int64_t k = perWord * (lane % 4) + inWord + 4 * perWord * (word / 2) +
                      8 * perWord * (step % steps);
          EXPECT_EQ(a.apply(Position::thread(uint64_t(reg), uint64_t(lane), uint64_t(warp))),
                    (Layout::Coords{row, k}))
              << perWord << " " << reg;
        }
  }
}

TEST_F(WgmmaTest, DescriptorsOfA) {
  for (int64_t k : {16, 32, 64, 128})
    for (bool kMajor : {true, false}) {
      Layout buffer = atom->aBuffer(bf16Problem(128, 64, k, 4), kMajor);
      expectDescribed(buffer, 16, /*isA=*/true, !kMajor, 64);
    }
}

TEST_F(WgmmaTest, DescriptorsOfB) {
  for (int64_t n : {16, 32, 64, 256})
    for (bool kMajor : {true, false}) {
      Layout buffer = atom->bBuffer(bf16Problem(64, n, 64, 4), kMajor);
      expectDescribed(buffer, 16, /*isA=*/false, !kMajor, n);
    }
  // Eight columns are too few for rows along N.
  expectDescribed(atom->bBuffer(bf16Problem(64, 8, 64, 4), false), 16, false, false, 8);
}

TEST_F(WgmmaTest, OtherTypesLieAlongK) {
  mlir::Type types[] = {b.getI8Type(), b.getType<mlir::FloatTF32Type>()};
  for (auto [index, type] : llvm::enumerate(types)) {
    MmaProblem p = problem(64, 128, 128, 4, type, b.getF32Type());
    unsigned bits = index ? 32 : 8;
    expectDescribed(atom->aBuffer(p, false), bits, true, false, 64);
    expectDescribed(atom->bBuffer(p, false), bits, false, false, 128);
  }
}

/// Tiles of few rows: the product of the same name with M and N exchanged.
TEST_F(WgmmaTest, Transposed) {
  const Atom *other = findAtom("wgmma_transposed");
  for (int64_t m : {8, 16, 32}) {
    EXPECT_TRUE(other->supports(bf16Problem(m, 64, 16, 4)));
    EXPECT_TRUE(other->supports(bf16Problem(m, 256, 64, 8)));
    EXPECT_EQ(selectAtom(bf16Problem(m, 64, 16, 4)), other);
  }
  EXPECT_FALSE(other->supports(bf16Problem(4, 64, 16, 4)));
  EXPECT_FALSE(other->supports(bf16Problem(16, 32, 16, 4)));
  EXPECT_FALSE(other->supports(bf16Problem(16, 64, 16, 2)));
  EXPECT_FALSE(other->supports(bf16Problem(64, 64, 16, 4)));
  EXPECT_EQ(other->shape(bf16Problem(16, 128, 64, 4)), (std::array<int64_t, 3>{64, 16, 16}));
  // Thread t holds in register r: row 2(l % 4) + r % 2 + 8(r / 4), column 16w + l/4 +
  // 8(r/2 % 2), the second 64 columns in the second half of the registers.
  Layout acc = other->accLayout(bf16Problem(16, 128, 64, 4));
  ASSERT_EQ(acc.size(Input::Register), 16u);
  for (int64_t reg = 0; reg < 16; ++reg)
    for (int64_t lane : {0, 1, 5, 31})
      for (int64_t warp = 0; warp < 4; ++warp) {
        int64_t r = reg % 8;
        EXPECT_EQ(acc.apply(Position::thread(uint64_t(reg), uint64_t(lane), uint64_t(warp))),
                  (Layout::Coords{2 * (lane % 4) + r % 2 + 8 * (r / 4),
                                  16 * warp + lane / 4 + 8 * (r / 2 % 2) + 64 * (reg / 8)}));
      }
}

/// A b that threads compute is multiplied as a^T from registers, however many rows a has.
TEST_F(WgmmaTest, TransposedForComputedB) {
  MmaProblem problem = bf16Problem(128, 128, 64, 8);
  problem.features = uint32_t(ChipFeature::WarpGroupMma);
  EXPECT_EQ(selectAtom(problem), findAtom("wgmma"));
  problem.bIsComputed = true;
  const Atom *other = findAtom("wgmma_transposed");
  EXPECT_EQ(selectAtom(problem), other);
  EXPECT_FALSE(findAtom("wgmma")->supports(problem));
  // Register r of thread t: a pair along K in a word, column l / 4 + 8 (r/2 % 2), half a step
  // of K on, then steps; warp groups have 64 columns each.
  std::optional<Layout> b = other->bRegisters(problem, other->accLayout(problem));
  ASSERT_TRUE(b);
  ASSERT_EQ(b->size(Input::Register), 32u);
  for (int64_t reg = 0; reg < 32; ++reg)
    for (int64_t lane : {0, 1, 5, 31})
      for (int64_t warp = 0; warp < 8; ++warp)
        EXPECT_EQ(b->apply(Position::thread(uint64_t(reg), uint64_t(lane), uint64_t(warp))),
                  (Layout::Coords{2 * (lane % 4) + reg % 2 + 8 * (reg / 4),
                                  16 * warp + lane / 4 + 8 * (reg / 2 % 2)}));
  // Too narrow to be turned around: as it is.
  MmaProblem narrow = bf16Problem(128, 32, 64, 8);
  narrow.features = problem.features;
  narrow.bIsComputed = true;
  EXPECT_EQ(selectAtom(narrow), findAtom("wgmma"));
}

/// Columns of a computed b that lies along N are dealt out such that a thread's lie side by side,
/// those of the sum with them: columns (r/2 % 2) + 2 (second half), 4 (l / 4), 32 w.
TEST_F(WgmmaTest, ComputedBAlongN) {
  MmaProblem problem = bf16Problem(16, 128, 64, 4);
  const Atom *other = findAtom("wgmma_transposed");
  Layout natural = other->accLayout(problem);
  problem.bIsComputed = problem.bIsAcrossK = true;
  Layout acc = other->accLayout(problem);
  EXPECT_NE(acc, natural);
  ASSERT_EQ(acc.size(Input::Register), 16u);
  // Whoever asks for b's registers knows the sum's, and need not know how b comes.
  std::optional<Layout> b = other->bRegisters(bf16Problem(16, 128, 64, 4), acc);
  ASSERT_TRUE(b);
  ASSERT_EQ(b->size(Input::Register), 64u);
  for (int64_t reg = 0; reg < 64; ++reg)
    for (int64_t lane : {0, 1, 5, 31})
      for (int64_t warp = 0; warp < 4; ++warp) {
        Position place = Position::thread(uint64_t(reg), uint64_t(lane), uint64_t(warp));
        int64_t column = reg / 2 % 2 + 4 * (lane / 4) + 32 * warp;
        EXPECT_EQ(b->apply(place), (Layout::Coords{2 * (lane % 4) + reg % 2 + 8 * (reg / 4 % 8),
                                                   column + 2 * (reg / 32)}));
        if (reg < 16)
          EXPECT_EQ(acc.apply(place), (Layout::Coords{2 * (lane % 4) + reg % 2 + 8 * (reg % 8 / 4),
                                                      column + 2 * (reg / 8)}));
      }
}

/// What has to lie along K and does not come so is left to warps.
TEST_F(WgmmaTest, TransposedAlongK) {
  const Atom *other = findAtom("wgmma_transposed");
  for (bool MmaProblem::*across : {&MmaProblem::aIsAcrossK, &MmaProblem::bIsAcrossK}) {
    MmaProblem i8 = problem(16, 64, 64, 4, b.getI8Type(), b.getI32Type());
    EXPECT_TRUE(other->supports(i8));
    i8.*across = true;
    EXPECT_FALSE(other->supports(i8));
    MmaProblem bf16 = bf16Problem(16, 64, 64, 4);
    bf16.*across = true;
    EXPECT_TRUE(other->supports(bf16));
  }
  MmaProblem f8 = problem(16, 64, 64, 4, b.getType<mlir::Float8E4M3FNType>(), b.getF32Type());
  EXPECT_FALSE(other->supports(f8));
  EXPECT_TRUE(findAtom("wgmma_promoted_transposed")->supports(f8));
}

TEST_F(WgmmaTest, DescriptorBits) {
  // 128-byte rows along K: eight rows are 1024 bytes apart.
  WgmmaOperand operand = *describeWgmmaOperand(
      Layout::swizzled({128, 64}, {1, 0}, 16, 128), 16, /*isA=*/true);
  EXPECT_EQ(operand.descriptor(), uint64_t(1) << 62 | uint64_t(64) << 32 | 1 << 16);
  // Rows along N: 64 of K by 128 bytes to the next 64 of N.
  operand = *describeWgmmaOperand(Layout::swizzled({64, 256}, {1, 0}, 16, 128), 16,
                                  /*isA=*/false);
  EXPECT_EQ(operand.descriptor(), uint64_t(1) << 62 | uint64_t(64) << 32 | 512 << 16);
  EXPECT_FALSE(describeWgmmaOperand(Layout::swizzled({64, 64}, {1, 0}, 16, 0), 16, true));
}

} // namespace

//===- HardwareFormatsTest.cpp - fixed formats are values -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Fragments and swizzles of the instruction set, written as bases, against the
// formulas by which the PTX ISA describes them.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/Layout.h"
#include "gtest/gtest.h"

using namespace tilec;

namespace {

/// 16 x 8 of 32-bit accumulators of mma.sync m16n8k*.
Layout mmaAccumulator() {
  Layout layout({16, 8});
  layout.add(Input::Register, {0, 1}).add(Input::Register, {8, 0});
  return layout.addRun(Input::Lane, 1, 2, 2).addRun(Input::Lane, 0, 1, 3);
}

/// 16 x 16 of 16-bit elements, operand A of mma.sync m16n8k16.
Layout mmaOperandA() {
  Layout layout({16, 16});
  layout.add(Input::Register, {0, 1}).add(Input::Register, {8, 0}).add(Input::Register, {0, 8});
  return layout.addRun(Input::Lane, 1, 2, 2).addRun(Input::Lane, 0, 1, 3);
}

/// 16 x 8 of 16-bit elements, operand B of mma.sync m16n8k16.
Layout mmaOperandB() {
  Layout layout({16, 8});
  layout.add(Input::Register, {1, 0}).add(Input::Register, {8, 0});
  return layout.addRun(Input::Lane, 0, 2, 2).addRun(Input::Lane, 1, 1, 3);
}

TEST(HardwareFormatsTest, MmaAccumulator) {
  Layout layout = mmaAccumulator();
  ASSERT_TRUE(layout.isSurjective() && layout.isInjective());
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < 4; ++i) // c0 … c3
      EXPECT_EQ(layout.apply(Position::thread(i, lane)),
                (Layout::Coords{lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}));
}

TEST(HardwareFormatsTest, MmaOperands) {
  Layout a = mmaOperandA(), b = mmaOperandB();
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, inGroup = lane % 4;
    for (int64_t i = 0; i < 8; ++i) {
      int64_t row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      int64_t col = inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8);
      EXPECT_EQ(a.apply(Position::thread(i, lane)), (Layout::Coords{row, col}));
    }
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(b.apply(Position::thread(i, lane)),
                (Layout::Coords{inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8), group}));
  }
}

TEST(HardwareFormatsTest, AccumulatorFeedsTheNextMmaForFree) {
  // Two accumulator tiles side by side are an A operand: attention's second product.
  Layout pair({1, 2});
  pair.add(Input::Register, {0, 1});
  EXPECT_EQ(mmaAccumulator().product(pair), mmaOperandA());
  EXPECT_EQ(classifyConversion(mmaAccumulator().product(pair), mmaOperandA(), 16),
            ConversionKind::None);
}

TEST(HardwareFormatsTest, BlockOfFragmentsDividesByOne) {
  // 64 x 32 by four warps below each other, each 16 x 32.
  Layout repeats({4, 4});
  repeats.addRun(Input::Register, 1, 1, 2).addRun(Input::Warp, 0, 1, 2);
  Layout block = mmaAccumulator().product(repeats);
  ASSERT_TRUE(block.divide(mmaAccumulator()).has_value());
  EXPECT_EQ(*block.divide(mmaAccumulator()), repeats);
  EXPECT_FALSE(block.divide(mmaOperandB()).has_value());
}

TEST(HardwareFormatsTest, Ldmatrix) {
  // ldmatrix gives lane l the pair (l / 4, 2 (l % 4)) of an 8 x 8 matrix; four of them
  // make operand A.
  Layout matrix({8, 8});
  matrix.add(Input::Register, {0, 1}).addRun(Input::Lane, 1, 2, 2).addRun(Input::Lane, 0, 1, 3);
  std::optional<Layout> four = mmaOperandA().divide(matrix);
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(four->str(), "2x2 register (1,0) (0,1)");
}

TEST(HardwareFormatsTest, WgmmaAccumulator) {
  Layout warps({4, 2});
  warps.add(Input::Register, {0, 1}).addRun(Input::Warp, 0, 1, 2);
  Layout layout = mmaAccumulator().product(warps);
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < 8; ++i) {
        int64_t row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        int64_t col = 8 * (i / 4) + lane % 4 * 2 + i % 2;
        EXPECT_EQ(layout.apply(Position::thread(i, lane, warp)), (Layout::Coords{row, col}));
      }
}

TEST(HardwareFormatsTest, TmaSwizzles) {
  for (unsigned elementBits : {8u, 16u, 32u}) {
    for (unsigned mode : {0u, 32u, 64u, 128u}) {
      int64_t bytes = elementBits / 8, rowBytes = mode ? mode : 128;
      int64_t cols = rowBytes / bytes;
      Layout layout = Layout::swizzled({64, cols}, {1, 0}, elementBits, mode);
      ASSERT_TRUE(layout.isSurjective() && layout.isInjective());
      uint64_t chunks = mode ? mode / 16 - 1 : 0;
      for (int64_t row = 0; row < 64; ++row)
        for (int64_t col = 0; col < cols; ++col) {
          uint64_t address = row * rowBytes + col * bytes;
          address ^= (address >> 7 & chunks) << 4;
          EXPECT_EQ(layout.find(layout.flatten({row, col}))[Input::Offset] * bytes, address);
        }
    }
  }
  // Rows wider than the mode are cut to pieces.
  Layout wide = Layout::swizzled({8, 128}, {1, 0}, 16, 128);
  EXPECT_EQ(wide.find(wide.flatten({0, 64}))[Input::Offset], 8u * 64);
  EXPECT_EQ(Layout::swizzled({8, 64}, {1, 0}, 16, 128).str(),
            "8x64 offset (0,1) .. (0,32) (1,8) .. (4,32)");
}

TEST(HardwareFormatsTest, LdmatrixReadsSwizzledRowsWithoutConflicts) {
  // One phase of ldmatrix: eight lanes read 16 bytes each, at eight rows of a tile.
  Layout phase({8, 8});
  phase.addRun(Input::Register, 1, 1, 3).addRun(Input::Lane, 0, 1, 3);
  Layout wider({1, 8});
  wider.addRun(Input::Register, 1, 1, 3);
  Layout access = phase.product(wider);
  EXPECT_EQ(countBankConflicts(access, Layout::swizzled({8, 64}, {1, 0}, 16, 128), 16), 1u);
  EXPECT_EQ(countBankConflicts(access, Layout::swizzled({8, 64}, {1, 0}, 16, 0), 16), 8u);
}

} // namespace

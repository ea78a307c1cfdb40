//===- ScanPlanTest.cpp - the homes of an axis' bits -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a plan says of layouts that have one, and which have none.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/ScanPlan.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

Layout rows() {
  return Layout({4, 64})
      .add(Input::Register, {0, 1})
      .add(Input::Register, {2, 0})
      .addRun(Input::Lane, 1, 2, 4)
      .addZeros(Input::Lane, 1)
      .add(Input::Warp, {1, 0})
      .add(Input::Warp, {0, 32});
}

TEST(ScanPlanTest, OrdersTheBitsOfTheAxis) {
  std::optional<ScanPlan> plan = planScan(rows(), 1);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->bits.size(), 6u);
  const std::pair<Input, unsigned> expected[] = {{Input::Register, 0}, {Input::Lane, 0},
                                                 {Input::Lane, 1},     {Input::Lane, 2},
                                                 {Input::Lane, 3},     {Input::Warp, 1}};
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(std::pair(plan->bits[i].home, plan->bits[i].bit), expected[i]) << i;
  EXPECT_EQ(plan->keptRegisters, llvm::SmallVector<unsigned>{1});
  EXPECT_TRUE(plan->crossesWarps());
  EXPECT_EQ(plan->mask(Input::Lane), 15u);
  EXPECT_EQ(plan->mask(Input::Warp), 2u);
}

TEST(ScanPlanTest, TheOtherAxis) {
  std::optional<ScanPlan> plan = planScan(rows(), 0);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->bits.size(), 2u);
  EXPECT_EQ(plan->bits[0].home, Input::Warp);
  EXPECT_EQ(plan->bits[1].home, Input::Register);
}

TEST(ScanPlanTest, RefusesWhatHasNoOrder) {
  // A swizzle: one bit moves along both axes.
  Layout swizzled = Layout({2, 32}).addRun(Input::Lane, 1, 1, 5).add(Input::Warp, {1, 1});
  EXPECT_FALSE(planScan(swizzled, 1));
  EXPECT_FALSE(planScan(swizzled, 0));
  // Two bits of the axis at once.
  Layout mixed = Layout({4}).add(Input::Register, {1}).add(Input::Register, {3}).addZeros(Input::Lane, 5);
  EXPECT_FALSE(planScan(mixed, 0));
  // A register that is a copy.
  EXPECT_FALSE(planScan(Layout({32}).addRun(Input::Lane, 0, 1, 5).addZeros(Input::Register, 1), 0));
}

TEST(ScanPlanTest, PiecesComeOneAfterTheOther) {
  // Columns: registers 0, 1, lanes, registers 3, 4; register 2 is a bit of the row.
  Layout layout = Layout({2, 512}).addRun(Input::Register, 1, 1, 2).add(Input::Register, {1, 0});
  layout.addRun(Input::Register, 1, 128, 2).addRun(Input::Lane, 1, 4, 5);
  std::optional<ScanPlan> plan = planScan(layout, 1);
  ASSERT_TRUE(plan);
  std::optional<ScanPieces> pieces = splitScan(*plan, 2);
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->plan.bits.size(), 7u);
  EXPECT_TRUE(pieces->plan.keptRegisters.empty());
  EXPECT_EQ(pieces->along, (llvm::SmallVector<uint64_t>{2, 4}));
  EXPECT_EQ(pieces->beside, llvm::SmallVector<uint64_t>{1});
  // Of registers 1 to 4 register 1 lies below the lanes.
  EXPECT_FALSE(splitScan(*plan, 1));
  // One piece is all.
  EXPECT_FALSE(splitScan(*plan, 5));
}

TEST(ScanPlanTest, EveryTileHasAScannableLayout) {
  for (unsigned warps : {1u, 2u, 4u, 8u, 32u})
    for (const Layout::Shape &shape :
         {Layout::Shape{1}, Layout::Shape{4096}, Layout::Shape{8, 2, 64}, Layout::Shape{1, 1, 2, 1, 1, 4}})
      for (unsigned axis = 0; axis < shape.size(); ++axis) {
        Layout layout = scannableLayout(shape, axis, warps);
        EXPECT_TRUE(planScan(layout, axis)) << layout.str();
        EXPECT_EQ(layout.size(Input::Warp), warps);
      }
  // Warps leave the axis to lanes and registers where there is other work.
  EXPECT_FALSE(planScan(scannableLayout({8, 256}, 1, 8), 1)->crossesWarps());
}

} // namespace

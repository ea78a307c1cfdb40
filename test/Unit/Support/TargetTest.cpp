//===- TargetTest.cpp - the table of chips ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Support/Target.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

TEST(Target, RowsByName) {
  const Chip *hopper = findChip("sm_90a");
  ASSERT_NE(hopper, nullptr);
  EXPECT_EQ(hopper->computeCapability, 90u);
  EXPECT_EQ(hopper->sharedPerBlock, 227u * 1024);
  EXPECT_TRUE(hopper->has(ChipFeature::WarpGroupMma));
  EXPECT_FALSE(hopper->has(ChipFeature::TensorMemoryMma));
  EXPECT_FALSE(findChip("sm_90")->has(ChipFeature::WarpGroupMma));
  EXPECT_EQ(findChip("sm_70"), nullptr);
  EXPECT_EQ(findChip(""), nullptr);
}

TEST(Target, TheTableIsConsistent) {
  for (const Chip &chip : allChips()) {
    EXPECT_EQ(findChip(chip.name), &chip);
    // One block may use all but the part that is kept for each block.
    EXPECT_EQ(chip.sharedPerBlock + Chip::sharedReservedPerBlock, chip.sharedPerSM);
    EXPECT_TRUE(chip.has(ChipFeature::AsyncCopy));
    EXPECT_EQ(std::string(chip.name).find(std::to_string(chip.computeCapability)), 3u);
  }
}

TEST(Target, RowsForADevice) {
  EXPECT_EQ(findChipForDevice(75), nullptr);
  EXPECT_EQ(findChipForDevice(80)->name, "sm_80");
  EXPECT_EQ(findChipForDevice(89)->name, "sm_89");
  EXPECT_EQ(findChipForDevice(90)->name, "sm_90a");
  EXPECT_EQ(findChipForDevice(100)->name, "sm_100a");
  // Newer than the table: nothing that is specific to one chip.
  EXPECT_EQ(findChipForDevice(130)->name, "sm_120");
}

TEST(Target, NamesForMessages) {
  EXPECT_EQ(chipNames().substr(0, 14), "sm_80, sm_86, ");
}

} // namespace

//===- OccupancyTest.cpp - how many blocks a multiprocessor holds -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The numbers are those of NVIDIA's occupancy calculator, worked out by hand.
//===----------------------------------------------------------------------===//

#include "tilec/Support/Occupancy.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

const Chip &chip(const char *name) { return *findChip(name); }

TEST(Occupancy, WarpsAndRegisters) {
  Occupancy full = occupancyOf(chip("sm_80"), 256, 32, 0);
  EXPECT_EQ(full.byRegisters, 8u); // 65536 / (32 * 32) = 64 warps
  EXPECT_EQ(full.byWarps, 8u);
  EXPECT_EQ(full.blocks(), 8u);
  EXPECT_EQ(full.limit(), "registers and warps");
  // 33 registers are given out as 40: 51 warps, of which 48 fit a quarter each.
  EXPECT_EQ(occupancyOf(chip("sm_80"), 256, 33, 0).byRegisters, 6u);
  EXPECT_EQ(occupancyOf(chip("sm_80"), 32, 40, 0).byRegisters, 48u);
  EXPECT_EQ(occupancyOf(chip("sm_80"), 32, 40, 0).blocks(), 32u);
  EXPECT_EQ(occupancyOf(chip("sm_80"), 32, 40, 0).limit(), "block slots");
  EXPECT_EQ(occupancyOf(chip("sm_86"), 1024, 32, 0).blocks(), 1u);
}

TEST(Occupancy, SharedMemory) {
  // 164 KiB, of which each block costs 1 KiB more than it asks for.
  EXPECT_EQ(occupancyOf(chip("sm_80"), 128, 32, 40 * 1024).bySharedMemory, 4u);
  EXPECT_EQ(occupancyOf(chip("sm_80"), 128, 32, 40 * 1024 + 1).bySharedMemory, 3u);
  Occupancy product = occupancyOf(chip("sm_90a"), 384, 168, 213 * 1024);
  EXPECT_EQ(product.byRegisters, 1u);
  EXPECT_EQ(product.byWarps, 5u);
  EXPECT_EQ(product.limit(), "registers and shared memory");
}

TEST(Occupancy, WhatIsNotKnownIsNoLimit) {
  Occupancy occupancy = occupancyOf(chip("sm_90a"), 128, 0, 100 * 1024);
  EXPECT_FALSE(occupancy.byRegisters.has_value());
  EXPECT_EQ(occupancy.blocks(), 2u);
  EXPECT_EQ(occupancy.limit(), "shared memory");
}

TEST(Occupancy, NoneWhereABlockDoesNotFit) {
  EXPECT_EQ(occupancyOf(chip("sm_80"), 1024, 255, 0).blocks(), 0u);
}

} // namespace

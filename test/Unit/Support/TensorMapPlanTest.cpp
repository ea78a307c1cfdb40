//===- TensorMapPlanTest.cpp - what a tensor map describes --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Descriptions of arrays, each limit of the hardware on both of its sides, and which
// build a launch takes when there can be no map.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/LaunchPlan.h"

#include "SampleKernel.h"

#include "gtest/gtest.h"

using namespace tilec;

static void *address(uintptr_t at) { return reinterpret_cast<void *>(at); }

static ArrayArg bf16Array(std::initializer_list<int64_t> dims, uintptr_t at = 0x1000) {
  return ArrayArg::rowMajor(address(at), DType::BF16, dims);
}

static bool isPossible(const ArrayArg &array, bool isStrided = false) {
  TensorMapInfo map;
  map.box.assign(static_cast<size_t>(array.rank), 8);
  return planTensorMap(map, array, isStrided).has_value();
}

TEST(TensorMapPlan, TurnsAxesAround) {
  auto plan = planTensorMap({0, {1, 128, 64}, 128}, bf16Array({3, 500, 72}), false);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->dtype, DType::BF16);
  EXPECT_EQ(plan->rank, 3);
  EXPECT_EQ(plan->swizzleBytes, 128);
  EXPECT_EQ(plan->base, address(0x1000));
  EXPECT_EQ(std::vector<uint64_t>(plan->dims, plan->dims + 5),
            (std::vector<uint64_t>{72, 500, 3, 1, 1}));
  EXPECT_EQ(std::vector<uint64_t>(plan->pitches, plan->pitches + 4),
            (std::vector<uint64_t>{144, 72000, 0, 0}));
  EXPECT_EQ(std::vector<uint32_t>(plan->box, plan->box + 5),
            (std::vector<uint32_t>{64, 128, 1, 1, 1}));
  EXPECT_EQ(*plan, *planTensorMap({0, {1, 128, 64}, 128}, bf16Array({3, 500, 72}), false));
  EXPECT_NE(*plan, *planTensorMap({0, {1, 64, 64}, 128}, bf16Array({3, 500, 72}), false));
}

TEST(TensorMapPlan, StridesOfStridedArrays) {
  ArrayArg array = bf16Array({100, 64});
  array.strides[0] = 80;
  auto plan = planTensorMap({0, {8, 64}, 0}, array, true);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pitches[0], 160u);
  // A row-major array of one row may carry any stride; nobody looks at it.
  array.dims[0] = 1;
  array.strides[0] = 3;
  EXPECT_EQ(planTensorMap({0, {8, 64}, 0}, array, false)->pitches[0], 128u);
  EXPECT_FALSE(isPossible(array, true));
  array.strides[0] = -80;
  EXPECT_FALSE(isPossible(array, true));
  array.strides[0] = 0;
  EXPECT_FALSE(isPossible(array, true));
  array.strides[0] = 80;
  array.strides[1] = 8; // gaps inside of rows
  EXPECT_FALSE(isPossible(array, true));
}

TEST(TensorMapPlan, Limits) {
  EXPECT_TRUE(isPossible(bf16Array({8, 64})));
  EXPECT_FALSE(isPossible(bf16Array({0, 64})));
  EXPECT_FALSE(isPossible(bf16Array({8, 0})));
  EXPECT_FALSE(isPossible(bf16Array({8, 64}, 0x1008)));
  EXPECT_TRUE(isPossible(bf16Array({8, 72})));
  EXPECT_FALSE(isPossible(bf16Array({8, 68}))); // rows of 136 bytes
  EXPECT_TRUE(isPossible(bf16Array({69})));
  // A tile that is far away is taken to begin behind this, where 32 bits still hold all of it.
  constexpr int64_t longest = (int64_t(1) << 31) - (int64_t(1) << 20);
  EXPECT_TRUE(isPossible(bf16Array({longest, 64})));
  EXPECT_FALSE(isPossible(bf16Array({longest + 1, 64})));
  EXPECT_TRUE(isPossible(bf16Array({longest})));
  EXPECT_FALSE(isPossible(bf16Array({longest + 8})));
  // Pitches: nearly 2^32 bytes, then 256 and 257 of those.
  EXPECT_TRUE(isPossible(bf16Array({9, 256, longest})));
  EXPECT_FALSE(isPossible(bf16Array({9, 257, longest})));
  // The outermost axis has no pitch of its own.
  EXPECT_TRUE(isPossible(bf16Array({257, longest})));
  // Past 64 bits.
  EXPECT_FALSE(isPossible(bf16Array({longest, longest, longest})));
  EXPECT_TRUE(isPossible(bf16Array({2, 2, 2, 2, 64})));
  EXPECT_FALSE(isPossible(bf16Array({2, 2, 2, 2, 2, 64})));
}

/// The sample kernel with a build that copies `a` by a tensor map.
static KernelInfo mappedKernel() {
  KernelInfo info = sampleKernel();
  BuildInfo mapped = info.builds[0];
  mapped.symbol = "matmul__mapped";
  mapped.tensorMaps = {{1, {64, 64}, 128}, {0, {128, 64}, 128}};
  info.builds.insert(info.builds.begin(), mapped);
  return info;
}

static std::vector<KernelArg> sampleArgs(int64_t m, int64_t k, int64_t n) {
  return {bf16Array({m, k}), bf16Array({k, n}, 0x20000000), bf16Array({m, n}, 0x30000000),
          ScalarArg::f32(2.0f)};
}

TEST(TensorMapPlan, LaunchesPlanTheMapsOfTheirBuild) {
  auto plan = planLaunch(mappedKernel(), sampleArgs(300, 64, 136));
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_EQ(plan->build, 0u);
  ASSERT_EQ(plan->tensorMaps.size(), 2u);
  EXPECT_EQ(plan->tensorMaps[0].base, address(0x20000000));
  EXPECT_EQ(plan->tensorMaps[0].dims[0], 136u);
  EXPECT_EQ(plan->tensorMaps[1].dims[1], 300u);
  // They are no part of the packed bytes.
  EXPECT_EQ(plan->offsets.size(), 13u);
}

TEST(TensorMapPlan, LaunchesFallBackToABuildWithoutMaps) {
  // An array without elements has none, though its addresses are aligned.
  auto plan = planLaunch(mappedKernel(), sampleArgs(300, 0, 136));
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_EQ(plan->build, 1u);
  EXPECT_TRUE(plan->tensorMaps.empty());
  plan = planLaunch(mappedKernel(), sampleArgs(300, 64, 129));
  EXPECT_EQ(plan->build, 2u);
  KernelInfo only = mappedKernel();
  only.builds.resize(1);
  EXPECT_EQ(planLaunch(only, sampleArgs(300, 0, 136)).failure().message,
            "matmul: no build of the kernel takes these arguments (no tensor map describes an "
            "array)");
}

TEST(TensorMapPlan, MapsOfWrongParametersAreRefused) {
  for (TensorMapInfo wrong : {TensorMapInfo{4, {8, 8}, 0}, TensorMapInfo{3, {8, 8}, 0},
                              TensorMapInfo{0, {8}, 0}}) {
    KernelInfo info = mappedKernel();
    info.builds[0].tensorMaps = {wrong};
    EXPECT_EQ(planLaunch(info, sampleArgs(8, 8, 8)).failure().message,
              "matmul: a tensor map of `matmul__mapped` describes no array parameter of its rank");
  }
}

TEST(PhysicalBlocks, ClustersAndResidentBlocks) {
  BuildInfo build;
  EXPECT_EQ(physicalBlocks(build, planOf(7), 132), 7);
  build.cluster = 2;
  EXPECT_EQ(physicalBlocks(build, planOf(7), 132), 8);
  EXPECT_EQ(physicalBlocks(build, planOf(8), 132), 8);
  build.persistent = 1;
  EXPECT_EQ(physicalBlocks(build, planOf(7), 132), 8);
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 132), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 133), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 1), 2);
  build.cluster = 1;
  build.persistent = 2;
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 132), 264);
  EXPECT_EQ(physicalBlocks(build, planOf(263), 132), 263);
  build.persistent = 0;
  build.positions = 4;
  EXPECT_EQ(physicalBlocks(build, planOf(0), 132), 0);
  EXPECT_EQ(physicalBlocks(build, planOf(4), 132), 1);
  EXPECT_EQ(physicalBlocks(build, planOf(5), 132), 2);
  EXPECT_EQ(physicalBlocks(build, planOf(2147483647), 132), 536870912);
}

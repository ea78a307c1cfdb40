//===- LaunchPlanTest.cpp - checked launches ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a launch accepts, what it refuses and in which words, which build it picks,
// and the bytes that it passes.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/LaunchPlan.h"

#include "SampleKernel.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace tilec;

static void *address(uintptr_t at) { return reinterpret_cast<void *>(at); }

/// Arguments of the sample kernel for m, k, n.
static std::vector<KernelArg> sampleArgs(int64_t m, int64_t k, int64_t n) {
  return {ArrayArg::rowMajor(address(0x10000000), DType::BF16, {m, k}),
          ArrayArg::rowMajor(address(0x20000000), DType::BF16, {k, n}),
          ArrayArg::rowMajor(address(0x30000000), DType::BF16, {m, n}), ScalarArg::f32(2.0f)};
}

/// "" when accepted, else the message.
static std::string refusal(const KernelInfo &info, const std::vector<KernelArg> &args,
                           std::optional<Grid> grid = {}, CheckLevel level = CheckLevel::Full) {
  auto plan = planLaunch(info, args, grid, level);
  return plan ? "" : plan.failure().message;
}

template <typename T>
static T readParam(const LaunchPlan &plan, size_t index) {
  T v;
  std::memcpy(&v, plan.params.data() + plan.offsets[index], sizeof v);
  return v;
}

TEST(LaunchPlan, PacksParametersInOrder) {
  auto plan = planLaunch(sampleKernel(), sampleArgs(300, 64, 129));
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_EQ(plan->grid, (Grid{3, 2, 1}));
  EXPECT_EQ(plan->numBlocks, 6);
  // a, m, k, b, k, n, c, m, n, alpha, gx, gy, gz
  ASSERT_EQ(plan->offsets.size(), 13u);
  EXPECT_EQ(readParam<uint64_t>(*plan, 0), 0x10000000u);
  EXPECT_EQ(readParam<int64_t>(*plan, 1), 300);
  EXPECT_EQ(readParam<int64_t>(*plan, 5), 129);
  EXPECT_EQ(readParam<float>(*plan, 9), 2.0f);
  EXPECT_EQ(plan->offsets[10], 76u);
  EXPECT_EQ(readParam<int32_t>(*plan, 10), 3);
  EXPECT_EQ(readParam<int32_t>(*plan, 11), 2);
  EXPECT_EQ(readParam<int32_t>(*plan, 12), 1);
  EXPECT_EQ(plan->params.size(), 88u);
}

TEST(LaunchPlan, NumberOfMultiprocessorsComesLast) {
  KernelInfo info = sampleKernel();
  info.usesNumSMs = true;
  auto launcher = Launcher::create(info);
  ASSERT_TRUE(launcher) << launcher.failure().message;
  LaunchPlan plan;
  for (int32_t count : {1, 132}) { // 1 until a device says otherwise
    if (count != 1)
      launcher->setNumSMs(count);
    ASSERT_TRUE(launcher->plan(sampleArgs(300, 64, 129), std::nullopt, CheckLevel::Full, plan));
    ASSERT_EQ(plan.offsets.size(), 14u);
    EXPECT_EQ(readParam<int32_t>(plan, 13), count);
  }
}

TEST(LaunchPlan, GridOfTheDevice) {
  KernelInfo info = sampleKernel();
  info.grid = {"min(num_sms(), cdiv(dim(0, 0), 128))"};
  info.requirements = {{"num_sms() >= 2", "num_sms() >= 2", "", 0}};
  auto launcher = Launcher::create(info);
  ASSERT_TRUE(launcher) << launcher.failure().message;
  LaunchPlan plan;
  auto refused = launcher->plan(sampleArgs(3000, 64, 129), std::nullopt, CheckLevel::Full, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().message, "matmul: `num_sms() >= 2` is false: num_sms() = 1");
  for (auto [count, blocks] : {std::pair(20, 20), std::pair(132, 24)}) {
    launcher->setNumSMs(count);
    ASSERT_TRUE(launcher->plan(sampleArgs(3000, 64, 129), std::nullopt, CheckLevel::Full, plan));
    EXPECT_EQ(plan.numBlocks, blocks);
  }
}

TEST(LaunchPlan, SmallScalarsAreAlignedNaturally) {
  KernelInfo info;
  info.name = "k";
  info.params = {sampleScalar("b", DType::Bool), sampleScalar("h", DType::F16),
                 sampleScalar("c", DType::U8), sampleScalar("n", DType::Int)};
  std::vector<KernelArg> args = {ScalarArg::boolean(true), ScalarArg{DType::F16, 0x3c00},
                                 ScalarArg::integer(DType::U8, 255),
                                 ScalarArg::integer(DType::Int, -1)};
  auto plan = planLaunch(info, args, Grid{1, 1, 1});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->offsets, (std::vector<uint32_t>{0, 2, 4, 8, 16, 20, 24}));
  EXPECT_EQ(plan->sizes, (std::vector<uint32_t>{1, 2, 1, 8, 4, 4, 4}));
  EXPECT_EQ(readParam<uint16_t>(*plan, 1), 0x3c00);
  EXPECT_EQ(readParam<int64_t>(*plan, 3), -1);
}

TEST(LaunchPlan, StridedArraysPassStrides) {
  KernelInfo info;
  info.name = "k";
  info.params = {sampleArray("x", DType::F32, {{"m", {}}, {"n", {}}})};
  ArrayArg x = ArrayArg::rowMajor(address(64), DType::F32, {5, 7});
  std::swap(x.strides[0], x.strides[1]); // 1, 7
  EXPECT_EQ(refusal(info, {x}, Grid{1, 1, 1}),
            "k: argument `x` is not row-major: axis 1 has stride 7, expected 1 (copy it, or declare "
            "the parameter `strided`)");
  info.params[0].isStrided = true;
  auto plan = planLaunch(info, std::vector<KernelArg>{x}, Grid{1, 1, 1});
  ASSERT_TRUE(plan);
  EXPECT_EQ(readParam<int64_t>(*plan, 3), 1);
  EXPECT_EQ(readParam<int64_t>(*plan, 4), 7);
}

TEST(LaunchPlan, StridesOfSingleElementAxesDoNotMatter) {
  KernelInfo info;
  info.name = "k";
  info.params = {sampleArray("x", DType::F32, {{"m", {}}, {"n", {}}})};
  ArrayArg x = ArrayArg::rowMajor(address(64), DType::F32, {1, 7});
  x.strides[0] = 1000;
  EXPECT_EQ(refusal(info, {x}, Grid{1, 1, 1}), "");
}

TEST(LaunchPlan, RefusesWrongArguments) {
  KernelInfo info = sampleKernel();
  auto args = sampleArgs(8, 8, 8);
  EXPECT_EQ(refusal(info, {}), "matmul: the kernel has 4 parameters, the launch gives 0");
  std::get<ArrayArg>(args[1]).dtype = DType::F32;
  EXPECT_EQ(refusal(info, args), "matmul: argument `b` is f32, the parameter is bf16");
  args = sampleArgs(8, 8, 8);
  args[0] = ArrayArg::rowMajor(address(64), DType::BF16, {64});
  EXPECT_EQ(refusal(info, args), "matmul: argument `a` has rank 1, the parameter has rank 2");
  args = sampleArgs(8, 8, 8);
  args[3] = args[0];
  EXPECT_EQ(refusal(info, args),
            "matmul: argument `alpha` is an array, the parameter is a scalar");
  args[3] = ScalarArg::integer(DType::I32, 1);
  EXPECT_EQ(refusal(info, args), "matmul: argument `alpha` is i32, the parameter is f32");
  args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[2]).data = nullptr;
  EXPECT_EQ(refusal(info, args), "matmul: argument `c` is a null pointer");
  args = sampleArgs(-1, 8, 8);
  EXPECT_EQ(refusal(info, args), "matmul: a.shape[0] is -1, a dim is not negative");
  args = sampleArgs(int64_t(1) << 40, int64_t(1) << 40, 8);
  EXPECT_EQ(refusal(info, args), "matmul: argument `a` has more than 2^60 elements");
  // Along one axis, though there is none in all.
  args = sampleArgs(0, (int64_t(1) << 60) + 1, 8);
  EXPECT_EQ(refusal(info, args), "matmul: argument `a` has more than 2^60 elements");
}

TEST(LaunchPlan, DimsBoundTwiceAgree) {
  auto args = sampleArgs(8, 16, 8);
  args[1] = ArrayArg::rowMajor(address(64), DType::BF16, {24, 8});
  EXPECT_EQ(refusal(sampleKernel(), args),
            "matmul: dimension `k` is 16 = a.shape[1] and 24 = b.shape[0]");
  EXPECT_EQ(planLaunch(sampleKernel(), args).failure().argument, "b");
  // A name twice in one array.
  KernelInfo square;
  square.name = "square";
  square.params = {sampleArray("x", DType::F32, {{"n", {}}, {"n", {}}})};
  EXPECT_EQ(refusal(square, {ArrayArg::rowMajor(address(64), DType::F32, {3, 4})}, Grid{1, 1, 1}),
            "square: dimension `n` is 3 = x.shape[0] and 4 = x.shape[1]");
}

TEST(LaunchPlan, ConstantDims) {
  KernelInfo info;
  info.name = "k";
  info.params = {sampleArray("x", DType::F32, {{"", 3}, {"BN", 64}})};
  EXPECT_EQ(refusal(info, {ArrayArg::rowMajor(address(64), DType::F32, {3, 64})}, Grid{1, 1, 1}),
            "");
  EXPECT_EQ(refusal(info, {ArrayArg::rowMajor(address(64), DType::F32, {4, 64})}, Grid{1, 1, 1}),
            "k: x.shape[0] is 4, the parameter has 3");
  EXPECT_EQ(refusal(info, {ArrayArg::rowMajor(address(64), DType::F32, {3, 65})}, Grid{1, 1, 1}),
            "k: x.shape[1] is 65, the parameter has 64 (`BN`)");
}

TEST(LaunchPlan, RequirementsNameTheirValues) {
  EXPECT_EQ(refusal(sampleKernel(), sampleArgs(8, 4097, 8)),
            "matmul: `k % 8 == 0` (matmul.tile:4) is false: k = 4097 = a.shape[1]");
  EXPECT_EQ(refusal(sampleKernel(), sampleArgs(8, 4097, 8), {}, CheckLevel::Off), "");
  KernelInfo info = sampleKernel();
  info.requirements = {{"arg(3) < 1.0 && dim(0, 0) > 1", "alpha < 1 && m > 1", "f.tile", 9}};
  EXPECT_EQ(refusal(info, sampleArgs(8, 8, 8)),
            "matmul: `alpha < 1 && m > 1` (f.tile:9) is false: alpha = 2.0, m = 8 = a.shape[0]");
  info.requirements = {{"1 / dim(0, 0) == 1", "1 / m == 1", "f.tile", 9}};
  EXPECT_EQ(refusal(info, sampleArgs(0, 8, 8)),
            "matmul: `1 / m == 1` (f.tile:9) cannot be evaluated, division by zero in `1 / dim(0, "
            "0) == 1`: m = 0 = a.shape[0]");
  info.requirements = {{"aligned(1, 4096)", "aligned(b, 4096)", "f.tile", 9}};
  auto args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[1]).data = address(0x1010);
  EXPECT_EQ(refusal(info, args),
            "matmul: `aligned(b, 4096)` (f.tile:9) is false: address of b = 0x1010");
}

TEST(LaunchPlan, BrokenFactsAreRefused) {
  KernelInfo info = sampleKernel();
  info.grid = {"cdiv(dim(9, 0), 128)"};
  EXPECT_EQ(refusal(info, sampleArgs(8, 8, 8)),
            "matmul: host expression `cdiv(dim(9, 0), 128)` names a missing parameter");
  info.grid = {"arg(0)"};
  EXPECT_NE(refusal(info, sampleArgs(8, 8, 8)), "");
  info.grid = {"1 +"};
  EXPECT_NE(refusal(info, sampleArgs(8, 8, 8)), "");
  info.grid = {"true"};
  EXPECT_EQ(refusal(info, sampleArgs(8, 8, 8)), "matmul: grid[0] is not an int");
}

TEST(LaunchPlan, GridLimits) {
  KernelInfo info = sampleKernel();
  auto args = sampleArgs(8, 8, 8);
  int64_t top = (int64_t(1) << 31) - 1;
  EXPECT_EQ(refusal(info, args, Grid{top, 1, 1}), "");
  KernelInfo free = info; // without a `grid` clause every axis is the caller's
  free.grid.clear();
  EXPECT_EQ(refusal(free, args, Grid{1, 1, 70000}), "");
  EXPECT_EQ(refusal(info, args, Grid{1, top + 1, 1}),
            "matmul: grid[1] is 2147483648, it must be at least 0 and less than 2^31");
  EXPECT_EQ(refusal(info, args, Grid{-1, 1, 1}),
            "matmul: grid[0] is -1, it must be at least 0 and less than 2^31");
  EXPECT_EQ(refusal(info, args, Grid{65536, 32768, 1}),
            "matmul: grid [65536, 32768, 1] has 2^31 blocks or more");
  auto none = planLaunch(info, args, Grid{top, top, 0});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->isEmpty());
  // A zero dim makes a zero grid, and its arrays may be null.
  args = sampleArgs(0, 8, 8);
  std::get<ArrayArg>(args[0]).data = std::get<ArrayArg>(args[2]).data = nullptr;
  auto empty = planLaunch(info, args);
  ASSERT_TRUE(empty) << empty.failure().message;
  EXPECT_TRUE(empty->isEmpty());
  info.grid.clear();
  EXPECT_EQ(refusal(info, sampleArgs(8, 8, 8)),
            "matmul: the kernel has no `grid` clause and the launch gives no grid");
}

static std::string chosen(const KernelInfo &info, const std::vector<KernelArg> &args) {
  auto plan = planLaunch(info, args, Grid{1, 1, 1});
  return plan ? info.builds[plan->build].symbol : plan.failure().message;
}

TEST(LaunchPlan, ChoosesTheBuildWhoseFactsHold) {
  KernelInfo info = sampleKernel();
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 8)), "matmul__aligned");
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 9)), "matmul"); // pitch of b is 18 bytes
  auto args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[1]).data = address(0x20000002);
  EXPECT_EQ(chosen(info, args), "matmul");
  info.builds.pop_back();
  EXPECT_EQ(chosen(info, args),
            "matmul: no build of the kernel takes these arguments (not aligned16)");
}

/// No access of an array of single elements is wider than one, so of its pitches only those
/// of what comes in front of them count.
TEST(LaunchPlan, RowsOfSingleElements) {
  KernelInfo info;
  info.name = "k";
  info.params = {sampleArray("x", DType::F32, {{"b", {}}, {"h", {}}, {"", 1}})};
  info.builds.resize(2);
  info.builds[0].symbol = "k__aligned16";
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::Aligned16);
  info.builds[1].symbol = "k";
  auto x = [](int64_t h, uint64_t at) {
    return std::vector<KernelArg>{ArrayArg::rowMajor(address(at), DType::F32, {5, h, 1})};
  };
  EXPECT_EQ(chosen(info, x(8, 64)), "k__aligned16");
  EXPECT_EQ(chosen(info, x(8, 68)), "k");
  EXPECT_EQ(chosen(info, x(7, 64)), "k"); // pitches of 28 bytes
  info.params[0].dims[2] = {"n", {}};     // it happens to be 1
  EXPECT_EQ(chosen(info, x(8, 64)), "k");
}

// array-C3
TEST(LaunchPlan, OverlapAndSizeFacts) {
  KernelInfo info = sampleKernel();
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::Disjoint);
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 8)), "matmul__aligned");
  auto args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[2]).data = address(0x10000000 + 127);
  EXPECT_EQ(chosen(info, args), "matmul");
  std::get<ArrayArg>(args[2]).data = address(0x10000000 + 128);
  EXPECT_EQ(chosen(info, args), "matmul__aligned");
  // Two arrays that are only read may overlap.
  args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[1]).data = std::get<ArrayArg>(args[0]).data;
  EXPECT_EQ(chosen(info, args), "matmul__aligned");
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::Index32);
  EXPECT_EQ(chosen(info, sampleArgs(32768, 65528, 8)), "matmul__aligned");
  EXPECT_EQ(chosen(info, sampleArgs(32768, 65544, 8)), "matmul");
  // Where it is known how far tiles reach, the whole array may be larger.
  for (ParamInfo &param : info.params)
    if (param.isArray)
      param.reach = {128, 64};
  EXPECT_EQ(chosen(info, sampleArgs(32768, 65544, 8)), "matmul__aligned");
  EXPECT_EQ(chosen(info, sampleArgs(128, (int64_t(1) << 24) + (int64_t(1) << 18), 8)), "matmul");
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, int64_t(1) << 31)), "matmul");
}

/// A build for few blocks is for grids of at most half as many as there are multiprocessors,
/// with half a megabyte of arrays to each.
TEST(LaunchPlan, BuildsForFewBlocks) {
  KernelInfo info = sampleKernel();
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::FewBlocks);
  auto launcher = Launcher::create(info);
  ASSERT_TRUE(launcher);
  auto buildFor = [&](Grid grid, int32_t numSMs, int64_t k) {
    launcher->setNumSMs(numSMs);
    LaunchPlan plan;
    auto args = sampleArgs(4096, k, 8);
    EXPECT_TRUE(launcher->plan(args, grid, CheckLevel::Full, plan));
    return plan.build;
  };
  EXPECT_EQ(buildFor({66, 1, 1}, 132, 8192), 0u);
  EXPECT_EQ(buildFor({67, 1, 1}, 132, 8192), 1u);
  EXPECT_EQ(buildFor({6, 12, 1}, 132, 8192), 1u);
  EXPECT_EQ(buildFor({1, 1, 1}, 1, 8192), 1u);
  EXPECT_EQ(buildFor({66, 1, 1}, 132, 2048), 1u);
  EXPECT_EQ(buildFor({16, 1, 1}, 132, 2048), 0u);
  // Two blocks a multiprocessor: twice as many positions, with half as much to each.
  info.builds[0].persistent = 2;
  launcher = Launcher::create(info);
  ASSERT_TRUE(launcher);
  EXPECT_EQ(buildFor({132, 1, 1}, 132, 8192), 0u);
  EXPECT_EQ(buildFor({133, 1, 1}, 132, 8192), 1u);
  EXPECT_EQ(buildFor({64, 1, 1}, 132, 2048), 0u);
  EXPECT_EQ(buildFor({66, 1, 1}, 132, 2048), 1u);
  // So it is where blocks do not stay.
  info.builds[0].persistent = 0;
  info.builds[0].blocksAtOnce = 2;
  launcher = Launcher::create(info);
  ASSERT_TRUE(launcher);
  EXPECT_EQ(buildFor({132, 1, 1}, 132, 8192), 0u);
  EXPECT_EQ(buildFor({133, 1, 1}, 132, 8192), 1u);
}

/// Bases and pitches that are multiples of words are enough for a build that asks for no more.
TEST(LaunchPlan, BuildsForWords) {
  KernelInfo info = sampleKernel();
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::Aligned4);
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 8)), "matmul__aligned");
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 6)), "matmul__aligned"); // pitches of 12 bytes
  EXPECT_EQ(chosen(info, sampleArgs(8, 8, 9)), "matmul");
  auto args = sampleArgs(8, 8, 8);
  std::get<ArrayArg>(args[1]).data = address(0x20000004);
  EXPECT_EQ(chosen(info, args), "matmul__aligned");
  std::get<ArrayArg>(args[1]).data = address(0x20000002);
  EXPECT_EQ(chosen(info, args), "matmul");
}

/// Rows of a `strided` array are dense where the last stride is 1, or never used; in a build that
/// relies on alignment, too, they are multiples of 16 bytes as well.
TEST(LaunchPlan, BuildsForDenseRows) {
  KernelInfo info = sampleKernel();
  info.params[0].isStrided = true;
  auto args = sampleArgs(8, 8, 8);
  auto &a = std::get<ArrayArg>(args[0]);
  auto with = [&](uint8_t facts, int64_t pitch, int64_t step) {
    info.builds[0].facts = facts;
    a.strides[0] = pitch;
    a.strides[1] = step;
    return chosen(info, args);
  };
  auto dense = static_cast<uint8_t>(BuildFact::DenseRows);
  auto both = static_cast<uint8_t>(dense | static_cast<uint8_t>(BuildFact::Aligned16));
  EXPECT_EQ(with(dense, 9, 1), "matmul__aligned");
  EXPECT_EQ(with(both, 9, 1), "matmul");
  EXPECT_EQ(with(both, 16, 1), "matmul__aligned");
  EXPECT_EQ(with(both, -16, 1), "matmul__aligned");
  EXPECT_EQ(with(dense, 1, 8), "matmul");
  EXPECT_EQ(with(dense, 16, 0), "matmul");
  a.dims[1] = 7; // as `k` of the other argument
  std::get<ArrayArg>(args[1]) = ArrayArg::rowMajor(address(0x20000000), DType::BF16, {7, 8});
  info.requirements.clear();
  EXPECT_EQ(with(dense, 16, 1), "matmul__aligned");
  EXPECT_EQ(with(both, 16, 1), "matmul");
  a.dims[1] = 1;
  std::get<ArrayArg>(args[1]) = ArrayArg::rowMajor(address(0x20000000), DType::BF16, {1, 8});
  EXPECT_EQ(with(dense, 16, 5), "matmul__aligned");
}

/// Arrays with the widest tiles begin and end at multiples of 16 bytes, and there is room in a tile
/// for a row and seven elements of 2 bytes in front of it.
TEST(LaunchPlan, BuildsForRowsOfAnyLength) {
  KernelInfo info = sampleKernel();
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::WholePieces);
  info.requirements.clear();
  info.params[0].reach = {1, 64};
  info.params[1].reach = {1, 1};
  info.params[2].reach = {1, 64};
  EXPECT_EQ(chosen(info, sampleArgs(8, 57, 57)), "matmul__aligned");
  EXPECT_EQ(chosen(info, sampleArgs(8, 58, 57)), "matmul"); // no room
  EXPECT_EQ(chosen(info, sampleArgs(7, 57, 57)), "matmul"); // ends at 14 bytes
  EXPECT_EQ(chosen(info, sampleArgs(7, 56, 24)), "matmul__aligned");
  auto args = sampleArgs(8, 57, 57);
  std::get<ArrayArg>(args[1]).data = address(0x20000002); // has no such tiles
  EXPECT_EQ(chosen(info, args), "matmul__aligned");
  std::get<ArrayArg>(args[2]).data = address(0x30000008);
  EXPECT_EQ(chosen(info, args), "matmul");
  info.params[0].reach.clear();
  info.params[2].reach.clear();
  EXPECT_EQ(chosen(info, sampleArgs(8, 57, 57)), "matmul"); // nothing is known of tiles
}

/// A build for pairs is for grids of more positions than half of the multiprocessors, even along
/// axes 0 and 1, or so long that an odd one does not count; with rows that begin within lines,
/// or half a megabyte of arrays to each position.
TEST(LaunchPlan, BuildsForPairs) {
  KernelInfo info = sampleKernel();
  info.builds[0].facts = static_cast<uint8_t>(BuildFact::Pairs);
  auto launcher = Launcher::create(info);
  ASSERT_TRUE(launcher);
  launcher->setNumSMs(132);
  auto buildFor = [&](Grid grid, int64_t m = 64, int64_t k = 1000) {
    LaunchPlan plan;
    auto args = sampleArgs(m, k, 64);
    EXPECT_TRUE(launcher->plan(args, grid, CheckLevel::Full, plan));
    return plan.build;
  };
  EXPECT_EQ(buildFor({16, 8, 1}), 0u);
  EXPECT_EQ(buildFor({2, 34, 1}), 0u);
  EXPECT_EQ(buildFor({2, 33, 1}), 1u); // too few positions
  EXPECT_EQ(buildFor({15, 8, 1}), 1u);
  EXPECT_EQ(buildFor({8, 15, 1}), 1u);
  EXPECT_EQ(buildFor({17, 17, 1}), 0u);
  EXPECT_EQ(buildFor({1, 128, 1}), 1u);
  EXPECT_EQ(buildFor({128, 1, 1}), 1u);
  // Rows of 2048 bytes.
  EXPECT_EQ(buildFor({16, 8, 1}, 64, 1024), 1u);
  EXPECT_EQ(buildFor({16, 8, 1}, 32768, 1024), 0u);
  EXPECT_EQ(buildFor({16, 8, 1}, 16384, 1024), 1u);
  EXPECT_EQ(buildFor({160, 8, 1}, 34816, 1024), 1u);
}

TEST(LaunchPlan, BlocksThatShareAPosition) {
  BuildInfo build;
  build.cluster = 2;
  EXPECT_EQ(physicalBlocks(build, planOf(5), 132), 6);
  build.cluster = build.splitK = 4;
  EXPECT_EQ(clusterBlocks(build, planOf(5), 132), 4u);
  EXPECT_EQ(physicalBlocks(build, planOf(5), 132), 20);
  build.persistent = 1;
  EXPECT_EQ(physicalBlocks(build, planOf(50), 132), 132);
  // As many as there is room for.
  build.splitK = 1;
  EXPECT_EQ(clusterBlocks(build, planOf(14), 132), 8u);
  EXPECT_EQ(clusterBlocks(build, planOf(15), 132), 4u);
  EXPECT_EQ(clusterBlocks(build, planOf(30), 132), 2u);
  EXPECT_EQ(physicalBlocks(build, planOf(64), 132), 128);
  // Several blocks a multiprocessor are no reason for larger clusters.
  build.persistent = 4;
  EXPECT_EQ(clusterBlocks(build, planOf(64), 132), 2u);
  EXPECT_EQ(physicalBlocks(build, planOf(128), 132), 256);
}

TEST(LaunchPlan, BlocksThatAddUpInMemory) {
  BuildInfo build;
  EXPECT_EQ(blocksOfPosition(build, planOf(5), 132), 1u);
  EXPECT_EQ(workspaceBytes(build, planOf(5), 132), 0);
  build.splitK = 4;
  build.sumBytes = 512;
  EXPECT_EQ(blocksOfPosition(build, planOf(5), 132), 4u);
  EXPECT_EQ(clusterBlocks(build, planOf(5), 132), 1u);
  EXPECT_EQ(physicalBlocks(build, planOf(5), 132), 20);
  EXPECT_EQ(workspaceBytes(build, planOf(5), 132), 16384 + 20 * 512);
  // Counters of all positions, in multiples of 256 bytes.
  EXPECT_EQ(workspaceBytes(build, planOf(4096), 132), 16384 + 4 * 4096 * 512);
  EXPECT_EQ(workspaceBytes(build, planOf(4097), 132), 16640 + 4 * 4097 * 512);
  EXPECT_EQ(workspaceBytes(build, planOf(1 << 30), 132), (int64_t(1) << 32) + (int64_t(1) << 41));
  // As many as there is room for.
  build.splitK = 1;
  EXPECT_EQ(blocksOfPosition(build, planOf(16), 132), 8u);
  EXPECT_EQ(blocksOfPosition(build, planOf(17), 132), 4u);
  EXPECT_EQ(blocksOfPosition(build, planOf(33), 132), 4u);
  EXPECT_EQ(blocksOfPosition(build, planOf(34), 132), 2u);
  build.blocksAtOnce = 2;
  EXPECT_EQ(blocksOfPosition(build, planOf(33), 132), 8u);
  EXPECT_EQ(blocksOfPosition(build, planOf(66), 132), 4u);
  EXPECT_EQ(blocksOfPosition(build, planOf(67), 132), 2u);
}

TEST(LaunchPlan, WorkspacesAreTheLastParameter) {
  KernelInfo info = sampleKernel();
  info.usesNumSMs = true;
  info.builds[0].sumBytes = 512;
  alignas(16) static char memory[1 << 16];
  int64_t dims[] = {8, 8};
  KernelArg array = ArrayArg::rowMajor(memory, DType::BF16, dims, 2);
  std::vector<KernelArg> args = {array, array, array, ScalarArg{DType::F32, 0}};
  auto plan = planLaunch(info, args);
  ASSERT_TRUE(plan) << plan.failure().message;
  ASSERT_EQ(plan->build, 0u);
  ASSERT_EQ(plan->sizes.back(), 8u);
  plan->setWorkspace(memory);
  void *got = nullptr;
  std::memcpy(&got, plan->params.data() + plan->offsets.back(), sizeof got);
  EXPECT_EQ(got, memory);
  // Only a build that adds up in memory has it.
  size_t count = plan->sizes.size();
  info.builds[0].sumBytes = 0;
  EXPECT_EQ(planLaunch(info, args)->sizes.size(), count - 1);
}

TEST(LaunchPlan, NoPairsAlongAnAxisOfOnePosition) {
  BuildInfo build;
  build.persistent = 1;
  build.cluster = 2;
  LaunchPlan plan = planOf(200);
  EXPECT_EQ(clusterBlocks(build, plan, 132), 2u);
  build.clusterAxis = 1;
  EXPECT_EQ(clusterBlocks(build, plan, 132), 1u);
  EXPECT_EQ(physicalBlocks(build, plan, 132), 132);
  plan.grid = {67, 3, 1};
  EXPECT_EQ(clusterBlocks(build, plan, 132), 2u);
  plan.grid = {1, 7, 1};
  plan.numBlocks = 7;
  EXPECT_EQ(physicalBlocks(build, plan, 132), 8);
  build.clusterAxis = 0;
  EXPECT_EQ(physicalBlocks(build, plan, 132), 7);
}

TEST(LaunchPlan, ClustersThatFindRoom) {
  BuildInfo build;
  build.persistent = 1;
  build.cluster = 4;
  EXPECT_EQ(physicalBlocks(build, planOf(1056), 132), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 132, 30), 120);
  EXPECT_EQ(physicalBlocks(build, planOf(1056), 132, 40), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(5), 132, 30), 8);
  // Blocks that do not stay may wait for others.
  build.persistent = 0;
  EXPECT_EQ(physicalBlocks(build, planOf(1000), 132, 30), 1000);
}

TEST(LaunchPlan, RoundsOfClustersAreFull) {
  BuildInfo build;
  build.persistent = 1;
  build.cluster = 2;
  // Four rounds of 132 blocks would leave sixteen without a position in the last one.
  EXPECT_EQ(physicalBlocks(build, planOf(512), 132), 128);
  EXPECT_EQ(physicalBlocks(build, planOf(2047), 132), 128);
  EXPECT_EQ(physicalBlocks(build, planOf(8192), 132), 132);
  // More than one in 32 would have nothing to do at all.
  EXPECT_EQ(physicalBlocks(build, planOf(500), 132), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(140), 132), 132);
  EXPECT_EQ(physicalBlocks(build, planOf(100), 132), 100);
  // Blocks alone do not share tiles.
  build.cluster = 1;
  EXPECT_EQ(physicalBlocks(build, planOf(512), 132), 132);
}

TEST(LaunchPlan, ReusedPlanDoesNotGrow) {
  auto launcher = Launcher::create(sampleKernel());
  ASSERT_TRUE(launcher);
  LaunchPlan plan;
  auto args = sampleArgs(8, 8, 8);
  ASSERT_TRUE(launcher->plan(args, std::nullopt, CheckLevel::Full, plan));
  const void *params = plan.params.data(), *offsets = plan.offsets.data();
  ASSERT_TRUE(launcher->plan(args, std::nullopt, CheckLevel::Full, plan));
  EXPECT_EQ(plan.params.data(), params);
  EXPECT_EQ(plan.offsets.data(), offsets);
}
TEST(LaunchPlan, OverrideHasNoMoreAxesThanTheGrid) {
  KernelInfo info = sampleKernel();
  info.grid = {"4"};
  info.requirements.clear();
  info.params = {sampleScalar("n", DType::Int)};
  std::vector<KernelArg> args = {ScalarArg::integer(DType::Int, 1)};
  EXPECT_TRUE(planLaunch(info, args, Grid{9, 1, 1}).hasValue());
  auto refused = planLaunch(info, args, Grid{9, 2, 1});
  ASSERT_FALSE(refused.hasValue());
  EXPECT_NE(refused.failure().message.find("grid has 1 extent, the launch gives 2 blocks along axis 1"),
            std::string::npos)
      << refused.failure().message;
}


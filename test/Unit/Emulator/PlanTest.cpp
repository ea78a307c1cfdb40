//===- PlanTest.cpp - launches that planLaunch checked -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A kernel as the compiler makes them: array, dims, scalar, logical grid.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Emulator/Plan.h"

using namespace tilec;
using namespace tilec::test;

TEST(EmulatorPlan, LaunchesFromKernelFacts) {
  KernelInfo info;
  info.name = "scale";
  info.grid = {"cdiv(dim(0, 0), 32)"};
  ParamInfo x;
  x.name = "x";
  x.isArray = true;
  x.isMutable = true;
  x.dims = {{"n", {}}};
  ParamInfo factor;
  factor.name = "factor";
  info.params = {x, factor};
  BuildInfo build;
  build.symbol = "scale";
  build.threads = 32;
  info.builds = {build};

  std::vector<float> data(70, 2.0f);
  std::vector<KernelArg> args = {ArrayArg::rowMajor(data.data(), DType::F32, {70}),
                                 ScalarArg::f32(3.0f)};
  auto plan = planLaunch(info, args);
  ASSERT_TRUE(bool(plan)) << plan.failure().message;
  EmulatorLaunch launch = makeEmulatorLaunch(info, *plan, args);
  ASSERT_EQ(launch.parameters.size(), 6u);
  ASSERT_EQ(launch.globals.size(), 1u);
  EXPECT_EQ(launch.globals[0].size, 280u);
  EXPECT_EQ(launch.grid[0], 3u);

  EmulatedKernel kernel = load(std::string(prologue) + R"(
define ptx_kernel void @scale(ptr addrspace(1) %x, i64 %n, float %f, i32 %gx, i32 %gy, i32 %gz) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %s = shl i32 %b, 5
  %i = add i32 %s, %t
  %j = zext i32 %i to i64
  %c = icmp ult i64 %j, %n
  br i1 %c, label %body, label %end
body:
  %p = getelementptr float, ptr addrspace(1) %x, i64 %j
  %v = load float, ptr addrspace(1) %p
  %m = fmul float %v, %f
  store float %m, ptr addrspace(1) %p
  br label %end
end:
  ret void
})", "scale");
  auto report = kernel.launch(launch);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_CLEAN(*report);
  EXPECT_EQ(data, std::vector<float>(70, 6.0f));
}

TEST(EmulatorPlan, RangesOfStridedArrays) {
  KernelInfo info;
  ParamInfo x;
  x.name = "x";
  x.isArray = x.isStrided = true;
  x.dims = {{"m", {}}, {"n", {}}};
  info.params = {x};
  std::vector<float> data(100);
  ArrayArg array = ArrayArg::rowMajor(data.data(), DType::F32, {4, 5});
  array.strides[0] = 20;
  array.strides[1] = 1;
  std::vector<KernelArg> args = {array};
  EmulatorLaunch launch = makeEmulatorLaunch(info, LaunchPlan(), args);
  ASSERT_EQ(launch.globals.size(), 1u);
  EXPECT_EQ(launch.globals[0].size, 4u * (3 * 20 + 5));
  EXPECT_FALSE(launch.globals[0].writable);
}

TEST(EmulatorPlan, PersistentBuildsAndClusters) {
  KernelInfo info;
  info.name = "count";
  ParamInfo x;
  x.name = "x";
  x.isArray = x.isMutable = true;
  x.dtype = DType::I32;
  x.dims = {{"n", {}}};
  info.params = {x};
  BuildInfo build;
  build.symbol = "count";
  build.threads = 32;
  build.persistent = 1;
  info.builds = {build};
  // Each block adds one to every position that it takes.
  EmulatedKernel kernel = load(std::string(prologue) + R"(
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define ptx_kernel void @count(ptr addrspace(1) %x, i64 %n, i32 %gx, i32 %gy, i32 %gz) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %step = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %check, label %end
check:
  %i = phi i32 [ %b, %0 ], [ %i1, %body ]
  %c = icmp ult i32 %i, %gx
  br i1 %c, label %body, label %end
body:
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %i
  %v = load i32, ptr addrspace(1) %p
  %w = add i32 %v, %step
  store i32 %w, ptr addrspace(1) %p
  %i1 = add i32 %i, %step
  br label %check
end:
  ret void
})", "count");
  for (auto [cluster, positions, resident] :
       {std::tuple(1u, 10, 3), std::tuple(1u, 2, 2), std::tuple(2u, 10, 6), std::tuple(2u, 5, 6)}) {
    info.builds[0].cluster = cluster;
    std::vector<int> data(size_t(positions), 100);
    std::vector<KernelArg> args = {ArrayArg::rowMajor(data.data(), DType::I32, {positions})};
    auto plan = planLaunch(info, args, Grid{positions, 1, 1});
    ASSERT_TRUE(bool(plan)) << plan.failure().message;
    EmulatorLaunch launch = makeEmulatorLaunch(info, *plan, args);
    EXPECT_EQ(launch.cluster, cluster);
    EXPECT_EQ(launch.grid[0], uint32_t(resident));
    auto report = kernel.launch(launch);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    EXPECT_CLEAN(*report);
    EXPECT_EQ(data, std::vector<int>(size_t(positions), 100 + resident));
  }
}

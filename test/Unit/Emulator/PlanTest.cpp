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

//===- CpuDeviceTest.cpp - the CPU as a device --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Device::cpu() takes the same program as a GPU, with a host kernel behind it.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"

#include "tilec/tilec.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {
/// y[i] = 2 * x[i], one block an element.
class Twice : public HostKernel {
public:
  Expected<void> run(std::span<const KernelArg> args, const Grid &grid) override {
    const auto *x = static_cast<const float *>(std::get<ArrayArg>(args[0]).data);
    auto *y = static_cast<float *>(std::get<ArrayArg>(args[1]).data);
    for (int64_t i = 0; i < grid[0]; ++i)
      y[i] = 2 * x[i];
    return {};
  }
};

class TwiceSource : public CodeSource {
public:
  TwiceSource() {
    facts.name = "twice";
    facts.params = {sampleArray("x", f32, {{"n", {}}}), sampleArray("y", f32, {{"n", {}}}, true)};
    facts.grid = {"dim(0, 0)"};
  }
  const KernelInfo &info() const override { return facts; }
  Expected<std::vector<const ModuleImage *>> images(int) override {
    return std::vector<const ModuleImage *>();
  }
  Expected<std::shared_ptr<HostKernel>> hostKernel() override {
    return std::shared_ptr<HostKernel>(std::make_shared<Twice>());
  }
  KernelInfo facts;
};

TEST(CpuDevice, RunsHostKernels) {
  Device cpu = Device::cpu();
  EXPECT_TRUE(cpu.isCpu());
  EXPECT_EQ(cpu.arch(), "cpu");
  EXPECT_EQ(cpu.ordinal(), -1);
  Stream s = cpu.createStream();
  Kernel k(std::make_shared<TwiceSource>());
  std::vector<float> values = {1, 2, 3};
  auto x = Array<f32, 1>::fromHost(s, values);
  auto y = Array<f32, 1>::zeros(s, {3});
  k.launch(s, x, y);
  s.synchronize();
  EXPECT_EQ(y.toHost(s), (std::vector<float>{2, 4, 6}));
  k.launch(s, {.grid = Grid{1, 1, 1}}, y, x);
  EXPECT_EQ(x.toHost(s), (std::vector<float>{4, 2, 3}));
  auto z = Array<f32, 1>::zeros(s, {4});
  EXPECT_EQ(k.tryLaunch(s, x, z).failure().message,
            "twice: dimension `n` is 3 = x.shape[0] and 4 = y.shape[0]");
  EXPECT_EQ(k.tryLaunch(s, x).failure().message,
            "twice: the kernel has 2 parameters, the launch gives 1");
}

TEST(CpuDevice, EventsAndGraphs) {
  Device cpu = Device::cpu();
  Stream s = cpu.createStream();
  Event a = Event::create(cpu), b = Event::create(cpu);
  a.record(s);
  b.record(s);
  EXPECT_GE(b.millisecondsSince(a), 0.0f);
  int runs = 0;
  Graph g = Graph::capture(s, [&] { ++runs; });
  EXPECT_EQ(runs, 0);
  g.launch(s);
  g.launch(s);
  EXPECT_EQ(runs, 2);
}
} // namespace

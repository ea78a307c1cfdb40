//===- TypedLaunchTest.cpp - what generated headers are made of ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include "SampleKernel.h"

#include "tilec/Runtime/TypedLaunch.h"

#include "gtest/gtest.h"

#include <array>

using namespace tilec;

namespace {

// What is known when a program is compiled is refused then.
static_assert(std::convertible_to<const Array<f32, 1> &, ArrayParam<f32, 1>>);
static_assert(std::convertible_to<TensorView, ArrayParam<f32, 1>>);
static_assert(!std::convertible_to<const Array<f64, 1> &, ArrayParam<f32, 1>>);
static_assert(!std::convertible_to<const Array<f32, 2> &, ArrayParam<f32, 1>>);
static_assert(!std::default_initializable<ArrayParam<f32, 1>>);
static_assert(!std::default_initializable<ScalarParam<f32>>);
static_assert(std::convertible_to<int, ScalarParam<f32>> && std::convertible_to<double, ScalarParam<f32>>);
static_assert(std::convertible_to<Half, ScalarParam<f16>> && !std::convertible_to<BFloat16, ScalarParam<f16>>);
static_assert(std::convertible_to<int, ScalarParam<u8>> && !std::convertible_to<double, ScalarParam<u8>>);
static_assert(std::convertible_to<bool, ScalarParam<boolean>> && !std::convertible_to<int, ScalarParam<boolean>>);
static_assert(!std::convertible_to<bool, ScalarParam<f32>>);

/// x[i] *= by, one block an element.
class Scale : public HostKernel {
public:
  Expected<void> run(std::span<const KernelArg> args, const Grid &grid) override {
    auto *x = static_cast<float *>(std::get<ArrayArg>(args[0]).data);
    for (int64_t i = 0; i < grid[0]; ++i)
      x[i] *= static_cast<float>(std::get<ScalarArg>(args[1]).bits);
    return {};
  }
};

class ScaleSource : public CodeSource {
public:
  ScaleSource() {
    facts.name = "scale";
    ParamInfo by;
    by.name = "by";
    by.dtype = DType::U8;
    facts.params = {sampleArray("x", f32, {{"n", {}}}, true), by};
    facts.grid = {"dim(0, 0)"};
  }
  const KernelInfo &info() const override { return facts; }
  Expected<std::vector<const ModuleImage *>> images(int) override {
    return std::vector<const ModuleImage *>();
  }
  Expected<std::shared_ptr<HostKernel>> hostKernel() override {
    return std::shared_ptr<HostKernel>(std::make_shared<Scale>());
  }
  KernelInfo facts;
};

/// As a header has it.
struct Args {
  ArrayParam<DType::F32, 1> x;
  ScalarParam<DType::U8> by;
};

std::array<Argument, 2> listOf(const Args &args) { return {args.x, args.by}; }

TEST(TypedLaunch, PassesFieldsInOrder) {
  Device cpu = Device::cpu();
  Stream s = cpu.createStream();
  Expected<Kernel> kernel = Kernel(std::make_shared<ScaleSource>());
  const std::vector<float> values = {1, 2, 3};
  auto x = Array<f32, 1>::fromHost(s, values);
  ASSERT_TRUE(tryLaunchLinked(kernel, s, {}, listOf({.x = x, .by = 3})));
  EXPECT_EQ(x.toHost(s), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ((*tryGridOfLinked(kernel, cpu, listOf({.x = x, .by = 3})))[0], 3);

  auto large = tryLaunchLinked(kernel, s, {}, listOf({.x = x, .by = 300}));
  ASSERT_FALSE(large);
  EXPECT_FALSE(tryGridOfLinked(kernel, cpu, listOf({.x = x, .by = 300})));
  EXPECT_NE(large.failure().message.find("300"), std::string::npos);
}

TEST(TypedLaunch, SaysWhyThereIsNoKernel) {
  Device cpu = Device::cpu();
  Stream s = cpu.createStream();
  Expected<Kernel> kernel = findLinkedKernel(Module::tryFromMemory("no module"), "scale");
  ASSERT_FALSE(kernel);
  auto launch = tryLaunchLinked(kernel, s, {}, {});
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.failure().message, kernel.failure().message);
  EXPECT_FALSE(tryGridOfLinked(kernel, cpu, {}));
}

} // namespace

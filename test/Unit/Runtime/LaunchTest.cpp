//===- LaunchTest.cpp - launches against the recording driver -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What reaches cuLaunchKernelEx, what never does, and what a launch costs.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"
#include "WithFakeCuda.h"

#include <atomic>
#include <cstring>
#include <thread>

using namespace tilec;

// Counts allocations of this thread, to show that launches make none.
static thread_local long allocations = 0;
void *operator new(size_t n) {
  ++allocations;
  if (void *p = std::malloc(n ? n : 1))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }

namespace {
class LaunchTest : public WithFakeCuda {
protected:
  static Kernel sample(bool awaitsGrids = false) {
    ModuleFile file;
    KernelInfo info = sampleKernel();
    for (BuildInfo &build : info.builds)
      build.awaitsGrids = awaitsGrids;
    file.images = {{"sm_80", ImageKind::PTX, {"matmul matmul__aligned"}, {info}}};
    return Module::fromMemory(writeModule(file)).kernel("matmul");
  }
};

template <typename T>
T read(void *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

TEST_F(LaunchTest, PassesParametersAndGeometry) {
  Stream s = Device::get(0).createStream();
  Kernel k = sample();
  auto a = Array<bf16, 2>::zeros(s, {300, 64}), b = Array<bf16, 2>::zeros(s, {64, 136});
  auto c = Array<bf16, 2>::empty(s, {300, 136});
  int launches = 0;
  fake->onLaunch = [&](const cuda::LaunchConfig &config, const std::string &symbol, void **p) {
    ++launches;
    EXPECT_EQ(symbol, "matmul__aligned");
    EXPECT_EQ(config.gridX, 6u);
    EXPECT_EQ(config.gridY * config.gridZ * config.blockY * config.blockZ, 1u);
    EXPECT_EQ(config.blockX, 256u);
    EXPECT_EQ(config.sharedBytes, 49152u);
    EXPECT_EQ(config.stream, s.get());
    EXPECT_EQ(config.numAttributes, 0u);
    EXPECT_EQ(read<void *>(p[0]), a.data());
    EXPECT_EQ(read<int64_t>(p[1]), 300);
    EXPECT_EQ(read<int64_t>(p[2]), 64);
    EXPECT_EQ(read<void *>(p[6]), c.data());
    EXPECT_EQ(read<float>(p[9]), 2.0f);
    EXPECT_EQ(read<int32_t>(p[10]), 3);
    EXPECT_EQ(read<int32_t>(p[11]), 2);
  };
  k.launch(s, a, b, c, 2);
  k.launch(s, a, b, c, 2.0f);
  k.launch(s, a, b, c, ScalarArg::f32(2.0f));
  EXPECT_EQ(launches, 3);
}

TEST_F(LaunchTest, TakesTheGeneralBuildWhenUnaligned) {
  Stream s = Device::get(1).createStream();
  Kernel k = sample();
  auto a = Array<bf16, 2>::zeros(s, {8, 8}), b = Array<bf16, 2>::zeros(s, {8, 9});
  auto c = Array<bf16, 2>::empty(s, {8, 9});
  std::string seen;
  fake->onLaunch = [&](auto &, const std::string &symbol, void **) { seen = symbol; };
  k.launch(s, a, b, c, 1.0f);
  EXPECT_EQ(seen, "matmul");
  EXPECT_EQ(k.tryPlan(Device::get(1), {}, std::vector<KernelArg>{
                                              a.view().getArg(), b.view().getArg(),
                                              c.view().getArg(), ScalarArg::f32(1)})
                ->build,
            1u);
}

TEST_F(LaunchTest, Configurations) {
  Stream s = Device::get(0).createStream();
  Kernel k = sample();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  cuda::LaunchConfig seen{};
  std::vector<cuda::LaunchAttribute> attributes;
  fake->onLaunch = [&](const cuda::LaunchConfig &config, const std::string &, void **) {
    seen = config;
    attributes.assign(config.attributes, config.attributes + config.numAttributes);
  };
  LaunchConfig config;
  config.grid = Grid{8, 2, 1};
  config.cluster = 2;
  k.launch(s, config, x, x, x, 1.0f);
  EXPECT_EQ(seen.gridX, 16u);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].id, cuda::ClusterDimension);
  EXPECT_EQ(attributes[0].value.cluster.x, 2u);
  EXPECT_EQ(k.tryLaunch(s, {.grid = Grid{3, 1, 1}, .cluster = 2}, x, x, x, 1.0f).failure().message,
            "matmul: 3 blocks are not a multiple of the cluster, 2");
  // Nothing to do: no launch.
  fake->calls.clear();
  k.launch(s, {.grid = Grid{0, 1, 1}}, x, x, x, 1.0f);
  EXPECT_EQ(fake->calls["cuLaunchKernelEx"], 0);
}

TEST_F(LaunchTest, OverlapsWhereTheCodeWaits) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  std::vector<cuda::LaunchAttribute> attributes;
  fake->onLaunch = [&](const cuda::LaunchConfig &config, const std::string &, void **) {
    attributes.assign(config.attributes, config.attributes + config.numAttributes);
  };
  Kernel waits = sample(/*awaitsGrids=*/true), plain = sample();
  waits.launch(s, {.cluster = 1}, x, x, x, 1.0f);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].id, cuda::ProgrammaticStreamSerialization);
  EXPECT_EQ(attributes[0].value.programmaticSerialization, 1);
  waits.launch(s, {.overlapPrevious = false}, x, x, x, 1.0f);
  EXPECT_TRUE(attributes.empty());
  // Asking is not enough: this code would not wait.
  plain.launch(s, {.overlapPrevious = true}, x, x, x, 1.0f);
  EXPECT_TRUE(attributes.empty());
}

TEST_F(LaunchTest, RefusesWrongMemory) {
  Stream s = Device::get(0).createStream(), other = Device::get(1).createStream();
  Kernel k = sample();
  auto a = Array<bf16, 2>::zeros(s, {8, 8}), far = Array<bf16, 2>::zeros(other, {8, 8});
  std::vector<uint16_t> host(64);
  TensorView pageable(host.data(), bf16, {8, 8});
  EXPECT_EQ(k.tryLaunch(s, a, far, a, 1.0f).failure().message,
            "matmul: argument `b`: pointer is on device 1 but the stream is on device 0");
  auto refused = k.tryLaunch(s, a, a, pageable, 1.0f);
  EXPECT_EQ(refused.failure().message, "matmul: argument `c`: pointer is pageable host memory");
  EXPECT_EQ(refused.failure().argument, "c");
  auto pinned = Array<bf16, 2>::empty(s, {8, 8}, MemoryKind::Pinned);
  auto managed = Array<bf16, 2>::empty(other, {8, 8}, MemoryKind::Managed);
  k.launch(s, pinned, managed, a, 1.0f);
  EXPECT_EQ(fake->calls["cuLaunchKernelEx"], 1);
  // Where an array without elements lies does not matter.
  k.launch(s, TensorView(host.data(), bf16, {8, 0}), TensorView(host.data(), bf16, {0, 8}), a, 1.0f);
  EXPECT_EQ(fake->calls["cuLaunchKernelEx"], 2);
}

TEST_F(LaunchTest, NumbersTakeTheParametersDtype) {
  auto resolve = [](Argument a, DType to) -> std::string {
    auto r = a.resolve(sampleScalar("n", to));
    if (!r)
      return r.failure().message;
    const auto &s = std::get<ScalarArg>(*r);
    return std::string(dtypeName(s.dtype)) + " " + std::to_string(s.bits);
  };
  EXPECT_EQ(resolve(5, DType::Int), "int 5");
  EXPECT_EQ(resolve(-1, i8), "i8 255");
  EXPECT_EQ(resolve(127, i8), "i8 127");
  EXPECT_EQ(resolve(128, i8), "argument `n`: 128 is not a value of i8");
  EXPECT_EQ(resolve(-129, i8), "argument `n`: -129 is not a value of i8");
  EXPECT_EQ(resolve(-1, u64), "argument `n`: -1 is not a value of u64");
  EXPECT_EQ(resolve(~0ull, u64), "u64 18446744073709551615");
  EXPECT_EQ(resolve(~0ull, i64), "argument `n`: 18446744073709551615 is not a value of i64");
  EXPECT_EQ(resolve(1.5, f16), "f16 15872");
  EXPECT_EQ(resolve(0.1, f32), "f32 1036831949");
  EXPECT_EQ(resolve(1.5, i32), "argument `n`: 1.5 is not a value of i32");
  EXPECT_EQ(resolve(3, f32), "f32 1077936128");
  EXPECT_EQ(resolve(16777217, f32), "argument `n`: 16777217 is not a value of f32");
  EXPECT_EQ(resolve(true, boolean), "bool 1");
  EXPECT_EQ(resolve(1, boolean), "argument `n`: 1 is not a value of bool");
  EXPECT_EQ(resolve(BFloat16(1.0f), bf16), "bf16 16256");
  // The plan refuses it, with both dtypes.
  EXPECT_EQ(resolve(true, i32), "bool 1");
}

TEST_F(LaunchTest, FaultsNameTheKernel) {
  Stream s = Device::get(0).createStream();
  Kernel k = sample();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  k.launch(s, x, x, x, 1.0f);
  fake->failNext["cuStreamSynchronize"] = 700;
  auto fault = s.trySynchronize();
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.failure().message,
            "waiting for the stream failed: an illegal memory access was encountered "
            "(CUDA_ERROR_ILLEGAL_ADDRESS); the kernel launched last on this device is `matmul`");
  EXPECT_EQ(fault.failure().kernel, "matmul");
  fake->failNext["cuLaunchKernelEx"] = 700;
  EXPECT_EQ(k.tryLaunch(s, x, x, x, 1.0f).failure().code, 700);
}

TEST_F(LaunchTest, SteadyStateAllocatesNothing) {
  Stream s = Device::get(0).createStream();
  Kernel k = sample();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  k.launch(s, x, x, x, 1.0f);
  fake->counting = false;
  long before = allocations;
  for (int i = 0; i < 100; ++i)
    k.launch(s, x, x, x, 1.0f);
  EXPECT_EQ(allocations, before);
  fake->counting = true;
}

TEST_F(LaunchTest, ManyThreads) {
  Kernel k = sample();
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  k.preload(Device::get(0));
  fake->onLaunch = nullptr;
  // The fake driver is not thread safe, so only planning runs in parallel.
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  std::vector<KernelArg> args = {x.view().getArg(), x.view().getArg(), x.view().getArg(),
                                 ScalarArg::f32(1)};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        good += bool(k.tryPlan(Device::get(0), {}, args));
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(good, 4000);
}
} // namespace

//===- RuntimeGpuTest.cpp - the runtime on a GPU ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Modules, launches, memory kinds, graphs, and the cost of a launch, with kernels
// written by hand. Skipped where there is no GPU.
//
//===------------------------------------------------------------------------===//

#include "HandWrittenPtx.h"

#include "tilec/tilec.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdio>
#include <thread>

using namespace tilec;

namespace {
class RuntimeGpu : public testing::Test {
protected:
  void SetUp() override {
    if (Device::count() == 0)
      GTEST_SKIP() << Device::whyNone();
    stream.emplace(Device::get(0).createStream());
  }
  static Kernel kernel(const char *name) {
    return Module::fromMemory(writeModule(handWrittenModule())).kernel(name);
  }
  static std::vector<float> ramp(size_t n) {
    std::vector<float> v(n);
    for (size_t i = 0; i < n; ++i)
      v[i] = static_cast<float>(i);
    return v;
  }
  static void expectTwice(const std::vector<float> &y) {
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], 2.0f * static_cast<float>(i)) << i;
  }

  std::optional<Stream> stream;
};

TEST_F(RuntimeGpu, Properties) {
  Device d = Device::get(0);
  EXPECT_FALSE(d.name().empty());
  EXPECT_GE(d.capability(), 80);
  EXPECT_GT(d.numSMs(), 1);
  EXPECT_GE(d.sharedPerBlock(), 99 << 10);
  EXPECT_GT(d.memoryInfo().total, size_t(1) << 30);
}

TEST_F(RuntimeGpu, LaunchesFromAModule) {
  const Stream &s = *stream;
  for (size_t n : {1, 7, 128, 1000, 1 << 20}) {
    auto x = Array<f32, 1>::fromHost(s, ramp(n));
    auto y = Array<f32, 1>::zeros(s, x.shape());
    kernel("twice").launch(s, x, y);
    expectTwice(y.toHost(s));
  }
}

TEST_F(RuntimeGpu, ManagedAndPinnedMemory) {
  const Stream &s = *stream;
  auto x = Array<f32, 1>::empty(s, {1000}, MemoryKind::Managed);
  auto y = Array<f32, 1>::empty(s, {1000}, MemoryKind::Pinned);
  std::vector<float> values = ramp(1000);
  std::copy(values.begin(), values.end(), static_cast<float *>(x.data()));
  kernel("twice").launch(s, x, y);
  s.synchronize();
  const auto *result = static_cast<const float *>(y.data());
  expectTwice(std::vector<float>(result, result + 1000));
}

TEST_F(RuntimeGpu, RefusesPageableMemory) {
  std::vector<float> host(1000);
  TensorView view(host.data(), f32, {1000});
  auto y = Array<f32, 1>::zeros(*stream, {1000});
  auto refused = kernel("twice").tryLaunch(*stream, view, y);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().message, "twice: argument `x`: pointer is pageable host memory");
}

TEST_F(RuntimeGpu, ForeignStreamsAndTheDefaultStream) {
  auto x = Array<f32, 1>::fromHost(*stream, ramp(1000));
  auto y = Array<f32, 1>::zeros(*stream, {1000});
  kernel("twice").launch(StreamRef(stream->get()), x, y);
  expectTwice(y.toHost(*stream));
  auto z = Array<f32, 1>::zeros(*stream, {1000});
  stream->synchronize();
  StreamRef standard(nullptr);
  kernel("twice").launch(standard, x, z);
  standard.synchronize();
  expectTwice(z.toHost(*stream));
}

TEST_F(RuntimeGpu, MoreThan48KiBOfSharedMemory) {
  auto y = Array<f32, 1>::zeros(*stream, {1000});
  kernel("far").launch(*stream, y);
  EXPECT_EQ(y.toHost(*stream), ramp(1000));
}

TEST_F(RuntimeGpu, Graphs) {
  const Stream &s = *stream;
  Kernel k = kernel("twice");
  k.preload(s.device());
  auto x = Array<f32, 1>::fromHost(s, ramp(1000));
  auto y = Array<f32, 1>::zeros(s, {1000});
  s.synchronize();
  Graph g = Graph::capture(s, [&] { k.launch(s, x, y); });
  EXPECT_EQ(y.toHost(s), std::vector<float>(1000));
  g.launch(s);
  expectTwice(y.toHost(s));
}

TEST_F(RuntimeGpu, ClustersOfKernelsThatDoNotCare) {
  if (stream->device().capability() < 90)
    GTEST_SKIP() << "needs a GPU with clusters";
  auto x = Array<f32, 1>::fromHost(*stream, ramp(1024));
  auto y = Array<f32, 1>::zeros(*stream, {1024});
  kernel("twice").launch(*stream, {.cluster = 2}, x, y);
  expectTwice(y.toHost(*stream));
}

/// A thousand launches, each of which reads what the one before wrote last, with and
/// without overlap, from the host and from a graph, beside copies and other kernels.
TEST_F(RuntimeGpu, ChainsOfLaunchesThatOverlap) {
  if (stream->device().capability() < 90)
    GTEST_SKIP() << "needs a GPU with programmatic dependent launch";
  const Stream &s = *stream;
  Kernel mirror = Module::fromMemory(writeModule(dependentModule())).kernel("mirror");
  Kernel twice = kernel("twice");
  mirror.preload(s.device());
  twice.preload(s.device());
  for (size_t n : {100, 20000, 300000}) {
    auto x = Array<f32, 1>::zeros(s, {int64_t(n)}), y = Array<f32, 1>::zeros(s, {int64_t(n)});
    auto chain = [&](bool overlaps) {
      LaunchConfig config;
      config.overlapPrevious = overlaps;
      for (int i = 0; i < 500; ++i) {
        mirror.launch(s, config, x, y);
        if (i == 3)
          twice.launch(s, x, y); // knows nothing of overlap
        mirror.launch(s, config, y, x);
      }
    };
    // A round adds 2, but round 3 doubles and adds 1.
    float expected = 0;
    auto expect = [&](const char *how) {
      expected = 2 * (expected + 6) + 1 + 2 * 496;
      for (float value : x.toHost(s))
        ASSERT_EQ(value, expected) << how << ", " << n;
    };
    chain(/*overlaps=*/false);
    expect("one after the other");
    chain(/*overlaps=*/true);
    expect("overlapping");
    Graph graph = Graph::capture(s, [&] { chain(/*overlaps=*/true); });
    graph.launch(s);
    expect("from a graph");
  }
}

TEST_F(RuntimeGpu, WrongPtxShowsTheDriversLog) {
  ModuleFile file = handWrittenModule();
  size_t at = file.images[0].objects[0].find("add.f32");
  file.images[0].objects[0].replace(at, 7, "wrong.x");
  auto k = Module::fromMemory(writeModule(file)).kernel("twice");
  auto ok = k.tryPreload(Device::get(0));
  ASSERT_FALSE(ok);
  EXPECT_NE(ok.failure().code, 0);
  EXPECT_FALSE(ok.failure().log.empty()) << ok.failure().message;
}

TEST_F(RuntimeGpu, EventsMeasure) {
  const Stream &s = *stream;
  Event a = Event::create(s.device()), b = Event::create(s.device());
  auto x = Array<f32, 1>::zeros(s, {1 << 24});
  auto y = Array<f32, 1>::zeros(s, {1 << 24});
  Kernel k = kernel("twice");
  k.launch(s, x, y);
  a.record(s);
  k.launch(s, x, y);
  b.record(s);
  b.synchronize();
  EXPECT_GT(b.millisecondsSince(a), 0.0f);
  EXPECT_LT(b.millisecondsSince(a), 100.0f);
}

TEST_F(RuntimeGpu, ThreadsLaunchTheSameKernel) {
  Kernel k = kernel("twice");
  Device d = Device::get(0);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(8);
  for (auto &result : results)
    threads.emplace_back([&k, &result, d] {
      Stream s = d.createStream();
      auto x = Array<f32, 1>::fromHost(s, ramp(5000));
      auto y = Array<f32, 1>::zeros(s, {5000});
      for (int i = 0; i < 200; ++i)
        k.launch(s, x, y);
      result = y.toHost(s);
    });
  for (auto &t : threads)
    t.join();
  for (auto &result : results)
    expectTwice(result);
}

TEST_F(RuntimeGpu, HostTimeOfALaunch) {
  const Stream &s = *stream;
  Kernel k = kernel("twice");
  auto x = Array<f32, 1>::zeros(s, {128});
  auto y = Array<f32, 1>::zeros(s, {128});
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    k.launch(s, x, y);
    s.synchronize();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i)
      k.launch(s, x, y);
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / 200);
    s.synchronize();
  }
  std::printf("host time of a launch: %.2f us\n", best);
  // The driver's own call takes about 2 us.
  EXPECT_LT(best, 6.0);
}
} // namespace

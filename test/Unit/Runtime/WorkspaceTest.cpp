//===- WorkspaceTest.cpp - where blocks of launches add up --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Which workspace a launch gets, what is put on its stream before and after, and when
// workspaces go away.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"
#include "WithFakeCuda.h"

#include "tilec/Support/Workspace.h"

#include <cstring>
#include <thread>

using namespace tilec;

namespace {
constexpr int64_t sumBytes = 32768, fixedCounters = workspaceFixedCounters;

class WorkspaceTest : public WithFakeCuda {
protected:
  /// The sample with a first build whose blocks add up in memory, `parts` for each position.
  static Kernel summing(unsigned parts) {
    KernelInfo info = sampleKernel();
    BuildInfo build = info.builds[0];
    build.symbol = "matmul__summing";
    build.splitK = parts;
    build.sumBytes = sumBytes;
    info.builds.insert(info.builds.begin(), build);
    ModuleFile file;
    file.images = {
        {"sm_80", ImageKind::PTX, {"matmul matmul__aligned matmul__summing"}, {std::move(info)}}};
    return Module::fromMemory(writeModule(file)).kernel("matmul");
  }

  void SetUp() override {
    WithFakeCuda::SetUp();
    fake->onLaunch = [this](const cuda::LaunchConfig &config, const std::string &symbol, void **p) {
      grid = {config.gridX, config.gridY};
      EXPECT_EQ(config.numAttributes, 0u);
      if (symbol != "matmul__summing")
        return;
      std::memcpy(&workspace, p[13], sizeof workspace);
      EXPECT_TRUE(fake->allocations.count(workspace));
      fake->memoryWork.push_back({config.stream, "launch"});
    };
  }

  /// Work with memory that `launch` put on the stream.
  template <typename Launch> std::vector<std::string> work(StreamRef s, Launch launch) {
    fake->memoryWork.clear();
    launch();
    std::vector<std::string> done;
    for (auto &[stream, what] : fake->memoryWork) {
      EXPECT_EQ(stream, s.get());
      done.push_back(what);
    }
    return done;
  }
  std::vector<std::string> launch(const Kernel &k, StreamRef s, const Array<bf16, 2> &x,
                                  int64_t positions) {
    return work(s, [&] { k.launch(s, {.grid = Grid{positions, 1, 1}}, x, x, x, 1.0f); });
  }
  static std::string alloc(int64_t positions, int64_t parts) {
    return "alloc " + std::to_string(counterBytes(positions) + positions * parts * sumBytes);
  }
  static std::string clear(int64_t bytes) { return "clear " + std::to_string(bytes); }

  cuda::DevicePtr workspace = 0;
  std::pair<unsigned, unsigned> grid;
};

using Work = std::vector<std::string>;

TEST_F(WorkspaceTest, IsKeptAndGrows) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(4);
  EXPECT_EQ(launch(k, s, x, 6), (Work{alloc(6, 4), clear(fixedCounters), "launch"}));
  EXPECT_EQ(grid, std::pair(6u, 4u));
  cuda::DevicePtr first = workspace;
  EXPECT_EQ(launch(k, s, x, 6), Work{"launch"});
  EXPECT_EQ(launch(k, s, x, 1), Work{"launch"});
  EXPECT_EQ(workspace, first);
  EXPECT_EQ(launch(k, s, x, 7), (Work{alloc(7, 4), clear(fixedCounters), "free", "launch"}));
  EXPECT_NE(workspace, first);
  EXPECT_EQ(launch(k, s, x, 6), Work{"launch"});
}

TEST_F(WorkspaceTest, HasAsManyPartsAsFindRoom) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(1);
  // The fake GPU has 132 multiprocessors.
  std::pair<int64_t, unsigned> parts[] = {{16, 8}, {17, 4}, {33, 4}, {34, 2}, {66, 2}, {100, 2}};
  for (auto [positions, want] : parts) {
    launch(k, s, x, positions);
    EXPECT_EQ(grid, std::pair(unsigned(positions), want));
  }
}

TEST_F(WorkspaceTest, ClearsCountersWhereSumsWere) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  int64_t positions = fixedCounters / 4 + 100;
  Work more = {clear(counterBytes(positions) - fixedCounters), "launch"};
  EXPECT_EQ(launch(k, s, x, positions),
            (Work{alloc(positions, 2), clear(fixedCounters), more[0], more[1]}));
  EXPECT_EQ(launch(k, s, x, fixedCounters / 4), Work{"launch"});
  EXPECT_EQ(launch(k, s, x, positions), more);
}

TEST_F(WorkspaceTest, StreamsHaveTheirOwn) {
  Stream s = Device::get(0).createStream(), t = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  launch(k, s, x, 3);
  cuda::DevicePtr first = workspace;
  EXPECT_EQ(launch(k, t, x, 3).size(), 3u);
  EXPECT_NE(workspace, first);
  EXPECT_EQ(launch(k, s, x, 3), Work{"launch"});
  EXPECT_EQ(workspace, first);
  // A stream seen from outside is the same stream.
  EXPECT_EQ(launch(k, StreamRef(t.get()), x, 3), Work{"launch"});
  EXPECT_NE(workspace, first);
}

TEST_F(WorkspaceTest, GoesWithItsStream) {
  Stream other = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(other, {8, 8});
  Kernel k = summing(2);
  for (int i = 0; i < 100; ++i) {
    Stream s = Device::get(0).createStream();
    EXPECT_EQ(launch(k, s, x, 3).size(), 3u);
  }
  EXPECT_EQ(fake->allocations.size(), 1u);
}

TEST_F(WorkspaceTest, CapturedLaunchesHaveOneInTheGraph) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  launch(k, s, x, 3);
  cuda::DevicePtr kept = workspace;
  size_t live = fake->allocations.size();
  int64_t many = fixedCounters / 4 + 64;
  auto captured = work(s, [&] {
    Graph::capture(s, [&] {
      k.launch(s, {.grid = Grid{3, 1, 1}}, x, x, x, 1.0f);
      EXPECT_NE(workspace, kept);
      k.launch(s, {.grid = Grid{many, 1, 1}}, x, x, x, 1.0f);
    });
  });
  EXPECT_EQ(captured, (Work{alloc(3, 2), clear(fixedCounters), "launch", "free", alloc(many, 2),
                            clear(counterBytes(many)), "launch", "free"}));
  EXPECT_EQ(fake->allocations.size(), live);
  EXPECT_EQ(launch(k, s, x, 3), Work{"launch"});
  EXPECT_EQ(workspace, kept);
}

TEST_F(WorkspaceTest, FurtherStreamsHaveOneForEachLaunch) {
  Device device = Device::get(0);
  std::vector<Stream> streams;
  for (int i = 0; i < 17; ++i)
    streams.push_back(device.createStream());
  auto x = Array<bf16, 2>::zeros(streams[0], {8, 8});
  Kernel k = summing(2);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(launch(k, streams[i], x, 3).size(), 3u);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(launch(k, streams[16], x, 3),
              (Work{alloc(3, 2), clear(fixedCounters), "launch", "free"}));
  streams.erase(streams.begin() + 1); // the array keeps the first
  EXPECT_EQ(launch(k, streams[15], x, 3).size(), 3u);
  EXPECT_EQ(launch(k, streams[15], x, 3), Work{"launch"});
}

TEST_F(WorkspaceTest, IsGivenBackWhereAsked) {
  Device device = Device::get(0);
  Stream s = device.createStream();
  device.trimMemory();
  EXPECT_EQ(fake->calls["cuCtxSynchronize"], 0);
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  // Whose end nobody sees.
  auto *foreign = reinterpret_cast<CUstream_st *>(&fake->lastStream);
  fake->streamNumbers[foreign] = ++fake->lastStream;
  launch(k, s, x, 3);
  launch(k, StreamRef(foreign, device), x, 3);
  EXPECT_EQ(fake->allocations.size(), 3u);
  device.trimMemory();
  EXPECT_EQ(fake->calls["cuCtxSynchronize"], 1);
  EXPECT_EQ(fake->allocations.size(), 1u);
  EXPECT_EQ(launch(k, s, x, 3).size(), 3u);
}

TEST_F(WorkspaceTest, FailuresNameTheKernel) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  auto tryIt = [&](int64_t positions) {
    auto done = k.tryLaunch(s, {.grid = Grid{positions, 1, 1}}, x, x, x, 1.0f);
    return done ? "" : done.failure().message;
  };
  std::pair<const char *, const char *> calls[] = {
      {"cuStreamIsCapturing", "asking whether the stream is captured"},
      {"cuStreamGetId", "asking for the stream's number"},
      {"cuMemAllocAsync", "allocating a workspace for sums"},
      {"cuMemsetD8Async", "clearing the workspace for sums"}};
  for (auto [call, what] : calls) {
    fake->failNext[call] = 2;
    EXPECT_EQ(tryIt(3), "matmul: " + std::string(what) +
                            " failed: fake error (CUDA_ERROR_OUT_OF_MEMORY)");
  }
  EXPECT_EQ(tryIt(3), "");
  // One that cannot grow stays as it is.
  cuda::DevicePtr kept = workspace;
  fake->failNext["cuMemAllocAsync"] = 2;
  EXPECT_NE(tryIt(300), "");
  EXPECT_EQ(launch(k, s, x, 3), Work{"launch"});
  EXPECT_EQ(workspace, kept);
}

TEST_F(WorkspaceTest, OtherKernelsNeedNone) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  ModuleFile file;
  file.images = {{"sm_80", ImageKind::PTX, {"matmul matmul__aligned"}, {sampleKernel()}}};
  Kernel k = Module::fromMemory(writeModule(file)).kernel("matmul");
  EXPECT_EQ(launch(k, s, x, 3), Work{});
  EXPECT_EQ(fake->calls["cuStreamGetId"] + fake->calls["cuStreamIsCapturing"], 0);
}

TEST_F(WorkspaceTest, ThreadsLaunchAtOnce) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  Kernel k = summing(2);
  k.preload(s.device());
  fake->counting = false;
  fake->onLaunch = nullptr;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 1; i <= 200; ++i)
        k.launch(s, {.grid = Grid{1 + (i * (t + 3)) % 50, 1, 1}}, x, x, x, 1.0f);
    });
  for (std::thread &thread : threads)
    thread.join();
  fake->counting = true;
}
} // namespace

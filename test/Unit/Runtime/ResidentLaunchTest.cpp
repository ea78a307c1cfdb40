//===- ResidentLaunchTest.cpp - tensor maps, residency, clusters --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What the driver is asked to encode, that it is asked once, that the encodings are
// the last parameters, and how many blocks are launched.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"
#include "WithFakeCuda.h"

#include <cstring>

using namespace tilec;

namespace {
class ResidentLaunchTest : public WithFakeCuda {
protected:
  /// The sample with a first build that copies a and b by tensor maps.
  static Kernel mapped(unsigned persistent, unsigned cluster) {
    KernelInfo info = sampleKernel();
    BuildInfo build = info.builds[0];
    build.symbol = "matmul__mapped";
    build.persistent = persistent;
    build.cluster = cluster;
    build.sharedBytes = 232448;
    build.tensorMaps = {{0, {128, 64}, 128}, {1, {64, 32}, 64}};
    info.builds.insert(info.builds.begin(), build);
    ModuleFile file;
    file.images = {
        {"sm_80", ImageKind::PTX, {"matmul matmul__aligned matmul__mapped"}, {std::move(info)}}};
    return Module::fromMemory(writeModule(file)).kernel("matmul");
  }
};

uint64_t firstWord(void *p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

TEST_F(ResidentLaunchTest, PassesTensorMapsLast) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  auto a = Array<bf16, 2>::zeros(s, {300, 64}), b = Array<bf16, 2>::zeros(s, {64, 136});
  auto c = Array<bf16, 2>::empty(s, {300, 136});
  int launches = 0;
  fake->onLaunch = [&](const cuda::LaunchConfig &, const std::string &symbol, void **p) {
    ++launches;
    EXPECT_EQ(symbol, "matmul__mapped");
    EXPECT_EQ(firstWord(p[13]), 1u);
    EXPECT_EQ(firstWord(p[14]), 2u);
  };
  for (int i = 0; i < 3; ++i)
    k.launch(s, a, b, c, 2.0f);
  EXPECT_EQ(launches, 3);
  // The driver encodes once.
  ASSERT_EQ(fake->encodedMaps.size(), 2u);
  const EncodedMap &first = fake->encodedMaps[0], &second = fake->encodedMaps[1];
  EXPECT_EQ(first.dtype, cuda::TensorMapBF16);
  EXPECT_EQ(first.base, a.data());
  EXPECT_EQ(first.dims, (std::vector<uint64_t>{64, 300}));
  EXPECT_EQ(first.pitches, (std::vector<uint64_t>{128}));
  EXPECT_EQ(first.box, (std::vector<uint32_t>{64, 128}));
  EXPECT_EQ(first.swizzle, cuda::Swizzle128);
  EXPECT_EQ(first.promotion, cuda::Promote256);
  EXPECT_EQ(second.base, b.data());
  EXPECT_EQ(second.pitches, (std::vector<uint64_t>{272}));
  EXPECT_EQ(second.swizzle, cuda::Swizzle64);
  EXPECT_EQ(second.promotion, cuda::Promote128);
  EXPECT_EQ(fake->sharedOptIn["matmul__mapped"], 232448);
}

TEST_F(ResidentLaunchTest, RowsThatBeginWithinLinesAreFetchedByLines) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  auto a = Array<bf16, 2>::zeros(s, {300, 72}), b = Array<bf16, 2>::zeros(s, {72, 136});
  auto c = Array<bf16, 2>::empty(s, {300, 136});
  k.launch(s, a, b, c, 2.0f);
  ASSERT_EQ(fake->encodedMaps.size(), 2u);
  EXPECT_EQ(fake->encodedMaps[0].pitches, (std::vector<uint64_t>{144}));
  EXPECT_EQ(fake->encodedMaps[0].promotion, cuda::Promote128);
}

TEST_F(ResidentLaunchTest, OtherArraysAreEncodedAgain) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  auto a = Array<bf16, 2>::zeros(s, {64, 64}), b = Array<bf16, 2>::zeros(s, {64, 64});
  uint64_t seen[2] = {};
  fake->onLaunch = [&](auto &, const std::string &, void **p) {
    seen[0] = firstWord(p[13]);
    seen[1] = firstWord(p[14]);
  };
  k.launch(s, a, b, b, 2.0f);
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 2u);
  k.launch(s, b, a, a, 2.0f);
  EXPECT_EQ(seen[0], 3u);
  EXPECT_EQ(seen[1], 4u);
  // Both kinds of launches are known.
  k.launch(s, a, b, b, 2.0f);
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 2u);
}

TEST_F(ResidentLaunchTest, ManyArraysAreEncodedOnce) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  std::vector<Array<bf16, 2>> arrays;
  for (int i = 0; i < 300; ++i)
    arrays.push_back(Array<bf16, 2>::zeros(s, {56, 56})); // as no other test has them
  for (int step = 0; step < 3; ++step)
    for (size_t i = 0; i + 1 < arrays.size(); i += 2)
      k.launch(s, arrays[i], arrays[i + 1], arrays[i], 2.0f);
  EXPECT_EQ(fake->encodedMaps.size(), arrays.size());
}

TEST_F(ResidentLaunchTest, ForgetsMapsWhenThereAreTooMany) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  auto b = Array<bf16, 2>::zeros(s, {8, 8});
  uint64_t seen[2] = {};
  fake->onLaunch = [&](auto &, const std::string &, void **p) {
    seen[0] = firstWord(p[13]);
    seen[1] = firstWord(p[14]);
  };
  for (int64_t rows = 1; rows <= 5000; ++rows) {
    auto a = Array<bf16, 2>::zeros(s, {rows, 8});
    k.launch(s, a, b, a, 2.0f);
    ASSERT_EQ(fake->encodedMaps[seen[0] - 1].base, a.data());
    ASSERT_EQ(fake->encodedMaps[seen[0] - 1].dims, (std::vector<uint64_t>{8, uint64_t(rows)}));
    ASSERT_EQ(fake->encodedMaps[seen[1] - 1].base, b.data());
  }
  EXPECT_EQ(fake->encodedMaps.size(), 5000u + 2); // b's once more, when all were forgotten
}

TEST_F(ResidentLaunchTest, FallsBackWithoutMaps) {
  Stream s = Device::get(0).createStream();
  Kernel k = mapped(0, 1);
  auto a = Array<bf16, 2>::zeros(s, {8, 0}), b = Array<bf16, 2>::zeros(s, {0, 8});
  auto c = Array<bf16, 2>::empty(s, {8, 8});
  std::string seen;
  fake->onLaunch = [&](auto &, const std::string &symbol, void **) { seen = symbol; };
  k.launch(s, a, b, c, 1.0f);
  EXPECT_EQ(seen, "matmul__aligned");
  EXPECT_TRUE(fake->encodedMaps.empty());
  fake->failNext["cuTensorMapEncodeTiled"] = 1;
  auto refused = k.tryLaunch(s, c, c, c, 1.0f);
  EXPECT_EQ(refused.failure().message,
            "matmul: describing an array for tile copies failed: fake error (CUDA error 1)");
  k.launch(s, c, c, c, 1.0f); // a failure is not remembered
  EXPECT_EQ(seen, "matmul__mapped");
}

TEST_F(ResidentLaunchTest, BlocksAndClusters) {
  Stream s = Device::get(0).createStream();
  auto x = Array<bf16, 2>::zeros(s, {8, 8});
  unsigned blocks = 0, cluster = 0;
  fake->onLaunch = [&](const cuda::LaunchConfig &config, const std::string &, void **) {
    blocks = config.gridX;
    cluster = 1;
    for (unsigned i = 0; i < config.numAttributes; ++i)
      if (config.attributes[i].id == cuda::ClusterDimension)
        cluster = config.attributes[i].value.cluster.x;
  };
  auto launch = [&](const Kernel &k, int64_t grid, unsigned wanted = 0) {
    k.launch(s, {.grid = Grid{grid, 1, 1}, .cluster = wanted}, x, x, x, 1.0f);
    return std::pair(blocks, cluster);
  };
  // The fake GPU has 132 multiprocessors.
  EXPECT_EQ(launch(mapped(1, 1), 1000), std::pair(132u, 1u));
  EXPECT_EQ(launch(mapped(2, 1), 1000), std::pair(264u, 1u));
  EXPECT_EQ(launch(mapped(1, 1), 5), std::pair(5u, 1u));
  EXPECT_EQ(launch(mapped(1, 2), 5), std::pair(6u, 2u));
  EXPECT_EQ(launch(mapped(0, 2), 7), std::pair(8u, 2u));
  EXPECT_EQ(launch(mapped(0, 2), 7, 2), std::pair(8u, 2u));
  EXPECT_EQ(launch(mapped(1, 1), 1000, 4), std::pair(132u, 4u));
  // No more clusters than the driver finds room for at once: pairs find it everywhere, and
  // those that do not stay may wait.
  EXPECT_EQ(launch(mapped(1, 4), 1000), std::pair(120u, 4u));
  EXPECT_EQ(launch(mapped(1, 8), 1000), std::pair(120u, 8u));
  EXPECT_EQ(launch(mapped(1, 4), 5), std::pair(8u, 4u));
  EXPECT_EQ(launch(mapped(1, 2), 1000), std::pair(132u, 2u));
  EXPECT_EQ(launch(mapped(0, 4), 1000), std::pair(1000u, 4u));
  fake->residentBlocks = 0;
  EXPECT_EQ(launch(mapped(1, 4), 1000), std::pair(4u, 4u));
  fake->failNext["cuOccupancyMaxActiveClusters"] = 1;
  EXPECT_EQ(mapped(1, 4).tryLaunch(s, {}, x, x, x, 1.0f).failure().message,
            "matmul: asking how many clusters fit failed: fake error (CUDA error 1)");
  EXPECT_EQ(mapped(0, 2).tryLaunch(s, {.cluster = 4}, x, x, x, 1.0f).failure().message,
            "matmul: the kernel is compiled for clusters of 2, not 4");
}
} // namespace

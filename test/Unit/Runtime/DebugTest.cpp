//===- DebugTest.cpp - what kernels print, through the runtime ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The recording driver writes records into the memory that a launch names, as a kernel
// would; waiting for the stream prints them and reports failed assertions.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"
#include "WithFakeCuda.h"

#include "tilec/Support/DebugRing.h"

#include <cstring>

using namespace tilec;

namespace {
class DebugTest : public WithFakeCuda {
protected:
  // The ring stays for as long as the device does.
  void TearDown() override { fake->allocations.erase(ringAddress); }

  static Kernel kernelWith(std::vector<DebugSite> sites, const char *name) {
    KernelInfo info;
    info.name = name;
    info.arch = "sm_80";
    info.params = {sampleScalar("n", DType::I32)};
    info.grid = {"4"};
    info.sites = std::move(sites);
    BuildInfo build;
    build.symbol = name;
    build.threads = 32;
    info.builds = {build};
    ModuleFile file;
    file.images = {{"sm_80", ImageKind::PTX, {name}, {info}}};
    return Module::fromMemory(writeModule(file)).kernel(name);
  }

  /// Appends a record of one 8-byte value to the ring that the launch names.
  void record(void **params, uint32_t site, int32_t block, int64_t value) {
    char *memory = nullptr;
    uint32_t first = 0;
    std::memcpy(&memory, params[4], sizeof memory); // after `n` and the grid's extents
    std::memcpy(&first, params[5], sizeof first);
    ringAddress = reinterpret_cast<cuda::DevicePtr>(memory);
    auto &cursor = *reinterpret_cast<uint64_t *>(memory + DebugRing::cursorAt);
    char *at = memory + DebugRing::headerBytes + cursor;
    std::memcpy(at + DebugRing::valuesAt, &value, 8);
    std::memcpy(at + DebugRing::blockAt, &block, 4);
    uint32_t number = first + site + 1;
    std::memcpy(at, &number, 4);
    cursor += DebugRing::valuesAt + 8;
  }

  static inline cuda::DevicePtr ringAddress = 0;
};

DebugSite printSite() { return {false, "k.tile", 2, 3, {"v = ", ""}, {{DType::I64, {}}}}; }
DebugSite assertSite() { return {true, "k.tile", 3, 3, {"small"}, {{DType::Bool, {8}}}}; }

TEST_F(DebugTest, LinesOfTwoKernelsInOrder) {
  Stream s = Device::get(0).createStream();
  Kernel a = kernelWith({assertSite(), printSite()}, "first");
  Kernel b = kernelWith({printSite()}, "second");
  fake->onLaunch = [&](const cuda::LaunchConfig &, const std::string &symbol, void **p) {
    record(p, symbol == "first" ? 1 : 0, 0, symbol == "first" ? 1 : 2);
  };
  testing::internal::CaptureStdout();
  a.launch(s, 1);
  b.launch(s, 1);
  a.launch(s, 1);
  EXPECT_TRUE(s.trySynchronize());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "v = 1\nv = 2\nv = 1\n");
  testing::internal::CaptureStdout();
  EXPECT_TRUE(s.trySynchronize());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(DebugTest, AFailedAssertionIsReportedOnce) {
  Device device = Device::get(0);
  Stream s = device.createStream();
  Kernel k = kernelWith({assertSite()}, "checks");
  fake->onLaunch = [&](const cuda::LaunchConfig &, const std::string &, void **p) {
    record(p, 0, 3, 5);
    record(p, 0, 1, 6);
  };
  EXPECT_TRUE(k.tryLaunch(s, 1));
  auto waited = device.trySynchronize();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.failure().message,
            "k.tile:3:3: assertion failed: small (block (1, 0, 0), first at [6]; 2 times)");
  EXPECT_EQ(waited.failure().kernel, "checks");
  EXPECT_EQ(waited.failure().code, 710);
  EXPECT_TRUE(s.trySynchronize()); // the context lives on
}

TEST_F(DebugTest, LinesArePrintedAfterAFault) {
  Stream s = Device::get(0).createStream();
  Kernel k = kernelWith({printSite()}, "faulty");
  fake->onLaunch = [&](const cuda::LaunchConfig &, const std::string &, void **p) {
    record(p, 0, 0, 9);
  };
  k.launch(s, 1);
  fake->failNext["cuStreamSynchronize"] = 700;
  testing::internal::CaptureStdout();
  auto waited = s.trySynchronize();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "v = 9\n");
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.failure().code, 700);
}

} // namespace

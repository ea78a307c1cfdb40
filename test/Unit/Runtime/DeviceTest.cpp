//===- DeviceTest.cpp - devices, streams, events, memory ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The handles against the recording driver: what is created is destroyed, errors
// of the driver arrive with their text, contexts are restored.
//
//===------------------------------------------------------------------------===//

#include "WithFakeCuda.h"

using namespace tilec;

namespace {
using DeviceTest = WithFakeCuda;

TEST_F(DeviceTest, Properties) {
  ASSERT_EQ(Device::count(), 2);
  EXPECT_EQ(Device::whyNone(), "");
  Device d = Device::get(0);
  EXPECT_EQ(d.name(), "Fake 90");
  EXPECT_EQ(d.arch(), "sm_90");
  EXPECT_EQ(d.numSMs(), 132);
  EXPECT_EQ(d.memoryInfo().total, size_t(1) << 30);
  EXPECT_EQ(d, Device::get(0));
  EXPECT_EQ(Device::get(1).capability(), 80);
  EXPECT_FALSE(Device::get(1).isCpu());
  auto none = Device::tryGet(2);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.failure().message, "there is no GPU 2, there are 2");
  EXPECT_THROW(Device::get(-1), Error);
}

TEST_F(DeviceTest, StreamsAreDestroyedOnce) {
  {
    Stream a = Device::get(0).createStream();
    Stream b = a;
    b.synchronize();
    EXPECT_TRUE(a.isIdle());
    EXPECT_EQ(fake->streams.size(), 1u);
  }
  EXPECT_EQ(fake->calls["cuStreamDestroy_v2"], 1);
}

TEST_F(DeviceTest, ForeignStreamsFindTheirDevice) {
  Stream s = Device::get(1).createStream();
  StreamRef foreign(s.get());
  auto device = foreign.tryDevice();
  ASSERT_TRUE(device);
  EXPECT_EQ(device->ordinal(), 1);
}

TEST_F(DeviceTest, Events) {
  Device d = Device::get(0);
  Stream s = d.createStream();
  Event start = Event::create(d), end = Event::create(d);
  start.record(s);
  end.record(s);
  end.synchronize();
  s.wait(end);
  EXPECT_EQ(end.millisecondsSince(start), 1.5f);
}

TEST_F(DeviceTest, ErrorsCarryTheDriversText) {
  Stream s = Device::get(0).createStream();
  fake->failNext["cuMemAllocAsync"] = 2;
  auto buffer = Buffer::tryAllocate(s, 100);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.failure().message,
            "allocating 100 bytes failed: fake error (CUDA_ERROR_OUT_OF_MEMORY)");
  EXPECT_EQ(buffer.failure().code, 2);
  fake->failNext["cuStreamCreate"] = 999;
  try {
    Device::get(0).createStream();
    FAIL();
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), "creating a stream failed: fake error (CUDA error 999)");
    EXPECT_EQ(e.code(), 999);
  }
}

TEST_F(DeviceTest, BuffersMoveAndFree) {
  Stream s = Device::get(0).createStream();
  Buffer a = Buffer::allocate(s, 64), b = Buffer::allocate(s, 64, MemoryKind::Managed);
  Buffer c = Buffer::allocate(s, 64, MemoryKind::Pinned), none = Buffer::allocate(s, 0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(fake->allocations.size(), 3u);
  void *data = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(fake->allocations.size(), 2u);
  EXPECT_EQ(a.device().ordinal(), 0);
}

TEST_F(DeviceTest, ABufferOutlivesItsStreamHandle) {
  Buffer buffer;
  {
    Stream s = Device::get(0).createStream();
    buffer = Buffer::allocate(s, 16);
  }
  EXPECT_EQ(fake->streams.size(), 1u);
}

TEST_F(DeviceTest, ArraysCopyBothWays) {
  Stream s = Device::get(1).createStream();
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  auto a = Array<f32, 2>::fromHost(s, values, {2, 3});
  EXPECT_EQ(a.size(), 6u);
  EXPECT_EQ(a.toHost(s), values);
  auto z = Array<bf16, 1>::zeros(s, {5});
  EXPECT_EQ(z.toHost(s), std::vector<BFloat16>(5));
  EXPECT_EQ(a.view().getArg().strides[0], 3);
  EXPECT_THROW((Array<f32, 2>::fromHost(s, values, {2, 2})), Error);
  EXPECT_THROW((Array<f32, 1>::empty(s, {-1})), Error);
  EXPECT_THROW((Array<f32, 2>::empty(s, {int64_t(1) << 40, int64_t(1) << 40})), Error);
  EXPECT_EQ((Array<f32, 2>::empty(s, {0, 3}).size()), 0u);
}

TEST_F(DeviceTest, GraphsEndTheirCapture) {
  Stream s = Device::get(0).createStream();
  Graph g = Graph::capture(s, [] {});
  g.launch(s);
  EXPECT_EQ(fake->calls["cuGraphLaunch"], 1);
  EXPECT_THROW(Graph::capture(s, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(fake->calls["cuStreamBeginCapture_v2"], fake->calls["cuStreamEndCapture"]);
  EXPECT_EQ(fake->calls["cuGraphDestroy"], 2);
}
} // namespace

//===- MemorySumGpuTest.cpp - sums in memory on streams and in graphs -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A product for sm_80, whose blocks share a loop by way of memory, on any GPU: the same
// bits from many launches, from four streams at once, and from two graphs that run at the same
// time beside plain launches. Skipped where there is no GPU.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "tilec/tilec.h"

#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

const char *const source = R"(
kernel product(a: array<bf16, [m, k]>, b: array<bf16, [k, n]>, c: mut array<f32, [m, n]>)
  grid [cdiv(m, 64), cdiv(n, 64)] hint(split_k: 4)
{
  var acc = zeros([64, 64], f32);
  for i in 0..cdiv(k, 64) {
    acc = mma(load(a, [bid(0), i], [64, 64]), load(b, [i, bid(1)], [64, 64]), acc);
  }
  store(c, [bid(0), bid(1)], acc);
}
)";

class MemorySumGpu : public testing::Test {
protected:
  void SetUp() override {
    if (Device::count() == 0)
      GTEST_SKIP() << Device::whyNone();
    runner.setGPUChip("sm_80");
    ASSERT_EQ(runner.run(Executor::GPU, {a.arg(), b.arg(), want.arg()}), "");
    home.emplace(Device::get(0).createStream());
    onDevice[0] = upload(a);
    onDevice[1] = upload(b);
  }

  Buffer upload(const HostArray &array) {
    Buffer buffer = Buffer::allocate(*home, array.bytes.size());
    copy(*home, buffer.data(), array.bytes.data(), array.bytes.size());
    home->synchronize();
    return buffer;
  }
  /// A place for a result, all NaN.
  Buffer place() { return upload(HostArray::poisoned(DType::F32, {m, n})); }

  void launch(const Stream &stream, const Buffer &c) {
    KernelArg args[] = {a.arg(), b.arg(), want.arg()};
    const Buffer *buffers[] = {&onDevice[0], &onDevice[1], &c};
    for (int i = 0; i < 3; ++i)
      std::get<ArrayArg>(args[i]).data = buffers[i]->data();
    valueOrThrow(runner.kernelOnGPU().tryLaunchArgs(stream, {}, args));
  }
  void expectResult(const Buffer &c) {
    std::vector<uint8_t> got(want.bytes.size());
    copy(*home, got.data(), c.data(), got.size());
    home->synchronize();
    EXPECT_EQ(got, want.bytes);
  }

  static constexpr int64_t m = 200, n = 136, k = 1000;
  KernelRunner runner{KernelRunner::Text{"product.tile", source}, CompileOptions()};
  HostArray a = HostArray::random(DType::BF16, {m, k}, 3);
  HostArray b = HostArray::random(DType::BF16, {k, n}, 4);
  HostArray want = HostArray::poisoned(DType::F32, {m, n});
  std::optional<Stream> home;
  Buffer onDevice[2];
};

TEST_F(MemorySumGpu, ManyLaunchesGiveTheSameBits) {
  for (int i = 0; i < 100; ++i) {
    Buffer c = place();
    launch(*home, c);
    expectResult(c);
  }
}

TEST_F(MemorySumGpu, FourStreamsAtOnce) {
  std::vector<Stream> streams;
  std::vector<Buffer> results;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(Device::get(0).createStream());
    results.push_back(place());
  }
  for (int round = 0; round < 50; ++round)
    for (int i = 0; i < 4; ++i)
      launch(streams[i], results[i]);
  Device::get(0).synchronize();
  for (const Buffer &c : results)
    expectResult(c);
  Device::get(0).trimMemory();
  launch(streams[0], results[0]);
  streams[0].synchronize();
  expectResult(results[0]);
}

TEST_F(MemorySumGpu, GraphsAtTheSameTime) {
  Buffer first = place(), second = place(), third = place();
  auto capture = [&](const Buffer &c) {
    return Graph::capture(*home, [&] {
      launch(*home, c);
      launch(*home, c);
    });
  };
  Graph one = capture(first), two = capture(second);
  Stream s = Device::get(0).createStream(), t = Device::get(0).createStream();
  for (int round = 0; round < 20; ++round) {
    one.launch(s);
    two.launch(t);
    one.launch(t);
    launch(*home, third);
  }
  Device::get(0).synchronize();
  for (const Buffer *c : {&first, &second, &third})
    expectResult(*c);
}

} // namespace

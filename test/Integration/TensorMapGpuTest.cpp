//===- TensorMapGpuTest.cpp - tensor maps and residency on a GPU --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A kernel in PTX whose blocks stay resident: each copies boxes of 8 x 32 by a tensor
// map and writes them out, also when launched from a graph. Skipped without a GPU that
// has tensor maps.
//
//===------------------------------------------------------------------------===//

#include "tilec/tilec.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdio>

using namespace tilec;

/// boxes(x: array<f32, [m, n]>, y: mut array<f32, [k]>): y[256 i + …] is box i of x, the
/// rows 8i … 8i + 7 and columns -4 … 27.
static constexpr const char *boxesPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry boxes(.param .u64 x, .param .u64 m, .param .u64 n, .param .u64 y, .param .u64 k,
                      .param .u32 gx, .param .u32 gy, .param .u32 gz,
                      .param .align 64 .b8 map[128])
.reqntid 256
{
  .shared .align 128 .b8 box[1024];
  .shared .align 8 .b64 full;
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [y];
  ld.param.u32 %r1, [gx];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, box;
  mov.u32 %r6, full;
  mov.u32 %r7, 0;
  mov.u32 %r8, -4;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 mbarrier.init.shared.b64 [%r6], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  bar.sync 0;
LOOP:
  setp.ge.u32 %p2, %r2, %r1;
  @%p2 ret;
  shl.b32 %r9, %r2, 3;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 1024;
  @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5], [%rd2, {%r8, %r9}], [%r6];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r6], %r7;
  @!%p3 bra WAIT;
  xor.b32 %r7, %r7, 1;
  shl.b32 %r10, %r4, 2;
  add.u32 %r11, %r5, %r10;
  ld.shared.f32 %f1, [%r11];
  shl.b32 %r12, %r2, 8;
  add.u32 %r13, %r12, %r4;
  mul.wide.u32 %rd4, %r13, 4;
  add.u64 %rd5, %rd3, %rd4;
  st.global.f32 [%rd5], %f1;
  bar.sync 0;
  add.u32 %r2, %r2, %r3;
  bra LOOP;
}
)";

namespace {
class TensorMapGpu : public testing::Test {
protected:
  void SetUp() override {
    if (Device::count() == 0)
      GTEST_SKIP() << Device::whyNone();
    if (Device::get(0).capability() < 90)
      GTEST_SKIP() << "needs a GPU with tensor maps";
    stream.emplace(Device::get(0).createStream());
  }

  static Kernel boxes(unsigned persistent) {
    KernelInfo info;
    info.name = "boxes";
    info.arch = "sm_90";
    ParamInfo x, y;
    x.name = "x";
    x.isArray = true;
    x.dims = {{"m", {}}, {"n", {}}};
    y.name = "y";
    y.isArray = y.isMutable = true;
    y.dims = {{"k", {}}};
    info.params = {x, y};
    info.grid = {"cdiv(dim(0, 0), 8)"};
    BuildInfo build;
    build.symbol = "boxes";
    build.threads = 256;
    build.persistent = persistent;
    build.tensorMaps = {{0, {8, 32}, 0}};
    info.builds = {build};
    ModuleFile file;
    file.images = {{"sm_90", ImageKind::PTX, {boxesPtx}, {std::move(info)}}};
    return Module::fromMemory(writeModule(file)).kernel("boxes");
  }

  static std::vector<float> ramp(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i + 1);
    return values;
  }
  /// What boxes gives for ramp() of m rows of n.
  static void expectBoxes(const std::vector<float> &y, int64_t m, int64_t n) {
    for (size_t i = 0; i < y.size(); ++i) {
      auto row = static_cast<int64_t>(i / 32), column = static_cast<int64_t>(i % 32) - 4;
      bool inside = row < m && column >= 0 && column < n;
      ASSERT_EQ(y[i], inside ? static_cast<float>(row * n + column + 1) : 0.0f) << i;
    }
  }

  std::optional<Stream> stream;
};

TEST_F(TensorMapGpu, CopiesBoxesWithEdges) {
  for (unsigned persistent : {0u, 1u, 2u})
    for (auto [m, n] : {std::pair<int64_t, int64_t>(4000, 64), {13, 20}, {1, 4}}) {
      auto x = Array<f32, 2>::fromHost(*stream, ramp(m * n), {m, n});
      auto y = Array<f32, 1>::empty(*stream, {(m + 7) / 8 * 256});
      boxes(persistent).launch(*stream, x, y);
      expectBoxes(y.toHost(*stream), m, n);
    }
}

TEST_F(TensorMapGpu, Graphs) {
  Kernel k = boxes(1);
  k.preload(stream->device());
  auto x = Array<f32, 2>::fromHost(*stream, ramp(800 * 32), {800, 32});
  auto y = Array<f32, 1>::zeros(*stream, {25600});
  stream->synchronize();
  Graph graph = Graph::capture(*stream, [&] { k.launch(*stream, x, y); });
  graph.launch(*stream);
  expectBoxes(y.toHost(*stream), 800, 32);
}

TEST_F(TensorMapGpu, HostTimeOfALaunch) {
  Kernel k = boxes(1);
  auto x = Array<f32, 2>::zeros(*stream, {8, 32});
  auto y = Array<f32, 1>::zeros(*stream, {256});
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    k.launch(*stream, x, y);
    stream->synchronize();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i)
      k.launch(*stream, x, y);
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / 200);
    stream->synchronize();
  }
  std::printf("host time of a launch with a tensor map: %.2f us\n", best);
  // As for a launch without: the map is encoded once.
  EXPECT_LT(best, 6.0);
}
} // namespace

//===- BlockTest.cpp - whole blocks: reductions, transposes, many blocks -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Kernels compiled from CUDA by clang (Inputs/block_kernels.cu), exact results; the
// same results whatever the order of threads and blocks.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tilec;
using namespace tilec::test;

static std::vector<float> someIntegers(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(int(i * 7 % 31) - 15);
  return x;
}

TEST(EmulatorBlock, ReducesExactly) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "reduce");
  std::vector<float> in = someIntegers(100000), out(16);
  EmulatorReport report =
      Launch(kernel).array(in, "in", false).array(out, "out").scalar(int(in.size())).run(256, 16);
  EXPECT_CLEAN(report);
  double expected = 0, sum = 0;
  for (float x : in)
    expected += x;
  for (float x : out)
    sum += x;
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(report.statistics.blocks, 16u);
  EXPECT_EQ(report.statistics.threads, 16u * 256u);
}

TEST(EmulatorBlock, TransposesThroughSharedMemory) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "transpose");
  const int rows = 96, columns = 64;
  std::vector<float> in = someIntegers(rows * columns), out(rows * columns, -1);
  EmulatorReport report = Launch(kernel)
                              .array(in, "in", false)
                              .array(out, "out")
                              .scalar(rows)
                              .scalar(columns)
                              .run(256, columns / 32, rows / 32);
  EXPECT_CLEAN(report);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      ASSERT_EQ(out[c * rows + r], in[r * columns + c]);
}

TEST(EmulatorBlock, RunsTheSameWithoutChecks) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "transpose", false);
  std::vector<float> in = someIntegers(32 * 32), out(32 * 32);
  EXPECT_CLEAN(
      Launch(kernel).array(in, "in").array(out, "out").scalar(32).scalar(32).run(256));
  for (int r = 0; r < 32; ++r)
    for (int c = 0; c < 32; ++c)
      ASSERT_EQ(out[c * 32 + r], in[r * 32 + c]);
}

TEST(EmulatorBlock, ManyBarriersAndAllThreads) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "manybar");
  std::vector<float> out(1024);
  EmulatorReport report = Launch(kernel).array(out, "out").scalar(200).run(1024);
  EXPECT_CLEAN(report);
  EXPECT_EQ(out, std::vector<float>(1024, 200.0f));
  EXPECT_GE(report.statistics.switches, 200u * 1024u);
}

TEST(EmulatorBlock, SeedsChangeTheOrderButNotTheResult) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "reduce");
  std::vector<float> in = someIntegers(5000), first(8);
  Launch(kernel).array(in, "in").array(first, "out").scalar(5000).run(128, 8);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<float> out(8);
    EmulatorReport report = Launch(kernel)
                                .array(in, "in")
                                .array(out, "out")
                                .scalar(5000)
                                .seed(seed)
                                .run(128, 8);
    EXPECT_CLEAN(report);
    EXPECT_EQ(out, first) << "seed " << seed;
  }
}

TEST(EmulatorBlock, DynamicSharedMemoryHasTheSizeOfTheLaunch) {
  EmulatedKernel kernel = load(std::string(prologue) + R"(
@tilec_smem = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @tilec_smem, i32 %t
  store i32 %t, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i32 63, %t
  %q = getelementptr i32, ptr addrspace(3) @tilec_smem, i32 %r
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})", "k");
  std::vector<int> out(64);
  EXPECT_CLEAN(Launch(kernel).array(out, "out").shared(256).run(64));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 63 - i);
  EXPECT_FINDS(Launch(kernel).array(out, "out").shared(252).run(64), OutOfBounds);
}

TEST(EmulatorBlock, RefusesLaunchesThatCannotBe) {
  EmulatedKernel kernel = load(readInput("block_kernels.ll"), "manybar");
  auto fails = [&](EmulatorLaunch launch) {
    auto report = kernel.launch(launch);
    return report ? std::string() : llvm::toString(report.takeError());
  };
  EmulatorLaunch launch;
  EXPECT_EQ(fails(launch), "kernel 'manybar' takes 2 parameters, not 0");
  launch.parameters = {std::vector<uint8_t>(8), std::vector<uint8_t>(8)};
  EXPECT_EQ(fails(launch), "parameter 1 of kernel 'manybar' has 4 bytes, not 8");
  launch.parameters[1].resize(4);
  launch.threads = {2048, 1, 1};
  EXPECT_EQ(fails(launch), "a block has between 1 and 1024 threads");
  launch.threads = {32, 1, 1};
  launch.sharedBytes = 1 << 20;
  EXPECT_EQ(fails(launch), "the launch needs 1048576 bytes of shared memory; a block "
                           "has at most 262144");
}

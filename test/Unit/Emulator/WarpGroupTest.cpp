//===- WarpGroupTest.cpp - products of warp groups -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A kernel copies images of both operands into shared memory, multiplies and writes
// its accumulators out. The test lays the operands out by the rules of the PTX ISA
// (rows of a swizzled tile, core matrices), knows where each accumulator belongs, and
// multiplies in plain loops. Then each step is left out or damaged.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"
#include "WarpGroupKernel.h"

#include <gmock/gmock.h>

using namespace tilec;
using namespace tilec::test;

namespace {

void expectRight(const ProductCase &c, std::optional<uint64_t> seed = {}) {
  SCOPED_TRACE(c.helperName());
  ProductRun run(c);
  EmulatorReport report = run.launch(c.kernel(), seed);
  EXPECT_CLEAN(report);
  run.expectProduct();
}

TEST(EmulatorWarpGroup, EveryTypeFromSharedMemory) {
  for (const char *types : {"f32.f16.f16", "f16.f16.f16", "f32.bf16.bf16", "f32.tf32.tf32",
                            "f32.e4m3.e4m3", "f32.e4m3.e5m2", "f16.e5m2.e4m3", "f32.e5m2.e5m2",
                            "s32.s8.s8", "s32.s8.u8", "s32.u8.s8", "s32.u8.u8"})
    for (uint32_t n : {8u, 64u}) {
      ProductCase c;
      c.types = types;
      c.n = n;
      c.accumulates = n == 8;
      expectRight(c, n);
    }
  ProductCase widest;
  widest.n = 256;
  expectRight(widest);
}

TEST(EmulatorWarpGroup, EverySwizzleAndOrder) {
  for (uint32_t swizzle : {0u, 32u, 64u, 128u})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (uint32_t n : {16u, 64u}) {
          ProductCase c;
          c.swizzle = swizzle;
          c.transposeA = transposeA;
          c.transposeB = transposeB;
          c.n = n;
          // A panel of an MN-major operand is as wide as the swizzle.
          if (transposeB && swizzle && n % (swizzle / 2))
            continue;
          expectRight(c);
        }
}

TEST(EmulatorWarpGroup, FirstOperandInRegisters) {
  for (const char *types : {"f32.f16.f16", "f32.bf16.bf16", "f32.tf32.tf32", "f32.e4m3.e5m2",
                            "s32.s8.u8"}) {
    ProductCase c;
    c.types = types;
    c.aInRegisters = true;
    c.n = 24;
    expectRight(c);
    expectRight(c, 1);
  }
}

TEST(EmulatorWarpGroup, SeveralStepsOfKInOneGroup) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    ProductCase c;
    c.steps = 4; // the width of a row of 128 bytes
    c.n = 128;
    expectRight(c, seed);
    c.aInRegisters = true;
    expectRight(c, seed);
  }
}

TEST(EmulatorWarpGroup, EveryWarpGroupHasProductsOfItsOwn) {
  ProductCase c;
  c.threads = 256;
  expectRight(c);
  expectRight(c, 3);
}

//===--- faults -------------------------------------------------------------------===//

std::string findings(const ProductCase &c, const std::string &kernel,
                     std::optional<uint64_t> seed = {}) {
  ProductRun run(c);
  return text(run.launch(kernel, seed));
}

using testing::HasSubstr;

TEST(EmulatorWarpGroup, AMissingFenceIsFound) {
  ProductCase c;
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @tilec.wgmma.fence()")),
              HasSubstr("without a wgmma.fence"));
}

TEST(EmulatorWarpGroup, AMissingProxyFenceIsFound) {
  ProductCase c;
  std::string kernel = c.kernel();
  EXPECT_THAT(findings(c, without(kernel, "call void @llvm.nvvm.fence.proxy.async")),
              HasSubstr("with no fence.proxy.async between the two"));
  // Behind the barrier the fence covers only what its own thread knows, which by then
  // is everything.
  std::string moved = without(kernel, "call void @llvm.nvvm.fence.proxy.async");
  moved = mutate(moved, "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",
                 "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  call void "
                 "@llvm.nvvm.fence.proxy.async.shared_cta()");
  EXPECT_EQ(findings(c, moved), "");
}

TEST(EmulatorWarpGroup, AMissingBarrierIsFound) {
  ProductCase c;
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.barrier.cta.sync")),
              HasSubstr("race: reads shared memory"));
}

TEST(EmulatorWarpGroup, AccumulatorsAreReadAfterTheWaitOnly) {
  ProductCase c;
  // The stores take what the product returned instead of what the wait did.
  std::string early = mutate(c.kernel(), "%done, ", "%acc0, ");
  EXPECT_THAT(findings(c, early), HasSubstr("reads an accumulator of wgmma before a wait"));
  // The wait lets the only group stay open.
  std::string open = mutate(c.kernel(), "tilec.wgmma.wait.0", "tilec.wgmma.wait.1");
  EXPECT_THAT(findings(c, open), HasSubstr("reads an accumulator of wgmma before a wait"));
  std::string never = findings(c, open);
  EXPECT_THAT(never, HasSubstr("still in flight when its block leaves the kernel"));
  // Without a commit there is no group to wait for.
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @tilec.wgmma.commit()")),
              HasSubstr("reads an accumulator of wgmma before a wait"));
}

TEST(EmulatorWarpGroup, OperandsStayUntilTheWait) {
  ProductCase c;
  std::string overwrite =
      "  store <4 x i32> zeroinitializer, ptr addrspace(3) %slot0, align 16\n";
  std::string kernel = c.kernel();
  size_t commit = kernel.find("  call void @tilec.wgmma.commit()");
  ASSERT_NE(commit, std::string::npos);
  std::string early = kernel.substr(0, commit) + overwrite + kernel.substr(commit);
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(1),
                                       std::optional<uint64_t>(2)})
    EXPECT_THAT(findings(c, early, seed), HasSubstr("race:"));
  // After the wait and a barrier anybody may.
  size_t store = kernel.find("  %out0 =");
  ASSERT_NE(store, std::string::npos);
  std::string late = kernel.substr(0, store) +
                     "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n" + overwrite +
                     kernel.substr(store);
  EXPECT_EQ(findings(c, late), "");
}

TEST(EmulatorWarpGroup, AllThreadsOfAllFourWarpsTakePart) {
  ProductCase c;
  // One warp leaves before the product.
  std::string guard = "  %warp = lshr i32 %t, 5\n  %leaves = icmp eq i32 %warp, 2\n"
                      "  br i1 %leaves, label %leave, label %stay\nleave:\n  ret void\nstay:\n";
  std::string kernel = c.kernel();
  size_t fence = kernel.find("  call void @tilec.wgmma.fence()");
  EXPECT_THAT(findings(c, kernel.substr(0, fence) + guard + kernel.substr(fence)),
              HasSubstr("deadlock: 96 threads wait at wgmma.wait_group"));
  // One lane does.
  std::string lane = mutate(guard, "%warp = lshr i32 %t, 5", "%warp = and i32 %t, 127");
  EXPECT_THAT(findings(c, kernel.substr(0, fence) + lane + kernel.substr(fence)),
              HasSubstr("divergent barrier: wgmma"));
  // Too few threads for a group.
  ProductCase small = c;
  small.threads = 64;
  EXPECT_THAT(findings(small, small.kernel()), HasSubstr("needs a warp group"));
}

TEST(EmulatorWarpGroup, WarpsAgreeOnDescriptors) {
  ProductCase c;
  // Each warp, or each lane, has its own descriptor of b.
  std::string byWarp = mutate(c.kernel(), "%b0 = add i64 %b, 0",
                              "%w = lshr i32 %t, 5\n  %w64 = zext i32 %w to i64\n"
                              "  %b0 = add i64 %b, %w64");
  EXPECT_THAT(findings(c, byWarp), HasSubstr("the warps of a group issue different products"));
  std::string byLane = mutate(byWarp, "lshr i32 %t, 5", "and i32 %t, 1");
  EXPECT_THAT(findings(c, byLane), HasSubstr("the lanes of a warp give different descriptors"));
}

TEST(EmulatorWarpGroup, DescriptorsAreChecked) {
  ProductCase c;
  ProductRun run(c);
  run.b |= uint64_t(1) << 49;
  EXPECT_THAT(text(run.launch(c.kernel(), {})), HasSubstr("a base offset"));
  ProductRun outside(c);
  outside.b += 0x3000;
  EXPECT_FINDS(outside.launch(c.kernel(), {}), OutOfBounds);
}

TEST(EmulatorWarpGroup, RegisterRequests) {
  ProductCase c;
  auto request = [&](const std::string &line) {
    std::string kernel = c.kernel();
    size_t fence = kernel.find("  call void @tilec.wgmma.fence()");
    return findings(c, kernel.substr(0, fence) + line + kernel.substr(fence));
  };
  EXPECT_EQ(request("  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 240)\n"), "");
  EXPECT_THAT(request("  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 28)\n"),
              HasSubstr("setmaxnreg asks for 28 registers"));
  EXPECT_THAT(request("  %first = icmp ult i32 %t, 32\n  br i1 %first, label %more, label %go\n"
                      "more:\n  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 240)\n"
                      "  br label %go\ngo:\n"),
              HasSubstr("setmaxnreg is executed by some warps of its group only"));
}

TEST(EmulatorWarpGroup, RegistersOfAllGroups) {
  constexpr int groups = 5;
  auto request = [&](int count) {
    EmulatedKernel kernel = load(
        "declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 immarg)\n"
        "define ptx_kernel void @k() {\n"
        "  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 " + std::to_string(count) + ")\n"
        "  ret void\n}\n", "k");
    return text(Launch(kernel).run(groups * 128));
  };
  EXPECT_EQ(request(96), "");
  EXPECT_THAT(request(104), HasSubstr("setmaxnreg asks for 66560 registers in all, of 61440"));
}

TEST(EmulatorWarpGroup, UnknownFormsAreRefused) {
  ProductCase c;
  std::string kernel = mutate(c.kernel(), ".bf16.bf16.ss", ".bf16.bf17.ss");
  auto refused = compile(kernel, "k");
  ASSERT_FALSE(bool(refused));
  EXPECT_THAT(llvm::toString(refused.takeError()),
              HasSubstr("the emulator does not support 'tilec.wgmma.m64n64k16.f32.bf16.bf17.ss'"));
}

} // namespace

//===- TensorMemoryTest.cpp - tensor memory and its products -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The kernel of TensorProductKernel.h in all types, shapes, orders and swizzles. Then each
// of its steps is left out or damaged, which must be found.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"
#include "TensorProductKernel.h"

#include <gmock/gmock.h>

using namespace tilec;
using namespace tilec::test;

namespace {

void expectRight(const TensorProductCase &c, std::optional<uint64_t> seed = {}) {
  SCOPED_TRACE(c.name());
  TensorProductRun run(c);
  EXPECT_CLEAN(run.launch(c.kernel(), seed));
  run.expectProduct();
}

TEST(EmulatorTensorMemory, EveryTypeAndShape) {
  struct Types {
    const char *a, *b;
    bool isHalf = false;
  };
  for (Types types : {Types{"f16", "f16"}, Types{"f16", "f16", true}, Types{"bf16", "bf16"},
                      Types{"tf32", "tf32"}, Types{"e4m3", "e4m3"}, Types{"e4m3", "e5m2"},
                      Types{"e5m2", "e4m3"}, Types{"s8", "s8"}, Types{"s8", "u8"},
                      Types{"u8", "s8"}, Types{"u8", "u8"}})
    for (uint32_t m : {64u, 128u}) {
      TensorProductCase c{types.a, types.b, types.isHalf};
      c.m = m;
      c.n = m == 64 ? 32 : 16;
      c.accumulates = (m == 64) != types.isHalf;
      expectRight(c, m);
    }
  TensorProductCase widest;
  widest.n = 128;
  expectRight(widest);
  widest.m = 64;
  expectRight(widest);
}

TEST(EmulatorTensorMemory, EverySwizzleAndOrder) {
  for (const char *type : {"bf16", "e4m3"})
    for (uint32_t swizzle : {32u, 64u, 128u})
      for (bool transposeA : {false, true})
        for (bool transposeB : {false, true}) {
          TensorProductCase c{type, type};
          c.swizzle = swizzle;
          c.transposeA = transposeA;
          c.transposeB = transposeB;
          c.n = transposeB ? swizzle * 8 / c.elementBits() : 32;
          expectRight(c);
        }
}

TEST(EmulatorTensorMemory, SeveralStepsOfK) {
  for (uint64_t seed : {0, 1}) {
    TensorProductCase c;
    c.steps = 4; // the width of a row of 128 bytes
    c.accumulates = seed & 1;
    expectRight(c, seed);
    c.transposeA = c.transposeB = true;
    expectRight(c, seed);
  }
}

//===--- faults -------------------------------------------------------------------===//

std::string findings(const TensorProductCase &c, const std::string &kernel,
                     std::optional<uint64_t> seed = {}) {
  TensorProductRun run(c);
  return text(run.launch(kernel, seed));
}

TensorProductCase accumulating() {
  TensorProductCase c;
  c.accumulates = true;
  return c;
}

using testing::HasSubstr;

TEST(EmulatorTensorMemory, OperandsMustBeFencedAndOrdered) {
  TensorProductCase c;
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.fence.proxy.async")),
              HasSubstr("with no fence.proxy.async between the two"));
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.barrier.cta.sync")),
              HasSubstr("race: reads shared memory"));
}

TEST(EmulatorTensorMemory, AccumulatorsAreReadAfterTheirCommitOnly) {
  TensorProductCase c;
  std::string early = mutate(c.kernel(), "br i1 %done, label %complete, label %wait",
                             "br label %complete");
  early = mutate(early, "%done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta("
                        "ptr addrspace(3) %barrier, i32 0)", "%done = add i1 0, 1");
  EXPECT_THAT(findings(c, early), HasSubstr("tensor memory"));
  // Without the commit nobody ever goes on.
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.tcgen05.commit")),
              HasSubstr("deadlock"));
}

TEST(EmulatorTensorMemory, FencesAroundMeetingsAreNeeded) {
  TensorProductCase c = accumulating();
  EXPECT_THAT(findings(c, without(c.kernel(), "; for loads")), HasSubstr("race: reads tensor memory"));
  EXPECT_THAT(findings(c, without(c.kernel(), "; for products")), HasSubstr("race: reads tensor memory"));
  // The one behind the stores.
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.tcgen05.fence.before")),
              HasSubstr("race: reads tensor memory"));
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.tcgen05.wait.st")),
              HasSubstr("race: reads tensor memory"));
  // The one behind the loads: memory is freed while others load it.
  c.accumulates = false;
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.tcgen05.fence.before")),
              HasSubstr("race: writes tensor memory"));
}

TEST(EmulatorTensorMemory, LoadsAreWaitedFor) {
  TensorProductCase c;
  EXPECT_THAT(findings(c, mutate(c.kernel(), "store i32 %w3,", "store i32 %x3,")),
              HasSubstr("uses what tcgen05.ld loads before a wait has returned it"));
}

TEST(EmulatorTensorMemory, WhatNobodyWroteIsReported) {
  TensorProductCase c;
  EXPECT_THAT(findings(c, mutate(c.kernel(), ", i1 false, i32 0, i32 1, i32 0)",
                                 ", i1 true, i32 0, i32 1, i32 0)")),
              HasSubstr("uninitialised read: reads tensor memory"));
}

TEST(EmulatorTensorMemory, MemoryIsAllocatedAndFreed) {
  TensorProductCase c;
  EXPECT_THAT(findings(c, without(c.kernel(), "call void @llvm.nvvm.tcgen05.dealloc")),
              HasSubstr("tensor memory is not freed"));
  EXPECT_THAT(findings(c, mutate(c.kernel(), "dealloc.cg1(ptr addrspace(6) %acc, i32 256)",
                                 "dealloc.cg1(ptr addrspace(6) %acc, i32 128)")),
              HasSubstr("frees tensor memory that was not allocated"));
  EXPECT_THAT(findings(c, mutate(c.kernel(), "%slot, i32 256)", "%slot, i32 48)")),
              HasSubstr("allocates 48 columns"));
  std::string late = mutate(c.kernel(), "  call void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()\n", "");
  late = mutate(late, "take:\n", "take:\n  call void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()\n");
  EXPECT_THAT(findings(c, late), HasSubstr("after the permit"));
  // An address that is taken for granted is not the one that was given.
  EXPECT_THAT(findings(c, mutate(c.kernel(), "%taddr = load i32, ptr addrspace(3) %slot",
                                 "%taddr = add i32 0, 0")),
              HasSubstr("which are not allocated"));
  EXPECT_THAT(findings(c, mutate(c.kernel(), "%quarter = shl i32 %warp, 21",
                                 "%quarter = shl i32 %warp, 20")),
              HasSubstr("cannot reach lane 16"));
}

TEST(EmulatorTensorMemory, DescriptorsMustSaySomething) {
  TensorProductCase c;
  std::string shape = "i32 " + std::to_string(c.shape()) + ", i1";
  for (uint32_t wrong : {1u << 2, 1u << 6, 3u << 7, 1u << 13, 1u << 23, 1u << 24, 1u << 31})
    EXPECT_THAT(findings(c, mutate(c.kernel(), shape,
                                   "i32 " + std::to_string(int32_t(c.shape() ^ wrong)) + ", i1")),
                HasSubstr("instruction descriptor"))
        << wrong;
  // Without the version of this instruction it is a descriptor of wgmma's.
  EXPECT_THAT(findings(c, mutate(c.kernel(), "%a0 = add i64 %a, 0",
                                 "%a0 = xor i64 %a, 70368744177664")),
              HasSubstr("not the version of this instruction"));
}

TEST(EmulatorTensorMemory, OperandsMayNotBeOverwrittenTooEarly) {
  TensorProductCase c;
  // The issuer writes to a while the product may still read it.
  std::string early = mutate(c.kernel(), "  br label %issued\nissued:",
                             "  store i32 0, ptr addrspace(3) @smem\n  br label %issued\nissued:");
  EXPECT_THAT(findings(c, early), HasSubstr("an asynchronous product reads it"));
}

} // namespace

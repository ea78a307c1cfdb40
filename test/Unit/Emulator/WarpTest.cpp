//===- WarpTest.cpp - shuffles, votes, matches, reductions of a warp -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// One operation a kernel, on one warp, against values computed here.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

namespace {

/// Runs `out[lane] = value(lane)` where \p body defines %r: i32 from %lane: i32.
std::vector<uint32_t> perLane(const std::string &declarations, const std::string &body,
                              EmulatorReport *report = nullptr) {
  EmulatedKernel kernel = load(std::string(prologue) + declarations + R"(
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
)" + body + R"(
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %r, ptr addrspace(1) %p
  ret void
})", "k");
  std::vector<uint32_t> out(32, 0xDEADBEEF);
  EmulatorReport result = Launch(kernel).array(out, "out").run(32);
  if (report)
    *report = result;
  else
    EXPECT_CLEAN(result);
  return out;
}

std::vector<uint32_t> shuffle(const std::string &mode, const std::string &lane,
                              int clamp) {
  return perLane("declare i32 @llvm.nvvm.shfl.sync." + mode + ".i32(i32, i32, i32, i32)",
                 "  %v = mul i32 %lane, 10\n  %r = call i32 @llvm.nvvm.shfl.sync." + mode +
                     ".i32(i32 -1, i32 %v, i32 " + lane + ", i32 " +
                     std::to_string(clamp) + ")");
}

} // namespace

TEST(EmulatorWarp, Shuffles) {
  auto up = shuffle("up", "3", 0), down = shuffle("down", "5", 31),
       butterfly = shuffle("bfly", "6", 31), index = shuffle("idx", "7", 31);
  auto segments = shuffle("down", "1", 0x1807), broadcast = shuffle("idx", "2", 0x181F);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], 10 * (i < 3 ? i : i - 3));
    EXPECT_EQ(down[i], 10 * (i + 5 < 32 ? i + 5 : i));
    EXPECT_EQ(butterfly[i], 10 * (i ^ 6));
    EXPECT_EQ(index[i], 70u);
    EXPECT_EQ(segments[i], 10 * (i % 8 == 7 ? i : i + 1)); // width 8
    EXPECT_EQ(broadcast[i], 10 * (i / 8 * 8 + 2));
  }
}

TEST(EmulatorWarp, ShuffleWithPredicateAndFloat) {
  auto inRange = perLane(
      "declare {float, i1} @llvm.nvvm.shfl.sync.down.f32p(i32, float, i32, i32)",
      "  %f = uitofp i32 %lane to float\n"
      "  %s = call {float, i1} @llvm.nvvm.shfl.sync.down.f32p(i32 -1, float %f, i32 4, i32 31)\n"
      "  %v = extractvalue {float, i1} %s, 0\n  %c = extractvalue {float, i1} %s, 1\n"
      "  %i = fptoui float %v to i32\n  %r = select i1 %c, i32 %i, i32 99");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(inRange[i], i + 4 < 32 ? i + 4 : 99);
}

TEST(EmulatorWarp, Votes) {
  auto ballot = perLane("declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)",
                        "  %c = icmp ult i32 %lane, 5\n"
                        "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)");
  auto any = perLane("declare i1 @llvm.nvvm.vote.any.sync(i32, i1)",
                     "  %c = icmp eq i32 %lane, 9\n"
                     "  %b = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %c)\n"
                     "  %r = zext i1 %b to i32");
  auto all = perLane("declare i1 @llvm.nvvm.vote.all.sync(i32, i1)",
                     "  %c = icmp ne i32 %lane, 9\n"
                     "  %b = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %c)\n"
                     "  %r = zext i1 %b to i32");
  EXPECT_EQ(ballot, std::vector<uint32_t>(32, 31));
  EXPECT_EQ(any, std::vector<uint32_t>(32, 1));
  EXPECT_EQ(all, std::vector<uint32_t>(32, 0));
}

TEST(EmulatorWarp, Reductions) {
  auto reduce = [](const std::string &op) {
    return perLane("declare i32 @llvm.nvvm.redux.sync." + op + "(i32, i32)",
                   "  %v = sub i32 %lane, 7\n  %r = call i32 @llvm.nvvm.redux.sync." + op +
                       "(i32 %v, i32 -1)")[3];
  };
  EXPECT_EQ(reduce("add"), uint32_t(31 * 16 - 7 * 32));
  EXPECT_EQ(int32_t(reduce("min")), -7);
  EXPECT_EQ(reduce("max"), 24u);
  EXPECT_EQ(reduce("umin"), 0u);
  EXPECT_EQ(reduce("umax"), uint32_t(-1));
  EXPECT_EQ(reduce("or"), uint32_t(-1));
}

TEST(EmulatorWarp, MatchesAndElects) {
  auto match = perLane("declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)",
                       "  %v = and i32 %lane, 3\n"
                       "  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %v)");
  auto elected = perLane("declare {i32, i1} @llvm.nvvm.elect.sync(i32)",
                         "  %s = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n"
                         "  %b = extractvalue {i32, i1} %s, 1\n"
                         "  %r = zext i1 %b to i32");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(match[i], 0x11111111u << (i % 4));
    EXPECT_EQ(elected[i], i == 0 ? 1u : 0u);
  }
}

TEST(EmulatorWarp, ShuffleFromALaneThatLeft) {
  EmulatorReport report;
  perLane("declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)",
          "  %c = icmp eq i32 %lane, 0\n  br i1 %c, label %leave, label %stay\n"
          "leave:\n  ret void\nstay:\n"
          "  %r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %lane, i32 0, i32 31)",
          &report);
  EXPECT_FINDS(report, DivergentBarrier);
}

TEST(EmulatorWarp, LanesAtDifferentOperationsDeadlock) {
  EmulatorReport report;
  perLane("declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)\n"
          "declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)",
          "  %c = icmp ult i32 %lane, 16\n  br i1 %c, label %a, label %b\n"
          "a:\n  %x = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %lane, i32 0, i32 31)\n"
          "  br label %j\nb:\n"
          "  %y = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)\n  br label %j\n"
          "j:\n  %r = phi i32 [%x, %a], [%y, %b]",
          &report);
  ASSERT_TRUE(report.has(FindingKind::Deadlock)) << text(report);
}

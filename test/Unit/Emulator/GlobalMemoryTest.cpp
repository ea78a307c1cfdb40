//===- GlobalMemoryTest.cpp - races through global memory -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Between threads of a block, between blocks, and between blocks that hand over by
// fences and atomics.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tilec;
using namespace tilec::test;

TEST(EmulatorGlobalMemory, StoreThenLoadByAnotherThreadWithoutBarrier) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i16, ptr addrspace(1) %x, i32 %t
  %h = trunc i32 %t to i16
  store i16 %h, ptr addrspace(1) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = xor i32 %t, 1
  %q = getelementptr i16, ptr addrspace(1) %x, i32 %r
  %v = load i16, ptr addrspace(1) %q
  %o = getelementptr i16, ptr addrspace(1) %out, i32 %t
  store i16 %v, ptr addrspace(1) %o
  ret void
})";
  auto run = [](const std::string &m) {
    EmulatedKernel kernel = load(m, "k");
    std::vector<uint16_t> x(64), out(64);
    return Launch(kernel).array(x, "x").array(out, "out").run(64);
  };
  EXPECT_CLEAN(run(module));
  EXPECT_FINDS(run(mutate(module,
                          "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", "")),
               Race);
}

namespace {

/// Every block stores a partial sum; the block that takes the last ticket adds them.
const std::string lastBlock = std::string(prologue) + R"(
@ticket = internal addrspace(3) global i32 undef, align 4
declare void @llvm.nvvm.membar.gl()
define ptx_kernel void @k(ptr addrspace(1) %partial, ptr addrspace(1) %count, ptr addrspace(1) %out, i32 %blocks) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %store, label %join
store:
  %p = getelementptr i32, ptr addrspace(1) %partial, i32 %b
  %v = add i32 %b, 1
  store i32 %v, ptr addrspace(1) %p
  call void @llvm.nvvm.membar.gl()
  %n = atomicrmw add ptr addrspace(1) %count, i32 1 syncscope("device") monotonic
  store i32 %n, ptr addrspace(3) @ticket
  br label %join
join:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mine = load i32, ptr addrspace(3) @ticket
  %last = sub i32 %blocks, 1
  %isLast = icmp eq i32 %mine, %last
  br i1 %isLast, label %sum, label %end
sum:
  %q = getelementptr i32, ptr addrspace(1) %partial, i32 %t
  %x = load i32, ptr addrspace(1) %q
  %y = atomicrmw add ptr addrspace(1) %out, i32 %x monotonic
  br label %end
end:
  ret void
})";

EmulatorReport runLastBlock(const std::string &module, int *sum = nullptr) {
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> partial(32), count(1), out(1);
  EmulatorReport report = Launch(kernel)
                              .array(partial, "partial")
                              .array(count, "count")
                              .array(out, "out")
                              .scalar(32)
                              .run(32, 32);
  if (sum)
    *sum = out[0];
  return report;
}

} // namespace

TEST(EmulatorGlobalMemory, TheLastBlockMayUseWhatOthersPublished) {
  int sum = 0;
  EXPECT_CLEAN(runLastBlock(lastBlock, &sum));
  EXPECT_EQ(sum, 32 * 33 / 2);
  const std::string fence = "call void @llvm.nvvm.membar.gl()";
  const std::string relaxed = "syncscope(\"device\") monotonic";
  EXPECT_FINDS(runLastBlock(mutate(lastBlock, fence, "")), Race);
  EXPECT_CLEAN(runLastBlock(mutate(mutate(lastBlock, fence, ""), relaxed,
                                   "syncscope(\"device\") acq_rel")));
  EXPECT_FINDS(runLastBlock(mutate(mutate(lastBlock, fence, ""), relaxed,
                                   "syncscope(\"block\") acq_rel")),
               Race);
}

TEST(EmulatorGlobalMemory, PlainAndAtomicAccessOfOneElement) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = icmp eq i32 %b, 0
  br i1 %first, label %plain, label %atomic
plain:
  store i32 1, ptr addrspace(1) %x
  ret void
atomic:
  %o = atomicrmw add ptr addrspace(1) %x, i32 1 monotonic
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> x(1);
  EXPECT_FINDS(Launch(kernel).array(x, "x").run(1, 2), Race);
}

/// An atomic load is a read: of arrays that may only be read too, and beside other reads.
TEST(EmulatorGlobalMemory, AtomicLoadsAreReads) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = icmp eq i32 %b, 0
  br i1 %first, label %other, label %atomic
other:
  %v = load i32, ptr addrspace(1) %x
  store i32 %v, ptr addrspace(1) %y
  ret void
atomic:
  %a = load atomic i32, ptr addrspace(1) %x syncscope("device") monotonic, align 4
  %q = getelementptr i32, ptr addrspace(1) %y, i32 %b
  store i32 %a, ptr addrspace(1) %q
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> x(1), y(4);
  EXPECT_CLEAN(Launch(kernel).array(x, "x").array(y, "y").run(1, 4));
  EXPECT_CLEAN(Launch(kernel).array(x, "x", /*writable=*/false).array(y, "y").run(1, 4));
  EmulatedKernel writes = load(mutate(module, "%v = load i32, ptr addrspace(1) %x",
                                      "%v = add i32 %b, 1\n  store i32 %v, ptr addrspace(1) %x"), "k");
  EXPECT_FINDS(Launch(writes).array(x, "x").array(y, "y").run(1, 4), Race);
  EmulatedKernel updates = load(mutate(module, "%v = load i32, ptr addrspace(1) %x",
                                       "%v = atomicrmw add ptr addrspace(1) %x, i32 1 monotonic"), "k");
  EXPECT_CLEAN(Launch(updates).array(x, "x").array(y, "y").run(1, 4));
}

TEST(EmulatorGlobalMemory, ReadsOfManyBlocksThenAWrite) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %v = load i32, ptr addrspace(1) %x
  %q = getelementptr i32, ptr addrspace(1) %y, i32 %b
  store i32 %v, ptr addrspace(1) %q
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> x(4), y(4);
  EXPECT_CLEAN(Launch(kernel).array(x, "x").array(y, "y").run(1, 4));
  // In place, the block that writes x[0] races with those that read it.
  EmulatorReport report = Launch(kernel).array(x, "x").scalar(x.data()).run(1, 4);
  ASSERT_EQ(report.findings.size(), 1u) << text(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::Race);
}

TEST(EmulatorGlobalMemory, MaskedAccessesTouchOnlyTheirElements) {
  const std::string module = std::string(prologue) + R"(
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>)
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
  %s = insertelement <4 x i32> poison, i32 %n, i32 0
  %b = shufflevector <4 x i32> %s, <4 x i32> poison, <4 x i32> zeroinitializer
  %m = icmp slt <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %b
  %v = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 4 %x, <4 x i1> %m, <4 x i32> zeroinitializer)
  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 4 %y, <4 x i1> %m)
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> x = {1, 2, 3}, y(3);
  EXPECT_CLEAN(Launch(kernel).array(x, "x").array(y, "y").scalar(3).run(1));
  EXPECT_EQ(y, x);
  EXPECT_FINDS(Launch(kernel).array(x, "x").array(y, "y").scalar(4).run(1), OutOfBounds);
}

TEST(EmulatorGlobalMemory, NeighboursOfAnArrayAtAnOddAddress) {
  // Threads of different blocks write neighbouring words of an array that begins two
  // bytes past a multiple of four: no race.
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = getelementptr i8, ptr addrspace(1) %x, i32 2
  %q = getelementptr i32, ptr addrspace(1) %p, i32 %b
  store i32 %b, ptr addrspace(1) %q, align 4
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<uint16_t> x(64);
  Launch launch(kernel);
  launch.scalar(x.data() + 1);
  launch.launch.globals.push_back({x.data() + 1, 100, "x", true});
  EXPECT_CLEAN(launch.run(1, 8));
}

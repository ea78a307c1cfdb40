//===- MutationTest.cpp - broken kernels must be found out -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Each test takes a kernel that runs clean, breaks it in one place, and expects the
// finding of just that kind.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// Runs `reduce`, mutated, on 128 threads.
EmulatorReport runReduce(const std::string &module) {
  EmulatedKernel kernel = load(module, "reduce");
  std::vector<float> in(4096, 1.0f), out(4);
  return Launch(kernel).array(in, "in", false).array(out, "out").scalar(4096).run(128, 4);
}

/// Sums neighbours through shared memory; `%bound` guards the store.
const std::string neighbours = std::string(prologue) + R"(
@buffer = internal addrspace(3) global [128 x i32] undef, align 4
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @buffer, i32 %t
  %g = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %v = load i32, ptr addrspace(1) %g
  store i32 %v, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %u = add i32 %t, 1
  %m = and i32 %u, 127
  %q = getelementptr i32, ptr addrspace(3) @buffer, i32 %m
  %w = load i32, ptr addrspace(3) %q
  %s = add i32 %v, %w
  %ok = icmp ult i32 %t, %n
  br i1 %ok, label %write, label %end
write:
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %s, ptr addrspace(1) %o
  br label %end
end:
  ret void
})";

EmulatorReport runNeighbours(const std::string &module, uint32_t blocks = 1) {
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> in(128, 3), out(100);
  return Launch(kernel).array(in, "in", false).array(out, "out").scalar(100).run(128, blocks);
}

} // namespace

TEST(EmulatorMutation, TheUnbrokenKernelsAreClean) {
  EXPECT_CLEAN(runReduce(readInput("block_kernels.ll")));
  EXPECT_CLEAN(runNeighbours(neighbours));
}

TEST(EmulatorMutation, MissingBarrierIsARace) {
  EmulatorReport report = runNeighbours(
      mutate(neighbours, "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", ""));
  EXPECT_FINDS(report, Race);
  EXPECT_FINDS(report, UninitialisedRead);
}

TEST(EmulatorMutation, MissingBarrierOfCompiledCodeIsNamedByLine) {
  EmulatorReport report = runReduce(
      mutate(readInput("block_kernels.ll"),
             "tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",
             "call void @llvm.donothing()") +
      "\ndeclare void @llvm.donothing()\n");
  ASSERT_TRUE(report.has(FindingKind::Race)) << text(report);
  for (const EmulatorFinding &finding : report.findings)
    if (finding.kind == FindingKind::Race) {
      EXPECT_NE(finding.file.find("block_kernels.cu"), std::string::npos);
      EXPECT_GT(finding.line, 0u);
    }
}

TEST(EmulatorMutation, WrongShuffleMask) {
  EmulatorReport report =
      runReduce(mutate(readInput("block_kernels.ll"),
                       "@llvm.nvvm.shfl.sync.down.f32(i32 -1,",
                       "@llvm.nvvm.shfl.sync.down.f32(i32 65535,"));
  EXPECT_FINDS(report, DivergentBarrier);
}

TEST(EmulatorMutation, BoundOffByOne) {
  EmulatorReport report =
      runNeighbours(mutate(neighbours, "icmp ult i32 %t, %n", "icmp ule i32 %t, %n"));
  ASSERT_EQ(report.findings.size(), 1u) << text(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_EQ(report.findings[0].thread, 100u);
  EXPECT_EQ(report.findings[0].text, "writes 4 bytes of global memory 0 bytes past the "
                                     "end of 'out' (400 bytes)");
}

/// `neighbours` as a kernel that starts before the grids ahead of it end.
static std::string awaiting() {
  return mutate(neighbours, "%g = getelementptr",
                "call void @llvm.nvvm.griddepcontrol.wait()\n"
                "  call void @llvm.nvvm.griddepcontrol.launch.dependents()\n"
                "  %g = getelementptr") +
         "\ndeclare void @llvm.nvvm.griddepcontrol.wait()\n"
         "declare void @llvm.nvvm.griddepcontrol.launch.dependents()\n";
}

static EmulatorReport runAwaiting(const std::string &module) {
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> in(128, 3), out(100);
  Launch launch(kernel);
  launch.launch.awaitsGrids = true;
  return launch.array(in, "in", false).array(out, "out").scalar(100).run(128);
}

TEST(EmulatorMutation, AccessBeforeGridsAheadAreComplete) {
  EXPECT_CLEAN(runAwaiting(awaiting()));
  // The wait behind the load instead of before it.
  std::string late = mutate(awaiting(), "call void @llvm.nvvm.griddepcontrol.wait()\n", "\n");
  late = mutate(late, "%u = add i32 %t, 1",
                "call void @llvm.nvvm.griddepcontrol.wait()\n  %u = add i32 %t, 1");
  EmulatorReport report = runAwaiting(late);
  ASSERT_EQ(report.findings.size(), 2u) << text(report);
  EXPECT_EQ(report.findings[0].text, "griddepcontrol.launch_dependents before griddepcontrol.wait");
  EXPECT_EQ(report.findings[1].text,
            "reads 4 bytes of global memory before griddepcontrol.wait: grids ahead of this "
            "one may still write it");
  EXPECT_EQ(report.findings[1].count, 128u);
}

TEST(EmulatorMutation, BlockThatNeverWaitsForGridsAhead) {
  EmulatedKernel kernel = load("define ptx_kernel void @k() {\n  ret void\n}\n", "k");
  Launch launch(kernel);
  EXPECT_CLEAN(launch.run(32));
  launch.launch.awaitsGrids = true;
  EmulatorReport report = launch.run(32);
  ASSERT_EQ(report.findings.size(), 1u) << text(report);
  EXPECT_EQ(report.findings[0].text,
            "the block ends without griddepcontrol.wait: grids that wait for this one would "
            "not wait for those ahead of it");
}

TEST(EmulatorMutation, WriteToAReadOnlyArray) {
  EmulatedKernel kernel = load(neighbours, "k");
  std::vector<int> in(128), out(128);
  EmulatorReport report =
      Launch(kernel).array(in, "in", false).array(out, "out", false).scalar(5).run(128);
  ASSERT_EQ(report.findings.size(), 1u) << text(report);
  EXPECT_EQ(report.findings[0].text, "writes 4 bytes of 'out', which may only be read");
  EXPECT_EQ(report.findings[0].count, 5u);
}

TEST(EmulatorMutation, BlocksThatWriteTheSameElements) {
  EXPECT_FINDS(runNeighbours(neighbours, 3), Race);
}

TEST(EmulatorMutation, BarrierThatHalfOfTheThreadsSkip) {
  std::string module = mutate(neighbours, "  %u = add i32 %t, 1\n", R"(
  %half = icmp ult i32 %t, 64
  br i1 %half, label %skip, label %again
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %skip
skip:
  %u = add i32 %t, 1
)");
  EXPECT_FINDS(runNeighbours(module), DivergentBarrier);
}

TEST(EmulatorMutation, ThreadsThatWaitAtDifferentBarriersAreADeadlock) {
  std::string module = mutate(neighbours, "  %u = add i32 %t, 1\n", R"(
  %half = icmp ult i32 %t, 64
  %id = select i1 %half, i32 1, i32 2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 %id)
  %u = add i32 %t, 1
)");
  EmulatorReport report = runNeighbours(module);
  ASSERT_TRUE(report.has(FindingKind::Deadlock)) << text(report);
  EXPECT_NE(text(report).find("64 threads wait at barrier 1"), std::string::npos)
      << text(report);
}

TEST(EmulatorMutation, LanesOfAWarpAtDifferentInstructions) {
  std::string module = mutate(neighbours, "  %u = add i32 %t, 1\n", R"(
  %odd = and i32 %t, 1
  %isOdd = icmp eq i32 %odd, 1
  br i1 %isOdd, label %one, label %two
one:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %join
two:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %join
join:
  %u = add i32 %t, 1
)");
  EXPECT_FINDS(runNeighbours(module), DivergentBarrier);
}

TEST(EmulatorMutation, MisalignedVector) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %x, i32 %at) {
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %at
  %v = load <4 x i32>, ptr addrspace(1) %p, align 16
  %w = add <4 x i32> %v, <i32 1, i32 1, i32 1, i32 1>
  store <4 x i32> %w, ptr addrspace(1) %p, align 16
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> x(64);
  int aligned = (reinterpret_cast<uintptr_t>(x.data()) & 15) ? 2 : 0;
  EXPECT_CLEAN(Launch(kernel).array(x, "x").scalar(aligned).run(1));
  EXPECT_FINDS(Launch(kernel).array(x, "x").scalar(aligned + 1).run(1), Misaligned);
}

TEST(EmulatorMutation, EndlessLoopIsATimeout) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k() {
  br label %loop
loop:
  br label %loop
})";
  EmulatedKernel kernel = load(module, "k");
  EXPECT_FINDS(Launch(kernel).timeout(0.2).run(32), Timeout);
}

TEST(EmulatorMutation, TrapsAndUnreachableCode) {
  const std::string module = std::string(prologue) + R"(
declare void @llvm.trap()
define ptx_kernel void @k(i32 %n) {
  %c = icmp eq i32 %n, 0
  br i1 %c, label %good, label %bad
good:
  ret void
bad:
  call void @llvm.trap()
  unreachable
})";
  EmulatedKernel kernel = load(module, "k");
  EXPECT_CLEAN(Launch(kernel).scalar(0).run(32));
  EXPECT_FINDS(Launch(kernel).scalar(1).run(32), HelperMisuse);
}

TEST(EmulatorMutation, UnknownOperationsAreErrorsNotAborts) {
  auto complaint = [](const std::string &body) {
    auto kernel = compile(std::string(prologue) + body, "k");
    return kernel ? std::string() : llvm::toString(kernel.takeError());
  };
  EXPECT_EQ(complaint("declare void @llvm.nvvm.tcgen05.wait.ld()\n"
                      "define ptx_kernel void @k() {\n"
                      "  call void @llvm.nvvm.tcgen05.wait.ld()\n  ret void\n}"),
            "the emulator does not support the intrinsic 'llvm.nvvm.tcgen05.wait.ld'");
  EXPECT_EQ(complaint("declare float @__nv_expf(float)\n"
                      "define ptx_kernel void @k() {\n"
                      "  %x = call float @__nv_expf(float 1.0)\n  ret void\n}"),
            "the emulator does not support the function '__nv_expf'");
  EXPECT_EQ(complaint("define ptx_kernel void @k() {\n"
                      "  call void asm sideeffect \"bra L;\", \"\"()\n  ret void\n}"),
            "the emulator does not support inline PTX ('bra L;')");
  EXPECT_EQ(complaint(""), "the module has no kernel 'k'");
}

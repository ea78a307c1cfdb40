//===- BulkCopyTest.cpp - bulk copies, tensor copies, the cluster barrier -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Thread 0 issues a copy, all wait for it and use it. Each wait is also left out,
// and that must be reported.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Emulator/TensorMap.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// Declarations and the start of a kernel: thread 0 initialises @bar for one arrival.
const std::string start = std::string(prologue) + R"(
@buffer = internal addrspace(3) global [1024 x i16] undef, align 1024
@bar = internal addrspace(3) global i64 undef, align 8
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3), ptr addrspace(3), ptr addrspace(1), i32, i64, i1 immarg)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1 immarg)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i64, i1 immarg)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3), ptr, i32, i32, i64, i1 immarg)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 immarg)
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32 immarg)
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
)";

const std::string loadThenUse = start + R"(
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %issue, label %ready
issue:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %copy, label %wait
copy:
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 128)
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) @buffer, ptr addrspace(3) @bar, ptr addrspace(1) %in, i32 128, i64 0, i1 false)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %done, label %use, label %wait
use:
  %p = getelementptr i16, ptr addrspace(3) @buffer, i32 %t
  %v = load i16, ptr addrspace(3) %p
  %o = getelementptr i16, ptr addrspace(1) %out, i32 %t
  store i16 %v, ptr addrspace(1) %o
  ret void
})";

EmulatorReport runLoad(const std::string &module) {
  EmulatedKernel kernel = load(module, "k");
  std::vector<uint16_t> in(64), out(64);
  for (unsigned i = 0; i < 64; ++i)
    in[i] = uint16_t(i + 1);
  return Launch(kernel).array(in, "in", false).array(out, "out").run(64);
}

} // namespace

TEST(EmulatorBulkCopy, LoadsCompleteThroughTheMemoryBarrier) {
  EXPECT_CLEAN(runLoad(loadThenUse));
  // The wrong parity passes at once.
  EXPECT_FINDS(runLoad(mutate(loadThenUse, "@bar, i32 0)", "@bar, i32 1)")), Race);
  // Expecting more bytes than come never ends.
  EXPECT_FINDS(runLoad(mutate(loadThenUse, "@bar, i32 128)", "@bar, i32 256)")), Deadlock);
  EXPECT_FINDS(runLoad(mutate(loadThenUse, "%in, i32 128,", "%in, i32 120,")), HelperMisuse);
}

namespace {

/// Loads the 8 x 64 box at (row, column) of a map, swizzled, and writes all of shared
/// memory out; then stores the box elsewhere.
const std::string tensorKernel = start + R"(
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %from, ptr byval([128 x i8]) align 64 %to, ptr addrspace(1) %out, i32 %x, i32 %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %copy, label %join
copy:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 1024)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d(ptr addrspace(3) @buffer, ptr addrspace(3) @bar, ptr %from, i32 %x, i32 %y, i64 0, i1 false)
  br label %join
join:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %done, label %use, label %wait
use:
  %i = shl i32 %t, 3
  %p = getelementptr i16, ptr addrspace(3) @buffer, i32 %i
  %v = load <8 x i16>, ptr addrspace(3) %p, align 16
  %o = getelementptr i16, ptr addrspace(1) %out, i32 %i
  store <8 x i16> %v, ptr addrspace(1) %o, align 2
  br i1 %first, label %back, label %end
back:
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) @buffer, ptr %to, i32 %x, i32 %y, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)
  br label %end
end:
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  store <8 x i16> zeroinitializer, ptr addrspace(3) %p, align 16
  ret void
})";

struct TensorRun {
  static constexpr int rows = 20, columns = 96;
  std::vector<uint16_t> in = std::vector<uint16_t>(rows * columns),
                        out = std::vector<uint16_t>(512),
                        copy = std::vector<uint16_t>(rows * columns);
  EmulatorReport report;

  TensorRun(const std::string &module, int x, int y) {
    for (int i = 0; i < rows * columns; ++i)
      in[i] = uint16_t(i + 1);
    EmulatedTensorMap from;
    from.rank = 2;
    from.elementBytes = 2;
    from.swizzleBytes = 128;
    from.data = reinterpret_cast<uint8_t *>(in.data());
    from.dims[0] = columns;
    from.dims[1] = rows;
    from.strides[0] = columns * 2;
    from.box[0] = 64;
    from.box[1] = 8;
    EmulatedTensorMap to = from;
    to.data = reinterpret_cast<uint8_t *>(copy.data());
    EmulatedKernel kernel = load(module, "k");
    Launch launch(kernel);
    launch.scalar(from).scalar(to).array(out, "out").scalar(x).scalar(y);
    launch.launch.globals.push_back({in.data(), in.size() * 2, "in", false});
    launch.launch.globals.push_back({copy.data(), copy.size() * 2, "copy", true});
    report = launch.run(64);
  }
};

} // namespace

TEST(EmulatorBulkCopy, TensorCopiesSwizzleAndClip) {
  for (auto [x, y] : {std::pair(0, 0), std::pair(64, 16), std::pair(40, 15)}) {
    TensorRun run(tensorKernel, x, y);
    EXPECT_CLEAN(run.report);
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 64; ++c) {
        bool inside = x + c < run.columns && y + r < run.rows;
        uint16_t expected = inside ? run.in[(y + r) * run.columns + x + c] : 0;
        // Chunk c/8 of row r lies at chunk (c/8) ^ r.
        ASSERT_EQ(run.out[r * 64 + ((c / 8) ^ r) * 8 + c % 8], expected) << r << ' ' << c;
        if (inside)
          ASSERT_EQ(run.copy[(y + r) * run.columns + x + c], expected);
      }
  }
}

TEST(EmulatorBulkCopy, TensorCopiesBeginAtMultiplesOf16Bytes) {
  EXPECT_FINDS(TensorRun(tensorKernel, -3, 0).report, HelperMisuse);
}

TEST(EmulatorBulkCopy, TensorStoresAreWaitedForBeforeTheirSourceIsReused) {
  EXPECT_FINDS(TensorRun(mutate(tensorKernel,
                                "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)", ""),
                         0, 0)
                   .report,
               Race);
  EXPECT_FINDS(TensorRun(mutate(mutate(tensorKernel,
                                       "call void @llvm.nvvm.barrier.cluster.wait.aligned()", ""),
                                "call void @llvm.nvvm.barrier.cluster.arrive.aligned()", ""),
                         0, 0)
                   .report,
               Race);
}

TEST(EmulatorBulkCopy, TensorStoresWriteInAnyOrder) {
  const std::string wait = "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)";
  const std::string again = R"(
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) @buffer, ptr %to, i32 %x, i32 %y, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  )";
  // That the first has been read says nothing of what it writes.
  EmulatorReport report = TensorRun(mutate(tensorKernel, wait, wait + again + wait), 0, 0).report;
  EXPECT_FINDS(report, Race);
  EXPECT_NE(text(report).find("while an asynchronous copy writes it"), std::string::npos);
  const std::string complete = "call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)";
  EXPECT_CLEAN(TensorRun(mutate(tensorKernel, wait, complete + again + wait), 0, 0).report);
}

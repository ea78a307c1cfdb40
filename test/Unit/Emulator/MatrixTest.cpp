//===- MatrixTest.cpp - the matrix unit, asynchronous copies, mbarriers -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// One warp multiplies what ldmatrix gives it; warps hand data to each other by
// cp.async and mbarriers. Each handing over is also broken, and must be found.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tilec;
using namespace tilec::test;

//===--- mma.sync, ldmatrix ---------------------------------------------------------===//

namespace {

const char *const matrixKernel = R"(
@a = internal addrspace(3) global [256 x i16] undef, align 16
@b = internal addrspace(3) global [128 x i16] undef, align 16
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare void @llvm.nvvm.bar.warp.sync(i32)
; c[16][8] = a[16][16] * b[16][8], all row-major, one warp
define ptx_kernel void @k(ptr addrspace(1) %ga, ptr addrspace(1) %gb, ptr addrspace(1) %gc) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %ia = shl i32 %lane, 3
  %pa = getelementptr i16, ptr addrspace(1) %ga, i32 %ia
  %va = load <8 x i16>, ptr addrspace(1) %pa, align 4
  %sa = getelementptr i16, ptr addrspace(3) @a, i32 %ia
  store <8 x i16> %va, ptr addrspace(3) %sa, align 16
  %ib = shl i32 %lane, 2
  %pb = getelementptr i16, ptr addrspace(1) %gb, i32 %ib
  %vb = load <4 x i16>, ptr addrspace(1) %pb, align 4
  %sb = getelementptr i16, ptr addrspace(3) @b, i32 %ib
  store <4 x i16> %vb, ptr addrspace(3) %sb, align 8
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ; matrix i of A: rows 8*(i%2), columns 8*(i/2); the lane's row address
  %row = and i32 %lane, 15
  %half = lshr i32 %lane, 4
  %ra = shl i32 %row, 4
  %ca = shl i32 %half, 3
  %oa = add i32 %ra, %ca
  %la = getelementptr i16, ptr addrspace(3) @a, i32 %oa
  %fa = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %la)
  %ob = shl i32 %row, 3
  %lb = getelementptr i16, ptr addrspace(3) @b, i32 %ob
  %fb = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %lb)
  %a0 = extractvalue {i32, i32, i32, i32} %fa, 0
  %a1 = extractvalue {i32, i32, i32, i32} %fa, 1
  %a2 = extractvalue {i32, i32, i32, i32} %fa, 2
  %a3 = extractvalue {i32, i32, i32, i32} %fa, 3
  %b0 = extractvalue {i32, i32} %fb, 0
  %b1 = extractvalue {i32, i32} %fb, 1
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float 1.0, float 1.0, float 1.0, float 1.0)
  %d0 = extractvalue {float, float, float, float} %d, 0
  %d1 = extractvalue {float, float, float, float} %d, 1
  %d2 = extractvalue {float, float, float, float} %d, 2
  %d3 = extractvalue {float, float, float, float} %d, 3
  %g = lshr i32 %lane, 2
  %q = and i32 %lane, 3
  %g8 = shl i32 %g, 3
  %q2 = shl i32 %q, 1
  %oc = add i32 %g8, %q2
  %pc = getelementptr float, ptr addrspace(1) %gc, i32 %oc
  store float %d0, ptr addrspace(1) %pc
  %pc1 = getelementptr float, ptr addrspace(1) %pc, i32 1
  store float %d1, ptr addrspace(1) %pc1
  %pc2 = getelementptr float, ptr addrspace(1) %pc, i32 64
  store float %d2, ptr addrspace(1) %pc2
  %pc3 = getelementptr float, ptr addrspace(1) %pc, i32 65
  store float %d3, ptr addrspace(1) %pc3
  ret void
})";

uint16_t toBF16(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return uint16_t(bits >> 16);
}

} // namespace

TEST(EmulatorMatrix, MultipliesWhatLdmatrixLoads) {
  EmulatedKernel kernel = load(std::string(prologue) + matrixKernel, "k");
  std::vector<float> a(256), b(128), c(128);
  std::vector<uint16_t> ha(256), hb(128);
  for (int i = 0; i < 256; ++i)
    ha[i] = toBF16(a[i] = float(i * 5 % 17 - 8));
  for (int i = 0; i < 128; ++i)
    hb[i] = toBF16(b[i] = float(i * 3 % 13 - 6) / 4);
  EXPECT_CLEAN(
      Launch(kernel).array(ha, "a", false).array(hb, "b", false).array(c, "c").run(32));
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 1;
      for (int k = 0; k < 16; ++k)
        sum += a[i * 16 + k] * b[k * 8 + j];
      ASSERT_EQ(c[i * 8 + j], sum) << i << ' ' << j;
    }
}

TEST(EmulatorMatrix, LdmatrixBeforeTheStoresIsARace) {
  EmulatedKernel kernel = load(
      mutate(std::string(prologue) + matrixKernel,
             "call void @llvm.nvvm.bar.warp.sync(i32 -1)", ""),
      "k");
  std::vector<uint16_t> a(256), b(128);
  std::vector<float> c(128);
  EXPECT_FINDS(Launch(kernel).array(a, "a").array(b, "b").array(c, "c").run(32), Race);
}

//===--- cp.async, mbarrier -----------------------------------------------------------===//

namespace {

const std::string copyKernel = std::string(prologue) + R"(
@buffer = internal addrspace(3) global [64 x i32] undef, align 16
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %s = getelementptr i32, ptr addrspace(3) @buffer, i32 %t
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s, ptr addrspace(1) %g)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i32 63, %t
  %q = getelementptr i32, ptr addrspace(3) @buffer, i32 %r
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})";

EmulatorReport runCopy(const std::string &module) {
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> in(64), out(64);
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  EmulatorReport report = Launch(kernel).array(in, "in", false).array(out, "out").run(64);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 63 - i);
  return report;
}

} // namespace

TEST(EmulatorCopy, AsynchronousCopiesNeedWaitAndBarrier) {
  EXPECT_CLEAN(runCopy(copyKernel));
  const std::string wait = "call void @llvm.nvvm.cp.async.wait.group(i32 0)";
  EXPECT_FINDS(runCopy(mutate(copyKernel, wait, "")), Race);
  EXPECT_FINDS(runCopy(mutate(copyKernel, wait,
                              "call void @llvm.nvvm.cp.async.wait.group(i32 1)")),
               Race);
}

TEST(EmulatorCopy, MemoryBarriersHandOver) {
  // Warp 1 fills, warp 0 waits by parity.
  const std::string module = std::string(prologue) + R"(
@buffer = internal addrspace(3) global [32 x i32] undef, align 16
@full = internal addrspace(3) global i64 undef, align 8
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 32)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %lane = and i32 %t, 31
  %s = getelementptr i32, ptr addrspace(3) @buffer, i32 %lane
  %producer = icmp uge i32 %t, 32
  br i1 %producer, label %fill, label %wait
fill:
  store i32 %t, ptr addrspace(3) %s
  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @full)
  br label %end
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @full, i32 0)
  br i1 %done, label %use, label %wait
use:
  %q = getelementptr i32, ptr addrspace(3) @buffer, i32 7
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  br label %end
end:
  ret void
})";
  auto run = [](const std::string &m) {
    EmulatedKernel kernel = load(m, "k");
    std::vector<int> out(32);
    EmulatorReport report = Launch(kernel).array(out, "out").run(64);
    return std::pair(report, out);
  };
  auto [report, out] = run(module);
  EXPECT_CLEAN(report);
  EXPECT_EQ(out, std::vector<int>(32, 39));
  // One arrival short: nobody can go on.
  EXPECT_FINDS(run(mutate(module, "@full, i32 32)", "@full, i32 33)")).first, Deadlock);
  // Waiting for the other phase: passes at once, before the data is there.
  EXPECT_FINDS(run(mutate(module, "@full, i32 0)", "@full, i32 1)")).first, Race);
  EXPECT_FINDS(
      run(mutate(module, "call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 32)", ""))
          .first,
      HelperMisuse);
}

//===- TensorCopyTest.cpp - boxes of every rank, reductions, maps of launches -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Tensor copies as compiled kernels use them: maps that a launch plan made, boxes that
// hang over the edges of arrays of one to five axes, every swizzle, stores and
// reductions; and what must be reported.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Emulator/Plan.h"

#include <gmock/gmock.h>

using namespace tilec;
using namespace tilec::test;
using testing::HasSubstr;

namespace {

std::string number(size_t i) { return std::to_string(i); }

/// Kernel @k(x, its dims, gx, gy, gz, map of x, out): block b loads the box at b * 4 - 4 along
/// rows (boxes begin at multiples of 16 bytes of them) and at b * step - 3 along each other
/// axis, and writes shared memory out; then adds it back with \p tail.
std::string boxKernel(unsigned rank, uint32_t bytes, const std::string &tail, bool beginsBefore) {
  std::string coordinates, types, dims;
  for (unsigned d = 0; d < rank; ++d) {
    coordinates += ", i32 %c" + number(d);
    types += ", i32";
    dims += ", i64 %d" + number(d);
  }
  std::string r = number(rank), size = number(bytes);
  std::string text = std::string(prologue) + R"(
@buffer = external addrspace(3) global [0 x i8], align 1024
@bar = internal addrspace(3) global i64 undef, align 8
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32 immarg)
)";
  text += "declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." + r +
          "d(ptr addrspace(3), ptr addrspace(3), ptr" + types + ", i64, i1 immarg)\n";
  for (const char *kind : {"s2g.tile.", "reduce.add.tile.", "reduce.max.tile."})
    text += "declare void @llvm.nvvm.cp.async.bulk.tensor." + (kind + r) +
            "d(ptr addrspace(3), ptr" + types + ", i64, i1 immarg)\n";
  text += "define ptx_kernel void @k(ptr addrspace(1) %x" + dims +
          ", ptr addrspace(1) %out, i64 %n, i32 %gx, i32 %gy, i32 %gz, ptr byval([128 x i8]) align "
          "64 %map) {\n"
          "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
          "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
          "  %first = icmp eq i32 %t, 0\n";
  for (unsigned d = 0; d < rank; ++d)
    text += "  %s" + number(d) + " = mul i32 %b, " + number(d ? d + 2 : 4) + "\n  %c" + number(d) +
            " = sub i32 %s" + number(d) + (!beginsBefore ? ", 0\n" : d ? ", 3\n" : ", 4\n");
  text += R"(  br i1 %first, label %copy, label %join
copy:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 )" +
          size + R"()
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.)" + r +
          "d(ptr addrspace(3) @buffer, ptr addrspace(3) @bar, ptr %map" + coordinates +
          R"(, i64 0, i1 false)
  br label %join
join:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %done, label %use, label %wait
use:
  %blockOut = mul i32 %b, )" + size + R"(
  br label %loop
loop:
  %at = phi i32 [ %start, %next ], [ %t4, %use0 ]
  %p = getelementptr i8, ptr addrspace(3) @buffer, i32 %at
  %v = load i32, ptr addrspace(3) %p, align 4
  %o = add i32 %blockOut, %at
  %op = getelementptr i8, ptr addrspace(1) %out, i32 %o
  store i32 %v, ptr addrspace(1) %op, align 4
  br label %next
next:
  %start = add i32 %at, 128
  %more = icmp ult i32 %start, )" + size + R"(
  br i1 %more, label %loop, label %back
use0:
  %t4 = shl i32 %t, 2
  %any = icmp ult i32 %t4, )" + size + R"(
  br i1 %any, label %loop, label %back
back:
)";
  text = mutate(text, "  br label %loop\nloop:", "  br label %use0\nloop:");
  text += mutate(tail, "COORDINATES", coordinates);
  return mutate(text, "RANK", r) + "  ret void\n}\n";
}

const std::string nothing = "; COORDINATES RANK\n";
const std::string storeBack = R"(  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %write, label %end
write:
  call void @llvm.nvvm.cp.async.bulk.tensor.KIND.tile.RANKd(ptr addrspace(3) @buffer, ptr %mapCOORDINATES, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:
)";

/// A launch of boxKernel, planned as those of compiled kernels are.
struct BoxLaunch {
  std::vector<int64_t> dims;
  std::vector<uint32_t> box; // outermost first
  DType dtype = DType::I32;
  unsigned swizzle = 0;
  int64_t blocks = 2;
  bool beginsBefore = true; // the box of block 0, before the array
  std::vector<int32_t> x, out;
  std::string found;

  uint32_t boxElements() const {
    uint32_t n = 1;
    for (uint32_t extent : box)
      n *= extent;
    return n;
  }

  void run(const std::string &tail) {
    KernelInfo info;
    info.name = "k";
    ParamInfo array;
    array.name = "x";
    array.dtype = dtype;
    array.isArray = array.isMutable = true;
    array.dims.resize(dims.size());
    ParamInfo result = array;
    result.name = "out";
    result.dtype = DType::I32;
    result.dims.resize(1);
    info.params = {array, result};
    BuildInfo build;
    build.symbol = "k";
    build.threads = 32;
    build.sharedBytes = boxElements() * 4;
    build.tensorMaps = {{0, box, swizzle}};
    info.builds = {build};
    size_t elements = 1;
    for (int64_t dim : dims)
      elements *= size_t(dim);
    x.resize(elements);
    for (size_t i = 0; i < elements; ++i)
      x[i] = int32_t(i + 1);
    out.assign(size_t(blocks) * boxElements(), -1);
    std::vector<KernelArg> args = {
        ArrayArg::rowMajor(x.data(), dtype, dims.data(), int(dims.size())),
        ArrayArg::rowMajor(out.data(), DType::I32, {int64_t(out.size())})};
    auto plan = planLaunch(info, args, Grid{blocks, 1, 1});
    ASSERT_TRUE(bool(plan)) << plan.failure().message;
    EmulatorLaunch launch = makeEmulatorLaunch(info, *plan, args);
    EmulatedKernel kernel = load(boxKernel(unsigned(dims.size()), boxElements() * 4, tail, beginsBefore), "k");
    auto report = kernel.launch(launch);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    found = text(*report);
  }

  /// The element of x at the box's index \p i of block \p b, by its coordinates; false
  /// outside. Axis d of the hardware (innermost first) begins at b * (d + 2), axis 0 at
  /// b * 4; where boxes begin before the array at 3 less, and 4 less.
  bool locate(int64_t b, uint32_t i, size_t &at) const {
    at = 0;
    size_t pitch = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      size_t axis = dims.size() - 1 - d;
      int64_t begin = (d ? b * int64_t(d + 2) : b * 4) - (!beginsBefore ? 0 : d ? 3 : 4);
      int64_t position = begin + i % box[axis];
      i /= box[axis];
      if (position < 0 || position >= dims[axis])
        return false;
      at += size_t(position) * pitch;
      pitch *= size_t(dims[axis]);
    }
    return true;
  }

  /// Where element i of a box lies in shared memory, in elements.
  uint32_t placeOf(uint32_t i) const {
    uint32_t chunk = i / 4;
    uint32_t pattern = swizzle == 128  ? chunk / 8 % 8
                       : swizzle == 64 ? chunk / 8 % 4
                       : swizzle == 32 ? chunk / 8 % 2
                                       : 0;
    return (chunk ^ pattern) * 4 + i % 4;
  }

  void expectLoaded() const {
    EXPECT_EQ(found, "");
    for (int64_t b = 0; b < blocks; ++b)
      for (uint32_t i = 0; i < boxElements(); ++i) {
        size_t at;
        int32_t expected = locate(b, i, at) ? int32_t(at + 1) : 0;
        ASSERT_EQ(out[size_t(b) * boxElements() + placeOf(i)], expected)
            << "block " << b << " element " << i;
      }
  }
};

} // namespace

TEST(EmulatorTensorCopy, EveryRankWithEdges) {
  for (auto [dims, box] :
       {std::pair<std::vector<int64_t>, std::vector<uint32_t>>{{20}, {16}},
        {{9, 12}, {8, 8}},
        {{5, 6, 8}, {4, 3, 12}},
        {{3, 4, 5, 4}, {2, 5, 4, 8}},
        {{3, 2, 3, 4, 8}, {4, 3, 2, 4, 8}}}) {
    BoxLaunch launch;
    launch.dims = dims;
    launch.box = box;
    launch.run(nothing);
    launch.expectLoaded();
  }
}

TEST(EmulatorTensorCopy, EverySwizzle) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    BoxLaunch launch;
    launch.dims = {40, 64};
    launch.box = {32, swizzle / 4};
    launch.swizzle = swizzle;
    launch.run(nothing);
    launch.expectLoaded();
  }
}

TEST(EmulatorTensorCopy, StoresAndReductionsKeepInsideTheArray) {
  for (const char *kind : {"s2g", "reduce.add", "reduce.max"}) {
    BoxLaunch launch;
    launch.dims = {7, 12}; // less than the box
    launch.box = {8, 16};
    launch.blocks = 1;
    launch.beginsBefore = false;
    launch.run(mutate(storeBack, "KIND", kind));
    launch.expectLoaded();
    std::vector<int32_t> expected(launch.x.size());
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = int32_t(i + 1);
    for (uint32_t i = 0; i < launch.boxElements(); ++i) {
      size_t at;
      if (std::string(kind) == "reduce.add" && launch.locate(0, i, at))
        expected[at] *= 2;
    }
    EXPECT_EQ(launch.x, expected) << kind;
  }
}

TEST(EmulatorTensorCopy, WhatStoresNeed) {
  BoxLaunch launch;
  launch.dims = {9, 12};
  launch.box = {8, 8};
  // An H200 refuses what it would read.
  launch.run(mutate(storeBack, "KIND", "s2g"));
  EXPECT_THAT(launch.found, HasSubstr("a tensor copy to global memory begins before the array"));
  launch.beginsBefore = false;
  // Two blocks store overlapping boxes; adding is fine, storing is a race.
  launch.run(mutate(storeBack, "KIND", "s2g"));
  EXPECT_THAT(launch.found, HasSubstr("race: "));
  // Threads change the box; the copy may see the old values without a fence.
  std::string change = "  %x0 = getelementptr i8, ptr addrspace(3) @buffer, i32 112\n"
                       "  store i32 7, ptr addrspace(3) %x0, align 4\n";
  launch.blocks = 1;
  std::string unfenced = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
                         "  br i1 %first, label %change, label %joined\nchange:\n" + change +
                         "  br label %joined\njoined:\n" + mutate(storeBack, "KIND", "s2g");
  launch.run(unfenced);
  EXPECT_THAT(launch.found, HasSubstr("with no fence.proxy.async between the two"));
  launch.run(mutate(unfenced, change,
                    change + "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n"));
  EXPECT_EQ(launch.found, "");
  EXPECT_EQ(launch.x[3 * 12 + 4], 7); // row 3, column 4 of the box
  // The block must not leave before the copy has read its memory.
  launch.run(mutate(mutate(storeBack, "KIND", "s2g"),
                    "  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n", ""));
  EXPECT_THAT(launch.found, HasSubstr("while a bulk copy may still read shared memory"));
  // A type that the hardware does not reduce.
  launch.dtype = DType::F32;
  launch.run(mutate(storeBack, "KIND", "reduce.max"));
  EXPECT_THAT(launch.found, HasSubstr("cannot reduce elements of this type"));
}

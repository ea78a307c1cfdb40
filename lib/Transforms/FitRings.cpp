//===- FitRings.cpp - rings that share bytes where they must ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel with rings of one place each. Out: the same, or, where those do not
// fit into a block's shared memory one beside the other, with rings that threads fill:
//
//   %x = tgpu.ring copy "tma" : …  (128 KiB)       %x = tgpu.ring copy "cp_async" : …
//   %y = tgpu.ring copy "tma" : …  (128 KiB)   →   %y = tgpu.ring copy "cp_async" : …
//   for { push %x … }   for { push %y … }          for { push %x … }   for { push %y … }
//
// Who only copies runs ahead into the next loop, so each ring that such warps fill has bytes of
// its own throughout the kernel. Those that all threads fill have theirs from their first push
// to their last release, and the next loop's ring may take them (AllocateMemory).
//
// Before that, tiles that leave from different blocks of the kernel go by the same buffers, where
// each waits until those before it have been read.
//
// All of the kernel's rings change, or none: with some left, the others would have to make do
// with one place beside them, and a loop that waits for each of its copies is slower than one
// whose threads start them some iterations ahead. Where it does not help, because what one loop
// needs at a time is too much, the rings do not change, and AllocateMemory says what is in the way.
//
// Before KeepAccumulators, which lets products run on over places that threads do not write.
//
//===------------------------------------------------------------------------===//
#include "SharedMemory.h"

#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace tilec {
#define GEN_PASS_DEF_FITRINGS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Who copies out of `alloc`, warp groups for themselves or all threads; nothing where that differs
/// or it is no such buffer.
static std::optional<DenseI64ArrayAttr> groupsOf(tgpu::AllocOp alloc) {
  std::optional<DenseI64ArrayAttr> groups;
  for (Operation *user : alloc.getBuffer().getUsers()) {
    auto out = dyn_cast<tgpu::CopyOutOp>(user);
    if (!out && !isa<tgpu::StoreOp>(user))
      return std::nullopt;
    if (out && groups && *groups != out.getGroupsAttr())
      return std::nullopt;
    if (out)
      groups = out.getGroupsAttr();
  }
  return groups;
}

/// Copies out of different blocks of the kernel go by the same buffers, one after the other.
static void mergeStaging(tile::KernelOp kernel) {
  using Buffers = llvm::MapVector<Block *, SmallVector<tgpu::AllocOp>>;
  llvm::MapVector<std::pair<Type, Attribute>, Buffers> byKind;
  kernel.walk([&](tgpu::AllocOp alloc) {
    if (std::optional<DenseI64ArrayAttr> groups = groupsOf(alloc))
      byKind[{alloc.getBuffer().getType(), *groups}][alloc->getBlock()].push_back(alloc);
  });
  Block &body = kernel.getBody().front();
  for (auto &[kind, blocks] : byKind) {
    if (blocks.size() < 2)
      continue;
    SmallVector<tgpu::AllocOp> common;
    for (auto &[block, buffers] : blocks) {
      // StageStores has one in front of each store to them.
      for (auto wait : block->getOps<tgpu::CopyOutWaitOp>())
        wait.setPending(0);
      for (auto [number, buffer] : llvm::enumerate(buffers)) {
        if (number == common.size()) {
          common.push_back(buffer);
          buffer->moveBefore(&body, body.begin());
          continue;
        }
        buffer.replaceAllUsesWith(common[number].getBuffer());
        buffer.erase();
      }
    }
  }
}

namespace {

struct FitRings : tilec::impl::FitRingsBase<FitRings> {
  using FitRingsBase::FitRingsBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    int64_t needed = bytesOfKernel(kernel);
    if (needed > budget)
      mergeStaging(kernel);
    if (needed <= budget || bytesOfKernel(kernel) <= budget)
      return;
    SmallVector<tgpu::RingOp> rings(kernel.getBody().front().getOps<tgpu::RingOp>());
    SmallVector<DictionaryAttr> before;
    bool haveWarps = false;
    for (tgpu::RingOp ring : rings) {
      before.push_back(ring->getAttrDictionary());
      haveWarps |= !ring.isFilledByThreads();
      ring.setCopy("cp_async");
      ring.removeOffsetAttr(); // where it would have been
      ring.removeBarriersAttr();
    }
    // Only where it must be: it takes a meeting of all threads in each iteration around.
    if (bytesOfKernel(kernel) > budget)
      for (tgpu::RingOp ring : rings)
        ring->setAttr(sharesInLoopsAttrName, UnitAttr::get(&getContext()));
    if (bytesOfKernel(kernel) > budget) {
      for (auto [ring, attributes] : llvm::zip_equal(rings, before))
        ring->setAttrs(attributes);
      return;
    }
    if (!haveWarps)
      return;
    // Blocks of a cluster share what the engine brings.
    kernel.walk([](tgpu::CopyOp copy) { copy.setMulticast(false); });
    // SpecializeWarps will find nothing to do; this is why.
    remarkMissed(kernel, "specialize-warps",
                 "the warps that compute also copy, since that shares bytes from loop to loop: "
                 "warps of their own need places for all loops at once, and so the kernel {0} of "
                 "the {1} of a block",
                 spellBytes(needed), spellBytes(budget));
  }
};

} // namespace

//===- SharedBuffers.cpp - what a kernel keeps in shared memory ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/SharedBuffers.h"

#include "tilec/Tile/Remarks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tgpu;

std::string SharedBuffer::size() const {
  std::string text = spellBytes(bytes);
  return places > 1 ? text + " x " + std::to_string(places) + " places" : text;
}

/// The array of each slot.
static SmallVector<std::string> arraysOf(RingOp ring) {
  RingType type = ring.getRing().getType();
  SmallVector<std::string> arrays(type.getBuffers().size(), "an array");
  for (Operation *user : ring.getRing().getUsers())
    if (auto push = dyn_cast<PushOp>(user))
      for (Operation &op : push.getCopies().front()) {
        if (auto copy = dyn_cast<CopyOp>(op))
          arrays[size_t(copy.getSlot())] = spellArray(copy.getArray());
        else if (auto copy = dyn_cast<CopyGatheredOp>(op))
          arrays[size_t(copy.getSlot())] = spellArray(copy.getArray());
      }
  for (auto [slot, owner] : llvm::enumerate(type.getOwners()))
    arrays[slot] = arrays[size_t(owner)];
  return arrays;
}

std::string tgpu::spellSources(RingOp ring) {
  SmallVector<std::string> arrays = arraysOf(ring);
  arrays.erase(std::unique(arrays.begin(), arrays.end()), arrays.end());
  return llvm::join(arrays, " and ");
}

static std::string spellBuffer(BufferType type) {
  return spell(RankedTensorType::get(type.getShape(), type.getElementType()));
}

/// What a buffer is there for, by who uses it.
static std::string purposeOf(AllocOp alloc) {
  for (Operation *user : alloc.getBuffer().getUsers()) {
    if (auto out = dyn_cast<CopyOutOp>(user))
      return " on its way to " + spellArray(out.getArray());
    if (isa<MmaOp>(user))
      return " for a product";
  }
  return " between threads";
}

std::vector<SharedBuffer> tgpu::sharedBuffersOf(tile::KernelOp kernel) {
  std::vector<SharedBuffer> result;
  kernel.walk([&](RingOp ring) {
    RingType type = ring.getRing().getType();
    SmallVector<std::string> arrays = arraysOf(ring);
    std::optional<int64_t> offset;
    if (IntegerAttr attr = ring.getOffsetAttr())
      offset = attr.getInt();
    for (auto [slot, buffer] : llvm::enumerate(type.getBuffers())) {
      if (type.isView(unsigned(slot)))
        continue;
      auto own = cast<BufferType>(buffer);
      std::optional<int64_t> start = offset;
      if (start)
        *start += type.getSlotOffset(unsigned(slot));
      result.push_back({ring, spellBuffer(own) + " of " + arrays[slot], own.getBytes(),
                        type.getStages(), start});
    }
  });
  kernel.walk([&](AllocOp alloc) {
    BufferType type = alloc.getBuffer().getType();
    std::optional<int64_t> offset;
    if (IntegerAttr attr = alloc.getOffsetAttr())
      offset = attr.getInt();
    result.push_back({alloc, spellBuffer(type) + purposeOf(alloc), type.getBytes(), 1, offset});
  });
  return result;
}

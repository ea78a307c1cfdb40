//===- Handover.h - what blocks learn of each other through atomics -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Blocks are unordered, except where one publishes with a release (or a fence and a
// relaxed atomic) and another takes it with an acquire of the same address:
//
//   block 0:  partial[0] = x; fence; atomicAdd(&done, 1)
//   block 7:  if (atomicAdd(&done, 1) == 7) { fence; use partial[…] }
//
// Out: a set of "everything of block b, thread t, up to step s is known". It is kept
// per block, not per thread: what one thread acquires its block is taken to know. So
// races across blocks are missed, in kernels that synchronise blocks, where a barrier
// inside the block is missing after the acquire; none is invented.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_HANDOVER_H
#define TILEC_LIB_EMULATOR_HANDOVER_H

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace tilec::emulator {

/// Steps of other blocks that are known to have happened.
class BlockKnowledge {
public:
  bool empty() const { return steps.empty(); }
  void clear() { steps.clear(); }

  /// All threads of \p block (index plus one) have completed \p step.
  void raiseFloor(uint32_t block, uint32_t step) { raise(block, floorSlot, step); }

  void raise(uint32_t block, uint32_t slot, uint32_t step) {
    uint32_t &known = steps[key(block, slot)];
    known = std::max(known, step);
  }

  void join(const BlockKnowledge &other) {
    for (const auto &[k, step] : other.steps) {
      uint32_t &known = steps[k];
      known = std::max(known, step);
    }
  }

  bool knows(uint32_t block, uint32_t slot, uint32_t step) const {
    if (steps.empty())
      return false;
    auto at = [&](uint32_t s) {
      auto it = steps.find(key(block, s));
      return it == steps.end() ? 0 : it->second;
    };
    return step <= std::max(at(floorSlot), at(slot));
  }

private:
  static constexpr uint32_t floorSlot = 0xFFF;
  static uint64_t key(uint32_t block, uint32_t slot) {
    return uint64_t(block) << 12 | slot;
  }
  llvm::DenseMap<uint64_t, uint32_t> steps;
};

/// What was released at each address, by all blocks of a launch or cluster.
class HandoverTable {
public:
  void clear() { table.clear(); }

  template <typename Function> void release(const void *address, Function add) {
    std::lock_guard<std::mutex> guard(mutex);
    add(table[reinterpret_cast<uintptr_t>(address)]);
  }
  void acquire(const void *address, BlockKnowledge &into) {
    std::lock_guard<std::mutex> guard(mutex);
    auto it = table.find(reinterpret_cast<uintptr_t>(address));
    if (it != table.end())
      into.join(it->second);
  }

private:
  std::mutex mutex;
  llvm::DenseMap<uintptr_t, BlockKnowledge> table;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_HANDOVER_H

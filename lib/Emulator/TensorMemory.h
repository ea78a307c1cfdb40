//===- TensorMemory.h - accumulators of products of one thread -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Tensor memory is a block's 128 lanes of 512 words (PTX ISA, "Tensor Memory"). Products
// that one thread issues work on it; warps load and store it, warp w of four the lanes
// 32w … 32w + 31. All of that is asynchronous:
//
//   product  ── agent of the block, its step the number of the commit that covers it
//               └► whoever waits at the mbarrier of that commit knows the step
//   load, store ── an agent each of the warp, its steps between waits
//               └► the warp knows it after its wait, others once it has also
//                  fenced (before_thread_sync) and met them
//
// and what a thread learns by meeting others holds for tensor memory only from its next
// fence (after_thread_sync) on: that is its view.
//
// What a load returns to the kernel are marks, as with wgmma (WarpGroup.h), until a tied
// wait exchanges them for values.
//
// Shadow cells are for 32 lanes of a column: what one warp accesses at a time.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_TENSORMEMORY_H
#define TILEC_LIB_EMULATOR_TENSORMEMORY_H

#include "Marks.h"
#include "Shadow.h"
#include "VectorClock.h"

#include <deque>
#include <vector>

namespace tilec::emulator {

class Block;
struct ThreadContext;

/// The marks of loads of a warp.
using LoadMark = Marks<0x7FD00000>;

/// What a thread knows of tensor memory.
struct TensorView {
  VectorClock clock;        ///< as of its last fence after meeting others
  uint32_t loads, stores;   ///< steps of its warp's agents that it has waited for
};

/// A product that is issued and not computed.
struct TensorProduct {
  ThreadContext *issuer;
  uint32_t site;
  uint32_t kind, shape; ///< the instruction's kind and its descriptor
  uint32_t column;
  uint64_t a, b;
  bool accumulates;
  uint32_t step;
  VectorClock clock, fenced, view; ///< the issuer's
};

struct TensorMemory {
  static constexpr uint32_t numLanes = 128, numColumns = 512, numQuarters = 4;

  struct Allocation {
    uint32_t column, count, site;
  };
  /// Values that a load has read and nobody waited for yet, or did lately.
  struct Loaded {
    uint32_t id, registers;
    std::vector<uint32_t> words; ///< of each lane in turn
  };
  struct Warp {
    uint32_t loadStep = 1, storeStep = 1, nextId = 0;
    std::deque<Loaded> loaded;
  };

  /// Forgets everything: a new block begins.
  void begin(uint32_t numThreads, uint32_t numSlots);
  /// The words of column \p column, lane by lane.
  uint32_t *words(uint32_t column) { return data.data() + column * numLanes; }
  ShadowCell &cell(uint32_t quarter, uint32_t column) {
    return cells[quarter * numColumns + column];
  }
  bool isAllocated(uint32_t column, uint32_t count) const;
  /// A run of \p count free columns; numColumns when there is none. The highest, so that
  /// a kernel that takes it for granted to begin at 0 is found out.
  uint32_t findFree(uint32_t count) const;

  std::vector<uint32_t> data;
  std::vector<ShadowCell> cells;
  std::vector<Allocation> allocations;
  std::vector<Warp> warps;
  std::deque<TensorProduct> products;
  uint32_t openStep = 1;   ///< of products that no commit covers yet
  VectorClock clock;       ///< what the issuers of products knew
  bool isRelinquished = false;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_TENSORMEMORY_H

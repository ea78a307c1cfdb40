//===- VectorClock.h - what a thread knows of the others' progress -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Every thread of a block counts its own steps: a step ends when the thread
// releases what it did so far (a barrier, an arrive). A vector clock says, for each
// thread, up to which of its steps everything is known to have happened before.
// Asynchronous copies are agents with slots of their own behind the threads' slots.
//
// After a barrier of the whole block all threads know the same, so a clock is kept
// as a floor common to all threads, and an overlay only where somebody knows more.
// Overlays are shared and copied on write: a barrier of 1024 threads costs 1024
// steps, not a million.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_VECTORCLOCK_H
#define TILEC_LIB_EMULATOR_VECTORCLOCK_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilec::emulator {

class VectorClock {
public:
  /// Forgets everything; the clock has \p slots slots, of which \p threads belong
  /// to threads and are covered by the floor.
  void reset(uint32_t threads, uint32_t slots) {
    numThreads = threads;
    numSlots = slots;
    floor = 0;
    overlay = nullptr;
  }

  /// The last step of \p slot known to have happened.
  uint32_t get(uint32_t slot) const {
    uint32_t value = slot < numThreads ? floor : 0;
    return overlay ? std::max(value, overlay->steps[slot]) : value;
  }

  /// Learns that \p slot has completed \p step.
  void raise(uint32_t slot, uint32_t step) {
    if (get(slot) < step)
      ownOverlay().steps[slot] = step;
  }

  /// Learns all that \p other knows.
  void join(const VectorClock &other) {
    floor = std::max(floor, other.floor);
    if (!other.overlay || other.overlay == overlay)
      return;
    if (!overlay) {
      overlay = other.overlay;
      return;
    }
    Overlay &mine = ownOverlay();
    for (uint32_t i = 0; i < numSlots; ++i)
      mine.steps[i] = std::max(mine.steps[i], other.overlay->steps[i]);
  }

  /// The step that every thread is known to have completed.
  uint32_t floorStep() const { return floor; }

  /// Forgets what \p other does not know.
  void meet(const VectorClock &other) {
    if (!sharesOverlay(other)) {
      Overlay &mine = ownOverlay();
      const uint32_t *theirs = other.overlay ? other.overlay->steps.data() : nullptr;
      for (uint32_t i = 0; i < numSlots; ++i) {
        uint32_t ours = mine.steps[i], known = theirs ? theirs[i] : 0;
        bool isThread = i < numThreads;
        mine.steps[i] = std::min(std::max(ours, isThread ? floor : 0),
                                 std::max(known, isThread ? other.floor : 0));
      }
    }
    floor = std::min(floor, other.floor);
  }

  /// Learns that every thread has completed \p step.
  void raiseFloor(uint32_t step) { floor = std::max(floor, step); }

  bool hasOverlay() const { return bool(overlay); }
  bool sharesOverlay(const VectorClock &other) const {
    return overlay == other.overlay;
  }

  /// Drops the overlay when it says nothing beyond the floor.
  void compact() {
    if (!overlay)
      return;
    for (uint32_t i = 0; i < numSlots; ++i)
      if (overlay->steps[i] > (i < numThreads ? floor : 0))
        return;
    overlay = nullptr;
  }

private:
  struct Overlay : llvm::RefCountedBase<Overlay> {
    std::vector<uint32_t> steps;
  };

  Overlay &ownOverlay() {
    if (overlay && overlay->UseCount() == 1)
      return *overlay;
    llvm::IntrusiveRefCntPtr<Overlay> fresh(new Overlay);
    if (overlay)
      fresh->steps = overlay->steps;
    else
      fresh->steps.assign(numSlots, 0);
    overlay = fresh;
    return *overlay;
  }

  uint32_t floor = 0, numThreads = 0, numSlots = 0;
  llvm::IntrusiveRefCntPtr<Overlay> overlay;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_VECTORCLOCK_H

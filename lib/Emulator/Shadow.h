//===- Shadow.h - who touched each byte last -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Shadow memory has one cell for every granule of emulated memory. A granule is as
// large as the smallest access in the kernel (1 to 16 bytes), so that threads that
// write neighbouring elements never meet in a cell.
//
// A cell remembers the last plain write, the last atomic update, the last atomic read
// and two readers. Atomic accesses do not race with each other, nor do reads. Two
// readers suffice to find every race between threads that only full barriers order:
// both are kept from different threads, and from different blocks when possible, so
// a later unordered write differs from at least one of them. (With point-to-point
// synchronisation the two are a sample.)
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_SHADOW_H
#define TILEC_LIB_EMULATOR_SHADOW_H

#include "Handover.h"
#include "VectorClock.h"

namespace tilec::emulator {

/// One access. `block` is the linear block index plus one; zero means "none".
struct AccessRecord {
  uint32_t block = 0;
  uint32_t slotAndStep = 0; ///< 12 bits of slot, 20 bits of step
  uint32_t site = 0;

  uint32_t slot() const { return slotAndStep >> 20; }
  uint32_t step() const { return slotAndStep & 0xFFFFF; }
};

enum class AccessKind : uint8_t { Read, Write, Atomic, AtomicRead };

/// Who accesses, and what they know of the others.
struct Accessor {
  AccessRecord record;
  uint32_t issuer;     ///< the thread that started an asynchronous copy, or itself
  uint32_t ownCopies;  ///< copies of the thread's own agent that it has waited for
  uint32_t copySlot;   ///< the slot of the thread's own agent
  const VectorClock *clock;
  /// Global memory: what the block knows of others; null for shared memory, where
  /// other blocks' accesses do not count.
  const BlockKnowledge *others;

  /// Of the async proxy: see AsyncAgent. Null for accesses of the generic proxy.
  const VectorClock *fenced = nullptr;

  bool acrossBlocks() const { return others != nullptr; }

  /// Whether the earlier access \p other is not ordered before this one.
  bool conflicts(const AccessRecord &other) const {
    if (other.block != record.block)
      return others && other.block != 0 &&
             !others->knows(other.block, other.slot(), other.step());
    uint32_t slot = other.slot();
    if (slot == record.slot() || slot == issuer)
      return false;
    if (slot == copySlot && other.step() <= ownCopies)
      return false;
    return other.step() > clock->get(slot);
  }
};

/// The access that another one races with.
struct EarlierAccess {
  AccessRecord record;
  bool isRead = false;
};

struct ShadowCell {
  AccessRecord write, atomic, atomicRead, reads[2];

  /// Notes an access. Returns whether it races with an earlier one, and which.
  bool access(const Accessor &who, AccessKind kind, EarlierAccess &earlier) {
    bool race = false;
    auto test = [&](const AccessRecord &other, bool isRead = false) {
      if (!race && who.conflicts(other)) {
        race = true;
        earlier = {other, isRead};
      }
    };
    test(write);
    if (kind == AccessKind::AtomicRead) {
      atomicRead = who.record;
      return race;
    }
    if (kind != AccessKind::Atomic)
      test(atomic);
    if (kind == AccessKind::Read) {
      noteRead(who);
      return race;
    }
    if (kind == AccessKind::Write)
      test(atomicRead, true);
    test(reads[0], true);
    test(reads[1], true);
    if (kind == AccessKind::Atomic) {
      atomic = who.record;
      return race;
    }
    write = who.record;
    atomicRead = reads[0] = reads[1] = AccessRecord();
    return race;
  }

private:
  void noteRead(const Accessor &who) {
    const AccessRecord &me = who.record;
    AccessRecord &last = reads[0], &other = reads[1];
    if (last.block == me.block && last.slotAndStep == me.slotAndStep)
      return;
    bool sameThread = last.block == me.block && last.slot() == me.slot();
    if (!sameThread && last.block != 0 && !keepsOther(who))
      other = last;
    last = me;
  }

  /// Whether the older of the two readers is worth more than the younger one: it is
  /// of another block, or, mostly, it is still unordered with the new reader.
  bool keepsOther(const Accessor &who) const {
    const AccessRecord &me = who.record, &last = reads[0], &other = reads[1];
    if (other.block == 0)
      return false;
    if (who.acrossBlocks() && other.block != last.block)
      return last.block == me.block && other.block != me.block;
    if (other.block != me.block || other.slot() == me.slot() ||
        !who.conflicts(other))
      return false;
    uint32_t hash = (me.slotAndStep + uint32_t(reinterpret_cast<uintptr_t>(this) >> 4)) *
                    2654435761u;
    return (hash >> 27) != 0; // 31 of 32
  }
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_SHADOW_H

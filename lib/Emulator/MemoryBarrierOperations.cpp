//===- MemoryBarrierOperations.cpp - mbarrier objects -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: operations on mbarrier objects in shared memory (PTX ISA, section mbarrier).
// Out: threads parked and woken, clocks handed over.
//
// The object's state lives beside the block, keyed by its address; the bytes in
// shared memory only carry the shadow, so that using an object that nobody
// initialised, or whose initialisation is not ordered before its use, is found.
//
// try_wait parks the thread until the phase ends: a loop around it costs nothing, and
// a phase that never ends is an exact deadlock. An arrival releases into the open
// phase; waiting acquires what the completed phases released.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

using namespace tilec;
using namespace tilec::emulator;

namespace {

struct BarrierAddress {
  char *address;
};
struct WithNumber {
  char *address;
  uint32_t number;
};
struct WithState {
  char *address;
  uint64_t state;
};

enum Variant : uint32_t {
  HasCount = 1,      ///< the second argument is a number of arrivals
  ExpectsBytes = 2,  ///< the second argument is a number of bytes
  ReturnsState = 4,
  Parity = 8,        ///< waits by parity, not by state
  Parks = 16,        ///< try_wait
  Drops = 32,        ///< one participant fewer in later phases
  NoIncrement = 64,  ///< cp.async arrive that the count already includes
};

/// The mbarrier at \p address, in the shared memory of any block of the cluster.
MemoryBarrier *lookUp(ThreadContext &thread, char *address) {
  if (!checkShared(thread, address, 8, 8, AccessKind::Atomic))
    return nullptr;
  Block &owner = *thread.block->cluster.ownerOf(address);
  auto it = owner.memoryBarriers.find(uint32_t(address - owner.shared));
  if (it == owner.memoryBarriers.end() || !it->second.live) {
    thread.block->find(thread, FindingKind::HelperMisuse,
                       "uses an mbarrier that is not initialised");
    return nullptr;
  }
  return &it->second;
}

bool isOwn(const ThreadContext &thread, const char *address) {
  return uint64_t(address - thread.shared) < sharedCapacity;
}

void endPhaseIfComplete(Block &block, MemoryBarrier &barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.completed.join(barrier.released);
  for (ThreadContext *waiter : barrier.waiters)
    block.makeRunnable(waiter);
  barrier.waiters.clear();
}

void arriveAt(ThreadContext &thread, MemoryBarrier &barrier, uint32_t count) {
  Block &block = *thread.block;
  if (count > barrier.pending) {
    block.find(thread, FindingKind::HelperMisuse,
               "more threads arrive at an mbarrier than it was initialised for");
    return;
  }
  barrier.pending -= count;
  endPhaseIfComplete(block, barrier);
}

/// What \p thread did becomes known to who waits at the barrier: to threads of its own
/// block by clocks, to another block by a handover.
void releaseInto(ThreadContext &thread, MemoryBarrier &barrier, const char *address) {
  Block &block = *thread.block;
  if (isOwn(thread, address))
    block.release(thread, barrier.released);
  else
    block.releaseToBlocks(thread, block.cluster.handovers, address);
}

void initialise(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<WithNumber>(arguments);
  if (!checkShared(thread, a.address, 8, 8, AccessKind::Write))
    return;
  Block &block = *thread.block;
  if (a.number == 0 || a.number >= 1u << 20) {
    block.find(thread, FindingKind::HelperMisuse,
               "initialises an mbarrier for " + std::to_string(a.number) + " arrivals");
    return;
  }
  MemoryBarrier &barrier = block.memoryBarriers[uint32_t(a.address - thread.shared)];
  if (!barrier.waiters.empty())
    block.find(thread, FindingKind::HelperMisuse,
               "initialises an mbarrier that threads wait at");
  barrier = MemoryBarrier();
  barrier.count = barrier.pending = a.number;
  barrier.live = true;
  barrier.released.reset(block.numThreads, block.numSlots());
  barrier.completed.reset(block.numThreads, block.numSlots());
}

void invalidate(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  char *address = as<BarrierAddress>(arguments).address;
  if (!lookUp(thread, address))
    return;
  thread.block->memoryBarriers.erase(uint32_t(address - thread.shared));
}

void arrive(ThreadContext &thread, const void *arguments, void *result,
            uint32_t variant) {
  const auto &a = as<WithNumber>(arguments);
  MemoryBarrier *barrier = lookUp(thread, a.address);
  if (variant & ReturnsState)
    to<uint64_t>(result) = barrier ? barrier->phase : 0;
  if (!barrier)
    return;
  Block &block = *thread.block;
  if (block.checks())
    releaseInto(thread, *barrier, a.address);
  if (variant & ExpectsBytes)
    barrier->bytes += a.number;
  uint32_t count = variant & HasCount ? a.number : 1;
  if (variant & Drops)
    barrier->count -= std::min(count, barrier->count);
  arriveAt(thread, *barrier, count);
}

void expectBytes(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<WithNumber>(arguments);
  if (MemoryBarrier *barrier = lookUp(thread, a.address))
    barrier->bytes += a.number;
}

void completeBytes(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<WithNumber>(arguments);
  if (MemoryBarrier *barrier = lookUp(thread, a.address)) {
    barrier->bytes -= a.number;
    endPhaseIfComplete(*thread.block, *barrier);
  }
}

void waitFor(ThreadContext &thread, const void *arguments, void *result,
             uint32_t variant) {
  char *address = as<BarrierAddress>(arguments).address;
  MemoryBarrier *barrier = lookUp(thread, address);
  Block &block = *thread.block;
  if (barrier && !isOwn(thread, address)) {
    block.find(thread, FindingKind::HelperMisuse, "waits at an mbarrier of another block");
    barrier = nullptr;
  }
  if (!barrier) {
    to<bool>(result) = true; // the loop around it must end
    return;
  }
  uint32_t wanted = variant & Parity ? as<WithNumber>(arguments).number
                                     : uint32_t(as<WithState>(arguments).state);
  auto stillOpen = [&] {
    return variant & Parity ? (barrier->phase & 1) == (wanted & 1)
                            : barrier->phase == wanted;
  };
  if (stillOpen()) {
    if (!(variant & Parks)) {
      block.yield(&thread);
      barrier = lookUp(thread, address);
    } else {
      barrier->waiters.push_back(&thread);
      block.wait(&thread, "mbarrier.try_wait");
      barrier = lookUp(thread, address); // the table may have grown meanwhile
    }
  }
  bool done = !barrier || !stillOpen();
  if (done && barrier && block.checks()) {
    block.acquire(thread, barrier->completed);
    if (thread.clusterSize > 1)
      block.cluster.handovers.acquire(address, block.otherBlocks);
  }
  to<bool>(result) = done;
}

void pendingCount(ThreadContext &, const void *, void *result, uint32_t) {
  to<uint32_t>(result) = 0;
}

/// cp.async.mbarrier.arrive: the arrival happens when the thread's copies so far are
/// complete, and publishes them.
void arriveWithCopies(ThreadContext &thread, const void *arguments, void *,
                      uint32_t variant) {
  MemoryBarrier *barrier = lookUp(thread, as<BarrierAddress>(arguments).address);
  if (!barrier)
    return;
  Block &block = *thread.block;
  if (block.checks())
    barrier->released.raise(block.copySlot(thread), thread.copyGroup);
  ++thread.copyGroup;
  // Without .noinc the pending count first grows by the same one.
  if (variant & NoIncrement)
    arriveAt(thread, *barrier, 1);
}

//===--- clusters -------------------------------------------------------------------===//

enum ClusterVariant : uint32_t { Relaxed = 1 };

void clusterArrive(ThreadContext &thread, const void *, void *, uint32_t variant) {
  bool releases = variant != Relaxed || thread.hasFencedInit;
  thread.hasFencedInit = false;
  thread.block->cluster.arrive(thread, releases);
}

void clusterWait(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->cluster.wait(thread);
}

/// Where the block's shared memory begins.
void sharedBase(ThreadContext &thread, const void *, void *result, uint32_t) {
  to<char *>(result) = thread.block->shared;
}

struct MapArguments {
  char *address;
  uint32_t rank;
};

/// The same place in another block's shared memory.
void mapToRank(ThreadContext &thread, const void *arguments, void *result, uint32_t) {
  const auto &a = as<MapArguments>(arguments);
  Cluster &cluster = thread.block->cluster;
  uint32_t target = a.rank;
  Block *owner = cluster.ownerOf(a.address);
  if (target >= cluster.size() || !owner) {
    thread.block->find(thread, FindingKind::HelperMisuse,
                       "maps an address to block " + std::to_string(target) +
                           " of a cluster of " + std::to_string(cluster.size()));
    target = 0;
    owner = thread.block;
  }
  to<char *>(result) = cluster.block(target).shared + (a.address - owner->shared);
}

void rankOf(ThreadContext &thread, const void *arguments, void *result, uint32_t) {
  Block *owner = thread.block->cluster.ownerOf(as<BarrierAddress>(arguments).address);
  to<uint32_t>(result) = owner ? owner->rank : 0;
}

} // namespace

/// Who waits at the barrier learns of the agent's step, and of all that it knows.
static void releaseFor(ThreadContext &thread, MemoryBarrier &barrier, const char *address,
                       const AsyncAgent &agent) {
  Block &block = *thread.block;
  if (!block.checks())
    return;
  if (isOwn(thread, address)) {
    barrier.released.join(*agent.clock);
    barrier.released.raise(agent.slot, agent.step);
    return;
  }
  block.cluster.handovers.release(address, [&](BlockKnowledge &published) {
    block.publish(*agent.clock, published);
    published.raise(block.tag, agent.slot, agent.step);
  });
}

void tilec::emulator::completeTransaction(ThreadContext &thread, char *address,
                                          uint32_t bytes, const AsyncAgent &agent) {
  MemoryBarrier *barrier = lookUp(thread, address);
  if (!barrier)
    return;
  releaseFor(thread, *barrier, address, agent);
  barrier->bytes -= bytes;
  endPhaseIfComplete(*thread.block, *barrier);
}

void tilec::emulator::arriveFor(ThreadContext &thread, char *address, const AsyncAgent &agent) {
  MemoryBarrier *barrier = lookUp(thread, address);
  if (!barrier)
    return;
  releaseFor(thread, *barrier, address, agent);
  arriveAt(thread, *barrier, 1);
}

llvm::ArrayRef<OperationEntry> tilec::emulator::memoryBarrierOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.mbarrier.init", initialise},
      {"llvm.nvvm.mbarrier.init.shared", initialise},
      {"llvm.nvvm.mbarrier.inval", invalidate},
      {"llvm.nvvm.mbarrier.inval.shared", invalidate},
      {"llvm.nvvm.mbarrier.arrive", arrive, ReturnsState},
      {"llvm.nvvm.mbarrier.arrive.shared", arrive, ReturnsState},
      {"llvm.nvvm.mbarrier.arrive.noComplete", arrive, ReturnsState | HasCount},
      {"llvm.nvvm.mbarrier.arrive.noComplete.shared", arrive, ReturnsState | HasCount},
      {"llvm.nvvm.mbarrier.arrive.drop", arrive, ReturnsState | Drops},
      {"llvm.nvvm.mbarrier.arrive.drop.shared", arrive, ReturnsState | Drops},
      {"llvm.nvvm.mbarrier.arrive.scope.cta.space.cta", arrive, ReturnsState | HasCount},
      {"llvm.nvvm.mbarrier.arrive.relaxed.scope.cta.space.cta", arrive,
       ReturnsState | HasCount},
      {"llvm.nvvm.mbarrier.arrive.scope.cluster.space.cta", arrive,
       ReturnsState | HasCount},
      {"llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster", arrive, HasCount},
      {"llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", arrive,
       ReturnsState | ExpectsBytes},
      {"llvm.nvvm.mbarrier.arrive.expect.tx.relaxed.scope.cta.space.cta", arrive,
       ReturnsState | ExpectsBytes},
      {"llvm.nvvm.mbarrier.arrive.expect.tx.scope.cluster.space.cta", arrive,
       ReturnsState | ExpectsBytes},
      {"llvm.nvvm.mbarrier.arrive.expect.tx.scope.cluster.space.cluster", arrive,
       ExpectsBytes},
      {"llvm.nvvm.mbarrier.expect.tx.*", expectBytes},
      {"llvm.nvvm.mbarrier.complete.tx.*", completeBytes},
      {"llvm.nvvm.mbarrier.test.wait", waitFor},
      {"llvm.nvvm.mbarrier.test.wait.shared", waitFor},
      {"llvm.nvvm.mbarrier.test.wait.scope.*", waitFor},
      {"llvm.nvvm.mbarrier.test.wait.relaxed.scope.*", waitFor},
      {"llvm.nvvm.mbarrier.test.wait.parity.*", waitFor, Parity},
      {"llvm.nvvm.mbarrier.try.wait.*", waitFor, Parks},
      {"llvm.nvvm.mbarrier.try.wait.parity.*", waitFor, Parks | Parity},
      {"llvm.nvvm.mbarrier.pending.count", pendingCount},
      {"tilec.mbarrier.arrive.cluster", arrive},
      {"tilec.shared.base", sharedBase},
      {"llvm.nvvm.mapa", mapToRank},
      {"llvm.nvvm.mapa.shared.cluster", mapToRank},
      {"llvm.nvvm.getctarank", rankOf},
      {"llvm.nvvm.getctarank.shared.cluster", rankOf},
      {"llvm.nvvm.barrier.cluster.arrive", clusterArrive},
      {"llvm.nvvm.barrier.cluster.arrive.aligned", clusterArrive},
      {"llvm.nvvm.barrier.cluster.arrive.relaxed", clusterArrive, Relaxed},
      {"llvm.nvvm.barrier.cluster.arrive.relaxed.aligned", clusterArrive, Relaxed},
      {"llvm.nvvm.barrier.cluster.wait", clusterWait},
      {"llvm.nvvm.barrier.cluster.wait.aligned", clusterWait},
      {"llvm.nvvm.cp.async.mbarrier.arrive", arriveWithCopies},
      {"llvm.nvvm.cp.async.mbarrier.arrive.shared", arriveWithCopies},
      {"llvm.nvvm.cp.async.mbarrier.arrive.noinc", arriveWithCopies, NoIncrement},
      {"llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", arriveWithCopies, NoIncrement},
  };
  return entries;
}

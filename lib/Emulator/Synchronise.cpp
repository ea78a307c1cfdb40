//===- Synchronise.cpp - barriers, warp operations and clocks of a block -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  arrivals of threads. Out: threads made runnable, clocks joined, findings where
//      a thread is missing.
//
// A warp operation is computed once, for all its lanes, by the lane that arrives
// last. A thread that leaves the kernel no longer counts, as on the hardware; but a
// barrier or warp operation that is completed by a thread's exit is reported, since
// it means that the program's control flow diverged around it.
//
//===--------------------------------------------------------------------------===//
#include "Block.h"

using namespace tilec;
using namespace tilec::emulator;

static std::string hexadecimal(uint32_t value) {
  char text[16];
  snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

//===--- warp operations --------------------------------------------------------===//

void Block::warpOperation(ThreadContext *thread, const WarpOperation &op) {
  acquirePending(*thread);
  Warp &warp = warps[thread->warp];
  uint32_t bit = 1u << thread->lane;
  thread->operation = op;
  if (!(op.mask & bit)) {
    find(*thread, FindingKind::DivergentBarrier,
         std::string(op.name) + " is executed by lane " +
             std::to_string(thread->lane) + ", which its mask " +
             hexadecimal(op.mask) + " does not name");
    thread->operation.mask = bit; // goes on alone
  }
  warp.waiting |= bit;
  uint32_t needed = thread->operation.mask & warp.live;
  ThreadContext *lanes = &threads[thread->warp * 32];
  bool ready = (warp.waiting & needed) == needed;
  for (uint32_t m = needed & ~bit; ready && m; m &= m - 1) {
    const WarpOperation &other = lanes[__builtin_ctz(m)].operation;
    ready = other.name == op.name && other.variant == op.variant &&
            other.mask == thread->operation.mask;
  }
  if (ready) {
    completeWarpOperation(thread, thread);
    return;
  }
  wait(thread, op.name);
}

void Block::completeWarpOperation(ThreadContext *anyLane, ThreadContext *running) {
  Warp &warp = warps[anyLane->warp];
  WarpOperation op = anyLane->operation;
  uint32_t taking = op.mask & warp.live;
  // Lanes beyond the end of a last, partial warp never existed.
  uint32_t lanesInWarp = std::min(32u, numThreads - anyLane->warp * 32);
  uint32_t existing = lanesInWarp == 32 ? ~0u : (1u << lanesInWarp) - 1;
  if (op.mask & existing & ~warp.live)
    find(*anyLane, FindingKind::DivergentBarrier,
         std::string(op.name) + " names lanes that have left the kernel (mask " +
             hexadecimal(op.mask) + ", live " + hexadecimal(warp.live) + ")");
  warp.waiting &= ~taking;
  ThreadContext *lanes = &threads[anyLane->warp * 32];
  op.complete(*this, lanes, taking);
  for (uint32_t m = taking; m; m &= m - 1) {
    ThreadContext *lane = lanes + __builtin_ctz(m);
    if (lane != running)
      makeRunnable(lane);
  }
}

void Block::warpAfterExit(ThreadContext *thread) {
  Warp &warp = warps[thread->warp];
  ThreadContext *lanes = &threads[thread->warp * 32];
  for (uint32_t m = warp.waiting; m; m &= m - 1) {
    unsigned lane = __builtin_ctz(m);
    if (!(warp.waiting >> lane & 1))
      continue;
    const WarpOperation &op = lanes[lane].operation;
    uint32_t needed = op.mask & warp.live;
    bool ready = (op.mask >> thread->lane & 1) && (warp.waiting & needed) == needed;
    for (uint32_t n = needed; ready && n; n &= n - 1) {
      const WarpOperation &other = lanes[__builtin_ctz(n)].operation;
      ready = other.name == op.name && other.variant == op.variant &&
              other.mask == op.mask;
    }
    if (ready)
      completeWarpOperation(lanes + lane, nullptr);
  }
}

//===--- barriers of the block --------------------------------------------------===//

uint32_t Block::barrier(ThreadContext *thread, const BarrierArrival &arrival) {
  if (arrival.id >= 16) {
    find(*thread, FindingKind::HelperMisuse,
         "there is no barrier " + std::to_string(arrival.id));
    return 0;
  }
  acquirePending(*thread);
  BlockBarrier &b = barriers[arrival.id];
  if (arrival.count % 32 != 0 || arrival.count > numThreads)
    find(*thread, FindingKind::HelperMisuse,
         "barrier " + std::to_string(arrival.id) + " cannot wait for " +
             std::to_string(arrival.count) + " of " + std::to_string(numThreads) +
             " threads");
  if (b.arrived == 0) {
    b.expected = arrival.count;
    b.votes = 0;
  } else if (b.expected != arrival.count) {
    find(*thread, FindingKind::HelperMisuse,
         "arrivals at barrier " + std::to_string(arrival.id) +
             " expect different numbers of threads");
  }
  ++b.arrived;
  b.arriveSite = thread->site;
  b.votes += arrival.vote;
  thread->operation.variant = arrival.aligned;
  if (!arrival.waits) {
    if (checks())
      release(*thread, b.released);
    uint32_t full = b.expected ? b.expected : numThreads - numExited;
    if (b.arrived >= full)
      completeBarrier(arrival.id, nullptr);
    return 0;
  }
  static const char *const names[16] = {
      "barrier 0",  "barrier 1",  "barrier 2",  "barrier 3",
      "barrier 4",  "barrier 5",  "barrier 6",  "barrier 7",
      "barrier 8",  "barrier 9",  "barrier 10", "barrier 11",
      "barrier 12", "barrier 13", "barrier 14", "barrier 15"};
  b.waiters.push_back(thread);
  uint32_t full = b.expected ? b.expected : numThreads - numExited;
  if (b.arrived >= full)
    completeBarrier(arrival.id, thread);
  else
    wait(thread, names[arrival.id]);
  return b.result;
}

void Block::completeBarrier(uint32_t id, ThreadContext *running) {
  BlockBarrier &b = barriers[id];
  if (numExited && !b.expected && !b.waiters.empty())
    find(*b.waiters.front(), FindingKind::DivergentBarrier,
         std::to_string(numExited) + " of " + std::to_string(numThreads) +
             " threads left the kernel without reaching barrier " +
             std::to_string(id));
  checkAligned(id);
  if (checks()) {
    bool everybody = b.waiters.size() == numThreads;
    if (everybody) {
      joinAll();
    } else {
      for (ThreadContext *t : b.waiters)
        release(*t, b.released);
      for (ThreadContext *t : b.waiters)
        acquire(*t, b.released);
    }
    b.released.reset(numThreads, numSlots());
  }
  b.result = b.votes;
  b.arrived = 0;
  for (ThreadContext *t : b.waiters)
    if (t != running)
      makeRunnable(t);
  b.waiters.clear();
}

void Block::checkAligned(uint32_t id) {
  const BlockBarrier &b = barriers[id];
  // The site of the first waiter of each warp; site 0 is no place.
  uint32_t sites[64] = {};
  for (ThreadContext *t : b.waiters) {
    if (!t->operation.variant)
      continue;
    uint32_t &site = sites[t->warp];
    if (site == 0)
      site = t->site;
    else if (site != t->site)
      find(*t, FindingKind::DivergentBarrier,
           "lanes of one warp arrive at barrier " + std::to_string(id) +
               " from different places, here and at " +
               launch.log->site(site).place(),
           site);
  }
}

void Block::barriersAfterExit(ThreadContext *thread) {
  for (uint32_t id = 0; id < 16; ++id) {
    BlockBarrier &b = barriers[id];
    if (!b.waiters.empty() && !b.expected && b.arrived >= numThreads - numExited)
      completeBarrier(id, nullptr);
  }
}

//===--- clocks -----------------------------------------------------------------===//

void Block::advance(ThreadContext &thread) {
  // Steps have 20 bits. A thread that uses them up stays in its last step, where
  // races may be missed but none are invented.
  if (thread.step < 0xFFFFE)
    ++thread.step;
}

void Block::release(ThreadContext &thread, VectorClock &into) {
  into.join(thread.clock);
  into.raise(thread.linear, thread.step);
  if (thread.copiesCompleted)
    into.raise(copySlot(thread), thread.copiesCompleted);
  advance(thread);
}

/// All threads of the block learn everything; returns whether agents are involved.
bool Block::joinAll() {
  uint32_t last = 0;
  VectorClock agents;
  agents.reset(numThreads, numSlots());
  const VectorClock *previous = nullptr;
  for (ThreadContext &t : threads) {
    last = std::max(last, t.step);
    if (t.clock.hasOverlay() && !(previous && t.clock.sharesOverlay(*previous))) {
      agents.join(t.clock);
      previous = &t.clock;
    }
    if (t.copiesCompleted)
      agents.raise(copySlot(t), t.copiesCompleted);
  }
  agents.raiseFloor(last);
  agents.compact();
  uint32_t next = std::min(last + 1, 0xFFFFEu);
  for (ThreadContext &t : threads) {
    t.clock = agents;
    t.step = next;
  }
  return agents.hasOverlay();
}

//===--- shadow memory ----------------------------------------------------------===//

void Block::publish(const VectorClock &clock, BlockKnowledge &into) const {
  into.join(otherBlocks);
  into.raiseFloor(tag, clock.floorStep());
  for (uint32_t slot = 0; clock.hasOverlay() && slot < numSlots(); ++slot)
    into.raise(tag, slot, clock.get(slot));
}

void Block::releaseToBlocks(ThreadContext &thread, HandoverTable &table,
                            const void *address) {
  table.release(address, [&](BlockKnowledge &published) {
    publish(thread.clock, published);
    published.raise(tag, thread.linear, thread.step);
    published.raise(tag, copySlot(thread), thread.copiesCompleted);
  });
  advance(thread);
}

void Block::acquireFromBlocks(ThreadContext &thread) {
  if (!thread.acquireFrom)
    return;
  launch.handovers.acquire(thread.acquireFrom, otherBlocks);
  thread.acquireFrom = nullptr;
  thread.acquiresNext = false;
}

void Block::fence(ThreadContext &thread) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  thread.hasFenced = true;
  if (checks())
    acquireFromBlocks(thread);
}

void Block::fenceForAsync(ThreadContext &thread) {
  if (!checks())
    return;
  thread.proxyFences.push_back({thread.step, thread.copiesCompleted});
  thread.fencedForAsync.join(thread.clock);
  // What is known of this thread from now on includes the fence.
  advance(thread);
}

/// Whether a fence lies between \p write, if a thread did it, and an access of the
/// async proxy that knows of it: one of the writer, or one of the issuer.
bool Block::isFencedForAsync(const Accessor &who, const AccessRecord &write) const {
  uint32_t slot = write.slot();
  if (write.block != tag || slot >= 2 * numThreads ||
      who.fenced->get(slot) >= write.step())
    return true;
  bool isCopy = slot >= numThreads;
  const ThreadContext &writer = threads[isCopy ? slot - numThreads : slot];
  uint32_t known = who.clock->get(writer.linear);
  for (auto fence = writer.proxyFences.rbegin(); fence != writer.proxyFences.rend(); ++fence) {
    if (fence->step > known)
      continue; // happened too late
    return (isCopy ? fence->copies : fence->step) >= write.step();
  }
  return false;
}

Accessor Block::accessor(const ThreadContext &thread, bool global) const {
  AccessRecord record{tag, thread.linear << 20 | thread.step, thread.site};
  return {record, thread.linear, thread.copiesCompleted, copySlot(thread),
          &thread.clock, global || cluster.size() > 1 ? &otherBlocks : nullptr};
}

Accessor Block::agentAccessor(const ThreadContext &thread, const AsyncAgent &agent,
                              bool global) const {
  AccessRecord record{tag, agent.slot << 20 | agent.step, thread.site};
  return {record, thread.linear, thread.copiesCompleted, copySlot(thread), agent.clock,
          global || cluster.size() > 1 ? &otherBlocks : nullptr, agent.fenced};
}

void Block::sharedAccess(const Accessor &who, uint32_t offset, uint32_t size,
                         AccessKind kind) {
  uint32_t first = offset >> launch.sharedGranuleLog2;
  uint32_t last = (offset + size - 1) >> launch.sharedGranuleLog2;
  EarlierAccess earlier, found;
  AccessRecord unfenced;
  bool race = false, uninitialised = false;
  for (uint32_t i = first; i <= last; ++i) {
    ShadowCell &cell = sharedCells[i];
    if (kind != AccessKind::Write)
      uninitialised |= !isInCluster(cell.write.block) && !isInCluster(cell.atomic.block);
    if (cell.access(who, kind, found) && !race) {
      race = true;
      earlier = found;
    }
    if (who.fenced && kind == AccessKind::Read && !isFencedForAsync(who, cell.write))
      unfenced = cell.write;
  }
  if (uninitialised)
    launch.log->add(FindingKind::UninitialisedRead, who.record.site, 0,
                    who.record.block - 1, who.issuer,
                    "reads " + std::to_string(size) +
                        " bytes of shared memory that the block has not written");
  if (race)
    reportRace(who, kind, earlier, "shared memory");
  else if (unfenced.block)
    launch.log->add(FindingKind::Race, who.record.site, unfenced.site,
                    who.record.block - 1, who.issuer,
                    "reads shared memory asynchronously that threads wrote at " +
                        launch.log->site(unfenced.site).place() +
                        ", with no fence.proxy.async between the two");
}

void Block::reportRace(const Accessor &who, AccessKind kind,
                       const EarlierAccess &found, const std::string &where) {
  bool isRead = kind == AccessKind::Read || kind == AccessKind::AtomicRead;
  const char *verb = isRead                      ? "reads "
                     : kind == AccessKind::Write ? "writes "
                                                 : "atomically updates ";
  const AccessRecord &earlier = found.record;
  const Site &other = launch.log->site(earlier.site);
  std::string text = verb + where + " while ";
  if (earlier.slot() < numThreads) {
    text += "thread " + std::to_string(earlier.slot());
    if (earlier.block != who.record.block)
      text += " of block " + std::to_string(earlier.block - 1);
  } else {
    bool isProduct = earlier.slot() >= productSlot(0);
    text += isProduct ? "an asynchronous product" : "an asynchronous copy";
  }
  text += found.isRead ? " reads" : other.isAtomic ? " atomically updates" : " writes";
  text += " it at " + other.place() + ", with nothing to order the two";
  launch.log->add(FindingKind::Race, who.record.site, earlier.site, who.record.block - 1,
                  who.issuer, std::move(text));
}

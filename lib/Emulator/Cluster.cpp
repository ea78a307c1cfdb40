//===- Cluster.cpp - blocks that run together -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: block indices. Out: the blocks' effects and findings. See Cluster.h.
//
//===--------------------------------------------------------------------------===//
#include "Cluster.h"

#include "Block.h"

using namespace tilec;
using namespace tilec::emulator;

Cluster::Cluster(LaunchState &launch) : scheduler(launch), launch(launch) {
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank)
    blocks.push_back(std::make_unique<Block>(launch, *this, rank));
}

Cluster::~Cluster() = default;

bool Cluster::allocate() {
  for (auto &block : blocks)
    if (!block->allocate())
      return false;
  return true;
}

void Cluster::run(uint64_t first) {
  scheduler.reset(first);
  handovers.clear();
  arrivals.clear();
  barrier = ClusterBarrier();
  barrier.count = barrier.pending = launch.numThreads() * size();
  for (uint32_t rank = 0; rank < size(); ++rank)
    blocks[rank]->begin(first + rank);
  scheduler.run();
  if (scheduler.wasStopped())
    return;
  for (auto &block : blocks)
    block->end();
}

Block *Cluster::ownerOf(const void *address) {
  for (auto &block : blocks)
    if (uint64_t(static_cast<const char *>(address) - block->shared) < sharedCapacity)
      return block.get();
  return nullptr;
}

//===--- the barrier ----------------------------------------------------------------===//

void Cluster::completePhase() {
  if (barrier.pending != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  for (ThreadContext *waiter : barrier.waiters)
    scheduler.makeRunnable(waiter);
  barrier.waiters.clear();
}

void Cluster::arrive(ThreadContext &thread, bool releases) {
  Block &block = *thread.block;
  if (thread.clusterArrivals != barrier.phase) {
    block.find(thread, FindingKind::HelperMisuse,
               "arrives at the cluster's barrier again before its phase is complete");
    return;
  }
  ++thread.clusterArrivals;
  if (block.checks() && size() > 1)
    block.releaseToBlocks(thread, arrivals, &barrier);
  if (block.checks() && releases) {
    if (size() > 1)
      block.releaseToBlocks(thread, handovers, &barrier);
    block.release(thread, block.clusterReleased);
  }
  --barrier.pending;
  completePhase();
}

void Cluster::wait(ThreadContext &thread) {
  Block &block = *thread.block;
  if (thread.clusterArrivals > barrier.phase) {
    barrier.waiters.push_back(&thread);
    block.wait(&thread, "barrier.cluster.wait");
  }
  if (!block.checks())
    return;
  block.acquire(thread, block.clusterReleased);
  if (size() == 1)
    return;
  handovers.acquire(&barrier, block.otherBlocks);
  arrivals.acquire(&barrier, block.otherArrivals);
}

void Cluster::afterExit(ThreadContext &thread) {
  --barrier.count;
  // A thread that has arrived in this phase has been counted already.
  if (thread.clusterArrivals == barrier.phase)
    --barrier.pending;
  completePhase();
}

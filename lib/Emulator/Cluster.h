//===- Cluster.h - blocks that run together -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A cluster owns its blocks, the queue of all their threads, and the barrier of the
// cluster. A launch without clusters has clusters of one block.
//
// Blocks reach into each other's shared memory through host addresses: each block's
// memory lies somewhere else, so an address says whose it is. What one block learns of
// another goes through `handovers`, keyed by the address of an mbarrier, or of the
// cluster's barrier.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_CLUSTER_H
#define TILEC_LIB_EMULATOR_CLUSTER_H

#include "Handover.h"
#include "Scheduler.h"

#include <memory>
#include <vector>

namespace tilec::emulator {

class Block;

/// barrier.cluster: every thread of every block that has not left the kernel.
struct ClusterBarrier {
  uint32_t count = 0, pending = 0, phase = 0;
  std::vector<ThreadContext *> waiters;
};

class Cluster {
public:
  explicit Cluster(LaunchState &launch);
  ~Cluster();

  /// Maps the memory of all blocks; false when the host has too little.
  bool allocate();
  /// Runs blocks \p first and those behind it to their ends.
  void run(uint64_t first);

  uint32_t size() const { return uint32_t(blocks.size()); }
  Block &block(uint32_t rank) { return *blocks[rank]; }
  /// The block in whose shared memory \p address lies, or null.
  Block *ownerOf(const void *address);

  void arrive(ThreadContext &thread, bool releases);
  void wait(ThreadContext &thread);
  /// \p thread is no longer waited for.
  void afterExit(ThreadContext &thread);

  Scheduler scheduler;
  HandoverTable handovers;
  /// What was over when threads arrived at the cluster's barrier, relaxed or not. That
  /// says when a block may leave, and nothing about what it sees in memory.
  HandoverTable arrivals;

private:
  void completePhase();

  LaunchState &launch;
  std::vector<std::unique_ptr<Block>> blocks;
  ClusterBarrier barrier;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_CLUSTER_H

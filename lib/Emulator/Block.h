//===- Block.h - one thread block in execution -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A Block owns what the threads of one block share: their contexts, stacks, shared
// memory, barriers and clocks. A host thread keeps one Cluster of Blocks and uses them
// for many block indices; the cluster's scheduler runs their threads.
//
// When nothing is runnable and not all have exited, that is a deadlock, exactly.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_BLOCK_H
#define TILEC_LIB_EMULATOR_BLOCK_H

#include "Cluster.h"
#include "Fiber.h"
#include "FindingLog.h"
#include "GlobalMemory.h"
#include "Shadow.h"
#include "TensorMemory.h"
#include "WarpGroup.h"

#include "llvm/ADT/DenseMap.h"

#include <chrono>
#include <random>

namespace tilec::emulator {

class Block;

/// Shared memory of a block: enough for every chip, and aligned to its own size, so
/// that the low 18 bits of a host address are the shared-memory address: what code gets
/// that turns one into a number, and what swizzles work on.
constexpr uint32_t sharedCapacity = 256 << 10;
/// Where the rank of a block begins in a shared address that is used as a number.
constexpr uint32_t clusterWindowBits = 24;

/// Slots of asynchronous agents that belong to no single thread.
constexpr uint32_t numBlockAgents = 16;

/// A warp-wide operation that a lane waits in.
struct WarpOperation {
  const char *name = nullptr; ///< as printed; also tells operations apart
  uint32_t variant = 0;
  uint32_t mask = 0; ///< the lanes that take part
  void *payload = nullptr;
  /// Computes for all lanes of `mask`, once, when the last one has arrived.
  void (*complete)(Block &block, struct ThreadContext *lanes, uint32_t mask) = nullptr;
};

/// An asynchronous agent while it accesses memory: its slot, its step, what it knows.
struct AsyncAgent {
  uint32_t slot, step;
  const VectorClock *clock;
  /// Of the async proxy: what its issuer knew when it last fenced the two proxies. Null
  /// for cp.async, which accesses memory as threads do.
  const VectorClock *fenced = nullptr;
};

/// A fence.proxy.async: it covers what the thread did up to its step, and its own
/// asynchronous copies up to a group.
struct ProxyFence {
  uint32_t step, copies;
};

/// A bulk store that its issuer may wait for: it reads in `step`, writes in the next.
struct BulkStore {
  uint32_t group, slot, step;
};

/// A GPU thread. Generated code reads the first fields at fixed offsets.
struct ThreadContext {
  uint32_t threadIndex[3];
  uint32_t blockSize[3];
  uint32_t blockIndex[3];
  uint32_t gridSize[3];
  uint32_t lane;
  uint32_t warp;
  char *shared;         ///< base of shared memory
  uint32_t site;        ///< where the thread is, set before every host call
  int32_t fuel;         ///< loop iterations until the thread yields
  uint32_t sharedBytes; ///< static and dynamic together
  uint32_t linear;      ///< index in the block
  uint32_t clusterIndex, numClusters;
  uint32_t clusterRank, clusterSize;

  Block *block;
  void *stackPointer;
  ThreadContext *next; ///< in the queue of runnable threads
  bool exited;
  const char *waitsFor; ///< null while running
  WarpOperation operation;

  VectorClock clock;
  uint32_t step;            ///< the thread's own current step
  uint32_t copyGroup;       ///< the open group of the thread's asynchronous copies
  uint32_t copiesCompleted; ///< groups the thread has waited for
  uint32_t clusterArrivals; ///< at the cluster's barrier
  std::vector<ProxyFence> proxyFences;
  VectorClock fencedForAsync; ///< what the thread knew at the last of them
  uint32_t bulkGroup;       ///< the open group of the thread's bulk stores
  std::vector<BulkStore> bulkStores;
  bool hasAwaitedGrids;     ///< griddepcontrol.wait
  bool hasFencedInit;       ///< fence.mbarrier_init, up to the next cluster arrival
  bool hasFenced;           ///< its relaxed atomics order memory, too
  const void *acquireFrom;  ///< the last atomic, while it is not acquired
  bool acquiresNext;        ///< it is an acquire; otherwise a fence may make it one
  TensorView tensorView;    ///< of tensor memory
  const GlobalMemory::Range *lastRange;
  char redirect[256];       ///< where accesses out of bounds go
};

namespace offset {
constexpr unsigned threadIndex = 0, blockSize = 12, blockIndex = 24, gridSize = 36,
                   lane = 48, warp = 52, shared = 56, site = 64, fuel = 68,
                   sharedBytes = 72, linear = 76, clusterIndex = 80,
                   numClusters = 84, clusterRank = 88, clusterSize = 92;
} // namespace offset

using KernelFunction = void (*)(ThreadContext *, const void *const *);

/// How many loop iterations a thread runs before others get a turn.
constexpr int32_t fuelPerTurn = 1 << 16;

/// What all blocks of a launch share.
struct LaunchState {
  KernelFunction kernel;
  std::vector<const void *> parameters;
  std::array<uint32_t, 3> grid, threads;
  uint32_t staticSharedBytes, sharedBytes; ///< shared: static + dynamic
  unsigned sharedGranuleLog2;
  uint32_t clusterSize = 1;
  size_t stackBytes;
  bool checks;
  bool awaitsGrids; ///< grids ahead may still run until a thread has waited for them
  std::optional<uint64_t> seed;
  std::chrono::steady_clock::time_point deadline;
  double timeoutSeconds;
  GlobalMemory *globals;
  FindingLog *log;
  HandoverTable handovers; ///< between blocks
  std::atomic<uint64_t> nextCluster{0};
  std::atomic<uint64_t> switches{0};
  std::atomic<bool> stop{false};

  uint32_t numThreads() const { return threads[0] * threads[1] * threads[2]; }
  uint64_t numBlocks() const { return uint64_t(grid[0]) * grid[1] * grid[2]; }
};

/// A barrier of the block (bar.sync): sixteen of them.
struct BlockBarrier {
  uint32_t arrived = 0;
  uint32_t expected = 0; ///< 0: all threads of the block
  bool counted = false;  ///< expected was given by the arrivals
  uint32_t arriveSite = 0;
  uint32_t votes = 0;
  uint32_t result = 0;
  std::vector<ThreadContext *> waiters;
  VectorClock released; ///< what those knew that arrived without waiting
};

/// An mbarrier object, keyed by its address in shared memory.
struct MemoryBarrier {
  uint32_t count = 0, pending = 0, phase = 0;
  int64_t bytes = 0; ///< expected bytes not yet arrived
  bool live = false;
  std::vector<ThreadContext *> waiters;
  VectorClock released;  ///< by the arrivals so far, of the open phase too
  VectorClock completed; ///< by the arrivals of completed phases
};

class Block {
public:
  Block(LaunchState &launch, Cluster &cluster, uint32_t rank)
      : launch(launch), cluster(cluster), rank(rank) {}
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block();

  /// Maps stacks and shared memory; false when the host has too little memory.
  bool allocate();

  /// Makes the threads of block \p index runnable.
  void begin(uint64_t index);
  /// Reports what nobody finished, when no thread can run any more.
  void end();

  // -- scheduling, called on the stack of a thread
  void makeRunnable(ThreadContext *thread) { cluster.scheduler.makeRunnable(thread); }
  /// Leaves \p thread; it goes on when somebody makes it runnable.
  void wait(ThreadContext *thread, const char *what);
  /// Lets the others run, then goes on.
  void yield(ThreadContext *thread);
  /// Ends \p thread; never returns.
  [[noreturn]] void exit(ThreadContext *thread);

  // -- warps and barriers
  /// Takes part in the warp operation \p op; returns when it is done.
  void warpOperation(ThreadContext *thread, const WarpOperation &op);
  struct BarrierArrival {
    uint32_t id;
    uint32_t count; ///< 0: all threads
    bool aligned;   ///< all lanes of a warp must be at the same instruction
    bool waits;
    bool vote;
  };
  /// Returns the number of true votes.
  uint32_t barrier(ThreadContext *thread, const BarrierArrival &arrival);

  // -- clocks and shadow
  bool checks() const { return launch.checks; }
  uint32_t numSlots() const {
    return tensorSlot() + 1 + 2 * ((numThreads + 31) / 32);
  }
  uint32_t copySlot(const ThreadContext &t) const { return numThreads + t.linear; }
  /// The slot of the products of warp group \p group.
  uint32_t productSlot(uint32_t group) const {
    return 2 * numThreads + numBlockAgents + group;
  }
  /// The slots of products in tensor memory, and of a warp's loads and stores there.
  uint32_t tensorSlot() const { return productSlot((numThreads + 127) / 128); }
  uint32_t tensorSlot(uint32_t warp, bool isStore) const {
    return tensorSlot() + 1 + 2 * warp + isStore;
  }
  /// Ends the thread's step, after what it did was released to others.
  void advance(ThreadContext &thread);
  /// Adds all that \p thread did and knows to \p into.
  void release(ThreadContext &thread, VectorClock &into);
  void acquire(ThreadContext &thread, const VectorClock &from) {
    thread.clock.join(from);
  }
  /// Publishes all that \p thread knows to whoever acquires from \p address.
  void releaseToBlocks(ThreadContext &thread, HandoverTable &table, const void *address);
  /// Adds what this block knows of others, and \p clock, to \p into.
  void publish(const VectorClock &clock, BlockKnowledge &into) const;
  /// Takes what was published where the thread's last atomic was.
  void acquireFromBlocks(ThreadContext &thread);
  /// Does so if that atomic was an acquire.
  void acquirePending(ThreadContext &thread) {
    if (thread.acquiresNext)
      acquireFromBlocks(thread);
  }
  /// A memory fence of \p thread.
  void fence(ThreadContext &thread);
  /// What \p thread knows and did is visible to the async proxy, for those who learn
  /// of it from now on.
  void fenceForAsync(ThreadContext &thread);
  /// Notes that \p thread, or an agent of its, of another block of the cluster uses this
  /// block's shared memory: nobody may leave before that. False when all have left.
  bool admitPeer(const ThreadContext &thread, const AccessRecord &access);
  /// Notes an access of [offset, offset + size) of shared memory.
  void sharedAccess(const Accessor &who, uint32_t offset, uint32_t size,
                    AccessKind kind);
  Accessor accessor(const ThreadContext &thread, bool global) const;
  Accessor agentAccessor(const ThreadContext &thread, const AsyncAgent &agent,
                         bool global) const;

  void find(const ThreadContext &thread, FindingKind kind, std::string text,
            uint32_t other = 0);
  void reportRace(const Accessor &who, AccessKind kind, const EarlierAccess &found,
                  const std::string &where);

  LaunchState &launch;
  Cluster &cluster;
  uint32_t rank; ///< in the cluster
  uint32_t numThreads = 0;
  uint32_t tag = 0; ///< linear index plus one, in access records
  std::vector<ThreadContext> threads;
  char *shared = nullptr;
  FiberStacks stacks;
  llvm::DenseMap<uint32_t, MemoryBarrier> memoryBarriers;
  BlockKnowledge otherBlocks;
  BlockKnowledge otherArrivals; ///< see Cluster::arrivals
  std::vector<WarpGroup> warpGroups;
  TensorMemory tensorMemory;
  VectorClock clusterReleased; ///< by this block's threads, at the cluster's barrier
  uint32_t agentSteps[numBlockAgents] = {};
  uint32_t nextAgent = 0;

private:
  void prepareThreads(uint64_t index);
  bool isInCluster(uint32_t block) const {
    return block != 0 && block - (tag - rank) < launch.clusterSize;
  }
  void reportDeadlock();
  void completeWarpOperation(ThreadContext *anyLane, ThreadContext *running);
  void completeBarrier(uint32_t id, ThreadContext *running);
  void checkAligned(uint32_t id);
  bool joinAll();
  bool isFencedForAsync(const Accessor &who, const AccessRecord &write) const;
  void warpAfterExit(ThreadContext *thread);
  void barriersAfterExit(ThreadContext *thread);
  void peersAfterExit(const ThreadContext &thread);
  void checkBulkStores(const ThreadContext &thread);

  struct Warp {
    uint32_t live = 0, waiting = 0;
  };
  std::vector<Warp> warps;
  BlockBarrier barriers[16];
  std::vector<ShadowCell> sharedCells;
  char *sharedMapping = nullptr;
  uint32_t numExited = 0;
  /// The last access of each agent of other blocks to this block's shared memory.
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, AccessRecord> peers;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_BLOCK_H

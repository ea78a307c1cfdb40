//===- Block.cpp - the threads of a block from begin to end -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a launch and a block index. Out: threads that are ready to run, and findings
// about those that never end. Nothing here allocates while threads run except the
// waiting lists, which keep their capacity.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <sys/mman.h>

using namespace tilec;
using namespace tilec::emulator;

static_assert(offsetof(ThreadContext, blockSize) == offset::blockSize);
static_assert(offsetof(ThreadContext, blockIndex) == offset::blockIndex);
static_assert(offsetof(ThreadContext, gridSize) == offset::gridSize);
static_assert(offsetof(ThreadContext, lane) == offset::lane);
static_assert(offsetof(ThreadContext, warp) == offset::warp);
static_assert(offsetof(ThreadContext, shared) == offset::shared);
static_assert(offsetof(ThreadContext, site) == offset::site);
static_assert(offsetof(ThreadContext, fuel) == offset::fuel);
static_assert(offsetof(ThreadContext, sharedBytes) == offset::sharedBytes);
static_assert(offsetof(ThreadContext, linear) == offset::linear);
static_assert(offsetof(ThreadContext, clusterIndex) == offset::clusterIndex);
static_assert(offsetof(ThreadContext, numClusters) == offset::numClusters);
static_assert(offsetof(ThreadContext, clusterRank) == offset::clusterRank);
static_assert(offsetof(ThreadContext, clusterSize) == offset::clusterSize);

extern "C" void tilecEmulatorFiberMain(void *argument) {
  auto *thread = static_cast<ThreadContext *>(argument);
  LaunchState &launch = thread->block->launch;
  launch.kernel(thread, launch.parameters.data());
  thread->block->exit(thread);
}

Block::~Block() {
  if (sharedMapping)
    munmap(sharedMapping, 2 * sharedCapacity);
}

bool Block::allocate() {
  numThreads = launch.numThreads();
  threads.resize(numThreads);
  warps.resize((numThreads + 31) / 32);
  if (!stacks.allocate(numThreads, launch.stackBytes))
    return false;
  // 32-bit shared-memory addresses are truncated host addresses, so the mapping
  // must lie in the low 4 GiB.
#ifdef MAP_32BIT
  void *memory = mmap(nullptr, 2 * sharedCapacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
#else
  static std::atomic<uintptr_t> nextHint{0x20000000};
  void *memory = MAP_FAILED;
  for (int attempt = 0; attempt < 1024 && memory == MAP_FAILED; ++attempt) {
    uintptr_t hint = nextHint.fetch_add(2 * sharedCapacity);
    memory = mmap(reinterpret_cast<void *>(hint), 2 * sharedCapacity,
                  PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
#endif
  if (memory == MAP_FAILED)
    return false;
  sharedMapping = static_cast<char *>(memory);
  uintptr_t aligned = (reinterpret_cast<uintptr_t>(memory) + sharedCapacity - 1) &
                      ~uintptr_t(sharedCapacity - 1);
  shared = reinterpret_cast<char *>(aligned);
  if (launch.checks)
    sharedCells.resize((launch.sharedBytes >> launch.sharedGranuleLog2) + 2);
  return true;
}

void Block::prepareThreads(uint64_t index) {
  const auto &grid = launch.grid, &size = launch.threads;
  for (uint32_t i = 0; i < numThreads; ++i) {
    ThreadContext &t = threads[i];
    uint32_t position[3] = {i % size[0], i / size[0] % size[1],
                            i / size[0] / size[1]};
    uint32_t blockPosition[3] = {uint32_t(index % grid[0]),
                                 uint32_t(index / grid[0] % grid[1]),
                                 uint32_t(index / grid[0] / grid[1])};
    for (unsigned d = 0; d < 3; ++d) {
      t.threadIndex[d] = position[d];
      t.blockSize[d] = size[d];
      t.blockIndex[d] = blockPosition[d];
      t.gridSize[d] = grid[d];
    }
    t.lane = i % 32;
    t.warp = i / 32;
    t.shared = shared;
    t.site = 0;
    t.fuel = fuelPerTurn;
    t.sharedBytes = launch.sharedBytes;
    t.linear = i;
    t.clusterIndex = uint32_t(index % grid[0]) / launch.clusterSize;
    t.numClusters = grid[0] / launch.clusterSize;
    t.clusterRank = rank;
    t.clusterSize = launch.clusterSize;
    t.block = this;
    t.next = nullptr;
    t.exited = false;
    t.waitsFor = nullptr;
    t.operation = WarpOperation();
    t.clock.reset(numThreads, numSlots());
    t.step = 1;
    t.copyGroup = 1;
    t.copiesCompleted = 0;
    t.clusterArrivals = 0;
    t.bulkGroup = 0;
    t.bulkStores.clear();
    t.proxyFences.clear();
    t.fencedForAsync.reset(numThreads, numSlots());
    t.hasAwaitedGrids = false;
    t.hasFencedInit = false;
    t.hasFenced = false;
    t.acquireFrom = nullptr;
    t.acquiresNext = false;
    t.tensorView.clock.reset(numThreads, numSlots());
    t.tensorView.loads = t.tensorView.stores = 0;
    t.lastRange = nullptr;
    t.stackPointer = prepareFiber(stacks.top(i), &t);
    makeRunnable(&t);
  }
}

void Block::begin(uint64_t index) {
  tag = uint32_t(index) + 1;
  numExited = 0;
  memoryBarriers.clear();
  otherBlocks.clear();
  otherArrivals.clear();
  peers.clear();
  std::fill(std::begin(agentSteps), std::end(agentSteps), 0);
  nextAgent = 0;
  warpGroups.assign((numThreads + 127) / 128, WarpGroup());
  tensorMemory.begin(numThreads, numSlots());
  clusterReleased.reset(numThreads, numSlots());
  // Blocks that ran here before are no peers.
  if (launch.clusterSize > 1)
    std::fill(sharedCells.begin(), sharedCells.end(), ShadowCell());
  for (uint32_t w = 0; w < warps.size(); ++w) {
    uint32_t lanes = std::min(32u, numThreads - w * 32);
    warps[w].live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps[w].waiting = 0;
  }
  for (BlockBarrier &b : barriers) {
    b.arrived = b.expected = b.votes = 0;
    b.counted = false;
    b.waiters.clear();
    b.released.reset(numThreads, numSlots());
  }
  if (launch.checks)
    std::memset(shared, 0xFF, launch.sharedBytes);
  prepareThreads(index);
}

void Block::end() {
  if (numExited != numThreads)
    return reportDeadlock();
  reportUnfinishedProducts(*this);
  auto hasAwaited = [](const ThreadContext &thread) { return thread.hasAwaitedGrids; };
  if (launch.awaitsGrids && llvm::none_of(threads, hasAwaited))
    find(threads.front(), FindingKind::HelperMisuse,
         "the block ends without griddepcontrol.wait: grids that wait for this one would "
         "not wait for those ahead of it");
}

//===--- waiting ----------------------------------------------------------------===//

void Block::wait(ThreadContext *thread, const char *what) {
  thread->waitsFor = what;
  cluster.scheduler.switchFrom(thread);
}

void Block::yield(ThreadContext *thread) {
  makeRunnable(thread);
  cluster.scheduler.switchFrom(thread);
}

void Block::exit(ThreadContext *thread) {
  thread->exited = true;
  ++numExited;
  warps[thread->warp].live &= ~(1u << thread->lane);
  warpAfterExit(thread);
  barriersAfterExit(thread);
  cluster.afterExit(*thread);
  checkBulkStores(*thread);
  peersAfterExit(*thread);
  cluster.scheduler.switchFrom(thread);
  std::abort(); // an exited thread is never made runnable
}

/// Whoever copies out of shared memory has to see that it has been read.
void Block::checkBulkStores(const ThreadContext &thread) {
  for (const BulkStore &store : thread.bulkStores)
    if (checks() && thread.clock.get(store.slot) < store.step) {
      find(thread, FindingKind::HelperMisuse,
           "leaves the kernel while a bulk copy may still read shared memory");
      return;
    }
}

//===--- other blocks of the cluster ----------------------------------------------===//

bool Block::admitPeer(const ThreadContext &thread, const AccessRecord &access) {
  if (numExited == numThreads) {
    thread.block->find(thread, FindingKind::OutOfBounds,
                       "accesses shared memory of block " + std::to_string(tag - 1) +
                           ", whose threads have all left the kernel");
    return false;
  }
  if (checks()) {
    AccessRecord &last = peers[{access.block, access.slot()}];
    if (last.step() <= access.step())
      last = access;
  }
  return true;
}

/// When the last thread leaves, everything that others do here must be known to be over.
void Block::peersAfterExit(const ThreadContext &thread) {
  if (numExited != numThreads)
    return;
  for (const auto &[key, access] : peers)
    if (!otherBlocks.knows(access.block, access.slot(), access.step()) &&
        !otherArrivals.knows(access.block, access.slot(), access.step())) {
      find(thread, FindingKind::Race,
           "the block leaves the kernel while block " + std::to_string(access.block - 1) +
               " may still be using its shared memory at " +
               launch.log->site(access.site).place(),
           access.site);
      return;
    }
}

void Block::reportDeadlock() {
  // "96 threads wait at barrier 0 (a.tile:7), 32 threads have exited"
  std::map<std::pair<std::string, uint32_t>, uint32_t> groups;
  const ThreadContext *first = nullptr;
  for (const ThreadContext &t : threads) {
    if (t.exited)
      continue;
    if (!first)
      first = &t;
    ++groups[{t.waitsFor ? t.waitsFor : "an unknown operation", t.site}];
  }
  std::string text;
  auto count = [](uint32_t n) {
    return std::to_string(n) + (n == 1 ? " thread " : " threads ");
  };
  for (const auto &[key, n] : groups)
    text += (text.empty() ? "" : ", ") + count(n) + (n == 1 ? "waits" : "wait") +
            " at " + key.first + " (" + launch.log->site(key.second).place() + ")";
  if (numExited)
    text += ", " + count(numExited) + (numExited == 1 ? "has" : "have") + " exited";
  find(*first, FindingKind::Deadlock, text);
}

void Block::find(const ThreadContext &thread, FindingKind kind, std::string text,
                 uint32_t other) {
  launch.log->add(kind, thread.site, other, tag - 1, thread.linear, std::move(text));
}

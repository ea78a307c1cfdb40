//===- Block.cpp - scheduling the threads of a block -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a launch and a block index. Out: the block's effects on memory and findings.
//
// Threads run until they wait. Without a seed the one that became runnable first
// runs next; with a seed, any. Nothing here allocates while threads run except the
// waiting lists, which keep their capacity.
//
//===--------------------------------------------------------------------------===//
#include "Block.h"

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
    t.block = this;
    t.next = nullptr;
    t.exited = false;
    t.waitsFor = nullptr;
    t.operation = WarpOperation();
    t.clock.reset(numThreads, numSlots());
    t.step = 1;
    t.copyGroup = 1;
    t.copiesCompleted = 0;
    t.clusterPhase = 0;
    t.bulkGroup = 0;
    t.bulkStores.clear();
    t.hasFenced = false;
    t.acquireFrom = nullptr;
    t.acquiresNext = false;
    t.lastRange = nullptr;
    t.stackPointer = prepareFiber(stacks.top(i), &t);
    makeRunnable(&t);
  }
}

void Block::run(uint64_t index) {
  tag = uint32_t(index) + 1;
  queueHead = queueTail = nullptr;
  randomQueue.clear();
  numExited = 0;
  aborted = false;
  memoryBarriers.clear();
  otherBlocks.clear();
  std::fill(std::begin(agentSteps), std::end(agentSteps), 0);
  nextAgent = 0;
  clusterBarrier = MemoryBarrier();
  if (launch.seed)
    random.seed(*launch.seed * 0x9E3779B97F4A7C15u + index);
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

  ThreadContext *first = takeRunnable();
  ++numSwitches;
  tilecEmulatorSwitch(&hostStack, first->stackPointer);
  if (!aborted && numExited != numThreads)
    reportDeadlock();
  launch.switches += numSwitches;
  numSwitches = 0;
}

//===--- the queue of runnable threads ----------------------------------------===//

void Block::makeRunnable(ThreadContext *thread) {
  thread->waitsFor = nullptr;
  if (launch.seed) {
    randomQueue.push_back(thread);
    return;
  }
  thread->next = nullptr;
  if (queueTail)
    queueTail->next = thread;
  else
    queueHead = thread;
  queueTail = thread;
}

ThreadContext *Block::takeRunnable() {
  if (launch.seed) {
    if (randomQueue.empty())
      return nullptr;
    size_t pick = random() % randomQueue.size();
    std::swap(randomQueue[pick], randomQueue.back());
    ThreadContext *thread = randomQueue.back();
    randomQueue.pop_back();
    return thread;
  }
  ThreadContext *thread = queueHead;
  if (thread) {
    queueHead = thread->next;
    if (!queueHead)
      queueTail = nullptr;
  }
  return thread;
}

void Block::switchFrom(ThreadContext *thread) {
  if ((++numSwitches & 0xFFF) == 0 &&
      std::chrono::steady_clock::now() > launch.deadline &&
      !launch.stop.exchange(true))
    find(*thread, FindingKind::Timeout,
         "the run takes longer than " +
             std::to_string(unsigned(launch.timeoutSeconds)) + " s");
  if (launch.stop) {
    // Whoever is on a stack now stays there: the block ends.
    aborted = true;
    tilecEmulatorSwitch(&thread->stackPointer, hostStack);
  }
  ThreadContext *other = takeRunnable();
  if (other == thread)
    return;
  tilecEmulatorSwitch(&thread->stackPointer, other ? other->stackPointer : hostStack);
}

void Block::wait(ThreadContext *thread, const char *what) {
  thread->waitsFor = what;
  switchFrom(thread);
}

void Block::yield(ThreadContext *thread) {
  makeRunnable(thread);
  switchFrom(thread);
}

void Block::exit(ThreadContext *thread) {
  thread->exited = true;
  ++numExited;
  warps[thread->warp].live &= ~(1u << thread->lane);
  warpAfterExit(thread);
  barriersAfterExit(thread);
  switchFrom(thread);
  std::abort(); // an exited thread is never made runnable
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

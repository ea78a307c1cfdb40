//===- Checks.cpp - the checks of memory accesses -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  every load, store and atomic of a kernel that was compiled with checks: its
//      address and site. Out: the address to use.
//
// An access out of bounds is reported and sent to a scratch area of the thread: the
// kernel goes on, and whatever else is wrong with it is found in the same run.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

static std::string bytes(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

static const char *verb(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::AtomicRead ? "reads "
         : kind == AccessKind::Write ? "writes "
                                     : "atomically updates ";
}

/// Whether \p address lies in shared memory of the thread's block, or of another one of
/// its cluster.
static bool inShared(const ThreadContext &thread, const void *address) {
  return uint64_t(static_cast<const char *>(address) - thread.shared) < sharedCapacity ||
         (thread.clusterSize > 1 && thread.block->cluster.ownerOf(address));
}

static void checkAlignment(ThreadContext &thread, const void *address, uint64_t size,
                           uint32_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) & (alignment - 1))
    thread.block->find(thread, FindingKind::Misaligned,
                       "accesses " + bytes(size) + " at an address that is no multiple of " +
                           std::to_string(alignment));
}

static void pauseSometimes(ThreadContext &thread) {
  // Under a seed, other threads may come in between any two accesses.
  Block &block = *thread.block;
  if (block.launch.seed && (block.cluster.scheduler.random() & 63) == 0)
    block.yield(&thread);
}

bool tilec::emulator::checkShared(ThreadContext &thread, const void *address,
                                  uint32_t size, uint32_t alignment, AccessKind kind,
                                  const AsyncAgent *agent) {
  Block &block = *thread.block;
  Block *owner = &block;
  if (thread.clusterSize > 1)
    if (Block *other = block.cluster.ownerOf(address))
      owner = other;
  uint64_t offset = static_cast<const char *>(address) - owner->shared;
  if (offset >= sharedCapacity || offset + size > thread.sharedBytes) {
    // Without checks this still keeps the host's memory safe.
    int64_t signedOffset = int64_t(offset);
    block.find(thread, FindingKind::OutOfBounds,
               verb(kind) + bytes(size) + " at byte " + std::to_string(signedOffset) +
                   " of shared memory, which has " + bytes(thread.sharedBytes));
    return false;
  }
  Accessor who = agent ? block.agentAccessor(thread, *agent, false)
                       : block.accessor(thread, false);
  if (owner != &block && !owner->admitPeer(thread, who.record))
    return false;
  if (!block.checks())
    return true;
  if (offset & (alignment - 1))
    checkAlignment(thread, address, size, alignment);
  owner->sharedAccess(who, uint32_t(offset), size, kind);
  return true;
}

bool tilec::emulator::checkGlobal(ThreadContext &thread, const void *address,
                                  uint64_t size, uint32_t alignment, AccessKind kind,
                                  const AsyncAgent *agent) {
  Block &block = *thread.block;
  if (!block.checks())
    return true;
  GlobalMemory &globals = *block.launch.globals;
  const char *p = static_cast<const char *>(address);
  const GlobalMemory::Range *range = globals.find(p, size, thread.lastRange);
  if (!range) {
    if (block.stacks.contains(address))
      return true; // a private variable behind a generic pointer
    block.find(thread, FindingKind::OutOfBounds,
               verb(kind) + bytes(size) + " of global memory " +
                   globals.describe(p, size));
    return false;
  }
  if (block.launch.awaitsGrids && !thread.hasAwaitedGrids && !range->isConstant)
    block.find(thread, FindingKind::HelperMisuse,
               verb(kind) + bytes(size) + " of global memory before griddepcontrol.wait: "
               "grids ahead of this one may still write it");
  bool isRead = kind == AccessKind::Read || kind == AccessKind::AtomicRead;
  if (!isRead && !range->writable) {
    block.find(thread, FindingKind::OutOfBounds,
               verb(kind) + bytes(size) + " of '" + range->name +
                   "', which may only be read");
    return false;
  }
  if (reinterpret_cast<uintptr_t>(address) & (alignment - 1))
    checkAlignment(thread, address, size, alignment);
  EarlierAccess earlier;
  if (!range->cells)
    return true;
  block.acquirePending(thread);
  Accessor who = agent ? block.agentAccessor(thread, *agent, true)
                       : block.accessor(thread, true);
  if (globals.access(*range, p, size, who, kind, earlier))
    block.reportRace(who, kind, earlier,
                     range->name.empty() ? "global memory" : "'" + range->name + "'");
  return true;
}

//===--- called from generated code -----------------------------------------------===//

/// What a thread did before an atomic on global memory is published before the atomic
/// takes effect; what others published is taken at the thread's next step after it.
static void publishToBlocks(ThreadContext &thread, const void *address, const Site &site) {
  Block &block = *thread.block;
  block.acquirePending(thread);
  if (site.isWrite && (site.isRelease || thread.hasFenced))
    block.releaseToBlocks(thread, block.launch.handovers, address);
}

static bool allowed(ThreadContext &thread, const void *address, uint64_t size,
                    const Site &site) {
  AccessKind kind = site.isWrite ? (site.isAtomic ? AccessKind::Atomic : AccessKind::Write)
                    : site.isAtomic ? AccessKind::AtomicRead
                                    : AccessKind::Read;
  pauseSometimes(thread);
  if (inShared(thread, address))
    return checkShared(thread, address, uint32_t(size), site.alignment, kind);
  bool ordersBlocks = site.isAtomic && !site.isBlockScope;
  if (ordersBlocks)
    publishToBlocks(thread, address, site);
  bool inside = checkGlobal(thread, address, size, site.alignment, kind);
  if (ordersBlocks) {
    thread.acquireFrom = address;
    thread.acquiresNext = site.isAcquire || thread.hasFenced;
  }
  return inside;
}

static char *redirected(ThreadContext &thread, bool isWrite) {
  if (!isWrite)
    std::memset(thread.redirect, 0, sizeof thread.redirect);
  return thread.redirect;
}

/// Returns the address that the access at \p siteIndex may use.
static char *check(ThreadContext *thread, char *address, uint32_t siteIndex) {
  thread->site = siteIndex;
  const Site &site = thread->block->launch.log->site(siteIndex);
  if (allowed(*thread, address, site.size, site))
    return address;
  return redirected(*thread, site.isWrite);
}

/// Returns \p size when a copy may take place, zero otherwise.
static uint64_t checkRange(ThreadContext *thread, char *address, uint64_t size,
                           uint32_t siteIndex) {
  thread->site = siteIndex;
  if (size == 0)
    return 0;
  const Site &site = thread->block->launch.log->site(siteIndex);
  return allowed(*thread, address, size, site) ? size : 0;
}

/// Called once in many iterations of a loop: lets others run, so that a loop that
/// waits for another thread ends, and one that never ends is noticed.
static void refuel(ThreadContext *thread, uint32_t siteIndex) {
  thread->fuel = fuelPerTurn;
  thread->site = siteIndex;
  LaunchState &launch = thread->block->launch;
  if (std::chrono::steady_clock::now() > launch.deadline &&
      !launch.stop.exchange(true))
    thread->block->find(*thread, FindingKind::Timeout,
                        "a loop here still runs after " +
                            std::to_string(unsigned(launch.timeoutSeconds)) + " s");
  thread->block->yield(thread);
}

static void fence(ThreadContext *thread, uint32_t siteIndex) {
  thread->site = siteIndex;
  thread->block->fence(*thread);
}

static void trap(ThreadContext *thread, uint32_t siteIndex) {
  thread->site = siteIndex;
  thread->block->find(*thread, FindingKind::HelperMisuse,
                      "the kernel traps, or reaches code that was assumed unreachable");
  thread->block->exit(thread);
}

static void exitThread(ThreadContext *thread, uint32_t siteIndex) {
  thread->site = siteIndex;
  thread->block->exit(thread);
}

//===--- rounding functions that a compiler calls ----------------------------------===//

// LLVM passes and returns bfloat and half in the low bits of a vector register, as
// these C++ types do.
static __bf16 truncateFloatToBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value != value)
    bits |= 0x400000;
  else
    bits += 0x7FFF + ((bits >> 16) & 1);
  uint16_t upper = uint16_t(bits >> 16);
  __bf16 result;
  std::memcpy(&result, &upper, 2);
  return result;
}

/// Rounds to odd, so that a second rounding sees a sticky bit.
static float roundToOdd(double value) {
  float narrow = float(value);
  if (double(narrow) == value || value != value)
    return narrow;
  uint32_t bits;
  std::memcpy(&bits, &narrow, 4);
  if (value > 0 ? double(narrow) > value : double(narrow) < value)
    --bits;
  bits |= 1;
  std::memcpy(&narrow, &bits, 4);
  return narrow;
}

static __bf16 truncateDoubleToBF16(double value) {
  return truncateFloatToBF16(roundToOdd(value));
}

static _Float16 truncateFloatToHalf(float value) { return _Float16(value); }
static float extendHalfToFloat(_Float16 value) { return float(value); }
static _Float16 truncateDoubleToHalf(double value) { return _Float16(roundToOdd(value)); }

llvm::ArrayRef<RuntimeEntry> tilec::emulator::runtimeFunctions() {
  static const RuntimeEntry entries[] = {
      {symbol::check, reinterpret_cast<void *>(&check)},
      {symbol::checkRange, reinterpret_cast<void *>(&checkRange)},
      {symbol::refuel, reinterpret_cast<void *>(&refuel)},
      {symbol::fence, reinterpret_cast<void *>(&fence)},
      {symbol::available, reinterpret_cast<void *>(&checkAvailable)},
      {symbol::trap, reinterpret_cast<void *>(&trap)},
      {symbol::exit, reinterpret_cast<void *>(&exitThread)},
      {"__truncsfbf2", reinterpret_cast<void *>(&truncateFloatToBF16)},
      {"__truncdfbf2", reinterpret_cast<void *>(&truncateDoubleToBF16)},
      {"__truncsfhf2", reinterpret_cast<void *>(&truncateFloatToHalf)},
      {"__truncdfhf2", reinterpret_cast<void *>(&truncateDoubleToHalf)},
      {"__extendhfsf2", reinterpret_cast<void *>(&extendHalfToFloat)},
  };
  return entries;
}

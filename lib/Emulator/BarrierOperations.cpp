//===- BarrierOperations.cpp - barriers of the block, fences, and other simple operations -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: the arguments of bar.sync and its relatives (PTX ISA, section barrier{.cta}).
// Out: a Block::barrier call. Fences matter to the memory model only between blocks;
// within one the scheduler's switches are full fences already.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

using namespace tilec;
using namespace tilec::emulator;

namespace {

enum BarrierVariant : uint32_t {
  Aligned = 1,
  Counted = 2,
  Arrive = 4,
  Votes = 8,
  VoteAnd = 16,
  VoteOr = 32,
};

struct Plain {
  uint32_t id;
};
struct WithCount {
  uint32_t id, count;
};
struct WithVote {
  uint32_t id;
  bool vote;
};
struct WithCountAndVote {
  uint32_t id, count;
  bool vote;
};

void barrier(ThreadContext &thread, const void *arguments, void *result,
             uint32_t variant) {
  Block::BarrierArrival arrival{};
  arrival.id = as<Plain>(arguments).id;
  arrival.aligned = variant & Aligned;
  arrival.waits = !(variant & Arrive);
  if (variant & Counted)
    arrival.count = as<WithCount>(arguments).count;
  if (variant & Votes)
    arrival.vote = variant & Counted ? as<WithCountAndVote>(arguments).vote
                                     : as<WithVote>(arguments).vote;
  uint32_t votes = thread.block->barrier(&thread, arrival);
  uint32_t takingPart = arrival.count ? arrival.count : thread.block->numThreads;
  if (variant & VoteAnd)
    to<bool>(result) = votes == takingPart;
  else if (variant & VoteOr)
    to<bool>(result) = votes != 0;
  else if (variant & Votes)
    to<uint32_t>(result) = votes;
}

void nothing(ThreadContext &, const void *, void *, uint32_t) {}

void fence(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->fence(thread);
}

void fenceProxy(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->fenceForAsync(thread);
}

/// A relaxed arrival at the cluster's barrier then publishes the initialisations.
void fenceInit(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.hasFencedInit = true;
}

void awaitGrids(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.hasAwaitedGrids = true;
}

/// Whatever is launched next may count on all grids but this one being complete.
void launchDependents(ThreadContext &thread, const void *, void *, uint32_t) {
  if (thread.block->launch.awaitsGrids && !thread.hasAwaitedGrids)
    thread.block->find(thread, FindingKind::HelperMisuse,
                       "griddepcontrol.launch_dependents before griddepcontrol.wait");
}

/// nanosleep and reads of clocks: loops around them wait for another thread.
void pause(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->yield(&thread);
}

void clock(ThreadContext &thread, const void *, void *result, uint32_t bytes) {
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  thread.block->yield(&thread);
  if (bytes == 8)
    to<uint64_t>(result) = uint64_t(now);
  else
    to<uint32_t>(result) = uint32_t(now);
}

} // namespace

llvm::ArrayRef<OperationEntry> tilec::emulator::barrierOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.barrier.cta.sync.aligned.all", barrier, Aligned},
      {"llvm.nvvm.barrier.cta.sync.all", barrier, 0},
      {"llvm.nvvm.barrier.cta.sync.aligned.count", barrier, Aligned | Counted},
      {"llvm.nvvm.barrier.cta.sync.count", barrier, Counted},
      {"llvm.nvvm.barrier.cta.arrive.aligned.count", barrier,
       Aligned | Counted | Arrive},
      {"llvm.nvvm.barrier.cta.arrive.count", barrier, Counted | Arrive},
      {"llvm.nvvm.barrier.cta.red.popc.aligned.all", barrier, Aligned | Votes},
      {"llvm.nvvm.barrier.cta.red.popc.all", barrier, Votes},
      {"llvm.nvvm.barrier.cta.red.popc.aligned.count", barrier,
       Aligned | Votes | Counted},
      {"llvm.nvvm.barrier.cta.red.popc.count", barrier, Votes | Counted},
      {"llvm.nvvm.barrier.cta.red.and.aligned.all", barrier,
       Aligned | Votes | VoteAnd},
      {"llvm.nvvm.barrier.cta.red.and.all", barrier, Votes | VoteAnd},
      {"llvm.nvvm.barrier.cta.red.and.aligned.count", barrier,
       Aligned | Votes | VoteAnd | Counted},
      {"llvm.nvvm.barrier.cta.red.and.count", barrier, Votes | VoteAnd | Counted},
      {"llvm.nvvm.barrier.cta.red.or.aligned.all", barrier, Aligned | Votes | VoteOr},
      {"llvm.nvvm.barrier.cta.red.or.all", barrier, Votes | VoteOr},
      {"llvm.nvvm.barrier.cta.red.or.aligned.count", barrier,
       Aligned | Votes | VoteOr | Counted},
      {"llvm.nvvm.barrier.cta.red.or.count", barrier, Votes | VoteOr | Counted},
      {"llvm.nvvm.membar.cta", nothing},
      {"llvm.nvvm.membar.gl", fence},
      {"llvm.nvvm.membar.sys", fence},
      {"llvm.nvvm.fence.sc.cluster", fence},
      {"llvm.nvvm.fence.proxy.async*", fenceProxy},
      {"llvm.nvvm.fence.mbarrier_init.release.cluster", fenceInit},
      {"llvm.nvvm.nanosleep", pause},
      {"llvm.nvvm.read.ptx.sreg.clock", clock, 4},
      {"llvm.nvvm.read.ptx.sreg.clock64", clock, 8},
      {"llvm.nvvm.read.ptx.sreg.globaltimer", clock, 8},
      {"llvm.nvvm.prefetch.*", nothing},
      {"llvm.nvvm.prefetchu.*", nothing},
      {"llvm.nvvm.discard.*", nothing},
      {"llvm.nvvm.applypriority.*", nothing},
      {"llvm.nvvm.griddepcontrol.wait", awaitGrids},
      {"llvm.nvvm.griddepcontrol.launch.dependents", launchDependents},
      {"llvm.nvvm.pm.event.mask", nothing},
  };
  return entries;
}

const OperationEntry *tilec::emulator::findOperation(llvm::StringRef name) {
  const OperationEntry *best = nullptr;
  for (llvm::ArrayRef<OperationEntry> table :
       {warpOperations(), barrierOperations(), memoryBarrierOperations(),
        copyOperations(), bulkCopyOperations(), matrixOperations(), warpGroupOperations(),
        tensorMemoryOperations(), tensorProductOperations(),
        conversionOperations()}) {
    for (const OperationEntry &entry : table) {
      llvm::StringRef pattern = entry.name;
      bool matches = pattern.consume_back("*") ? name.starts_with(pattern)
                                               : name == pattern;
      if (matches && (!best || entry.name.size() > best->name.size()))
        best = &entry;
    }
  }
  return best;
}

//===- GlobalMemory.cpp - the arrays a kernel may touch, and their shadow -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: ranges and accesses. Out: bounds and races. Shadow cells come as untouched
// zero pages, so that the part of a large array that a kernel does not write costs
// nothing.
//
//===--------------------------------------------------------------------------===//
#include "GlobalMemory.h"

#include <algorithm>
#include <sys/mman.h>
#include <thread>

using namespace tilec;
using namespace tilec::emulator;

GlobalMemory::GlobalMemory(llvm::ArrayRef<GlobalRange> registered,
                           unsigned granuleLog2, bool withShadow)
    : granuleLog2(granuleLog2), locks(new std::atomic<bool>[numLocks]()) {
  for (const GlobalRange &r : registered) {
    if (!r.data || r.size == 0)
      continue;
    char *begin = static_cast<char *>(r.data);
    ranges.push_back({begin, begin + r.size, r.name, r.writable, nullptr, 0, r.isConstant});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  // Two views of one array share its cells: overlapping ranges become one.
  std::vector<Range> merged;
  for (Range &r : ranges) {
    if (merged.empty() || r.begin >= merged.back().end) {
      merged.push_back(std::move(r));
      continue;
    }
    Range &previous = merged.back();
    previous.end = std::max(previous.end, r.end);
    previous.writable |= r.writable;
    previous.isConstant &= r.isConstant;
  }
  ranges = std::move(merged);
  for (Range &r : ranges) {
    if (!r.writable || !withShadow)
      continue;
    size_t cells = (size_t(r.end - r.begin) >> granuleLog2) + 2;
    void *memory = mmap(nullptr, cells * sizeof(ShadowCell), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      continue; // bounds are still checked
    r.cells = static_cast<ShadowCell *>(memory);
    r.cellBytes = cells * sizeof(ShadowCell);
  }
}

GlobalMemory::~GlobalMemory() {
  for (Range &r : ranges)
    if (r.cells)
      munmap(r.cells, r.cellBytes);
}

const GlobalMemory::Range *GlobalMemory::search(const char *address, uint64_t size,
                                                const Range *&hint) const {
  auto it = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](const char *a, const Range &r) { return a < r.begin; });
  if (it == ranges.begin())
    return nullptr;
  --it;
  if (address >= it->end || size > uint64_t(it->end - address))
    return nullptr;
  hint = &*it;
  return hint;
}

std::string GlobalMemory::describe(const char *address, uint64_t size) const {
  const Range *nearest = nullptr;
  uint64_t distance = ~uint64_t(0);
  bool before = false;
  for (const Range &r : ranges) {
    bool isBefore = address < r.begin;
    uint64_t d = isBefore ? uint64_t(r.begin - address)
                          : (address >= r.end ? uint64_t(address - r.end) : 0);
    if (d < distance) {
      distance = d;
      nearest = &r;
      before = isBefore;
    }
  }
  if (!nearest || distance > (uint64_t(1) << 32))
    return "at an address near no array";
  std::string name = nearest->name.empty() ? "an array" : "'" + nearest->name + "'";
  if (before)
    return std::to_string(distance) + " bytes before the start of " + name;
  std::string extent = " (" + std::to_string(nearest->end - nearest->begin) + " bytes)";
  if (address < nearest->end)
    return "at byte " + std::to_string(address - nearest->begin) +
           ", across the end of " + name + extent;
  return std::to_string(distance) + " bytes past the end of " + name + extent;
}

bool GlobalMemory::access(const Range &range, const char *address, uint64_t size,
                          const Accessor &who, AccessKind kind,
                          EarlierAccess &earlier) {
  if (!range.cells)
    return false;
  // Granules lie at multiples of their size, wherever the range begins.
  auto granule = [&](const char *p) {
    return size_t(reinterpret_cast<uintptr_t>(p)) >> granuleLog2;
  };
  size_t first = granule(address) - granule(range.begin);
  size_t last = granule(address + size - 1) - granule(range.begin);
  bool race = false;
  for (size_t i = first; i <= last;) {
    // One lock covers 16 neighbouring cells.
    size_t group = i >> 4;
    std::atomic<bool> &lock =
        locks[((reinterpret_cast<uintptr_t>(range.cells) >> 12) + group) % numLocks];
    while (lock.exchange(true, std::memory_order_acquire))
      std::this_thread::yield();
    for (; i <= last && (i >> 4) == group; ++i) {
      EarlierAccess found;
      if (range.cells[i].access(who, kind, found) && !race) {
        race = true;
        earlier = found;
      }
    }
    lock.store(false, std::memory_order_release);
  }
  return race;
}

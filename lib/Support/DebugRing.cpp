//===- DebugRing.cpp - records from a kernel to the host -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The host's side; the kernel's is lib/Lowering/Debug.cpp. What a record holds is
// checked before it is believed: a kernel that writes where it should not may have
// damaged it.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/DebugRing.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>

using namespace tilec;

static uint64_t roundUp8(uint64_t bytes) { return (bytes + 7) & ~uint64_t(7); }

uint64_t DebugRing::valueOffset(const DebugSite &site, size_t index) {
  uint64_t offset = valuesAt;
  if (site.isAssertion)
    return offset + (index ? 8 : 0);
  for (size_t v = 0; v < index; ++v)
    offset += roundUp8(static_cast<uint64_t>(site.values[v].numElements()) *
                       dtypeBytes(site.values[v].dtype));
  return offset;
}

uint64_t DebugRing::capacityFor(std::span<const DebugSite> sites) {
  uint64_t capacity = uint64_t(4) << 20;
  for (const DebugSite &site : sites)
    while (capacity < 4 * recordBytes(site))
      capacity *= 2;
  return capacity;
}

DebugRing::DebugRing(void *given, uint64_t capacity, bool isZero)
    : memory(static_cast<char *>(given)), capacity(capacity) {
  uint64_t header[headerBytes / 8] = {};
  header[limitAt / 8] = capacity;
  header[maskAt / 8] = capacity - 1;
  if (!isZero)
    std::memset(memory + headerBytes, 0, capacity);
  std::memcpy(memory, header, sizeof header);
}

std::unique_ptr<DebugRing> DebugRing::allocate(uint64_t capacity) {
  void *memory = mmap(nullptr, headerBytes + capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto ring = std::make_unique<DebugRing>(memory, capacity, /*isZero=*/true);
  ring->isOwned = true;
  return ring;
}

DebugRing::~DebugRing() {
  if (isOwned)
    munmap(memory, bytes());
}

char *DebugRing::address(uint64_t position) const {
  return memory + headerBytes + (position & (capacity - 1));
}

uint64_t DebugRing::load(unsigned at) const {
  return std::atomic_ref(*reinterpret_cast<uint64_t *>(memory + at)).load(std::memory_order_acquire);
}

/// The first word of the record at `position`; 0 when it is not complete.
uint32_t DebugRing::awaitSite(uint64_t position, bool waits) const {
  std::atomic_ref word(*reinterpret_cast<uint32_t *>(address(position)));
  uint32_t site = word.load(std::memory_order_acquire);
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!site && waits && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    site = word.load(std::memory_order_acquire);
  }
  return site;
}

void DebugRing::read(uint64_t position, const Source &source, DebugLog &log) const {
  const DebugSite &site = *source.site;
  if (!site.isAssertion) {
    log.print(debugLine(site, [&](size_t v, size_t i) {
      size_t size = dtypeBytes(site.values[v].dtype);
      uint64_t word = 0;
      std::memcpy(&word, address(position + valueOffset(site, v) + i * size), size);
      return word;
    }));
    return;
  }
  std::array<int32_t, 3> block;
  for (unsigned d = 0; d < 3; ++d)
    std::memcpy(&block[d], address(position + blockAt + 4 * d), 4);
  int64_t index = 0;
  std::memcpy(&index, address(position + valuesAt), sizeof index);
  log.fail(site, source.kernel, block, index);
}

void DebugRing::drain(const std::function<Source(uint32_t)> &find, DebugLog &log, bool waits) {
  uint64_t end = load(cursorAt);
  while (next < end) {
    uint32_t site = awaitSite(next, waits);
    Source source = site ? find(site - 1) : Source();
    if (!source.site)
      break; // never completed, or damaged
    uint64_t size = recordBytes(*source.site);
    read(next, source, log);
    for (uint64_t at = 0; at < size; at += 8)
      std::memset(address(next + at), 0, 8);
    next += size;
    std::atomic_ref(*reinterpret_cast<uint64_t *>(memory + limitAt))
        .store(next + capacity, std::memory_order_release);
  }
  uint64_t dropped = load(droppedAt), unheard = load(unheardAt);
  log.lose(dropped - seenDropped, unheard - seenUnheard);
  seenDropped = dropped;
  seenUnheard = unheard;
}

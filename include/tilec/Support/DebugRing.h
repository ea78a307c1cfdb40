//===- DebugRing.h - records from a kernel to the host -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Memory that kernels write and the host reads, for `print` and `assert`: a header
// and a ring of bytes. Positions count bytes from the beginning of time; the byte at
// position p lies at p modulo the capacity, a power of two.
//
//   header   cursor     where the next record begins; moved by kernels (atomically)
//            limit      records end at or before it; moved by the host as it reads
//            dropped    prints that did not fit, counted by kernels
//            unheard    assertions that failed and did not fit
//            mask       capacity - 1
//
//   record   u32 site + 1 (written last, and zeroed by the host), i32 block x, y, z;
//            then each value at a multiple of 8 bytes, elements in row-major order as
//            arrays hold them. Of a failed assertion: the i64 row-major index of the
//            first element that is false.
//
// A record that does not fit is dropped whole, so reading never meets a gap. Kernels
// are still running when the host reads: a record that has begun and is not complete
// is waited for, shortly. The same memory serves a GPU (pinned host memory) and the
// emulator.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_DEBUGRING_H
#define TILEC_SUPPORT_DEBUGRING_H

#include "tilec/Support/DebugLog.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace tilec {

class DebugRing {
public:
  // Byte offsets in the header.
  static constexpr unsigned cursorAt = 0, limitAt = 8, droppedAt = 16, unheardAt = 24, maskAt = 32;
  static constexpr unsigned headerBytes = 64;
  // Byte offsets in a record.
  static constexpr unsigned siteAt = 0, blockAt = 4, valuesAt = 16;

  /// Where value `index` of a record of `site` begins; with the number of values, the
  /// record's size.
  static uint64_t valueOffset(const DebugSite &site, size_t index);
  static uint64_t recordBytes(const DebugSite &site) {
    return valueOffset(site, site.values.size());
  }

  /// A capacity that holds several of the largest record of `sites`.
  static uint64_t capacityFor(std::span<const DebugSite> sites);

  /// Takes memory of headerBytes + capacity, aligned to 8, and makes an empty ring of
  /// it. The memory stays the caller's, and is zero already if `isZero`.
  DebugRing(void *memory, uint64_t capacity, bool isZero = false);

  /// A ring in memory of its own, of which only what is used is backed.
  static std::unique_ptr<DebugRing> allocate(uint64_t capacity);
  ~DebugRing();
  DebugRing(const DebugRing &) = delete;
  DebugRing &operator=(const DebugRing &) = delete;

  void *data() const { return memory; }
  uint64_t bytes() const { return headerBytes + capacity; }

  struct Source {
    const DebugSite *site = nullptr;
    std::string_view kernel;
  };
  /// Puts all complete records into `log`. `find` gives the site of a number, or none.
  /// With `waits`, records that have begun are waited for, up to a second.
  void drain(const std::function<Source(uint32_t)> &find, DebugLog &log, bool waits);

private:
  uint64_t load(unsigned at) const;
  char *address(uint64_t position) const;
  uint32_t awaitSite(uint64_t position, bool waits) const;
  void read(uint64_t position, const Source &source, DebugLog &log) const;

  char *memory;
  uint64_t capacity;
  bool isOwned = false;
  uint64_t next = 0;                       // position of the next record to read
  uint64_t seenDropped = 0, seenUnheard = 0; // of the header's counts
};

} // namespace tilec

#endif // TILEC_SUPPORT_DEBUGRING_H

//===- GlobalMemory.h - the arrays a kernel may touch, and their shadow -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the ranges that the launch registers, and the module's own globals.
// Out: for an address, the range it lies in; for an access, whether it races.
//
// Only writable ranges have shadow cells. Blocks run on several host threads, so a
// cell is updated under one of a few thousand small locks.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_GLOBALMEMORY_H
#define TILEC_LIB_EMULATOR_GLOBALMEMORY_H

#include "Shadow.h"
#include "tilec/Emulator/Emulator.h"

#include <atomic>

namespace tilec::emulator {

class GlobalMemory {
public:
  struct Range {
    char *begin, *end;
    std::string name;
    bool writable;
    ShadowCell *cells = nullptr;
    size_t cellBytes = 0;
    bool isConstant = false;
  };

  /// \p granuleLog2 is the size of the smallest access in the kernel. Without
  /// \p withShadow there are bounds only.
  GlobalMemory(llvm::ArrayRef<GlobalRange> ranges, unsigned granuleLog2,
               bool withShadow);
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;
  ~GlobalMemory();

  /// The range that holds all of [address, address + size), or null. \p hint is
  /// where the last answer is kept.
  const Range *find(const char *address, uint64_t size, const Range *&hint) const {
    if (hint && address >= hint->begin && address < hint->end &&
        size <= uint64_t(hint->end - address))
      return hint;
    return search(address, size, hint);
  }

  /// Says in words where \p address is, relative to the nearest range.
  std::string describe(const char *address, uint64_t size) const;

  /// Notes an access inside of \p range; returns whether it races, and with what.
  bool access(const Range &range, const char *address, uint64_t size,
              const Accessor &who, AccessKind kind, EarlierAccess &earlier);

private:
  const Range *search(const char *address, uint64_t size, const Range *&hint) const;

  std::vector<Range> ranges; // sorted by begin
  unsigned granuleLog2;
  static constexpr size_t numLocks = 4096;
  std::unique_ptr<std::atomic<bool>[]> locks;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_GLOBALMEMORY_H

//===- FindingLog.h - the findings of a run, gathered from all host threads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The same defect shows once per thread, block and iteration. The log keeps one
// entry per kind and pair of source positions, with a count and the offender that
// comes first in (block, thread) order, so that a report does not depend on how
// blocks were spread over host threads.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_FINDINGLOG_H
#define TILEC_LIB_EMULATOR_FINDINGLOG_H

#include "tilec/Emulator/Emulator.h"

#include <map>
#include <mutex>
#include <tuple>

namespace tilec::emulator {

/// A place in the kernel that the report can name. Site 0 is "nowhere".
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  /// Of a memory access: its size in bytes (0: known at run time only), the
  /// alignment it needs, and how it accesses.
  uint32_t size = 0;
  uint32_t alignment = 1;
  bool isWrite = false, isAtomic = false;
  /// Of an atomic: orders memory between blocks before and after it.
  bool isRelease = false, isAcquire = false, isBlockScope = false;

  /// `file:line`, or "an unknown place".
  std::string place() const;
};

class FindingLog {
public:
  explicit FindingLog(const std::vector<Site> &sites) : sites(sites) {}

  /// Adds a finding at \p site; \p other tells defects at one site apart.
  void add(FindingKind kind, uint32_t site, uint32_t other, uint32_t block,
           uint32_t thread, std::string text);

  const Site &site(uint32_t index) const { return sites[index]; }

  std::vector<EmulatorFinding> take();

private:
  const std::vector<Site> &sites;
  std::mutex mutex;
  std::map<std::tuple<FindingKind, uint32_t, uint32_t>, EmulatorFinding> findings;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_FINDINGLOG_H

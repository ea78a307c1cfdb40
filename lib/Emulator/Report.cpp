//===- Report.cpp - findings and how they are printed -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: single findings from all host threads. Out: the sorted list of a report, and
// its text, one line a finding.
//
//===--------------------------------------------------------------------------===//
#include "FindingLog.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace tilec;
using namespace tilec::emulator;

llvm::StringRef tilec::findingKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::UninitialisedRead:
    return "uninitialised read";
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned access";
  case FindingKind::DivergentBarrier:
    return "divergent barrier";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::HelperMisuse:
    return "misuse";
  case FindingKind::Timeout:
    return "timeout";
  }
  return "finding";
}

bool EmulatorReport::has(FindingKind kind) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const EmulatorFinding &f) { return f.kind == kind; });
}

void EmulatorReport::print(llvm::raw_ostream &os) const {
  for (const EmulatorFinding &f : findings) {
    if (!f.file.empty())
      os << f.file << ':' << f.line << ':' << f.column << ": ";
    os << findingKindName(f.kind) << ": " << f.text << " (block " << f.block
       << ", thread " << f.thread;
    if (f.count > 1)
      os << "; " << f.count << " times";
    os << ")\n";
  }
}

std::string Site::place() const {
  if (file.empty())
    return "an unknown place";
  return file + ":" + std::to_string(line);
}

void FindingLog::add(FindingKind kind, uint32_t site, uint32_t other,
                     uint32_t block, uint32_t thread, std::string text) {
  std::lock_guard<std::mutex> guard(mutex);
  auto [it, isNew] = findings.try_emplace({kind, site, other});
  EmulatorFinding &f = it->second;
  if (!isNew) {
    ++f.count;
    if (std::tie(f.block, f.thread) <= std::tie(block, thread))
      return;
  }
  const Site &where = sites[site];
  f.kind = kind;
  f.file = where.file;
  f.line = where.line;
  f.column = where.column;
  f.block = block;
  f.thread = thread;
  f.text = std::move(text);
}

std::vector<EmulatorFinding> FindingLog::take() {
  // Unrolled code has many instructions for one place in the source: one finding.
  std::map<std::tuple<FindingKind, std::string, unsigned, unsigned, std::string>, size_t> places;
  std::vector<EmulatorFinding> result;
  for (auto &[key, finding] : findings) {
    auto [kind, site, other] = key;
    auto [it, isNew] = places.try_emplace(
        {kind, finding.file, finding.line, finding.column, sites[other].place()}, result.size());
    if (isNew || finding.file.empty()) {
      result.push_back(std::move(finding));
      continue;
    }
    EmulatorFinding &first = result[it->second];
    uint64_t count = first.count + finding.count;
    if (std::tie(finding.block, finding.thread) < std::tie(first.block, first.thread))
      first = std::move(finding);
    first.count = count;
  }
  auto key = [](const EmulatorFinding &f) {
    return std::tie(f.kind, f.file, f.line, f.column, f.block, f.thread, f.text);
  };
  std::sort(result.begin(), result.end(),
            [&](const EmulatorFinding &a, const EmulatorFinding &b) {
              return key(a) < key(b);
            });
  findings.clear();
  return result;
}

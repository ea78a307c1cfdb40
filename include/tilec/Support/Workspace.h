//===- Workspace.h - where blocks of a launch add up in memory ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The layout of the workspace that a build with sums in memory takes as a parameter
// (BuildInfo::sumBytes), known to the compiler and to all that launch:
//
//   u32 for each position of the grid    counters: zero before and after each launch
//   for each position, for each part     BuildInfo::sumBytes of what a block brings
//
// Counters take no less than `workspaceFixedCounters` bytes, so that launches of other
// grids do not leave sums where a small grid has counters.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_WORKSPACE_H
#define TILEC_SUPPORT_WORKSPACE_H

#include <cstdint>

namespace tilec {

inline constexpr int64_t workspaceAlignment = 256;
inline constexpr int64_t workspaceCounterBytes = 4;
inline constexpr int64_t workspaceFixedCounters = 16 * 1024;

/// Bytes of the counters of so many positions.
inline constexpr int64_t counterBytes(int64_t positions) {
  int64_t bytes = (positions * workspaceCounterBytes + workspaceAlignment - 1) &
                  -workspaceAlignment;
  return bytes < workspaceFixedCounters ? workspaceFixedCounters : bytes;
}

} // namespace tilec

#endif // TILEC_SUPPORT_WORKSPACE_H

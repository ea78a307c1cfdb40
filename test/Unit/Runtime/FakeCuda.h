//===- FakeCuda.h - control of the recording driver ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// FakeCuda.so has the entry points of libcuda that the runtime opens, for two
// made-up GPUs (sm_90 and sm_80) whose memory is host memory. Tests steer it
// through one object, found by the symbol `fakeCuda`.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_RUNTIME_FAKECUDA_H
#define TILEC_TEST_UNIT_RUNTIME_FAKECUDA_H

#include "CudaDriver.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tilec {

/// A tensor map as it was asked for; the encoding is its number, in the first word.
struct EncodedMap {
  int dtype = 0, swizzle = 0, promotion = 0;
  void *base = nullptr;
  std::vector<uint64_t> dims, pitches;
  std::vector<uint32_t> box;
};

struct FakeCuda {
  std::vector<EncodedMap> encodedMaps;
  /// Number of calls of each entry point, by name.
  std::map<std::string, int> calls;
  /// The next call of this entry point gives this result instead.
  std::map<std::string, int> failNext;
  /// Called for each launch.
  std::function<void(const cuda::LaunchConfig &, const std::string &symbol, void **params)>
      onLaunch;
  /// Shared memory opted in, by symbol.
  std::map<std::string, int> sharedOptIn;
  /// Of clusters of more than two, as many as these blocks are resident at once.
  unsigned residentBlocks = 120;
  /// Images handed to the driver.
  std::vector<std::string> images;
  /// Live allocations: address → device (-1: pinned host, -2: managed).
  std::map<cuda::DevicePtr, int> allocations;
  std::set<void *> streams, events;
  /// Numbers of streams, which are not given again; what is captured.
  std::map<void *, unsigned long long> streamNumbers;
  unsigned long long lastStream = 0;
  std::set<void *> capturing;
  /// What work with memory was put on a stream, in order: "alloc 4096", "clear 4096", "free".
  std::vector<std::pair<void *, std::string>> memoryWork;
  int contextDepth = 0; // pushes minus pops, over all threads
  /// Count calls (which allocates memory).
  bool counting = true;
};

} // namespace tilec

#endif // TILEC_TEST_UNIT_RUNTIME_FAKECUDA_H

//===- TensorMapCache.h - tensor maps of repeated launches --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The driver encodes a description (TensorMapPlan) into 128 bytes that depend on
// nothing else, no device or context. A program launches with the same few arrays
// again and again, so each thread keeps the last encodings. A slot is picked by the
// description's hash; another description that falls there takes its place.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_TENSORMAPCACHE_H
#define TILEC_LIB_RUNTIME_TENSORMAPCACHE_H

#include "CudaDriver.h"

#include "tilec/Support/TensorMapPlan.h"

#include <vector>

namespace tilec {

class TensorMapCache {
public:
  /// Writes the descriptor of `plan` to `out`.
  Expected<void> encode(const TensorMapPlan &plan, cuda::TensorMap &out);

private:
  static constexpr unsigned numSlots = 64;
  struct Slot {
    cuda::TensorMap map;
    TensorMapPlan plan;
    bool isUsed = false;
  };
  std::vector<Slot> slots; // made at the first use
};

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_TENSORMAPCACHE_H

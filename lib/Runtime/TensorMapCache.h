//===- TensorMapCache.h - tensor maps of repeated launches --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The driver encodes a description (TensorMapPlan) into 128 bytes that depend on
// nothing else, no device or context. A program launches with the same arrays again
// and again, so each thread keeps the encodings, until there are too many of them.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_TENSORMAPCACHE_H
#define TILEC_LIB_RUNTIME_TENSORMAPCACHE_H

#include "CudaDriver.h"

#include "tilec/Support/TensorMapPlan.h"

#include <unordered_map>

namespace tilec {

class TensorMapCache {
public:
  /// Writes the descriptor of `plan` to `out`.
  Expected<void> encode(const TensorMapPlan &plan, cuda::TensorMap &out);

private:
  struct Hash {
    size_t operator()(const TensorMapPlan &plan) const;
  };
  /// Programs that make new arrays all the time would fill the memory: then it starts anew.
  static constexpr size_t mostMaps = 4096;
  std::unordered_map<TensorMapPlan, cuda::TensorMap, Hash> maps;
};

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_TENSORMAPCACHE_H

//===- Shape.cpp - tiles made and reshaped -------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Operations that move elements. Each is a map from the linear index of a result
// element to that of a source element.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

using namespace mlir;

namespace tilec::interpreter {

/// A tile of `type` whose element i is element `f(coordinates of i)` of `source`.
template <typename F>
static HostTile gatherElements(const HostTile &source, RankedTensorType type, F f) {
  if (source.isSplat())
    return source.withType(type);
  HostTile result(type);
  llvm::SmallVector<int64_t, 6> at(type.getRank(), 0);
  for (size_t i = 0; i < result.size(); ++i) {
    result.copyElement(i, source, f(at));
    for (int64_t d = type.getRank() - 1; d >= 0 && ++at[d] == type.getDimSize(d); --d)
      at[d] = 0;
  }
  return result;
}

HostTile evaluateBroadcast(const HostTile &source, RankedTensorType type) {
  return gatherElements(source, type, [&](llvm::ArrayRef<int64_t> at) {
    size_t linear = 0;
    for (auto [d, size] : llvm::enumerate(source.shape()))
      linear = linear * size + (size == 1 ? 0 : at[d]);
    return linear;
  });
}

HostTile evaluatePermute(const HostTile &source, llvm::ArrayRef<int64_t> dims, RankedTensorType type) {
  llvm::SmallVector<int64_t, 6> sourceAt(dims.size());
  return gatherElements(source, type, [&](llvm::ArrayRef<int64_t> at) {
    for (auto [k, d] : llvm::enumerate(dims))
      sourceAt[d] = at[k];
    size_t linear = 0;
    for (auto [d, size] : llvm::enumerate(source.shape()))
      linear = linear * size + sourceAt[d];
    return linear;
  });
}

HostTile evaluateIota(RankedTensorType type) {
  HostTile result(type);
  for (size_t i = 0; i < result.size(); ++i)
    result.ints[i] = truncateTo(i, result.width());
  return result;
}

} // namespace tilec::interpreter

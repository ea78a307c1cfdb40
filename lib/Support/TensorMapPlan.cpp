//===- TensorMapPlan.cpp - what a tensor map describes ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Axes are turned around, strides become bytes, and the limits of the hardware
// (CUDA driver API, cuTensorMapEncodeTiled) are checked.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/TensorMapPlan.h"

using namespace tilec;

std::optional<TensorMapPlan> tilec::planTensorMap(const TensorMapInfo &map, const ArrayArg &array,
                                                  bool isStrided) {
  // The hardware has 2^32; a tile that is further away than 32 bits hold is taken to be at the
  // last place that leaves them room for it, where there must be nothing (Lowering/Copies.cpp).
  constexpr uint64_t largestTile = uint64_t(1) << 20;
  constexpr uint64_t maxDim = (uint64_t(1) << 31) - largestTile;
  constexpr uint64_t endOfPitches = uint64_t(1) << 40;
  if (array.rank < 1 || array.rank > static_cast<int>(maxTensorMapRank) ||
      map.box.size() != static_cast<size_t>(array.rank) ||
      reinterpret_cast<uintptr_t>(array.data) % 16 != 0)
    return std::nullopt;
  TensorMapPlan plan;
  plan.dtype = array.dtype;
  plan.rank = static_cast<uint8_t>(array.rank);
  plan.swizzleBytes = static_cast<uint8_t>(map.swizzleBytes);
  plan.base = array.data;
  uint64_t rowMajor = dtypeBytes(array.dtype); // pitch of the axis at hand, in bytes
  for (int i = 0; i < array.rank; ++i) {
    int axis = array.rank - 1 - i;
    auto dim = static_cast<uint64_t>(array.dims[axis]);
    if (dim == 0 || dim > maxDim)
      return std::nullopt;
    plan.dims[i] = dim;
    plan.box[i] = map.box[axis];
    uint64_t pitch = rowMajor;
    if (isStrided) {
      int64_t stride = array.strides[axis];
      if (stride <= 0 || static_cast<uint64_t>(stride) >= endOfPitches)
        return std::nullopt;
      pitch = static_cast<uint64_t>(stride) * dtypeBytes(array.dtype);
    }
    if (i == 0 ? pitch != dtypeBytes(array.dtype) : pitch % 16 != 0 || pitch >= endOfPitches)
      return std::nullopt;
    if (i > 0)
      plan.pitches[i - 1] = pitch;
    // Beyond the limit it is refused as soon as there is an axis further out.
    rowMajor = rowMajor > endOfPitches / dim ? endOfPitches : rowMajor * dim;
  }
  return plan;
}

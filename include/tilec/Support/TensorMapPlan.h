//===- TensorMapPlan.h - what a tensor map describes --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a build's TensorMapInfo and the array of a launch. Out: the description that
// the driver encodes for the GPU (CUtensorMap) and the emulator into a form of its
// own; or nothing, where no tensor map can describe the array:
//
//   an axis without elements or with more than 2^31 - 2^20
//   a pitch that is no multiple of 16 bytes, not positive, or 2^40 bytes or more
//   a base that is no multiple of 16 bytes, or an innermost axis with gaps
//
// A launch then takes a build that needs none.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_TENSORMAPPLAN_H
#define TILEC_SUPPORT_TENSORMAPPLAN_H

#include "tilec/Support/KernelArg.h"
#include "tilec/Support/KernelInfo.h"

#include <optional>

namespace tilec {

/// An array and a box in it. As in hardware, axis 0 is the innermost one; entries
/// beyond the rank are 1 (pitches: 0), so equal maps compare equal.
struct TensorMapPlan {
  DType dtype = DType::F32;
  uint8_t rank = 1;
  uint8_t swizzleBytes = 0;
  void *base = nullptr;
  uint64_t dims[maxTensorMapRank] = {1, 1, 1, 1, 1};
  uint64_t pitches[maxTensorMapRank - 1] = {}; ///< bytes from one to the next on axis 1 …
  uint32_t box[maxTensorMapRank] = {1, 1, 1, 1, 1};

  bool operator==(const TensorMapPlan &) const = default;
};

/// The map of `array`, or nothing where there can be none. Without `isStrided` the
/// array is row-major and its strides are not looked at.
std::optional<TensorMapPlan> planTensorMap(const TensorMapInfo &map, const ArrayArg &array,
                                           bool isStrided);

} // namespace tilec

#endif // TILEC_SUPPORT_TENSORMAPPLAN_H

//===- Plan.cpp - from a checked launch to one of the emulator -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: plan and arguments. Out: parameters cut into one piece each, and ranges. The
// range of a strided array is everything between its first and last element: gaps
// between rows count as inside, as they belong to the caller's array, too.
//
//===--------------------------------------------------------------------------===//
#include "tilec/Emulator/Plan.h"

using namespace tilec;

static GlobalRange rangeOf(const ArrayArg &array, const ParamInfo &param) {
  int64_t first = 0, last = 0; // element offsets
  for (int d = 0; d < array.rank; ++d) {
    if (array.dims[d] <= 0)
      return {nullptr, 0, param.name, param.isMutable};
    int64_t reach = (array.dims[d] - 1) * array.strides[d];
    (reach < 0 ? first : last) += reach;
  }
  int64_t bytes = dtypeBytes(array.dtype);
  return {static_cast<char *>(array.data) + first * bytes,
          uint64_t(last - first + 1) * uint64_t(bytes), param.name, param.isMutable};
}

EmulatorLaunch tilec::makeEmulatorLaunch(const KernelInfo &info, const LaunchPlan &plan,
                                         std::span<const KernelArg> args) {
  EmulatorLaunch launch;
  if (plan.build < info.builds.size()) {
    const BuildInfo &build = info.builds[plan.build];
    launch.symbol = build.symbol;
    launch.threads = {build.threads, 1, 1};
    launch.sharedBytes = build.sharedBytes;
  }
  launch.grid = {uint32_t(plan.numBlocks), 1, 1};
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    auto *begin = reinterpret_cast<const uint8_t *>(plan.params.data()) + plan.offsets[i];
    launch.parameters.emplace_back(begin, begin + plan.sizes[i]);
  }
  for (size_t i = 0; i < args.size() && i < info.params.size(); ++i)
    if (const auto *array = std::get_if<ArrayArg>(&args[i]))
      launch.globals.push_back(rangeOf(*array, info.params[i]));
  return launch;
}

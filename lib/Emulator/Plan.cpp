//===- Plan.cpp - from a checked launch to one of the emulator -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: plan and arguments. Out: parameters cut into one piece each, tensor maps in the
// emulator's form behind them, a workspace where blocks add up in memory, and ranges. Of a
// persistent build few blocks are started, so that each takes several positions of the
// grid. The range of a strided array is everything between its first and last element: gaps
// between rows count as inside, as they belong to the caller's array, too.
//
//===--------------------------------------------------------------------------===//
#include "tilec/Emulator/Plan.h"

#include "tilec/Emulator/TensorMap.h"
#include "tilec/Support/DebugRing.h"
#include "tilec/Support/Workspace.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

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

/// The emulator's form of a tensor map.
static EmulatedTensorMap encode(const TensorMapPlan &plan) {
  EmulatedTensorMap map;
  map.rank = plan.rank;
  map.elementBytes = uint8_t(dtypeBytes(plan.dtype));
  map.dtype = uint8_t(plan.dtype);
  map.swizzleBytes = plan.swizzleBytes;
  map.data = static_cast<uint8_t *>(plan.base);
  std::copy(std::begin(plan.dims), std::end(plan.dims), map.dims);
  std::copy(std::begin(plan.pitches), std::end(plan.pitches), map.strides);
  std::copy(std::begin(plan.box), std::end(plan.box), map.box);
  return map;
}

/// Multiprocessors of the emulated device, as far as they say how many blocks share a position.
static constexpr unsigned multiprocessors = 24;

/// Counters are zero, and what no block has written is NaN.
static void addWorkspace(EmulatorLaunch &launch, int64_t bytes, int64_t counters,
                         size_t parameter) {
  auto *memory = static_cast<uint8_t *>(std::aligned_alloc(size_t(workspaceAlignment), size_t(bytes)));
  if (!memory)
    return;
  std::memset(memory, 0, size_t(counters));
  std::memset(memory + counters, 0xff, size_t(bytes - counters));
  launch.workspace.reset(memory, [](uint8_t *p) { std::free(p); });
  std::memcpy(launch.parameters[parameter].data(), &memory, sizeof memory);
  launch.globals.push_back({memory, uint64_t(bytes), "the workspace of sums", true});
}

EmulatorLaunch tilec::makeEmulatorLaunch(const KernelInfo &info, const LaunchPlan &plan,
                                         std::span<const KernelArg> args) {
  EmulatorLaunch launch;
  if (plan.build < info.builds.size()) {
    const BuildInfo &build = info.builds[plan.build];
    launch.symbol = build.symbol;
    launch.threads = {build.threads, 1, 1};
    launch.sharedBytes = build.sharedBytes;
    launch.awaitsGrids = build.awaitsGrids;
    // As on a device that holds three clusters at once.
    constexpr unsigned clusters = 3;
    launch.cluster = clusterBlocks(build, plan, clusters);
    launch.grid[0] = uint32_t(physicalBlocks(build, plan, clusters * launch.cluster));
    if (build.sumBytes) {
      launch.grid[1] = blocksOfPosition(build, plan, multiprocessors);
      launch.grid[0] = uint32_t(plan.numBlocks);
    }
  } else {
    launch.grid[0] = uint32_t(plan.numBlocks);
  }
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    auto *begin = reinterpret_cast<const uint8_t *>(plan.params.data()) + plan.offsets[i];
    launch.parameters.emplace_back(begin, begin + plan.sizes[i]);
  }
  for (const TensorMapPlan &tensorMap : plan.tensorMaps) {
    EmulatedTensorMap map = encode(tensorMap);
    auto *begin = reinterpret_cast<const uint8_t *>(&map);
    launch.parameters.emplace_back(begin, begin + sizeof map);
  }
  for (size_t i = 0; i < args.size() && i < info.params.size(); ++i)
    if (const auto *array = std::get_if<ArrayArg>(&args[i]))
      launch.globals.push_back(rangeOf(*array, info.params[i]));
  if (plan.build < info.builds.size() && info.builds[plan.build].sumBytes)
    addWorkspace(launch, workspaceBytes(info.builds[plan.build], plan, multiprocessors),
                 counterBytes(plan.numBlocks), plan.offsets.size() - 1);
  if (info.sites.empty())
    return launch;
  // The last two before tensor maps: where to print, and the number of the first site.
  launch.debug = DebugRing::allocate(DebugRing::capacityFor(info.sites));
  if (launch.debug) {
    void *ring = launch.debug->data();
    std::memcpy(launch.parameters[plan.offsets.size() - 2].data(), &ring, sizeof ring);
    launch.globals.push_back({ring, launch.debug->bytes(), "the ring of prints", true});
  }
  return launch;
}

void tilec::collectDebugRecords(const KernelInfo &info, const EmulatorLaunch &launch,
                                DebugLog &log) {
  if (!launch.debug)
    return;
  auto find = [&](uint32_t number) -> DebugRing::Source {
    if (number >= info.sites.size())
      return {};
    return {&info.sites[number], info.name};
  };
  launch.debug->drain(find, log, /*waits=*/false);
}

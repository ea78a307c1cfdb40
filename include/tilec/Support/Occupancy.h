//===- Occupancy.h - how many blocks a multiprocessor holds --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: a chip, and what a block of a kernel takes. Out: the number of blocks that a
// multiprocessor holds at once, for each of its resources, and which of them decides.
// The units in which resources are given out are those of NVIDIA's occupancy calculator:
// registers by 256 a warp in each of the multiprocessor's four parts, shared memory by 128
// bytes with 1 KiB kept for each block.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_OCCUPANCY_H
#define TILEC_SUPPORT_OCCUPANCY_H

#include "tilec/Support/Target.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tilec {

struct Occupancy {
  std::optional<unsigned> byRegisters; ///< nothing where registers are not known
  unsigned bySharedMemory, byWarps, bySlots;

  /// Blocks; an upper bound where registers are not known.
  unsigned blocks() const {
    return std::min({byRegisters.value_or(bySlots), bySharedMemory, byWarps, bySlots});
  }
  /// What there is too little of for one block more: "registers and warps".
  std::string limit() const {
    std::string text;
    auto add = [&](bool isLimit, const char *name) {
      if (isLimit)
        text += text.empty() ? std::string(name) : std::string(" and ") + name;
    };
    add(byRegisters == blocks(), "registers");
    add(bySharedMemory == blocks(), "shared memory");
    add(byWarps == blocks(), "warps");
    add(bySlots == blocks(), "block slots");
    return text;
  }
};

/// `registers` a thread; 0: not known.
constexpr Occupancy occupancyOf(const Chip &chip, unsigned threads, unsigned registers,
                                unsigned sharedBytes) {
  auto roundUp = [](unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; };
  unsigned warps = std::max((threads + Chip::warpSize - 1) / Chip::warpSize, 1u);
  Occupancy result{};
  if (registers) {
    unsigned ofWarp = roundUp(registers * Chip::warpSize, Chip::registerUnit);
    unsigned warpsThatFit = Chip::registersPerSM / ofWarp / Chip::warpUnit * Chip::warpUnit;
    result.byRegisters = warpsThatFit / warps;
  }
  unsigned shared = roundUp(sharedBytes + Chip::sharedReservedPerBlock, Chip::sharedUnit);
  result.bySharedMemory = chip.sharedPerSM / shared;
  result.byWarps = chip.warpsPerSM / warps;
  result.bySlots = chip.blocksPerSM;
  return result;
}

} // namespace tilec
#endif // TILEC_SUPPORT_OCCUPANCY_H

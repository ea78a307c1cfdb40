//===- Target.h - what the compiler knows about a chip ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rows of Target.def as constants. Header only and standard library only,
// so the compiler and the runtime share it. A pass asks `chip.has(feature)`;
// only this table, Atoms and Target spell chip names.
//
//   const Chip *chip = findChip("sm_90a");       // null when unknown
//   if (chip->has(ChipFeature::Cluster)) …
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_TARGET_H
#define TILEC_SUPPORT_TARGET_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilec {

/// One bit a feature; Target.def says what each means.
enum class ChipFeature : uint32_t {
#define TILEC_CHIP_FEATURE(name, bit) name = 1u << bit,
#include "tilec/Support/Target.def"
};

/// One row of Target.def. Sizes are in bytes.
struct Chip {
  std::string_view name;       ///< as in `--gpu-arch` and PTX `.target`
  unsigned computeCapability;  ///< 10 * major + minor
  unsigned ptxVersion;         ///< 10 * major + minor
  unsigned sharedPerSM;        ///< bytes
  unsigned sharedPerBlock;     ///< bytes a kernel can opt in to
  unsigned warpsPerSM;
  unsigned blocksPerSM;
  uint32_t features;

  static constexpr unsigned registersPerSM = 65536;
  static constexpr unsigned registersPerThread = 255;
  static constexpr unsigned threadsPerBlock = 1024;
  static constexpr unsigned warpSize = 32;
  static constexpr unsigned sharedReservedPerBlock = 1024;
  /// In what units a multiprocessor gives out registers (to a warp), warps (among its
  /// parts) and bytes of shared memory.
  static constexpr unsigned registerUnit = 256, warpUnit = 4, sharedUnit = 128;

  constexpr bool has(ChipFeature feature) const {
    return features & static_cast<uint32_t>(feature);
  }
  /// Code for this chip runs on no other (`a` in the name).
  constexpr bool isArchSpecific() const { return name.back() == 'a'; }
};

namespace detail {
// The features' bare names, as the rows of the table spell them.
#define TILEC_CHIP_FEATURE(name, bit) inline constexpr uint32_t name = 1u << bit;
#include "tilec/Support/Target.def"

inline constexpr Chip chipTable[] = {
#define TILEC_CHIP(name, capability, ptx, smPool, blockPool, warps, blocks, features) \
  Chip{name, capability, ptx, smPool * 1024u, blockPool * 1024u, warps, blocks, features},
#include "tilec/Support/Target.def"
};
} // namespace detail

/// All chips, in the order of the table (oldest first).
constexpr std::span<const Chip> allChips() { return detail::chipTable; }

/// The row called `name`, or null.
constexpr const Chip *findChip(std::string_view name) {
  for (const Chip &chip : detail::chipTable)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

/// The best row for a device of this capability (10 * major + minor): the one
/// with the most features among those that run there, or null when the device
/// is older than the table. A newer device gets the newest row that is not
/// specific to its chip.
constexpr const Chip *findChipForDevice(unsigned capability) {
  const Chip *best = nullptr;
  for (const Chip &chip : detail::chipTable) {
    bool runs = chip.isArchSpecific() ? chip.computeCapability == capability
                                      : chip.computeCapability <= capability;
    if (runs && (!best || chip.computeCapability >= best->computeCapability))
      best = &chip;
  }
  return best;
}

/// "sm_80, sm_86, …", for messages.
inline std::string chipNames() {
  std::string text;
  for (const Chip &chip : detail::chipTable)
    text.append(text.empty() ? "" : ", ").append(chip.name);
  return text;
}

} // namespace tilec
#endif // TILEC_SUPPORT_TARGET_H

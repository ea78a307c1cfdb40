//===- KernelHints.h - what a kernel asks of the compiler -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Hints are an attribute of tile.kernel, by key: `num_warps`, and `sm_90a.num_warps` for
// one chip. A pass that cannot follow one says why:
//
//   tile.declined_hints = {cluster = "no two blocks of the grid load the same tiles"}
//
// A hint that all builds of a kernel decline is worth a warning; one that any follows has
// done its work.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_KERNELHINTS_H
#define TILEC_TILE_KERNELHINTS_H

#include "tilec/Tile/TileOps.h"

#include <optional>

namespace tilec::tile {

inline constexpr llvm::StringLiteral declinedHintsAttr = "tile.declined_hints";

/// `chip` is empty for a hint to all.
inline std::string hintKey(llvm::StringRef chip, llvm::StringRef name) {
  return chip.empty() ? name.str() : (chip + "." + name).str();
}

/// A hint that `kernel` has: its key and value.
struct KernelHint {
  std::string key;
  int64_t value;
};

/// The hint `name` of `kernel`: best the one for `chip`, else the one for all chips.
std::optional<KernelHint> findHint(KernelOp kernel, llvm::StringRef chip,
                                   llvm::StringRef name);

/// Takes note that `kernel` does not follow its hint `name`, if it has one.
void declineHint(KernelOp kernel, llvm::StringRef chip, llvm::StringRef name,
                 const llvm::Twine &why);

} // namespace tilec::tile

#endif // TILEC_TILE_KERNELHINTS_H

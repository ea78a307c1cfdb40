//===- Hints.h - what a kernel asks of a chip ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_HINTS_H
#define TILEC_LIB_TRANSFORMS_HINTS_H

#include "tilec/Tile/KernelHints.h"

namespace tilec {

/// The value of the hint `name` of `kernel`: best the one for `chip`, else the one for all
/// chips.
inline std::optional<int64_t> hintOf(tile::KernelOp kernel, llvm::StringRef chip,
                                     llvm::StringRef name) {
  std::optional<tile::KernelHint> hint = tile::findHint(kernel, chip, name);
  return hint ? std::optional<int64_t>(hint->value) : std::nullopt;
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_HINTS_H

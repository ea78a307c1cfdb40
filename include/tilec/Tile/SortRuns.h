//===- SortRuns.h - what is known of the runs that are sorted -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Sorting k elements takes log k stages of a bitonic network, of which the last makes a
// sorted run of one that first rises and then falls, or the other way round. ExpandSorts
// knows where runs are so (top-k: the lesser elements of one that rises and one that
// falls) and says it with this attribute of `tile.sort`, which `tgpu.sort` inherits:
//
//   %z = tile.sort(%y) axis 2 unsigned {tile.bitonic_runs}     the last stage only
//
// It is free to be dropped: a sort without it does all stages.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_SORTRUNS_H
#define TILEC_TILE_SORTRUNS_H

#include "llvm/ADT/StringRef.h"

namespace tilec::tile {

inline constexpr llvm::StringLiteral bitonicRunsAttr = "tile.bitonic_runs";

} // namespace tilec::tile

#endif // TILEC_TILE_SORTRUNS_H

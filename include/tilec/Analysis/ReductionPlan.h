//===- ReductionPlan.h - where a reduction's operands meet -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the layout of a tile and the axes to reduce. Out: which bits of register, lane
// and warp run along these axes, so over which elements are combined inside a thread,
// by shuffles, and through shared memory; and the layouts of what comes out.
//
// The plan is for layouts in which every basis runs either along the axes or along
// the kept dims and no element has copies but by redundant (zero) bits. Others, such
// as swizzles, are converted to `reducibleLayout` first.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_REDUCTIONPLAN_H
#define TILEC_ANALYSIS_REDUCTIONPLAN_H

#include "tilec/Layout/Layout.h"

namespace tilec {

struct ReductionPlan {
  llvm::SmallVector<unsigned> axisRegisters; ///< register bits along the axes
  llvm::SmallVector<unsigned> keptRegisters; ///< register bits along kept dims
  llvm::SmallVector<unsigned> axisLanes, axisWarps;

  Layout result;   ///< of the reduced tile: kept register bits, all lanes and warps
  Layout partial;  ///< of [warps along the axes, kept…] when each warp stops at its own
  Layout gathered; ///< the same tile, the first dim in registers
  bool crossesWarps() const { return !axisWarps.empty(); }
};

/// Nullopt when the layout has to be converted first.
std::optional<ReductionPlan> planReduction(const Layout &layout,
                                           llvm::ArrayRef<int64_t> axes);

/// A layout of `shape` that can be reduced along any axes.
Layout reducibleLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps);

} // namespace tilec

#endif // TILEC_ANALYSIS_REDUCTIONPLAN_H

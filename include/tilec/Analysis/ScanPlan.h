//===- ScanPlan.h - where an axis lies, bit by bit -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the layout of a tile and an axis along which order matters (scans, sorts). Out:
// the home of each bit of the position along the axis, from the lowest:
//
//   tensor<1024xf32, register [(1), (2), (512)] lane [(4) … (64)] warp [(128), (256)]>
//     →  register 0, register 1, lane 0 … lane 4, warp 0, warp 1, register 2
//
// The plan is for layouts in which each basis is one bit along the axis, or lies beside
// it, and no register is a copy. `scannableLayout` is such a layout for any tile.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_SCANPLAN_H
#define TILEC_ANALYSIS_SCANPLAN_H

#include "tilec/Layout/Layout.h"

namespace tilec {

struct ScanPlan {
  struct Bit {
    Input home;
    unsigned bit; ///< of the register, lane or warp number
  };
  llvm::SmallVector<Bit> bits;               ///< lowest first
  llvm::SmallVector<unsigned> keptRegisters; ///< register bits beside the axis

  bool crossesWarps() const;
  /// The bits of register, lane or warp numbers along the axis.
  uint64_t mask(Input home) const;
};

/// Nullopt when the layout has to be converted first.
std::optional<ScanPlan> planScan(const Layout &layout, unsigned axis);

/// A tile of more registers than a thread has, as pieces: a piece is the elements of the
/// lowest register bits, the higher ones are its number.
struct ScanPieces {
  ScanPlan plan; ///< of one piece
  /// Bits of the number: along the axis, from the lowest; beside it.
  llvm::SmallVector<uint64_t> along, beside;
};

/// Nullopt where the tile is one piece, or a piece is not one run along the axis.
std::optional<ScanPieces> splitScan(const ScanPlan &plan, unsigned pieceBits);

/// Coalesced, with as few warps along the axis as can be.
Layout scannableLayout(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned numWarps);

/// `layout`, or one whose lowest bits along the axis are registers, then lanes, then warps,
/// where a sorting network costs less there by more than the way there and back.
Layout cheapestToSort(const Layout &layout, unsigned axis, unsigned numWarps);

} // namespace tilec

#endif // TILEC_ANALYSIS_SCANPLAN_H

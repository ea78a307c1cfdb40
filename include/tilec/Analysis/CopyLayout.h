//===- CopyLayout.h - how threads share a copy to shared memory ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A copy by cp.async has no registers, but a layout all the same: which thread moves
// which piece, in which turn. Buffers are planned for it, and it is what the code follows.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_COPYLAYOUT_H
#define TILEC_ANALYSIS_COPYLAYOUT_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// Bytes that one thread moves at a time.
inline constexpr int64_t copyPieceBytes = 16;

/// Warps of a block, at most.
inline constexpr int64_t maxWarps = 32;

/// Warps that only copy, where a kernel has such: a whole warp group, as registers are shared
/// out among groups.
inline constexpr int64_t copyingWarps = 4;

/// Why a block whose `numWarps` warps compute has none that copy besides, in words; null: it can.
inline const char *copyingWarpsObstacle(int64_t numWarps) {
  return numWarps % copyingWarps              ? "they are no groups of four"
         : numWarps + copyingWarps > maxWarps ? "a block has no more warps"
                                              : nullptr;
}

/// A tile whose dim d runs along array dim `arrayDims[d]`: pieces of `pieceBytes` along the
/// innermost of them (less where it is shorter), lanes along memory. Threads for which
/// there is no piece hold copies, and have nothing to do.
Layout copyLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> arrayDims,
                  unsigned elementBytes, unsigned numWarps,
                  int64_t pieceBytes = copyPieceBytes);

} // namespace tilec

#endif // TILEC_ANALYSIS_COPYLAYOUT_H

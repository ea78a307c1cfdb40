//===- Windows.h - loads of one array that overlap -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_WINDOWS_H
#define TILEC_LIB_TRANSFORMS_WINDOWS_H

#include "AccessCost.h"

namespace tilec {

/// The dims of the tile along which other loads of the same block begin a few elements further
/// or nearer, fastest first, but for that of a thread's vector.
llvm::SmallVector<unsigned, 4> windowDims(tile::LoadOp load, const TileAccess &access);

/// coalescedLayout, but that what a thread has beside its vector are neighbours along
/// `windows`, by turns.
Layout windowLayout(const TileAccess &access, unsigned numWarps, llvm::ArrayRef<unsigned> windows);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_WINDOWS_H

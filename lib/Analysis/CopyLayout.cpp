//===- CopyLayout.cpp - how threads share a copy to shared memory ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tile and the array dims that it runs along. Out: the layout of the copy. Lanes go
// along the fastest dim first, so that a warp reads whole lines; dims of one element come
// last, since they are no step in memory.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/CopyLayout.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilec;

Layout tilec::copyLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> arrayDims,
                         unsigned elementBytes, unsigned numWarps,
                         int64_t pieceBytes) {
  llvm::SmallVector<unsigned, 6> order;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    order.push_back(dim);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(shape[a] == 1, -arrayDims[a]) < std::pair(shape[b] == 1, -arrayDims[b]);
  });
  int64_t piece = std::min(pieceBytes / int64_t(elementBytes), shape[order.front()]);
  return Layout::coalesced(shape, order, piece, 32, numWarps);
}

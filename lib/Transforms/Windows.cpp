//===- Windows.cpp - loads of one array that overlap -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a load by elements, of an array that nobody writes, beside others of the same array and
// shape whose places differ by constants, as those of a filter or a stencil do:
//
//   %a = tile.load %x[%n, %y, %c] elements : … -> tensor<1x8x64xf16>
//   %b = tile.load %x[%n, %y + 1, %c] elements : … -> tensor<1x8x64xf16>
//
// Out: the layout of such a tile. A thread that has rows 0 and 1 of %a, and so of %b, has row 1
// for both: lowering reads it once (Lowering/Memory.cpp), and what is computed from it alone,
// such as a conversion, is computed once. With rows 0 and 4, as a coalesced layout deals them,
// it has nothing in common. Lanes along the fastest dim stay as they are.
//
//===------------------------------------------------------------------------===//
#include "Windows.h"

#include "tilec/Analysis/IndexOffset.h"
#include "tilec/Tile/BuildFacts.h"

using namespace mlir;
using namespace tilec;

/// How much further `other` begins along each dim; none where that is not known.
static std::optional<SmallVector<int64_t>> distance(tile::LoadOp load, tile::LoadOp other) {
  if (other.getArray() != load.getArray() || other.getType() != load.getType() ||
      !other.getElements() || other.getOrder() != load.getOrder())
    return std::nullopt;
  SmallVector<int64_t> result;
  for (auto [from, to] : llvm::zip_equal(load.getIndex(), other.getIndex())) {
    OffsetIndex a = takeOffset(from), b = takeOffset(to);
    if (a.base != b.base)
      return std::nullopt;
    result.push_back(b.offset - a.offset);
  }
  return result;
}

SmallVector<unsigned, 4> tilec::windowDims(tile::LoadOp load, const TileAccess &access) {
  SmallVector<unsigned, 4> dims;
  // Accesses of single elements, with a check each, leave no registers for what is kept.
  if (!load.getElements() || load.getArray().getType().isMut() ||
      !tile::relies(load->getParentOfType<tile::KernelOp>(), BuildFact::Aligned16))
    return dims;
  ArrayRef<int64_t> shape = access.tile.getShape();
  llvm::SmallBitVector found(unsigned(shape.size()));
  for (auto other : load->getBlock()->getOps<tile::LoadOp>()) {
    std::optional<SmallVector<int64_t>> apart = distance(load, other);
    if (!apart)
      continue;
    for (auto [dim, steps] : llvm::enumerate(*apart))
      if (steps && std::abs(steps) < shape[dim])
        found.set(unsigned(dim));
  }
  for (unsigned dim : ArrayRef(access.order).drop_front())
    if (found[dim])
      dims.push_back(dim);
  return dims;
}

Layout tilec::windowLayout(const TileAccess &access, unsigned numWarps, ArrayRef<unsigned> windows) {
  ArrayRef<int64_t> shape = access.tile.getShape();
  int64_t share = std::max<int64_t>(access.tile.getNumElements() / (32 * numWarps), 1);
  SmallVector<int64_t> left(shape), perThread(shape.size(), 1), lanes(shape.size(), 1), warps(shape.size(), 1);
  auto deal = [&](SmallVector<int64_t> &to, unsigned dim, int64_t most) {
    int64_t count = std::min(left[dim], most);
    to[dim] *= count;
    left[dim] /= count;
    return count;
  };
  share /= deal(perThread, access.order[0], std::min(access.maxVector, share));
  for (bool isDealt = true; isDealt && share > 1;) {
    isDealt = false;
    for (unsigned dim : windows)
      if (share > 1 && deal(perThread, dim, 2) == 2) {
        share /= 2;
        isDealt = true;
      }
  }
  int64_t lanesLeft = 32, warpsLeft = numWarps;
  for (unsigned dim : access.order)
    lanesLeft /= deal(lanes, dim, lanesLeft);
  for (unsigned dim : llvm::reverse(access.order))
    warpsLeft /= deal(warps, dim, warpsLeft);
  // Those that find no work hold copies.
  lanes[access.order[0]] *= lanesLeft;
  warps[access.order[0]] *= warpsLeft;
  return Layout::blocked(shape, perThread, lanes, warps, access.order);
}

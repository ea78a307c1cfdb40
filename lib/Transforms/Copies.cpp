//===- Copies.cpp - what copies write: views of loads and stores ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a load or store. Out: the tile that computation sees, and which of its dims runs
// along which dim of the array.
//
//   %x = tile.load %k[%b, %h, %j, %z] : … -> tensor<1x1x128x64xbf16>
//   %y = tile.reshape %x : … -> tensor<128x64xbf16>        runs along array dims [2, 3]
//   %t = tile.permute %y [1, 0] : … -> tensor<64x128xbf16> runs along array dims [3, 2]
//
//===------------------------------------------------------------------------===//
#include "Copies.h"

#include "tilec/TileGPU/TileGPU.h"

using namespace mlir;
using namespace tilec;

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

/// The dims of `from` that are left when some of size one are dropped to give `to`.
static std::optional<SmallVector<int64_t>> keptDims(ArrayRef<int64_t> from,
                                                    ArrayRef<int64_t> to) {
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(from)) {
    bool isNext = kept.size() < to.size() && size == to[kept.size()];
    // A dim of size one goes when what follows would not fit otherwise.
    bool mustGo = size == 1 && from.size() - dim > to.size() - kept.size();
    if (isNext && !mustGo)
      kept.push_back(int64_t(dim));
    else if (size != 1)
      return std::nullopt;
  }
  if (kept.size() != to.size())
    return std::nullopt;
  return kept;
}

/// Follows `view` to those of its users that compute; false when one sees other elements.
static bool follow(const TileView &view, std::vector<TileView> &ends) {
  bool isEnd = false;
  for (Operation *user : view.tile.getUsers()) {
    TileView next;
    if (auto permute = dyn_cast<tile::PermuteOp>(user)) {
      next.tile = permute.getResult();
      for (int64_t dim : permute.getDims())
        next.arrayDims.push_back(view.arrayDims[dim]);
    } else if (auto reshape = dyn_cast<tile::ReshapeOp>(user)) {
      if (!isa<RankedTensorType>(reshape.getType()))
        return false;
      auto kept = keptDims(shapeOf(view.tile), shapeOf(reshape.getResult()));
      if (!kept)
        return false;
      next.tile = reshape.getResult();
      for (int64_t dim : *kept)
        next.arrayDims.push_back(view.arrayDims[dim]);
    } else {
      isEnd = true;
      continue;
    }
    if (!follow(next, ends))
      return false;
  }
  if (isEnd)
    ends.push_back(view);
  return true;
}

std::vector<TileView> tilec::viewsOf(tile::LoadOp load) {
  TileView whole{load.getResult(), {}};
  for (unsigned dim = 0; dim < shapeOf(load.getResult()).size(); ++dim)
    whole.arrayDims.push_back(load.getArrayDim(dim));
  std::vector<TileView> ends;
  if (!follow(whole, ends))
    ends.clear();
  return ends;
}

TileView tilec::storedView(tile::StoreOp store) {
  TileView view{store.getValue(), {}};
  for (unsigned dim = 0; dim < shapeOf(store.getValue()).size(); ++dim)
    view.arrayDims.push_back(store.getArrayDim(dim));
  while (auto reshape = view.tile.getDefiningOp<tile::ReshapeOp>()) {
    if (!isa<RankedTensorType>(reshape.getSource().getType()))
      break;
    auto kept = keptDims(shapeOf(view.tile), shapeOf(reshape.getSource()));
    if (!kept || kept->size() < 2)
      break;
    TileView inner{reshape.getSource(), {}};
    for (int64_t dim : *kept)
      inner.arrayDims.push_back(view.arrayDims[dim]);
    view = inner;
  }
  return view;
}

Layout tilec::engineBuffer(RankedTensorType type, ArrayRef<unsigned> order) {
  int64_t bytes = tgpu::BufferType::storedBytes(type.getElementType());
  int64_t rowBytes = type.getDimSize(order.front()) * bytes;
  unsigned swizzle = rowBytes >= 128 ? 128 : rowBytes >= 32 ? unsigned(rowBytes) : 0;
  return Layout::swizzled(type.getShape(), order, unsigned(bytes) * 8, swizzle);
}

Layout tilec::engineBuffer(const TileView &view) {
  auto type = cast<RankedTensorType>(view.tile.getType());
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return view.arrayDims[a] > view.arrayDims[b]; });
  return engineBuffer(type, order);
}

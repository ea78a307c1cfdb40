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
// And of an atomic operation the tile of the array that its indices name, if they do:
//
//   atomic_add(a, [i * 64 + arange(64)[:, None], arange(128)], x)     from element (i * 64, 0)
//
//===------------------------------------------------------------------------===//
#include "Copies.h"

#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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

TileView tilec::wholeView(tile::LoadOp load) {
  TileView view{load.getResult(), {}};
  for (unsigned dim = 0; dim < cast<RankedTensorType>(load.getType()).getRank(); ++dim)
    view.arrayDims.push_back(load.getArrayDim(dim));
  return view;
}

bool tilec::isForProducts(tile::LoadOp load) {
  return llvm::any_of(viewsOf(load), [](const TileView &view) {
    return llvm::any_of(view.tile.getUsers(), llvm::IsaPred<tile::MmaOp>);
  });
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

//===------------------------------------------------------------------------===//
// Tiles by index
//===------------------------------------------------------------------------===//

namespace {

/// What is known of a tile of indices: a start, and the dim along which they count up by
/// one from there; no dim: all are the same.
struct Counting {
  IndexedTile::Start start;
  std::optional<unsigned> dim;
};

} // namespace

/// Dims of one element come and go: the dim of `to` that is dim `dim` of `from`.
static std::optional<unsigned> reshapedDim(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                           unsigned dim) {
  auto wide = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(llvm::make_filter_range(llvm::seq<unsigned>(0, shape.size()),
                                                   [=](unsigned i) { return shape[i] != 1; }));
  };
  SmallVector<unsigned> wideFrom = wide(from), wideTo = wide(to);
  if (wideFrom.size() != wideTo.size())
    return std::nullopt;
  for (auto [a, b] : llvm::zip_equal(wideFrom, wideTo))
    if (a == dim && from[a] == to[b])
      return b;
  return std::nullopt;
}

static std::optional<Counting> countingOf(Value tile, unsigned depth = 0);

/// The sum or difference of two.
static std::optional<Counting> combine(Operation *op, unsigned depth) {
  std::optional<Counting> a = countingOf(op->getOperand(0), depth + 1);
  std::optional<Counting> b = countingOf(op->getOperand(1), depth + 1);
  bool isDifference = isa<arith::SubIOp>(op);
  if (!a || !b || (b->dim && (a->dim || isDifference)))
    return std::nullopt;
  a->start.plus.append(isDifference ? b->start.minus : b->start.plus);
  a->start.minus.append(isDifference ? b->start.plus : b->start.minus);
  a->start.constant += isDifference ? -b->start.constant : b->start.constant;
  if (b->dim)
    a->dim = b->dim;
  return a;
}

/// By walking definitions. Only numbers of 64 bits: shorter ones wrap within an array.
static std::optional<Counting> countingOf(Value tile, unsigned depth) {
  constexpr unsigned maxDepth = 16;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > maxDepth || !getElementTypeOrSelf(tile.getType()).isIndex())
    return std::nullopt;
  DenseIntElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)))
    return constant.isSplat() ? std::optional(Counting{
                                    {{}, {}, constant.getSplatValue<APInt>().getSExtValue()}, {}})
                              : std::nullopt;
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return Counting{{{splat.getOperand()}, {}, 0}, {}};
  if (isa<tile::IotaOp>(op))
    return Counting{{}, 0};
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return combine(op, depth);
  if (!isa<tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp, tile::ConvertLayoutOp>(op) ||
      !isa<RankedTensorType>(op->getOperand(0).getType()))
    return std::nullopt;
  std::optional<Counting> counting = countingOf(op->getOperand(0), depth + 1);
  if (!counting || !counting->dim || isa<tile::ConvertLayoutOp>(op))
    return counting;
  unsigned dim = *counting->dim;
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(tile);
  if (from[dim] == 1) // it counts to one: all are the same
    counting->dim = std::nullopt;
  else if (auto permute = dyn_cast<tile::PermuteOp>(op))
    counting->dim = unsigned(llvm::find(permute.getDims(), dim) - permute.getDims().begin());
  else if (isa<tile::ReshapeOp>(op) && !(counting->dim = reshapedDim(from, to, dim)))
    return std::nullopt;
  return counting;
}

std::optional<IndexedTile> tilec::indexedTile(tile::AtomicOp atomic) {
  auto type = dyn_cast<RankedTensorType>(atomic.getIndex().front().getType());
  if (!type || !atomic.getValue())
    return std::nullopt;
  IndexedTile result{{atomic.getValue(), SmallVector<int64_t>(type.getRank(), -1)}, {}};
  MutableArrayRef<int64_t> arrayDims = result.view.arrayDims;
  SmallVector<int64_t> unused;
  for (auto [arrayDim, index] : llvm::enumerate(atomic.getIndex())) {
    std::optional<Counting> counting = countingOf(index);
    if (!counting)
      return std::nullopt;
    result.starts.push_back(counting->start);
    if (!counting->dim || type.getDimSize(*counting->dim) == 1)
      unused.push_back(int64_t(arrayDim));
    else if (std::exchange(arrayDims[*counting->dim], int64_t(arrayDim)) != -1)
      return std::nullopt;
  }
  // Dims of one element run along any of the others.
  auto next = unused.begin();
  for (auto [dim, arrayDim] : llvm::enumerate(arrayDims)) {
    if (arrayDim != -1)
      continue;
    if (type.getDimSize(unsigned(dim)) != 1 || next == unused.end())
      return std::nullopt;
    arrayDim = *next++;
  }
  return result;
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

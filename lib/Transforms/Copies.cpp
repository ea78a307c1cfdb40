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
// A box is dense in shared memory, in the array's order: dims that follow each other are as
// well one dim.
//
//   %x = tile.load %image[%n, %h, %w, %c] : … -> tensor<1x8x16x64xf16>
//   %y = tile.reshape %x : … -> tensor<128x64xf16>         a box of 8 x 16 x 64 along [1, 2, 3]
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

bool TileView::isPlain() const { return shapeOf(tile) == ArrayRef(shape); }

DenseI64ArrayAttr TileView::shapeAttr(Builder &builder) const {
  return isPlain() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(shape);
}

std::optional<SmallVector<SmallVector<unsigned>>> TileView::groups() const {
  SmallVector<SmallVector<unsigned>> result;
  unsigned next = 0;
  for (int64_t size : shapeOf(tile)) {
    SmallVector<unsigned> &group = result.emplace_back();
    // Dims of one element belong to one of the tile, if it has them.
    if (size == 1 && next < shape.size() && shape[next] == 1)
      group.push_back(next++);
    for (int64_t covered = 1; covered != size; covered *= shape[group.back()]) {
      if (next == shape.size() || covered > size)
        return std::nullopt;
      group.push_back(next++);
    }
  }
  return next == shape.size() ? std::optional(result) : std::nullopt;
}

/// The elements from one place along a dim to the next, in row-major order.
static int64_t strideOf(ArrayRef<int64_t> shape, size_t dim) {
  int64_t stride = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    stride *= size;
  return stride;
}

std::optional<unsigned> TileView::contiguousDim(int64_t arrayRank) const {
  auto found = llvm::find(arrayDims, arrayRank - 1);
  if (found == arrayDims.end())
    return std::nullopt;
  size_t inner = size_t(found - arrayDims.begin());
  ArrayRef<int64_t> own = shapeOf(tile);
  if (own == ArrayRef(shape))
    return unsigned(inner);
  for (unsigned dim = 0; dim < own.size(); ++dim)
    if (own[dim] > 1 && strideOf(own, dim) == strideOf(shape, inner))
      return dim;
  return std::nullopt;
}

/// `view` as another shape of the same elements.
static TileView reshaped(const TileView &view, Value tile) {
  TileView next{tile, {}, {}};
  std::optional<SmallVector<int64_t>> kept;
  if (view.isPlain())
    kept = keptDims(view.shape, shapeOf(tile));
  for (unsigned dim = 0; dim < view.shape.size(); ++dim)
    if (kept ? llvm::is_contained(*kept, int64_t(dim)) : view.shape[dim] != 1) {
      next.shape.push_back(view.shape[dim]);
      next.arrayDims.push_back(view.arrayDims[dim]);
    }
  return next;
}

/// The view with the tile's dims in another order; nothing where that takes dims apart.
static std::optional<TileView> permuted(const TileView &view, tile::PermuteOp permute) {
  auto groups = view.groups();
  if (!groups)
    return std::nullopt;
  TileView next{permute.getResult(), {}, {}};
  for (int64_t dim : permute.getDims())
    for (unsigned inner : (*groups)[dim]) {
      next.shape.push_back(view.shape[inner]);
      next.arrayDims.push_back(view.arrayDims[inner]);
    }
  return next;
}

/// Follows `view` to those of its users that compute; words for why one sees other elements.
static const char *follow(const TileView &view, std::vector<TileView> &ends) {
  bool isEnd = false;
  for (Operation *user : view.tile.getUsers()) {
    TileView next;
    if (auto permute = dyn_cast<tile::PermuteOp>(user)) {
      std::optional<TileView> moved = permuted(view, permute);
      if (!moved)
        return "dims are exchanged of which a reshape has cut one";
      next = *moved;
    } else if (auto reshape = dyn_cast<tile::ReshapeOp>(user)) {
      if (!isa<RankedTensorType>(reshape.getType()))
        return "a scalar is made of it";
      next = reshaped(view, reshape.getResult());
    } else {
      isEnd = true;
      continue;
    }
    if (const char *obstacle = follow(next, ends))
      return obstacle;
  }
  if (isEnd)
    ends.push_back(view);
  return nullptr;
}

std::vector<TileView> tilec::viewsOf(Operation *load, const char **why) {
  auto gather = dyn_cast<tile::GatherOp>(load);
  std::vector<TileView> ends;
  const char *obstacle =
      follow(gather ? wholeView(gather) : wholeView(cast<tile::LoadOp>(load)), ends);
  if (obstacle)
    ends.clear();
  if (why)
    *why = obstacle ? obstacle : ends.empty() ? "nothing uses it" : nullptr;
  return ends;
}

template <typename Op> static TileView wholeView(Op access, Value tile) {
  TileView view{tile, {}, SmallVector<int64_t>(shapeOf(tile))};
  for (unsigned dim = 0; dim < view.shape.size(); ++dim)
    view.arrayDims.push_back(access.getArrayDim(dim));
  return view;
}

TileView tilec::wholeView(tile::LoadOp load) { return ::wholeView(load, load.getResult()); }

TileView tilec::wholeView(tile::GatherOp gather) {
  TileView view{gather.getResult(), {}, SmallVector<int64_t>(shapeOf(gather.getResult()))};
  int64_t rank = int64_t(view.shape.size()), run = gather.getRunDim();
  for (int64_t dim = 0; dim < rank; ++dim)
    view.arrayDims.push_back(dim == run ? rank - 1 : dim - (dim > run));
  return view;
}

int64_t tilec::rankOfViews(Operation *load) {
  if (auto gather = dyn_cast<tile::GatherOp>(load))
    return cast<RankedTensorType>(gather.getType()).getRank();
  return cast<tile::LoadOp>(load).getArray().getType().getRank();
}

bool tilec::isForProducts(Operation *load) {
  return llvm::any_of(viewsOf(load), [](const TileView &view) {
    return llvm::any_of(view.tile.getUsers(), llvm::IsaPred<tile::MmaOp>);
  });
}

TileView tilec::storedView(tile::StoreOp store) {
  TileView view = ::wholeView(store, store.getValue());
  while (auto reshape = view.tile.getDefiningOp<tile::ReshapeOp>()) {
    auto source = dyn_cast<RankedTensorType>(reshape.getSource().getType());
    if (!source || source.getRank() < 2)
      break;
    TileView inner = reshaped(view, reshape.getSource());
    if (!inner.groups())
      break;
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
  IndexedTile result{{atomic.getValue(), SmallVector<int64_t>(type.getRank(), -1),
                      SmallVector<int64_t>(type.getShape())},
                     {}};
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

/// Rows of `shape` along `order[0]`, as the engine swizzles them.
static Layout engineBuffer(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, Type element) {
  int64_t bytes = tgpu::BufferType::storedBytes(element);
  int64_t rowBytes = shape[order.front()] * bytes;
  unsigned swizzle = rowBytes >= 128 ? 128 : rowBytes >= 32 ? unsigned(rowBytes) : 0;
  return Layout::swizzled(shape, order, unsigned(bytes) * 8, swizzle);
}

Layout tilec::engineBuffer(RankedTensorType type, ArrayRef<unsigned> order) {
  return ::engineBuffer(type.getShape(), order, type.getElementType());
}

Layout tilec::engineBuffer(const TileView &view) {
  auto type = cast<RankedTensorType>(view.tile.getType());
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, unsigned(view.shape.size())));
  llvm::sort(order, [&](unsigned a, unsigned b) { return view.arrayDims[a] > view.arrayDims[b]; });
  return ::engineBuffer(view.shape, order, type.getElementType()).reshape(type.getShape());
}

//===- AccessCost.cpp - layouts that suit device memory --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: a load or store. Out: the layout it would choose, and the cost of others. An
// instruction of a warp costs one for each sector of 32 bytes it touches (what is
// moved) and four for each line of 128 bytes (what is looked up). Rows are taken to
// start at line boundaries and to be far apart. By linearity all instructions of a
// warp touch the same number of sectors, so one is counted.
//===----------------------------------------------------------------------===//
#include "AccessCost.h"

#include "tilec/Analysis/IndexFacts.h"
#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"

#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static constexpr int64_t vectorBytes = 16, sectorBytes = 32, lineBytes = 128;

int64_t tilec::storedBytes(Type element) { return tgpu::BufferType::storedBytes(element); }

int64_t tilec::bytesOfTile(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return (tile ? tile.getNumElements() : 1) * storedBytes(getElementTypeOrSelf(type));
}

int64_t tilec::registersOf(Type type) {
  if (!tile::hasLayout(type))
    return 0;
  int64_t elements = int64_t(tile::getLayout(type).size(Input::Register));
  return (elements * storedBytes(getElementTypeOrSelf(type)) + 3) / 4;
}

/// Whether all that happens to `value`, which `load` brings, is that a warp group multiplies it,
/// and that in the next product: behind another one, what is loaded early does not wait.
static bool onlyMultiplied(LoadOp load, Value value) {
  if (!value.hasOneUse())
    return false;
  Operation *user = *value.getUsers().begin();
  if (isa<PermuteOp, ReshapeOp>(user))
    return onlyMultiplied(load, user->getResult(0));
  auto mma = dyn_cast<MmaOp>(user);
  const Atom *atom = mma && mma.getAtom() ? findAtom(*mma.getAtom()) : nullptr;
  if (!atom || atom->scope != AtomScope::WarpGroup || mma->getBlock() != load->getBlock())
    return false;
  for (Operation *between = load; between != user; between = between->getNextNode())
    if (isa<MmaOp>(between))
      return false;
  return true;
}

/// Whether it pays that threads bring what `load` loads to shared memory in runs: where it is only
/// multiplied, by warp groups (H200: 10 to 25 % faster; products of warps were 5 % slower).
static bool isCopiedInRuns(LoadOp load) {
  return canComeInRuns(load) && onlyMultiplied(load, load.getResult());
}
static bool isCopiedInRuns(StoreOp) { return false; }

template <typename Op> static TileAccess describe(Op op, RankedTensorType tile) {
  TileAccess access{tile, op.getArray().getType(), {}, 1, false};
  unsigned rank = tile.getRank();
  // Tile dims of one element are no step in memory: they come last.
  for (bool single : {false, true})
    for (unsigned arrayDim = rank; arrayDim-- > 0;)
      for (unsigned dim = 0; dim < rank; ++dim)
        if (op.getArrayDim(dim) == int64_t(arrayDim) && (tile.getDimSize(dim) == 1) == single)
          access.order.push_back(dim);
  // Neighbours if all array dims inside the fastest tile dim have one element.
  access.contiguous = !access.array.isStrided();
  for (unsigned inner = op.getArrayDim(access.order[0]) + 1; inner < rank; ++inner)
    access.contiguous &= access.array.getShape()[inner] == 1 && !access.array.hasStrides();
  auto kernel = op->template getParentOfType<KernelOp>();
  bool isAligned = kernel && relies(kernel, BuildFact::Aligned16);
  bool isOfPieces = kernel && relies(kernel, BuildFact::WholePieces) &&
                    op->hasAttr(beginsAtPieceAttr);
  if (access.contiguous && kernel && !isOfSingles(access.array) &&
      (isAligned || isOfPieces || isCopiedInRuns(op))) {
    access.maxVector = vectorBytes / storedBytes(tile.getElementType());
    if (op.getElements() && isAligned)
      access.maxVector = std::min(access.maxVector,
                                  IndexFacts(kernel).startMultiple(op, access.order[0]));
  }
  return access;
}

std::optional<TileAccess> TileAccess::of(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    if (auto tile = dyn_cast<RankedTensorType>(load.getType()))
      return describe(load, tile);
  if (auto store = dyn_cast<StoreOp>(op))
    if (auto tile = dyn_cast<RankedTensorType>(store.getValue().getType()))
      return describe(store, tile);
  return std::nullopt;
}

Layout tilec::coalescedLayout(const TileAccess &access, unsigned numWarps,
                              ArrayRef<int64_t> reducedDims) {
  ArrayRef<int64_t> shape = access.tile.getShape();
  int64_t share = std::max<int64_t>(access.tile.getNumElements() / (32 * numWarps), 1);
  int64_t vector = std::min(access.maxVector, share);
  SmallVector<unsigned, 6> warpOrder;
  for (bool reduced : {false, true})
    for (unsigned dim : llvm::reverse(access.order))
      if (llvm::is_contained(reducedDims, int64_t(dim)) == reduced)
        warpOrder.push_back(dim);
  return Layout::coalesced(shape, access.order, vector, 32, numWarps, warpOrder);
}

template <typename Op> static Layout layoutAlongRuns(Op op, unsigned numWarps) {
  ArrayRef<int64_t> shape = getTileShape(op.getIndex().front().getType());
  // The dim of the runs is the fastest, the others are row-major.
  SmallVector<unsigned, 6> order = {unsigned(shape.size() - 1)};
  if (op.getRun())
    order = {op.getRunDim()};
  for (unsigned dim = unsigned(shape.size()); dim-- > 0;)
    if (dim != order.front())
      order.push_back(dim);
  auto kernel = op->template getParentOfType<KernelOp>();
  int64_t vector = kernel && relies(kernel, BuildFact::Aligned16) ? op.getRunLength() : 1;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  vector = std::clamp<int64_t>(elements / (32 * numWarps), 1, vector);
  return Layout::coalesced(shape, order, vector, 32, numWarps);
}

Layout tilec::indexedLayout(Operation *op, unsigned numWarps) {
  if (auto gather = dyn_cast<GatherOp>(op))
    return layoutAlongRuns(gather, numWarps);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return layoutAlongRuns(scatter, numWarps);
  return layoutAlongRuns(cast<AtomicOp>(op), numWarps);
}

int64_t tilec::accessCost(const TileAccess &access, const Layout &layout) {
  unsigned fastest = access.order[0];
  int64_t bytes = storedBytes(access.tile.getElementType());
  int64_t vector = std::min<int64_t>(layout.vectorWidth(fastest), access.maxVector);
  std::set<std::pair<uint64_t, uint64_t>> sectors, lines;
  for (uint64_t lane = 0; lane < layout.size(Input::Lane); ++lane) {
    uint64_t flat = layout.applyFlat(Position::thread(0, lane));
    uint64_t row = flat & ~layout.fieldMask(fastest), along = layout.field(flat, fastest);
    if (!access.contiguous) {
      row = flat;
      along = 0;
    }
    for (int64_t i = 0; i < vector; ++i) {
      sectors.insert({row, (along + i) * bytes / sectorBytes});
      lines.insert({row, (along + i) * bytes / lineBytes});
    }
  }
  int64_t instructions = int64_t(layout.withoutRegisterCopies().size(Input::Register)) / vector;
  return instructions * int64_t(sectors.size() + 4 * lines.size()) *
         int64_t(layout.size(Input::Warp));
}

bool tilec::suitsAccess(const TileAccess &access, const Layout &layout, unsigned numWarps) {
  int64_t cost = accessCost(access, layout);
  return cost <= 80 * int64_t(numWarps) ||
         cost <= 2 * accessCost(access, coalescedLayout(access, numWarps));
}

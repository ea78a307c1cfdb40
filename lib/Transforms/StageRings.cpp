//===- StageRings.cpp - loads of the copy engine become rings ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel with marked loads. Out: rings, one per group of loads that
// products consume together:
//
//   scf.for %k … {                          %ring = tgpu.ring copy "tma" : …
//     %x = tile.load %a[%m, %k] {mark}      scf.for %k … {
//     %y = tile.load %b[%k, %n] {mark}        tgpu.push %ring { tgpu.copy %a[%m, %k] to 0
//     %r = tile.mma %x, %y, %s                                  tgpu.copy %b[%k, %n] to 1 }
//   }                                 →       %A, %B = tgpu.pop %ring
//                                             %x = tgpu.load %A   %y = tgpu.load %B
//                                             %r = tile.mma %x, %y, %s
//                                             tgpu.release %ring }
//
// The tgpu.loads are only there for the types: StageOperands lets a product read the
// buffer itself. Nothing runs ahead yet; that is for SpecializeWarps or ScheduleLoops.
//
// Loads of one block are a group unless a product of one needs the result of a product
// of the other, as in attention, where the values are consumed after the keys.
//
//===------------------------------------------------------------------------===//
#include "Copies.h"
#include "Dependence.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace tilec {
#define GEN_PASS_DEF_STAGERINGS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A load, seen as what its products take.
struct Staged {
  tile::LoadOp load;
  TileView view;
  SmallVector<tile::MmaOp, 2> products;
  Layout buffer;
};

/// Loads that are pushed, popped and released together.
struct Group {
  std::vector<Staged> members;
  /// Where the products are, in the block of the loads.
  Operation *first = nullptr, *last = nullptr;
};

} // namespace

/// For copies of all threads: free of bank conflicts for them and the first product.
static Layout threadBuffer(const Staged &staged, unsigned numWarps) {
  tile::MmaOp mma = staged.products.front();
  MmaProblem problem = getMmaProblem(mma, numWarps);
  auto type = cast<RankedTensorType>(staged.view.tile.getType());
  unsigned bytes = unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  Layout copy = copyLayout(type.getShape(), staged.view.arrayDims, bytes, numWarps);
  return operandBuffer(*getAtom(mma, problem), problem, tile::getLayout(mma.getAcc()),
                       mma.getA() == staged.view.tile ? Operand::A : Operand::B, copy,
                       unsigned(copyPieceBytes) / bytes);
}

/// The buffer as the first product wants it.
static Layout chooseBuffer(const Staged &staged, unsigned numWarps) {
  if (!isCopiedByEngine(staged.load))
    return threadBuffer(staged, numWarps);
  tile::MmaOp mma = staged.products.front();
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  bool isA = mma.getA() == staged.view.tile;
  auto buffer = isA ? atom->aBuffer : atom->bBuffer;
  if (!buffer)
    return engineBuffer(staged.view);
  ArrayRef<int64_t> dims = staged.view.arrayDims;
  bool isKMajor = dims[dims.size() - (isA ? 1 : 2)] == llvm::max_element(dims)[0];
  return buffer(problem, isKMajor);
}

/// The marked load as its products take it: once, or once for each view of it.
static std::vector<Staged> describe(tile::LoadOp load, unsigned numWarps) {
  std::vector<Staged> result;
  for (const TileView &view : viewsOf(load)) {
    Staged staged{load, view, {}, {}};
    for (Operation *user : view.tile.getUsers())
      if (auto mma = dyn_cast<tile::MmaOp>(user))
        staged.products.push_back(mma);
    staged.buffer = chooseBuffer(staged, numWarps);
    result.push_back(staged);
  }
  return result;
}

/// Whether `op` needs, in this iteration, what `source`, another operation, computes.
static bool dependsOn(Operation *op, Operation *source) {
  llvm::SetVector<Operation *> reached;
  reached.insert(source);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == op && op != source)
      return true;
    for (Operation *user : reached[i]->getUsers())
      if (Operation *ancestor = source->getBlock()->findAncestorOpInBlock(*user))
        reached.insert(ancestor);
  }
  return false;
}

/// Widens the group's span by `staged`, whose products are in the block of the load.
static void addTo(Group &group, const Staged &staged) {
  Block *block = const_cast<Staged &>(staged).load->getBlock();
  for (tile::MmaOp mma : staged.products) {
    Operation *place = block->findAncestorOpInBlock(*mma);
    if (!group.first || place->isBeforeInBlock(group.first))
      group.first = place;
    if (!group.last || group.last->isBeforeInBlock(place))
      group.last = place;
  }
  group.members.push_back(staged);
}

/// Whether the copy for `load` can start before `place`, an operation of its block.
static bool canStartBefore(tile::LoadOp load, Operation *place) {
  if (load->isBeforeInBlock(place))
    return true;
  for (Value operand : load->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && source->getBlock() == load->getBlock() && !source->isBeforeInBlock(place))
      return false;
  for (Operation *op = place; op != load; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<tile::LoadOp>(op))
      return false;
  return true;
}

/// Whether the copies for both can start before the first product of either: a place is
/// filled before it is read.
static bool canShareRing(const Group &group, const Group &other) {
  Operation *first = other.first->isBeforeInBlock(group.first) ? other.first : group.first;
  auto canStart = [&](const Staged &staged) { return canStartBefore(staged.load, first); };
  return llvm::all_of(group.members, canStart) && llvm::all_of(other.members, canStart);
}

/// Groups the loads of one block, in program order of their first products.
static std::vector<Group> makeGroups(ArrayRef<Staged> all) {
  std::vector<Group> groups;
  for (const Staged &staged : all) {
    Group alone;
    addTo(alone, staged);
    Group *home = nullptr;
    for (Group &group : groups)
      if (copierOf(group.members.front().load) == copierOf(staged.load) &&
          (group.first == alone.first ||
          (!dependsOn(alone.last, group.first) && !dependsOn(group.last, alone.first))) &&
          canShareRing(group, alone))
        home = &group;
    if (home)
      addTo(*home, staged);
    else
      groups.push_back(alone);
  }
  return groups;
}

/// All blocks of the cluster load the same.
static bool isSharedByCluster(tile::KernelOp kernel, tile::LoadOp load) {
  return kernel->hasAttr(tgpu::clusterAttrName) &&
         !dependsOn(load.getIndex(), [](Operation *op) { return isa<tgpu::ClusterRankOp>(op); });
}

/// Makes the ring of a group, and the push, pop and release in the block of its loads.
/// ChooseStages will make it longer.
static void stageGroup(tile::KernelOp kernel, const Group &group) {
  OpBuilder builder(&kernel.getBody().front(), kernel.getBody().front().begin());
  SmallVector<Type> buffers;
  for (const Staged &staged : group.members)
    buffers.push_back(
        tgpu::BufferType::get(cast<RankedTensorType>(staged.view.tile.getType()), staged.buffer));
  tile::LoadOp lastLoad = group.members.front().load;
  for (const Staged &staged : group.members)
    if (tile::LoadOp load = staged.load; lastLoad->isBeforeInBlock(load))
      lastLoad = load;
  Location loc = lastLoad.getLoc();
  auto type = tgpu::RingType::get(builder.getContext(), /*stages=*/1, buffers);
  Value ring = tgpu::RingOp::create(builder, loc, type, copierOf(lastLoad), IntegerAttr(),
                                    IntegerAttr());

  if (lastLoad->isBeforeInBlock(group.first))
    builder.setInsertionPointAfter(lastLoad);
  else
    builder.setInsertionPoint(group.first);
  auto push = tgpu::PushOp::create(builder, loc, ring);
  push.getCopies().emplaceBlock();
  builder.setInsertionPointToStart(&push.getCopies().front());
  for (auto [slot, staged] : llvm::enumerate(group.members)) {
    tile::LoadOp load = staged.load;
    tgpu::CopyOp::create(builder, load.getLoc(), load.getArray(), indexByArrayDim(load),
                         int64_t(slot), builder.getDenseI64ArrayAttr(staged.view.arrayDims),
                         load.getElements(), isSharedByCluster(kernel, load));
  }

  builder.setInsertionPoint(group.first);
  auto pop = tgpu::PopOp::create(builder, loc, buffers, ring);
  for (auto [slot, staged] : llvm::enumerate(group.members)) {
    Value tile = staged.view.tile;
    Value loaded =
        tgpu::LoadOp::create(builder, loc, tile.getType(), pop.getBuffers()[slot]);
    for (tile::MmaOp mma : staged.products)
      mma->replaceUsesOfWith(tile, loaded);
  }
  builder.setInsertionPointAfter(group.last);
  tgpu::ReleaseOp::create(builder, loc, ring);
}

/// Erases what no product uses any more.
static void eraseWithViews(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getResult(0).getUsers()))
    eraseWithViews(user);
  op->erase();
}

namespace {

struct StageRings : tilec::impl::StageRingsBase<StageRings> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    unsigned numWarps = kernel.getNumWarps().value_or(4);
    llvm::MapVector<Block *, std::vector<Staged>> byBlock;
    SmallVector<tile::LoadOp> loads;
    kernel.walk([&](tile::LoadOp load) {
      if (!isCopied(load))
        return;
      loads.push_back(load);
      llvm::append_range(byBlock[load->getBlock()], describe(load, numWarps));
    });
    for (auto &[block, staged] : byBlock)
      for (const Group &group : makeGroups(staged))
        stageGroup(kernel, group);
    for (tile::LoadOp load : loads)
      eraseWithViews(load);
  }
};

} // namespace

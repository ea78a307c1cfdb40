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
// A marked gather is a load like the others, but for the copy, which takes tiles of indices:
//
//   %x = tile.gather %a[%i, %j] {mark}   →   tgpu.copy_gathered %a[%p, %q] run [1, 8] to 0
//
// They are made again as those who copy want them, a piece of 16 bytes a thread; where
// products take another view of the gather, that view of the indices.
//
// Marked loads from which threads compute an operand have a ring of their own, popped before
// the first of them is used and released when all are in registers:
//
//   %P, %S = tgpu.pop %raw   %p = tgpu.load %P   %s = tgpu.load %S   tgpu.release %raw
//   %w = … %p, %s …          %A = tgpu.pop %ring   %r = tile.mma %A, %w, …
//
// Where threads copy, such loads share the ring of the product's other operand instead, so that
// threads meet once an iteration; its place is released behind the product.
//
// A marked load that threads use otherwise comes along with a group of its block that is
// popped before its elements are needed, and is read there.
//
// Where products take a tile in several ways, as it is and transposed, and all of them want
// the same bytes, one copy is for all; the ring has a buffer for each view.
//
//===------------------------------------------------------------------------===//
#include "ComputedOperands.h"
#include "Copies.h"
#include "Dependence.h"
#include "IndexTiles.h"
#include "LayoutRules.h"
#include "Residuals.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/TensorBox.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
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

/// What products take of a load, and how it lies in shared memory.
struct StagedView {
  TileView view;
  SmallVector<tile::MmaOp, 2> products;
  Layout buffer;
};

/// A load or gather, seen as what its products take: views of one tile in shared memory.
struct Staged {
  Operation *load;
  SmallVector<StagedView, 2> views;
};

/// A load that threads read at `place`, and the operations that compute from it alone, up to
/// `next`, which does not.
struct ReadByThreads {
  tile::LoadOp load;
  Operation *place, *next;
  SmallVector<Operation *> own;
};

/// Loads that are pushed, popped and released together.
struct Group {
  std::vector<Staged> members;
  std::vector<ReadByThreads> read;
  /// Where the products are, in the block of the loads.
  Operation *first = nullptr, *last = nullptr;
};

} // namespace

/// For copies of all threads: free of bank conflicts for them and the first product.
static Layout threadBuffer(const StagedView &staged, unsigned numWarps) {
  tile::MmaOp mma = staged.products.front();
  MmaProblem problem = getMmaProblem(mma, numWarps);
  auto type = cast<RankedTensorType>(staged.view.tile.getType());
  unsigned bytes = unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  Layout copy = copyLayout(staged.view.shape, staged.view.arrayDims, bytes, numWarps)
                    .reshape(type.getShape());
  return operandBuffer(*getAtom(mma, problem), problem, tile::getLayout(mma.getAcc()),
                       mma.getA() == staged.view.tile ? Operand::A : Operand::B, copy,
                       unsigned(copyPieceBytes) / bytes);
}

/// The buffer as the first product wants it.
static Layout chooseBuffer(const StagedView &staged, int64_t arrayRank, bool byEngine,
                           unsigned numWarps) {
  if (!byEngine)
    return threadBuffer(staged, numWarps);
  tile::MmaOp mma = staged.products.front();
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  bool isA = mma.getA() == staged.view.tile;
  auto buffer = isA ? atom->aBuffer : atom->bBuffer;
  if (!buffer)
    return engineBuffer(staged.view);
  unsigned k = dimK(unsigned(mma.getType().getRank()), isA ? Operand::A : Operand::B);
  return buffer(problem, staged.view.contiguousDim(arrayRank) == k);
}

/// Whether both views are of the same bytes: the buffers are the same when their dims are in
/// the array's order.
static bool haveSameBytes(const StagedView &a, const StagedView &b) {
  auto inArrayOrder = [](const StagedView &staged) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(staged.view.arrayDims.size())));
    llvm::sort(order, [&](int64_t i, int64_t j) {
      return staged.view.arrayDims[i] < staged.view.arrayDims[j];
    });
    SmallVector<int64_t> dims;
    for (int64_t dim : order)
      dims.push_back(staged.view.arrayDims[dim]);
    return std::pair(dims, staged.buffer.reshape(staged.view.shape).permute(order));
  };
  return inArrayOrder(a) == inArrayOrder(b);
}

/// The marked load as its products take it: once for all views that are of the same bytes.
static std::vector<Staged> describe(Operation *load, unsigned numWarps) {
  std::vector<Staged> result;
  for (const TileView &view : viewsOf(load)) {
    StagedView staged{view, {}, {}};
    for (Operation *user : view.tile.getUsers())
      if (auto mma = dyn_cast<tile::MmaOp>(user))
        staged.products.push_back(mma);
    staged.buffer = chooseBuffer(staged, rankOfViews(load), isCopiedByEngine(load), numWarps);
    auto isSame = [&](const Staged &other) {
      return haveSameBytes(other.views.front(), staged);
    };
    if (auto found = llvm::find_if(result, isSame); found != result.end())
      found->views.push_back(staged);
    else
      result.push_back({load, {staged}});
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
  Block *block = staged.load->getBlock();
  for (const StagedView &view : staged.views)
    for (tile::MmaOp mma : view.products) {
      Operation *place = block->findAncestorOpInBlock(*mma);
      if (!group.first || place->isBeforeInBlock(group.first))
        group.first = place;
      if (!group.last || group.last->isBeforeInBlock(place))
        group.last = place;
    }
  group.members.push_back(staged);
}

/// Whether the copy for `load` can start before `place`, an operation of its block.
static bool canStartBefore(Operation *load, Operation *place) {
  if (load->isBeforeInBlock(place))
    return true;
  for (Value operand : load->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && source->getBlock() == load->getBlock() && !source->isBeforeInBlock(place))
      return false;
  for (Operation *op = place; op != load; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<tile::LoadOp, tile::GatherOp>(op))
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

/// All blocks of the cluster load the same, and each can bring a part.
static bool isSharedByCluster(tile::KernelOp kernel, tgpu::CopyOp copy) {
  auto blocks = kernel->getAttrOfType<IntegerAttr>(tgpu::clusterAttrName);
  if (!blocks || dependsOn(copy.getIndex(),
                           [](Operation *op) { return isa<tgpu::ClusterRankOp>(op); }))
    return false;
  return planBoxes(copy.getTileLayout(), unsigned(copy.getBuffer().getElementBytes()) * 8,
                   copy.getOrder(), unsigned(copy.getArray().getType().getRank()),
                   blocks.getInt())
      .has_value();
}

/// Has threads read what the group brought for them.
static Operation *readByThreads(const ReadByThreads &read, Value buffer) {
  tile::LoadOp load = read.load;
  OpBuilder builder(read.place);
  Value loaded = tgpu::LoadOp::create(builder, load.getLoc(), load.getType(), buffer);
  for (Operation *op : ArrayRef(read.own).drop_front())
    op->moveBefore(read.next);
  load.getResult().replaceAllUsesWith(loaded);
  return loaded.getDefiningOp();
}

/// `indices` of a gather in `layout`, as it is seen in `view`: turned as what is gathered is.
static Value remakeForView(TileRemaker &remaker, Value indices, Value view,
                           const Layout &layout) {
  Operation *op = view.getDefiningOp();
  if (isa<tile::GatherOp>(op))
    return remaker.make(indices, layout);
  Value source =
      remakeForView(remaker, indices, op->getOperand(0), layoutOfSource(op, layout));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(source);
  IRMapping mapping;
  mapping.map(op->getOperand(0), source);
  Value result = builder.clone(*op, mapping)->getResult(0);
  auto type = RankedTensorType::get(cast<RankedTensorType>(view.getType()).getShape(),
                                    cast<RankedTensorType>(source.getType()).getElementType(),
                                    tile::LayoutAttr::get(op->getContext(), layout));
  result.setType(type);
  return result;
}

/// The copy of what is gathered, as the first of its views, by the threads that copy.
static void copyGathered(OpBuilder &builder, tile::GatherOp gather, const TileView &view,
                         int64_t slot, unsigned numWarps, TileRemaker &remaker) {
  auto type = cast<RankedTensorType>(view.tile.getType());
  unsigned bytes = unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  Layout layout = copyLayout(view.shape, view.arrayDims, bytes,
                             isCopiedByEngine(gather) ? unsigned(copyingWarps) : numWarps)
                      .reshape(type.getShape());
  auto remake = [&](Value tile) { return remakeForView(remaker, tile, view.tile, layout); };
  SmallVector<Value> index = llvm::map_to_vector(gather.getIndex(), remake);
  Value mask = gather.getMask() ? remake(gather.getMask()) : Value();
  int64_t runDim = *view.contiguousDim(rankOfViews(gather));
  tgpu::CopyGatheredOp::create(
      builder, gather.getLoc(), gather.getArray(), index, mask, slot, gather.getInBoundsAttr(),
      builder.getDenseI64ArrayAttr({runDim, gather.getRunLength()}));
}

/// The buffer of a load that threads read: as the engine writes it, or free of bank conflicts
/// for who copies and who reads.
static Layout bufferForThreads(tile::LoadOp load, unsigned numWarps) {
  TileView view = wholeView(load);
  if (isCopiedByEngine(load))
    return engineBuffer(view);
  auto type = cast<RankedTensorType>(load.getType());
  unsigned bytes = unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  Layout copy = copyLayout(view.shape, view.arrayDims, bytes, numWarps);
  int64_t piece = std::min(copyPieceBytes / int64_t(bytes), int64_t(copy.size(Input::Register)));
  return planShared(tile::getLayout(type), copy, 8 * bytes, unsigned(piece)).buffer;
}

/// Makes the ring of a group, and the push, pop and release in the block of its loads.
/// ChooseStages will make it longer.
static void stageGroup(tile::KernelOp kernel, const Group &group, unsigned numWarps,
                       TileRemaker &remaker) {
  OpBuilder builder(&kernel.getBody().front(), kernel.getBody().front().begin());
  SmallVector<Type> buffers;
  SmallVector<int64_t> owners;
  for (const Staged &staged : group.members) {
    owners.append(staged.views.size(), int64_t(buffers.size()));
    for (const StagedView &view : staged.views)
      buffers.push_back(tgpu::BufferType::get(
          cast<RankedTensorType>(view.view.tile.getType()), view.buffer));
  }
  SmallVector<Operation *> loads;
  for (const Staged &staged : group.members)
    loads.push_back(staged.load);
  for (const ReadByThreads &read : group.read) {
    tile::LoadOp load = read.load;
    owners.push_back(int64_t(buffers.size()));
    buffers.push_back(tgpu::BufferType::get(cast<RankedTensorType>(load.getType()),
                                            bufferForThreads(load, numWarps)));
    loads.push_back(load);
  }
  Operation *lastLoad = loads.front();
  for (Operation *load : loads)
    if (lastLoad->isBeforeInBlock(load))
      lastLoad = load;
  Location loc = lastLoad->getLoc();
  auto type = tgpu::RingType::get(builder.getContext(), /*stages=*/1, buffers, owners);
  Value ring = tgpu::RingOp::create(builder, loc, type, copierOf(lastLoad), IntegerAttr(),
                                    IntegerAttr());

  if (lastLoad->isBeforeInBlock(group.first))
    builder.setInsertionPointAfter(lastLoad);
  else
    builder.setInsertionPoint(group.first);
  auto push = tgpu::PushOp::create(builder, loc, ring);
  push.getCopies().emplaceBlock();
  builder.setInsertionPointToStart(&push.getCopies().front());
  int64_t slot = 0;
  auto copy = [&](tile::LoadOp load, const TileView &view) {
    auto made = tgpu::CopyOp::create(
        builder, load.getLoc(), load.getArray(), indexByArrayDim(load), slot,
        builder.getDenseI64ArrayAttr(view.arrayDims), view.shapeAttr(builder),
        load.getElements(), /*multicast=*/false,
        load->getAttrOfType<DenseI64ArrayAttr>(onceWithinAttrName));
    made.setMulticast(isSharedByCluster(kernel, made));
  };
  for (const Staged &staged : group.members) {
    const TileView &view = staged.views.front().view;
    if (auto gather = dyn_cast<tile::GatherOp>(staged.load))
      copyGathered(builder, gather, view, slot, numWarps, remaker);
    else
      copy(cast<tile::LoadOp>(staged.load), view);
    slot += int64_t(staged.views.size());
  }
  for (const ReadByThreads &read : group.read) {
    copy(read.load, wholeView(read.load));
    ++slot;
  }

  builder.setInsertionPoint(group.first);
  auto pop = tgpu::PopOp::create(builder, loc, buffers, ring);
  auto buffer = pop.getBuffers().begin();
  for (const Staged &staged : group.members)
    for (const StagedView &view : staged.views) {
      Value tile = view.view.tile;
      Value loaded = tgpu::LoadOp::create(builder, loc, tile.getType(), *buffer++);
      for (tile::MmaOp mma : view.products)
        mma->replaceUsesOfWith(tile, loaded);
    }
  Operation *last = group.last;
  for (const ReadByThreads &read : group.read)
    if (Operation *loaded = readByThreads(read, *buffer++); group.members.empty())
      last = loaded;
  builder.setInsertionPointAfter(last);
  tgpu::ReleaseOp::create(builder, loc, ring);
}

//===------------------------------------------------------------------------===//
// Tiles that threads read
//===------------------------------------------------------------------------===//

/// The operations behind `load` in its block that compute from it and from no other tile
/// that is not the same everywhere; `next` becomes the first that needs one of their results.
static SmallVector<Operation *> collectOwn(tile::LoadOp load, Operation *&next) {
  llvm::SetVector<Operation *> own;
  own.insert(load);
  auto isOwn = [&](Value value) { return own.contains(value.getDefiningOp()); };
  for (next = load->getNextNode(); next; next = next->getNextNode()) {
    bool uses = false;
    next->walk([&](Operation *op) { uses |= llvm::any_of(op->getOperands(), isOwn); });
    if (!uses)
      continue;
    bool isAlone = next->getNumRegions() == 0 && isMemoryEffectFree(next) &&
                   llvm::all_of(next->getOperands(), [&](Value value) {
                     return isOwn(value) || !isTile(value) ||
                            isa_and_nonnull<tile::SplatOp, arith::ConstantOp>(
                                value.getDefiningOp());
                   });
    if (!isAlone)
      break;
    own.insert(next);
  }
  return own.takeVector();
}

/// Lets `load` come along with the first group that is popped before its elements are
/// needed; false if there is none.
static bool joinGroup(std::vector<Group> &groups, tile::LoadOp load) {
  Operation *next = nullptr;
  SmallVector<Operation *> own = collectOwn(load, next);
  for (Group &group : groups) {
    if (!next || group.members.empty() ||
        group.members.front().load->getBlock() != load->getBlock() ||
        !isCopiedByEngine(group.members.front().load) || !group.first->isBeforeInBlock(next) ||
        !canStartBefore(load, group.first))
      continue;
    // Read before a product that comes first, as its issue may hold the warp.
    Operation *place = next;
    for (Operation *op = next; op != group.first; op = op->getPrevNode())
      if (isa<tile::MmaOp>(op)) {
        place = op;
        break;
      }
    group.read.push_back({load, place, next, own});
    if (group.last->isBeforeInBlock(place))
      group.last = place;
    return true;
  }
  return false;
}

/// Moves `load`, and what its place is computed from, to before `place`; false if it cannot.
static bool moveBefore(tile::LoadOp load, Operation *place) {
  auto canMove = [](Operation *op) {
    return isMemoryEffectFree(op) || (isa<tile::LoadOp>(op) && tile::readsUnwrittenArray(op));
  };
  auto slice = sliceIn(load->getBlock(), load->getOperands(), canMove,
                       [](BlockArgument) { return true; });
  if (!slice)
    return false;
  slice->push_back(load);
  for (Operation *op : *slice)
    if (place->isBeforeInBlock(op))
      op->moveBefore(place);
  return true;
}

/// The first operation of the load's block that computes from it.
static Operation *firstUser(tile::LoadOp load) {
  Operation *first = nullptr;
  for (Operation *user : load->getUsers()) {
    Operation *place = load->getBlock()->findAncestorOpInBlock(*user);
    if (!first || place->isBeforeInBlock(first))
      first = place;
  }
  return first;
}

/// The loads of one block from which threads compute operands of products, as a group of
/// their own; those that cannot be where the first one is are left to the threads.
static Group groupOfComputed(ArrayRef<tile::LoadOp> loads) {
  Group group;
  tile::LoadOp first = loads.front();
  for (tile::LoadOp load : loads) {
    if (load != first && !moveBefore(load, first)) {
      load->removeAttr(copyAttrName);
      continue;
    }
    group.read.push_back({load, nullptr, nullptr, {load}});
    Operation *place = firstUser(load);
    if (!group.first || place->isBeforeInBlock(group.first))
      group.first = place;
  }
  for (ReadByThreads &read : group.read)
    read.place = group.first;
  group.last = group.first;
  return group;
}

/// Lets what threads compute operands from come with a group that threads copy for products
/// of the same block, so that they meet once an iteration; false if there is none.
static bool joinComputed(std::vector<Group> &groups, const Group &computed) {
  for (Group &group : groups) {
    if (group.members.empty())
      continue;
    Operation *load = group.members.front().load;
    if (isCopiedByEngine(load) || load->getBlock() != computed.first->getBlock() ||
        !computed.first->isBeforeInBlock(group.first) ||
        !llvm::all_of(group.members, [&](const Staged &staged) {
          return canStartBefore(staged.load, computed.first);
        }))
      continue;
    group.first = computed.first;
    llvm::append_range(group.read, computed.read);
    return true;
  }
  return false;
}

/// Erases what no product uses any more, and the indices that were made for it alone.
static void eraseWithViews(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getResult(0).getUsers()))
    eraseWithViews(user);
  llvm::SetVector<Operation *> sources;
  auto addSources = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && isTile(operand))
        sources.insert(source);
  };
  if (isa<tile::GatherOp>(op))
    addSources(op);
  op->erase();
  while (!sources.empty()) {
    Operation *source = sources.pop_back_val();
    if (!isOpTriviallyDead(source))
      continue;
    addSources(source);
    source->erase();
  }
}

namespace {

struct StageRings : tilec::impl::StageRingsBase<StageRings> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    unsigned numWarps = kernel.getNumWarps().value_or(4);
    llvm::MapVector<Block *, std::vector<Staged>> byBlock;
    llvm::MapVector<Block *, SmallVector<tile::LoadOp>> computedByBlock;
    llvm::SetVector<Operation *> computed = loadsBehindProducts(kernel, /*isAsync=*/true);
    for (Operation *load : loadsBehindProducts(kernel, /*isAsync=*/false))
      if (!isCopiedByEngine(load))
        computed.insert(load);
    SmallVector<Operation *> loads;
    SmallVector<tile::LoadOp> forThreads;
    kernel.walk([&](Operation *load) {
      if (!isa<tile::LoadOp, tile::GatherOp>(load) || !isCopied(load) ||
          load->hasAttr(residualAttrName))
        return;
      if (computed.contains(load))
        return computedByBlock[load->getBlock()].push_back(cast<tile::LoadOp>(load));
      if (!isForProducts(load))
        return forThreads.push_back(cast<tile::LoadOp>(load));
      loads.push_back(load);
      llvm::append_range(byBlock[load->getBlock()], describe(load, numWarps));
    });
    std::vector<Group> groups;
    for (auto &[block, staged] : byBlock)
      llvm::append_range(groups, makeGroups(staged));
    for (tile::LoadOp load : forThreads)
      if (joinGroup(groups, load))
        loads.push_back(load);
      else
        load->removeAttr(copyAttrName); // needed before any group is there
    TileRemaker remaker;
    for (auto &[block, staged] : computedByBlock) {
      Group group = groupOfComputed(staged);
      for (const ReadByThreads &read : group.read)
        loads.push_back(read.load);
      if (!joinComputed(groups, group))
        groups.push_back(std::move(group));
    }
    for (const Group &group : groups)
      stageGroup(kernel, group, numWarps, remaker);
    for (Operation *load : loads)
      eraseWithViews(load);
  }
};

} // namespace

//===- Residuals.cpp - tiles that come for a store ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a marked load behind a loop of products, piece by piece. Out: each takes a place of the
// loop's ring, where it is a view of one of the buffers:
//
//   scf.for %k … { pop %ring … release }     %ring = … [A, B, piece as 1]
//   %r = tile.load %r[%m, %n] {mark}     →   scf.for %k … { pop %ring … release }
//   … extract %r[0, piece] …                 tgpu.push %ring { tgpu.copy %r[%m, %n'] to 2 }
//                                            %A, %B, %R = tgpu.pop %ring   %p = tgpu.load %R
//                                            tgpu.release %ring   … %p …
//
// So a residual costs no shared memory, is on its way while the last products run, and goes as
// soon as it is in registers: by the time it is stored, places are full of the next position's
// operands. Loaded by threads it would come when the products are done, four bytes a lane.
//
// Where no ring has a buffer that is large enough, pieces have a ring of their own.
//
//===------------------------------------------------------------------------===//
#include "Residuals.h"

#include "Copies.h"
#include "Dependence.h"
#include "LayoutRules.h"

#include "tilec/Tile/Contains.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

/// Whether the engine alone brings operands of products in a loop of `place`'s block before it.
static bool isBehindProducts(Operation *place) {
  bool isBehind = false;
  for (Operation *op = place->getPrevNode(); op; op = op->getPrevNode()) {
    if (!isa<LoopLikeOpInterface>(op))
      continue;
    if (containsWhere(op, [](Operation *inner) {
          return isa<tile::GatherOp>(inner) && isCopied(inner);
        }))
      return false;
    isBehind |= containsWhere(op, [](Operation *inner) {
      return isa<tile::LoadOp>(inner) && copierOf(inner) == "tma" && isForProducts(inner);
    });
  }
  return isBehind;
}

tile::StoreOp tilec::storeOfResidual(tile::LoadOp load) {
  tile::StoreOp store;
  llvm::SetVector<Operation *> reached;
  reached.insert(load);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i]->getUsers()) {
      if (auto found = dyn_cast<tile::StoreOp>(user); found && (!store || store == found)) {
        store = found;
        continue;
      }
      if (user->getBlock() != load->getBlock() || user->getNumResults() != 1 ||
          user->getNumRegions() || !isElementwise(user))
        return {};
      reached.insert(user);
    }
  auto shapeOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); };
  bool isGood = store && store->getBlock() == load->getBlock() && isTile(load.getResult()) &&
                isTile(store.getValue()) &&
                shapeOf(load.getResult()) == shapeOf(store.getValue()) &&
                dependsOn(store.getValue(), llvm::IsaPred<tile::MmaOp>) && isBehindProducts(store);
  return isGood ? store : tile::StoreOp();
}

/// Whether all that a ring is for, in the block of `place`, comes in loops before it: its places
/// are free there.
static bool isFreeAt(tgpu::RingOp ring, Operation *place) {
  if (ring.getCopy() != "tma")
    return false;
  bool isUsed = false;
  for (Operation *user : ring.getRing().getUsers()) {
    Operation *outer = place->getBlock()->findAncestorOpInBlock(*user);
    if (!outer || outer == place || !outer->isBeforeInBlock(place))
      return false;
    bool isOfResidual = outer == user && user->hasAttr(residualAttrName);
    if (!isOfResidual && !isa<LoopLikeOpInterface>(outer))
      return false;
    if (auto push = dyn_cast<tgpu::PushOp>(user);
        push && !push.getCopies().front().getOps<tgpu::CopyGatheredOp>().empty())
      return false;
    isUsed |= !isOfResidual;
  }
  return isUsed;
}

int64_t tilec::roomForResidual(Operation *place) {
  int64_t most = 0;
  Block &body = place->getParentOfType<tile::KernelOp>().getBody().front();
  for (auto ring : body.getOps<tgpu::RingOp>())
    if (isFreeAt(ring, place))
      for (Type buffer : ring.getRing().getType().getBuffers())
        most = std::max(most, cast<tgpu::BufferType>(buffer).getBytes());
  return most;
}

/// The slot of `ring` that holds a `buffer` instead of the group: a view, which may have to be
/// made. None where no buffer has so many bytes.
static std::optional<unsigned> slotFor(tgpu::RingOp ring, tgpu::BufferType buffer) {
  tgpu::RingType type = ring.getRing().getType();
  for (unsigned slot = 0; slot < type.getBuffers().size(); ++slot)
    if (type.isView(slot) && type.getBuffer(slot) == buffer)
      return slot;
  std::optional<unsigned> owner;
  for (unsigned slot = 0; slot < type.getBuffers().size(); ++slot)
    if (!type.isView(slot) && type.getBuffer(slot).getBytes() >= buffer.getBytes() &&
        (!owner || type.getBuffer(slot).getBytes() < type.getBuffer(*owner).getBytes()))
      owner = slot;
  if (!owner)
    return std::nullopt;
  SmallVector<Type> buffers(type.getBuffers());
  SmallVector<int64_t> owners(type.getOwners());
  buffers.push_back(buffer);
  owners.push_back(*owner);
  ring.getRing().setType(
      tgpu::RingType::get(ring.getContext(), type.getStages(), buffers, owners));
  for (Operation *user : llvm::make_early_inc_range(ring.getRing().getUsers()))
    if (auto pop = dyn_cast<tgpu::PopOp>(user)) {
      OpBuilder builder(pop);
      auto wider = tgpu::PopOp::create(builder, pop.getLoc(), buffers, ring.getRing());
      wider->setDiscardableAttrs(pop->getDiscardableAttrDictionary());
      pop->replaceAllUsesWith(wider.getBuffers().drop_back());
      pop.erase();
    }
  return unsigned(buffers.size()) - 1;
}

/// A ring for pieces at `place`, and the slot that they have there.
static std::pair<tgpu::RingOp, unsigned> ringFor(Operation *place, tgpu::BufferType buffer) {
  Block &body = place->getParentOfType<tile::KernelOp>().getBody().front();
  for (auto ring : body.getOps<tgpu::RingOp>())
    if (isFreeAt(ring, place))
      if (std::optional<unsigned> slot = slotFor(ring, buffer))
        return {ring, *slot};
  for (auto ring : body.getOps<tgpu::RingOp>())
    if (ring->hasAttr(residualAttrName) && ring.getRing().getType().getBuffers().size() == 1 &&
        ring.getRing().getType().getBuffer(0) == buffer)
      return {ring, 0};
  OpBuilder builder(&body, body.begin());
  auto type = tgpu::RingType::get(builder.getContext(), /*stages=*/1, ArrayRef<Type>(buffer));
  auto ring = tgpu::RingOp::create(builder, place->getLoc(), type, "tma", IntegerAttr(),
                                   IntegerAttr());
  ring->setAttr(residualAttrName, builder.getUnitAttr());
  return {ring, 0};
}

Value tilec::bringPart(OpBuilder &builder, tile::LoadOp load, ValueRange place,
                       RankedTensorType type, tgpu::BufferType buffer) {
  Location loc = load.getLoc();
  auto [ring, slot] = ringFor(&*builder.getInsertionPoint(), buffer);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  auto push = tgpu::PushOp::create(builder, loc, ring.getRing());
  push.getCopies().emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&push.getCopies().front());
    tgpu::CopyOp::create(builder, loc, load.getArray(), place, int64_t(slot),
                         builder.getDenseI64ArrayAttr(order), DenseI64ArrayAttr(),
                         load.getElements(), /*multicast=*/false,
                         load->getAttrOfType<DenseI64ArrayAttr>(onceWithinAttrName));
  }
  auto pop = tgpu::PopOp::create(builder, loc, ring.getRing().getType().getBuffers(),
                                 ring.getRing());
  Value part = tgpu::LoadOp::create(builder, loc, type, pop.getBuffers()[slot]);
  auto release = tgpu::ReleaseOp::create(builder, loc, ring.getRing());
  for (Operation *op : {push.getOperation(), pop.getOperation(), release.getOperation()})
    op->setAttr(residualAttrName, builder.getUnitAttr());
  return part;
}

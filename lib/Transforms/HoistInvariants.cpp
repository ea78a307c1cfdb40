//===- HoistInvariants.cpp - what stays the same leaves loops -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In and out: stage tile. Operations of a loop whose operands are defined
// outside move in front of it: scalar code, tile computations, and loads of
// arrays that the loop does not write.
//
//   scf.for … {                              %q = tile.load %a[%i] …
//     %q = tile.load %a[%i] …          →     scf.for … {
//     … }                                      … }
//
// Tiles that cost nothing to make again (constants, splats, iotas, stretched or
// reshaped ones of those) stay: outside they would only hold registers. Loads
// are total, so a loop without iterations is no obstacle.

#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "tilec/Tile/TileOps.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// What a loop does to memory.
class LoopWrites {
public:
  explicit LoopWrites(LoopLikeOpInterface loop)
      : arraysOverlap(loop->getParentOfType<KernelOp>().getArraysOverlap()) {
    loop->walk([&](Operation *op) {
      if (auto store = dyn_cast<StoreOp>(op))
        written.insert(store.getArray());
      else if (auto scatter = dyn_cast<ScatterOp>(op))
        written.insert(scatter.getArray());
      else if (isa<AtomicOp>(op))
        hasAtomics = true;
    });
  }

  /// Whether each round of the loop reads the same from `array`. After an
  /// atomic another block's writes may show, but only in arrays that may be
  /// written.
  bool leavesAlone(Value array) const {
    bool isMut = cast<ArrayType>(array.getType()).isMut();
    if (hasAtomics)
      return !isMut && !arraysOverlap;
    return arraysOverlap ? written.empty() : !written.contains(array);
  }

private:
  bool arraysOverlap;
  bool hasAtomics = false;
  llvm::SmallDenseSet<Value, 4> written;
};

/// A tile that is as cheap to make as to keep.
bool isFree(Operation *op) {
  return isa<arith::ConstantOp, SplatOp, IotaOp, BroadcastOp, ReshapeOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

class HoistInvariants
    : public tilec::impl::HoistInvariantsBase<HoistInvariants> {
  void runOnOperation() override {
    // Innermost first, so that what leaves a loop can leave the next one too.
    getOperation().walk([](LoopLikeOpInterface loop) {
      LoopWrites writes(loop);
      SmallVector<Operation *> moved;
      moveLoopInvariantCode(
          loop.getLoopRegions(),
          [&](Value value, Region *) {
            return loop.isDefinedOutsideOfLoop(value);
          },
          [&](Operation *op, Region *) { return mayMove(op, writes); },
          [&](Operation *op, Region *) {
            loop.moveOutOfLoop(op);
            moved.push_back(op);
          });
      // What was only moved for its users' sake, and has none outside, goes
      // back.
      for (Operation *op : llvm::reverse(moved))
        if (isFree(op))
          moveBack(op, loop);
    });
  }

private:
  static bool mayMove(Operation *op, const LoopWrites &writes) {
    if (auto load = dyn_cast<LoadOp>(op))
      return writes.leavesAlone(load.getArray());
    if (auto gather = dyn_cast<GatherOp>(op))
      return writes.leavesAlone(gather.getArray());
    return isMemoryEffectFree(op) && isSpeculatable(op);
  }

  /// To the start of the region of `loop` that holds all its users, if one
  /// does.
  static void moveBack(Operation *op, LoopLikeOpInterface loop) {
    for (Region *region : loop.getLoopRegions())
      if (llvm::all_of(op->getUsers(), [&](Operation *user) {
            return region->isAncestor(user->getParentRegion());
          })) {
        op->moveBefore(&region->front(), region->front().begin());
        return;
      }
  }
};

} // namespace

//===- SinkScalars.cpp - what loops do not need goes behind them ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out: in a loop over the grid whose copies run in warps of their
// own, scalars, and small tiles that threads load, which only what follows an inner loop
// needs, are computed and loaded behind that loop, in front of the wait for its last product:
//
//   scf.for %t {                              scf.for %t {
//     %m, %n = …     divisions of %t            %s = scf.for %k { … }
//     %b = tile.load %bias[%n]                  %m, %n = …
//     %f = arith.extf %b                        %b = tile.load %bias[%n]
//     %s = scf.for %k { … }             →       %r = tgpu.mma_wait %s
//     %r = tgpu.mma_wait %s                     %f = arith.extf %b
//     tgpu.copy_out … [%m, %n] }                tgpu.copy_out … [%m, %n] }
//
// Before the loop they would keep its first product from starting, here they run beside the
// last one. What stands behind the wait already and does not need it comes to the same place.
// StartSums takes them into its branches.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "LayoutRules.h"

#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/Contains.h"
#include "tilec/TileGPU/LateWaits.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_SINKSCALARS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Tiles of more registers a thread have no room beside sums that are not complete yet.
static constexpr int64_t mostRegisters = 64;

static bool isSmallTile(Value value) {
  return isTile(value) && registersOf(value.getType()) <= mostRegisters;
}

/// Arithmetic, and branches over it.
static bool isScalarCode(Operation *op) {
  return op->getNumResults() > 0 && isMemoryEffectFree(op) && !isa<LoopLikeOpInterface>(op) &&
         llvm::none_of(op->getResults(), isTile);
}

static bool isSmallLoad(Operation *op) {
  return isa<tile::LoadOp>(op) && isSmallTile(op->getResult(0));
}

/// What threads compute from such tiles.
static bool isSmallTileCode(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<tile::LoadOp, tgpu::MmaOp, tgpu::MmaWaitOp>(op) && llvm::all_of(op->getResults(), isSmallTile);
}

/// Whether all uses of the operation's results are behind `loop`, in the same block.
static bool isForLater(Operation *op, Operation *loop) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *outer = loop->getBlock()->findAncestorOpInBlock(*user);
    return outer && loop->isBeforeInBlock(outer);
  });
}

/// Whether one of `ops` computes an operand of `op`, or of what is in it.
static bool needs(Operation *op, const SmallPtrSetImpl<Operation *> &ops) {
  return containsWhere(op, [&](Operation *inner) {
    return llvm::any_of(inner->getOperands(),
                        [&](Value operand) { return ops.contains(operand.getDefiningOp()); });
  });
}

/// The last of the waits and releases that follow `loop`, or `loop`.
static Operation *endOfWaits(Operation *loop) {
  Operation *last = loop;
  while (isa_and_present<tgpu::MmaWaitOp, tgpu::ReleaseOp>(last->getNextNode()))
    last = last->getNextNode();
  return last;
}

/// What stands in front of `loop` and only what follows it needs: tiles of registers go behind
/// the waits, all else in front of them.
static void sinkBehind(Operation *loop) {
  SmallVector<Operation *> found;
  bool writes = tile::containsWrite(loop);
  for (Operation *op = loop->getPrevNode(); op && !contains<LoopLikeOpInterface>(op);) {
    Operation *previous = op->getPrevNode();
    writes |= tile::containsWrite(op);
    bool mayPass = !writes || isMemoryEffectFree(op);
    if ((isScalarCode(op) || isSmallTileCode(op) || isSmallLoad(op)) && mayPass &&
        isForLater(op, loop)) {
      found.push_back(op);
      op->moveAfter(loop);
    }
    op = previous;
  }
  SmallPtrSet<Operation *, 8> late;
  Operation *end = found.empty() ? loop : endOfWaits(found.front());
  if (end == loop || end == found.front())
    return;
  for (Operation *op : llvm::reverse(found)) {
    bool readsTile = !isSmallLoad(op) && (isSmallTileCode(op) ||
                                          llvm::any_of(op->getOperands(), isTile));
    if (!readsTile && !needs(op, late))
      continue;
    op->moveAfter(end);
    late.insert(op);
    end = op;
  }
}

/// What stands behind the waits for the loop's products and does not need them: scalars and loads.
static void liftBeside(Operation *loop) {
  Operation *wait = loop->getNextNode();
  while (wait && (isScalarCode(wait) || isSmallLoad(wait)))
    wait = wait->getNextNode();
  if (!isa_and_present<tgpu::MmaWaitOp>(wait))
    return;
  SmallPtrSet<Operation *, 8> late;
  for (Operation *op = wait; op;) {
    Operation *next = op->getNextNode();
    bool isPlain = isScalarCode(op) || isSmallLoad(op);
    if (isPlain && !needs(op, late))
      op->moveBefore(wait);
    else if (isPlain || isMemoryEffectFree(op) || isa<tgpu::MmaWaitOp, tgpu::ReleaseOp>(op))
      late.insert(op);
    else
      break;
    op = next;
  }
  if (wait->getPrevNode() != loop)
    wait->setAttr(tgpu::lateAttrName, UnitAttr::get(wait->getContext()));
}

namespace {

struct SinkScalars : tilec::impl::SinkScalarsBase<SinkScalars> {
  void runOnOperation() override {
    getOperation().walk([](tgpu::SpecializeOp roles) {
      roles.getExecute().walk([](LoopLikeOpInterface loop) {
        for (Region *region : loop.getLoopRegions())
          for (Block &block : *region)
            for (Operation &op : llvm::make_early_inc_range(block))
              if (contains<LoopLikeOpInterface>(&op)) {
                sinkBehind(&op);
                liftBeside(&op);
              }
      });
    });
  }
};

} // namespace

//===- SinkScalars.cpp - what loops do not need goes behind them ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out: in a loop over the grid whose copies run in warps of their
// own, scalars that only what follows an inner loop needs are computed behind that loop, in
// front of the wait for its last product, and so is what stood behind the wait, as small tiles
// that threads load:
//
//   scf.for %t {                              scf.for %t {
//     %m, %n = …     divisions of %t            %s = scf.for %k { … }
//     %s = scf.for %k { … }             →       %m, %n = …
//     %r = tgpu.mma_wait %s                     %b = tile.load %bias[%n]
//     %b = tile.load %bias[%n]                  %r = tgpu.mma_wait %s
//     tgpu.copy_out … [%m, %n] }                tgpu.copy_out … [%m, %n] }
//
// Before the loop they would keep its first product from starting, here they run beside the
// last one. Loads in front of the loop stay there: they are on their way for as long as it runs.
// StartSums takes what is here into its branches.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "LayoutRules.h"

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

/// Arithmetic, and branches over it.
static bool isScalarCode(Operation *op) {
  return op->getNumResults() > 0 && isMemoryEffectFree(op) && !isa<LoopLikeOpInterface>(op) &&
         llvm::none_of(op->getResults(), isTile);
}

static bool isSmallLoad(Operation *op) {
  return isa<tile::LoadOp>(op) && isTile(op->getResult(0)) &&
         registersOf(op->getResult(0).getType()) <= mostRegisters;
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

static void sinkBehind(Operation *loop) {
  SmallVector<Operation *> before;
  for (Operation *op = loop->getPrevNode(); op && !contains<LoopLikeOpInterface>(op); op = op->getPrevNode())
    before.push_back(op);
  for (Operation *op : before)
    if (isScalarCode(op) && isForLater(op, loop))
      op->moveAfter(loop);
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

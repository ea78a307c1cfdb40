//===- VerifyStage.cpp - is the IR what its stage promises? ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: IR. Out: the same, or an error at the first operation that breaks the contract
// of the stage, which is a bug of the compiler:
//
//   tile       no tile has a layout
//   laid-out   every tile has one, over the kernel's warps, and the rules of
//              LayoutRules.h hold; every product has an atom
//   staged     what products give is read when they are complete (ProductsInFlight.h)
//===----------------------------------------------------------------------===//
#include "LayoutRules.h"
#include "ProductsInFlight.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

/// Calls `check` on all values that are defined in the kernel; stops at a failure.
static LogicalResult forTiles(KernelOp kernel, function_ref<LogicalResult(Value)> check) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isTile(argument) && failed(check(argument)))
            return WalkResult::interrupt();
    for (Value value : op->getResults())
      if (isTile(value) && failed(check(value)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyTileStage(KernelOp kernel) {
  return forTiles(kernel, [](Value value) -> LogicalResult {
    if (hasLayout(value.getType()))
      return emitError(value.getLoc()) << "a tile of stage 'tile' has no layout, this is "
                                       << value.getType();
    return success();
  });
}

static LogicalResult verifyWarps(Value value, unsigned warpBits) {
  LayoutAttr layout = getLayoutAttr(value.getType());
  if (!layout)
    return emitError(value.getLoc()) << "a tile of stage 'laid-out' has a layout, this is "
                                     << value.getType();
  if (layout.getWarps().size() != warpBits)
    return emitError(value.getLoc()) << "the layout is not for the kernel's "
                                     << (1u << warpBits) << " warps";
  return success();
}

/// All tiles that must have one layout do.
static bool agrees(Operation *op) {
  Agreement agreement = getAgreement(op);
  SmallVector<Value> tiles(agreement.results);
  for (OpOperand *operand : agreement.operands)
    tiles.push_back(operand->get());
  return llvm::all_of(tiles, [&](Value tile) {
    return getLayoutAttr(tile.getType()) == getLayoutAttr(tiles.front().getType());
  });
}

/// The rule of one operation.
static bool keepsRule(Operation *op) {
  auto isResultOf = [&](Value result, Value source) {
    return !isTile(result) || !isTile(source) ||
           getLayout(result) == layoutOfResult(op, getLayout(source));
  };
  if (isa<ReshapeOp, PermuteOp>(op))
    return isResultOf(op->getResult(0), op->getOperand(0));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return broadcastKeepsPlaces(broadcast, getLayout(broadcast.getSource()),
                                getLayout(broadcast.getResult()));
  if (isa<ReduceOp>(op) && !llvm::all_of(op->getResults(), [&](Value result) {
        return isResultOf(result, op->getOperand(0));
      }))
    return false;
  if (auto mma = dyn_cast<MmaOp>(op); mma && !mma.getAtom())
    return false;
  if (auto cat = dyn_cast<CatOp>(op))
    return agrees(op) && catKeepsPlaces(cat);
  if (auto insert = dyn_cast<InsertOp>(op))
    return agrees(op) && getLayout(insert.getSlice()) == insertedLayout(insert);
  if (auto take = dyn_cast<TakeOp>(op))
    return getLayout(take.getIndices()) == takeIndexLayout(take);
  if (auto scan = dyn_cast<ScanOp>(op))
    return agrees(op) && planScan(getLayout(scan.getResult(0)), scan.getAxis());
  if (auto sort = dyn_cast<SortOp>(op))
    return agrees(op) && planScan(getLayout(sort.getResult(0)), sort.getAxis());
  return agrees(op);
}

static LogicalResult verifyLaidOutStage(KernelOp kernel) {
  if (!kernel.getNumWarps())
    return kernel.emitError("a kernel of stage 'laid-out' has 'num_warps'");
  unsigned warpBits = llvm::Log2_32(*kernel.getNumWarps());
  if (failed(forTiles(kernel, [&](Value value) { return verifyWarps(value, warpBits); })))
    return failure();
  WalkResult result = kernel.walk([](Operation *op) {
    if (keepsRule(op))
      return WalkResult::advance();
    op->emitError("breaks the layout rule of its kind");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct VerifyStage : tilec::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    LogicalResult result = success();
    if (stage == "tile")
      result = verifyTileStage(getOperation());
    else if (stage == "laid-out")
      result = verifyLaidOutStage(getOperation());
    else if (stage == "staged")
      result = verifyProductsAreWaitedFor(getOperation());
    else
      result = getOperation().emitError() << "there is no check of stage '" << stage << "'";
    if (failed(result))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

//===- StartSums.cpp - sums of products without zeros -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out: where a loop adds products to zeros, and the atom can leave
// its accumulator out, the first product does, and no register is cleared:
//
//   %r = scf.for %k = %0 to %n iter_args(%s = %zeros) {
//     %t = tgpu.mma %a, %b, %s }
//   %w = tgpu.mma_wait %r
//     →
//   %w = scf.if %0 < %n {
//     %r = scf.for %k = %0 to %n iter_args(%s = undefined) {
//       %t = tgpu.mma %a, %b, %s if %k != %0 }
//     tgpu.mma_wait %r
//   } else { tgpu.mma_wait %zeros }
//
// What stands between the loop and the wait, to run beside the last product (SinkScalars), goes
// into both arms with them.
//
// Clearing the accumulator of a warp group takes as long as half of a pass through such a
// loop, in which the products of the next tile could run.
//
//===------------------------------------------------------------------------===//
#include "LoopSums.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_STARTSUMS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A sum that a loop carries.
struct Sum {
  unsigned carried;
  tgpu::MmaOp product;
  tgpu::MmaWaitOp wait; ///< behind the loop, for its last product; null: it is in the loop
};

} // namespace

/// The sum that is carried as number `carried`, where that is one: it begins as zeros, is
/// read by one product, and is complete with the loop or with a wait behind it.
static std::optional<Sum> matchSum(scf::ForOp loop, unsigned carried) {
  Value acc = loop.getRegionIterArg(carried), result = loop.getResult(carried);
  if (!isZero(loop.getInitArgs()[carried]) || !acc.hasOneUse())
    return std::nullopt;
  auto mma = dyn_cast<tgpu::MmaOp>(*acc.getUsers().begin());
  if (!mma || mma->getBlock() != loop.getBody() || mma.getAcc() != acc || mma.getAdds())
    return std::nullopt;
  const Atom *atom = findAtom(mma.getAtom());
  if (!atom || !atom->canStart)
    return std::nullopt;
  if (loop.getYieldedValues()[carried].getDefiningOp<tgpu::MmaWaitOp>())
    return Sum{carried, mma, {}};
  auto wait = result.hasOneUse() ? dyn_cast<tgpu::MmaWaitOp>(*result.getUsers().begin())
                                 : tgpu::MmaWaitOp();
  if (!wait || wait->getBlock() != loop->getBlock() || wait.getInputs().size() != 1)
    return std::nullopt;
  return Sum{carried, mma, wait};
}

/// What stands between `loop` and the first wait for its products, where there is one.
static SmallVector<Operation *> opsBesideProducts(scf::ForOp loop, ArrayRef<Sum> sums) {
  SmallVector<Operation *> ops;
  if (llvm::none_of(sums, [](const Sum &sum) { return bool(sum.wait); }))
    return ops;
  Operation *op = loop->getNextNode();
  for (; op && !isa<tgpu::MmaWaitOp>(op); op = op->getNextNode())
    ops.push_back(op);
  bool canCopy = llvm::all_of(ops, [](Operation *op) {
    return isMemoryEffectFree(op) || isa<tile::LoadOp>(op);
  });
  return canCopy ? ops : SmallVector<Operation *>();
}

/// What `ops`, of one block, compute for others.
static SmallVector<Value> resultsOf(ArrayRef<Operation *> ops) {
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(ops, op->getBlock()->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  return results;
}

/// Lets `loop` and the waits for its last products run where it has an iteration; else
/// its results are what it begins with. The waits for zeros are for nothing, but
/// optimisation does not look through them: it would move the zeros before the branch.
static void runIfAny(scf::ForOp loop, ArrayRef<Sum> sums) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Operation *> beside = opsBesideProducts(loop, sums);
  SmallVector<Value> results(loop.getResults());
  llvm::append_range(results, resultsOf(beside));
  auto branch = scf::IfOp::create(builder, loc, ValueRange(results).getTypes(),
                                  emitHasIteration(builder, loop), /*withElseRegion=*/true);

  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> begins(loop.getInitArgs());
  IRMapping map;
  for (Operation *op : beside)
    builder.clone(*op, map);
  for (Value result : ArrayRef(results).drop_front(loop.getNumResults()))
    begins.push_back(map.lookup(result));
  for (Sum sum : sums)
    begins[sum.carried] =
        tgpu::MmaWaitOp::create(builder, loc, begins[sum.carried], /*pending=*/0).getResult(0);
  scf::YieldOp::create(builder, loc, begins);

  Block *then = branch.thenBlock();
  loop->moveBefore(then, then->end());
  for (Operation *op : beside)
    op->moveBefore(then, then->end());
  for (auto [result, other] : llvm::zip_equal(results, branch.getResults()))
    result.replaceUsesWithIf(other, [&](OpOperand &use) {
      return !branch->isProperAncestor(use.getOwner());
    });
  builder.setInsertionPointToEnd(then);
  SmallVector<Value> ends(results);
  for (Sum sum : sums) {
    if (!sum.wait)
      continue;
    sum.wait.getResult(0).replaceAllUsesWith(branch.getResult(sum.carried));
    sum.wait->moveBefore(then, then->end());
    sum.wait->setOperand(0, results[sum.carried]);
    ends[sum.carried] = sum.wait.getResult(0);
  }
  scf::YieldOp::create(builder, loc, ends);
}

static void startSums(scf::ForOp loop) {
  SmallVector<Sum> sums;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (std::optional<Sum> sum = matchSum(loop, i))
      sums.push_back(*sum);
  if (sums.empty())
    return;
  runIfAny(loop, sums);
  Location loc = loop.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  Value isLater = emitIsLater(builder, loop);
  builder.setInsertionPoint(loop);
  for (const Sum &sum : sums) {
    tgpu::MmaOp mma = sum.product;
    mma.getAddsMutable().assign(isLater);
    loop.getInitArgsMutable()[sum.carried].set(
        ub::PoisonOp::create(builder, loc, mma.getAcc().getType()));
  }
}

namespace {

struct StartSums : tilec::impl::StartSumsBase<StartSums> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      startSums(loop);
  }
};

} // namespace

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
// Clearing the accumulator of a warp group takes as long as half of a pass through such a
// loop, in which the products of the next tile could run.
//
//===------------------------------------------------------------------------===//
#include "LoopSums.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

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

/// Lets `loop` and the waits for its last products run where it has an iteration; else
/// its results are what it begins with. The waits for zeros are for nothing, but
/// optimisation does not look through them: it would move the zeros before the branch.
static void runIfAny(scf::ForOp loop, ArrayRef<Sum> sums) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(),
                                  emitHasIteration(builder, loop), /*withElseRegion=*/true);
  for (auto [result, other] : llvm::zip_equal(loop.getResults(), branch.getResults()))
    result.replaceAllUsesWith(other);
  SmallVector<Value> ends(loop.getResults()), begins(loop.getInitArgs());
  builder.setInsertionPointToStart(branch.elseBlock());
  for (Sum sum : sums)
    begins[sum.carried] =
        tgpu::MmaWaitOp::create(builder, loc, begins[sum.carried], /*pending=*/0).getResult(0);
  scf::YieldOp::create(builder, loc, begins);
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  for (Sum sum : sums) {
    if (!sum.wait)
      continue;
    ends[sum.carried] =
        tgpu::MmaWaitOp::create(builder, loc, ends[sum.carried], sum.wait.getPending())
            .getResult(0);
    sum.wait.getResult(0).replaceAllUsesWith(branch.getResult(sum.carried));
    sum.wait->erase();
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

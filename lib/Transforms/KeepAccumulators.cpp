//===- KeepAccumulators.cpp - sums that stay in tensor memory ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel whose accumulators in tensor memory are written before each product
// and read after it. Out: where a loop only adds products up, the accumulator stays:
//
//   scf.for %k … iter_args(%s = %zero) {       tgpu.barrier   scf.for %k … {
//     %A, %B = tgpu.pop %ring                    %A, %B = tgpu.pop %ring
//     tgpu.set_accumulator %s, %T                %adds = %k != %first
//     tgpu.accumulate %A, %B, %T           →     tgpu.accumulate %A, %B, %T if %adds
//     tgpu.mma_wait pending 0                    tgpu.release %ring }
//     %r = tgpu.get_accumulator %T             scf.if %first < %last {
//     tgpu.release %ring                         tgpu.mma_wait pending 0
//     scf.yield %r }                             %r = tgpu.get_accumulator %T } else { %zero }
//
// The sum is read where it is first used. What does not begin at zero is set before the
// loop. A loop around such a loop is another one, from the inside out. A loop that does
// something else with the sum, as attention does when it rescales, reads and writes it in
// each iteration.
//
// The wait stays where the loop's threads write again what a product reads; a place of a ring
// that only products read is released when they are complete.
//
//===------------------------------------------------------------------------===//
#include "LoopSums.h"

#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_KEEPACCUMULATORS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A sum that a loop carries through an accumulator.
struct Sum {
  unsigned carried; ///< the number of the iteration argument
  tgpu::SetAccumulatorOp set;
  tgpu::GetAccumulatorOp get;
  SmallVector<tgpu::AccumulateOp, 1> products; ///< all in the loop, maybe in loops inside
};

} // namespace

static std::optional<Sum> matchSum(scf::ForOp loop, unsigned carried) {
  Sum sum;
  sum.carried = carried;
  Value argument = loop.getRegionIterArg(carried);
  Block *body = loop.getBody();
  if (!argument.hasOneUse())
    return std::nullopt;
  sum.set = dyn_cast<tgpu::SetAccumulatorOp>(*argument.getUsers().begin());
  sum.get = loop.getYieldedValues()[carried].getDefiningOp<tgpu::GetAccumulatorOp>();
  if (!sum.set || !sum.get || sum.set->getBlock() != body || sum.get->getBlock() != body ||
      !sum.get.getTile().hasOneUse() || sum.set.getAccumulator() != sum.get.getAccumulator() ||
      !sum.set->isBeforeInBlock(sum.get))
    return std::nullopt;
  for (Operation *user : sum.set.getAccumulator().getUsers()) {
    if (user == sum.set || user == sum.get)
      continue;
    Operation *inBody = body->findAncestorOpInBlock(*user);
    auto product = dyn_cast<tgpu::AccumulateOp>(user);
    if (!inBody)
      return std::nullopt; // the accumulator is used elsewhere, too
    if (!product || !sum.set->isBeforeInBlock(inBody) || !inBody->isBeforeInBlock(sum.get))
      return std::nullopt;
    sum.products.push_back(product);
  }
  return sum;
}

/// Whether no thread writes to what products read from `buffer` within the loop: a place of
/// a ring that only products read, or a buffer that is filled before.
static bool staysAsItIs(Value buffer, scf::ForOp loop) {
  if (auto pop = buffer.getDefiningOp<tgpu::PopOp>()) {
    auto ring = pop.getRing().getDefiningOp<tgpu::RingOp>();
    return !ring.isFilledByThreads() &&
           llvm::all_of(pop.getRing().getUsers(), [](Operation *user) {
             return !isa<tgpu::PopOp>(user) || llvm::all_of(user->getUsers(), [](Operation *reader) {
               return isa<tgpu::AccumulateOp>(reader) || reader->use_empty();
             });
           });
  }
  return llvm::none_of(buffer.getUsers(), [&](Operation *user) {
    return isa<tgpu::StoreOp>(user) && loop->isAncestor(user);
  });
}

/// The wait right behind the product that `get` follows.
static tgpu::MmaWaitOp waitOf(Sum &sum) {
  return dyn_cast_or_null<tgpu::MmaWaitOp>(sum.get->getPrevNode());
}

/// The first operation behind `loop` that needs its result, or may not be passed: what
/// comes before, such as loads for the result's use, need not wait for the sum.
static Operation *firstUser(scf::ForOp loop, Value result) {
  auto uses = [&](Operation &op) {
    return llvm::any_of(result.getUsers(),
                        [&](Operation *user) { return op.isAncestor(user); });
  };
  Operation *op = loop->getNextNode();
  while (!uses(*op) && (isMemoryEffectFree(op) || isa<tile::LoadOp>(op)) &&
         !op->hasTrait<OpTrait::IsTerminator>())
    op = op->getNextNode();
  return op;
}

static Value readAfter(OpBuilder &builder, Sum &sum) {
  Location loc = sum.get.getLoc();
  tgpu::MmaWaitOp::create(builder, loc, ValueRange(), /*pending=*/0);
  return tgpu::GetAccumulatorOp::create(builder, loc, sum.get.getTile().getType(),
                                        sum.get.getAccumulator());
}

static void keep(scf::ForOp loop, Sum &sum) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value init = loop.getInitArgs()[sum.carried], result = loop.getResult(sum.carried);
  // One product of this very loop, which may overwrite what is there the first time.
  bool overwrites = isZero(init) && sum.products.size() == 1 &&
                    sum.products[0]->getBlock() == loop.getBody() && !sum.products[0].getAdds();
  if (!overwrites)
    tgpu::SetAccumulatorOp::create(builder, loc, init, sum.set.getAccumulator());
  // Here, so that none is needed in the loop.
  tgpu::BarrierOp::create(builder, loc);
  builder.setInsertionPoint(firstUser(loop, result));
  Value after;
  if (overwrites) {
    auto branch = scf::IfOp::create(builder, loc, result.getType(),
                                    emitHasIteration(builder, loop), /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, readAfter(builder, sum));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, init);
    after = branch.getResult(0);
    builder.setInsertionPoint(sum.products[0]);
    sum.products[0].getAddsMutable().assign(emitIsLater(builder, loop));
  } else {
    after = readAfter(builder, sum);
  }
  result.replaceAllUsesWith(after);
  bool isFree = llvm::all_of(sum.products, [&](tgpu::AccumulateOp product) {
    return staysAsItIs(product.getA(), loop) && staysAsItIs(product.getB(), loop);
  });
  if (tgpu::MmaWaitOp wait = waitOf(sum); wait && isFree)
    wait.erase();
  // What is carried on is what came in, which is nothing: the loop loses it when it is
  // simplified.
  builder.setInsertionPoint(loop);
  loop.getInitArgsMutable()[sum.carried].set(
      ub::PoisonOp::create(builder, loc, result.getType()));
  loop.getBody()->getTerminator()->setOperand(sum.carried, loop.getRegionIterArg(sum.carried));
  sum.get.erase();
  sum.set.erase();
}

namespace {

struct KeepAccumulators : tilec::impl::KeepAccumulatorsBase<KeepAccumulators> {
  void runOnOperation() override {
    // Inner loops come first.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned carried = 0; carried < loop.getNumResults(); ++carried)
        if (std::optional<Sum> sum = matchSum(loop, carried))
          keep(loop, *sum);
  }
};

} // namespace

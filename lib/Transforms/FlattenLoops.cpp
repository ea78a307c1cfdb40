//===- FlattenLoops.cpp - loops around one that adds products up ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: staged loops with a ring, the innermost of which hold all the work, as in a convolution
// that goes over the places of its filter and then over channels. Out: one loop:
//
//   scf.for %i = 0 to %r iter_args(%s) {              %n = %r * %c
//     scf.for %k = 0 to %c iter_args(%t = %s) {       scf.for %q = 0 to %n iter_args(%t) {
//       push, pop, product, release              →      %i = %q / %c   %k = %q % %c
//       yield %u }                                      push, pop, product, release
//     yield }                                           yield %u }
//
// Copies that run ahead and products that stay in flight do so within one loop. Where the
// inner one has few iterations, there would be nothing to run ahead of.
//
// The warps that compute, where others copy, need none of the counters, so there this costs
// nothing. Threads that copy as well divide once a step, as unsigned, which is short where both
// are small; a scalar computed in the outer loop is computed in each step then. Loops over something else than whole numbers from a constant
// on, by a constant step, and those that do more than begin the next one stay as they are.
//
//===------------------------------------------------------------------------===//
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_FLATTENLOOPS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Counts from a constant on, by a constant step, both small.
static bool isCounted(scf::ForOp loop) {
  auto isSmall = [](Value value, int64_t least) {
    APInt number;
    return matchPattern(value, m_ConstantInt(&number)) && number.sge(least) &&
           number.sle(INT32_MAX);
  };
  return loop.getInductionVar().getType().isIndex() && !loop.getUnsignedCmp() &&
         isSmall(loop.getLowerBound(), 0) && isSmall(loop.getStep(), 1);
}

/// The loop that all of `outer`'s work is in: what it carries goes through, and besides there
/// are only scalars, which can be computed again.
static scf::ForOp loopWithin(scf::ForOp outer) {
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return {};
      inner = loop;
    } else if (inner || op.getNumRegions() || !isPure(&op)) {
      return {};
    }
  }
  if (!inner || ValueRange(inner.getInitArgs()) != ValueRange(outer.getRegionIterArgs()) ||
      ValueRange(inner.getResults()) != ValueRange(outer.getYieldedValues()))
    return {};
  for (Value carried : outer.getRegionIterArgs())
    if (!carried.hasOneUse())
      return {};
  bool isFixed = outer.isDefinedOutsideOfLoop(inner.getUpperBound());
  return isFixed && isCounted(outer) && isCounted(inner) ? inner : scf::ForOp();
}

/// Of products that a ring feeds; where threads do not copy themselves, it needs no counter.
static bool gains(scf::ForOp outer, scf::ForOp inner) {
  bool hasProduct = !inner.getBody()->getOps<tgpu::MmaOp>().empty();
  bool hasRing = false, isOfThreads = true, pushes = false;
  for (Operation &op : *inner.getBody()) {
    auto pop = dyn_cast<tgpu::PopOp>(op);
    pushes |= isa<tgpu::PushOp>(op);
    if (!pop)
      continue;
    hasRing = true;
    auto ring = pop.getRing().getDefiningOp<tgpu::RingOp>();
    isOfThreads &= ring && ring.isFilledByThreads();
  }
  bool isIdle = !pushes && outer.getInductionVar().use_empty() &&
                inner.getInductionVar().use_empty();
  return hasProduct && hasRing && (isIdle || isOfThreads);
}

namespace {

/// Makes one loop of two.
class Flattener {
public:
  Flattener(scf::ForOp outer, scf::ForOp inner)
      : outer(outer), inner(inner), builder(outer), loc(outer.getLoc()) {}

  scf::ForOp run() {
    builder.setInsertionPoint(placeOfCounts());
    Value innerCount = countOf(inner);
    Value total = arith::MulIOp::create(builder, loc, countOf(outer), innerCount);
    // Copies that run ahead may ask where they are in a loop that has no iteration.
    Value divisor = arith::MaxSIOp::create(builder, loc, innerCount, constant(1));
    builder.setInsertionPoint(outer);
    auto loop = scf::ForOp::create(builder, loc, constant(0), total, constant(1),
                                   outer.getInitArgs());
    if (Block *body = loop.getBody(); !body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(loop.getBody());
    IRMapping map;
    Value number = loop.getInductionVar();
    mapCounter(map, outer, [&]() -> Value {
      return arith::DivUIOp::create(builder, loc, number, divisor);
    });
    mapCounter(map, inner, [&]() -> Value {
      return arith::RemUIOp::create(builder, loc, number, divisor);
    });
    map.map(inner.getRegionIterArgs(), loop.getRegionIterArgs());
    for (Operation &op : outer.getBody()->without_terminator())
      if (&op != inner.getOperation())
        builder.clone(op, map);
    for (Operation &op : *inner.getBody())
      builder.clone(op, map);
    outer.replaceAllUsesWith(loop.getResults());
    outer.erase();
    return loop;
  }

private:
  /// Ahead of all loops that may become one with these.
  Operation *placeOfCounts() {
    scf::ForOp place = outer;
    auto parent = dyn_cast<scf::ForOp>(outer->getParentOp());
    while (parent && loopWithin(parent) == place &&
           parent.isDefinedOutsideOfLoop(outer.getUpperBound()) &&
           parent.isDefinedOutsideOfLoop(inner.getUpperBound())) {
      place = parent;
      parent = dyn_cast<scf::ForOp>(place->getParentOp());
    }
    return place;
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  static int64_t numberOf(Value value) {
    APInt number;
    matchPattern(value, m_ConstantInt(&number));
    return number.getSExtValue();
  }

  /// How often a loop runs, at least 0.
  Value countOf(scf::ForOp loop) {
    int64_t begin = numberOf(loop.getLowerBound()), step = numberOf(loop.getStep());
    Value count =
        arith::MaxSIOp::create(builder, loc, loop.getUpperBound(), constant(begin));
    if (begin)
      count = arith::SubIOp::create(builder, loc, count, constant(begin));
    if (step == 1)
      return count;
    return tile::DivideOp::create(builder, loc, count.getType(), tile::QuotientRounding::Ceil,
                                  tile::Signedness::Signed, count, constant(step));
  }

  /// What `loop` counts in the iteration that `number` gives.
  void mapCounter(IRMapping &map, scf::ForOp loop, llvm::function_ref<Value()> number) {
    if (loop.getInductionVar().use_empty())
      return;
    Value counter = number();
    if (int64_t step = numberOf(loop.getStep()); step != 1)
      counter = arith::MulIOp::create(builder, loc, counter, constant(step));
    if (int64_t begin = numberOf(loop.getLowerBound()))
      counter = arith::AddIOp::create(builder, loc, counter, constant(begin));
    map.map(loop.getInductionVar(), counter);
  }

  scf::ForOp outer, inner;
  OpBuilder builder;
  Location loc;
};

struct FlattenLoops : tilec::impl::FlattenLoopsBase<FlattenLoops> {
  void runOnOperation() override {
    // Inner loops come first.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp outer : loops) {
      scf::ForOp inner = loopWithin(outer);
      if (!inner || !gains(outer, inner))
        continue;
      tgpu::MmaOp product = *inner.getBody()->getOps<tgpu::MmaOp>().begin();
      remarkChoice(product, "flatten-loops", "the loops around the product run as one");
      Flattener(outer, inner).run();
    }
  }
};

} // namespace

//===- CountLoops.cpp - loops whose variable could overflow ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: loops that end where their variable is beyond the bound. Out: the same, but where
// the bound is not known to be so small that the variable, a step later, still is a number
// of 64 bits, the loop counts:
//
//   scf.for %i = %lo to %hi step %s { … %i … }
//     →
//   scf.for %t = %0 to %n step %1 {            // %n = ceil((%hi - %lo) / %s), or 0
//     %i = %lo + %t * %s   … %i … }
//
// Where it is only the step that may be so large, a smaller one does, which is as far as from
// the first bound to the last. So passes behind this one, and the code of a loop, may add a
// step to the variable or to the first bound, and take one from the last, as long as the loop
// has an iteration. Steps of 1 need no care: they end exactly at the bound. What is known of
// a bound is mostly enough: loops over an array's dims stay as they are in builds that rely
// on `index32`.
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexFacts.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace tilec {
#define GEN_PASS_DEF_COUNTLOOPS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// What is known of the numbers that a loop goes by.
struct LoopRange {
  LoopRange(scf::ForOp loop, const IndexFacts &facts)
      : lower(facts.rangeOf(loop.getLowerBound(), loop)),
        upper(facts.rangeOf(loop.getUpperBound(), loop)),
        step(facts.rangeOf(loop.getStep(), loop)) {}

  /// A step of `size` before the first bound and one behind the last are numbers, too.
  bool hasRoomFor(int64_t size) const {
    return llvm::checkedSub(lower.min, size) && llvm::checkedAdd(upper.max, size);
  }

  /// The shortest step that leads from any first bound behind the last; null where that is none
  /// for which there is room.
  std::optional<int64_t> stepOverAll() const {
    std::optional<int64_t> all = llvm::checkedSub(upper.max, lower.min);
    return all && hasRoomFor(*all) ? std::optional(std::max<int64_t>(*all, 1)) : std::nullopt;
  }

  bool isByOne() const { return step.isSingle() && step.min == 1; }

  IndexRange lower, upper, step;
};

} // namespace

/// How many iterations `loop` has: 0 if the last bound is not behind the first.
static Value emitCount(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  // Unsigned: the distance may be more than a signed number holds.
  Value distance = arith::SubIOp::create(builder, loc, upper, lower);
  Value last = arith::SubIOp::create(builder, loc, distance, constant(1));
  Value rounds = arith::DivUIOp::create(builder, loc, last, loop.getStep());
  // More would not end in a century.
  rounds = arith::MinUIOp::create(builder, loc, rounds, constant(INT64_MAX - 1));
  rounds = arith::AddIOp::create(builder, loc, rounds, constant(1));
  Value runs =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  return arith::SelectOp::create(builder, loc, runs, rounds, constant(0));
}

static void countInstead(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Value count = emitCount(builder, loop);
  loop.setLowerBound(arith::ConstantIndexOp::create(builder, loc, 0));
  loop.setUpperBound(count);
  loop.setStep(arith::ConstantIndexOp::create(builder, loc, 1));
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  auto far = arith::MulIOp::create(builder, loc, number, step);
  auto variable = arith::AddIOp::create(builder, loc, lower, far);
  number.replaceAllUsesExcept(variable, far);
}

/// Of a step beyond `most` nobody sees how far it leads.
static void limitStep(scf::ForOp loop, int64_t most) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  loop.setStep(arith::MinSIOp::create(builder, loc, loop.getStep(),
                                      arith::ConstantIndexOp::create(builder, loc, most)));
}

namespace {

struct CountLoops : tilec::impl::CountLoopsBase<CountLoops> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, LoopRange>> wide;
    {
      IndexFacts facts(getOperation());
      getOperation().walk([&](scf::ForOp loop) {
        if (!loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
          return;
        LoopRange range(loop, facts);
        if (!range.isByOne() && !range.hasRoomFor(range.step.max))
          wide.push_back({loop, range});
      });
    }
    for (auto &[loop, range] : wide)
      if (std::optional<int64_t> most = range.stepOverAll())
        limitStep(loop, *most);
      else
        countInstead(loop);
  }
};

} // namespace

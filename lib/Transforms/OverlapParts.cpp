//===- OverlapParts.cpp - one part in flight while another is added -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a loop whose product begins from zero and is added to a sum in registers, as those
// of f8 are that are to be exact. Out: the same with the next product issued before this
// one is waited for and added, so that the unit always has one to work on:
//
//   for i, sum {                                P = product 0
//     P = product i, waited                     for each two that follow, sum, P {
//     release; sum += P            →              Q = product i      wait for P; sum += P
//   }                                             P = product i + 1  wait for Q; sum += Q
//                                               }
//                                               the last product, if one is left; the rest
//
// Two by two, as registers of a product in flight cannot be renamed: P is handed on in the
// registers that it is written to, an accumulator that is begun anew. A place is released
// a product later than it was. Sums are added in the order in which they were before.
//
//===------------------------------------------------------------------------===//
#include "OverlapParts.h"
#include "LoopSums.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilec;

namespace {

/// All that such a loop has in its body.
struct PartialSum {
  tgpu::PopOp pop;
  tgpu::MmaOp mma;
  tgpu::MmaWaitOp wait;
  tgpu::ReleaseOp release;
  arith::AddFOp add;
};

} // namespace

/// One that is read, one that is waited for, and one to copy to.
static constexpr int64_t leastPlaces = 3;

static std::optional<PartialSum> matchPartialSum(scf::ForOp loop) {
  PartialSum sum;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto take = [&](auto &place) {
      using Op = std::remove_reference_t<decltype(place)>;
      auto found = dyn_cast<Op>(&op);
      if (!found || place)
        return false;
      place = found;
      return true;
    };
    if (!take(sum.pop) && !take(sum.mma) && !take(sum.wait) && !take(sum.release) &&
        !take(sum.add) && !op.hasTrait<OpTrait::ConstantLike>())
      return std::nullopt;
  }
  if (!sum.pop || !sum.mma || !sum.wait || !sum.release || !sum.add ||
      loop.getNumResults() != 1)
    return std::nullopt;
  const Atom *atom = findAtom(sum.mma.getAtom());
  Value ring = sum.pop.getRing(), acc = loop.getRegionIterArg(0);
  bool isGood = atom && atom->isAsync && !loop.getUnsignedCmp() &&
                isZero(sum.mma.getAcc()) && !sum.mma.getAdds() &&
                sum.mma.getA().getDefiningOp() == sum.pop &&
                sum.mma.getB().getDefiningOp() == sum.pop &&
                sum.wait.getInputs() == ValueRange(sum.mma.getResult()) &&
                sum.wait.getPending() == 0 && sum.release.getRing() == ring &&
                sum.add.getLhs() == acc && sum.add.getRhs() == sum.wait.getResult(0) &&
                loop.getYieldedValues()[0] == sum.add.getResult() && acc.hasOneUse() &&
                cast<tgpu::RingType>(ring.getType()).getStages() >= leastPlaces;
  return isGood ? std::optional(sum) : std::nullopt;
}

namespace {

class PartWriter {
public:
  PartWriter(scf::ForOp loop, const PartialSum &parts)
      : loop(loop), parts(parts), builder(loop), loc(loop.getLoc()) {}

  tgpu::MmaOp run() {
    tgpu::MmaOp first;
    replaceIfAny(builder, loop, [&] {
      Block *there = builder.getInsertionBlock();
      Value sum = emitAll();
      first = *there->getOps<tgpu::MmaOp>().begin();
      return SmallVector<Value>{sum};
    });
    return first;
  }

private:
  Value emitAll() {
    Value nothing = parts.mma.getAcc();
    if (Operation *zeros = nothing.getDefiningOp(); loop->isAncestor(zeros))
      zeros->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    Value first = issue(nothing);
    Value step = loop.getStep();
    Value second = add(loop.getLowerBound(), step);
    Value limit = arith::SubIOp::create(builder, loc, loop.getUpperBound(), step);
    auto pairs = scf::ForOp::create(builder, loc, second, limit, add(step, step),
                                    ValueRange{loop.getInitArgs()[0], first, second});
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(pairs.getBody());
      Value sum = pairs.getRegionIterArg(0), part = pairs.getRegionIterArg(1);
      Value other = issue(nothing);
      Value waited = waitFor(part, 1);
      sum = addTo(sum, waited);
      Value next = issue(waited);
      sum = addTo(sum, waitFor(other, 1));
      Value after = add(pairs.getInductionVar(), add(step, step));
      scf::YieldOp::create(builder, loc, ValueRange{sum, next, after});
    }
    Value sum = pairs.getResult(0), part = pairs.getResult(1);
    Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                         pairs.getResult(2), loop.getUpperBound());
    auto last = scf::IfOp::create(builder, loc, sum.getType(), isLeft, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(last.thenBlock());
    Value other = issue(nothing);
    Value most = addTo(sum, waitFor(part, 1));
    scf::YieldOp::create(builder, loc, addTo(most, waitFor(other, 0)));
    builder.setInsertionPointToStart(last.elseBlock());
    scf::YieldOp::create(builder, loc, addTo(sum, waitFor(part, 0)));
    return last.getResult(0);
  }

  /// The next product, into the registers of `place`.
  Value issue(Value place) {
    IRMapping map;
    builder.clone(*parts.pop, map);
    map.map(parts.mma.getAcc(), place);
    Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
    auto mma = cast<tgpu::MmaOp>(builder.clone(*parts.mma, map));
    mma.getAddsMutable().assign(no);
    return mma.getResult();
  }
  /// A part, complete, and its place released.
  Value waitFor(Value part, int64_t pending) {
    Value waited =
        tgpu::MmaWaitOp::create(builder, loc, ValueRange(part), pending).getResult(0);
    builder.clone(*parts.release);
    return waited;
  }
  Value addTo(Value sum, Value part) {
    return arith::AddFOp::create(builder, loc, sum, part);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }

  scf::ForOp loop;
  PartialSum parts;
  OpBuilder builder;
  Location loc;
};

} // namespace

tgpu::MmaOp tilec::overlapParts(scf::ForOp loop) {
  std::optional<PartialSum> parts = matchPartialSum(loop);
  return parts ? PartWriter(loop, *parts).run() : tgpu::MmaOp();
}

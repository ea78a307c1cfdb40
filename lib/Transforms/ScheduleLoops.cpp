//===- ScheduleLoops.cpp - copies run ahead of the loop ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: rings that threads fill, pushed and popped in one iteration of a loop.
// Out: the same loops, each push some iterations ahead of its pop, so that copies are
// under way while earlier groups are computed with. With four stages:
//
//                                            push %ring, 0   if 0 < n
//   for %k = 0 to n {                        push %ring, 1   if 1 < n
//     push %ring, %k                         push %ring, 2   if 2 < n
//     pop %ring                       →      for %k = 0 to n {
//     …                                        pop %ring {pending = 2}
//     release %ring                            …
//   }                                          push %ring, %k + 3   if %k + 3 < n
//                                              release %ring }
//
// The push comes after the pop: the place that it fills was released an iteration
// before, and the pop is where all threads have met since. It comes late, so that the
// iteration's products do not wait for the addresses of copies. A ring whose places depend
// on anything but numbers that grow by a constant from one iteration to the next (on what
// another load gave) stays as it is.
//
// A `while` does not say whether a next iteration comes, and a `for` with a `break` is one.
// There pushes are speculative, and what nobody took is popped behind the loop:
//
//   while c(%k) {                            push %ring, %s   push %ring, %s + 1   …
//     push %ring, %k                  →      while c(%k) { pop %ring … push %ring, %k + 3
//     pop %ring                                            release %ring … }
//     … }                                    pop %ring   release %ring   …    three times
//
// Copying too much is harmless: copies are bounded by the array whatever the loop knows of
// its index, and SelectCopies has made sure that the kernel writes nothing that they read.
//
// Two rings of one place each, which a `for` takes from by turns, are filled by turns: all
// threads meet for the one behind the release of the other.
//
//   push %k, %i   pop %k   s = …   release %k           push %k, 0   for %i {
//   push %v, %i   pop %v   … s …   release %v     →       pop %k   push %v, %i       s = …
//                                                         pop %v   push %k, %i + 1   … s … }
//
// Rings of one loop begin it in turns, place by place. So each iteration, and each turn
// before the loop, closes one group of each ring (an empty one when there is nothing to
// copy), and how many groups follow the one that a pop waits for is a constant.
//
//===------------------------------------------------------------------------===//
#include "AlternatingRings.h"
#include "Dependence.h"

#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/SharedBuffers.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_SCHEDULELOOPS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Steps beyond this could overflow when multiplied by the stages.
static constexpr int64_t mostStep = int64_t(1) << 32;

namespace {

/// A number in a loop that is `start` at first and grows by `step` each iteration.
struct Counter {
  Value inside, start;
  int64_t step;
};

/// A push and its pop, both in the body of `loop`.
struct RingLoop {
  LoopLikeOpInterface loop; ///< scf.for or scf.while
  Block *body;
  tgpu::PushOp push;
  tgpu::PopOp pop;
  /// Where the push goes: the release, if it is in the loop's body.
  Operation *late = nullptr;
  /// What the push's places are computed from: numbers, and operations in the loop, in
  /// program order.
  SmallVector<Counter, 2> counters;
  SmallVector<Operation *> slice;

  scf::ForOp getFor() { return dyn_cast<scf::ForOp>(*loop); }
};

} // namespace

static std::optional<int64_t> constantStep(Value value) {
  APInt step;
  if (!matchPattern(value, m_ConstantInt(&step)) || step.getBitWidth() > 64 ||
      std::abs(step.getSExtValue()) > mostStep)
    return std::nullopt;
  return step.getSExtValue();
}

/// `value`, an argument of the loop's body, as a counter, if `next` is what it becomes.
static std::optional<Counter> counterOf(Value value, Value start, Value next) {
  Operation *op = next.getDefiningOp();
  if (!value.getType().isIndex() || !isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  bool isSum = isa<arith::AddIOp>(op);
  Value left = op->getOperand(0), right = op->getOperand(1);
  std::optional<int64_t> step = constantStep(left == value ? right : left);
  if (!step || (left != value && (right != value || !isSum)))
    return std::nullopt;
  return Counter{value, start, isSum ? *step : -*step};
}

static std::optional<Counter> findCounter(scf::ForOp loop, BlockArgument value) {
  if (value == loop.getInductionVar()) {
    std::optional<int64_t> step = constantStep(loop.getStep());
    if (!step || !value.getType().isIndex())
      return std::nullopt;
    return Counter{value, loop.getLowerBound(), *step};
  }
  unsigned number = value.getArgNumber() - loop.getNumInductionVars();
  return counterOf(value, loop.getInitArgs()[number], loop.getYieldedValues()[number]);
}

/// Of a `while`, a number that the condition passes on as it is.
static std::optional<Counter> findCounter(scf::WhileOp loop, BlockArgument value) {
  auto tested =
      dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[value.getArgNumber()]);
  if (!tested || tested.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  return counterOf(value, loop.getInits()[tested.getArgNumber()],
                   loop.getYieldOp().getOperand(tested.getArgNumber()));
}

/// Finds the numbers and the operations in the loop that `push` needs; false when it needs
/// anything else.
static bool collectSlice(RingLoop &ring) {
  SmallVector<Value> places;
  ring.push->walk([&](tgpu::CopyOp copy) {
    places.append(copy.getIndex().begin(), copy.getIndex().end());
  });
  ring.push->walk([&](tgpu::CopyGatheredOp copy) {
    places.append(copy.getIndex().begin(), copy.getIndex().end());
    if (copy.getMask())
      places.push_back(copy.getMask());
  });
  auto isCounter = [&](BlockArgument argument) {
    std::optional<Counter> counter =
        ring.getFor() ? findCounter(ring.getFor(), argument)
                      : findCounter(cast<scf::WhileOp>(*ring.loop), argument);
    if (counter)
      ring.counters.push_back(*counter);
    return counter.has_value();
  };
  auto slice = sliceIn(ring.body, places, isPure, isCounter);
  if (slice)
    ring.slice = *slice;
  return slice.has_value();
}

/// Rings of one loop that have the same number of places.
using LoopRings = SmallVector<RingLoop, 2>;

/// The loop in whose body `op` stands: any iteration comes by.
static Operation *loopAround(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return findCounter(loop, cast<BlockArgument>(loop.getInductionVar())) ? parent : nullptr;
  auto loop = dyn_cast<scf::WhileOp>(parent);
  return loop && op->getBlock() == loop.getAfterBody() ? parent : nullptr;
}

static std::optional<RingLoop> findLoop(tgpu::RingOp ring) {
  RingLoop found;
  for (Operation *user : ring.getRing().getUsers()) {
    if (auto push = dyn_cast<tgpu::PushOp>(user)) {
      if (found.push)
        return std::nullopt;
      found.push = push;
    } else if (auto pop = dyn_cast<tgpu::PopOp>(user)) {
      if (found.pop)
        return std::nullopt;
      found.pop = pop;
    } else if (auto release = dyn_cast<tgpu::ReleaseOp>(user)) {
      found.late = release;
    }
  }
  if (!found.push || !found.pop || found.push->getBlock() != found.pop->getBlock() ||
      !loopAround(found.push) || !found.push->isBeforeInBlock(found.pop))
    return std::nullopt;
  found.loop = cast<LoopLikeOpInterface>(loopAround(found.push));
  found.body = found.push->getBlock();
  if (!collectSlice(found))
    return std::nullopt;
  if (!found.late || found.late->getBlock() != found.body ||
      found.late->isBeforeInBlock(found.pop))
    found.late = found.pop->getNextNode();
  return found;
}

/// The push of the iteration `distance` behind the first one, or behind this one.
static void clonePush(OpBuilder &builder, RingLoop &ring, bool fromStart, int64_t distance) {
  IRMapping mapping;
  Location loc = ring.push.getLoc();
  for (const Counter &counter : ring.counters) {
    Value far = arith::ConstantIndexOp::create(builder, loc, distance * counter.step);
    Value begin = fromStart ? counter.start : counter.inside;
    mapping.map(counter.inside, arith::AddIOp::create(builder, loc, begin, far));
  }
  for (Operation *op : ring.slice)
    builder.clone(*op, mapping);
  builder.clone(*ring.push, mapping);
}

/// `begin` is an iteration and so is `begin` + `distance`: no sum that could overflow.
static Value isIteration(OpBuilder &builder, Location loc, Value begin, int64_t distance,
                         Value end) {
  Value left = arith::SubIOp::create(builder, loc, end, begin);
  Value far = arith::ConstantIndexOp::create(builder, loc, distance);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, left, far);
}

/// Pushes for an iteration that comes, if it does; where none says, in any case.
static void pushAhead(OpBuilder &builder, RingLoop &ring, bool fromStart, int64_t distance) {
  scf::ForOp loop = ring.getFor();
  if (!loop)
    return clonePush(builder, ring, fromStart, distance);
  Location loc = ring.push.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  int64_t far = distance * *constantStep(loop.getStep());
  Value comes;
  if (fromStart)
    comes = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  if (distance || !fromStart) {
    Value isFar =
        isIteration(builder, loc, fromStart ? lower : loop.getInductionVar(), far, upper);
    comes = comes ? arith::AndIOp::create(builder, loc, comes, isFar).getResult() : isFar;
  }
  auto branch = scf::IfOp::create(builder, loc, comes, /*withElseRegion=*/false);
  OpBuilder inside = branch.getThenBodyBuilder();
  clonePush(inside, ring, fromStart, distance);
}

/// How many groups, of all rings of the loop, follow the one that the pop of `ring` is
/// for: those of whole turns, and of the turns that were begun.
static int64_t laterGroups(ArrayRef<RingLoop> rings, const RingLoop &ring, int64_t stages) {
  int64_t count = int64_t(rings.size()) * (stages - 2);
  for (const RingLoop &other : rings) {
    count += ring.late->isBeforeInBlock(other.late);
    count += other.late->isBeforeInBlock(const_cast<RingLoop &>(ring).pop);
  }
  return count;
}

/// What was pushed and is not wanted.
static void popRest(OpBuilder &builder, RingLoop &ring, int64_t groups) {
  for (int64_t group = 0; group < groups; ++group) {
    auto *pop = builder.clone(*ring.pop);
    pop->setAttr(tgpu::pendingAttrName, builder.getI64IntegerAttr(0));
    tgpu::ReleaseOp::create(builder, ring.push.getLoc(), ring.push.getRing());
  }
}

static void runAhead(LoopRings &rings, int64_t stages) {
  llvm::sort(rings, [](const RingLoop &a, const RingLoop &b) {
    return a.late->isBeforeInBlock(b.late);
  });
  OpBuilder builder(rings.front().loop);
  for (int64_t ahead = 0; ahead + 1 < stages; ++ahead)
    for (RingLoop &ring : rings)
      pushAhead(builder, ring, /*fromStart=*/true, ahead);
  for (RingLoop &ring : rings) {
    ring.pop->setAttr(tgpu::pendingAttrName,
                      builder.getI64IntegerAttr(laterGroups(rings, ring, stages)));
    builder.setInsertionPoint(ring.late);
    pushAhead(builder, ring, /*fromStart=*/false, stages - 1);
    builder.setInsertionPointAfter(ring.loop);
    if (!ring.getFor())
      popRest(builder, ring, stages - 1);
    ring.push->erase();
  }
  // Slices may have operations in common.
  llvm::SetVector<Operation *> sliced;
  for (RingLoop &ring : rings)
    sliced.insert(ring.slice.begin(), ring.slice.end());
  SmallVector<Operation *> inOrder = sliced.takeVector();
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : llvm::reverse(inOrder))
    if (op->use_empty())
      op->erase();
}

/// Two rings that a loop takes from by turns, in this order, or nothing.
static std::optional<std::pair<RingLoop, RingLoop>> findTurns(ArrayRef<tgpu::RingOp> rings) {
  if (rings.size() != 2)
    return std::nullopt;
  std::optional<RingLoop> first = findLoop(rings[0]), second = findLoop(rings[1]);
  if (!first || !second || first->body != second->body || !first->getFor())
    return std::nullopt;
  if (second->pop->isBeforeInBlock(first->pop))
    std::swap(first, second);
  for (RingLoop *ring : {&*first, &*second})
    if (!isa<tgpu::ReleaseOp>(ring->late) || !ring->pop->isBeforeInBlock(ring->late))
      return std::nullopt;
  if (!first->late->isBeforeInBlock(second->pop) || second->late->isBeforeInBlock(second->pop))
    return std::nullopt;
  return std::pair(*first, *second);
}

bool tilec::canAlternate(ArrayRef<tgpu::RingOp> rings) { return findTurns(rings).has_value(); }

static void takeTurns(RingLoop &first, RingLoop &second) {
  OpBuilder builder(first.loop);
  pushAhead(builder, first, /*fromStart=*/true, 0);
  builder.setInsertionPointAfter(second.pop);
  pushAhead(builder, first, /*fromStart=*/false, 1);
  first.push->erase();
  if (second.push->isBeforeInBlock(first.pop))
    second.push->moveAfter(first.pop);
  for (RingLoop *ring : {&first, &second})
    ring->pop->setAttr(tgpu::pendingAttrName, builder.getI64IntegerAttr(0));
  for (Operation *op : llvm::reverse(first.slice))
    if (op->use_empty())
      op->erase();
}

namespace {

struct ScheduleLoops : tilec::impl::ScheduleLoopsBase<ScheduleLoops> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Operation *, int64_t>, LoopRings> loops;
    SmallVector<tgpu::RingOp> single;
    for (tgpu::RingOp ring : getOperation().getBody().front().getOps<tgpu::RingOp>()) {
      if (!ring.isFilledByThreads())
        continue;
      int64_t stages = ring.getRing().getType().getStages();
      if (stages < 2) {
        single.push_back(ring);
        continue;
      }
      std::optional<RingLoop> found = findLoop(ring);
      explain(ring, stages, found);
      if (found)
        loops[{found->loop, stages}].push_back(*found);
    }
    for (auto &[key, rings] : loops)
      runAhead(rings, key.second);
    if (auto turns = findTurns(single)) {
      for (tgpu::RingOp ring : single)
        remarkChoice(ring, "schedule-loops",
                     "copies of {0} run beside the other ring's product, into its one place",
                     tgpu::spellSources(ring));
      takeTurns(turns->first, turns->second);
    }
  }

  static void explain(tgpu::RingOp ring, int64_t stages, std::optional<RingLoop> &found) {
    std::string sources = tgpu::spellSources(ring);
    bool isUnderCondition = llvm::any_of(ring.getRing().getUsers(), [](Operation *user) {
      return isa<tgpu::PushOp>(user) && isa<scf::IfOp>(user->getParentOp());
    });
    if (found)
      remarkChoice(ring, "schedule-loops", "copies of {0} run {1} iteration{2} ahead{3}",
                   sources, stages - 1, stages == 2 ? "" : "s",
                   found->getFor() ? "" : ", whether or not those come");
    else
      remarkMissed(ring, "schedule-loops", "copies of {0} do not run ahead: {1}", sources,
                   isUnderCondition ? "they are made under a condition"
                                    : "what they copy depends on more than numbers that grow by "
                                      "a constant each iteration");
  }
};

} // namespace

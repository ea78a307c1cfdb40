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
// on anything but the loop's variable (what another load gave, a carried value) stays as
// it is, and so does one in a `while`, whose next iteration is not known to come.
//
// Rings of one loop begin it in turns, place by place. So each iteration, and each turn
// before the loop, closes one group of each ring (an empty one when there is nothing to
// copy), and how many groups follow the one that a pop waits for is a constant.
//
//===------------------------------------------------------------------------===//
#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/SharedBuffers.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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

/// A push and its pop, both in the body of `loop`.
struct RingLoop {
  scf::ForOp loop;
  tgpu::PushOp push;
  tgpu::PopOp pop;
  /// Where the push goes: the release, if it is in the loop's body.
  Operation *late = nullptr;
  int64_t step;
  /// What the push's places are computed from in the loop, in program order.
  SmallVector<Operation *> slice;
};

} // namespace

/// The operations in `loop` that `push` needs; false when they need more than the
/// loop's variable.
static bool collectSlice(RingLoop &ring) {
  Block *body = ring.loop.getBody();
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> waiting;
  ring.push->walk([&](tgpu::CopyOp copy) {
    waiting.append(copy.getIndex().begin(), copy.getIndex().end());
  });
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (value == ring.loop.getInductionVar() || ring.loop.isDefinedOutsideOfLoop(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || op->getNumRegions() || !isPure(op))
      return false;
    if (needed.insert(op))
      waiting.append(op->operand_begin(), op->operand_end());
  }
  ring.slice.assign(needed.begin(), needed.end());
  llvm::sort(ring.slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return true;
}

/// Rings of one loop that have the same number of places.
using LoopRings = SmallVector<RingLoop, 2>;

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
  if (!found.push || !found.pop || found.push->getBlock() != found.pop->getBlock())
    return std::nullopt;
  found.loop = dyn_cast<scf::ForOp>(found.push->getParentOp());
  APInt step;
  if (!found.loop || !found.loop.getInductionVar().getType().isIndex() ||
      !matchPattern(found.loop.getStep(), m_ConstantInt(&step)) ||
      step.getSExtValue() > mostStep || !found.push->isBeforeInBlock(found.pop) ||
      !collectSlice(found))
    return std::nullopt;
  found.step = step.getSExtValue();
  if (!found.late || found.late->getBlock() != found.pop->getBlock() ||
      found.late->isBeforeInBlock(found.pop))
    found.late = found.pop->getNextNode();
  return found;
}

/// The push of the iteration in which the loop's variable is `variable`.
static void clonePush(OpBuilder &builder, RingLoop &ring, Value variable) {
  IRMapping mapping;
  mapping.map(ring.loop.getInductionVar(), variable);
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

static void pushIf(OpBuilder &builder, RingLoop &ring, Value condition, Value begin,
                   int64_t distance) {
  Location loc = ring.push.getLoc();
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder inside = branch.getThenBodyBuilder();
  Value far = arith::ConstantIndexOp::create(inside, loc, distance);
  clonePush(inside, ring, arith::AddIOp::create(inside, loc, begin, far));
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

static void runAhead(LoopRings &rings, int64_t stages) {
  llvm::sort(rings, [](const RingLoop &a, const RingLoop &b) {
    return a.late->isBeforeInBlock(b.late);
  });
  scf::ForOp loop = rings.front().loop;
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  OpBuilder builder(loop);
  Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  for (int64_t ahead = 0; ahead + 1 < stages; ++ahead) {
    int64_t distance = ahead * rings.front().step;
    Value condition = any;
    if (ahead)
      condition = arith::AndIOp::create(
          builder, loc, any, isIteration(builder, loc, lower, distance, upper));
    for (RingLoop &ring : rings)
      pushIf(builder, ring, condition, lower, distance);
  }
  int64_t distance = (stages - 1) * rings.front().step;
  Value variable = loop.getInductionVar();
  for (RingLoop &ring : rings) {
    ring.pop->setAttr(tgpu::pendingAttrName,
                      builder.getI64IntegerAttr(laterGroups(rings, ring, stages)));
    builder.setInsertionPoint(ring.late);
    pushIf(builder, ring, isIteration(builder, loc, variable, distance, upper), variable,
           distance);
    ring.push->erase();
  }
  for (RingLoop &ring : rings)
    for (Operation *op : llvm::reverse(ring.slice))
      if (op->use_empty())
        op->erase();
}

namespace {

struct ScheduleLoops : tilec::impl::ScheduleLoopsBase<ScheduleLoops> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Operation *, int64_t>, LoopRings> loops;
    for (tgpu::RingOp ring : getOperation().getBody().front().getOps<tgpu::RingOp>()) {
      int64_t stages = ring.getRing().getType().getStages();
      if (ring.getCopy() != "cp_async" || stages < 2)
        continue;
      std::optional<RingLoop> found = findLoop(ring);
      if (found)
        loops[{found->loop, stages}].push_back(*found);
      explain(ring, stages, found.has_value());
    }
    for (auto &[key, rings] : loops)
      runAhead(rings, key.second);
  }

  static void explain(tgpu::RingOp ring, int64_t stages, bool isAhead) {
    if (isAhead)
      remarkChoice(ring, "schedule-loops", "copies of {0} run {1} iteration{2} ahead",
                   tgpu::spellSources(ring), stages - 1, stages == 2 ? "" : "s");
    else
      remarkMissed(ring, "schedule-loops",
                   "copies of {0} do not run ahead: what they copy depends on more than a "
                   "`for` loop's variable",
                   tgpu::spellSources(ring));
  }
};

} // namespace

//===- SkipNeutral.cpp - masks only where they leave something out -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a loop whose products are masked by position in every iteration, as in
//
//   let s = where(j * BN + arange(BN) < n, q @ k, -inf);
//
// Out: the same behind a question about the whole tile, asked with scalars. Most
// iterations answer it with yes, and have neither comparisons nor selections:
//
//   %end = arith.addi %first, %c127            the last position
//   %all = arith.cmpi slt, %end, %n
//   %t = scf.if %all { yield %s } else { %m = … ; yield arith.select %m, %s, %inf }
//
// A mask is a conjunction of comparisons. Each side of one is an affine function of
// positions: counting tiles, scalars, their sums, differences and multiples by
// constants. So the least and the greatest element of a side are such sums of scalars,
// and a comparison holds for all elements if it does for the worst of them. Where one of
// the comparisons is anything else the mask stays. Only `index` is followed: integers of
// fewer bits wrap too easily. Where it is not known that none of a tile's positions wraps,
// that is asked as well: then the least one is not above the greatest.
//
//===------------------------------------------------------------------------===//
#include "LayoutRules.h"

#include "tilec/Analysis/IndexFacts.h"
#include "tilec/Analysis/IndexTileFacts.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_SKIPNEUTRAL
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using arith::CmpIPredicate;

/// How deep expressions are followed.
static constexpr unsigned maxDepth = 24;

/// Elements of a tile that are no further apart can be told to wrap.
static constexpr uint64_t mostSpan = uint64_t(1) << 62;

//===------------------------------------------------------------------------===//
// The question
//===------------------------------------------------------------------------===//

namespace {

/// Asks with scalars, in front of one operation, whether a mask is true everywhere.
class Question {
public:
  Question(Operation *place, const IndexFacts &facts)
      : place(place), facts(facts), builder(place), loc(place->getLoc()) {}

  /// Whether all elements of `mask` are true: an i1. Null, and nothing computed, where that
  /// cannot be said.
  Value allOf(Value mask) {
    Operation *before = place->getPrevNode();
    Value all = allOf(mask, 0);
    if (!all)
      eraseBehind(before);
    return all;
  }

private:
  /// Takes back what was computed behind `before` (null: the block's begin).
  void eraseBehind(Operation *before) {
    while (place->getPrevNode() != before)
      place->getPrevNode()->erase();
    ends.clear();
    known.clear();
  }

  /// What is shared is asked once.
  Value allOf(Value mask, unsigned depth) {
    if (Value all = known.lookup(mask))
      return all;
    Value all = makeAll(mask, depth);
    if (all)
      known[mask] = all;
    return all;
  }

  Value makeAll(Value mask, unsigned depth) {
    Operation *op = mask.getDefiningOp();
    if (!isa<RankedTensorType>(mask.getType()))
      return mask;
    if (!op || depth > maxDepth)
      return {};
    if (isa<tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp>(op))
      return allOf(op->getOperand(0), depth + 1);
    if (isa<arith::AndIOp>(op)) {
      Value a = allOf(op->getOperand(0), depth + 1);
      Value b = a ? allOf(op->getOperand(1), depth + 1) : Value();
      return b ? arith::AndIOp::create(builder, loc, a, b).getResult() : Value();
    }
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (!compare)
      return {};
    CmpIPredicate predicate = compare.getPredicate();
    bool wantsLess = predicate == CmpIPredicate::slt || predicate == CmpIPredicate::sle;
    if (!wantsLess && predicate != CmpIPredicate::sgt && predicate != CmpIPredicate::sge)
      return {};
    Value all;
    for (Value side : {compare.getLhs(), compare.getRhs()})
      if (!isInOrder(side, depth + 1, all))
        return {};
    Value a = endOf(compare.getLhs(), /*greatest=*/wantsLess, depth + 1);
    Value b = a ? endOf(compare.getRhs(), /*greatest=*/!wantsLess, depth + 1) : Value();
    if (!b)
      return {};
    Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
    return all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
  }

  /// Whether it can be said that no element of `value` wraps; what has to be asked for that is
  /// added to `all`. Positions are so close together that, if one does, the least is then
  /// above the greatest.
  bool isInOrder(Value value, unsigned depth, Value &all) {
    if (!isa<RankedTensorType>(value.getType()) || splatConstant(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (op && isa<arith::MinSIOp, arith::MaxSIOp>(op))
      return llvm::all_of(op->getOperands(),
                          [&](Value operand) { return isInOrder(operand, depth + 1, all); });
    if (spanOf(value, depth) > mostSpan)
      return false;
    Operation *before = place->getPrevNode();
    Value least = endOf(value, /*greatest=*/false, depth);
    Value greatest = least ? endOf(value, /*greatest=*/true, depth) : Value();
    if (!greatest)
      return false;
    // What might overflow has all numbers for its range.
    if (least == greatest || (facts.rangeOf(least, place).min > INT64_MIN &&
                              facts.rangeOf(greatest, place).max < INT64_MAX)) {
      eraseBehind(before);
      return true;
    }
    Value inOrder =
        arith::CmpIOp::create(builder, loc, CmpIPredicate::sle, least, greatest);
    all = all ? arith::AndIOp::create(builder, loc, all, inOrder).getResult() : inOrder;
    return true;
  }

  /// How far the elements of a tile of positions are apart, at most.
  uint64_t spanOf(Value value, unsigned depth) {
    if (auto found = spans.find(value); found != spans.end())
      return found->second;
    uint64_t span = computeSpan(value, depth);
    spans[value] = span;
    return span;
  }

  uint64_t computeSpan(Value value, unsigned depth) {
    constexpr uint64_t unknown = UINT64_MAX;
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || splatConstant(value))
      return 0;
    if (!op || depth > maxDepth)
      return unknown;
    if (isa<tile::IotaOp>(op))
      return uint64_t(cast<RankedTensorType>(value.getType()).getNumElements()) - 1;
    if (isa<tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp>(op))
      return spanOf(op->getOperand(0), depth + 1);
    if (op->getNumOperands() != 2)
      return unknown;
    uint64_t first = spanOf(op->getOperand(0), depth + 1);
    if (std::optional<int64_t> factor = splatConstant(op->getOperand(1));
        factor && isa<arith::MulIOp>(op))
      return llvm::SaturatingMultiply(first, llvm::AbsoluteValue(*factor));
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return llvm::SaturatingAdd(first, spanOf(op->getOperand(1), depth + 1));
    return unknown;
  }

  /// The greatest or the least element of a tile of positions, or what is not exceeded.
  Value endOf(Value value, bool greatest, unsigned depth) {
    if (Value end = ends.lookup({value, greatest}))
      return end;
    Value end = makeEnd(value, greatest, depth);
    if (end)
      ends[{value, greatest}] = end;
    return end;
  }

  Value makeEnd(Value value, bool greatest, unsigned depth) {
    if (!getElementTypeOrSelf(value.getType()).isIndex() || depth > maxDepth)
      return {};
    if (!isa<RankedTensorType>(value.getType()))
      return value;
    if (std::optional<int64_t> number = splatConstant(value))
      return constant(*number);
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (isa<tile::IotaOp>(op))
      return constant(greatest ? cast<RankedTensorType>(value.getType()).getNumElements() - 1 : 0);
    if (isa<tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp>(op))
      return endOf(op->getOperand(0), greatest, depth + 1);
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      return {};
    bool turnsFirst = false, turnsSecond = isa<arith::SubIOp>(op);
    if (isa<arith::MulIOp>(op)) {
      std::optional<int64_t> factor = splatConstant(op->getOperand(1));
      if (!factor)
        return {};
      turnsFirst = *factor < 0;
    }
    Value a = endOf(op->getOperand(0), greatest != turnsFirst, depth + 1);
    Value b = a ? endOf(op->getOperand(1), greatest != turnsSecond, depth + 1) : Value();
    if (!b)
      return {};
    OperationState state(loc, op->getName(), {a, b}, builder.getIndexType());
    return builder.create(state)->getResult(0);
  }

  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  DenseMap<Value, Value> known;                      ///< of masks
  DenseMap<std::pair<Value, unsigned>, Value> ends; ///< by value and whether the greatest is meant
  DenseMap<Value, uint64_t> spans;
  Operation *place;
  const IndexFacts &facts;
  OpBuilder builder;
  Location loc;
};

} // namespace

//===------------------------------------------------------------------------===//
// The branch
//===------------------------------------------------------------------------===//

/// Whether a product of the same block goes into `value`, element by element.
static bool comesFromProduct(Value value, Block *block) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    if (!op || op->getBlock() != block || !isTile(reached[next]))
      continue;
    if (isa<tile::MmaOp>(op))
      return true;
    if (isElementwise(op))
      reached.insert_range(op->getOperands());
  }
  return false;
}

/// Moves what `value` is made of in front of `branch`, and nothing else needs, to where its
/// mask is applied.
static void sinkMask(scf::IfOp branch, Value value) {
  Block *masked = branch.elseBlock();
  llvm::SmallDenseSet<Value> needed = {value};
  auto isMasked = [&](Operation *user) { return masked->findAncestorOpInBlock(*user) != nullptr; };
  // Upwards, so that all users of what is moved have been.
  Operation *next = nullptr;
  for (Operation *op = branch->getPrevNode(); op; op = next) {
    next = op->getPrevNode();
    if (op->getNumResults() != 1 || !needed.contains(op->getResult(0)) || op->getNumRegions() ||
        !isMemoryEffectFree(op) || !llvm::all_of(op->getUsers(), isMasked))
      continue;
    op->moveBefore(&masked->front());
    needed.insert(op->operand_begin(), op->operand_end());
  }
}

static void skipMask(arith::SelectOp select, const IndexFacts &facts) {
  Value all = Question(select, facts).allOf(select.getCondition());
  if (!all)
    return;
  OpBuilder builder(select);
  auto branch = scf::IfOp::create(builder, select.getLoc(), select.getType(), all,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, select.getLoc(), select.getTrueValue());
  select.getResult().replaceAllUsesWith(branch.getResult(0));
  builder.setInsertionPointToStart(branch.elseBlock());
  auto yield = scf::YieldOp::create(builder, select.getLoc(), select.getResult());
  select->moveBefore(yield);
  sinkMask(branch, select.getCondition());
}

namespace {

struct SkipNeutral : tilec::impl::SkipNeutralBase<SkipNeutral> {
  void runOnOperation() override {
    SmallVector<arith::SelectOp> masks;
    getOperation().walk([&](arith::SelectOp select) {
      if (isa<RankedTensorType>(select.getCondition().getType()) &&
          isa<LoopLikeOpInterface>(select->getParentOp()) &&
          comesFromProduct(select.getTrueValue(), select->getBlock()))
        masks.push_back(select);
    });
    if (masks.empty())
      return;
    IndexFacts facts(getOperation());
    for (arith::SelectOp select : masks)
      skipMask(select, facts);
  }
};

} // namespace

//===- RemoveLayoutConversions.cpp - make tiles as wanted ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: the laid-out stage. Out: the same with fewer and smaller conversions:
//
//   %w = arith.extf %x : tensor<64x64xbf16, #a> to tensor<64x64xf32, #a>
//   %c = tile.convert_layout %w : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
// becomes, when nobody else wants %w,
//   %y = tile.convert_layout %x : tensor<64x64xbf16, #a> -> tensor<64x64xbf16, #b>
//   %c = arith.extf %y : tensor<64x64xbf16, #b> to tensor<64x64xf32, #b>
//
// For each conversion: what would it cost to make the value in the wanted layout
// from the start? The question is asked of operand after operand: a constant costs
// nothing; a conversion is asked for its source; elementwise work and shape changes cost
// their operands, and once more themselves if others still need the old value; a load
// costs the difference in memory traffic if it has no other user. Wherever asking
// on costs more than converting, the conversion stands there. Costs are issue slots
// of a thread, roughly.
//
// Values are remade next to their old definition, so that one remade value serves
// all who want it, and a conversion inside a loop may leave it.
//===----------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Copies.h"
#include "LayoutRules.h"

#include "tilec/Layout/Conversion.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_REMOVELAYOUTCONVERSIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

using Cost = int64_t;

/// Two barriers and the latency of shared memory.
constexpr Cost sharedLatency = 40;

int64_t numRegisters(const Layout &layout) { return int64_t(layout.size(Input::Register)); }

Cost conversionCost(const Layout &from, const Layout &to, Type element) {
  int64_t bytes = storedBytes(element);
  Cost registers = numRegisters(from) + numRegisters(to);
  switch (classifyConversion(from, to, bytes * 8)) {
  case ConversionKind::None:
  case ConversionKind::Registers:
    return 0;
  case ConversionKind::Shuffle:
    return 2 + 2 * registers;
  case ConversionKind::Shared:
    return sharedLatency + registers * std::max<int64_t>(bytes / 4, 1);
  }
  return 0;
}

/// A warp's memory traffic, in the same unit: 16 bytes a lane take four slots.
Cost loadCost(LoadOp load, const Layout &layout) {
  if (isCopied(load)) // it is read from shared memory
    return numRegisters(layout.withoutRegisterCopies());
  TileAccess access = *TileAccess::of(load);
  return accessCost(access, layout) / int64_t(layout.size(Input::Warp)) / 8;
}

/// Can the operation be made again in another layout, operand by operand?
bool isTransparent(Operation *op) {
  return op && op->getNumResults() == 1 && isPure(op) && op->getNumRegions() == 0 &&
         (isElementwise(op) || isa<ReshapeOp, PermuteOp, BroadcastOp>(op));
}

/// A load that a copy of itself at the same place can stand for.
bool isMovableLoad(Operation *op) { return isa_and_nonnull<LoadOp>(op) && op->getResult(0).hasOneUse(); }

class Remaker {
public:
  /// The conversion's cost minus that of remaking its source, both under the plan of
  /// `make`.
  bool isWorthwhile(ConvertLayoutOp convert) {
    visited = 0;
    Value source = convert.getSource();
    LayoutAttr wanted = getLayoutAttr(convert.getType());
    Cost stay = conversionCost(getLayout(source), wanted.getLayout(),
                               convert.getType().getElementType());
    Cost remade = remakeCost(source, wanted, 0);
    // One conversion is no dearer than two: the first may die.
    bool isTie = remade == stay && source.getDefiningOp<ConvertLayoutOp>();
    return remade < stay || isTie || isCheapToRecreate(source.getDefiningOp());
  }

  /// The value in the wanted layout, remade as far as that is cheaper.
  Value make(Value value, LayoutAttr wanted, unsigned depth = 0) {
    if (getLayoutAttr(value.getType()) == wanted)
      return value;
    if (Value known = made.lookup({value, wanted}))
      return known;
    Operation *op = value.getDefiningOp();
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Value result;
    if (isCheapToRecreate(op))
      result = recreate(builder, op, wanted);
    else if (auto convert = value.getDefiningOp<ConvertLayoutOp>();
             convert && bestCost(convert.getSource(), wanted, depth + 1) <= plainCost(value, wanted))
      result = make(convert.getSource(), wanted, depth + 1);
    else if (isMovableLoad(op) && prefersRemake(value, wanted, depth))
      result = recreate(builder, op, wanted);
    else if (isTransparent(op) && prefersRemake(value, wanted, depth))
      result = remake(builder, op, wanted, depth);
    else
      result = ConvertLayoutOp::create(builder, value.getLoc(),
                                       withLayout(value.getType(), wanted), value);
    made[{value, wanted}] = result;
    return result;
  }

private:
  static constexpr unsigned maxDepth = 12, maxVisited = 64;

  /// The layout in which `op` needs an operand to make its result in `wanted`.
  static LayoutAttr operandLayout(Operation *op, Value operand, LayoutAttr wanted) {
    if (isElementwise(op))
      return wanted;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      if (broadcastKeepsPlaces(broadcast, getLayout(operand), wanted.getLayout()))
        return getLayoutAttr(operand.getType());
    return LayoutAttr::get(op->getContext(), layoutOfSource(op, wanted.getLayout()));
  }

  Cost plainCost(Value value, LayoutAttr wanted) {
    return conversionCost(getLayout(value), wanted.getLayout(),
                          getElementTypeOrSelf(value.getType()));
  }

  bool prefersRemake(Value value, LayoutAttr wanted, unsigned depth) {
    visited = 0;
    return remakeCost(value, wanted, depth) < plainCost(value, wanted);
  }

  Cost bestCost(Value value, LayoutAttr wanted, unsigned depth) {
    if (getLayoutAttr(value.getType()) == wanted || made.contains({value, wanted}))
      return 0;
    return std::min(plainCost(value, wanted), remakeCost(value, wanted, depth));
  }

  static constexpr Cost never = Cost(1) << 40;

  /// What it costs not to convert the value.
  Cost remakeCost(Value value, LayoutAttr wanted, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (depth > maxDepth || ++visited > maxVisited)
      return never;
    if (isCheapToRecreate(op))
      return 0;
    if (auto convert = value.getDefiningOp<ConvertLayoutOp>())
      return bestCost(convert.getSource(), wanted, depth + 1);
    if (isMovableLoad(op))
      return loadCost(cast<LoadOp>(op), wanted.getLayout()) -
             loadCost(cast<LoadOp>(op), getLayout(value));
    if (!isTransparent(op))
      return never;
    Cost cost = workCost(op, wanted.getLayout());
    if (value.hasOneUse())
      cost -= workCost(op, getLayout(value));
    for (Value operand : op->getOperands())
      if (isTile(operand))
        cost += bestCost(operand, operandLayout(op, operand, wanted), depth + 1);
    return cost;
  }

  /// The operation itself, in a thread.
  static Cost workCost(Operation *op, const Layout &layout) {
    if (!isElementwise(op))
      return 0;
    bool heavy = op->getDialect() && op->getDialect()->getNamespace() == "math";
    return numRegisters(layout) * (heavy ? 8 : 1);
  }

  Value remake(OpBuilder &builder, Operation *op, LayoutAttr wanted, unsigned depth) {
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        operands.map(operand, make(operand, operandLayout(op, operand, wanted), depth + 1));
    Operation *copy = builder.clone(*op, operands);
    setLayout(copy->getResult(0), wanted);
    return copy->getResult(0);
  }

  DenseMap<std::pair<Value, LayoutAttr>, Value> made;
  unsigned visited = 0;
};

struct RemoveLayoutConversions
    : tilec::impl::RemoveLayoutConversionsBase<RemoveLayoutConversions> {
  void runOnOperation() override {
    removeDead();
    for (unsigned round = 0; round < 4 && improve(); ++round)
      removeDead();
  }

  bool improve() {
    SmallVector<ConvertLayoutOp> conversions;
    getOperation().walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
    Remaker remaker;
    bool changed = false;
    for (ConvertLayoutOp convert : conversions) {
      if (!remaker.isWorthwhile(convert))
        continue;
      Value made = remaker.make(convert.getSource(), getLayoutAttr(convert.getType()));
      if (made == convert.getResult())
        continue;
      convert.replaceAllUsesWith(made);
      changed = true;
    }
    return changed;
  }

  /// Users come after what they use, so one walk from the end suffices.
  void removeDead() {
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace

//===- Dependence.cpp - what a value is computed from --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: values. Out: whether certain operations are among those that they come from, or which
// of a block are.
// A value that a loop or a branch hands on counts with what decides about it: the bounds or
// the condition.
//
//===------------------------------------------------------------------------===//
#include "Dependence.h"

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

std::optional<unsigned> tilec::carriedNumber(scf::ForOp loop, Value value) {
  if (value == loop.getInductionVar())
    return std::nullopt;
  if (auto result = dyn_cast<OpResult>(value))
    return result.getResultNumber();
  return cast<BlockArgument>(value).getArgNumber() - loop.getNumInductionVars();
}

/// What the loop makes `value` of: the counter of its bounds, a carried value also of
/// where it starts and what each iteration hands on.
static void addSources(scf::ForOp loop, Value value, llvm::SetVector<Value> &reached) {
  for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    reached.insert(bound);
  if (std::optional<unsigned> number = carriedNumber(loop, value)) {
    reached.insert(loop.getInitArgs()[*number]);
    reached.insert(loop.getYieldedValues()[*number]);
  }
}

/// The same of a `while`: a value that it carries, one that the condition passes on, or a
/// result; and the condition.
static void addSources(scf::WhileOp loop, Value value, llvm::SetVector<Value> &reached) {
  scf::ConditionOp condition = loop.getConditionOp();
  reached.insert(condition.getCondition());
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (!argument || argument.getOwner() == loop.getAfterBody()) {
    reached.insert(condition.getArgs()[number]);
    return;
  }
  reached.insert(loop.getInits()[number]);
  reached.insert(loop.getYieldOp().getOperand(number));
}

/// The same of a branch.
static void addSources(scf::IfOp branch, Value value, llvm::SetVector<Value> &reached) {
  unsigned number = cast<OpResult>(value).getResultNumber();
  reached.insert(branch.getCondition());
  reached.insert(branch.thenYield().getOperand(number));
  reached.insert(branch.elseYield().getOperand(number));
}

bool tilec::addCarriedSources(Operation *op, Value value, llvm::SetVector<Value> &reached) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<scf::ForOp, scf::WhileOp, scf::IfOp>([&](auto control) {
        addSources(control, value, reached);
        return true;
      })
      .Default(false);
}

/// All that goes into the operation or is handed on by its regions.
static void addSources(Operation *op, llvm::SetVector<Value> &reached) {
  for (Value operand : op->getOperands())
    reached.insert(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty())
        for (Value operand : block.back().getOperands())
          reached.insert(operand);
}

bool tilec::dependsOn(ValueRange values, llvm::function_ref<bool(Operation *)> isSource,
                      bool throughBounds) {
  llvm::SetVector<Value> reached;
  for (Value value : values)
    reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Value value = reached[i];
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    if (isa<tile::KernelOp>(op))
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && value == loop.getInductionVar() && !throughBounds)
      continue;
    if (isSource(op))
      return true;
    if (!addCarriedSources(op, value, reached))
      addSources(op, reached);
  }
  return false;
}

bool tilec::isRunDependingOn(Operation *op, llvm::function_ref<bool(Operation *)> isSource) {
  for (Operation *parent = op->getParentOp(); parent && !isa<tile::KernelOp>(parent);
       parent = parent->getParentOp()) {
    ValueRange decides = parent->getOperands();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      decides = decides.take_front(loop.getNumControlOperands());
    if (isa<scf::WhileOp>(parent)) // its condition is inside
      decides = decides.take_front(0);
    if (isSource(parent) || dependsOn(decides, isSource))
      return true;
    // A while loop runs as long as a condition inside says.
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        if (!block.empty() && block.back().getNumOperands() &&
            block.back().getOperand(0).getType().isInteger(1) &&
            dependsOn(block.back().getOperand(0), isSource))
          return true;
  }
  return false;
}

std::optional<SmallVector<Operation *>>
tilec::sliceIn(Block *block, ValueRange values, llvm::function_ref<bool(Operation *)> canRepeat,
               llvm::function_ref<bool(BlockArgument)> isKnown) {
  llvm::SetVector<Value> needed(values.begin(), values.end());
  llvm::SetVector<Operation *> slice;
  for (size_t next = 0; next < needed.size(); ++next) {
    Value value = needed[next];
    if (value.getParentBlock() != block)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      if (!isKnown(cast<BlockArgument>(value)))
        return std::nullopt;
      continue;
    }
    if (op->getNumRegions() || !canRepeat(op))
      return std::nullopt;
    slice.insert(op);
    needed.insert(op->operand_begin(), op->operand_end());
  }
  SmallVector<Operation *> result = slice.takeVector();
  llvm::sort(result, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

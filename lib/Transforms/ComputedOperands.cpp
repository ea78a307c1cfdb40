//===- ComputedOperands.cpp - operands that threads compute -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a product. Out: the loads of its block behind an operand, by walking definitions
// through pure operations without regions, up to the block's arguments and what comes from
// outside. Results of other products and of reductions are no such operands: attention
// keeps its probabilities in registers by other means.
//
//===------------------------------------------------------------------------===//
#include "ComputedOperands.h"

#include "tilec/Atoms/Atom.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;

/// The operand is what a load gives, but for the order of its dims.
static bool isView(Value operand) {
  Operation *op = operand.getDefiningOp();
  while (isa_and_nonnull<tile::PermuteOp, tile::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return !op || isa<tile::LoadOp>(op);
}

llvm::SetVector<Operation *> tilec::loadsBehind(tile::MmaOp mma, Value operand) {
  llvm::SetVector<Operation *> loads;
  if (isView(operand) || !isa<LoopLikeOpInterface>(mma->getParentOp()))
    return loads;
  llvm::SetVector<Value> reached;
  reached.insert(operand);
  for (size_t next = 0; next < reached.size(); ++next) {
    Value value = reached[next];
    Operation *op = value.getDefiningOp();
    if (value.getParentBlock() != mma->getBlock() || !isa<RankedTensorType>(value.getType()))
      continue;
    if (isa_and_nonnull<tile::LoadOp>(op)) {
      loads.insert(op);
      continue;
    }
    if (!op || op->getNumRegions() || !isMemoryEffectFree(op) || isa<tile::MmaOp>(op))
      return {};
    reached.insert(op->operand_begin(), op->operand_end());
  }
  return loads;
}

llvm::SetVector<Operation *> tilec::loadsBehindProducts(tile::KernelOp kernel, bool isAsync) {
  llvm::SetVector<Operation *> all;
  kernel.walk([&](tile::MmaOp mma) {
    const Atom *atom = mma.getAtom() ? findAtom(*mma.getAtom()) : nullptr;
    if (!atom || atom->isAsync != isAsync || atom->accHome() != OperandHome::Register ||
        (!isAsync && !atom->bRegisters))
      return;
    for (Value operand : {mma.getA(), mma.getB()})
      all.insert_range(loadsBehind(mma, operand));
  });
  return all;
}

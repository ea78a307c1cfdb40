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

#include "AccessCost.h"

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

int64_t tilec::bytesOf(ArrayRef<Operation *> loads) {
  int64_t bytes = 0;
  for (Operation *load : loads)
    bytes += bytesOfTile(load->getResult(0).getType());
  return bytes;
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

bool tilec::comesAcrossK(tile::MmaOp mma, Value operand,
                         const llvm::SetVector<Operation *> &loads) {
  tile::LoadOp largest;
  int64_t most = 0;
  for (Operation *op : loads) {
    auto load = cast<tile::LoadOp>(op);
    if (int64_t size = cast<RankedTensorType>(load.getResult().getType()).getNumElements(); size > most) {
      largest = load;
      most = size;
    }
  }
  if (!largest)
    return false;
  for (Operation *op = largest->getNextNode(); op && op != mma; op = op->getNextNode())
    if (isa<tile::PermuteOp>(op) && loads.contains(op->getOperand(0).getDefiningOp()))
      return false;
  unsigned last = unsigned(cast<RankedTensorType>(largest.getResult().getType()).getRank()) - 1;
  bool isRow = int64_t(largest.getArrayDim(last)) == largest.getArray().getType().getRank() - 1;
  return isRow == (operand == mma.getB());
}

llvm::SetVector<Operation *> tilec::loadsBehindProducts(tile::KernelOp kernel, bool isAsync) {
  llvm::SetVector<Operation *> all;
  kernel.walk([&](tile::MmaOp mma) {
    const Atom *atom = mma.getAtom() ? findAtom(*mma.getAtom()) : nullptr;
    if (!atom || atom->isAsync != isAsync || atom->accHome() != OperandHome::Register ||
        (!isAsync && !atom->bRegisters))
      return;
    for (Value operand : {mma.getA(), mma.getB()})
      if (auto loads = loadsBehind(mma, operand);
          isAsync || bytesOf(loads.getArrayRef()) <= bytesOfTile(operand.getType()))
        all.insert_range(loads);
  });
  return all;
}

//===- AccessSlice.cpp - what copies need of a kernel --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: operations that copy. Out: all that they are computed from, through loops, branches
// and what those carry.
//
// The threads that copy hold scalars, and tiles of which each thread makes its part by
// itself: tiles of indices. They read arrays that nobody writes. All else is an obstacle.
//
//===------------------------------------------------------------------------===//
#include "AccessSlice.h"

#include "Dependence.h"
#include "IndexTiles.h"

#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

/// Scalars without effects; elements of arrays that nobody writes; and tiles that each
/// thread makes for itself.
static bool canRunAlone(Operation *op) {
  if (isa<tgpu::RingOp>(op))
    return true;
  if (op->getNumResults() && isa<ShapedType>(op->getResult(0).getType()))
    return canRemake(op);
  if (isa<tile::LoadOp>(op))
    return tile::readsUnwrittenArray(op);
  return isMemoryEffectFree(op);
}

AccessSlice::AccessSlice(ArrayRef<Operation *> roots) {
  for (Operation *root : roots)
    needOperation(root, /*isRoot=*/true);
  while (!waiting.empty())
    visit(waiting.pop_back_val());
}

/// `op` itself, what it reads, and the control flow around it.
void AccessSlice::needOperation(Operation *op, bool isRoot) {
  if (isa<tile::KernelOp>(op) || !ops.insert(op).second)
    return;
  if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
    if (!isRoot && !canRunAlone(op) && !obstacle)
      obstacle = op;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          needValue(operand);
    });
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      needValue(bound);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    needValue(branch.getCondition());
  } else {
    needValue(cast<scf::WhileOp>(op).getConditionOp().getCondition());
  }
  needOperation(op->getParentOp());
}

void AccessSlice::needValue(Value value) {
  if (values.insert(value).second)
    waiting.push_back(value);
}

void AccessSlice::visit(Value value) {
  Operation *owner = value.getDefiningOp();
  if (!owner || owner->getNumRegions()) {
    owner = owner ? owner : value.getParentBlock()->getParentOp();
    if (isa<ShapedType>(value.getType()) && !obstacle)
      obstacle = owner; // carried from one iteration to the next
  }
  needOperation(owner);
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    if (std::optional<unsigned> number = carriedNumber(loop, value)) {
      needValue(loop.getResult(*number));
      needValue(loop.getRegionIterArg(*number));
    }
  llvm::SetVector<Value> sources;
  addCarriedSources(owner, value, sources);
  for (Value source : sources)
    needValue(source);
}

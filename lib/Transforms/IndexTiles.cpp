//===- IndexTiles.cpp - tiles that each thread makes for itself ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tile and a layout. Out: the tile in that layout, made anew by operations next to
// those that it comes from, so that what stands outside of a loop stays there. Conversions
// of layouts on the way are left out.
//
//===------------------------------------------------------------------------===//
#include "IndexTiles.h"

#include "LayoutRules.h"

#include "tilec/Tile/Accesses.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

bool tilec::canRemake(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions())
    return false;
  if (isa<tile::LoadOp, tile::GatherOp>(op))
    return tile::readsUnwrittenArray(op);
  return isMemoryEffectFree(op) &&
         (isElementwise(op) || isCheapToRecreate(op) ||
          isa<tile::ReshapeOp, tile::PermuteOp, tile::BroadcastOp, tile::ConvertLayoutOp>(op));
}

bool tilec::canRemake(Value tile) {
  llvm::SetVector<Value> needed;
  needed.insert(tile);
  for (size_t next = 0; next < needed.size(); ++next) {
    Operation *op = needed[next].getDefiningOp();
    if (!op || !canRemake(op))
      return false;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        needed.insert(operand);
  }
  return true;
}

/// The layout in which `op` needs its tiles to make its result in `layout`.
static Layout operandLayout(Operation *op, const Layout &layout) {
  return isa<tile::ReshapeOp, tile::PermuteOp, tile::BroadcastOp>(op)
             ? layoutOfSource(op, layout)
             : layout;
}

Value TileRemaker::make(Value tile, const Layout &layout) {
  auto wanted = tile::LayoutAttr::get(tile.getContext(), layout);
  if (Value known = made.lookup({tile, wanted}))
    return known;
  Operation *op = tile.getDefiningOp();
  Value result;
  if (auto convert = dyn_cast<tile::ConvertLayoutOp>(op)) {
    result = make(convert.getSource(), layout);
  } else {
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        operands.map(operand, make(operand, operandLayout(op, layout)));
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    // What it needs stands before, being made from what the original needs.
    result = builder.clone(*op, operands)->getResult(0);
    setLayout(result, wanted);
  }
  made[{tile, wanted}] = result;
  return result;
}

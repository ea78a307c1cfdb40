//===- GridLoop.cpp - blocks that go over the grid by themselves ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include "GridLoop.h"

#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec;

scf::ForOp tilec::createGridLoop(OpBuilder &builder, Location loc, Value total,
                                 llvm::function_ref<SmallVector<Value>(Value)> carried) {
  Type index = builder.getIndexType();
  Value first = tgpu::ResidentBlockOp::create(builder, loc, index);
  Value step = tgpu::NumResidentBlocksOp::create(builder, loc, index);
  SmallVector<Value> initial;
  if (carried)
    initial = carried(first);
  return scf::ForOp::create(builder, loc, first, total, step, initial);
}

void tilec::fillGridLoop(scf::ForOp loop, ArrayRef<Operation *> body, ArrayRef<Value> position,
                         int64_t residentBlocks) {
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : body)
    op->moveBefore(end);
  loop.walk([&](tile::BlockIdOp id) {
    id.replaceAllUsesWith(position[id.getDim()]);
    id.erase();
  });
  auto kernel = loop->getParentOfType<tile::KernelOp>();
  kernel->setAttr(tgpu::residentBlocksAttrName,
                  Builder(kernel.getContext()).getI64IntegerAttr(residentBlocks));
}

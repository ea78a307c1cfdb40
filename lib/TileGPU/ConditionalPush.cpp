//===- ConditionalPush.cpp - pushes under a condition ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a branch. Out: the only push in it, see ConditionalPush.h.
//
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/ConditionalPush.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;

tgpu::PushOp tgpu::getConditionalPush(scf::IfOp branch) {
  if (branch.getNumResults() || !branch.getElseRegion().empty())
    return {};
  PushOp push;
  for (Operation &op : branch.getThenRegion().front().without_terminator()) {
    auto next = dyn_cast<PushOp>(op);
    if (push || (!next && (!isPure(&op) || op.getNumRegions())))
      return {};
    push = next;
  }
  auto ring = push ? push.getRing().getDefiningOp<RingOp>() : RingOp();
  return ring && ring.isFilledByThreads() ? push : PushOp();
}

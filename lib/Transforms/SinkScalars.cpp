//===- SinkScalars.cpp - scalar code behind the loops -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out: in a loop over the grid whose copies run in warps of their
// own, scalars that only what follows an inner loop needs are computed behind that loop:
//
//   scf.for %t {                              scf.for %t {
//     %m, %n = …     divisions of %t            %s = scf.for %k { … }
//     %s = scf.for %k { … }             →       %m, %n = …
//     %r = tgpu.mma_wait %s                     %r = tgpu.mma_wait %s
//     tgpu.copy_out … [%m, %n] }                tgpu.copy_out … [%m, %n] }
//
// Before the loop they would keep its first product from starting, behind it they run
// beside the last one.
//
//===------------------------------------------------------------------------===//
#include "LayoutRules.h"

#include "tilec/Tile/Contains.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_SINKSCALARS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Arithmetic, and branches over it.
static bool isScalarCode(Operation *op) {
  return op->getNumResults() > 0 && isMemoryEffectFree(op) && !isa<LoopLikeOpInterface>(op) &&
         llvm::none_of(op->getResults(), isTile);
}

/// Whether all uses of the operation's results are behind `loop`, in the same block.
static bool isForLater(Operation *op, Operation *loop) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *outer = loop->getBlock()->findAncestorOpInBlock(*user);
    return outer && loop->isBeforeInBlock(outer);
  });
}

static void sinkBehind(Operation *loop) {
  SmallVector<Operation *> before;
  for (Operation *op = loop->getPrevNode(); op && !contains<LoopLikeOpInterface>(op); op = op->getPrevNode())
    before.push_back(op);
  for (Operation *op : before)
    if (isScalarCode(op) && isForLater(op, loop))
      op->moveAfter(loop);
}

namespace {

struct SinkScalars : tilec::impl::SinkScalarsBase<SinkScalars> {
  void runOnOperation() override {
    getOperation().walk([](tgpu::SpecializeOp roles) {
      roles.getExecute().walk([](LoopLikeOpInterface loop) {
        for (Region *region : loop.getLoopRegions())
          for (Block &block : *region)
            for (Operation &op : llvm::make_early_inc_range(block))
              if (contains<LoopLikeOpInterface>(&op))
                sinkBehind(&op);
      });
    });
  }
};

} // namespace

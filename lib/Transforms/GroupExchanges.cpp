//===- GroupExchanges.cpp - exchanges that share their barriers ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel without barriers, whose tiles change threads through buffers one after
// the other. Out: tiles that do not need each other are stored first, and then all loaded, so
// that threads meet once between the two (InsertBarriers), not once for each tile:
//
//   tgpu.store %re, %A                      tgpu.store %re, %A
//   %x = tgpu.load %A                       %im = …
//   %im = …                            →    tgpu.store %im, %B
//   tgpu.store %im, %B                      %x = tgpu.load %A
//   %y = tgpu.load %B                       %y = tgpu.load %B
//
// A load moves down behind the last such store that comes before anybody needs what it loads,
// and never past anything but arithmetic, loads and stores of other buffers. What it loads waits
// in shared memory instead of in registers; the buffers are alive together, so this comes before
// AllocateMemory. Kernels with rings keep theirs apart: rings have taken what room there is.
//
//===------------------------------------------------------------------------===//
#include "tilec/Tile/Contains.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_GROUPEXCHANGES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Whether the load of `buffer` may come behind `op`.
static bool mayPass(Operation *op, Value buffer) {
  if (auto store = dyn_cast<tgpu::StoreOp>(op))
    return store.getBuffer() != buffer && store.getBuffer().getDefiningOp<tgpu::AllocOp>();
  return isa<tgpu::LoadOp, tgpu::AllocOp>(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

/// The last store that `load` may come behind; null: there is none.
static Operation *findLastStore(tgpu::LoadOp load) {
  Operation *last = nullptr;
  for (Operation *op = load->getNextNode(); op; op = op->getNextNode()) {
    bool isUser = llvm::is_contained(op->getOperands(), load.getResult());
    if (isUser || !mayPass(op, load.getBuffer()))
      break;
    if (isa<tgpu::StoreOp>(op))
      last = op;
  }
  return last;
}

namespace {

struct GroupExchanges : tilec::impl::GroupExchangesBase<GroupExchanges> {
  void runOnOperation() override {
    if (contains<tgpu::RingOp>(getOperation()))
      return;
    SmallVector<tgpu::LoadOp> loads;
    getOperation().walk([&](tgpu::LoadOp load) {
      if (load.getBuffer().getDefiningOp<tgpu::AllocOp>())
        loads.push_back(load);
    });
    for (tgpu::LoadOp load : llvm::reverse(loads))
      if (Operation *store = findLastStore(load))
        load->moveAfter(store);
  }
};

} // namespace

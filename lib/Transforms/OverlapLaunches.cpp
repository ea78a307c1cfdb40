//===- OverlapLaunches.cpp - a kernel starts while others run --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out, on chips that can launch a grid before the one ahead of it in
// the stream ends: the kernel waits for that one by itself, before its first access of
// memory that others may write, and then lets the grid behind it start:
//
//   %ring = tgpu.ring …                  barriers, addresses, scalars
//     →
//   %ring = tgpu.ring …
//   tgpu.await_grids                     every thread, of every block
//   scf.if %few { tgpu.launch_dependents }
//
// The wait stands in the kernel's own block, so no branch leads around it: a grid one of
// whose blocks has waited ends after all grids ahead of it, and whoever waits for it need
// not ask for those. And as the next grid is let go behind the wait, whatever is launched
// there, ours or not, starts when all grids but one are complete.
//
// A grid without that lets the next one start when its last block has ended, which is still
// ahead of the end of the grid. In a large grid it is better so: a message of each block
// costs 0.3 ns, and blocks of the next grid take places unevenly (docs/performance.md).
//
//===------------------------------------------------------------------------===//
#include "tilec/Support/Target.h"
#include "tilec/Tile/Contains.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_OVERLAPLAUNCHES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// What a block does for itself: arithmetic, and places in its shared memory. Loads of
/// arrays that the kernel does not write count as arithmetic elsewhere, but not here.
static bool isPreparation(Operation &op) {
  auto readsArray = [](Operation *inner) {
    bool named = llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<tile::ArrayType>);
    return named && !isa<tile::DimOp>(inner);
  };
  if (isa<tgpu::RingOp, tgpu::AllocOp, tgpu::AccumulatorOp, tile::AssumeOp>(op))
    return true;
  return isMemoryEffectFree(&op) && !containsWhere(&op, readsArray);
}

/// The most blocks of a grid that lets the next one go early: one for each multiprocessor
/// of the largest chips.
static constexpr int64_t mostBlocks = 160;

namespace {

struct OverlapLaunches : tilec::impl::OverlapLaunchesBase<OverlapLaunches> {
  using OverlapLaunchesBase::OverlapLaunchesBase;

  void runOnOperation() override {
    const Chip *target = findChip(chip.getValue());
    if (!target || !target->has(ChipFeature::DependentLaunch))
      return;
    tile::KernelOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    auto operations = body.without_terminator(); // its end is the terminator
    Operation *first =
        &*llvm::find_if(operations, [](Operation &op) { return !isPreparation(op); });
    OpBuilder builder(first);
    Location loc = first->getLoc();
    tgpu::AwaitGridsOp::create(builder, loc);
    int64_t most = mostBlocks;
    if (auto cluster = kernel->getAttrOfType<IntegerAttr>(tgpu::clusterAttrName))
      most /= cluster.getInt(); // which counts as one
    Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        tgpu::NumResidentBlocksOp::create(builder, loc),
                                        arith::ConstantIndexOp::create(builder, loc, most));
    auto branch = scf::IfOp::create(builder, loc, isFew, /*withElseRegion=*/false);
    OpBuilder inside = branch.getThenBodyBuilder();
    tgpu::LaunchDependentsOp::create(inside, loc);
    kernel->setAttr(tgpu::awaitsGridsAttrName, builder.getUnitAttr());
  }
};

} // namespace

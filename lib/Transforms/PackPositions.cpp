//===- PackPositions.cpp - several positions of the grid in a block -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel of one warp. Out: where a position of the grid is so little work
// that the chip could not start blocks fast enough, `tgpu.positions` says how many warps
// make a block, each of which takes a position of its own:
//
//   rows of 256 bf16, a row a position, softmax     1 warp: 1 KiB a block
//     →   tgpu.positions = 4 : i64                  4 warps: 4 KiB a block
//
// An H200 starts a block in 0.6 ns, in which its memory moves 2.6 KB. The warps never
// meet, so a kernel with shared memory stays as it is (a barrier, as between accesses of
// arrays that may overlap, is one warp's own), and so does one that loads or stores in a
// loop, which has more work than its tiles show. What all positions load alike, as weights
// of columns, comes out of a cache and counts nothing.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Dependence.h"

#include "tilec/Tile/Contains.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tilec {
#define GEN_PASS_DEF_PACKPOSITIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// What a block should move at least, and the most warps that are put together for it.
static constexpr int64_t leastBytes = 4096, mostPositions = 8;

static bool isPosition(Operation *op) { return isa<tile::BlockIdOp>(op); }

/// Bytes that a position loads and stores; none where that is not known or its threads
/// have something in common besides registers.
static std::optional<int64_t> bytesMoved(tile::KernelOp kernel) {
  auto isObstacle = [](Operation *op) {
    if (isa<tile::LoadOp, tile::StoreOp>(op))
      return op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    return isa_and_present<tgpu::TileGPUDialect>(op->getDialect()) &&
           !isa<tgpu::YieldOp, tgpu::BarrierOp>(op);
  };
  if (containsWhere(kernel, isObstacle))
    return std::nullopt;
  int64_t bytes = 0;
  kernel.walk([&](tile::LoadOp load) {
    bytes += dependsOn(load.getIndex(), isPosition) ? bytesOfTile(load.getType()) : 0;
  });
  kernel.walk([&](tile::StoreOp store) { bytes += bytesOfTile(store.getValue().getType()); });
  return bytes;
}

namespace {

struct PackPositions : tilec::impl::PackPositionsBase<PackPositions> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (kernel.getNumWarps().value_or(4) != 1 || tile::hasSites(kernel) ||
        kernel->hasAttr(tgpu::residentBlocksAttrName) || kernel->hasAttr(tgpu::clusterAttrName))
      return;
    std::optional<int64_t> bytes = bytesMoved(kernel);
    if (!bytes || *bytes == 0)
      return;
    int64_t positions = 1;
    while (positions < mostPositions && positions * *bytes < leastBytes)
      positions *= 2;
    if (positions > 1)
      kernel->setAttr(tgpu::positionsAttrName,
                      Builder(kernel.getContext()).getI64IntegerAttr(positions));
  }
};

} // namespace

//===- PrefetchLoads.cpp - the next position's tiles while this one computes -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel that loads a tile, reduces it and stores, as softmax and the
// normalisations do. Out: the same on blocks that stay on the chip and take one position
// of the grid after the other; the tiles of the next position are loaded before this
// one's are computed with, and wait in registers as they are stored:
//
//   %x = tile.load %a[tile.block_id 0, 0]
//   … reductions of %x, stores …
//     →
//   %first = tgpu.resident_block   %step = tgpu.num_resident_blocks
//   %x0 = tile.load %a[%first, 0]
//   scf.for %t = %first to %total step %step iter_args(%x = %x0) {
//     %next = min(%t + %step, %total - 1)
//     %y = tile.load %a[%next, 0]
//     … reductions of %x, stores at %t …
//     scf.yield %y
//   }
//
// A reduction needs the whole tile, so a block alone only waits, then only computes. Other
// blocks fill the gaps, as many as fit on a multiprocessor: with three or more there are
// no gaps, and blocks that come and go are faster than resident ones (softmax of 8192
// bf16, H200: 3.9 and 3.7 TB/s). So only long rows are loaded ahead, of which one or two
// fit (32 768: 2.7 and 3.5). After the last position there is nothing to load: the grid's
// last tile is loaded once more.
//
// Only where nothing that the kernel writes can be what it loads (the build relies on
// `disjoint`), all tiles come from places that follow from the position alone, and they
// fit into a quarter of the registers.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Copies.h"
#include "Dependence.h"
#include "GridLoop.h"
#include "Hints.h"

#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Grid.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_PREFETCHLOADS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Registers of a multiprocessor, and what a thread needs beside its tiles.
static constexpr int64_t fileRegisters = 65536, otherRegisters = 32;
/// The most registers of a thread that may wait for the next position, and the most
/// resident blocks for which that pays.
static constexpr int64_t mostWaiting = 32, mostBlocks = 2;

/// Whether the kernel only loads, computes and stores, with a reduction of a tile.
static bool isStreaming(tile::KernelOp kernel) {
  auto isOther = [](Operation *op) {
    bool known = isa<tile::LoadOp, tile::StoreOp, tile::AssumeOp>(op);
    bool fits = op->getNumRegions() || isMemoryEffectFree(op) || known;
    return !fits || isCopied(op) || isa<tile::MmaOp>(op);
  };
  return contains<tile::ReduceOp>(kernel) && !containsWhere(kernel, isOther);
}

namespace {

/// A load at the top of the kernel, and the scalars that say where, in program order.
struct Prefetch {
  tile::LoadOp load;
  SmallVector<Operation *> slice;
};

} // namespace

static bool isPosition(Operation *op) { return isa<tile::BlockIdOp>(op); }

/// The load with what its place is computed from, if that is the position alone.
static std::optional<Prefetch> findPrefetch(tile::LoadOp load) {
  if (!isa<RankedTensorType>(load.getType()) || !tile::readsUnwrittenArray(load) ||
      !dependsOn(load.getIndex(), isPosition))
    return std::nullopt;
  auto isScalar = [](Operation *op) {
    return isPure(op) && !isa<RankedTensorType>(op->getResult(0).getType());
  };
  auto slice = sliceIn(load->getBlock(), load.getIndex(), isScalar,
                       [](BlockArgument) { return true; }); // parameters
  return slice ? std::optional(Prefetch{load, *slice}) : std::nullopt;
}

static int64_t countResidentBlocks(tile::KernelOp kernel, int64_t waiting) {
  int64_t largest = 0;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      largest = std::max(largest, registersOf(type));
  });
  int64_t threads = 32 * int64_t(kernel.getNumWarps().value_or(4));
  int64_t registers = largest + waiting + otherRegisters;
  return std::clamp<int64_t>(fileRegisters / (threads * registers), 1, 32);
}

namespace {

class Persistence {
public:
  Persistence(tile::KernelOp kernel, ArrayRef<Prefetch> prefetches, int64_t residentBlocks)
      : kernel(kernel), prefetches(prefetches), residentBlocks(residentBlocks),
        numAxes(tile::numGridAxes(kernel)), loc(kernel.getLoc()), builder(kernel.getContext()) {}

  void run() {
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> moved;
    for (Operation &op : body.without_terminator())
      if (!isSame(&op))
        moved.push_back(&op);

    builder.setInsertionPoint(body.getTerminator());
    for (uint32_t axis = 0; axis < numAxes; ++axis) {
      Value extent = tile::NumBlocksOp::create(builder, loc, builder.getIndexType(), axis);
      extents.push_back(extent);
      total = total ? arith::MulIOp::create(builder, loc, total, extent).getResult() : extent;
    }
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value last = arith::SubIOp::create(builder, loc, total, one);
    scf::ForOp loop =
        createGridLoop(builder, loc, total, [&](Value first) { return loadAt(first); });

    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    Value next = arith::MinUIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, number, loop.getStep()), last);
    SmallVector<Value> nextTiles = loadAt(next);
    SmallVector<Value, 3> position = positionOf(number);
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, nextTiles);
    fillGridLoop(loop, moved, position, residentBlocks);
    for (auto [prefetch, tile] : llvm::zip_equal(prefetches, loop.getRegionIterArgs())) {
      tile::LoadOp load = prefetch.load;
      load.replaceAllUsesWith(tile);
      load.erase();
    }
  }

private:
  /// Scalars that are the same at all positions, and are made of scalars, stay in front of the
  /// loop, and so does what is promised of them.
  bool isSame(Operation *op) {
    auto makesTile = [](Operation *source) {
      return llvm::any_of(source->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    };
    return !makesTile(op) && op->getNumRegions() == 0 && (isPure(op) || isa<tile::AssumeOp>(op)) &&
           !isPosition(op) && !dependsOn(op->getOperands(), [&](Operation *source) {
             return isPosition(source) || !isPure(source) || makesTile(source);
           });
  }

  SmallVector<Value, 3> positionOf(Value number) {
    SmallVector<Value, 3> position;
    for (unsigned axis = 0; axis < numAxes; ++axis) {
      bool isLast = axis + 1 == numAxes;
      position.push_back(
          isLast ? number
                 : arith::RemUIOp::create(builder, loc, number, extents[axis]).getResult());
      if (!isLast)
        number = arith::DivUIOp::create(builder, loc, number, extents[axis]);
    }
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    position.resize(3, zero);
    return position;
  }

  /// The tiles of the position that comes `number`-th.
  SmallVector<Value> loadAt(Value number) {
    SmallVector<Value, 3> position = positionOf(number);
    SmallVector<Value> tiles;
    for (const Prefetch &prefetch : prefetches) {
      IRMapping mapping;
      for (Operation *op : prefetch.slice) {
        if (auto id = dyn_cast<tile::BlockIdOp>(op))
          mapping.map(id.getResult(), position[id.getDim()]);
        else if (!isSame(op))
          builder.clone(*op, mapping);
      }
      tiles.push_back(builder.clone(*prefetch.load, mapping)->getResult(0));
    }
    return tiles;
  }

  tile::KernelOp kernel;
  ArrayRef<Prefetch> prefetches;
  const int64_t residentBlocks; ///< of a multiprocessor
  const unsigned numAxes;
  Location loc;
  OpBuilder builder;
  SmallVector<Value, 3> extents;
  Value total;
};

struct PrefetchLoads : tilec::impl::PrefetchLoadsBase<PrefetchLoads> {
  using PrefetchLoadsBase::PrefetchLoadsBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (!tile::relies(kernel, BuildFact::Disjoint) || tile::hasSites(kernel) ||
        hintOf(kernel, chip, "persistent").value_or(1) == 0 || !isStreaming(kernel))
      return;
    SmallVector<Prefetch> prefetches;
    int64_t waiting = 0, loads = 0;
    kernel.walk([&](tile::LoadOp load) { loads += isa<RankedTensorType>(load.getType()); });
    for (tile::LoadOp load : kernel.getBody().front().getOps<tile::LoadOp>())
      if (std::optional<Prefetch> prefetch = findPrefetch(load)) {
        waiting += registersOf(load.getType());
        prefetches.push_back(*prefetch);
      }
    int64_t blocks = countResidentBlocks(kernel, waiting);
    if (prefetches.empty() || int64_t(prefetches.size()) != loads || waiting > mostWaiting ||
        blocks > mostBlocks)
      return;
    Persistence(kernel, prefetches, blocks).run();
  }
};

} // namespace

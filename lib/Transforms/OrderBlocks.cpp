//===- OrderBlocks.cpp - which position each block takes ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel with a block for each position of the grid. Blocks start in the order of their
// numbers, which go along axis 0 first. Out: a kernel in which they take the positions of the
// grid in another order, for ScheduleBlocks:
//
//   body(tile.block_id 0, tile.block_id 1)
//     →
//   %number = tile.block_id 1 * tile.num_blocks 0 + tile.block_id 0
//   %m, %n = the row and the column of what comes %number-th in bands of rows
//   body(%m, %n)
//
// Bands are for products of which one operand is the same along axis 0 and the other along axis 1:
// those that are at work at one time then read few tiles of both, where column after column reads
// all of the one, again and again. 132 blocks of 256 x 128 in a grid of 32 x 64 read 4224 rows
// and columns at a time instead of 8832.
//
// Where the position along axis 0 decides how long a block takes, as in causal attention, the
// longest come first: last, the chip would wait for them with most of it idle.
//
//===------------------------------------------------------------------------===//
#include "OrderBlocks.h"

#include "Dependence.h"
#include "Raster.h"

#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Grid.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilec;

/// Positions of axis 0 in a band: of tiles that are not higher than wide, more, so that it has about
/// as many rows as the blocks at work have columns.
static constexpr int64_t bandBlocks = 8, bandOfWideTiles = 16;

/// Tiles of fewer rows are for grids of one row or two, which have no bands.
static constexpr int64_t fewestRows = 64;

/// Rows and columns of the largest product in a loop; none where there is none.
static std::pair<int64_t, int64_t> largestProduct(tile::KernelOp kernel) {
  std::pair<int64_t, int64_t> largest = {0, 0};
  kernel.walk([&](tile::MmaOp mma) {
    ArrayRef<int64_t> shape = mma.getType().getShape().take_back(2);
    if (mma->getParentOfType<LoopLikeOpInterface>() &&
        shape[0] * shape[1] > largest.first * largest.second)
      largest = {shape[0], shape[1]};
  });
  return largest;
}

/// The loop around `op`, if it has products.
static LoopLikeOpInterface productLoopOf(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && contains<tile::MmaOp>(loop) ? loop : LoopLikeOpInterface();
}

/// Whether loops with products read tiles that neighbours along axis 1 have in common, and others
/// that those along axis 0 have, or some of them, as weights that a table names.
static bool sharesBothWays(tile::KernelOp kernel) {
  auto isOfTable = [](Value index) {
    return dependsOn(index, llvm::IsaPred<tile::LoadOp, tile::GatherOp>);
  };
  bool hasRows = false, hasColumns = false;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::GatherOp>(op) || !productLoopOf(op))
      return;
    bool isOfRow = false, isOfRowAlone = false;
    for (Value operand : op->getOperands())
      if (dependsOn(operand, isPositionAlong(0))) {
        isOfRow = true;
        isOfRowAlone |= !isOfTable(operand);
      }
    bool isOfColumn = dependsOn(op->getOperands(), isPositionAlong(1));
    hasRows |= isOfRow && !isOfColumn;
    hasColumns |= isOfColumn && !isOfRowAlone;
  });
  return hasRows && hasColumns;
}

/// How long a block takes, along axis 0, as loops with products end, or begin, with the position.
static Work workAlong0(tile::KernelOp kernel) {
  Work work = Work::Even;
  kernel.walk([&](scf::ForOp loop) {
    bool begins = dependsOn(loop.getLowerBound(), isPositionAlong(0));
    bool ends = dependsOn(loop.getUpperBound(), isPositionAlong(0));
    if (!contains<tile::MmaOp>(loop) || !(begins || ends))
      return;
    work = begins || work == Work::Shrinks ? Work::Shrinks : Work::Grows;
  });
  return work;
}

/// The row and the column of the position that comes `number`-th in bands of `band` rows, each gone
/// through column by column; the last one may be less high. Nothing is selected: the optimiser
/// follows quotients, products and minima into the addresses of loops, and keeps fewer of these.
static std::pair<Value, Value> placeInBands(BlockArithmetic math, Value number, Value rows,
                                            Value columns, int64_t band) {
  Value most = math.min(rows, math.constant(band));
  Value ofBand = math.mul(columns, most);
  Value bandNumber = math.div(number, ofBand);
  Value inBand = math.sub(number, math.mul(bandNumber, ofBand));
  Value first = math.mul(bandNumber, most);
  Value height = math.min(math.sub(rows, first), most);
  Value column = math.div(inBand, height);
  return {math.add(first, math.sub(inBand, math.mul(column, height))), column};
}

/// Replaces what the kernel knows of its position by `position`, along the axes that it names.
static void replacePositions(ArrayRef<tile::BlockIdOp> ids, ArrayRef<Value> position) {
  for (tile::BlockIdOp id : ids)
    if (id.getDim() < position.size()) {
      id.replaceAllUsesWith(position[id.getDim()]);
      id.erase();
    }
}

std::string tilec::orderBlocks(tile::KernelOp kernel) {
  Work work = workAlong0(kernel);
  auto [rows, columns] = largestProduct(kernel);
  // A record of a print or an assertion names the block by its number. Few blocks are all at work
  // at one time.
  if (tile::hasSites(kernel) || relies(kernel, BuildFact::FewBlocks) || !columns)
    return "";
  bool isInBands = work == Work::Even && rows >= fewestRows &&
                   tile::numGridAxes(kernel) > 1 && sharesBothWays(kernel);
  if (!isInBands && work != Work::Grows)
    return "";

  SmallVector<tile::BlockIdOp> ids;
  kernel.walk([&](tile::BlockIdOp id) { ids.push_back(id); });
  Location loc = kernel.getLoc();
  auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  BlockArithmetic math{builder, loc};
  Type index = builder.getIndexType();
  auto blockId = [&](uint32_t axis) {
    return math.narrow(tile::BlockIdOp::create(builder, loc, index, axis));
  };
  auto numBlocks = [&](uint32_t axis) {
    return math.narrow(tile::NumBlocksOp::create(builder, loc, index, axis));
  };
  Value x = blockId(0), extent = numBlocks(0);
  if (work == Work::Grows) {
    Value last = math.sub(extent, math.constant(1));
    replacePositions(ids, {math.widen(math.sub(last, x))});
    return "the last of axis 0 first, as these take longest";
  }
  int64_t band = columns >= rows ? bandOfWideTiles : bandBlocks;
  Value number = math.add(math.mul(blockId(1), extent), x);
  auto [row, column] = placeInBands(math, number, extent, numBlocks(1), band);
  replacePositions(ids, {math.widen(row), math.widen(column)});
  return "in bands of " + std::to_string(band) + " of axis 0";
}

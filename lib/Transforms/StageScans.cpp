//===- StageScans.cpp - scratch buffers of scans, sorts and flips --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: scans, sorts and flips of stage laid-out. Out: those along an axis that several
// warps share name a buffer through which the warps exchange registers:
//
//   %s = tile.scan(%x) axis 1 : …
//     →  %B = tgpu.alloc : !tgpu.buffer<2048xi8>
//        %s = tgpu.scan(%x) axis 1 through %B : …
//
// The buffer has room for what all threads show at a time, but at most 32 KiB: what is
// more goes in rounds. Whatever a thread shows has a slot of its own.
//===----------------------------------------------------------------------===//
#include "Staging.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Tile/SortRuns.h"
#include "tilec/Tile/TileLayout.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t largestScratch = 32 * 1024, largestPiece = 16;

/// For `bytes` of each thread, a power of two.
static Value createScratch(OpBuilder &builder, Location loc, int64_t bytes, unsigned numWarps) {
  int64_t threads = 32 * int64_t(numWarps);
  bytes = std::clamp<int64_t>(bytes, largestPiece,
                              std::max(largestPiece, largestScratch / threads));
  int64_t size = int64_t(llvm::PowerOf2Ceil(uint64_t(bytes * threads)));
  auto tile = RankedTensorType::get(size, builder.getI8Type());
  auto type = tgpu::BufferType::get(tile, Layout::counting(Input::Offset, {size}));
  return tgpu::AllocOp::create(builder, loc, type, IntegerAttr());
}

/// Bytes of a thread's registers of all tiles.
static int64_t threadBytes(ValueRange tiles) {
  int64_t bytes = 0;
  for (Value tile : tiles)
    bytes += int64_t(tile::getLayout(tile).size(Input::Register)) * storedBits(tile.getType()) / 8;
  return bytes;
}

void tilec::stageFlip(tile::FlipOp op, unsigned numWarps) {
  Layout layout = tile::getLayout(op.getResult());
  if (!layout.find(layout.fieldMask(op.getAxis()))[Input::Warp])
    return;
  OpBuilder builder(op);
  Value scratch =
      createScratch(builder, op.getLoc(), threadBytes(op.getSource()), numWarps);
  auto flip = tgpu::FlipOp::create(builder, op.getLoc(), op.getType(), op.getSource(),
                                   op.getAxis(), scratch);
  op.replaceAllUsesWith(flip.getResult());
  op.erase();
}

void tilec::stageScan(tile::ScanOp op, unsigned numWarps) {
  Layout layout = tile::getLayout(op.getSources().front());
  std::optional<ScanPlan> plan = planScan(layout, op.getAxis());
  if (!plan || !plan->crossesWarps())
    return;
  OpBuilder builder(op);
  // Registers below the warps along the axis are one total.
  int64_t bytes = threadBytes(op.getSources());
  for (const ScanPlan::Bit &bit : plan->bits) {
    if (bit.home == Input::Warp)
      break;
    if (bit.home == Input::Register)
      bytes /= 2;
  }
  Value scratch = createScratch(builder, op.getLoc(), bytes, numWarps);
  auto scan = tgpu::ScanOp::create(builder, op.getLoc(), op.getResultTypes(), op.getSources(),
                                   op.getInits(), op.getAxis(), op.getReverse(), scratch);
  scan.getCombiner().takeBody(op.getCombiner());
  Operation *yield = scan.getCombiner().front().getTerminator();
  OpBuilder inner(yield);
  tgpu::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  op.replaceAllUsesWith(scan.getResults());
  op.erase();
}

void tilec::stageSort(tile::SortOp op, unsigned numWarps) {
  Layout layout = tile::getLayout(op.getSources().front());
  std::optional<ScanPlan> plan = planScan(layout, op.getAxis());
  if (!plan || !plan->crossesWarps())
    return;
  OpBuilder builder(op);
  Value scratch = createScratch(builder, op.getLoc(), threadBytes(op.getSources()), numWarps);
  auto sort = tgpu::SortOp::create(builder, op.getLoc(), op.getResultTypes(), op.getSources(),
                                   op.getAxis(), op.getDescending(), scratch);
  if (Attribute known = op->getAttr(tile::bitonicRunsAttr))
    sort->setAttr(tile::bitonicRunsAttr, known);
  op.replaceAllUsesWith(sort.getResults());
  op.erase();
}

//===- ChooseStages.cpp - how many groups a ring holds -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel with rings. Out: the same with as many places in its rings as
// shared memory has room for beside the kernel's buffers, or as `num_stages` says:
//
//   232448 bytes - 32768 (staging of the result) = 199680
//   ring of 128x64 and 64x256 bf16: 49152 bytes a place  →  4 places
//
// Rings that threads fill share bytes with buffers that are used before or after; they get
// at most four places, and with up to four warps no more than lets two blocks fit, if two
// places do (three in builds for small grids), or one where two rings take turns.
//
// Rings that are filled in the innermost loops share the room evenly; the others hold
// what one pass through such a loop needs, and have one place. What is left gives those
// that are filled in a loop a second one, so that the next pass starts without waiting.
//
//===------------------------------------------------------------------------===//
#include "AlternatingRings.h"
#include "Hints.h"
#include "SharedMemory.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/SharedBuffers.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tilec {
#define GEN_PASS_DEF_CHOOSESTAGES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// More places than this hide no more latency.
static constexpr int64_t mostStages = 8;
/// The same where threads copy: each group costs them registers and instructions.
static constexpr int64_t mostThreadStages = 4;

/// How many loops are around the ring's push; around the innermost, of several.
static unsigned loopDepth(tgpu::RingOp ring) {
  unsigned most = 0;
  for (Operation *user : ring.getRing().getUsers()) {
    unsigned depth = 0;
    if (isa<tgpu::PushOp>(user))
      for (Operation *parent = user->getParentOp(); parent; parent = parent->getParentOp())
        depth += isa<LoopLikeOpInterface>(parent);
    most = std::max(most, depth);
  }
  return most;
}

static void setStages(tgpu::RingOp ring, int64_t stages) {
  ring.getRing().setType(ring.getRing().getType().withStages(stages));
}

namespace {

struct ChooseStages : tilec::impl::ChooseStagesBase<ChooseStages> {
  using ChooseStagesBase::ChooseStagesBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<tgpu::RingOp> rings(kernel.getBody().front().getOps<tgpu::RingOp>());
    if (rings.empty())
      return tile::declineHint(kernel, chip, "num_stages", "tiles go through registers");
    unsigned deepest = 0;
    for (tgpu::RingOp ring : rings)
      deepest = std::max(deepest, loopDepth(ring));
    int64_t room = roomOfBlock(kernel), left = room - bytesOfBuffers(kernel), perStage = 0;
    if (usesTensorMemory(kernel))
      left -= tensorMemoryBytes;
    SmallVector<tgpu::RingOp> inner, outer;
    for (tgpu::RingOp ring : rings) {
      left -= barrierBytes(mostStages);
      int64_t bytes = ring.getRing().getType().getStageBytes();
      if (loopDepth(ring) == deepest && deepest > 0) {
        inner.push_back(ring);
        perStage += bytes;
      } else {
        setStages(ring, 1);
        left -= bytes;
        if (loopDepth(ring) > 0)
          outer.push_back(ring);
      }
    }
    if (inner.empty())
      return tile::declineHint(kernel, chip, "num_stages", "no loop brings tiles");
    bool byThreads = llvm::all_of(
        inner, [](tgpu::RingOp ring) { return ring.isFilledByThreads(); });
    int64_t asked =
        numStages ? int64_t(numStages) : hintOf(kernel, chip, "num_stages").value_or(0);
    if (byThreads)
      return setThreadStages(inner, std::min(asked, mostStages));
    int64_t stages = std::clamp(left / perStage, int64_t(1), mostStages);
    if (asked > 0)
      stages = std::min(stages, asked);
    for (tgpu::RingOp ring : inner)
      setStages(ring, stages);
    explain(inner, asked, mostStages, /*forOthers=*/room < budget);
    left -= stages * perStage;
    for (tgpu::RingOp ring : outer)
      if (int64_t bytes = ring.getRing().getType().getStageBytes(); bytes <= left) {
        setStages(ring, 2);
        left -= bytes;
      }
  }

  /// What a block may have of shared memory where several are to be on a multiprocessor.
  int64_t roomOfBlock(tile::KernelOp kernel) {
    auto resident = kernel->getAttrOfType<IntegerAttr>(tgpu::residentBlocksAttrName);
    const Chip *target = findChip(chip);
    if (!resident || resident.getInt() <= 1 || !target)
      return budget;
    int64_t share = target->sharedPerSM / resident.getInt() - Chip::sharedReservedPerBlock;
    return std::min<int64_t>(budget, share / Chip::sharedUnit * Chip::sharedUnit);
  }

  /// Why the rings have as many places as they have, and not more.
  void explain(ArrayRef<tgpu::RingOp> rings, int64_t asked, int64_t most, bool forOthers = false) {
    tile::KernelOp kernel = getOperation();
    tgpu::RingOp first = rings.front();
    int64_t stages = first.getRing().getType().getStages();
    std::string why = stages == most    ? "more hide no more latency"
                      : stages == asked ? "as is asked for"
                      : forOthers       ? "more would leave no room for another block"
                                        : "more do not fit into the " + spellBytes(budget) + " of a block";
    if (asked > stages && !numStages)
      tile::declineHint(kernel, chip, "num_stages",
                        llvm::formatv("{0} places do not fit into the {1} of a block; "
                                      "`num_stages: {2}` fits ({3})",
                                      asked, spellBytes(budget), stages,
                                      spellBytes(bytesOfKernel(kernel)))
                            .str());
    for (tgpu::RingOp ring : rings)
      remarkChoice(ring, "choose-stages", "tiles of {0} have {1} place{2} of {3}: {4}",
                   tgpu::spellSources(ring), stages, stages == 1 ? "" : "s",
                   spellBytes(ring.getRing().getType().getStageBytes()), why);
  }

  /// Rings that threads fill share bytes with what comes after them, so how much room they
  /// have shows only when all is placed.
  void setThreadStages(ArrayRef<tgpu::RingOp> rings, int64_t asked) {
    const Chip *target = findChip(chip);
    unsigned numWarps = getOperation().getNumWarps().value_or(4);
    auto fits = [&](int64_t stages, int64_t blocks) {
      for (tgpu::RingOp ring : rings)
        setStages(ring, stages);
      int64_t bytes = bytesOfKernel(getOperation());
      int64_t all = blocks * (bytes + Chip::sharedReservedPerBlock);
      return bytes <= budget && (blocks == 1 || (target && all <= target->sharedPerSM));
    };
    // A second block computes while the threads of the first wait for each other. In a small grid
    // there may be none, and a step ahead is too little for a block alone.
    bool isOfFew = tile::relies(getOperation(), BuildFact::FewBlocks) &&
                   contains<tgpu::MemorySumOp>(getOperation());
    if (!asked && numWarps <= 4) {
      int64_t least = isOfFew ? 3 : canAlternate(rings) ? 1 : 2;
      for (int64_t stages = mostThreadStages; stages >= least; --stages)
        if (fits(stages, 2)) {
          if (isOfFew)
            getOperation()->setAttr(tgpu::blocksAtOnceAttrName,
                                    Builder(&getContext()).getI64IntegerAttr(2));
          return explain(rings, asked, mostThreadStages, /*forOthers=*/true);
        }
    }
    for (int64_t stages = asked ? asked : mostThreadStages; stages > 0; --stages)
      if (fits(stages, 1))
        return explain(rings, asked, mostThreadStages);
  }
};

} // namespace

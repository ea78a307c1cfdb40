//===- SplitK.cpp - several blocks share one sum ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel with a loop over K, and the wish that several blocks do it: the
// hint `split_k`, or the build's fact that the grid has few blocks. Out: a kernel of which
// each block takes a part of the loop, and one of them has the sum. Where products are those
// of warp groups or of tensor memory, these are the blocks of a cluster, and the first one
// has it:
//
//   %s = scf.for %k = %0 to %n step %1       %r = tgpu.cluster_rank   %c = tgpu.cluster_size
//          iter_args(%acc = zeros) {         %d = ceil(%n / %c)
//     … scf.yield %sum                  →    %p = scf.for %k = %d * %r to min(%d * (%r + 1), %n) …
//   }                                        %s = tgpu.cluster_sum %p
//   tile.store %c[%m, %n], %s                …
//                                            scf.if %r == 0 { tile.store %c[%m, %n], %s }
//
// All blocks run what comes after the loop, which costs nothing, but for the stores.
//
// On all other chips parts meet in memory, and the block that comes last goes on with their
// sums, while the others end:
//
//   %r = tgpu.part   %c = tgpu.num_parts
//   %p = scf.for … as above
//   %s = tgpu.memory_sum %p
//   tile.store %c[%m, %n], %s
//
// Parts are added in the order of blocks, so that two runs give the same bits.
//
// The loop must be one that every block reaches (in the kernel's own block), carry nothing but
// sums that begin with zeros, and have no effects before or in it. Sums are kept in f32, f64 or
// i32: a sum in f16 would be rounded in other places.
//
//===------------------------------------------------------------------------===//
#include "SplitK.h"

#include "AccessCost.h"
#include "Copies.h"
#include "Hints.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_SPLITK
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Blocks that a cluster may have on every chip that has clusters, and from which on adding up
/// takes longer than it saves.
static constexpr int64_t mostParts = 8;

/// Every carried value is a sum of products that begins with zeros.
static bool carriesSums(scf::ForOp loop) {
  for (auto [init, argument, yielded] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues())) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    // Larger sums are not in registers.
    if (!type || (tile::hasLayout(type) && tile::getLayout(type).size(Input::Register) > 256) ||
        !(type.getElementType().isF32() || type.getElementType().isF64() ||
          type.getElementType().isInteger(32)))
      return false;
    bool isZero = matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero());
    auto mma = yielded.getDefiningOp<tile::MmaOp>();
    while (mma && mma.getAcc() != argument && mma.getResult().hasOneUse())
      mma = mma.getAcc().getDefiningOp<tile::MmaOp>();
    if (!isZero || !mma || mma.getAcc() != argument || !argument.hasOneUse())
      return false;
  }
  return loop.getNumResults() > 0;
}

/// The only loop with products that is in the kernel's own block, and no other has any.
static scf::ForOp findLoop(tile::KernelOp kernel) {
  scf::ForOp found;
  bool isAlone = true;
  kernel.walk([&](tile::MmaOp mma) {
    auto loop = dyn_cast<scf::ForOp>(mma->getParentOp());
    isAlone &= loop && (!found || found == loop) &&
               loop->getBlock() == &kernel.getBody().front();
    found = loop;
  });
  return isAlone ? found : scf::ForOp();
}

StringRef tilec::splitKObstacle(tile::KernelOp kernel) {
  scf::ForOp loop = findLoop(kernel);
  if (!loop)
    return "it has no loop of its own that sums products";
  if (!carriesSums(loop))
    return "its loop carries more than sums of products in f32, f64 or i32 that begin with zeros";
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return "its loop has no constant step";
  if (tile::hasSites(kernel))
    return "it prints or asserts";
  Block *body = &kernel.getBody().front();
  // What is stored before the loop all blocks would have to see.
  bool writes = containsWhere(kernel, [&](Operation *op) {
    bool isHarmless = op->getNumRegions() > 0 || isMemoryEffectFree(op) ||
                      isa<tile::LoadOp, tile::GatherOp, tile::AssumeOp>(op) ||
                      (isa<tile::StoreOp>(op) && op->getBlock() == body &&
                       loop->isBeforeInBlock(op));
    return !isHarmless;
  });
  return writes ? "it writes before the loop or under control flow, or by index, or atomically" : "";
}

/// Whether blocks add up in a cluster: where blocks stay and take one position after the other,
/// those of a position have to keep together. Elsewhere no shared memory is needed for the sums.
static bool addsInCluster(const Chip &chip) {
  return chip.has(ChipFeature::Cluster) &&
         (chip.has(ChipFeature::WarpGroupMma) || chip.has(ChipFeature::TensorMemoryMma));
}

/// Whether the sums find room in shared memory, where blocks exchange them, beside a place for
/// what copies bring and for the result on its way out.
static bool hasRoom(scf::ForOp loop, int64_t budget) {
  constexpr int64_t forResult = 48 * 1024;
  int64_t bytes = forResult;
  for (Type sum : loop.getResultTypes())
    bytes += isa<RankedTensorType>(sum) ? bytesOfTile(sum) : 0;
  loop.walk([&](tile::LoadOp load) { bytes += isCopied(load) ? bytesOfTile(load.getType()) : 0; });
  return bytes <= budget;
}

/// Restricts the loop to the part that is block `rank` of `parts`, at most 8 and a power of two.
static void takePart(scf::ForOp loop, Value rank, Value parts) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto mul = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); };
  auto least = [&](Value a, Value b) -> Value { return arith::MinSIOp::create(builder, loc, a, b); };
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  // Quotients rounded up, with no sum that could overflow.
  auto roundUp = [&](Value quotient, Value rest) {
    Value isCut = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, zero);
    return add(quotient, arith::SelectOp::create(builder, loc, isCut, one, zero));
  };
  Value length = arith::SubIOp::create(builder, loc, loop.getUpperBound(), lower);
  length = arith::MaxSIOp::create(builder, loc, length, zero);
  Value trips = roundUp(arith::DivUIOp::create(builder, loc, length, step),
                        arith::RemUIOp::create(builder, loc, length, step));
  // By a shift of the logarithm of 1, 2, 4 or 8, as quotients of 64 bits cost the assembler dearly.
  auto shift = [&](Value a, Value by) -> Value { return arith::ShRUIOp::create(builder, loc, a, by); };
  Value three = arith::ConstantIndexOp::create(builder, loc, 3);
  Value bits = arith::SubIOp::create(builder, loc, shift(parts, one), shift(parts, three));
  Value odd = arith::AndIOp::create(builder, loc, trips,
                                    arith::SubIOp::create(builder, loc, parts, one));
  Value share = roundUp(shift(trips, bits), odd);
  // LLVM has to see that the loop's variable is not negative, else it keeps more addresses.
  Value begin = arith::MaxSIOp::create(builder, loc, least(mul(share, rank), trips), zero);
  Value end = least(add(begin, share), trips);
  loop.setLowerBound(add(lower, mul(begin, step)));
  loop.setUpperBound(least(add(lower, mul(end, step)), loop.getUpperBound()));
}

/// The blocks of a cluster: `parts`, or as many as the launch gives it.
static void splitInCluster(tile::KernelOp kernel, scf::ForOp loop, int64_t parts) {
  Block &body = kernel.getBody().front();
  OpBuilder builder(&body, body.begin());
  Location loc = loop.getLoc();
  Value rank = tgpu::ClusterRankOp::create(builder, loc, builder.getIndexType());
  Value size = parts ? arith::ConstantIndexOp::create(builder, loc, parts).getResult()
                     : tgpu::ClusterSizeOp::create(builder, loc, builder.getIndexType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rank, zero);
  takePart(loop, rank, size);
  builder.setInsertionPointAfter(loop);
  for (OpResult result : loop.getResults()) {
    auto sum = tgpu::ClusterSumOp::create(builder, loc, result.getType(), result,
                                          /*scratch=*/Value(), /*meeting=*/Value());
    result.replaceAllUsesExcept(sum.getResult(), sum);
  }
  for (auto store : llvm::make_early_inc_range(body.getOps<tile::StoreOp>())) {
    OpBuilder at(store);
    auto branch = scf::IfOp::create(at, store.getLoc(), isFirst, /*withElse=*/false);
    store->moveBefore(branch.thenBlock()->getTerminator());
  }
}

/// Blocks that know of each other by a counter in memory alone.
static void splitInMemory(scf::ForOp loop, int64_t parts) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value part = tgpu::PartOp::create(builder, loc, builder.getIndexType());
  Value count = parts ? arith::ConstantIndexOp::create(builder, loc, parts).getResult()
                      : tgpu::NumPartsOp::create(builder, loc, builder.getIndexType());
  takePart(loop, part, count);
  builder.setInsertionPointAfter(loop);
  auto sum = tgpu::MemorySumOp::create(builder, loc, loop.getResults());
  for (auto [part, whole] : llvm::zip(loop.getResults(), sum.getResults()))
    part.replaceAllUsesExcept(whole, sum);
}

namespace {

struct SplitK : tilec::impl::SplitKBase<SplitK> {
  using SplitKBase::SplitKBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    const Chip *target = findChip(chip);
    int64_t hint = hintOf(kernel, chip, "split_k").value_or(0);
    bool isFew = relies(kernel, BuildFact::FewBlocks);
    if (hint <= 1 && !isFew)
      return;
    StringRef obstacle = hint > 1 && (hint > mostParts || !llvm::isPowerOf2_64(uint64_t(hint)))
                             ? "2, 4 or 8 blocks share a loop"
                             : splitKObstacle(kernel);
    bool inCluster = target && addsInCluster(*target);
    if (obstacle.empty() && inCluster && !hasRoom(findLoop(kernel), target->sharedPerBlock))
      obstacle = "its sums would not fit into shared memory beside what copies bring";
    if (obstacle.empty()) {
      remarkChoice(kernel, "split-k",
                   "{0} blocks share the loop over K of each position and add up {1}",
                   hint > 1 ? std::to_string(hint) : "2, 4 or 8",
                   inCluster ? "in a cluster" : "in memory");
      int64_t parts = hint > 1 ? hint : 0;
      inCluster ? splitInCluster(kernel, findLoop(kernel), parts)
                : splitInMemory(findLoop(kernel), parts);
      kernel->setAttr(tgpu::splitKAttrName, Builder(&getContext()).getI64IntegerAttr(parts));
      return;
    }
    if (hint > 1)
      declineHint(kernel, chip, "split_k", obstacle);
    remarkMissed(kernel, "split-k", "each block has its loop over K for itself: {0}", obstacle);
  }
};

} // namespace

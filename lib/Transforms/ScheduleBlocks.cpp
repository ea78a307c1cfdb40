//===- ScheduleBlocks.cpp - which block does which part of the grid ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel whose products are fed by the copy engine. Out: a kernel whose
// blocks stay on the chip and take one position of the grid after the other, so that
// the copies for the next one start while the last is being stored:
//
//   body(tile.block_id 0, tile.block_id 1)
//     →
//   %first = tgpu.resident_block   %step = tgpu.num_resident_blocks
//   scf.for %t = %first to %total step %step {
//     %m, %n = …                               a raster that keeps the L2 cache warm
//     body(%m, %n)
//   }
//
// Blocks may run in any order (language reference, section 7), so the compiler may choose
// it. The raster goes through the grid in bands of `bandBlocks` positions of axis 0: the
// blocks that are resident at one time then share few rows of one operand and few
// columns of the other.
//
//        axis 1 ->                       132 blocks at a time, bands of 8: 8 + 17 tiles
//   band 0  0  8 16 24 ..                are read, where row after row of a 64 x 64 grid
//           1  9 17 25 ..                would read 3 + 64.
//           .. 7 15 23 31
//
// Where how long a block takes depends on its position along axis 0, as in causal
// attention, the raster goes along axis 0 slowest, in low bands, and from that end at which
// blocks take longest: work that is long had better not start last. That is the end of the
// axis, as such loops mostly grow with the position, unless it is only where they begin that
// depends on it, as in attention's gradient of keys. Every other round of the resident blocks
// goes backwards, so that the same blocks do not get the longest part of each round:
//
//   position 0 1 2 3 4 5 6 7     three resident blocks: 0 5 6, 1 4 7, 2 3
//
// Where all that loops copy is the same along axis 0, as keys and values are for the queries
// of a head, the raster goes along axis 0 fastest: those that read the same are at work
// together. If they take unequally long, a block first takes a long position and then, of the
// same row of axis 0, the short one that makes up for it, so that all have the same to do:
//
//   axis 0 of two others: a0 … a3, b0 … b3     four resident blocks: a3 a0, a2 a1, b3 b0, b2 b1
//
// What is left when there are fewer than two pairs for each block is dealt out in rounds that go
// there and back, the longest first, from all rows that are left.
//
// Where loads do not depend on the position along an axis, two blocks side by side along
// it can share them: they become a cluster, and each copies half for both. That is done
// for large tiles, whose grids are large, and for smaller ones in a build that knows the
// grid to be of pairs (`pairs`), along the axis that saves more bytes; by hint, four or
// eight blocks are a cluster. Where the grid's extent is odd, the last cluster's second block
// has no position of its own: it copies and computes along, and its stores are left out.
// Where two warp groups compute between the products of a loop, as in attention, blocks stay
// alone. Without a hint the launch has the last word (`tgpu.cluster_axis`): blocks are alone where the
// extent is one.
//
// On chips without products of warp groups, other kernels get an order of blocks (OrderBlocks).
//
// Loads of which every tile is read by one position only where the grid is thin, as the
// weights of a product with few rows, are marked so (Copies.h): they need not push out of
// the L2 cache what is used again.
//
//===------------------------------------------------------------------------===//
#include "ScheduleBlocks.h"

#include "AccessCost.h"
#include "Copies.h"
#include "Dependence.h"
#include "GridLoop.h"
#include "Hints.h"
#include "OrderBlocks.h"
#include "Raster.h"
#include "ResidentBlocks.h"
#include "Residuals.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/Grid.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_SCHEDULEBLOCKS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Positions of axis 0 in a band.
static constexpr int64_t bandBlocks = 8;
/// The same where blocks take unequally long. More would share more of what is read, and
/// leave more of them unequal.
static constexpr int64_t unevenBandBlocks = 4;

/// How the grid is gone through.
struct Raster {
  Work work = Work::Even;
  /// All that loops copy is the same along axis 0.
  bool isSharedAlong0 = false;
};

/// Places along axis 0, counted from where work is most, and along all other axes.
using RowAndOther = std::pair<Value, Value>;

/// The position `x` of axis 0 and the `other`-th of the other axes.
static SmallVector<Value, 3> positionAt(BlockArithmetic math, Value x, Value other,
                                        ArrayRef<Value> extents) {
  Value y = extents.size() > 2 ? math.rem(other, extents[1]) : other;
  Value z = extents.size() > 2 ? math.div(other, extents[1]) : math.constant(0);
  return {math.widen(x), math.widen(y), math.widen(z)};
}

/// Every other round of the resident blocks goes backwards: the one that came first, and
/// so took longest, comes last. The last round may have fewer positions than blocks: it goes
/// forwards, behind one that gave the least to the first blocks.
static Value turnRound(BlockArithmetic math, Value number, Value total, Value numBlocks) {
  Value one = math.constant(1);
  Value round = math.div(number, numBlocks);
  Value rounds = math.div(math.sub(math.add(total, numBlocks), one), numBlocks);
  Value first = math.mul(round, numBlocks);
  Value place = math.sub(number, first);
  Value turned = math.sub(math.sub(numBlocks, one), place);
  Value isBack = math.is(arith::CmpIPredicate::eq,
                         math.rem(math.sub(rounds, round), math.constant(2)), math.constant(0));
  return math.add(first, math.select(isBack, turned, place));
}

/// The row and the column of the position that comes `number`-th in bands of `band` rows, a power
/// of two, each gone through column by column. What is left below whole bands is one that is
/// less high. Either takes one division, which costs the assembler as much as a dozen other
/// operations: they share it.
static RowAndOther placeInBands(BlockArithmetic math, Value number, Value rows, Value others,
                                int64_t band) {
  Value height = math.constant(band);
  Value odd = math.rem(rows, height);
  Value whole = math.sub(rows, odd);
  Value inWhole = math.mul(whole, others);
  Value isWhole = math.is(arith::CmpIPredicate::ult, number, inWhole);
  Value dividend = math.select(isWhole, math.div(number, height), math.sub(number, inWhole));
  Value divisor = math.select(isWhole, others, odd);
  Value quotient = math.div(dividend, divisor), rest = math.rem(dividend, divisor);
  Value row = math.add(math.mul(quotient, height), math.rem(number, height));
  return {math.select(isWhole, row, math.add(whole, rest)),
          math.select(isWhole, rest, quotient)};
}

namespace {
/// Pairs of positions of axis 0, a long one and the short one that makes up for it.
struct Pairs {
  Value ofRow;  ///< of one position of the other axes, 1 at least
  Value all;    ///< of the grid
  Value inTurn; ///< those that blocks take whole
};
} // namespace

/// Blocks take whole pairs until there are fewer than two for each, or to the end where that
/// leaves no block idle.
static Pairs countPairs(BlockArithmetic math, Value rows, Value others, Value numBlocks) {
  Value one = math.constant(1);
  Value ofRow = math.div(rows, math.constant(2));
  Value all = math.mul(ofRow, others);
  Value turns = math.div(all, numBlocks);
  Value isEven = math.is(arith::CmpIPredicate::eq, math.mul(turns, numBlocks), all);
  Value fewer = math.sub(math.max(turns, one), one);
  return {math.max(ofRow, one), all, math.mul(math.select(isEven, turns, fewer), numBlocks)};
}

/// A long position of axis 0 and, a round later, the short one of the pair.
static RowAndOther placeInTurns(BlockArithmetic math, Value number, Value rows, Pairs pairs,
                                Value numBlocks) {
  Value two = math.constant(2);
  Value before = math.mul(math.div(number, math.mul(numBlocks, two)), numBlocks);
  Value inTurn = math.sub(number, math.mul(before, two));
  Value isShort = math.is(arith::CmpIPredicate::uge, inTurn, numBlocks);
  Value place = math.select(isShort, math.sub(inTurn, numBlocks), inTurn);
  Value pair = math.add(before, place);
  Value other = math.div(pair, pairs.ofRow);
  Value row = math.sub(pair, math.mul(other, pairs.ofRow));
  Value last = math.sub(math.sub(rows, math.constant(1)), math.rem(rows, two));
  return {math.select(isShort, math.sub(last, row), row), other};
}

/// What turns leave, the longest first, dealt out in rounds; behind that the last row of an odd
/// number, which has no partner. Of the first of the other axes, turns may have `taken` pairs: then
/// it is only in the rows between them.
static RowAndOther placeInRounds(BlockArithmetic math, Value number, Value rows, Value others,
                                 Pairs pairs, Value numBlocks) {
  Value none = math.constant(0), one = math.constant(1), two = math.constant(2);
  Value begin = math.mul(pairs.inTurn, two), end = math.mul(pairs.all, two);
  Value isAlone = math.is(arith::CmpIPredicate::uge, number, end);
  Value place = turnRound(math, math.select(isAlone, none, math.sub(number, begin)),
                          math.sub(end, begin), numBlocks);

  Value first = math.div(pairs.inTurn, pairs.ofRow), taken = math.rem(pairs.inTurn, pairs.ofRow);
  Value firstWhole = math.add(first, math.min(taken, one));
  Value left = math.max(math.sub(others, first), one);
  Value whole = math.sub(others, firstWhole);
  Value before = math.mul(taken, whole);
  Value between = math.mul(math.mul(math.sub(pairs.ofRow, taken), two), left);
  Value behind = math.sub(place, before);
  Value isBefore = math.is(arith::CmpIPredicate::ult, place, before);
  Value isBetween = math.is(arith::CmpIPredicate::ult, behind, between);
  Value row = math.select(isBefore, none, math.sub(math.mul(pairs.ofRow, two), taken));
  row = math.select(isBetween, taken, row);
  Value inRows = math.select(isBefore, place, math.sub(behind, between));
  inRows = math.select(isBetween, behind, inRows);
  Value width = math.select(isBetween, left, math.max(whole, one));
  row = math.add(row, math.div(inRows, width));
  Value other = math.add(math.select(isBetween, first, firstWhole), math.rem(inRows, width));
  return {math.select(isAlone, math.sub(rows, one), row),
          math.select(isAlone, math.sub(number, end), other)};
}

/// The position that comes `number`-th of `total` where work is not even along axis 0.
static SmallVector<Value, 3> unevenPosition(BlockArithmetic math, Value number, Value total,
                                            Value numBlocks, ArrayRef<Value> extents,
                                            Raster raster) {
  Value rows = extents[0];
  Value others = extents.size() > 2 ? math.mul(extents[1], extents[2]) : extents[1];
  RowAndOther place;
  if (raster.isSharedAlong0) {
    Pairs pairs = countPairs(math, rows, others, numBlocks);
    auto yield = [](OpBuilder &body, Location loc, RowAndOther place) {
      scf::YieldOp::create(body, loc, {place.first, place.second});
    };
    Value isInTurn = math.is(arith::CmpIPredicate::ult, number,
                             math.mul(pairs.inTurn, math.constant(2)));
    auto branch = scf::IfOp::create(
        math.builder, math.loc, isInTurn,
        [&](OpBuilder &body, Location loc) {
          yield(body, loc, placeInTurns({body, loc}, number, rows, pairs, numBlocks));
        },
        [&](OpBuilder &body, Location loc) {
          yield(body, loc, placeInRounds({body, loc}, number, rows, others, pairs, numBlocks));
        });
    place = {branch.getResult(0), branch.getResult(1)};
  } else {
    place = placeInBands(math, turnRound(math, number, total, numBlocks), rows, others,
                         unevenBandBlocks);
  }
  auto [row, other] = place;
  Value x = raster.work == Work::Shrinks
                ? row
                : math.sub(math.sub(rows, math.constant(1)), row);
  return positionAt(math, x, other, extents);
}

/// The position of the grid that comes `number`-th where all take equally long. `extents`:
/// of the grid's axes.
static SmallVector<Value, 3> evenPosition(BlockArithmetic math, Value number,
                                          ArrayRef<Value> extents, Raster raster) {
  if (raster.isSharedAlong0) {
    Value other = math.div(number, extents[0]);
    return positionAt(math, math.rem(number, extents[0]), other, extents);
  }
  Value inPlane = number, z = math.constant(0);
  if (extents.size() > 2) {
    Value plane = math.mul(extents[0], extents[1]);
    z = math.div(number, plane);
    inPlane = math.rem(number, plane);
  }
  auto [row, column] = placeInBands(math, inPlane, extents[0], extents[1], bandBlocks);
  return {math.widen(row), math.widen(column), math.widen(z)};
}

/// Only a kernel whose time goes into rings gains: its next copies overlap.
static bool hasCopiesInLoop(tile::KernelOp kernel) {
  return containsWhere(kernel, [](Operation *op) {
    bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    return isa<tile::LoadOp, tile::GatherOp>(op) && isCopiedByEngine(op) && isInLoop;
  });
}

//===------------------------------------------------------------------------===//
// Clusters
//===------------------------------------------------------------------------===//

/// Says of a load whether it will be a copy.
using IsCopy = llvm::function_ref<bool(tile::LoadOp)>;

/// Whether blocks side by side along `axis` may run in step: everything but the places
/// of copies and stores is the same in both, and stores can be left out.
static bool canPair(tile::KernelOp kernel, uint32_t axis) {
  auto isSource = isPositionAlong(axis);
  Block *body = &kernel.getBody().front();
  return !containsWhere(kernel, [&](Operation *op) {
    if (isa<tile::LoadOp>(op))
      return isRunDependingOn(op, isSource);
    if (isa<tile::StoreOp>(op))
      return op->getBlock() != body;
    return op->getNumRegions() == 0 && !isMemoryEffectFree(op) && !isa<tile::AssumeOp>(op);
  });
}

/// Bytes of one pass through the loops that blocks along `axis` have in common.
static int64_t sharedBytes(tile::KernelOp kernel, uint32_t axis, IsCopy isCopy) {
  int64_t bytes = 0;
  kernel.walk([&](tile::LoadOp load) {
    if (!isCopy(load) || !load->getParentOfType<LoopLikeOpInterface>() ||
        dependsOn(load.getIndex(), isPositionAlong(axis)))
      return;
    bytes += bytesOfTile(load.getType());
  });
  return bytes;
}

/// Elements of the largest accumulator.
static int64_t largestProduct(tile::KernelOp kernel) {
  int64_t elements = 0;
  kernel.walk([&](tile::MmaOp mma) {
    elements = std::max(elements, mma.getType().getNumElements());
  });
  return elements;
}

/// Tiles from which on a grid is taken to be large, and from which on pairs pay where there
/// are any: in those of 64 x 64 they wait longer for each other than they save.
static constexpr int64_t clusterTile = 128 * 128, smallestClusterTile = 64 * 128;

/// Whether the grid has one position along `axis`, whatever the launch: neighbours there
/// would be two that compute for one.
static bool hasOnePosition(tile::KernelOp kernel, uint32_t axis) {
  auto grid = kernel.getGrid();
  return grid && (axis >= grid->size() || cast<StringAttr>((*grid)[axis]).getValue() == "1");
}

/// The axis along which two blocks share the most bytes, and these.
static std::pair<std::optional<uint32_t>, int64_t> axisOfPairs(tile::KernelOp kernel,
                                                               IsCopy isCopy) {
  std::pair<std::optional<uint32_t>, int64_t> best = {std::nullopt, 0};
  for (uint32_t axis : {0, 1})
    if (int64_t bytes = hasOnePosition(kernel, axis) ? 0 : sharedBytes(kernel, axis, isCopy);
        bytes > best.second && canPair(kernel, axis))
      best = {axis, bytes};
  return best;
}

bool tilec::gainsFromPairs(tile::KernelOp kernel, StringRef chip) {
  const Chip *target = findChip(chip);
  int64_t elements = largestProduct(kernel);
  if (!target || !target->has(ChipFeature::Cluster) ||
      !target->has(ChipFeature::WarpGroupMma) || elements < smallestClusterTile ||
      elements >= clusterTile)
    return false;
  for (const char *name : {"cluster", "split_k", "persistent"})
    if (hintOf(kernel, chip, name))
      return false;
  auto isOfTile = [](tile::LoadOp load) { return isa<ShapedType>(load.getResult().getType()); };
  return axisOfPairs(kernel, isOfTile).first.has_value();
}

/// Whether two warp groups have a loop of two products, of which the second takes what is
/// computed from the first: with the first's a in registers (ScheduleAsyncMma) they do
/// better alone, each at its own pace, than with shared copies.
static bool isSkewedByTwo(tile::KernelOp kernel) {
  SmallVector<tile::MmaOp> products;
  kernel.walk([&](tile::MmaOp mma) { products.push_back(mma); });
  return kernel.getNumWarps() == 8 && products.size() == 2 &&
         products[0]->getBlock() == products[1]->getBlock() &&
         products[0]->getParentOfType<LoopLikeOpInterface>() &&
         dependsOn(products[1].getA(),
                   [&](Operation *op) { return op == products[0].getOperation(); });
}

/// Blocks stay alone: says why, also where a hint asks for something else.
static std::nullopt_t stayAlone(tile::KernelOp kernel, StringRef chip, const Twine &why) {
  if (hintOf(kernel, chip, "cluster").value_or(1) != 1)
    declineHint(kernel, chip, "cluster", why);
  remarkMissed(kernel, "schedule-blocks", "no clusters: {0}", why.str());
  return std::nullopt;
}

namespace {
/// So many blocks side by side along an axis of the grid.
struct Cluster {
  uint32_t axis;
  int64_t blocks;
  bool isOfLaunch; ///< the launch may leave blocks alone
};
} // namespace

/// The blocks that become a cluster; none where that does not pay.
static std::optional<Cluster> chooseCluster(tile::KernelOp kernel, StringRef chip) {
  std::optional<int64_t> hint = hintOf(kernel, chip, "cluster");
  const Chip *target = findChip(chip);
  if (!target || !target->has(ChipFeature::Cluster))
    return stayAlone(kernel, chip, "the chip has none");
  if (hint && *hint != 2 && *hint != 4 && *hint != 8)
    return stayAlone(kernel, chip,
                     *hint == 1 ? "the hint says so" : "they are of 2, 4 or 8 blocks");
  if (kernel->hasAttr(tgpu::splitKAttrName))
    return stayAlone(kernel, chip, "they share the loop over K");
  if (containsWhere(kernel, [](Operation *op) { return copierOf(op) == "warps"; }))
    return stayAlone(kernel, chip, "what warps copy comes to their own block alone");
  if (!hint && !relies(kernel, BuildFact::Pairs) && largestProduct(kernel) < clusterTile)
    return stayAlone(kernel, chip,
                     "products of fewer than 128 x 128 may have a grid too small for pairs");
  if (!hint && isSkewedByTwo(kernel))
    return stayAlone(kernel, chip, "blocks do better at their own pace where the second product "
                                   "of a loop takes what is computed from the first");
  auto [best, most] = axisOfPairs(kernel, [](tile::LoadOp load) { return isCopied(load); });
  if (!best)
    return stayAlone(kernel, chip,
                     "no two neighbours of the grid load the same and run in step");
  // Products in tensor memory tell a number of blocks that is known of what they have read.
  Cluster cluster{*best, hint.value_or(2), !hint && !target->has(ChipFeature::TensorMemoryMma)};
  remarkChoice(kernel, "schedule-blocks",
               "clusters of {0} blocks along axis {1} of the grid copy {2} of each step once for {3}",
               cluster.blocks, cluster.axis, spellBytes(most),
               cluster.blocks == 2 ? "both" : "all");
  return cluster;
}

/// Has loads test whether they are inside: those of a block that has no position along `axis`
/// are not.
static void checkLoads(tile::KernelOp kernel, uint32_t axis) {
  kernel.walk([&](tile::LoadOp load) {
    bool isByThreads = !isCopied(load) || load->hasAttr(residualAttrName);
    if (isByThreads && dependsOn(load.getIndex(), isPositionAlong(axis)))
      load.removeInBoundsAttr();
  });
}

/// Lets `block` store only where `isInside`.
static void guardStores(Block &block, Value isInside) {
  for (auto store : llvm::make_early_inc_range(block.getOps<tile::StoreOp>())) {
    OpBuilder builder(store);
    auto branch = scf::IfOp::create(builder, store.getLoc(), isInside, /*withElse=*/false);
    store->moveBefore(branch.thenBlock()->getTerminator());
  }
}

//===------------------------------------------------------------------------===//
// What is read once
//===------------------------------------------------------------------------===//

/// Whether `value` is another one at each position along `axis`: that position, a multiple of
/// it, the same behind something fixed, or the counter of a loop that begins and ends there.
/// Of what only one end of a loop depends on, or a quotient, neighbours have some in common.
static bool isOwnAlong(Value value, uint32_t axis) {
  auto isPosition = isPositionAlong(axis);
  auto isFixed = [&](Value other) {
    return !dependsOn(other, [&](Operation *op) {
      return isPosition(op) || isa<LoopLikeOpInterface>(op);
    });
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isOwnAlong(loop.getLowerBound(), axis) &&
           dependsOn(loop.getUpperBound(), isPosition);
  }
  Operation *op = value.getDefiningOp();
  if (isPosition(op))
    return true;
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return isOwnAlong(op->getOperand(0), axis);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  Value first = op->getOperand(0), second = op->getOperand(1);
  if (isa<arith::MulIOp>(op) && !matchPattern(second, m_Constant()))
    return false;
  return (isOwnAlong(first, axis) && isFixed(second)) ||
         (isOwnAlong(second, axis) && isFixed(first));
}

/// Marks copied loads whose block reads each tile once: as long as axes along which it does
/// not read others have one position, or one cluster, nobody else does. Of places that are
/// loaded themselves nothing is known.
static void markReadOnce(tile::KernelOp kernel, uint32_t numAxes,
                         std::optional<Cluster> cluster) {
  kernel.walk([&](tile::LoadOp load) {
    // Tiles that begin at any element may overlap.
    if (!isCopiedByEngine(load) || load.getElements() ||
        dependsOn(load.getIndex(), llvm::IsaPred<tile::LoadOp, tile::GatherOp>))
      return;
    for (Operation *parent = load->getParentOp(); parent != kernel; parent = parent->getParentOp())
      if (isa<LoopLikeOpInterface>(parent) &&
          !dependsOn(load.getIndex(), [&](Operation *op) { return op == parent; }))
        return;
    SmallVector<int64_t, 3> within;
    for (uint32_t axis = 0; axis < numAxes; ++axis) {
      auto isOwn = [&](Value index) { return isOwnAlong(index, axis); };
      bool isShared = cluster && axis == cluster->axis &&
                      !dependsOn(load.getIndex(), isPositionAlong(axis));
      within.push_back(llvm::any_of(load.getIndex(), isOwn) ? 0
                       : isShared                           ? cluster->blocks
                                                            : 1);
    }
    load->setAttr(onceWithinAttrName, DenseI64ArrayAttr::get(kernel.getContext(), within));
  });
}

//===------------------------------------------------------------------------===//
// The loop over the grid
//===------------------------------------------------------------------------===//

/// Whether loops around `load` depend on the position along axis 0 in where they begin, and
/// in nothing else.
static bool beginsLater(tile::LoadOp load) {
  auto isSource = isPositionAlong(0);
  bool begins = false;
  for (Operation *parent = load->getParentOp(); !isa<tile::KernelOp>(parent);
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || dependsOn({loop.getUpperBound(), loop.getStep()}, isSource))
      return false;
    begins |= dependsOn(loop.getLowerBound(), isSource);
  }
  return begins;
}

/// Whether some loop that copies runs more or less often along axis 0.
static Work workAlongGrid(tile::KernelOp kernel) {
  Work work = Work::Even;
  kernel.walk([&](tile::LoadOp load) {
    if (!isCopied(load) || !isRunDependingOn(load, isPositionAlong(0)))
      return WalkResult::advance();
    work = beginsLater(load) ? Work::Shrinks : Work::Grows;
    return work == Work::Grows ? WalkResult::interrupt() : WalkResult::advance();
  });
  return work;
}

/// Whether all that loops copy is the same along axis 0: nothing but where loops begin or end
/// depends on it, and not so that each has tiles of its own. Of what is gathered nothing is
/// known.
static bool sharesAlong0(tile::KernelOp kernel) {
  auto isShared = [](tile::LoadOp load) {
    bool isOwn =
        llvm::any_of(load.getIndex(), [](Value index) { return isOwnAlong(index, 0); });
    return !isOwn && !dependsOn(load.getIndex(), isPositionAlong(0), /*throughBounds=*/false);
  };
  return !containsWhere(kernel, [&](Operation *op) {
    bool isCopy = isa<tile::LoadOp, tile::GatherOp>(op) && isCopied(op) &&
                  op->getParentOfType<LoopLikeOpInterface>();
    auto load = dyn_cast<tile::LoadOp>(op);
    return isCopy && !(load && isShared(load));
  });
}

static Raster rasterOf(tile::KernelOp kernel) {
  return {workAlongGrid(kernel), sharesAlong0(kernel)};
}

static void makePersistent(tile::KernelOp kernel, Raster raster, std::optional<Cluster> cluster,
                           int64_t residentBlocks) {
  uint32_t numAxes = tile::numGridAxes(kernel);
  markReadOnce(kernel, numAxes, cluster);
  if (cluster)
    checkLoads(kernel, cluster->axis);
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> moved;
  for (Operation &op : body.without_terminator())
    moved.push_back(&op);

  OpBuilder builder = OpBuilder::atBlockTerminator(&body);
  BlockArithmetic math{builder, kernel.getLoc()};
  Type index = builder.getIndexType();
  SmallVector<Value, 3> extents;
  for (uint32_t axis = 0; axis < std::max(numAxes, 2u); ++axis)
    extents.push_back(
        math.narrow(tile::NumBlocksOp::create(builder, kernel.getLoc(), index, axis)));
  Value extent, blocks;
  if (cluster) {
    extent = extents[cluster->axis];
    blocks = cluster->isOfLaunch
                 ? math.narrow(tgpu::ClusterSizeOp::create(builder, kernel.getLoc(), index))
                 : math.constant(cluster->blocks);
    Value more = math.sub(blocks, math.constant(1));
    Value up = math.add(extent, more);
    // The launch takes one block or two: their logarithm is one less.
    extents[cluster->axis] = cluster->isOfLaunch ? math.shift(up, more) : math.div(up, blocks);
  }
  Value product = extents[0];
  for (Value axis : ArrayRef(extents).drop_front())
    product = math.mul(product, axis);
  Value total = math.widen(product);
  scf::ForOp loop = createGridLoop(builder, kernel.getLoc(), total);

  builder.setInsertionPointToStart(loop.getBody());
  Value number = math.narrow(loop.getInductionVar());
  SmallVector<Value, 3> position =
      raster.work == Work::Even ? evenPosition(math, number, extents, raster)
                                : unevenPosition(math, number, math.narrow(total),
                                                 math.narrow(loop.getStep()), extents, raster);
  Value isInside;
  if (cluster) {
    Value rank = math.narrow(tgpu::ClusterRankOp::create(builder, kernel.getLoc(), index));
    Value ofCluster = math.narrow(position[cluster->axis]);
    Value place = math.add(math.mul(ofCluster, blocks), rank);
    isInside = math.is(arith::CmpIPredicate::ult, place, extent);
    position[cluster->axis] = math.widen(place);
  }
  fillGridLoop(loop, moved, position, residentBlocks);
  if (!cluster)
    return;
  guardStores(*loop.getBody(), isInside);
  kernel->setAttr(tgpu::clusterAttrName, builder.getI64IntegerAttr(cluster->blocks));
  if (cluster->isOfLaunch)
    kernel->setAttr(tgpu::clusterAxisAttrName, builder.getI64IntegerAttr(cluster->axis));
}

namespace {

struct ScheduleBlocks : tilec::impl::ScheduleBlocksBase<ScheduleBlocks> {
  using ScheduleBlocksBase::ScheduleBlocksBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    std::optional<int64_t> hint = hintOf(kernel, chip, "persistent");
    if (!hasCopiesInLoop(kernel))
      return stayPlain(hint.value_or(0) > 0, "the copy engine brings nothing in a loop");
    if (hint == 0)
      return stayPlain(false, "the hint says so");
    Raster raster = rasterOf(kernel);
    remarkChoice(kernel, "schedule-blocks",
                 "resident blocks take one position of the grid after the other, {0}",
                 orderOf(raster));
    std::optional<Cluster> cluster = chooseCluster(kernel, chip);
    makePersistent(kernel, raster, cluster, countBlocks(kernel, hint, cluster.has_value()));
  }

private:
  /// Blocks of a multiprocessor. Those that copy for each other keep to one.
  int64_t countBlocks(tile::KernelOp kernel, std::optional<int64_t> hint, bool hasCluster) {
    if (hint)
      return *hint;
    const Chip *target = findChip(chip);
    int64_t blocks = target && !hasCluster ? blocksPerMultiprocessor(kernel, *target) : 1;
    if (blocks > 1)
      remarkChoice(kernel, "schedule-blocks",
                   "{0} blocks a multiprocessor: while one computes an operand, another multiplies",
                   blocks);
    return blocks;
  }

  static std::string orderOf(Raster raster) {
    if (raster.work == Work::Even)
      return raster.isSharedAlong0 ? "axis 0 fastest, along which they load the same"
                                   : "in bands of " + std::to_string(bandBlocks) + " of axis 0";
    std::string end = raster.work == Work::Grows ? "last" : "first";
    return "the " + end + " of axis 0 first, as these take longest" +
           (raster.isSharedAlong0 ? ", and with each a short one" : "");
  }

  /// A block for each position of the grid, and no clusters. Where warps multiply, the order of
  /// blocks is one that suits their reads.
  void stayPlain(bool isAgainstHint, const char *why) {
    tile::KernelOp kernel = getOperation();
    if (isAgainstHint)
      declineHint(kernel, chip, "persistent", why);
    const Chip *target = findChip(chip);
    if (hintOf(kernel, chip, "cluster").value_or(1) != 1)
      declineHint(kernel, chip, "cluster",
                  target && target->has(ChipFeature::Cluster) ? why : "the chip has none");
    remarkMissed(kernel, "schedule-blocks", "a block for each position of the grid: {0}", why);
    if (!target || target->has(ChipFeature::WarpGroupMma) || target->has(ChipFeature::TensorMemoryMma))
      return;
    std::string order = orderBlocks(kernel);
    if (!order.empty())
      remarkChoice(kernel, "schedule-blocks", "blocks take the positions of the grid {0}", order);
  }
};

} // namespace

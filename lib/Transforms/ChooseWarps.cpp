//===- ChooseWarps.cpp - how many warps a kernel runs on -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: a kernel of stage `tile`. Out: the same with `num_warps`, a power of two. It is
// the first of: what the kernel says already; the command line's; the hint for this chip;
// the hint for all chips; a choice from the tiles:
//
// Products: 32 accumulators a thread, up to 4 warps, and 4 where they then multiply as a
// group, but where products of a loop take one another's results (warpsForChain) or wait for
// places (waitsForPlaces); small ones with large operands (few queries, many keys) more, up to
// 4, so that a thread brings no more than 64 elements of each, while every warp has a part of
// 16 x 16;
// from 128 x 128 on 8 warps, or 4 where their threads read shared memory
// (prefersFewWarps); 8 or 16 where they reduce between products (groupsForReductions). 8 warps,
// too, where the products of a loop have as many accumulators as the threads of 4 warps have
// registers.
// Else the largest tile decides. Up to 4 warps, each thread is to have 16 bytes of it (16
// elements where a loop exchanges elements between threads, or words are sorted), or 64 where
// tiles are reduced: a row of 1024 bf16 that is added up gives one warp of 32
// elements a thread, which pays for addresses, shuffles and the way through shared memory
// once (16 % faster than 4 warps, H200). Beyond, more warps hide no more latency, they
// only keep a thread's share in registers: 8 warps when a thread of 4 would access more
// than 64 bytes or hold more than 32 elements, 16 and 32 beyond 32 elements, or 64 of rows
// (4096 bf16 are 16 % faster with 4 warps than with 8, 16 384 with 8 than with 16).
// Rows of any alignment are accessed element by element, each with a test of its own: there a
// thread has 16 elements up to 4 warps, since what their code costs the assembler grows with
// them (1001 columns with 2 warps instead of 1: softmax 3.51 -> 3.32 TB/s, layernorm 2.36 -> 2.65).
//===----------------------------------------------------------------------===//
#include "AccessCost.h"
#include "ChooseWarps.h"
#include "Hints.h"
#include "LayoutRules.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Support/Target.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/SortRuns.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_CHOOSEWARPS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

static constexpr int64_t largeProduct = 128 * 128;

/// The same of all products together of a loop that reduces rows between them, which stay in
/// a warp: with 32 rows a warp reads half as often what all of them read, and a thread has
/// registers for 208 accumulators (attention, 128 rows of 128 by 64 keys, on an H200 by
/// mma.sync: 299 -> 345 TFLOP/s with 4 warps instead of 8).
static constexpr int64_t largeChain = 208 * 128;

/// Whether a loop has a product and a reduction.
static bool reducesBesideProducts(KernelOp kernel) {
  return containsWhere(kernel, [](Operation *op) {
    return isa<MmaOp>(op) && isa<LoopLikeOpInterface>(op->getParentOp()) &&
           !op->getBlock()->getOps<ReduceOp>().empty();
  });
}

/// Whether four warps with 128 accumulators a thread do better than eight on a large
/// product: where its warps read shared memory, a part of 64 x 64 a warp reads least,
/// and two blocks fit. Not where groups of four warps multiply, nor where registers would
/// not do: for several products, wide sums, functions of whole tiles, operands that come
/// through registers, or products of single threads, which name three registers each.
static bool prefersFewWarps(KernelOp kernel, StringRef chip) {
  const Chip *target = findChip(chip);
  if (!target || !relies(kernel, BuildFact::Aligned16))
    return false;
  int64_t accumulators = 0;
  bool isGood = true;
  kernel.walk([&](Operation *op) {
    if (auto mma = dyn_cast<MmaOp>(op)) {
      auto sum = mma.getType();
      accumulators += sum.getNumElements();
      Type operand = cast<RankedTensorType>(mma.getA().getType()).getElementType();
      bool byThreads = operand.isF32() && mma.getPrecision() == MmaPrecision::Exact;
      isGood &= storedBytes(sum.getElementType()) <= 4 &&
                !byThreads && !target->has(ChipFeature::WarpGroupMma);
    }
    if (op->getDialect() && op->getDialect()->getNamespace() == "math")
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          isGood &= tensor.getNumElements() < largeProduct;
  });
  return isGood && accumulators <= (reducesBesideProducts(kernel) ? largeChain : largeProduct);
}

/// Groups of warps from which on a loop that reduces between its products, as attention does,
/// gains: it waits for one instruction after the other, and other warps on a scheduler fill the
/// gaps. Four where all sums take 64 registers a thread, as a thread has some 112 (heads of 64
/// on an H200: 417 -> 459 TFLOP/s); else two, with 64 rows each (128 x 64 at heads of 64 and 128:
/// 1.14 and 1.19 times as fast as one); one for other kernels.
static int64_t groupsForReductions(KernelOp kernel, StringRef chip) {
  const Chip *target = findChip(chip);
  if (!target || !target->has(ChipFeature::WarpGroupMma))
    return 1;
  constexpr int64_t threads = 4 * 128, rowsOfGroup = 64;
  int64_t accumulators = 0, rows = 4 * rowsOfGroup;
  bool reduces = false;
  kernel.walk([&](MmaOp mma) {
    accumulators += mma.getType().getNumElements();
    rows = std::min(rows, mma.getType().getRank() == 2 ? mma.getType().getDimSize(0) : 0);
    if (auto loop = mma->getParentOfType<LoopLikeOpInterface>())
      for (Region *region : loop.getLoopRegions())
        reduces |= !region->getOps<ReduceOp>().empty();
  });
  if (!reduces || rows < 2 * rowsOfGroup)
    return 1;
  return rows >= 4 * rowsOfGroup && accumulators <= 64 * threads ? 4 : 2;
}

/// Accumulators of the products in the block of `mma`, if that is a loop's.
static int64_t accumulatorsInLoop(MmaOp mma) {
  int64_t count = 0;
  if (isa<LoopLikeOpInterface>(mma->getParentOp()))
    for (auto other : mma->getBlock()->getOps<MmaOp>())
      count += other.getType().getNumElements();
  return count;
}

/// Multiplications of the products of the block of `mma`, if that is a loop's; else of itself.
static int64_t workOfRound(MmaOp mma) {
  auto workOf = [](MmaOp op) {
    return op.getType().getNumElements() *
           cast<RankedTensorType>(op.getA().getType()).getShape().back();
  };
  if (!isa<LoopLikeOpInterface>(mma->getParentOp()))
    return workOf(mma);
  int64_t work = 0;
  for (auto other : mma->getBlock()->getOps<MmaOp>())
    work += workOf(other);
  return work;
}

/// Whether a loop's products, all of them small, take what others of it give as operands, in
/// the same round or the next: attention, states that go from chunk to chunk.
static bool isInChain(MmaOp mma) {
  auto loop = dyn_cast<scf::ForOp>(mma->getParentOp());
  if (!loop)
    return false;
  // One or two warps hold the operands of products of up to 64 along each dim in registers.
  constexpr int64_t most = 64;
  for (auto other : loop.getBody()->getOps<MmaOp>())
    for (Value tile : other->getOperands())
      if (llvm::any_of(getTileShape(tile.getType()), [](int64_t size) { return size > most; }))
        return false;
  // What products of the loop give, as far as elementwise operations and rounds carry it.
  llvm::SetVector<Value> reached;
  for (auto other : loop.getBody()->getOps<MmaOp>())
    reached.insert(other.getResult());
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto other = dyn_cast<MmaOp>(user)) {
        if (use.get() != other.getAcc() && other->getParentOp() == loop)
          return true;
      } else if (user == loop.getBody()->getTerminator()) {
        reached.insert(loop.getRegionIterArg(use.getOperandNumber()));
      } else if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
                 branch && isa<scf::YieldOp>(user)) {
        reached.insert(branch.getResult(use.getOperandNumber()));
      } else if (isElementwise(user)) {
        reached.insert(user->result_begin(), user->result_end());
      }
    }
  return false;
}

/// Products of a warp group in a chain wait for one another, and what threads compute for them
/// goes through shared memory: a warp does as many multiplications a round without that, or
/// half as many where rows are reduced as well. H200: linear attention and Mamba with
/// chunks of 32 377 -> 184, 438 -> 202 us with 2 warps instead of 4, attention in tiles of 64 x 32
/// and 32 x 64 424 -> 267, 843 -> 380; chunks of 64 and tiles of 64 x 64 have 4 (226, 260) and
/// not 2 (337, 414). Nor does a thread carry more than 96 elements to the next round, beside what
/// the round computes (attention's gradient of keys in 32 x 32, 128 of one warp: 442 -> 296 with 2).
static int64_t warpsForChain(MmaOp mma, int64_t most) {
  constexpr int64_t carriedByWarp = 96 * 32;
  int64_t carried = 0;
  for (BlockArgument argument : cast<scf::ForOp>(mma->getParentOp()).getRegionIterArgs())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      carried += type.getNumElements();
  bool reduces = !mma->getBlock()->getOps<ReduceOp>().empty();
  int64_t workOfWarp = (reduces ? 5 : 10) << 15;
  int64_t warps = std::max(llvm::divideCeil(workOfRound(mma), workOfWarp),
                           llvm::divideCeil(carried, carriedByWarp));
  return std::clamp<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(warps))), 1, most);
}

/// Whether where an operand is copied from is loaded in the loop: what copies for a group of
/// warps then waits for memory twice, and too long for a step of few multiplications, of which
/// single warps of many blocks have more in flight (sparse blocks of 16 x 16: 145 -> 56 us).
static bool waitsForPlaces(MmaOp mma) {
  constexpr int64_t fewSteps = 16;
  if (cast<RankedTensorType>(mma.getA().getType()).getShape().back() > fewSteps)
    return false;
  return llvm::any_of(ValueRange{mma.getA(), mma.getB()}, [&](Value operand) {
    while (auto *op = operand.getDefiningOp()) {
      if (auto load = dyn_cast<LoadOp>(op))
        return llvm::any_of(load.getIndex(), [&](Value place) {
          auto cast = place.getDefiningOp<arith::IndexCastOp>();
          Operation *from = cast ? cast.getIn().getDefiningOp() : place.getDefiningOp();
          return isa_and_nonnull<LoadOp>(from) && from->getBlock() == mma->getBlock();
        });
      if (!isa<ReshapeOp, PermuteOp>(op))
        return false;
      operand = op->getOperand(0);
    }
    return false;
  });
}

/// The atom that four warps would take.
static const Atom *atomOfFour(MmaOp mma, StringRef chip) {
  MmaProblem problem = getMmaProblem(mma, /*numWarps=*/4);
  if (const Chip *target = findChip(chip))
    problem.features = target->features;
  return selectAtom(problem);
}

/// Warps that share what a round of a loop multiplies by threads: a warp is to be done before
/// the next copies are (f32, four products of 32 x 32 x 32: 504 -> 313 us with 2 warps).
static int64_t warpsForWork(MmaOp mma, int64_t warps) {
  constexpr int64_t mostOfThread = 2048;
  while (warps < 4 && workOfRound(mma) > mostOfThread * 32 * warps)
    warps *= 2;
  return warps;
}

static int64_t warpsForProduct(MmaOp mma, StringRef chip, bool prefersFew, int64_t groups) {
  int64_t elements = mma.getType().getNumElements();
  bool isLarge = elements >= largeProduct || groups == 2;
  int64_t most = groups == 4 ? 16 : isLarge && !prefersFew ? 8 : 4;
  int64_t warps = std::clamp<int64_t>(elements / (32 * 32), 1, most);
  const Atom *atom = atomOfFour(mma, chip);
  if (atom->scope == AtomScope::WarpGroup && warps <= 4) {
    if (isInChain(mma))
      warps = warpsForChain(mma, warps);
    else if (!waitsForPlaces(mma))
      return 4;
  }
  if (atom->scope == AtomScope::Thread)
    warps = warpsForWork(mma, warps);
  int64_t largest = 0;
  for (Value operand : {mma.getA(), mma.getB()})
    largest = std::max(largest, cast<RankedTensorType>(operand.getType()).getNumElements());
  ArrayRef<int64_t> shape = mma.getType().getShape();
  int64_t parts = std::max<int64_t>(1, shape.back() / 16) *
                  std::max<int64_t>(1, shape[shape.size() - 2] / 16);
  return std::max(warps, std::min<int64_t>({largest / (32 * 64), parts, 4}));
}

namespace {
/// What a thread is to have of a tile: up to 4 warps so many bytes, with 8 up to `first`
/// elements, with 16 and 32 up to `most`.
struct Share {
  int64_t bytes, first, most;
};
} // namespace

static int64_t warpsForTile(RankedTensorType type, int64_t elementBytes, Share share) {
  int64_t elements = type.getNumElements();
  int64_t warps = std::clamp<int64_t>(elements * elementBytes / (share.bytes * 32), 1, 4);
  for (int64_t limit : {share.first, share.most, share.most})
    if (warps >= 4 && elements / (32 * warps) > limit)
      warps *= 2;
  return warps;
}

namespace {
/// A number of warps and what it was chosen for.
struct Choice {
  int64_t warps = 0;
  std::string reason;

  void raise(int64_t other, const char *what, RankedTensorType type) {
    if (other <= warps)
      return;
    warps = other;
    reason = what + spell(type);
  }
};
} // namespace

/// Whether a loop without products reduces tiles or takes them apart at places that it computes:
/// what one warp does without a barrier. Loops that load tiles are the memory's.
static bool exchangesInLoop(KernelOp kernel) {
  return !contains<MmaOp>(kernel) && containsWhere(kernel, [](Operation *op) {
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    auto extract = dyn_cast<ExtractOp>(op);
    bool exchanges = isa<ReduceOp>(op) || (extract && !constantStart(extract));
    return loop && exchanges && !containsWhere(loop, [](Operation *inner) {
      auto load = dyn_cast<LoadOp>(inner);
      return load && isTile(load.getResult());
    });
  });
}

/// Whether words of 32 bits are sorted: 16 of a thread take fewer steps between threads than 4.
static bool sortsWords(KernelOp kernel) {
  return containsWhere(kernel, [](Operation *op) {
    auto sort = dyn_cast<SortOp>(op);
    return sort && sort.getSources().size() == 1 && !sort->hasAttr(bitonicRunsAttr) &&
           cast<RankedTensorType>(sort.getSources()[0].getType()).getElementType().isInteger(32);
  });
}

/// Bytes of an element that count: of one that is found by an index of its own, those of that.
static int64_t bytesThatCount(Operation *op, RankedTensorType type) {
  bool isByIndex = TypeSwitch<Operation *, bool>(op)
                       .Case<GatherOp, ScatterOp>([](auto access) { return !access.getRun(); })
                       .Default(false);
  return std::max<int64_t>(storedBytes(type.getElementType()), isByIndex ? 4 : 1);
}

/// Whether tiles are loaded, reduced and done with: a kernel of rows. Loops have their own
/// rhythm.
static bool reducesRows(KernelOp kernel) {
  return contains<ReduceOp>(kernel) && !contains<LoopLikeOpInterface, ScanOp, SortOp>(kernel);
}

static Choice chooseNumWarps(KernelOp kernel, StringRef chip) {
  Choice product, tile;
  bool isOfRows = reducesRows(kernel);
  // Dense rows that begin anywhere are as fast element by element with few warps (1000 columns
  // of bf16, 1001 apart: 3.40 TB/s with 1 warp, 3.27 with 2).
  bool isAligned = relies(kernel, BuildFact::Aligned16) ||
                   relies(kernel, BuildFact::WholePieces) ||
                   relies(kernel, BuildFact::DenseRows);
  bool exchanges = exchangesInLoop(kernel), sorts = sortsWords(kernel);
  // What is only computed takes registers, however few bytes its elements came from.
  auto shareOf = [&](RankedTensorType type, bool accessed) -> Share {
    int64_t elementBytes = storedBytes(type.getElementType());
    int64_t first = accessed ? std::min<int64_t>(32, 64 / elementBytes) : 32;
    if (sorts)
      return {16 * elementBytes, 32, 32};
    if (!isOfRows && exchanges && type.getNumElements() <= 1024)
      return {16 * elementBytes, first, 32};
    if (!isOfRows)
      return {16, first, 32};
    if (!isAligned)
      return {16 * elementBytes, first, 64};
    return {accessed ? 64 : 32 * elementBytes, first, 64};
  };
  bool prefersFew = prefersFewWarps(kernel, chip);
  int64_t groups = groupsForReductions(kernel, chip);
  kernel.walk([&](Operation *op) {
    if (auto mma = dyn_cast<MmaOp>(op))
      product.raise(warpsForProduct(mma, chip, prefersFew, groups),
                    prefersFew && mma.getType().getNumElements() >= largeProduct
                        ? "for few reads of shared memory by the product "
                        : "for the product ",
                    mma.getType());
    if (auto mma = dyn_cast<MmaOp>(op);
        mma && product.warps == 4 && accumulatorsInLoop(mma) >= 2 * largeProduct)
      product.raise(8, "for all products of the loop of ", mma.getType());
    bool memory = isa<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp>(op);
    auto consider = [&](Type type, bool accessed) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && (accessed || tensor.getNumElements() > 1024))
        tile.raise(warpsForTile(tensor, bytesThatCount(op, tensor), shareOf(tensor, accessed)),
                   "for the tile ", tensor);
    };
    if (writesArray(op))
      for (Type type : op->getOperandTypes())
        consider(type, true);
    for (Type type : op->getResultTypes())
      consider(type, memory);
  });
  return product.warps ? product : tile.warps ? tile : Choice{1, "as no tile is larger"};
}

int64_t tilec::hintedNumWarps(KernelOp kernel, StringRef chip) {
  int64_t warps = hintOf(kernel, chip, "num_warps").value_or(0);
  return warps >= 1 && warps <= maxWarps && llvm::isPowerOf2_64(warps) ? warps : 0;
}

static unsigned settle(KernelOp kernel, int64_t asked, StringRef chip) {
  if (std::optional<uint32_t> given = kernel.getNumWarps())
    return *given;
  Choice choice{asked, "as the command line asks"};
  if (!asked)
    choice = {hintedNumWarps(kernel, chip), "as the hint asks"};
  if (!choice.warps)
    choice = chooseNumWarps(kernel, chip);
  int64_t warps = choice.warps;
  remarkChoice(kernel, "choose-warps", "{0} warp{1} {2}", warps, warps == 1 ? "" : "s",
               choice.reason);
  kernel.setNumWarpsAttr(Builder(kernel.getContext()).getI32IntegerAttr(warps));
  return warps;
}

unsigned tilec::getOrChooseNumWarps(KernelOp kernel) { return settle(kernel, 0, ""); }

namespace {

struct ChooseWarps : tilec::impl::ChooseWarpsBase<ChooseWarps> {
  using ChooseWarpsBase::ChooseWarpsBase;

  void runOnOperation() override { settle(getOperation(), numWarps, chip); }
};

} // namespace

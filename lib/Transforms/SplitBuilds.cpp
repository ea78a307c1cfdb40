//===- SplitBuilds.cpp - one copy of a kernel per set of facts ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: kernels at stage `tile`. Out: each kernel, and a copy that may rely on facts
// which the launcher checks:
//
//   tile.kernel @add(…)              tile.kernel @add__aligned16(…)
//     {arrays_overlap}         →         {tile.facts = ["aligned16", "disjoint", "index32"]}
//                                    tile.kernel @add(…)
//                                      {arrays_overlap}
//
// A kernel whose blocks can share the sum of a product (SplitK) has another build, for grids
// that are small for the device; one whose neighbours can share copies (ScheduleBlocks), but
// are not sure to have any, another for grids of pairs. Rows that are too long for registers
// (StreamRows) have one, `__disjoint`, for arrays of any alignment that do not overlap.
// A kernel that takes a row a position (RotateRows) has one, `__whole_pieces`, for rows of any
// length in arrays that begin and end at multiples of 16 bytes.
// One with `strided` arrays has two for such whose rows are dense, as their types say in these:
// `__aligned16__dense_rows` and, for rows of any length, `__dense_rows`.
// One whose products read shared memory by themselves has another for arrays that are aligned
// to words only ("aligned4"): warps copy for those, in smaller pieces.
//
// A copy and not a branch at run time: facts about addresses change the width of
// every access, and with it layouts and registers, and which loads may move.
//
//===------------------------------------------------------------------------===//

#include "Hints.h"
#include "RotateRows.h"
#include "ScheduleBlocks.h"
#include "SplitK.h"
#include "StreamRows.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_SPLITBUILDS
#include "tilec/Transforms/Passes.h.inc"

namespace {

class SplitBuildsPass : public impl::SplitBuildsBase<SplitBuildsPass> {
public:
  using SplitBuildsBase::SplitBuildsBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      kernel->setAttr("tile.kernel", kernel.getSymNameAttr());
      // Launch facts are read now: later passes may find the number unused.
      if (contains<tile::NumSMsOp>(kernel))
        kernel->setAttr(tile::KernelOp::numSMsAttr, builder.getUnitAttr());
      if (onlyGeneral || !accessesTiles(kernel))
        continue;
      makeBuilds(kernel);
    }
  }

private:
  void makeBuilds(tile::KernelOp kernel) {
    bool isStrided = llvm::any_of(kernel.getArgumentTypes(), [](Type type) {
      auto array = dyn_cast<tile::ArrayType>(type);
      return array && array.hasStrides();
    });
    using enum BuildFact;
    if (isStrided) {
      makeBuild(kernel, {Aligned16, Disjoint, Index32, DenseRows}, "__aligned16__dense_rows");
      makeBuild(kernel, {Disjoint, Index32, DenseRows}, "__dense_rows");
    }
    makeBuild(kernel, {Aligned16, Disjoint, Index32}, "__aligned16");
    if (gainsFromFewBlocks(kernel))
      makeBuild(kernel, {Aligned16, Disjoint, Index32, FewBlocks}, "__aligned16__few_blocks");
    if (gainsFromPairs(kernel, chip))
      makeBuild(kernel, {Aligned16, Disjoint, Index32, Pairs}, "__aligned16__pairs");
    if (gainsFromWords(kernel))
      makeBuild(kernel, {Aligned4, Disjoint, Index32}, "__aligned4");
    if (canRotateRows(kernel))
      makeBuild(kernel, {WholePieces, Disjoint, Index32}, "__whole_pieces");
    if (isOfLongRows(kernel))
      makeBuild(kernel, {Disjoint, Index32}, "__disjoint");
  }

  static void makeBuild(tile::KernelOp kernel, ArrayRef<BuildFact> facts, StringRef suffix) {
    OpBuilder builder(kernel);
    auto build = cast<tile::KernelOp>(builder.clone(*kernel));
    build.setSymName((kernel.getSymName() + suffix).str());
    auto names = llvm::map_to_vector(
        facts, [](BuildFact fact) { return StringRef(buildFactName(fact)); });
    build->setAttr(tile::buildFactsAttr, builder.getStrArrayAttr(names));
    build.setArraysOverlap(false);
    if (llvm::is_contained(facts, BuildFact::DenseRows))
      sayThatRowsAreDense(build);
  }

  static void sayThatRowsAreDense(tile::KernelOp build) {
    for (BlockArgument argument : build.getBody().getArguments())
      if (auto array = dyn_cast<tile::ArrayType>(argument.getType()); array && array.hasStrides())
        argument.setType(tile::ArrayType::get(array.getShape(), array.getElementType(),
                                              array.isMut(), /*strided=*/true, /*denseRows=*/true));
    build.setFunctionType(
        FunctionType::get(build.getContext(), build.getBody().getArgumentTypes(), {}));
  }

  static int64_t countProducts(tile::KernelOp kernel) {
    int64_t count = 0;
    kernel.walk([&](tile::MmaOp) { ++count; });
    return count;
  }

  /// Operands in loops that products of warp groups take, and which are no words themselves; where
  /// there are more than two products, those need the registers (linear attention spilled).
  bool gainsFromWords(tile::KernelOp kernel) {
    const Chip *target = findChip(chip);
    return target && target->has(ChipFeature::WarpGroupMma) &&
           target->has(ChipFeature::RegisterSplit) && countProducts(kernel) <= 2 &&
           containsWhere(kernel, [](Operation *op) {
             auto mma = dyn_cast<tile::MmaOp>(op);
             return mma && mma->getParentOfType<LoopLikeOpInterface>() &&
                    getElementTypeOrSelf(mma.getA().getType()).getIntOrFloatBitWidth() < 32;
           });
  }

  /// Unless the kernel itself says how many blocks share a sum. What that costs where products are
  /// in tensor memory is not known.
  bool gainsFromFewBlocks(tile::KernelOp kernel) {
    const Chip *target = findChip(chip);
    return target && !target->has(ChipFeature::TensorMemoryMma) &&
           !hintOf(kernel, chip, "split_k") && splitKObstacle(kernel).empty();
  }

  /// Single elements gain nothing from alignment.
  static bool accessesTiles(tile::KernelOp kernel) {
    return containsWhere(kernel, [](Operation *op) {
      if (isa<tile::LoadOp, tile::GatherOp>(op))
        return isa<ShapedType>(op->getResult(0).getType());
      if (auto store = dyn_cast<tile::StoreOp>(op))
        return isa<ShapedType>(store.getValue().getType());
      if (auto scatter = dyn_cast<tile::ScatterOp>(op))
        return isa<ShapedType>(scatter.getValue().getType());
      auto atomic = dyn_cast<tile::AtomicOp>(op);
      return atomic && isa<ShapedType>(atomic.getIndex().front().getType());
    });
  }
};

} // namespace
} // namespace tilec

//===- SpecializeWarps.cpp - some warps copy, the others compute ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel with rings. Out: the kernel in two parts, which rings connect:
//
//   %ring = tgpu.ring …                       %ring = tgpu.ring …
//   %m = …                                    tgpu.specialize access {
//   scf.for %k … iter_args(%s) {                %m = …
//     tgpu.push %ring { … %a[%m, %k] … }        scf.for %k … {
//     %A = tgpu.pop %ring                 →       tgpu.push %ring { … %a[%m, %k] … } }
//     %r = tgpu.mma %A, …, %s                 } execute {
//     tgpu.release %ring                        %m = …
//     scf.yield %r }                            scf.for %k … iter_args(%s) { … }
//   tile.store %c[%m, %n], %r                   tile.store %c[%m, %n], %r }
//
// Program slicing: the access part is what the pushes need, that is their indices and
// the control flow around them; the execute part is everything but the pushes. Decoupled
// access and execute (Smith, 1982): the access part runs ahead as far as the rings have
// places, over the ends of loops and into the next block's work.
//
// One thread runs the access part (of a whole warp group where that gives registers up to the
// others, else of one warp), so it may hold scalars only, and nothing that the
// kernel computes with tiles or writes to memory; where pushes gather, all threads of its
// warps run it, and have tiles of indices, too. Where a push needs another value the
// kernel stays as it is, and a remark says why.
//
//===------------------------------------------------------------------------===//
#include "AccessSlice.h"
#include "Copies.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

//===------------------------------------------------------------------------===//
// The copy
//===------------------------------------------------------------------------===//

/// Copies the operations of a slice, with the values that it needs.
class SliceCloner {
public:
  SliceCloner(OpBuilder &builder, const AccessSlice &slice)
      : builder(builder), slice(slice) {}

  void clone(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (!slice.contains(&op) || isa<tgpu::RingOp>(op))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        cloneFor(loop);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        cloneIf(branch);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        cloneWhile(loop);
      else
        builder.clone(op, mapping);
    }
  }

private:
  void cloneFor(scf::ForOp loop) {
    SmallVector<unsigned> kept;
    SmallVector<Value> inits;
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      if (!slice.contains(loop.getResult(i)))
        continue;
      kept.push_back(i);
      inits.push_back(mapping.lookupOrDefault(loop.getInitArgs()[i]));
    }
    auto copy = scf::ForOp::create(builder, loop.getLoc(),
                                   mapping.lookupOrDefault(loop.getLowerBound()),
                                   mapping.lookupOrDefault(loop.getUpperBound()),
                                   mapping.lookupOrDefault(loop.getStep()), inits);
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    SmallVector<Value> yielded;
    for (auto [to, from] : llvm::enumerate(kept)) {
      mapping.map(loop.getRegionIterArg(from), copy.getRegionIterArg(unsigned(to)));
      mapping.map(loop.getResult(from), copy.getResult(unsigned(to)));
    }
    OpBuilder::InsertionGuard guard(builder);
    if (inits.empty())
      builder.setInsertionPoint(copy.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(copy.getBody());
    clone(*loop.getBody());
    for (unsigned from : kept)
      yielded.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[from]));
    if (!inits.empty())
      scf::YieldOp::create(builder, loop.getLoc(), yielded);
  }

  void cloneIf(scf::IfOp branch) {
    SmallVector<unsigned> kept;
    SmallVector<Type> types;
    for (unsigned i = 0; i < branch.getNumResults(); ++i) {
      if (!slice.contains(branch.getResult(i)))
        continue;
      kept.push_back(i);
      types.push_back(branch.getResult(i).getType());
    }
    bool hasElse = !branch.getElseRegion().empty();
    auto copy = scf::IfOp::create(builder, branch.getLoc(), types,
                                  mapping.lookupOrDefault(branch.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
    for (auto [to, from] : llvm::enumerate(kept))
      mapping.map(branch.getResult(from), copy.getResult(unsigned(to)));
    auto fill = [&](Region &from, Region &to) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&to.front());
      clone(from.front());
      SmallVector<Value> yielded;
      for (unsigned index : kept)
        yielded.push_back(mapping.lookupOrDefault(from.front().getTerminator()->getOperand(index)));
      scf::YieldOp::create(builder, branch.getLoc(), yielded);
    };
    fill(branch.getThenRegion(), copy.getThenRegion());
    if (hasElse)
      fill(branch.getElseRegion(), copy.getElseRegion());
  }

  void cloneWhile(scf::WhileOp loop) {
    // Arguments of the test, and what it passes on.
    SmallVector<unsigned> tested, passed;
    for (BlockArgument argument : loop.getBeforeArguments())
      if (slice.contains(argument))
        tested.push_back(argument.getArgNumber());
    for (BlockArgument argument : loop.getAfterArguments())
      if (slice.contains(argument) || slice.contains(loop.getResult(argument.getArgNumber())))
        passed.push_back(argument.getArgNumber());
    auto pick = [&](ValueRange values, ArrayRef<unsigned> numbers) {
      return llvm::map_to_vector(
          numbers, [&](unsigned number) { return mapping.lookupOrDefault(values[number]); });
    };
    SmallVector<Type> types;
    for (unsigned number : passed)
      types.push_back(loop.getResult(number).getType());
    auto copy = scf::WhileOp::create(builder, loop.getLoc(), types,
                                     pick(loop.getInits(), tested));
    for (auto [to, from] : llvm::enumerate(passed))
      mapping.map(loop.getResult(from), copy.getResult(unsigned(to)));
    auto fill = [&](Block &from, Region &to, ArrayRef<unsigned> kept, auto finish) {
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&to, to.end());
      for (unsigned number : kept)
        mapping.map(from.getArgument(number),
                    block->addArgument(from.getArgument(number).getType(), loop.getLoc()));
      clone(from);
      finish();
    };
    fill(*loop.getBeforeBody(), copy.getBefore(), tested, [&] {
      scf::ConditionOp condition = loop.getConditionOp();
      scf::ConditionOp::create(builder, loop.getLoc(),
                               mapping.lookupOrDefault(condition.getCondition()),
                               pick(condition.getArgs(), passed));
    });
    fill(*loop.getAfterBody(), copy.getAfter(), passed, [&] {
      scf::YieldOp::create(builder, loop.getLoc(),
                           pick(loop.getYieldOp().getOperands(), tested));
    });
  }

  OpBuilder &builder;
  const AccessSlice &slice;
  IRMapping mapping;
};

} // namespace

//===------------------------------------------------------------------------===//
// The pass
//===------------------------------------------------------------------------===//

/// Whether all threads of the part that copies do: what is gathered, or comes in pieces.
static bool copiesByThreads(tile::KernelOp kernel) {
  return contains<tgpu::CopyGatheredOp>(kernel) ||
         llvm::any_of(kernel.getBody().front().getOps<tgpu::RingOp>(),
                      [](tgpu::RingOp ring) { return ring.getCopy() == "warps"; });
}

/// Registers of a thread that the sums of all products of warp groups take, each held once.
static int64_t registersOfSums(tile::KernelOp kernel) {
  int64_t threads = 32 * int64_t(kernel.getNumWarps().value_or(4)), bits = 0;
  kernel.walk([&](tgpu::MmaOp mma) {
    auto type = cast<RankedTensorType>(mma.getResult().getType());
    bits += type.getNumElements() * type.getElementTypeBitWidth();
  });
  return bits / (32 * threads);
}

/// Registers per thread of the two parts, when the warp groups have to share what the block
/// is launched with: as many for each thread as the file has, a multiple of 8. What the
/// part that computes cannot take goes to the part that copies. That has 24, the fewest that
/// there are, where sums leave others no more than some forty: what it then has no room for
/// waits in memory, as its thread does for the most part. Who gathers holds rows and their
/// addresses; who copies in pieces, theirs.
static DenseI64ArrayAttr splitRegisters(Builder &builder, tile::KernelOp kernel,
                                        unsigned numWarps) {
  int64_t groups = numWarps / 4;
  if (groups < 2)
    return {};
  constexpr int64_t file = 65536, groupThreads = 128, most = 240, manySums = 192;
  int64_t least = copiesByThreads(kernel)               ? (groups > 2 ? 72 : 80)
                  : registersOfSums(kernel) >= manySums ? 24
                                                        : 32;
  int64_t all = file / (groupThreads * (groups + 1)) / 8 * 8 * (groups + 1);
  int64_t execute = std::min((all - least) / groups / 8 * 8, most);
  return builder.getDenseI64ArrayAttr({all - groups * execute, execute});
}

/// Only a whole warp group gives registers up. Where none are shared out, and one thread tells
/// the engine all, its warp is enough: others would take the registers of another block.
static int64_t countAccessWarps(tile::KernelOp kernel, DenseI64ArrayAttr registers) {
  return registers || copiesByThreads(kernel) ? copyingWarps : 1;
}

static void specialize(tile::KernelOp kernel, const AccessSlice &slice,
                       DenseI64ArrayAttr registers) {
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> moved;
  for (Operation &op : body.without_terminator())
    if (!isa<tgpu::RingOp>(op))
      moved.push_back(&op);
  OpBuilder builder = OpBuilder::atBlockTerminator(&body);
  auto roles = tgpu::SpecializeOp::create(builder, kernel.getLoc(), registers);
  builder.createBlock(&roles.getAccess());
  SliceCloner(builder, slice).clone(body);
  Block *execute = builder.createBlock(&roles.getExecute());
  for (Operation *op : moved)
    op->moveBefore(execute, execute->end());
  roles.getExecute().walk([](tgpu::PushOp push) { push.erase(); });
  kernel->setAttr(tgpu::accessWarpsAttrName, builder.getI64IntegerAttr(countAccessWarps(kernel, registers)));
}

namespace {

struct SpecializeWarps : tilec::impl::SpecializeWarpsBase<SpecializeWarps> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    const Chip *target = findChip(chip);
    bool hasLoop = containsWhere(kernel, [](Operation *op) {
      auto push = dyn_cast<tgpu::PushOp>(op);
      return push && push->getParentOfType<LoopLikeOpInterface>() &&
             !push.getRing().getDefiningOp<tgpu::RingOp>().isFilledByThreads();
    });
    if (!hasLoop)
      return;
    int64_t warps = kernel.getNumWarps().value_or(4);
    const char *why = copyingWarpsObstacle(warps);
    if (!why && (!target || !target->has(ChipFeature::RegisterSplit)))
      why = "the chip does not let warps share out registers";
    if (why)
      return remarkMissed(kernel, "specialize-warps", "the warps that compute also copy: {0}",
                          why);
    SmallVector<Operation *> pushes;
    kernel.walk([&](tgpu::PushOp push) { pushes.push_back(push); });
    AccessSlice slice(pushes);
    if (Operation *obstacle = slice.getObstacle())
      return remarkMissed(obstacle, "specialize-warps",
                          "the warps that compute also copy: where they copy from depends on "
                          "this, which one thread cannot compute");
    Builder builder(&getContext());
    DenseI64ArrayAttr registers = splitRegisters(builder, kernel, unsigned(warps));
    int64_t copying = countAccessWarps(kernel, registers);
    remarkChoice(kernel, "specialize-warps", "copies have {0} of their own, beside {1} that compute{2}",
                 copying == 1 ? "a warp" : std::to_string(copying) + " warps", warps,
                 registers ? llvm::formatv(" ({0} and {1} registers a thread)", registers[0], registers[1])
                                 .str()
                           : "");
    specialize(kernel, slice, registers);
  }
};

} // namespace

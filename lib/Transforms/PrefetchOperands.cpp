//===- PrefetchOperands.cpp - the next iteration's operands in flight -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel with a loop around a product, of which an operand goes through
// registers: it is gathered, or computed from what is loaded, as weights of a few bits are.
// Out: the loop loads an iteration ahead, so that memory is read while the product runs:
//
//   scf.for %i = %l to %u step %s {
//     %w = tile.load %a[%i, …]      %f = … convert %w …     tile.mma %x, %f, …
//   }
//     →
//   %w0 = scf.if %l < %u { tile.load %a[%l, …] } else { zeros }
//   scf.for %i = %l to %u step %s iter_args(%w = %w0) {
//     %f = … convert %w …
//     %n = %u - %i > %s ? %i + %s : %i
//     %v = tile.load %a[%n, …]      tile.mma %x, %f, …      scf.yield %v
//   }
//
// What waits is what was loaded, before it is made larger. The last iteration loads its
// own tiles once more, so all that is known of places inside the array stays true. Loads
// for a second product of the iteration need no help: they stand before the first.
//
// Only where nothing in the loop writes to memory, all places follow from the counter and
// what is the same in all iterations (of loads that say where, too), and the tiles that
// wait and the sums leave half of a thread's registers free, or a quarter where all of them
// are made narrower for the product, as f32 that is multiplied as bf16. (Linear attention, which
// stores in each iteration, was a quarter slower with it: what stays behind waits for what
// runs ahead.)
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Copies.h"
#include "Dependence.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_PREFETCHOPERANDS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
/// The most registers of a thread that may wait for the next iteration, alone and together with
/// the sums of products.
struct Limits {
  int64_t waiting, held;
};
} // namespace

/// What is made narrower on its way to the product leaves registers as soon as it is, and is most of
/// what there is to load: it may take more of them, if then nothing in the iteration waits for memory.
static constexpr Limits usual{32, 128}, ofNarrowed{64, 192};
/// Of one of them: one that has more registers has addresses that take as many again.
static constexpr int64_t mostOfNarrowed = 32;

static bool reads(Operation *op) { return isa<tile::LoadOp, tile::GatherOp>(op); }

/// Whether warps multiply what is loaded, in a narrower type and nothing else.
static bool isNarrowed(Operation *load, tile::MmaOp product) {
  const Atom *atom = product.getAtom() ? findAtom(*product.getAtom()) : nullptr;
  int64_t bytes = storedBytes(getElementTypeOrSelf(load->getResult(0).getType()));
  return atom && atom->scope == AtomScope::Warp && llvm::all_of(load->getUsers(), [&](Operation *user) {
           return isa<arith::TruncFOp, tile::CastOp>(user) &&
                  storedBytes(getElementTypeOrSelf(user->getResult(0).getType())) < bytes;
         });
}

namespace {

/// A load of a loop's body, and what its place is computed from there, in program order.
struct Prefetch {
  Operation *load;
  SmallVector<Operation *> slice;
};

} // namespace

static bool isInBody(Operation *op, scf::ForOp loop) {
  return op->getBlock() == loop.getBody();
}

/// An operand of `product` is computed from `load`.
static bool feeds(Operation *load, tile::MmaOp product, scf::ForOp loop) {
  llvm::SetVector<Operation *> seen;
  seen.insert(load);
  for (size_t next = 0; next < seen.size(); ++next)
    for (OpOperand &use : seen[next]->getUses()) {
      Operation *user = use.getOwner();
      if (user == product && use.get() != product.getAcc())
        return true;
      if (isInBody(user, loop) && !isa<tile::MmaOp>(user) && !reads(user) &&
          user->getNumResults())
        seen.insert(user);
    }
  return false;
}

/// `load` with its slice, where its place is known an iteration before.
static std::optional<Prefetch> findPrefetch(Operation *load, scf::ForOp loop) {
  auto canRepeat = [](Operation *op) { return !isCopied(op) && (isPure(op) || reads(op)); };
  auto isCounter = [&](BlockArgument value) { return value == loop.getInductionVar(); };
  auto slice = sliceIn(loop.getBody(), load->getOperands(), canRepeat, isCounter);
  return slice ? std::optional(Prefetch{load, *slice}) : std::nullopt;
}

/// What `prefetches` load in the iteration `number`.
static SmallVector<Value> loadAt(OpBuilder &builder, ArrayRef<Prefetch> prefetches,
                                 scf::ForOp loop, Value number) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), number);
  SmallVector<Value> tiles;
  for (const Prefetch &prefetch : prefetches) {
    for (Operation *op : prefetch.slice)
      if (!mapping.contains(op->getResult(0)))
        builder.clone(*op, mapping);
    tiles.push_back(builder.clone(*prefetch.load, mapping)->getResult(0));
  }
  return tiles;
}

/// What waits in front of a loop that may have no iteration.
static SmallVector<Value> loadFirst(ArrayRef<Prefetch> prefetches, scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound();
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first,
                                     loop.getUpperBound());
  auto branch = scf::IfOp::create(
      builder, loc, runs,
      [&](OpBuilder &body, Location) {
        scf::YieldOp::create(body, loc, loadAt(body, prefetches, loop, first));
      },
      [&](OpBuilder &body, Location) {
        SmallVector<Value> zeros;
        for (const Prefetch &prefetch : prefetches) {
          auto type = cast<RankedTensorType>(prefetch.load->getResult(0).getType());
          zeros.push_back(arith::ConstantOp::create(
              body, loc, cast<TypedAttr>(body.getZeroAttr(type))));
        }
        scf::YieldOp::create(body, loc, zeros);
      });
  return SmallVector<Value>(branch.getResults());
}

/// How many registers `loads` of one iteration may take.
static Limits limitsOf(ArrayRef<Operation *> loads, tile::MmaOp product, int64_t sums) {
  int64_t waiting = 0;
  for (Operation *load : loads) {
    int64_t registers = registersOf(load->getResult(0).getType());
    if (!isNarrowed(load, product) || registers > mostOfNarrowed)
      return usual;
    waiting += registers;
  }
  bool fits = waiting <= ofNarrowed.waiting && waiting + sums <= ofNarrowed.held;
  return fits ? ofNarrowed : usual;
}

static void rotate(scf::ForOp loop, tile::MmaOp product, ArrayRef<Prefetch> prefetches) {
  OpBuilder builder(product);
  Location loc = loop.getLoc();
  Value number = loop.getInductionVar();
  // Unsigned: the distance to the end may be more than a signed number holds.
  Value rest = arith::SubIOp::create(builder, loc, loop.getUpperBound(), number);
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, rest,
                                        loop.getStep());
  Value next = arith::AddIOp::create(builder, loc, number, loop.getStep());
  next = arith::SelectOp::create(builder, loc, isThere, next, number);
  SmallVector<Value> nextTiles = loadAt(builder, prefetches, loop, next);

  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  unsigned carried = loop.getNumRegionIterArgs();
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, loadFirst(prefetches, loop), /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return nextTiles; }));
  for (auto [number, prefetch] : llvm::enumerate(prefetches)) {
    prefetch.load->getResult(0).replaceAllUsesWith(
        made.getRegionIterArg(carried + unsigned(number)));
    prefetch.load->erase();
  }
}

namespace {

struct PrefetchOperands : tilec::impl::PrefetchOperandsBase<PrefetchOperands> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (!tile::relies(kernel, BuildFact::Aligned16) || tile::hasSites(kernel))
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      prefetch(loop);
  }

private:
  void prefetch(scf::ForOp loop) {
    auto products = loop.getBody()->getOps<tile::MmaOp>();
    if (products.empty() || tile::containsWrite(loop))
      return;
    tile::MmaOp product = *products.begin();
    int64_t waiting = 0, sums = 0;
    for (Value carried : loop.getRegionIterArgs())
      sums += registersOf(carried.getType());
    SmallVector<Operation *> loads;
    for (Operation &op : *loop.getBody())
      if (reads(&op) && !isCopied(&op) && isa<RankedTensorType>(op.getResult(0).getType()) &&
          op.isBeforeInBlock(product) && feeds(&op, product, loop))
        loads.push_back(&op);
    Limits most = limitsOf(loads, product, sums);
    SmallVector<Prefetch> prefetches;
    for (Operation *op : loads) {
      int64_t registers = registersOf(op->getResult(0).getType());
      std::optional<Prefetch> found = findPrefetch(op, loop);
      if (!found || waiting + registers > most.waiting || waiting + registers + sums > most.held) {
        remarkMissed(op, "schedule-loops", "the load waits for memory in each iteration: {0}",
                     found ? "its tile would not fit beside the sums"
                           : "its place is not known an iteration before");
        continue;
      }
      waiting += registers;
      remarkChoice(op, "schedule-loops",
                   "the load runs an iteration ahead, {0} registers wait", registers);
      prefetches.push_back(*found);
    }
    if (!prefetches.empty())
      rotate(loop, product, prefetches);
  }
};

} // namespace

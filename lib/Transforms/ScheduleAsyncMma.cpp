//===- ScheduleAsyncMma.cpp - compute while products complete ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel whose products that complete later are waited for at once. Out:
// loops with two products, the second of which needs the first, as in attention, are
// skewed by one iteration, so that the work between the products runs beside one of them:
//
//   for j {                             j = first: pop K; S = K-product, waited; P = f(S)
//     pop K; S = q K_j, waited          for the other j {
//     P, c = f(S)                         pop K; S = q K_j          (issued)
//     pop V; O = O c + P V_j, waited      pop V; O = O' + P V_j-1   (issued)
//   }                                     wait for S; P', c = f(S)  beside the second
//                               →         wait for O; O' = O c;  P = P'
//                                       }
//                                       pop V; O = O' + P V_last, waited
//
// Where several warp groups run the loop they take turns to issue products. Otherwise all
// would start with the same place of a ring, and compute at the same time ever after. The
// turn ends when the first product is complete: the other group's would only stand behind
// it. With two groups the assembler is kept from moving the last wait up (LateWaits.h), and
// with more of them where half of the powers stand behind the wait (SplitWaits.cpp).
//
// The first product's a, if it is the same in all iterations, is read into registers where
// there is room for it.
//
// A loop whose products only add up, each to a sum of its own or one after the other to
// the same, keeps the products of one iteration in flight: those of the next are issued
// before they are complete, and a place is released one iteration late.
//
// Where threads compute an operand of the loop's only product, they compute that of the next
// iteration beside it (ConvertAhead.cpp).
//
// A loop that adds parts of a product in registers has one in flight while it adds another
// (OverlapParts.cpp).
//
// In any other loop the wait for a product moves down to what needs it, past products that
// do not, and past what goes to buffers of others: the two of a gated layer, or the scores
// and their gradients, run together.
//
// The second product is the *tail*: what it accumulates to is carried by the loop and
// used for nothing else, so nothing of the next iteration waits for it but the next
// tail. FlashAttention-3 (Shah and others, 2024) calls this intra-warpgroup pipelining;
// here it is software pipelining of one operation.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "ConvertAhead.h"
#include "LayoutRules.h"
#include "LoopSums.h"
#include "OverlapParts.h"
#include "SplitWaits.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/LateWaits.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_SCHEDULEASYNCMMA
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A product that completes later and the wait for it.
struct AsyncProduct {
  tgpu::MmaOp mma;
  tgpu::MmaWaitOp wait;
};

/// The parts of a loop that can be skewed.
struct Skew {
  AsyncProduct head, tail;
  tgpu::PopOp pop;         ///< of the tail's b
  tgpu::ReleaseOp release; ///< of the same ring
  unsigned carried;        ///< the iteration argument that the tail accumulates to
  /// What is computed from that argument, for the tail alone.
  llvm::SetVector<Operation *> deferred;

  bool isOfTail(Operation *op) const {
    return op == tail.mma || op == tail.wait || op == pop || op == release;
  }
};

/// The parts of a loop that only adds products up.
struct Sums {
  SmallVector<AsyncProduct> products;
  tgpu::ReleaseOp release;
  SmallVector<unsigned> carried; ///< the iteration arguments that they add to
};

} // namespace

/// The products of a loop's body, when each is waited for by an operation of its own.
static std::optional<SmallVector<AsyncProduct>> productsOf(Block &body) {
  SmallVector<AsyncProduct> products;
  for (auto mma : body.getOps<tgpu::MmaOp>()) {
    const Atom *atom = findAtom(mma.getAtom());
    if (!atom || !atom->isAsync || !mma->hasOneUse())
      return std::nullopt;
    // Halves of a register are packed and unpacked between products, which reads them.
    if (getElementTypeOrSelf(mma.getResult().getType()).getIntOrFloatBitWidth() != 32)
      return std::nullopt;
    auto wait = dyn_cast<tgpu::MmaWaitOp>(*mma->getUsers().begin());
    if (!wait || wait->getBlock() != &body || wait.getInputs().size() != 1)
      return std::nullopt;
    products.push_back({mma, wait});
  }
  return products;
}

/// Collects what depends on `argument`; false unless it is pure and ends in `mma`'s acc.
static bool collectDeferred(Value argument, tgpu::MmaOp mma,
                            llvm::SetVector<Operation *> &deferred) {
  SmallVector<Value> waiting = {argument};
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user == mma.getOperation()) {
        if (use.get() != mma.getAcc() || use.get() == mma.getA())
          return false;
        continue;
      }
      if (user->getBlock() != mma->getBlock() || user->getNumRegions() ||
          !isMemoryEffectFree(user) || user->hasTrait<OpTrait::IsTerminator>())
        return false;
      if (deferred.insert(user))
        llvm::append_range(waiting, user->getResults());
    }
  }
  return true;
}

/// The one release of `ring` in the block of `after`, behind it.
static tgpu::ReleaseOp releaseAfter(Operation *after, Value ring) {
  tgpu::ReleaseOp found;
  for (Operation *user : ring.getUsers())
    if (auto release = dyn_cast<tgpu::ReleaseOp>(user);
        release && release->getBlock() == after->getBlock()) {
      if (found)
        return {};
      found = release;
    }
  return found && after->isBeforeInBlock(found) ? found : tgpu::ReleaseOp();
}

static std::optional<Skew> matchSkew(scf::ForOp loop) {
  std::optional<SmallVector<AsyncProduct>> products = productsOf(*loop.getBody());
  if (!products || products->size() != 2)
    return std::nullopt;
  Skew skew;
  skew.head = (*products)[0];
  skew.tail = (*products)[1];
  tgpu::MmaOp tail = skew.tail.mma;
  // Its a comes from registers, so from this iteration's head; its b from a ring.
  skew.pop = tail.getB().getDefiningOp<tgpu::PopOp>();
  if (!skew.pop || skew.pop->getBlock() != loop.getBody() || !isTile(tail.getA()) ||
      !tail.getB().hasOneUse() || !llvm::hasSingleElement(skew.pop->getUses()))
    return std::nullopt;
  skew.release = releaseAfter(skew.tail.wait, skew.pop.getRing());
  if (!skew.release)
    return std::nullopt;
  // The result is carried, and used for nothing else.
  Value result = skew.tail.wait.getResults()[0];
  if (!result.hasOneUse() || !isa<scf::YieldOp>(*result.getUsers().begin()))
    return std::nullopt;
  skew.carried = result.getUses().begin()->getOperandNumber();
  if (!collectDeferred(loop.getRegionIterArg(skew.carried), tail, skew.deferred))
    return std::nullopt;
  return skew;
}

/// The ring that all buffers of a product come from, popped in the product's block.
static Value ringOf(tgpu::MmaOp mma) {
  auto ofA = mma.getA().getDefiningOp<tgpu::PopOp>();
  auto ofB = mma.getB().getDefiningOp<tgpu::PopOp>();
  bool isOne = ofB && ofB->getBlock() == mma->getBlock() && (ofA == ofB || isTile(mma.getA()));
  return isOne ? ofB.getRing() : Value();
}

/// The carried value that the products from `first` on add to, one after the other, the
/// last giving its next value, which nothing else reads; `products` loses them.
static std::optional<unsigned> takeSum(scf::ForOp loop, AsyncProduct first,
                                       SmallVector<AsyncProduct> &products) {
  auto acc = dyn_cast<BlockArgument>(first.mma.getAcc());
  if (!acc || acc.getOwner() != loop.getBody() || acc == loop.getInductionVar())
    return std::nullopt;
  Value sum = acc;
  while (true) {
    if (!sum.hasOneUse())
      return std::nullopt;
    OpOperand &use = *sum.use_begin();
    if (isa<scf::YieldOp>(use.getOwner()))
      return use.getOperandNumber() == acc.getArgNumber() - 1
                 ? std::optional(use.getOperandNumber())
                 : std::nullopt;
    auto *next = llvm::find_if(products, [&](AsyncProduct &product) {
      return product.mma == use.getOwner() && product.mma.getAcc() == sum &&
             product.mma.getA() != sum;
    });
    if (next == products.end())
      return std::nullopt;
    sum = next->wait->getResult(0);
    products.erase(next);
  }
}

/// The products of a loop that only add to carried values.
static std::optional<Sums> matchSums(scf::ForOp loop) {
  std::optional<SmallVector<AsyncProduct>> products = productsOf(*loop.getBody());
  if (!products || products->empty())
    return std::nullopt;
  Sums sums{*products, {}, {}};
  Value ring = ringOf(products->front().mma);
  // With a single place the next product would wait for what this one has not released.
  if (!ring || cast<tgpu::RingType>(ring.getType()).getStages() < 2)
    return std::nullopt;
  for (AsyncProduct &product : sums.products)
    if (ringOf(product.mma) != ring)
      return std::nullopt;
  while (!products->empty()) {
    std::optional<unsigned> number = takeSum(loop, products->front(), *products);
    if (!number)
      return std::nullopt;
    sums.carried.push_back(*number);
  }
  sums.release = releaseAfter(sums.products.back().wait, ring);
  // The ring's only other pops and releases in the loop would change their order.
  auto isInLoop = [&](Operation *user) {
    return loop->isAncestor(user) && isa<tgpu::PopOp, tgpu::ReleaseOp>(user);
  };
  if (!sums.release || llvm::count_if(ring.getUsers(), isInLoop) != 2)
    return std::nullopt;
  return sums;
}

//===------------------------------------------------------------------------===//
// Rewriting
//===------------------------------------------------------------------------===//

namespace {

/// The warp groups that take turns in `loop`: where they have a part of their own, and there
/// are at least two, and not more than there are barriers for; else 0.
int64_t groupsWithTurns(scf::ForOp loop) {
  int64_t groups = loop->getParentOfType<tile::KernelOp>().getNumWarps().value_or(4) / 4;
  bool takeTurns = loop->getParentOfType<tgpu::SpecializeOp>() && groups >= 2 &&
                   groups <= tgpu::TakeTurnOp::mostGroups;
  return takeTurns ? groups : 0;
}

/// Registers of a thread that a value takes, scalar or tile.
int64_t registersOfValue(Type type) { return std::max<int64_t>(registersOf(type), 1); }

/// For addresses, counters and what is being computed, beside the tiles of a skewed loop.
constexpr int64_t otherRegisters = 32;

/// The type of a tile that the first product of a skewed loop can have for its a in registers
/// all the time, read from its place in shared memory before the loop: shared memory is then
/// read for b alone. Null unless it is the same in all iterations, and the registers are there.
/// Blocks of clusters do better without (docs/performance.md).
RankedTensorType typeInRegisters(scf::ForOp loop, Skew &skew) {
  tgpu::MmaOp mma = skew.head.mma;
  auto pop = mma.getA().getDefiningOp<tgpu::PopOp>();
  auto roles = loop->getParentOfType<tgpu::SpecializeOp>();
  const Atom *atom = findAtom(mma.getAtom());
  auto kernel = loop->getParentOfType<tile::KernelOp>();
  if (!pop || loop->isAncestor(pop) || !roles || !roles.getRegisters() || mma.getATransposed() ||
      !atom->aRegisters || kernel->hasAttr(tgpu::clusterAttrName))
    return {};
  auto buffer = cast<tgpu::BufferType>(mma.getA().getType());
  MmaProblem problem;
  problem.aShape.assign(buffer.getShape().begin(), buffer.getShape().end());
  problem.aType = buffer.getElementType();
  auto acc = cast<RankedTensorType>(mma.getType());
  problem.accShape.assign(acc.getShape().begin(), acc.getShape().end());
  problem.numWarps = unsigned(kernel.getNumWarps().value_or(4));
  std::optional<Layout> layout = atom->aRegisters(problem, tile::getLayout(mma.getAcc()));
  if (!layout)
    return {};
  auto kept = RankedTensorType::get(problem.aShape, problem.aType,
                                    tile::LayoutAttr::get(loop.getContext(), *layout));
  int64_t needed = otherRegisters + registersOfValue(acc) + registersOfValue(kept) +
                   registersOfValue(skew.tail.mma.getA().getType());
  for (Type type : loop.getResultTypes())
    needed += registersOfValue(type);
  // Rows and columns that each iteration computes, as positions, live beside the scores.
  int64_t beside = 0;
  for (Operation &op : loop.getBody()->without_terminator())
    for (Type type : op.getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type);
          tile && tile.getNumElements() < acc.getNumElements())
        beside = std::max(beside, registersOfValue(tile));
  needed += beside;
  return needed <= (*roles.getRegisters())[1] ? kept : RankedTensorType();
}

/// Whether an iteration compares positions of rows and of columns, as a causal mask does: that
/// takes registers, and with few of them the assembler takes the maxima of all rows first.
bool masksRows(scf::ForOp loop) {
  return containsWhere(loop, [](Operation *op) {
    auto compare = dyn_cast<arith::CmpIOp>(op);
    return compare && isTile(compare.getLhs()) &&
           llvm::count_if(tile::getTileShape(compare.getLhs().getType()),
                          [](int64_t size) { return size > 1; }) > 1;
  });
}

class Skewer {
public:
  Skewer(scf::ForOp loop, Skew &skew)
      : loop(loop), skew(skew), builder(loop), loc(loop.getLoc()),
        groups(groupsWithTurns(loop)) {}

  void run() {
    if (RankedTensorType type = typeInRegisters(loop, skew))
      readOperand(type);
    Value hasWork = emitHasIteration(builder, loop);
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), hasWork,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, emitSkewed());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, loop.getInitArgs());
    loop.replaceAllUsesWith(branch.getResults());
    loop.erase();
  }

private:
  void readOperand(RankedTensorType type) {
    tgpu::MmaOp mma = skew.head.mma;
    remarkChoice(mma, "schedule-async-mma", "{0} stays in registers throughout the loop",
                 spell(type));
    mma.getAMutable().assign(tgpu::LoadOp::create(builder, loc, type, mma.getA()));
  }

  /// First iteration without its tail, the loop, the last tail. Gives the results.
  SmallVector<Value> emitSkewed() {
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    first.map(loop.getRegionIterArgs(), loop.getInitArgs());
    cloneHead(first, {});
    Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
    auto inner = scf::ForOp::create(builder, loc, second, loop.getUpperBound(),
                                    loop.getStep(), handedOn(first));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(inner.getBody());
      emitBody(inner);
    }
    SmallVector<Value> results;
    unsigned next = 0;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      results.push_back(i == skew.carried ? Value() : inner.getResult(next++));
    tgpu::MmaOp mma = emitTail(inner.getResult(next), inner.getResult(next + 1));
    results[skew.carried] = emitWait(mma.getResult(), 0);
    emitRelease();
    return results;
  }

  void emitBody(scf::ForOp inner) {
    IRMapping map;
    map.map(loop.getInductionVar(), inner.getInductionVar());
    unsigned next = 0;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (i != skew.carried)
        map.map(loop.getRegionIterArg(i), inner.getRegionIterArg(next++));
    Value a = inner.getRegionIterArg(next), acc = inner.getRegionIterArg(next + 1);
    tgpu::MmaOp tail;
    cloneHead(map, [&] { tail = emitTail(a, acc); });
    // The rest needs the tail's result.
    Value sum = emitWait(tail.getResult(), 0);
    auto wait = sum.getDefiningOp<tgpu::MmaWaitOp>();
    map.map(loop.getRegionIterArg(skew.carried), sum);
    emitRelease();
    for (Operation &op : loop.getBody()->without_terminator())
      if (skew.deferred.contains(&op))
        builder.clone(op, map);
    scf::YieldOp::create(builder, loc, handedOn(map));
    bool isCut = groups && !masksRows(loop) &&
                 computeHalfBehind(wait, map.lookupOrDefault(skew.tail.mma.getA()));
    if (groups == 2 || isCut)
      wait->setAttr(tgpu::lateAttrName, builder.getUnitAttr());
  }

  /// An iteration without the tail. `issueTail` is called when the head has been issued;
  /// then what needs the carried argument is left out.
  void cloneHead(IRMapping &map, function_ref<void()> issueTail) {
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (skew.isOfTail(&op) || (issueTail && skew.deferred.contains(&op)))
        continue;
      bool isWait = &op == skew.head.wait.getOperation();
      if (groups && &op == skew.head.mma.getOperation())
        tgpu::TakeTurnOp::create(builder, loc);
      if (isWait && issueTail)
        issueTail();
      if (isWait && issueTail)
        map.map(skew.head.wait.getResults()[0],
                emitWait(map.lookup(skew.head.mma.getResult()), 1));
      else
        builder.clone(op, map);
      if (isWait && groups)
        tgpu::PassTurnOp::create(builder, loc);
    }
  }

  /// What an iteration gives to the next: carried values, then the tail's a and acc.
  SmallVector<Value> handedOn(IRMapping &map) {
    SmallVector<Value> values;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (i != skew.carried)
        values.push_back(map.lookupOrDefault(loop.getYieldedValues()[i]));
    tgpu::MmaOp mma = skew.tail.mma;
    values.push_back(map.lookupOrDefault(mma.getA()));
    values.push_back(map.lookupOrDefault(mma.getAcc()));
    return values;
  }

  tgpu::MmaOp emitTail(Value a, Value acc) {
    IRMapping map;
    tgpu::MmaOp mma = skew.tail.mma;
    builder.clone(*skew.pop, map);
    map.map(mma.getA(), a);
    map.map(mma.getAcc(), acc);
    return cast<tgpu::MmaOp>(builder.clone(*mma, map));
  }

  Value emitWait(Value product, int64_t pending) {
    return tgpu::MmaWaitOp::create(builder, loc, ValueRange(product), pending).getResults()[0];
  }
  void emitRelease() { builder.clone(*skew.release); }

  scf::ForOp loop;
  Skew &skew;
  OpBuilder builder;
  Location loc;
  const int64_t groups; ///< that take turns
};

//===------------------------------------------------------------------------===//
// Products in flight
//===------------------------------------------------------------------------===//

/// Releases `ring` where `condition` holds.
void releaseIf(OpBuilder &builder, tgpu::ReleaseOp release, Value condition) {
  auto branch = scf::IfOp::create(builder, release.getLoc(), condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  builder.clone(*release);
}

/// Moves the wait for the products, and the release of what they read, to the iteration
/// after theirs.
void keepInFlight(scf::ForOp loop, Sums &sums) {
  OpBuilder builder(sums.products.back().wait);
  Location loc = sums.products.back().wait.getLoc();
  for (AsyncProduct &product : sums.products)
    product.wait.getResults()[0].replaceAllUsesWith(product.mma.getResult());
  tgpu::MmaWaitOp::create(builder, loc, ValueRange(), int64_t(sums.products.size()));
  releaseIf(builder, sums.release, emitIsLater(builder, loop));
  for (AsyncProduct &product : sums.products)
    product.wait.erase();

  builder.setInsertionPointAfter(loop);
  auto results = llvm::map_to_vector(
      sums.carried, [&](unsigned number) -> Value { return loop.getResult(number); });
  auto wait = tgpu::MmaWaitOp::create(builder, loc, results, /*pending=*/0);
  for (auto [result, waited] : llvm::zip_equal(results, wait.getResults()))
    result.replaceAllUsesExcept(waited, wait);
  releaseIf(builder, sums.release, emitHasIteration(builder, loop));
  sums.release.erase();
}

/// Whether `op` accesses nothing that `mma` reads: the wait for it may come later. (What
/// meets other threads does not matter, InsertBarriers counts products until they are waited
/// for.)
bool isApart(Operation *op, tgpu::MmaOp mma) {
  if (isa<tgpu::PopOp, tgpu::AllocOp, tgpu::LoadOp, tgpu::FenceAsyncOp, tgpu::CopyOutWaitOp,
          tgpu::CopyOutOp, tile::LoadOp, tile::StoreOp, tile::AtomicOp>(op))
    return true;
  if (auto release = dyn_cast<tgpu::ReleaseOp>(op))
    return llvm::none_of(mma->getOperands(), [&](Value operand) {
      auto pop = operand.getDefiningOp<tgpu::PopOp>();
      return pop && pop.getRing() == release.getRing();
    });
  if (auto store = dyn_cast<tgpu::StoreOp>(op))
    return !llvm::is_contained(mma->getOperands(), store.getBuffer());
  return isa<tgpu::MmaOp>(op) || isMemoryEffectFree(op);
}

/// Moves the wait for each product of a loop with several, and the releases behind it, down
/// to what may need them. Gives whether a product is now issued before another's wait.
bool sinkWaits(scf::ForOp loop) {
  std::optional<SmallVector<AsyncProduct>> products = productsOf(*loop.getBody());
  if (!products || products->size() < 2)
    return false;
  bool overlap = false;
  for (AsyncProduct &product : llvm::reverse(*products)) {
    SmallVector<Operation *> moved = {product.wait};
    llvm::SmallDenseSet<Value> rings;
    Operation *next = product.wait->getNextNode();
    for (; isa<tgpu::ReleaseOp>(next); next = next->getNextNode()) {
      moved.push_back(next);
      rings.insert(cast<tgpu::ReleaseOp>(next).getRing());
    }
    auto stops = [&](Operation *op) {
      auto pop = dyn_cast<tgpu::PopOp>(op);
      return op->hasTrait<OpTrait::IsTerminator>() || (pop && rings.contains(pop.getRing())) ||
             !isApart(op, product.mma) ||
             llvm::any_of(product.wait->getUsers(),
                          [&](Operation *user) { return op->isAncestor(user); });
    };
    int64_t issued = 0;
    for (; !stops(next); next = next->getNextNode())
      issued += isa<tgpu::MmaOp>(next);
    for (Operation *op : moved)
      op->moveBefore(next);
    product.wait.setPending(product.wait.getPending() + issued);
    overlap |= issued > 0;
  }
  return overlap;
}

/// Whether threads copy what is popped in `loop`. They write a place again when all have met
/// since its release, so the products that read it are waited for in their own iteration.
bool threadsCopy(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<tgpu::PopOp>(), [](tgpu::PopOp pop) {
    auto ring = pop.getRing().getDefiningOp<tgpu::RingOp>();
    return ring && ring.isFilledByThreads();
  });
}

struct ScheduleAsyncMma : tilec::impl::ScheduleAsyncMmaBase<ScheduleAsyncMma> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (threadsCopy(loop)) {
        explainWaits(loop);
      } else if (std::optional<Skew> skew = matchSkew(loop)) {
        remarkChoice(skew->tail.mma, "schedule-async-mma",
                     "runs an iteration late, beside what is computed for the next");
        Skewer(loop, *skew).run();
      } else if (tgpu::MmaOp ahead = convertAhead(loop)) {
        remarkChoice(ahead, "schedule-async-mma",
                     "runs beside what is computed for the product of the next iteration");
      } else if (std::optional<Sums> sums = matchSums(loop)) {
        for (AsyncProduct &product : sums->products)
          remarkChoice(product.mma, "schedule-async-mma",
                       "the product stays in flight while that of the next iteration is issued");
        keepInFlight(loop, *sums);
      } else if (tgpu::MmaOp part = overlapParts(loop)) {
        remarkChoice(part, "schedule-async-mma",
                     "a part stays in flight while the one before it is added");
      } else if (sinkWaits(loop)) {
        remarkChoice(*loop.getBody()->getOps<tgpu::MmaOp>().begin(), "schedule-async-mma",
                     "products that do not need each other are issued together");
      } else {
        explainWaits(loop);
      }
    }
  }

  /// Why the products of `loop` are waited for at once.
  static void explainWaits(scf::ForOp loop) {
    SmallVector<tgpu::MmaOp> products;
    for (auto mma : loop.getBody()->getOps<tgpu::MmaOp>())
      if (const Atom *atom = findAtom(mma.getAtom()); atom && atom->isAsync)
        products.push_back(mma);
    if (products.empty() || !wantsRemarks(loop))
      return;
    auto isHalf = [](tgpu::MmaOp mma) {
      return getElementTypeOrSelf(mma.getType()).getIntOrFloatBitWidth() != 32;
    };
    auto isWritten = [&](tgpu::MmaOp mma) {
      return llvm::any_of(ValueRange{mma.getA(), mma.getB()}, [&](Value operand) {
        return operand.getDefiningOp<tgpu::AllocOp>() &&
               llvm::any_of(operand.getUsers(), [&](Operation *user) {
                 return isa<tgpu::StoreOp>(user) && loop->isAncestor(user);
               });
      });
    };
    Value ring = ringOf(products.back());
    const char *why =
        llvm::any_of(products, isHalf)      ? "sums of 16 bits are packed between products"
        : llvm::any_of(products, isWritten) ? "threads write an operand of the loop's products "
                                              "to shared memory"
        : threadsCopy(loop)                 ? "all threads copy what the loop's products read"
        : !ring                             ? "the operands of the last product do not come "
                                              "from one ring in the loop"
        : cast<tgpu::RingType>(ring.getType()).getStages() < 2
            ? "its ring has one place"
        : products.size() > 1 ? "the products of the loop are neither sums of their own nor one "
                                "over what the other gives"
                              : "its sum is used before the loop ends";
    for (tgpu::MmaOp mma : products)
      remarkMissed(mma, "schedule-async-mma", "the product is waited for at once: {0}", why);
  }
};

} // namespace

//===- AssignLayouts.cpp - give every tile a layout ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile`. Out: every tile type has a #tile.layout and the rules of
// LayoutRules.h hold:
//
//   %x = tile.load %a[%i, %j] : … -> tensor<64x64xf32>
//   %t = tile.permute %x [1, 0] : …
//   tile.store %b[%j, %i], %t : …
// becomes
//   %x = tile.load %a[%i, %j] : … -> tensor<64x64xf32, #rows>       16 bytes a lane
//   %t = tile.permute %x [1, 0] : … -> tensor<64x64xf32, #cols>     no code: #cols is #rows permuted
//   %c = tile.convert_layout %t : … -> tensor<64x64xf32, #rows>     the one movement
//   tile.store %b[%j, %i], %c : …
//
// Two steps. *Deciding*: a map from values to layouts. Anchors go first, those with
// most at stake before the others: accumulators of products, then tiles of loads, the
// largest first, then of stores, then whatever is left. Each decision spreads, forward
// and backward, over operations that keep places (elementwise, reshape, permute; to the
// source of a broadcast; to the result of a reduction; round loops), until it meets
// values that are decided already. A load or store is only drawn into a layout
// that suits it. *Rewriting*: types are set, and conversions are inserted where an
// operand is not as its operation needs it. Constants, splat and iota are recreated
// instead.
//
// Total: a tile that no anchor reaches gets a default; an operation of unknown kind
// imposes nothing.
//===----------------------------------------------------------------------===//
#include "AccessCost.h"
#include "ChooseWarps.h"
#include "ComputedOperands.h"
#include "Copies.h"
#include "LayoutRules.h"
#include "Windows.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Tile/SortRuns.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <deque>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Calls `tie(a, b)` for values that must have one type, as the control flow
/// operation that carries them demands, and `feed(use, value)` for operands that
/// are handed to such a value.
template <typename Tie, typename Feed>
void forCarried(Operation *op, Tie tie, Feed feed) {
  TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        auto *yield = loop.getBody()->getTerminator();
        for (unsigned i = 0; i < loop.getNumResults(); ++i) {
          tie(loop.getResult(i), loop.getRegionIterArg(i));
          feed(loop.getInitArgsMutable()[i], loop.getRegionIterArg(i));
          feed(yield->getOpOperand(i), loop.getRegionIterArg(i));
        }
      })
      .Case([&](scf::WhileOp loop) {
        scf::ConditionOp condition = loop.getConditionOp();
        for (unsigned i = 0; i < loop.getNumResults(); ++i) {
          tie(loop.getResult(i), loop.getAfterArguments()[i]);
          feed(condition->getOpOperand(i + 1), loop.getResult(i));
        }
        for (unsigned i = 0; i < loop.getNumOperands(); ++i) {
          feed(loop->getOpOperand(i), loop.getBeforeArguments()[i]);
          feed(loop.getYieldOp()->getOpOperand(i), loop.getBeforeArguments()[i]);
        }
      })
      .Case([&](scf::IfOp branch) {
        for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
          if (region->empty())
            continue;
          Operation *yield = region->front().getTerminator();
          for (unsigned i = 0; i < branch.getNumResults(); ++i)
            feed(yield->getOpOperand(i), branch.getResult(i));
        }
      });
}

/// The axis along which `op` needs elements in order.
std::optional<unsigned> orderedAxis(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getAxis();
  if (auto sort = dyn_cast<SortOp>(op))
    return sort.getAxis();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

class Decider {
public:
  Decider(KernelOp kernel, unsigned numWarps) : kernel(kernel), numWarps(numWarps) {}

  void run() {
    linkCarried();
    anchorProducts();
    anchorLoads();
    anchorStores();
    anchorGathers();
    anchorReductions();
    anchorHalves();
    decideRest();
  }

  LayoutAttr get(Value value) const { return decided.lookup(value); }

private:
  /// Values that the control flow ties together or hands over.
  void linkCarried() {
    kernel.walk([&](Operation *op) {
      forCarried(
          op,
          [&](Value a, Value b) {
            if (!isTile(a))
              return;
            tied[a].push_back(b);
            tied[b].push_back(a);
          },
          [&](OpOperand &use, Value value) {
            if (!isTile(value))
              return;
            handed[use.get()].push_back(value);
            handed[value].push_back(use.get());
          });
    });
  }

  void decide(Value value, const Layout &layout) {
    decide(value, LayoutAttr::get(value.getContext(), layout));
  }

  /// Decides and spreads.
  void decide(Value value, LayoutAttr layout) {
    offer(value, layout);
    spreadWaiting();
  }

  void spreadWaiting() {
    while (!waiting.empty()) {
      Value next = waiting.front();
      waiting.pop_front();
      spread(next, decided.lookup(next).getLayout());
    }
  }

  /// Decides one value and those tied to it, unless decided already or unsuited.
  void offer(Value value, LayoutAttr layout) {
    if (!isTile(value) || decided.contains(value))
      return;
    if (auto load = value.getDefiningOp<LoadOp>())
      if (value != anchor && !isCopied(load) &&
          !suitsAccess(*TileAccess::of(load), layout.getLayout(), numWarps))
        return;
    decided[value] = layout;
    // Whoever wants a constant in another layout has one of his own: it ties nobody.
    if (!isCheapToRecreate(value.getDefiningOp()))
      waiting.push_back(value);
    for (Value other : tied.lookup(value))
      offer(other, layout);
  }
  void offer(Value value, const Layout &layout) {
    if (isTile(value) && !decided.contains(value))
      offer(value, LayoutAttr::get(value.getContext(), layout));
  }

  void spread(Value value, const Layout &layout) {
    if (Operation *op = value.getDefiningOp())
      spreadUp(op, layout);
    for (Value other : handed.lookup(value))
      offer(other, layout);
    for (OpOperand &use : value.getUses())
      spreadDown(use, layout);
  }

  /// From a result to the operands (and other results).
  void spreadUp(Operation *op, const Layout &layout) {
    if (isa<ReshapeOp, PermuteOp, BroadcastOp>(op))
      offer(op->getOperand(0), layoutOfSource(op, layout));
    else if (auto cat = dyn_cast<CatOp>(op))
      offerParts(cat, layout);
    else if (Agreement agreement = getAgreement(op); !agreement.results.empty())
      spreadAcross(agreement, layout);
  }

  /// From an operand to the results (and other operands).
  void spreadDown(OpOperand &use, const Layout &layout) {
    Operation *op = use.getOwner();
    if (isa<ReshapeOp, PermuteOp>(op)) {
      offer(op->getResult(0), layoutOfResult(op, layout));
      return;
    }
    if (auto extract = dyn_cast<ExtractOp>(op)) {
      if (isTile(extract.getResult()))
        if (std::optional<Layout> part =
                sliceLayout(layout, getTileShape(extract.getResult().getType())))
          offer(extract.getResult(), *part);
      return;
    }
    Agreement agreement = getAgreement(op);
    if (!llvm::is_contained(agreement.operands, &use))
      return;
    spreadAcross(agreement, layout);
    if (isa<ReduceOp>(op))
      for (Value result : op->getResults())
        if (isTile(result))
          offer(result, layoutOfResult(op, layout));
    if (auto cat = dyn_cast<CatOp>(op))
      offer(cat.getResult(), layoutOfSlices(layout, getTileShape(cat.getType())));
  }

  void offerParts(CatOp cat, const Layout &layout) {
    if (std::optional<Layout> part =
            sliceLayout(layout, getTileShape(cat.getSources().front().getType())))
      for (Value source : cat.getSources())
        offer(source, *part);
  }

  void spreadAcross(const Agreement &agreement, const Layout &layout) {
    for (Value result : agreement.results)
      offer(result, layout);
    for (OpOperand *operand : agreement.operands)
      offer(operand->get(), layout);
  }

  //===--- anchors ---------------------------------------------------------===//

  void anchorProducts() {
    // All before any spreads: each has the layout of its own atom.
    kernel.walk([&](MmaOp mma) {
      MmaProblem problem = getMmaProblem(mma, numWarps);
      const Atom *atom = getAtom(mma, problem);
      if (auto loads = loadsBehind(mma, mma.getB());
          atom->bRegisters && llvm::any_of(loads, isCopied)) {
        problem.bIsComputed = true;
        problem.bIsAcrossK = comesAcrossK(mma, mma.getB(), loads);
      }
      offer(mma.getResult(), atom->accLayout(problem));
    });
    kernel.walk([&](MmaOp mma) { anchorComputed(mma); });
    spreadWaiting();
  }

  /// An operand that threads compute from what copies bring to shared memory is made where
  /// the product takes it from registers: from there every layout can be read.
  void anchorComputed(MmaOp mma) {
    MmaProblem problem = getMmaProblem(mma, numWarps);
    const Atom *atom = getAtom(mma, problem);
    for (auto [operand, registersOf] :
         {std::pair(mma.getA(), atom->aRegisters), std::pair(mma.getB(), atom->bRegisters)}) {
      if (!registersOf || llvm::none_of(loadsBehind(mma, operand), isCopied))
        continue;
      if (std::optional<Layout> layout = registersOf(problem, get(mma.getResult()).getLayout()))
        offer(operand, *layout);
    }
  }

  /// Axes along which this tile, or what is computed from it place by place, is reduced.
  SmallVector<int64_t> reducedDims(Value tile) {
    SmallVector<int64_t> dims;
    llvm::SetVector<Value> reached;
    reached.insert(tile);
    for (size_t i = 0; i < reached.size(); ++i) {
      for (Operation *user : reached[i].getUsers()) {
        if (auto reduce = dyn_cast<ReduceOp>(user))
          dims.append(reduce.getAxes().begin(), reduce.getAxes().end());
        if (auto scan = dyn_cast<ScanOp>(user))
          dims.push_back(scan.getAxis());
        if (auto sort = dyn_cast<SortOp>(user))
          dims.push_back(sort.getAxis());
        if (isElementwise(user))
          reached.insert(user->result_begin(), user->result_end());
      }
      for (Value other : handed.lookup(reached[i]))
        reached.insert(other);
    }
    return dims;
  }

  /// Elements of `tile` that a thread is to have side by side, if what it stores of them elementwise
  /// is wider than what it loads, `access`: an instruction stores 16 bytes, and those of neighbours
  /// are to be neighbours (bytes to bf16, 16 elements a thread: 2.76 TB/s, 8: 3.80).
  int64_t vectorOfStores(Value tile, const TileAccess &access) {
    constexpr int64_t leastBytes = 4; // that a thread loads
    int64_t vector = access.maxVector;
    llvm::SetVector<Value> reached;
    reached.insert(tile);
    for (size_t i = 0; i < reached.size(); ++i)
      for (Operation *user : reached[i].getUsers()) {
        auto store = isa<StoreOp>(user) ? TileAccess::of(user) : std::nullopt;
        if (store && store->contiguous && store->maxVector > 1 && store->order == access.order)
          vector = std::min(vector, store->maxVector);
        if (isElementwise(user))
          reached.insert(user->result_begin(), user->result_end());
      }
    return std::max(vector, std::min(access.maxVector,
                                     leastBytes / storedBytes(access.tile.getElementType())));
  }

  Layout layoutForAccess(Operation *op, Value tile) {
    TileAccess access = *TileAccess::of(op);
    access.maxVector = vectorOfStores(tile, access);
    SmallVector<int64_t> reduced = reducedDims(tile);
    auto load = dyn_cast<LoadOp>(op);
    if (load && reduced.empty())
      if (auto windows = windowDims(load, access); !windows.empty())
        return windowLayout(access, numWarps, windows);
    return coalescedLayout(access, numWarps, reduced);
  }

  template <typename Op> void anchorAccesses(llvm::function_ref<Value(Op)> tileOf) {
    SmallVector<std::pair<int64_t, Op>> accesses;
    kernel.walk([&](Op op) {
      // What the copy engine moves needs no layout of its own.
      if (isCopied(op))
        return;
      if (auto type = dyn_cast<RankedTensorType>(tileOf(op).getType()))
        accesses.push_back({bytesOfTile(type), op});
    });
    SmallVector<unsigned> bySize = llvm::to_vector(llvm::seq<unsigned>(0, accesses.size()));
    llvm::sort(bySize, [&](unsigned a, unsigned b) {
      return std::pair(-accesses[a].first, a) < std::pair(-accesses[b].first, b);
    });
    for (unsigned index : bySize) {
      Op op = accesses[index].second;
      anchor = tileOf(op);
      if (!decided.contains(anchor))
        decide(anchor, layoutForAccess(op, anchor));
    }
    anchor = Value();
  }

  void anchorLoads() {
    anchorAccesses<LoadOp>([](LoadOp load) { return load.getResult(); });
  }
  void anchorStores() {
    anchorAccesses<StoreOp>([](StoreOp store) { return store.getValue(); });
  }

  /// Elements by index: lanes side by side, or runs of 16 bytes.
  void anchorGathers() {
    auto anchor = [&](Operation *op, Value tile) {
      if (isTile(tile) && !decided.contains(tile))
        decide(tile, indexedLayout(op, numWarps));
    };
    kernel.walk([&](GatherOp op) {
      if (!isCopied(op))
        anchor(op, op.getResult());
    });
    kernel.walk([&](ScatterOp op) { anchor(op, op.getValue()); });
    kernel.walk([&](AtomicOp op) {
      if (!isCopied(op))
        anchor(op, op.getIndex().front());
    });
  }

  void anchorReductions() {
    kernel.walk([&](ReduceOp reduce) {
      Value source = reduce.getSources().front();
      if (!decided.contains(source) && !sourceIsBroadcast(source))
        decide(source, defaultLayout(cast<RankedTensorType>(source.getType()), numWarps));
    });
    kernel.walk([&](Operation *op) {
      if (std::optional<unsigned> axis = orderedAxis(op); axis && !decided.contains(op->getResult(0)))
        decide(op->getResult(0),
               scannableLayout(getTileShape(op->getResult(0).getType()), *axis, numWarps));
    });
  }

  /// Parts of tiles whose threads do not have all parts: as the tile is moved anyway, it
  /// goes to where registers are the highest bits along the axis. What is cut again, as in
  /// a Fourier transform, is then cut within threads as often as they have registers.
  void anchorHalves() {
    kernel.walk([&](ExtractOp extract) {
      auto type = dyn_cast<RankedTensorType>(extract.getType());
      if (!type || decided.contains(extract.getResult()) || !constantStart(extract))
        return;
      ArrayRef<int64_t> whole = getTileShape(extract.getSource().getType());
      SmallVector<unsigned, 6> order;
      for (bool isCut : {false, true})
        for (unsigned dim = unsigned(whole.size()); dim-- > 0;)
          if ((whole[dim] != type.getDimSize(dim)) == isCut)
            order.push_back(dim);
      decide(extract.getResult(),
             Layout::coalesced(type.getShape(), order, 1, 32, numWarps, order));
    });
  }

  bool sourceIsBroadcast(Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && decided.contains(broadcast.getSource());
  }

  /// In program order, so that sources come before what is made of them.
  void decideRest() {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            decideAlone(argument);
      for (Value result : op->getResults())
        decideAlone(result);
    });
  }

  void decideAlone(Value value) {
    if (!isTile(value) || decided.contains(value))
      return;
    anchor = value;
    if (sourceIsBroadcast(value)) {
      Operation *op = value.getDefiningOp();
      decide(value, layoutOfResult(op, get(op->getOperand(0)).getLayout()));
    } else {
      decide(value, defaultLayout(cast<RankedTensorType>(value.getType()), numWarps));
    }
    anchor = Value();
  }

  KernelOp kernel;
  unsigned numWarps;
  DenseMap<Value, LayoutAttr> decided;
  DenseMap<Value, SmallVector<Value, 2>> tied, handed;
  std::deque<Value> waiting;
  /// The value being decided for its own sake.
  Value anchor;
};

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Whether what is sorted may go through shared memory: not where it would take most of it.
static bool isMovable(SortOp sort) {
  constexpr int64_t mostBytes = 64 << 10;
  return llvm::all_of(sort.getSources(), [](Value source) {
    return bytesOfTile(source.getType()) <= mostBytes;
  });
}

class Rewriter {
public:
  Rewriter(KernelOp kernel, const Decider &decider, unsigned numWarps)
      : kernel(kernel), decider(decider), numWarps(numWarps) {}

  void run() {
    SmallVector<Operation *> ops;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            setType(argument);
      for (Value result : op->getResults())
        setType(result);
    }
    for (Operation *op : ops)
      fit(op);
  }

private:
  void setType(Value value) {
    if (isTile(value))
      setLayout(value, decider.get(value));
  }

  /// Makes the operand have `layout`.
  void require(OpOperand &use, const Layout &layout) {
    require(use, LayoutAttr::get(kernel.getContext(), layout));
  }
  void require(OpOperand &use, LayoutAttr layout) {
    if (!isTile(use.get()) || getLayoutAttr(use.get().getType()) == layout)
      return;
    OpBuilder builder(use.getOwner());
    Operation *source = use.get().getDefiningOp();
    if (isCheapToRecreate(source)) {
      use.set(recreate(builder, source, layout));
      return;
    }
    use.set(ConvertLayoutOp::create(builder, use.getOwner()->getLoc(),
                                    withLayout(use.get().getType(), layout), use.get()));
  }

  /// The operation makes `natural`, but its users were promised something else.
  void provide(Value result, const Layout &natural) {
    LayoutAttr promised = getLayoutAttr(result.getType());
    LayoutAttr made = LayoutAttr::get(kernel.getContext(), natural);
    if (promised == made)
      return;
    setLayout(result, made);
    OpBuilder builder(kernel.getContext());
    builder.setInsertionPointAfter(result.getDefiningOp());
    auto convert = ConvertLayoutOp::create(builder, result.getLoc(),
                                           withLayout(result.getType(), promised), result);
    result.replaceAllUsesExcept(convert.getResult(), convert);
  }

  void fit(Operation *op) {
    if (isa<ReshapeOp, PermuteOp>(op)) {
      if (isTile(op->getResult(0)) && isTile(op->getOperand(0)))
        require(op->getOpOperand(0), layoutOfSource(op, getLayout(op->getResult(0))));
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      Layout result = getLayout(broadcast.getResult());
      if (!broadcastKeepsPlaces(broadcast, getLayout(broadcast.getSource()), result))
        require(op->getOpOperand(0), layoutOfSource(op, result));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      fitStore(store);
    } else if (auto extract = dyn_cast<ExtractOp>(op)) {
      fitExtract(extract);
    } else if (auto cat = dyn_cast<CatOp>(op)) {
      fitCat(cat);
    } else if (auto take = dyn_cast<TakeOp>(op)) {
      require(take.getIndicesMutable(), takeIndexLayout(take));
    } else {
      fitAgreement(op);
    }
    forCarried(
        op, [](Value, Value) {},
        [&](OpOperand &use, Value value) {
          if (isTile(value))
            require(use, getLayoutAttr(value.getType()));
        });
  }

  void fitAgreement(Operation *op) {
    Agreement agreement = getAgreement(op);
    if (agreement.operands.empty())
      return;
    Value leader = agreement.results.empty() ? agreement.operands.front()->get()
                                             : agreement.results.front();
    Layout layout = getLayout(leader);
    if (std::optional<unsigned> axis = orderedAxis(op); axis && !planScan(layout, *axis))
      layout = scannableLayout(layout.shape(), *axis, numWarps);
    if (auto sort = dyn_cast<SortOp>(op); sort && !sort->hasAttr(bitonicRunsAttr) && isMovable(sort))
      layout = cheapestToSort(layout, sort.getAxis(), numWarps);
    for (OpOperand *use : agreement.operands)
      require(*use, layout);
    for (Value result : agreement.results)
      provide(result, layout);
    if (auto insert = dyn_cast<InsertOp>(op))
      require(insert.getSliceMutable(), insertedLayout(insert));
    if (isa<ReduceOp>(op))
      for (Value result : op->getResults())
        if (isTile(result))
          provide(result, layoutOfResult(op, layout));
  }

  /// A few slices at known places, of which several are read: the source is moved once,
  /// to where registers tell the slices apart.
  void fitExtract(ExtractOp extract) {
    std::optional<Layout::Coords> start = constantStart(extract);
    if (!start || !isTile(extract.getResult()))
      return;
    Value source = extract.getSource();
    Layout from = getLayout(source), to = getLayout(extract.getResult());
    int64_t slices = from.numElements() / to.numElements();
    if (registersOfSlice(from, to, *start) || slices > 4 || source.hasOneUse())
      return;
    Layout wanted = layoutOfSlices(to, from.shape());
    Value &moved = movedForSlices[{source, LayoutAttr::get(kernel.getContext(), wanted)}];
    if (!moved) {
      OpBuilder builder(kernel.getContext());
      builder.setInsertionPointAfterValue(source);
      moved = ConvertLayoutOp::create(builder, extract.getLoc(),
                                      withLayout(source.getType(), wanted), source);
    }
    extract.getSourceMutable().set(moved);
  }

  void fitCat(CatOp cat) {
    Layout whole = getLayout(cat.getType());
    std::optional<Layout> part =
        sliceLayout(whole, getTileShape(cat.getSources().front().getType()));
    Layout common = part ? *part : getLayout(cat.getSources().front());
    for (OpOperand &source : cat.getSourcesMutable())
      require(source, common);
    if (!part)
      provide(cat.getResult(), layoutOfSlices(common, whole.shape()));
  }

  void fitStore(StoreOp store) {
    if (!isTile(store.getValue()) || isCopied(store))
      return;
    TileAccess access = *TileAccess::of(store);
    if (!suitsAccess(access, getLayout(store.getValue()), numWarps))
      require(store.getValueMutable(), coalescedLayout(access, numWarps));
  }

  KernelOp kernel;
  const Decider &decider;
  unsigned numWarps;
  /// Sources of slices, as fitExtract has moved them.
  DenseMap<std::pair<Value, LayoutAttr>, Value> movedForSlices;
};

struct AssignLayouts : tilec::impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    unsigned warps = getOrChooseNumWarps(kernel);
    Decider decider(kernel, warps);
    decider.run();
    Rewriter(kernel, decider, warps).run();
  }
};

} // namespace

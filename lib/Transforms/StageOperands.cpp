//===- StageOperands.cpp - what warps exchange, through buffers ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: stage laid-out. Out: every exchange between warps names a buffer of shared
// memory. Barriers and offsets come later.
//
//   %r = tile.mma %a, %b, %c {atom = "fma"}
//     →  %A = tgpu.alloc   tgpu.store %a, %A
//        %B = tgpu.alloc   tgpu.store %b, %B
//        %r = tgpu.mma %A, %B, %c
//
//   %r = tile.mma %a, %b, %c {atom = …}    (acc in tensor memory)
//     →  %T = tgpu.accumulator   tgpu.set_accumulator %c, %T
//        tgpu.accumulate %A, %B, %T   tgpu.mma_wait pending 0
//        %r = tgpu.get_accumulator %T
//
//   %y = tile.convert_layout %x            (between warps)
//     →  %X = tgpu.alloc   tgpu.store %x, %X   %y = tgpu.load %X
//
//   %s = tile.reduce(%x) axes [1] : tensor<8x128> -> tensor<8>    (four warps a row)
//     →  %p = tgpu.warp_reduce(%x) axes [1] : tensor<8x128> -> tensor<4x8>
//        %P = tgpu.alloc   tgpu.store %p, %P   %q = tgpu.load %P   (4 in registers)
//        %s = tile.reduce(%q) axes [0] : tensor<4x8> -> tensor<8>
//
//   %o = tile.atomic add %a[%i] value(%v)  (fewer elements than threads)
//     →  %o = tile.atomic …   tgpu.store %o, %O   %p = tgpu.load %O
//
// The buffers' swizzles come from planShared: no bank conflicts on either side where
// that is possible. An operand that a loop does not change is stored before the loop; one
// that another product has in shared memory, be it transposed, is read there. The
// a of a product (the b of one that is turned around) stays in registers where it lies as the
// atom's fragments do, as the result of another product does, and what is computed for it.
// What an instruction reads from shared memory by itself is fenced after it was stored; a
// product that completes later is waited for at once.
//
//===------------------------------------------------------------------------===//
#include "LoopSums.h"
#include "Staging.h"

#include "tilec/Analysis/ReductionPlan.h"
#include "tilec/Atoms/Atom.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Tile/ArgReductions.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_STAGEOPERANDS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

unsigned tilec::storedBits(Type type) {
  return unsigned(tgpu::BufferType::storedBytes(getElementTypeOrSelf(type))) * 8;
}

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether a tile that lies as `from` gets to `to` only through shared memory.
static bool crossesWarps(const Layout &from, const Layout &to, Type type) {
  return classifyConversion(from, to, storedBits(type)) == ConversionKind::Shared;
}

Value tilec::storeToBuffer(OpBuilder &builder, Location loc, Value tile,
                           const Layout &buffer) {
  auto type = tgpu::BufferType::get(tileType(tile), buffer);
  Value alloc = tgpu::AllocOp::create(builder, loc, type, IntegerAttr());
  tgpu::StoreOp::create(builder, loc, tile, alloc);
  return alloc;
}

/// `tile` in layout `to`, through a buffer.
static Value exchange(OpBuilder &builder, Location loc, Value tile, const Layout &to) {
  SharedPlan plan = planShared(tile::getLayout(tile), to, storedBits(tile.getType()));
  Value buffer = storeToBuffer(builder, loc, tile, plan.buffer);
  return tgpu::LoadOp::create(builder, loc, tile::withLayout(tile.getType(), to), buffer);
}

Value tilec::convertTo(OpBuilder &builder, Location loc, Value tile, const Layout &to) {
  Layout from = tile::getLayout(tile);
  if (from == to)
    return tile;
  if (crossesWarps(from, to, tile.getType()))
    return exchange(builder, loc, tile, to);
  return tile::ConvertLayoutOp::create(builder, loc, tile::withLayout(tile.getType(), to),
                                       tile);
}

//===------------------------------------------------------------------------===//
// Conversions and changes of shape
//===------------------------------------------------------------------------===//

static void stageConversion(tile::ConvertLayoutOp op) {
  Layout to = tile::getLayout(op.getResult());
  if (!crossesWarps(tile::getLayout(op.getSource()), to, op.getType()))
    return;
  remarkMissed(op, "stage-operands", "{0} changes its layout through shared memory",
               spell(op.getType()));
  OpBuilder builder(op);
  op.replaceAllUsesWith(exchange(builder, op.getLoc(), op.getSource(), to));
  op.erase();
}

/// Moves the source of a change of shape to `wanted`, in which the change is free.
static void alignSource(Operation *op, const Layout &wanted) {
  Value source = op->getOperand(0);
  if (!crossesWarps(tile::getLayout(source), wanted, source.getType()))
    return;
  remarkMissed(op, "stage-operands", "{0} changes its layout through shared memory",
               spell(source.getType()));
  OpBuilder builder(op);
  op->setOperand(0, exchange(builder, op->getLoc(), source, wanted));
}

static void alignShapeChange(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto sourceType = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || !sourceType)
    return;
  Layout wanted = tile::getLayout(type);
  if (isa<tile::BroadcastOp>(op)) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (sourceType.getDimSize(dim) != type.getDimSize(dim))
        wanted = wanted.collapse(unsigned(dim));
  } else if (isa<tile::ReshapeOp>(op)) {
    wanted = wanted.reshape(sourceType.getShape());
  } else {
    SmallVector<int64_t> inverse(type.getRank());
    for (auto [dim, from] : llvm::enumerate(cast<tile::PermuteOp>(op).getDims()))
      inverse[from] = int64_t(dim);
    wanted = wanted.permute(inverse);
  }
  alignSource(op, wanted);
}

//===------------------------------------------------------------------------===//
// Reductions
//===------------------------------------------------------------------------===//

/// The same reduction within warps, its results with a leading dim of warps.
static tgpu::WarpReduceOp createWarpReduce(OpBuilder &builder, tile::ReduceOp op,
                                           ValueRange sources,
                                           const ReductionPlan &plan) {
  SmallVector<Type> types;
  for (Value source : sources) {
    auto type = RankedTensorType::get(plan.partial.shape(), tileType(source).getElementType());
    types.push_back(tile::withLayout(type, plan.partial));
  }
  auto result = tgpu::WarpReduceOp::create(builder, op.getLoc(), types, sources, op.getAxes());
  if (Attribute sought = op->getAttr(tile::argReductionAttr))
    result->setAttr(tile::argReductionAttr, sought);
  IRMapping mapping;
  op.getCombiner().cloneInto(&result.getCombiner(), mapping);
  Operation *yield = result.getCombiner().front().getTerminator();
  OpBuilder inner(yield);
  tgpu::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  return result;
}

static void explainReduction(tile::ReduceOp op, const ReductionPlan &plan) {
  if (plan.crossesWarps())
    remarkMissed(op, "stage-operands",
                 "reduced within each warp, then {0} warps meet in shared memory",
                 1 << plan.axisWarps.size());
  else if (!plan.axisLanes.empty())
    remarkChoice(op, "stage-operands", "reduced within each warp by {0} steps of shuffles",
                 plan.axisLanes.size());
  else
    remarkChoice(op, "stage-operands", "reduced within each thread");
}

static void stageReduction(tile::ReduceOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> sources(op.getSources());
  SmallVector<int64_t> axes(op.getAxes());
  Layout layout = tile::getLayout(sources.front());
  std::optional<ReductionPlan> plan = planReduction(layout, axes);
  if (!plan) {
    remarkMissed(op, "stage-operands", "{0} changes its layout before it is reduced",
                 spell(sources.front().getType()));
    layout = reducibleLayout(layout.shape(), unsigned(layout.size(Input::Warp)));
    for (Value &source : sources)
      source = convertTo(builder, loc, source, layout);
    plan = planReduction(layout, axes);
  }
  explainReduction(op, *plan);
  if (plan->crossesWarps()) {
    tgpu::WarpReduceOp partial = createWarpReduce(builder, op, sources, *plan);
    for (auto [source, result] : llvm::zip_equal(sources, partial.getResults()))
      source = exchange(builder, loc, result, plan->gathered);
    axes = {0};
  }
  // The new reduction gives the layout that comes out of it; a conversion follows
  // where that crosses warps.
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    bool isFar = tile::hasLayout(type) &&
                 crossesWarps(plan->result, tile::getLayout(type), type);
    types.push_back(isFar ? Type(tile::withLayout(type, plan->result)) : type);
  }
  auto result = tile::ReduceOp::create(builder, loc, types, sources, axes);
  result.getCombiner().takeBody(op.getCombiner());
  // What several warps found comes in no order of positions.
  if (Attribute sought = op->getAttr(tile::argReductionAttr); sought && !plan->crossesWarps())
    result->setAttr(tile::argReductionAttr, sought);
  for (auto [before, after] : llvm::zip_equal(op.getResults(), result.getResults())) {
    Value value = after;
    if (before.getType() != after.getType())
      value = exchange(builder, loc, after, tile::getLayout(before));
    before.replaceAllUsesWith(value);
  }
  op.erase();
}

//===------------------------------------------------------------------------===//
// Atomics
//===------------------------------------------------------------------------===//

/// One thread does the operation for each element; where copies of the element lie in
/// other warps, the old value goes to them through a buffer. A scalar is a copy in
/// every thread.
static void stageAtomic(tile::AtomicOp op, unsigned numWarps) {
  Value result = op.getResult();
  if (!result || result.use_empty())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  if (isa<RankedTensorType>(result.getType())) {
    Layout layout = tile::getLayout(result);
    if (copiesAreInLanes(layout))
      return;
    Value everywhere = exchange(builder, loc, result, layout);
    result.replaceUsesWithIf(everywhere, [&](OpOperand &use) {
      return !isa<tgpu::StoreOp>(use.getOwner());
    });
    return;
  }
  if (numWarps == 1)
    return;
  Layout layout = Layout::coalesced({1}, {}, 1, 32, numWarps);
  auto type = RankedTensorType::get({1}, result.getType(),
                                    tile::LayoutAttr::get(op->getContext(), layout));
  auto tile = tile::ReshapeOp::create(builder, loc, type, result);
  Value everywhere = exchange(builder, loc, tile, layout);
  Value scalar = tile::ReshapeOp::create(builder, loc, result.getType(), everywhere);
  result.replaceAllUsesExcept(scalar, tile);
}

//===------------------------------------------------------------------------===//
// Matrix products
//===------------------------------------------------------------------------===//

/// The place of a ring that `operand` was read from, if the product can read it there:
/// by its threads, or as an instruction reads it by itself. Else null.
static Value placeOfRing(Value operand, Layout (*wanted)(const MmaProblem &, bool),
                         const MmaProblem &problem) {
  auto load = operand.getDefiningOp<tgpu::LoadOp>();
  if (!load || !load.getBuffer().getDefiningOp<tgpu::PopOp>())
    return {};
  Layout layout = load.getBuffer().getType().getLayout().getLayout();
  bool fits = !wanted || layout == wanted(problem, true) || layout == wanted(problem, false);
  return fits ? load.getBuffer() : Value();
}

/// The operand in shared memory: where a ring has it, or stored just before the product,
/// or, when it comes from outside of a loop around the product, where it is defined.
static Value stageOperand(tile::MmaOp op, const Atom &atom, const MmaProblem &problem,
                          Operand which) {
  Value operand = which == Operand::A ? op.getA() : op.getB();
  auto fixed = which == Operand::A ? atom.aBuffer : atom.bBuffer;
  if (Value place = placeOfRing(operand, fixed, problem))
    return place;
  OpBuilder builder(op);
  if (operand.getParentBlock() != op->getBlock())
    builder.setInsertionPointAfterValue(operand);
  Layout buffer = operandBuffer(atom, problem, tile::getLayout(op.getAcc()), which,
                                tile::getLayout(operand));
  Value staged = storeToBuffer(builder, op.getLoc(), operand, buffer);
  if (fixed)
    tgpu::FenceAsyncOp::create(builder, op.getLoc());
  return staged;
}

/// An operand in registers, if it lies there as the atom wants it but for the names of
/// registers; else null.
static Value keepInRegisters(tile::MmaOp op, const Atom &atom, const MmaProblem &problem,
                             Operand which) {
  Value operand = which == Operand::A ? op.getA() : op.getB();
  auto registersOf = which == Operand::A ? atom.aRegisters : atom.bRegisters;
  Layout acc = tile::getLayout(op.getAcc());
  // A buffer is multiplied as it lies there, with the rows of the sum in their order.
  bool mustStay = which == Operand::B && atom.isAsync && acc != atom.accLayout(problem);
  if (!registersOf || (operand.getDefiningOp<tgpu::LoadOp>() && !mustStay))
    return {};
  std::optional<Layout> wanted = registersOf(problem, acc);
  Layout layout = tile::getLayout(operand);
  bool isThere = wanted && classifyConversion(layout, *wanted, storedBits(operand.getType())) <=
                               ConversionKind::Registers;
  if (!wanted || (!isThere && !mustStay))
    return {};
  OpBuilder builder(op);
  return convertTo(builder, op.getLoc(), operand, *wanted);
}

/// The buffer to which `a`, or its transpose, went for another product before, if this one
/// can read it there, too: then it need not hold the registers, nor wait for the product to
/// have read them.
static Value findStored(tile::MmaOp op, const Atom &atom, const MmaProblem &problem,
                        bool &isTransposed) {
  if (!atom.aBuffer || !atom.isAsync || op.getType().getRank() != 2)
    return {};
  auto storedAs = [&](Value tile, bool transposed) -> Value {
    for (Operation *user : tile.getUsers()) {
      auto store = dyn_cast<tgpu::StoreOp>(user);
      if (!store || store->getBlock() != op->getBlock() || !store->isBeforeInBlock(op) ||
          !store.getBuffer().getDefiningOp<tgpu::AllocOp>())
        continue;
      Layout layout = store.getBuffer().getType().getLayout().getLayout();
      if (transposed)
        layout = layout.permute({1, 0});
      bool isRead = llvm::any_of(store.getBuffer().getUsers(), llvm::IsaPred<tgpu::MmaOp>);
      if (isRead && (layout == atom.aBuffer(problem, true) || layout == atom.aBuffer(problem, false)))
        return store.getBuffer();
    }
    return {};
  };
  isTransposed = false;
  if (Value found = storedAs(op.getA(), false))
    return found;
  isTransposed = true;
  for (Operation *user : op.getA().getUsers())
    if (auto permute = dyn_cast<tile::PermuteOp>(user))
      if (Value found = storedAs(permute.getResult(), true))
        return found;
  isTransposed = false;
  return {};
}

/// How an operand of `op` comes, when it does not come from a ring.
static void explainOperand(tile::MmaOp op, Value operand, Value staged) {
  if (isa<RankedTensorType>(staged.getType()))
    remarkChoice(op, "stage-operands", "{0} stays in registers", spell(operand.getType()));
  else if (staged.getDefiningOp<tgpu::AllocOp>())
    remarkMissed(op, "stage-operands", "{0} goes from registers to shared memory{1}",
                 spell(operand.getType()),
                 staged.getParentBlock() != op->getBlock() ? ", before the loop" : "");
}

/// The product with its accumulator in tensor memory, there and back.
static void stageAccumulator(tile::MmaOp op, const Atom &atom, const MmaProblem &problem) {
  Value stagedA = stageOperand(op, atom, problem, Operand::A);
  Value stagedB = stageOperand(op, atom, problem, Operand::B);
  explainOperand(op, op.getA(), stagedA);
  explainOperand(op, op.getB(), stagedB);
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto tile = cast<RankedTensorType>(op.getType());
  auto kernel = op->getParentOfType<tile::KernelOp>();
  OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto type =
      tgpu::AccumulatorType::get(op.getContext(), tile.getShape(), tile.getElementType());
  Value place = tgpu::AccumulatorOp::create(top, loc, type, IntegerAttr());
  Value adds;
  if (atom.addsInRegisters || isZero(op.getAcc()))
    adds = arith::ConstantIntOp::create(builder, loc, 0, 1);
  else
    tgpu::SetAccumulatorOp::create(builder, loc, op.getAcc(), place);
  tgpu::AccumulateOp::create(builder, loc, stagedA, stagedB, place, adds, atom.name,
                             op.getAUnsigned(), op.getBUnsigned());
  tgpu::MmaWaitOp::create(builder, loc, ValueRange(), /*pending=*/0);
  Value result = tgpu::GetAccumulatorOp::create(builder, loc, tile, place);
  if (atom.addsInRegisters)
    result = arith::AddFOp::create(builder, loc, op.getAcc(), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

static void stageProduct(tile::MmaOp op, unsigned numWarps) {
  MmaProblem problem = getMmaProblem(op, numWarps);
  const Atom *atom = getAtom(op, problem);
  if (atom->accHome() == OperandHome::TensorMemory)
    return stageAccumulator(op, *atom, problem);
  bool isTransposed = false;
  Value stagedA = findStored(op, *atom, problem, isTransposed);
  if (stagedA) {
    remarkChoice(op, "stage-operands", "{0} is read from shared memory, where another product has it",
                 spell(op.getA().getType()));
  } else {
    stagedA = keepInRegisters(op, *atom, problem, Operand::A);
    if (!stagedA)
      stagedA = stageOperand(op, *atom, problem, Operand::A);
    explainOperand(op, op.getA(), stagedA);
  }
  Value stagedB = keepInRegisters(op, *atom, problem, Operand::B);
  if (!stagedB)
    stagedB = stageOperand(op, *atom, problem, Operand::B);
  explainOperand(op, op.getB(), stagedB);
  OpBuilder builder(op);
  bool addsLater =
      problem.k() <= atom->addsInRegistersUpTo &&
      int64_t(tile::getLayout(op.getType()).size(Input::Register)) <= atom->mostAddedInRegisters;
  Value acc = op.getAcc();
  if (addsLater)
    acc = arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(op.getType()));
  auto result =
      tgpu::MmaOp::create(builder, op.getLoc(), op.getType(), stagedA, stagedB, acc,
                          /*adds=*/Value(), atom->name, op.getAUnsigned(), op.getBUnsigned(),
                          isTransposed);
  Value product = result.getResult();
  if (atom->isAsync)
    product = tgpu::MmaWaitOp::create(builder, op.getLoc(), product, /*pending=*/0).getResult(0);
  if (addsLater)
    product = arith::AddFOp::create(builder, op.getLoc(), op.getAcc(), product);
  op.replaceAllUsesWith(product);
  op.erase();
}

//===------------------------------------------------------------------------===//
// Clusters
//===------------------------------------------------------------------------===//

/// A place for each register of each thread, and a barrier.
static void stageClusterSum(tgpu::ClusterSumOp op, unsigned numWarps) {
  OpBuilder builder(op);
  auto alloc = [&](int64_t count, Type element) -> Value {
    auto tile = RankedTensorType::get({count}, element);
    auto type = tgpu::BufferType::get(tile, Layout::counting(Input::Offset, {count}));
    return tgpu::AllocOp::create(builder, op.getLoc(), type, IntegerAttr());
  };
  RankedTensorType type = op.getTile().getType();
  int64_t registers = int64_t(tile::getLayout(type).size(Input::Register));
  op.getScratchMutable().assign(alloc(registers * 32 * numWarps, type.getElementType()));
  op.getMeetingMutable().assign(alloc(2, builder.getI64Type()));
}

//===------------------------------------------------------------------------===//
// The pass
//===------------------------------------------------------------------------===//

namespace {

/// What threads exchange follows from where they have it.
LogicalResult requireLayouts(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    auto hasNone = [](Value value) {
      return isa<RankedTensorType>(value.getType()) && !tile::hasLayout(value.getType());
    };
    if (llvm::none_of(op->getResults(), hasNone))
      return WalkResult::advance();
    op->emitError("its tile has no layout: run --tile-assign-layouts first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct StageOperands : tilec::impl::StageOperandsBase<StageOperands> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (failed(requireLayouts(kernel)))
      return signalPassFailure();
    auto numWarps = unsigned(kernel.getNumWarps().value_or(4));
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) {
      if (isa<tile::ConvertLayoutOp, tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp,
              tile::ReduceOp, tile::MmaOp, tile::ExtractOp, tile::InsertOp, tile::TakeOp,
              tile::HistogramOp, tile::FlipOp, tile::ScanOp, tile::SortOp, tile::AtomicOp,
              tgpu::ClusterSumOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case(stageConversion)
          .Case(stageReduction)
          .Case([&](tile::MmaOp op) { stageProduct(op, numWarps); })
          .Case(stageExtract)
          .Case(stageInsert)
          .Case(stageTake)
          .Case([&](tile::HistogramOp op) { stageHistogram(op, numWarps); })
          .Case([&](tile::FlipOp op) { stageFlip(op, numWarps); })
          .Case([&](tile::ScanOp op) { stageScan(op, numWarps); })
          .Case([&](tile::SortOp op) { stageSort(op, numWarps); })
          .Case([&](tile::AtomicOp op) { stageAtomic(op, numWarps); })
          .Case([&](tgpu::ClusterSumOp op) { stageClusterSum(op, numWarps); })
          .Default(alignShapeChange);
  }
};

} // namespace

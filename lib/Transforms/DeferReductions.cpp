//===- DeferReductions.cpp - threads meet after the loop --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In and out: stage laid-out. A loop that reduces tiles and carries what they come to lets
// threads exchange their parts in each iteration, by shuffles or through shared memory:
//
//   %l = scf.for … iter_args(%sum = 0) {
//     scf.yield %sum * %factor + reduce add %p axes [1] }   : tensor<64xf32>
//
// Here each thread carries what its own elements come to, and they meet once:
//
//   %q = scf.for … iter_args(%sum = 0) {
//     %x = tile.reshape %p : … -> tensor<64x8x4x2xf32>       // 4: what lanes differ in
//     scf.yield %sum * %factor + reduce add %x axes [1, 3] }   : tensor<64x4xf32>
//   %l = reduce add %q axes [1]
//
// The tile carried has one dim more, along which threads differ, and as many registers. The
// factor is the same in all threads of a row, so it may come before or after they meet.
// Maxima, minima, bits and integers are the same in any order; floats that are added, or
// multiplied by the way, are rounded in other places, so only in `fast` code. Where the value
// is needed within the loop, as the maxima of an online softmax are, nothing is gained.
//
// Layouts: each bit of a coordinate along the axes must be one of register, lane or warp
// numbers, and what is carried lie as the reduction leaves it, so that nothing moves.
//
//===----------------------------------------------------------------------===//
#include "Combiner.h"
#include "LayoutRules.h"

#include "tilec/Analysis/ReductionPlan.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_DEFERREDUCTIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// What a loop carries
//===----------------------------------------------------------------------===//

namespace {

/// carried = combine(carried * factor, reduce(…)), and nothing else of the loop needs it.
struct Update {
  unsigned index = 0;           ///< of the loop's carried values
  Operation *combine = nullptr; ///< makes the next value
  Operation *product = nullptr; ///< carried * factor, where that is an operation of its own
  Value factor;                 ///< null where there is none
  ReduceOp reduce;
  Value reduced;                ///< its result, in the shape that is carried
  bool isSum = false;           ///< else a combiner that x combined with x leaves x
};

} // namespace

/// The reduction of one tile by one operation that `value` is, be it in another shape, if
/// only that needs it.
static ReduceOp reductionOf(Value value) {
  while (value.hasOneUse()) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!reshape) {
      auto reduce = value.getDefiningOp<ReduceOp>();
      return reduce && combiningOp(reduce) ? reduce : ReduceOp();
    }
    value = reshape.getSource();
  }
  return {};
}

static bool isIdempotent(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::AndIOp,
             arith::OrIOp>(op);
}

/// Whether `op` may round elsewhere. Integers do not round, and wrap in any order, but for those
/// that are known not to.
static bool mayReorder(Operation *op) {
  if (auto wraps = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    return wraps.getOverflowAttr().getValue() == arith::IntegerOverflowFlags::none;
  auto rounds = dyn_cast<arith::ArithFastMathInterface>(op);
  return !rounds || bitEnumContainsAny(rounds.getFastMathFlagsAttr().getValue(),
                                       arith::FastMathFlags::afn);
}

/// Takes `own`, an operand of a sum, as what is carried, or that times a factor.
static bool takeCarried(Update &update, Value own, Value carried) {
  if (own == carried)
    return true;
  Operation *product = own.getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(product) || !own.hasOneUse() ||
      !mayReorder(product) || !llvm::is_contained(product->getOperands(), carried))
    return false;
  update.product = product;
  update.factor = product->getOperand(product->getOperand(0) == carried ? 1 : 0);
  return true;
}

static std::optional<Update> findUpdate(scf::ForOp loop, unsigned index) {
  BlockArgument carried = loop.getRegionIterArg(index);
  Value next = loop.getBody()->getTerminator()->getOperand(index);
  Update update;
  update.index = index;
  update.combine = next.getDefiningOp();
  if (!update.combine || update.combine->getBlock() != loop.getBody() || !next.hasOneUse() ||
      !carried.hasOneUse())
    return std::nullopt;
  auto take = [&](Value own, Value reduced) {
    update.reduce = reductionOf(reduced);
    update.reduced = reduced;
    return update.reduce && update.reduce->getBlock() == loop.getBody() &&
           takeCarried(update, own, carried);
  };
  ValueRange operands = update.combine->getOperands();
  if (isa<math::FmaOp>(update.combine)) {
    bool isFirst = operands[0] == carried;
    update.factor = operands[isFirst ? 1 : 0];
    if ((!isFirst && operands[1] != carried) || !take(carried, operands[2]))
      return std::nullopt;
  } else if (operands.size() != 2 ||
             (!take(operands[0], operands[1]) && !take(operands[1], operands[0]))) {
    return std::nullopt;
  }
  Operation *combiner = combiningOp(update.reduce);
  update.isSum = isa<arith::AddFOp, arith::AddIOp>(combiner);
  if (update.isSum)
    return (isa<math::FmaOp>(update.combine) || update.combine->getName() == combiner->getName()) &&
                   mayReorder(update.combine)
               ? std::optional(update)
               : std::nullopt;
  bool isSame = isIdempotent(combiner) && update.combine->getName() == combiner->getName();
  return isSame && !update.factor ? std::optional(update) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What each thread has of a reduction
//===----------------------------------------------------------------------===//

namespace {

/// How a tile is taken apart such that registers are along dims of their own.
struct Parts {
  SmallVector<int64_t> shape;  ///< the tile's, its axes cut
  SmallVector<int64_t> axes;   ///< those dims that a thread reduces alone
  SmallVector<int64_t> order;  ///< of dims after that: what threads differ in goes last
  SmallVector<int64_t> result; ///< dims kept, and one along which threads differ
  Layout layout;               ///< of the result
};

/// Cuts the axes of a tile into runs of bits that are in registers, and that are not.
class AxisCutter {
public:
  AxisCutter(const Layout &layout, ArrayRef<int64_t> axes) : layout(layout), axes(axes) {}

  /// Fails where a bit is not one of a thread's number; also where threads differ in none.
  bool findThreads() {
    uint64_t axisMask = 0;
    for (int64_t axis : axes)
      axisMask |= layout.fieldMask(unsigned(axis));
    for (Input input : {Input::Register, Input::Lane, Input::Warp})
      for (uint64_t basis : layout.bases(input)) {
        if (!(basis & axisMask))
          continue;
        if (!llvm::isPowerOf2_64(basis))
          return false;
        (input == Input::Register ? registers : threads) |= basis;
      }
    return threads && !(registers & threads) && (registers | threads) == axisMask;
  }

  Parts cut() {
    SmallVector<int64_t> kept, along;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (!llvm::is_contained(axes, int64_t(dim))) {
        kept.push_back(add(layout.shape()[dim]));
        continue;
      }
      unsigned low = layout.fieldShift(dim);
      for (unsigned end = low + layout.fieldBits(dim); end > low;) {
        unsigned begin = end - 1;
        while (begin > low && isThread(begin - 1) == isThread(end - 1))
          --begin;
        int64_t place = add(int64_t(1) << (end - begin));
        if (isThread(begin))
          along.push_back(place);
        else
          parts.axes.push_back(place);
        end = begin;
      }
    }
    // Dims in front of one that a thread reduces count less behind it.
    for (int64_t place : llvm::concat<int64_t>(kept, along))
      parts.order.push_back(
          place - llvm::count_if(parts.axes, [&](int64_t axis) { return axis < place; }));
    return parts;
  }
  int64_t numThreads() const { return int64_t(1) << llvm::popcount(threads); }

private:
  bool isThread(unsigned bit) const { return threads >> bit & 1; }
  int64_t add(int64_t size) {
    parts.shape.push_back(size);
    return int64_t(parts.shape.size()) - 1;
  }

  const Layout &layout;
  ArrayRef<int64_t> axes;
  uint64_t registers = 0, threads = 0;
  Parts parts;
};

} // namespace

/// Nullopt where threads have nothing to exchange, or the result does not lie as `carried`.
static std::optional<Parts> planParts(ReduceOp reduce, Type carried) {
  Layout layout = getLayout(reduce.getSources()[0]);
  AxisCutter cutter(layout, reduce.getAxes());
  if (!planReduction(layout, reduce.getAxes()) || !cutter.findThreads())
    return std::nullopt;
  Parts parts = cutter.cut();
  auto type = dyn_cast<RankedTensorType>(carried);
  if (type)
    parts.result.append(type.getShape().begin(), type.getShape().end());
  parts.result.push_back(cutter.numThreads());
  layout = layout.reshape(parts.shape);
  if (!parts.axes.empty())
    layout = planReduction(layout, parts.axes)->result;
  parts.layout = layout.permute(parts.order).reshape(parts.result);
  if (type && parts.layout.slice(unsigned(type.getRank())) != getLayout(type))
    return std::nullopt;
  return parts;
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

namespace {

class Deferral {
public:
  Deferral(scf::ForOp loop, Update update, Parts parts)
      : builder(loop), loop(loop), loc(update.reduce.getLoc()), update(update), parts(parts),
        element(getElementTypeOrSelf(update.reduced.getType())),
        type(tileTypeOf(parts.layout, element)) {}

  void run() {
    Value initial = emitInitial(loop.getInitArgs()[update.index]);
    loop.getInitArgsMutable()[update.index].assign(initial);
    loop.getRegionIterArg(update.index).setType(type);
    Value result = loop.getResult(update.index);
    Type before = result.getType();
    result.setType(type);
    if (update.product)
      retype(update.product);
    retype(update.combine);

    builder.setInsertionPointAfter(loop);
    int64_t last = type.getRank() - 1;
    ReduceOp whole = reduceTile(result, last, before);
    result.replaceAllUsesExcept(whole.getResult(0), whole);
    remarkChoice(update.reduce, "defer-reductions",
                 "each thread carries what its own elements come to; {0} threads meet when the "
                 "loop has ended",
                 type.getDimSize(last));
    eraseReduction();
  }

private:
  ReduceOp reduceTile(Value tile, ArrayRef<int64_t> axes, Type result) {
    auto reduce = ReduceOp::create(builder, loc, result, tile, axes);
    IRMapping mapping;
    update.reduce.getCombiner().cloneInto(&reduce.getCombiner(), mapping);
    return reduce;
  }

  /// `value`, of the shape that was carried, for each thread.
  Value stretch(Value value) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    if (!tile)
      return SplatOp::create(builder, loc, type, value);
    SmallVector<int64_t> shape(tile.getShape());
    shape.push_back(1);
    Type thin = tileTypeOf(getLayout(tile).reshape(shape), element);
    Value reshaped = ReshapeOp::create(builder, loc, thin, value);
    return BroadcastOp::create(builder, loc, type, reshaped);
  }

  /// What a sum begins with goes to one of the threads, anything else to all.
  Value emitInitial(Value initial) {
    bool isForAll = !update.isSum || matchPattern(initial, m_AnyZeroFloat()) ||
                    matchPattern(initial, m_Zero());
    if (Value constant = isForAll ? emitSplatAs(builder, loc, initial, type) : Value())
      return constant;
    Value all = stretch(initial);
    if (isForAll)
      return all;
    Layout threads = parts.layout;
    SmallVector<int64_t> shape(threads.rank() - 1, 1);
    shape.push_back(threads.shape().back());
    while (threads.rank() > 1)
      threads = threads.slice(0);
    Type i32 = builder.getI32Type();
    Value number = IotaOp::create(builder, loc, tileTypeOf(threads, i32));
    number = ReshapeOp::create(builder, loc, tileTypeOf(threads.reshape(shape), i32), number);
    number = BroadcastOp::create(builder, loc, tileTypeOf(parts.layout, i32), number);
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                          emitZero(tileTypeOf(parts.layout, i32)));
    return arith::SelectOp::create(builder, loc, isFirst, all, emitZero(type));
  }
  Value emitZero(RankedTensorType of) {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(of, builder.getZeroAttr(of.getElementType())));
  }

  /// What the elements of each thread come to.
  Value emitPart() {
    Value tile = update.reduce.getSources()[0];
    Layout layout = getLayout(tile).reshape(parts.shape);
    tile = ReshapeOp::create(builder, loc, tileTypeOf(layout, element), tile);
    if (!parts.axes.empty()) {
      layout = planReduction(layout, parts.axes)->result;
      tile = reduceTile(tile, parts.axes, tileTypeOf(layout, element)).getResult(0);
    }
    layout = layout.permute(parts.order);
    if (!llvm::is_sorted(parts.order))
      tile = PermuteOp::create(builder, loc, tileTypeOf(layout, element), tile, parts.order);
    return tile.getType() == type ? tile : ReshapeOp::create(builder, loc, type, tile).getResult();
  }

  /// `op` on what each thread carries.
  void retype(Operation *op) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get() == update.reduced)
        operand.set(emitPart());
      else if (operand.get() == update.factor)
        operand.set(stretch(operand.get()));
    }
    op->getResult(0).setType(type);
  }

  void eraseReduction() {
    for (Value value = update.reduced;;) {
      Operation *op = value.getDefiningOp();
      auto reshape = dyn_cast<ReshapeOp>(op);
      Value source = reshape ? reshape.getSource() : Value();
      op->erase();
      if (!source)
        return;
      value = source;
    }
  }

  OpBuilder builder;
  scf::ForOp loop;
  Location loc;
  Update update;
  Parts parts;
  Type element;
  RankedTensorType type;
};

struct DeferReductions : tilec::impl::DeferReductionsBase<DeferReductions> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
        if (std::optional<Update> update = findUpdate(loop, index))
          if (std::optional<Parts> parts =
                  planParts(update->reduce, loop.getResult(index).getType()))
            Deferral(loop, *update, *parts).run();
    });
  }
};

} // namespace

//===- StreamRows.cpp - rows that no thread can hold --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of rows, of which one is more than the registers of a multiprocessor, or
// as much. Out: the same part by part, in as many passes over the row as reductions follow
// from one another. What a pass needs is loaded and computed again, as the row is in a
// cache by then:
//
//   %x = tile.load %a[%r, 0] : tensor<1x131072xbf16>
//   %m = reduce max %x   %s = reduce sum exp(%x - %m)   store exp(%x - %m) / %s
//     →
//   %p = scf.for %i = 0 to 16 iter_args(%q = -inf) { max(%q, load %a[%r, %i]) }
//   %m = reduce max %p
//   %p = scf.for %i = 0 to 16 iter_args(%q = 0) { %q + exp(load %a[%r, %i] - %m) }
//   %s = reduce sum %p
//   scf.for %i = 0 to 16 { store exp(load %a[%r, %i] - %m) / %s }
//
// The row is shorter than the tile: parts behind it are left out where what a pass reduces there
// is known (RowPadding.h), and changes nothing but where reducing starts; a fourth of the work for
// rows of 50 257 elements.
//
// Held whole, 131 072 columns take 128 elements a thread of 32 warps, which have 64
// registers: the assembler spills for a second, and the kernel is bound by that.
//
// Only where nothing that the kernel writes can be what it loads (the build relies on
// `disjoint`), and all that has as many elements as the row is loads and stores of arrays,
// elementwise work, positions, and what is the same for all elements. Rows that are gone over
// once are streamed from half that length on, where they are loaded 16 bytes at a time (argmax of
// f32, 32 000 columns: 3.06 -> 3.25 TB/s; element by element, 50 257 of bf16: 1.41 -> 1.14).
//
//===------------------------------------------------------------------------===//
#include "StreamRows.h"

#include "AccessCost.h"
#include "ChooseWarps.h"
#include "Combiner.h"
#include "PartIndex.h"
#include "RowKernel.h"
#include "RowPadding.h"

#include "tilec/Tile/ArgReductions.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tilec {
#define GEN_PASS_DEF_STREAMROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// Elements of the shortest rows that are streamed: in several passes, and in one.
static constexpr int64_t shortestRow = 65536, shortestOnce = 32768;

/// Elements of a part that a thread has.
static constexpr int64_t partOfThread = 16;

/// Bytes of a row of which two are in the cache of a multiprocessor.
static constexpr int64_t bytesOfSmallRow = 131072;

/// Whether a kernel is one of rows that are gone over part by part; finds its passes.
static bool isTooLong(RowKernel &row) {
  return row.analyse() && row.length >= (row.numPasses > 1 ? shortestRow : shortestOnce);
}

/// What changes nothing of what it is combined with, where the combiner is one operation that
/// has such a value; null otherwise.
static TypedAttr neutralOf(ReduceOp reduce) {
  Operation *op = combiningOp(reduce);
  if (!op)
    return {};
  Type type = op->getResult(0).getType();
  Builder builder(reduce.getContext());
  if (auto integer = dyn_cast<IntegerType>(type))
    return isa<arith::AddIOp>(op) ? builder.getIntegerAttr(integer, 0) : TypedAttr();
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return {};
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  if (isa<arith::AddFOp>(op))
    return FloatAttr::get(real, APFloat::getZero(semantics, /*Negative=*/true));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return FloatAttr::get(real, APFloat::getInf(semantics, isa<arith::MaximumFOp>(op)));
  return {};
}

namespace {

/// Writes the passes.
class Streaming {
public:
  Streaming(RowKernel &row, int64_t part)
      : row(row), part(part), builder(row.kernel.getContext()), padding(row) {}

  void run() {
    Block &body = row.kernel.getBody().front();
    SmallVector<Operation *> all;
    for (Operation &op : body.without_terminator())
      all.push_back(&op);
    Operation *end = body.getTerminator();
    for (Operation *sink : row.sinks)
      if (auto reduce = dyn_cast<ReduceOp>(sink))
        paddings[sink] = paddingOf(reduce);
    // What is no part of the row stands behind the passes that it follows from.
    for (unsigned pass = 0; pass <= row.numPasses; ++pass) {
      for (Operation *op : all)
        if (!row.isLong(op) && row.passes[op] == pass)
          op->moveBefore(end);
      builder.setInsertionPoint(end);
      if (pass == 0)
        countParts();
      if (pass < row.numPasses)
        emitPass(pass);
    }
    for (Operation *op : llvm::reverse(all))
      if (row.isLong(op))
        op->erase();
  }

private:
  RankedTensorType partType(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    auto shape = llvm::to_vector(tensor.getShape());
    shape[*RowKernel::longDim(type, row.length)] = part;
    return tensor.clone(shape);
  }

  Value constant(Location loc, RankedTensorType type, TypedAttr element) {
    return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, row.kernel.getLoc(), value);
  }

  /// How many parts some access of the row has elements in: null where that is not known.
  void countParts() {
    Location loc = row.kernel.getLoc();
    Value begin, end;
    auto visit = [&](auto access, Type tile) {
      unsigned along = *RowKernel::longDim(tile, row.length);
      Value own = access.getIndex()[along];
      if (begin && begin != own && !(matchPattern(begin, m_Zero()) && matchPattern(own, m_Zero())))
        return false;
      begin = own;
      unsigned dim = unsigned(access.getArrayDim(along));
      if (auto known = end ? end.template getDefiningOp<DimOp>() : DimOp();
          known && row.areEqual(known.getArray(), known.getDim(), access.getArray(), dim))
        return true;
      Value size = DimOp::create(builder, loc, access.getArray(), dim);
      end = end ? arith::MaxSIOp::create(builder, loc, end, size).getResult() : size;
      return access.getElements() || matchPattern(own, m_Zero());
    };
    for (Operation &op : row.kernel.getBody().front()) {
      auto load = dyn_cast<LoadOp>(op);
      auto store = dyn_cast<StoreOp>(op);
      if ((load && row.isLong(&op) && !visit(load, load.getType())) ||
          (store && row.isLong(&op) && !visit(store, store.getValue().getType())))
        return;
    }
    if (!begin)
      return;
    Value count = arith::SubIOp::create(builder, loc, end, begin);
    count = arith::AddIOp::create(builder, loc, count, index(part - 1));
    count = arith::DivUIOp::create(builder, loc, count, index(part));
    count = arith::MinSIOp::create(builder, loc, count, index(row.length / part));
    numParts = arith::MaxSIOp::create(builder, loc, count, index(1));
  }

  /// What the elements of all parts behind the row are for `reduce`, if that changes nothing of
  /// what they are combined with, again and again; null otherwise.
  TypedAttr paddingOf(ReduceOp reduce) {
    TypedAttr neutral = neutralOf(reduce);
    TypedAttr element = neutral ? padding.of(reduce.getSources().front()) : TypedAttr();
    if (!element || isa<arith::MaximumFOp, arith::MinimumFOp>(combiningOp(reduce)))
      return element;
    auto real = dyn_cast<FloatAttr>(element);
    auto integer = dyn_cast<IntegerAttr>(element);
    bool isZero = real ? real.getValue().isZero() : integer && integer.getValue().isZero();
    return isZero ? element : TypedAttr();
  }

  /// What a reduction of a pass that goes over `parts` parts starts with.
  Value initialOf(ReduceOp reduce, Value source, bool endsEarly) {
    Location loc = reduce.getLoc();
    RankedTensorType type = partType(source.getType());
    TypedAttr neutral = neutralOf(reduce);
    if (!endsEarly)
      return constant(loc, type, neutral ? neutral : builder.getZeroAttr(type.getElementType()));
    Value isShort = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, numParts,
                                          index(row.length / part));
    Value first = arith::SelectOp::create(
        builder, loc, isShort, arith::ConstantOp::create(builder, loc, paddings.lookup(reduce)),
        arith::ConstantOp::create(builder, loc, neutral));
    return SplatOp::create(builder, loc, type, first);
  }

  void emitPass(unsigned pass) {
    SmallVector<Operation *> ours;
    SmallVector<Value> initial;
    Location loc = row.kernel.getLoc();
    for (Operation *sink : row.sinks)
      if (row.passes[sink] == pass)
        ours.push_back(sink);
    bool endsEarly = numParts && llvm::all_of(ours, [&](Operation *sink) {
                       return isa<StoreOp>(sink) || paddings.lookup(sink);
                     });
    for (Operation *sink : ours) {
      loc = sink->getLoc();
      if (auto reduce = dyn_cast<ReduceOp>(sink))
        for (Value source : reduce.getSources())
          initial.push_back(initialOf(reduce, source, endsEarly));
    }
    Value end = endsEarly ? numParts : index(row.length / part);
    auto loop = scf::ForOp::create(builder, loc, index(0), end, index(1), initial);
    builder.setInsertionPointToStart(loop.getBody());
    number = loop.getInductionVar();
    parts.clear();
    SmallVector<Value> next;
    auto carried = ValueRange(loop.getRegionIterArgs());
    for (Operation *sink : ours) {
      if (auto store = dyn_cast<StoreOp>(sink)) {
        emitStore(store);
        continue;
      }
      auto reduce = cast<ReduceOp>(sink);
      size_t count = reduce.getSources().size();
      llvm::append_range(next, combined(reduce, carried.take_front(count)));
      carried = carried.drop_front(count);
    }
    if (!next.empty())
      scf::YieldOp::create(builder, loc, next);
    builder.setInsertionPointAfter(loop);
    auto results = ValueRange(loop.getResults());
    for (Operation *sink : ours)
      if (auto reduce = dyn_cast<ReduceOp>(sink)) {
        size_t count = reduce.getSources().size();
        IRMapping mapping;
        mapping.map(reduce.getSources(), results.take_front(count));
        results = results.drop_front(count);
        Operation *last = builder.clone(*reduce, mapping);
        // An element stands for those of all parts: the first that is greatest may be any.
        last->removeAttr(argReductionAttr);
        reduce->replaceAllUsesWith(last->getResults());
      }
  }

  /// What is reduced so far, elementwise, with one part more. Where nothing is neutral, it is
  /// the first part alone at first.
  SmallVector<Value> combined(ReduceOp reduce, ValueRange before) {
    Location loc = reduce.getLoc();
    SmallVector<Value> sources;
    for (Value source : reduce.getSources())
      sources.push_back(partOf(source));
    IRMapping mapping;
    Block &combiner = reduce.getCombiner().front();
    mapping.map(combiner.getArguments().take_front(before.size()), before);
    mapping.map(combiner.getArguments().drop_front(before.size()), sources);
    auto shape = cast<RankedTensorType>(sources.front().getType());
    for (Operation &op : combiner.without_terminator()) {
      for (Value operand : op.getOperands())
        if (!mapping.contains(operand)) // from outside of the combiner
          mapping.map(operand, SplatOp::create(builder, loc, shape.clone(operand.getType()), operand));
      auto scalar = dyn_cast<arith::ConstantOp>(op);
      if (scalar) {
        mapping.map(scalar.getResult(), constant(loc, shape.clone(scalar.getType()), scalar.getValue()));
        continue;
      }
      Operation *copy = builder.clone(op, mapping);
      for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
        to.setType(shape.clone(from.getType()));
    }
    SmallVector<Value> result;
    for (Value value : combiner.getTerminator()->getOperands())
      result.push_back(mapping.lookup(value));
    if (neutralOf(reduce))
      return result;
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                          arith::ConstantIndexOp::create(builder, loc, 0));
    for (auto [value, source] : llvm::zip_equal(result, sources))
      value = arith::SelectOp::create(builder, loc, isFirst, source, value);
    return result;
  }

  /// The number of the part's first element.
  Value firstOfPart(Location loc) {
    return arith::MulIOp::create(builder, loc, number,
                                 arith::ConstantIndexOp::create(builder, loc, part));
  }

  /// The index of the part along a dim that counts tiles, or elements, of the row.
  SmallVector<Value> indexOfPart(Location loc, ValueRange index, unsigned dim, bool elements) {
    SmallVector<Value> result(index);
    Value &place = result[dim];
    if (elements)
      place = arith::AddIOp::create(builder, loc, place, firstOfPart(loc));
    else
      place = partIndex(builder, loc, place, row.length / part, number);
    return result;
  }

  void emitStore(StoreOp store) {
    Value value = partOf(store.getValue());
    unsigned dim = *RowKernel::longDim(store.getValue().getType(), row.length);
    SmallVector<Value> index =
        indexOfPart(store.getLoc(), store.getIndex(), dim, store.getElements());
    auto copy = cast<StoreOp>(builder.clone(*store));
    copy.getValueMutable().assign(value);
    copy.getIndexMutable().assign(index);
  }

  /// The part of a value that the iteration works on.
  Value partOf(Value value) {
    if (!row.isLong(value))
      return value;
    if (Value known = parts.lookup(value))
      return known;
    Value result = emitPart(value.getDefiningOp(), partType(value.getType()));
    parts[value] = result;
    return result;
  }

  Value emitPart(Operation *op, RankedTensorType type) {
    Location loc = op->getLoc();
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
      return constant(loc, type, cast<SplatElementsAttr>(constantOp.getValue()).getSplatValue<TypedAttr>());
    if (isa<IotaOp>(op))
      return emitPositions(loc, type);
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, partOf(operand));
    Operation *copy = builder.clone(*op, mapping);
    copy->getResult(0).setType(type);
    if (auto load = dyn_cast<LoadOp>(copy)) {
      builder.setInsertionPoint(copy);
      unsigned dim = *RowKernel::longDim(op->getResult(0).getType(), row.length);
      load.getIndexMutable().assign(
          indexOfPart(loc, cast<LoadOp>(op).getIndex(), dim, load.getElements()));
      builder.setInsertionPointAfter(copy);
    }
    return copy->getResult(0);
  }

  Value emitPositions(Location loc, RankedTensorType type) {
    Value own = IotaOp::create(builder, loc, type);
    Value first = firstOfPart(loc);
    if (!type.getElementType().isIndex())
      first = arith::IndexCastOp::create(builder, loc, type.getElementType(), first);
    return arith::AddIOp::create(builder, loc, SplatOp::create(builder, loc, type, first), own);
  }

  RowKernel &row;
  int64_t part;
  OpBuilder builder;
  RowPadding padding;
  DenseMap<Operation *, TypedAttr> paddings; ///< of reductions, before any is replaced
  Value numParts; ///< that the row has elements in; null: not known
  Value number;   ///< of the part
  DenseMap<Value, Value> parts;
};

struct StreamRows : tilec::impl::StreamRowsBase<StreamRows> {
  using StreamRowsBase::StreamRowsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!relies(kernel, BuildFact::Disjoint) || hasSites(kernel))
      return;
    RowKernel row(kernel);
    bool isWide = relies(kernel, BuildFact::Aligned16) || relies(kernel, BuildFact::WholePieces);
    if (!isTooLong(row))
      return;
    if (row.numPasses == 1 && !isWide) {
      remarkMissed(kernel, "stream-rows",
                   "a row of {0} elements is held in registers: going over it part by part pays "
                   "where it is loaded 16 bytes at a time",
                   row.length);
      return;
    }
    int64_t warps = numWarps ? int64_t(numWarps) : hintedNumWarps(kernel, chip);
    if (!warps) {
      warps = row.numPasses == 1 ? 8 : bytesOf(row) <= bytesOfSmallRow ? 16 : 32;
      kernel.setNumWarpsAttr(Builder(kernel.getContext()).getI32IntegerAttr(int32_t(warps)));
    }
    int64_t part = std::min(row.length / 2, partOfThread * 32 * warps);
    remarkChoice(kernel, "stream-rows",
                 "a row of {0} elements is gone over {1}, in {2} parts of {3}, by {4} warps",
                 row.length, row.numPasses == 1 ? "once" : std::to_string(row.numPasses) + " times",
                 row.length / part, part, warps);
    Streaming(row, part).run();
  }

private:
  /// Bytes of what a position loads again.
  static int64_t bytesOf(const RowKernel &row) {
    int64_t bytes = 0;
    row.kernel->walk([&](LoadOp load) {
      if (row.isLong(load.getResult()))
        bytes += row.length * storedBytes(getElementTypeOrSelf(load.getType()));
    });
    return bytes;
  }
};

} // namespace

bool tilec::isOfLongRows(KernelOp kernel) {
  RowKernel row(kernel);
  return !hasSites(kernel) && isTooLong(row) && row.numPasses > 1;
}

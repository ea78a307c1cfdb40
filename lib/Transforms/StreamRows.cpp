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
// argmax and argmin keep one pair a thread, not one for each element of a part: of what a thread
// has of a part the best is found first, in three instructions an element (ArgReductions.h).
//
//===------------------------------------------------------------------------===//
#include "StreamRows.h"

#include "AccessCost.h"
#include "ChooseWarps.h"
#include "RowParts.h"

#include "tilec/Tile/ArgReductions.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tilec {
#define GEN_PASS_DEF_STREAMROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// Elements of the shortest rows that are streamed: in several passes, and in one.
static constexpr int64_t shortestRow = 65536, shortestOnce = 32768;

/// Bytes that a thread loads at once.
static constexpr int64_t vectorBytes = 16;

/// Elements of a part that a thread has.
static constexpr int64_t partOfThread = 16;

/// Bytes of a row of which two are in the cache of a multiprocessor.
static constexpr int64_t bytesOfSmallRow = 131072;

/// Whether a kernel is one of rows that are gone over part by part; finds its passes.
static bool isTooLong(RowKernel &row) {
  return row.analyse() && row.length >= (row.numPasses > 1 ? shortestRow : shortestOnce);
}

namespace {

/// Writes each pass as a loop.
class Streaming : public RowParts {
public:
  /// Each of `threads` threads loads `neighbours` elements at once.
  Streaming(RowKernel &row, int64_t part, int64_t threads, int64_t neighbours)
      : RowParts(row, part), threads(threads), neighbours(neighbours) {}

  void run() {
    writePasses([&](ArrayRef<Operation *> sinks) { emitPass(sinks); });
  }

private:
  void emitPass(ArrayRef<Operation *> sinks) {
    SmallVector<Value> initial;
    Location loc = sinks.empty() ? row.kernel.getLoc() : sinks.back()->getLoc();
    bool endsEarly = mayEndEarly(sinks);
    for (Operation *sink : sinks)
      if (auto reduce = dyn_cast<ReduceOp>(sink))
        for (Value source : reduce.getSources())
          initial.push_back(initialOf(reduce, source, endsEarly));
    Value end = endsEarly ? numParts : index(row.length / part);
    auto loop = scf::ForOp::create(builder, loc, index(0), end, index(1), initial);
    builder.setInsertionPointToStart(loop.getBody());
    number = loop.getInductionVar();
    parts.clear();
    SmallVector<Value> next;
    auto carried = ValueRange(loop.getRegionIterArgs());
    for (Operation *sink : sinks) {
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
    for (Operation *sink : sinks)
      if (auto reduce = dyn_cast<ReduceOp>(sink)) {
        size_t count = reduce.getSources().size();
        finish(reduce, results.take_front(count));
        results = results.drop_front(count);
      }
  }

  /// What a reduction of a pass that goes over `parts` parts starts with.
  Value initialOf(ReduceOp reduce, Value source, bool endsEarly) {
    Location loc = reduce.getLoc();
    bool isPlace = reduce->hasAttr(argReductionAttr);
    RankedTensorType type = rowType(source.getType(), isPlace ? threads : part);
    TypedAttr neutral = neutralOf(reduce);
    if (!endsEarly || isPlace)
      return constant(loc, type, neutral ? neutral : builder.getZeroAttr(type.getElementType()));
    Value isShort = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, numParts,
                                          index(row.length / part));
    Value first = arith::SelectOp::create(
        builder, loc, isShort, arith::ConstantOp::create(builder, loc, paddings.lookup(reduce)),
        arith::ConstantOp::create(builder, loc, neutral));
    return SplatOp::create(builder, loc, type, first);
  }

  /// What is reduced so far with one part more. Where nothing is neutral, it is the first part
  /// alone at first.
  SmallVector<Value> combined(ReduceOp reduce, ValueRange before) {
    Location loc = reduce.getLoc();
    SmallVector<Value> sources = reduce->hasAttr(argReductionAttr) ? bestOfThreads(reduce)
                                                                   : partsOf(reduce.getSources());
    SmallVector<Value> result = combine(reduce, before, sources);
    if (neutralOf(reduce))
      return result;
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                          arith::ConstantIndexOp::create(builder, loc, 0));
    for (auto [value, source] : llvm::zip_equal(result, sources))
      value = arith::SelectOp::create(builder, loc, isFirst, source, value);
    return result;
  }

  /// The best of what each thread has of a part, and its place.
  SmallVector<Value> bestOfThreads(ReduceOp reduce) {
    Location loc = reduce.getLoc();
    SmallVector<int64_t> shape = {part / (threads * neighbours), threads, neighbours};
    Value values = reduce.getSources()[0], places = reduce.getSources()[1];
    auto ofShape = [&](Value tile) -> Value {
      return ReshapeOp::create(builder, loc,
                               RankedTensorType::get(shape, getElementTypeOrSelf(tile)), tile);
    };
    Type number = getElementTypeOrSelf(places);
    IRMapping mapping;
    mapping.map(values, ofShape(partOf(values)));
    mapping.map(places, ofShape(IotaOp::create(builder, loc, RankedTensorType::get(part, number))));
    auto best = cast<ReduceOp>(builder.clone(*reduce, mapping));
    best.setAxes({0, 2});
    for (Value result : best.getResults())
      result.setType(RankedTensorType::get(threads, getElementTypeOrSelf(result)));
    Value first = firstOfPart(loc);
    if (!number.isIndex())
      first = arith::IndexCastOp::create(builder, loc, number, first);
    Value place = best.getResult(1);
    first = SplatOp::create(builder, loc, cast<RankedTensorType>(place.getType()), first);
    place = arith::AddIOp::create(builder, loc, place, first);
    auto asRow = [&](Value tile, Value of) -> Value {
      return ReshapeOp::create(builder, loc, rowType(of.getType(), threads), tile);
    };
    return {asRow(best.getResult(0), values), asRow(place, places)};
  }

  int64_t threads, neighbours;
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
    Streaming(row, part, 32 * warps, isWide ? vectorBytes / narrowestOf(row) : 1).run();
  }

private:
  /// Bytes of the narrowest elements of the row that are loaded.
  static int64_t narrowestOf(const RowKernel &row) {
    int64_t bytes = vectorBytes;
    row.kernel->walk([&](LoadOp load) {
      if (row.isLong(load.getResult()))
        bytes = std::min(bytes, storedBytes(getElementTypeOrSelf(load.getType())));
    });
    return bytes;
  }

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

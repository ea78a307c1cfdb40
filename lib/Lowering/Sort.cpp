//===- Sort.cpp - sorting words, a bitonic network -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: `tile.sort` or `tgpu.sort` as ExpandSorts leaves them: unsigned words, or words and
// positions that decide between equal words; so nothing here is about stability, NaN or
// payloads. Out: Batcher's bitonic network. Stage s merges runs of 2^(s-1) elements to runs
// of 2^s, upwards where bit s of the position is clear, downwards where it is set, in
// steps over bits s-1 … 0 of the position: elements that differ in that bit are compared
// and exchanged. Runs that rise and then fall (SortRuns.h) need the last stage only. Where
// the bit lives says how elements meet:
//
//   register   both in the thread: halves of its vector
//   lane       a butterfly shuffle; each of the two keeps one
//   warp       through the scratch buffer
//
// Single words of up to 32 bits are inverted where their run goes down, once a stage: each
// step then keeps the lesser and the greater, two instructions a pair, and asks for no
// direction.
//
// Small networks are written out; then the directions of registers are constants. A tile of
// many registers is in memory (Pieces.cpp): a stage first exchanges pieces that differ in a
// bit of their numbers, pair by pair, and then does all steps within a piece, for each.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/SortRuns.h"
#include "tilec/Transforms/RolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

namespace tilec {

class SortEmitter {
public:
  SortEmitter(Emitter &emitter, const ScanPlan &plan, bool isDescending, bool areBitonic,
              Value scratch)
      : e(emitter), plan(plan), isDescending(isDescending), areBitonic(areBitonic),
        scratch(scratch) {}

  void run(SmallVector<Value> &values) {
    unsigned numBits = plan.bits.size();
    int64_t registers = cast<VectorType>(values[0].getType()).getNumElements();
    unsigned numSteps = areBitonic ? numBits : numBits * (numBits + 1) / 2;
    if (int64_t(numSteps) * registers > largestUnrolled)
      return loop(values);
    Value before;
    for (unsigned number = areBitonic ? numBits : 1; number <= numBits; ++number) {
      stage = e.i32(int64_t(1) << number);
      before = turn(values, before);
      for (unsigned bit = number; bit-- > 0;)
        step(values, bit);
    }
    invert(values, before);
  }

  /// Sorts `tiles`, which are in memory, in place; `plan` is of one piece.
  void runInPieces(ValueRange tiles, const ScanPieces &pieces);

private:
  /// Steps times registers beyond which stages are iterations of a loop.
  static constexpr int64_t largestUnrolled = 1024;

  void loop(SmallVector<Value> &values);
  /// Steps of a stage from the highest bit of `plan`, but for those that it does not have.
  void stepsOf(Value number, SmallVector<Value> &values);
  void stepBetweenPieces(ValueRange tiles, const ScanPieces &pieces, unsigned bit, Value row);
  Value hasStep(Value number, unsigned bit) {
    return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ugt, number, e.i32(bit));
  }
  Value bitOr(Value a, Value b) { return arith::OrIOp::create(e.builder, e.loc, a, b); }
  void step(SmallVector<Value> &values, unsigned bit) {
    if (plan.bits[bit].home == Input::Register)
      stepInThread(values, bit);
    else
      stepBetweenThreads(values, bit);
  }

  Value logical(Value a, Value b) { return arith::XOrIOp::create(e.builder, e.loc, a, b); }

  /// i1 for each of `registers`: the run of the stage that they are in goes down.
  Value goesDown(ArrayRef<int64_t> registers);
  Value goesDown(ValueRange values) {
    int64_t count = cast<VectorType>(values[0].getType()).getNumElements();
    return goesDown(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  /// Whether words are inverted where runs go down.
  static bool invertsWords(ValueRange values) {
    return values.size() == 1 &&
           cast<VectorType>(values[0].getType()).getElementTypeBitWidth() <= 32;
  }
  /// Inverts the words that `which` (i1 for each register; null: none) names.
  void invert(SmallVector<Value> &values, Value which);
  /// From words that are inverted where runs of the stage before went down (`before`; null:
  /// nowhere) to those of this stage, whose directions are the result; null: none are.
  Value turn(SmallVector<Value> &values, Value before);
  Value isLess(ValueRange left, ValueRange right);
  void stepInThread(SmallVector<Value> &values, unsigned bit);
  void stepBetweenThreads(SmallVector<Value> &values, unsigned bit);
  static int64_t threadMask(const ScanPlan::Bit &bit) {
    return int64_t(1) << (bit.bit + (bit.home == Input::Warp ? tile::laneBits : 0));
  }

  Emitter &e;
  const ScanPlan &plan;
  bool isDescending;
  bool areBitonic; ///< the last stage is enough
  bool isFirstExchange = true;
  Value scratch;
  Value stage; ///< i32: the bit of the position that tells runs of the stage apart
  Value base;  ///< i32: the position where the piece at hand begins; null: it is all
};

} // namespace tilec

/// Larger networks: one iteration a stage, which skips the steps that it does not have.
void SortEmitter::loop(SmallVector<Value> &values) {
  isFirstExchange = false;
  int64_t last = int64_t(plan.bits.size()), first = areBitonic ? last : 1;
  stage = e.i32(int64_t(1) << (first - 1));
  turn(values, {});
  auto stages = scf::ForOp::create(e.builder, e.loc, e.i32(first), e.i32(last + 1), e.i32(1),
                                   values);
  keepRolled(stages);
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(stages.getBody());
    SmallVector<Value> current(stages.getRegionIterArgs());
    Value number = stages.getInductionVar();
    Value before;
    if (invertsWords(current)) {
      stage = arith::ShLIOp::create(
          e.builder, e.loc, e.i32(1),
          arith::SubIOp::create(e.builder, e.loc, number, e.i32(1)));
      before = goesDown(current);
    }
    stage = arith::ShLIOp::create(e.builder, e.loc, e.i32(1), number);
    turn(current, before);
    stepsOf(number, current);
    scf::YieldOp::create(e.builder, e.loc, current);
  }
  values.assign(stages.getResults().begin(), stages.getResults().end());
  stage = e.i32(int64_t(1) << last);
  turn(values, {});
}

void SortEmitter::stepsOf(Value number, SmallVector<Value> &values) {
  for (unsigned bit = plan.bits.size(); bit-- > 0;) {
    auto branch = scf::IfOp::create(e.builder, e.loc, ValueRange(values).getTypes(),
                                    hasStep(number, bit), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard armGuard(e.builder);
    e.builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    scf::YieldOp::create(e.builder, e.loc, values);
    e.builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    step(values, bit);
    scf::YieldOp::create(e.builder, e.loc, values);
    values.assign(branch.getResults().begin(), branch.getResults().end());
  }
}

/// A loop over begin … end - 1; its body is long already.
static void emitLoop(OpBuilder &builder, Location loc, int64_t begin, int64_t end,
                     function_ref<void(Value)> body) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  auto loop = scf::ForOp::create(builder, loc, constant(begin), constant(end), constant(1));
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void SortEmitter::runInPieces(ValueRange tiles, const ScanPieces &pieces) {
  isFirstExchange = false;
  unsigned inner = plan.bits.size(), outer = pieces.along.size();
  auto each = [&](int64_t begin, int64_t end, function_ref<void(Value)> body) {
    emitLoop(e.builder, e.loc, begin, end, body);
  };
  each(0, int64_t(1) << pieces.beside.size(), [&](Value index) {
    Value row = emitLinear(e.builder, e.loc, index, pieces.beside);
    each(areBitonic ? inner + outer : 1, inner + outer + 1, [&](Value number) {
      stage = arith::ShLIOp::create(e.builder, e.loc, e.i32(1), number);
      for (unsigned bit = outer; bit-- > 0;) {
        auto branch = scf::IfOp::create(e.builder, e.loc, hasStep(number, inner + bit));
        OpBuilder::InsertionGuard guard(e.builder);
        e.builder.setInsertionPointToStart(&branch.getThenRegion().front());
        stepBetweenPieces(tiles, pieces, bit, row);
      }
      each(0, int64_t(1) << outer, [&](Value place) {
        base = arith::ShLIOp::create(e.builder, e.loc, place, e.i32(inner));
        Value at = bitOr(row, emitLinear(e.builder, e.loc, place, pieces.along));
        SmallVector<Value> values = e.getPieces(tiles, at);
        Value down = turn(values, {});
        stepsOf(number, values);
        invert(values, down);
        e.setPieces(tiles, values, at);
      });
    });
  });
}

/// Of each pair of pieces of `row` whose places differ in `bit`: the lesser elements to one,
/// the others to the other.
void SortEmitter::stepBetweenPieces(ValueRange tiles, const ScanPieces &pieces, unsigned bit,
                                    Value row) {
  emitLoop(e.builder, e.loc, 0, int64_t(1) << (pieces.along.size() - 1), [&](Value pair) {
    int64_t own = int64_t(1) << bit;
    Value below = arith::AndIOp::create(e.builder, e.loc, pair, e.i32(own - 1));
    Value above = arith::SubIOp::create(e.builder, e.loc, pair, below);
    Value place = bitOr(below, arith::ShLIOp::create(e.builder, e.loc, above, e.i32(1)));
    Value first = bitOr(row, emitLinear(e.builder, e.loc, place, pieces.along));
    Value second = bitOr(first, e.i32(int64_t(pieces.along[bit])));
    SmallVector<Value> low = e.getPieces(tiles, first), high = e.getPieces(tiles, second);
    // Runs of this stage are whole pieces.
    Value begin = arith::ShLIOp::create(e.builder, e.loc, place, e.i32(plan.bits.size()));
    Value down = arith::CmpIOp::create(
        e.builder, e.loc, isDescending ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
        arith::AndIOp::create(e.builder, e.loc, begin, stage), e.i32(0));
    int64_t count = cast<VectorType>(low[0].getType()).getNumElements();
    Value stays = logical(isLess(low, high), e.splat(down, count));
    for (auto [l, h] : llvm::zip_equal(low, high)) {
      Value lesser = arith::SelectOp::create(e.builder, e.loc, stays, l, h);
      h = arith::SelectOp::create(e.builder, e.loc, stays, h, l);
      l = lesser;
    }
    e.setPieces(tiles, low, first);
    e.setPieces(tiles, high, second);
  });
}

Value SortEmitter::goesDown(ArrayRef<int64_t> registers) {
  LinearBases threads(tile::laneBits + 5, 0);
  for (auto [index, bit] : llvm::enumerate(plan.bits))
    if (bit.home != Input::Register)
      threads[llvm::Log2_64(uint64_t(threadMask(bit)))] = uint64_t(1) << index;
  SmallVector<int32_t> positions;
  for (int64_t number : registers) {
    int32_t position = 0;
    for (auto [index, bit] : llvm::enumerate(plan.bits))
      if (bit.home == Input::Register && (number >> bit.bit & 1))
        position |= 1 << index;
    positions.push_back(position);
  }
  auto type = VectorType::get(int64_t(registers.size()), e.builder.getI32Type());
  Value position =
      arith::ConstantOp::create(e.builder, e.loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(positions)));
  Value own = emitLinear(e.builder, e.loc, e.thread, threads);
  if (base)
    own = bitOr(own, base);
  position = arith::OrIOp::create(e.builder, e.loc, position, e.splat(own, type.getNumElements()));
  Value bits = arith::AndIOp::create(e.builder, e.loc, position,
                                     e.splat(stage, type.getNumElements()));
  return arith::CmpIOp::create(e.builder, e.loc,
                               isDescending ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
                               bits, e.zero(type));
}

void SortEmitter::invert(SmallVector<Value> &values, Value which) {
  if (which)
    values[0] = logical(values[0], arith::ExtSIOp::create(e.builder, e.loc, values[0].getType(), which));
}

Value SortEmitter::turn(SmallVector<Value> &values, Value before) {
  if (!invertsWords(values))
    return {};
  Value down = goesDown(values);
  invert(values, before ? logical(before, down) : down);
  return down;
}

Value SortEmitter::isLess(ValueRange left, ValueRange right) {
  auto compare = [&](arith::CmpIPredicate predicate, unsigned source) -> Value {
    return arith::CmpIOp::create(e.builder, e.loc, predicate, left[source], right[source]);
  };
  Value less = compare(arith::CmpIPredicate::ult, 0);
  if (left.size() == 1)
    return less;
  Value tie = arith::AndIOp::create(e.builder, e.loc, compare(arith::CmpIPredicate::eq, 0),
                                    compare(arith::CmpIPredicate::ult, 1));
  return arith::OrIOp::create(e.builder, e.loc, less, tie);
}

void SortEmitter::stepInThread(SmallVector<Value> &values, unsigned bit) {
  int64_t own = int64_t(1) << plan.bits[bit].bit;
  int64_t count = cast<VectorType>(values[0].getType()).getNumElements();
  SmallVector<int64_t> lows, highs, merge(count);
  for (int64_t number = 0; number < count; ++number) {
    if (number & own)
      continue;
    merge[number] = int64_t(lows.size());
    merge[number | own] = int64_t(lows.size()) + count / 2;
    lows.push_back(number);
    highs.push_back(number | own);
  }
  SmallVector<Value> low, high;
  for (Value value : values) {
    low.push_back(emitShuffle(e.builder, e.loc, value, lows));
    high.push_back(emitShuffle(e.builder, e.loc, value, highs));
  }
  if (invertsWords(values)) {
    Value lesser = arith::MinUIOp::create(e.builder, e.loc, low[0], high[0]);
    Value greater = arith::MaxUIOp::create(e.builder, e.loc, low[0], high[0]);
    values[0] = vector::ShuffleOp::create(e.builder, e.loc, lesser, greater, merge);
    return;
  }
  Value stays = logical(isLess(low, high), goesDown(lows));
  for (auto [value, l, h] : llvm::zip_equal(values, low, high)) {
    Value first = arith::SelectOp::create(e.builder, e.loc, stays, l, h);
    Value second = arith::SelectOp::create(e.builder, e.loc, stays, h, l);
    value = vector::ShuffleOp::create(e.builder, e.loc, first, second, merge);
  }
}

void SortEmitter::stepBetweenThreads(SmallVector<Value> &values, unsigned bit) {
  const ScanPlan::Bit &home = plan.bits[bit];
  SmallVector<Value> others;
  if (home.home == Input::Lane) {
    for (Value value : values)
      others.push_back(e.shuffleButterfly(value, 1u << home.bit));
  } else {
    Value other = arith::XOrIOp::create(e.builder, e.loc, e.thread,
                                        e.i32(int64_t(1) << (home.bit + tile::laneBits)));
    for (ArrayRef<Value> read : e.readThreads(values, other, scratch, isFirstExchange))
      others.push_back(read[0]);
  }
  int64_t count = cast<VectorType>(values[0].getType()).getNumElements();
  Value isUpper = e.hasBits(e.thread, uint64_t(threadMask(home)), uint64_t(threadMask(home)));
  Value wantsLarger = e.splat(isUpper, count);
  if (!invertsWords(values))
    wantsLarger = logical(goesDown(values), wantsLarger);
  Value stays = logical(isLess(values, others), wantsLarger);
  for (auto [value, other] : llvm::zip_equal(values, others))
    value = arith::SelectOp::create(e.builder, e.loc, stays, value, other);
}

LogicalResult Emitter::emitSort(Operation *op, ValueRange sources, unsigned axis,
                                bool isDescending, Value scratch) {
  std::optional<ScanPlan> plan = planScan(tile::getLayout(sources.front()), axis);
  if (!plan || (plan->crossesWarps() && !scratch))
    return op->emitError("this sort needs shared memory: run --tile-stage-operands first");
  bool areWords = sources.size() <= 2 && llvm::all_of(sources, [](Value source) {
    return cast<RankedTensorType>(source.getType()).getElementType().isSignlessInteger();
  });
  if (!areWords)
    return op->emitError("this sort is not one of words: run --tile-expand-sorts first");
  bool areBitonic = op->hasAttr(tile::bitonicRunsAttr);
  std::optional<ScanPieces> pieces;
  if (needsPieces(sources))
    pieces = splitScan(*plan, pieceBits);
  if (pieces) {
    SmallVector<Value> temporary;
    bringAllToMemory(op, temporary);
    emitLoop(builder, loc, 0, int64_t(1) << (pieces->along.size() + pieces->beside.size()),
             [&](Value number) {
               setPieces(op->getResults(), getPieces(sources, number), number);
             });
    SortEmitter(*this, pieces->plan, isDescending, areBitonic, scratch)
        .runInPieces(op->getResults(), *pieces);
    for (Value value : temporary)
      localMemory.erase(value);
    return success();
  }
  SmallVector<Value> values =
      llvm::map_to_vector(sources, [&](Value source) { return get(source); });
  SortEmitter(*this, *plan, isDescending, areBitonic, scratch).run(values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    set(result, value);
  return success();
}

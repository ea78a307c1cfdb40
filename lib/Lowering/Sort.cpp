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
// and exchanged. Where the bit lives says how they meet:
//
//   register   both in the thread: halves of its vector
//   lane       a butterfly shuffle; each of the two keeps one
//   warp       through the scratch buffer
//
// Small networks are written out; then the directions of registers are constants.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

namespace tilec {

class SortEmitter {
public:
  SortEmitter(Emitter &emitter, const ScanPlan &plan, bool isDescending, Value scratch)
      : e(emitter), plan(plan), isDescending(isDescending), scratch(scratch) {}

  void run(SmallVector<Value> &values) {
    unsigned numBits = plan.bits.size();
    int64_t registers = cast<VectorType>(values[0].getType()).getNumElements();
    if (int64_t(numBits * (numBits + 1) / 2) * registers > largestUnrolled)
      return loop(values);
    for (unsigned number = 1; number <= numBits; ++number) {
      stage = e.i32(int64_t(1) << number);
      for (unsigned bit = number; bit-- > 0;)
        step(values, bit);
    }
  }

private:
  /// Steps times registers beyond which stages are iterations of a loop.
  static constexpr int64_t largestUnrolled = 1024;

  void loop(SmallVector<Value> &values);
  void step(SmallVector<Value> &values, unsigned bit) {
    if (plan.bits[bit].home == Input::Register)
      stepInThread(values, bit);
    else
      stepBetweenThreads(values, bit);
  }

  Value logical(Value a, Value b) { return arith::XOrIOp::create(e.builder, e.loc, a, b); }

  /// i1 for each of `registers`: the run of the stage that they are in goes down.
  Value goesDown(ArrayRef<int64_t> registers);
  Value isLess(ValueRange left, ValueRange right);
  void stepInThread(SmallVector<Value> &values, unsigned bit);
  void stepBetweenThreads(SmallVector<Value> &values, unsigned bit);
  static int64_t threadMask(const ScanPlan::Bit &bit) {
    return int64_t(1) << (bit.bit + (bit.home == Input::Warp ? tile::laneBits : 0));
  }

  Emitter &e;
  const ScanPlan &plan;
  bool isDescending, isFirstExchange = true;
  Value scratch;
  Value stage; ///< i32: the bit of the position that tells runs of the stage apart
};

} // namespace tilec

/// Larger networks: one iteration a stage, which skips the steps that it does not have.
void SortEmitter::loop(SmallVector<Value> &values) {
  isFirstExchange = false;
  auto stages = scf::ForOp::create(e.builder, e.loc, e.i32(1),
                                   e.i32(int64_t(plan.bits.size()) + 1), e.i32(1), values);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(stages.getBody());
  SmallVector<Value> current(stages.getRegionIterArgs());
  Value number = stages.getInductionVar();
  stage = arith::ShLIOp::create(e.builder, e.loc, e.i32(1), number);
  for (unsigned bit = plan.bits.size(); bit-- > 0;) {
    Value hasStep = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ugt, number,
                                          e.i32(bit));
    auto branch = scf::IfOp::create(e.builder, e.loc, ValueRange(values).getTypes(), hasStep,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard armGuard(e.builder);
    e.builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    scf::YieldOp::create(e.builder, e.loc, current);
    e.builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    step(current, bit);
    scf::YieldOp::create(e.builder, e.loc, current);
    current.assign(branch.getResults().begin(), branch.getResults().end());
  }
  scf::YieldOp::create(e.builder, e.loc, current);
  values.assign(stages.getResults().begin(), stages.getResults().end());
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
  position = arith::OrIOp::create(e.builder, e.loc, position, e.splat(own, type.getNumElements()));
  Value bits = arith::AndIOp::create(e.builder, e.loc, position,
                                     e.splat(stage, type.getNumElements()));
  return arith::CmpIOp::create(e.builder, e.loc,
                               isDescending ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
                               bits, e.zero(type));
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
  Value wantsLarger = logical(goesDown(llvm::to_vector(llvm::seq<int64_t>(0, count))),
                              e.splat(isUpper, count));
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
  SmallVector<Value> values =
      llvm::map_to_vector(sources, [&](Value source) { return get(source); });
  SortEmitter(*this, *plan, isDescending, scratch).run(values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    set(result, value);
  return success();
}

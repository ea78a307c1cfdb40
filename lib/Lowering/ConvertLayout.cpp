//===- ConvertLayout.cpp - elements change registers and lanes -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a vector in one layout. Out: the vector in another, by the plan of
// Layout/Conversion.h: renamed registers, or rounds of shuffles. Conversions that
// cross warps went through shared memory before (StageOperands).
//
// Shuffles move 32 bits: narrower elements are widened, wider ones are split.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Tile/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitConvertLayout(tile::ConvertLayoutOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<Value> value =
      convert(op, get(op.getSource()), tile::getLayout(op.getSource()),
              tile::getLayout(type), type.getElementType());
  if (failed(value))
    return failure();
  set(op, *value);
  return success();
}

FailureOr<Value> Emitter::convert(Operation *op, Value value, const Layout &source,
                                  const Layout &destination, Type elementType) {
  unsigned bits = unsigned(tgpu::BufferType::storedBytes(elementType)) * 8;
  Conversion conversion = planConversion(source, destination, bits);
  switch (conversion.kind) {
  case ConversionKind::None:
    return value;
  case ConversionKind::Registers: {
    SmallVector<int64_t> indices;
    for (uint64_t number = 0; number < destination.size(Input::Register); ++number)
      indices.push_back(int64_t(conversion.sourceRegister(number)));
    return emitShuffle(builder, loc, value, indices);
  }
  case ConversionKind::Shuffle:
    remarkMissed(op, "lower-to-simt", "{0} changes its layout by shuffles, {1} a thread",
                 spell(RankedTensorType::get(destination.shape(), elementType)), conversion.shuffle.rounds.size());
    return emitShuffleRounds(value, conversion,
                             unsigned(destination.size(Input::Register)));
  case ConversionKind::Shared:
    break;
  }
  op->emitError("a conversion between warps has no buffer in shared memory");
  return failure();
}

//===------------------------------------------------------------------------===//
// Rounds of shuffles
//===------------------------------------------------------------------------===//

/// All values that XORs of `bases` take.
static SmallVector<uint64_t> spannedValues(ArrayRef<uint64_t> bases) {
  std::set<uint64_t> values = {0};
  for (uint64_t basis : bases) {
    std::set<uint64_t> more;
    for (uint64_t value : values)
      more.insert(value ^ basis);
    values.merge(more);
  }
  return SmallVector<uint64_t>(values.begin(), values.end());
}

Value Emitter::emitShuffleRounds(Value value, const Conversion &conversion,
                                 unsigned numResults) {
  const ShufflePlan &plan = conversion.shuffle;
  auto joined = [](ArrayRef<uint64_t> lanes, ArrayRef<uint64_t> warps) {
    LinearBases bases(lanes);
    llvm::append_range(bases, warps);
    return bases;
  };
  LinearBases shownBases = joined(plan.laneToShown, plan.warpToShown);
  LinearBases filledBases(plan.laneToFilled.begin(), plan.laneToFilled.end());
  SmallVector<uint64_t> shownValues = spannedValues(shownBases);
  SmallVector<uint64_t> filledValues = spannedValues(filledBases);
  Value shownChoice, filledChoice, giver;
  if (!plan.isShownConstant())
    shownChoice = emitLinear(builder, loc, thread, shownBases);
  if (!plan.isFilledConstant())
    filledChoice = emitLinear(builder, loc, lane(), filledBases);
  if (!plan.isButterfly())
    giver = emitLinear(builder, loc, thread, joined(plan.laneToGiver, plan.warpToGiver));
  auto isChoice = [&](Value choice, uint64_t number) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, choice,
                                 i32(int64_t(number)));
  };

  SmallVector<Value> results(numResults);
  for (const ShufflePlan::Round &round : plan.rounds) {
    Value shown = extract(value, int64_t(round.shownRegister));
    for (uint64_t choice : ArrayRef(shownValues).drop_front())
      shown = arith::SelectOp::create(builder, loc, isChoice(shownChoice, choice),
                                      extract(value, int64_t(round.shownRegister ^ choice)),
                                      shown);
    Value received = shown;
    if (!plan.isButterfly())
      received = shuffleIndex(
          shown, arith::XOrIOp::create(builder, loc, giver, i32(int64_t(round.giverLane))));
    else if (round.giverLane)
      received = shuffleButterfly(shown, unsigned(round.giverLane));
    for (uint64_t choice : filledValues) {
      Value &result = results[round.filledRegister ^ choice];
      // What other lanes fill later may hold anything now.
      result = !result || !filledChoice
                   ? received
                   : arith::SelectOp::create(builder, loc, isChoice(filledChoice, choice),
                                             received, result)
                         .getResult();
    }
  }
  for (auto [copy, original] : plan.copies)
    results[copy] = results[original];
  return fromElements(results);
}

//===------------------------------------------------------------------------===//
// Shuffles of any type
//===------------------------------------------------------------------------===//

Value Emitter::shuffleIndex(Value value, Value fromLane) {
  return shuffleElements(value, [&](Value bits) -> Value {
    return NVVM::ShflOp::create(builder, loc, bits.getType(), i32(-1), bits, fromLane,
                                i32(31), NVVM::ShflKind::idx, UnitAttr());
  });
}

Value Emitter::shuffleButterfly(Value value, unsigned mask) {
  return shuffleElements(value, [&](Value bits) -> Value {
    return NVVM::ShflOp::create(builder, loc, bits.getType(), i32(-1), bits, i32(mask),
                                i32(31), NVVM::ShflKind::bfly, UnitAttr());
  });
}

/// Packs narrow elements, so that one shuffle moves up to four.
Value Emitter::shuffleElements(Value value, function_ref<Value(Value)> shuffle32) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return shuffleScalar(value, shuffle32);
  Type element = type.getElementType();
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  int64_t count = type.getNumElements();
  if (bits >= 8 && bits < 32 && count % (32 / bits) == 0) {
    auto packed = VectorType::get(count * bits / 32, builder.getI32Type());
    Value words = vector::BitCastOp::create(builder, loc, packed, value);
    words = shuffleElements(words, shuffle32);
    return vector::BitCastOp::create(builder, loc, type, words);
  }
  SmallVector<Value> results;
  for (int64_t index = 0; index < count; ++index)
    results.push_back(shuffleScalar(extract(value, index), shuffle32));
  return fromElements(results);
}

Value Emitter::shuffleScalar(Value value, function_ref<Value(Value)> shuffle32) {
  Type type = value.getType();
  if (type.isIndex()) {
    Value moved = shuffleScalar(toI64(value), shuffle32);
    return arith::IndexCastOp::create(builder, loc, type, moved);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    Type integer = builder.getIntegerType(bits);
    Value moved =
        shuffleScalar(arith::BitcastOp::create(builder, loc, integer, value), shuffle32);
    return arith::BitcastOp::create(builder, loc, type, moved);
  }
  Type i32Type = builder.getI32Type();
  if (bits == 32)
    return shuffle32(value);
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(builder, loc, i32Type, value);
    return arith::TruncIOp::create(builder, loc, type, shuffle32(wide));
  }
  Value low = arith::TruncIOp::create(builder, loc, i32Type, value);
  Value high = arith::TruncIOp::create(
      builder, loc, i32Type, arith::ShRUIOp::create(builder, loc, value, i64(32)));
  low = arith::ExtUIOp::create(builder, loc, type, shuffle32(low));
  high = arith::ExtUIOp::create(builder, loc, type, shuffle32(high));
  high = arith::ShLIOp::create(builder, loc, high, i64(32));
  return arith::OrIOp::create(builder, loc, high, low);
}

//===------------------------------------------------------------------------===//
// Between warps
//===------------------------------------------------------------------------===//

namespace {
/// Up to 16 bytes of a value that a thread shows to others.
struct Piece {
  unsigned value;
  SmallVector<int64_t> elements;
  int64_t bytes, offset;
};
} // namespace

/// Each thread has a slot of its own, so that writers do not meet in a bank; the slots of a
/// warp are numbered from its own number on (by exclusive or), so that neither do lanes that
/// read one lane of each warp. What does not fit goes in rounds.
SmallVector<SmallVector<Value>> Emitter::readThreads(ValueRange values, ValueRange others,
                                                     Value scratch, bool &isFirst) {
  int64_t capacity = cast<tgpu::BufferType>(scratch.getType()).getBytes();
  SmallVector<SmallVector<Piece>> rounds(1);
  int64_t used = 0;
  for (auto [index, value] : llvm::enumerate(values)) {
    auto type = cast<VectorType>(value.getType());
    int64_t bytes = tgpu::BufferType::storedBytes(type.getElementType());
    int64_t width = std::min<int64_t>(type.getNumElements(), 16 / bytes);
    for (int64_t first = 0; first < type.getNumElements(); first += width) {
      used = int64_t(llvm::alignTo(uint64_t(used), uint64_t(width * bytes)));
      if (used + width * bytes * numThreads() > capacity) {
        rounds.emplace_back();
        used = 0;
      }
      rounds.back().push_back({unsigned(index),
                               llvm::to_vector(llvm::seq<int64_t>(first, first + width)),
                               width * bytes, used});
      used += width * bytes * numThreads();
    }
  }

  auto addressOf = [&](const Piece &piece, Value thread) -> Value {
    Value warp = arith::ShRUIOp::create(builder, loc, thread, i32(tile::laneBits));
    Value slot = arith::XOrIOp::create(builder, loc, thread, warp);
    Value offset = arith::MulIOp::create(builder, loc, slot, i32(piece.bytes));
    offset = arith::AddIOp::create(builder, loc, offset, i32(piece.offset));
    Value base = get(scratch);
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  SmallVector<SmallVector<SmallVector<Value>>> elements(
      values.size(), SmallVector<SmallVector<Value>>(others.size()));
  for (ArrayRef<Piece> round : rounds) {
    if (!isFirst)
      (void)emitBarrier();
    isFirst = false;
    auto elementOf = [&](const Piece &piece) {
      return cast<VectorType>(values[piece.value].getType()).getElementType();
    };
    for (const Piece &piece : round) {
      Value shown = emitToStored(builder, loc,
                                 emitShuffle(builder, loc, values[piece.value], piece.elements),
                                 elementOf(piece));
      LLVM::StoreOp::create(builder, loc, shown, addressOf(piece, thread), unsigned(piece.bytes));
    }
    (void)emitBarrier();
    for (const Piece &piece : round)
      for (auto [index, other] : llvm::enumerate(others)) {
        auto type = VectorType::get(int64_t(piece.elements.size()), storedType(elementOf(piece)));
        Value loaded = LLVM::LoadOp::create(builder, loc, type, addressOf(piece, other),
                                            unsigned(piece.bytes));
        Value read = emitFromStored(builder, loc, loaded, elementOf(piece));
        for (int64_t i = 0; i < type.getNumElements(); ++i)
          elements[piece.value][index].push_back(extract(read, i));
      }
  }
  SmallVector<SmallVector<Value>> results(values.size());
  for (auto [result, lists] : llvm::zip_equal(results, elements))
    for (ArrayRef<Value> list : lists)
      result.push_back(fromElements(list));
  return results;
}

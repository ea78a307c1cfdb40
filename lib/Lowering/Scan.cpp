//===- Scan.cpp - combining the elements before each -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: `tile.scan`, or `tgpu.scan` where warps share the axis. Out: the scan, level by
// level from the lowest bits of the position along the axis. A level is a run of bits
// that live alike:
//
//   registers   one combination after the other
//   lanes       log steps: lanes with the bit set take in the last of the half below
//   warps       totals through the scratch buffer; lanes fetch one each and do the same
//
// A level turns totals of blocks into totals of larger blocks, and into what comes
// before each block in its larger one. These prefixes are joined from the top down,
// and each element is combined once with what is before its thread's registers.
//
//   positions  [registers 0-3][lanes 0-31][warps 0-3][registers, high]
//
// There is no identity: a prefix may be missing, known or by a condition of the thread.
// Operands keep their order, and every thread combines alike, so copies are equal.
// `reverse` mirrors the numbering of positions.
//
// A tile of many registers is scanned piece by piece (Pieces.cpp), in a loop that carries
// what all pieces before come to.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/ScanPlan.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Transforms/RolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

using namespace mlir;
using namespace tilec;

namespace tilec {

class ScanEmitter {
public:
  /// One vector per source, over the registers beside the axis.
  using Tuple = SmallVector<Value>;
  struct Prefix {
    Tuple values;       ///< empty: there is none
    Value condition;    ///< i1; null: always there
  };

  ScanEmitter(Emitter &emitter, Region &combiner, const ScanPlan &plan, bool isReverse,
              Value scratch)
      : e(emitter), combiner(combiner), plan(plan), isReverse(isReverse), scratch(scratch) {}

  /// `elements` by register, after `first`; nullopt after an error. Sets `whole`, if given,
  /// to what all come to.
  std::optional<SmallVector<Value>> run(ValueRange sources, const Prefix &first,
                                        bool isExclusive, Tuple *whole = nullptr);

private:
  struct Level {
    unsigned registerBits = 0; ///< blocks that one larger block has in the thread
    SmallVector<Prefix> before;
  };

  Tuple combine(const Tuple &left, const Tuple &right) {
    if (failedOnce)
      return right;
    auto result = e.emitCombine(combiner, left, right);
    failedOnce = failed(result);
    return failedOnce ? right : *result;
  }
  Tuple select(Value condition, const Tuple &a, const Tuple &b) {
    Tuple result;
    for (auto [x, y] : llvm::zip_equal(a, b))
      result.push_back(arith::SelectOp::create(e.builder, e.loc, condition, x, y));
    return result;
  }
  Prefix join(const Prefix &left, const Prefix &right);

  int64_t beside() const { return int64_t(1) << plan.keptRegisters.size(); }
  SmallVector<int64_t> registersAt(uint64_t position);
  void scanRegisters(unsigned numBits);
  void scanLanes(ArrayRef<unsigned> bits, bool isLast);
  void scanWarps(ArrayRef<unsigned> bits);

  /// A run of lanes, numbered along the axis.
  struct Lanes {
    Value rank;
    SmallVector<Value> givers, isUpper; ///< one a step
    std::function<Value(Value)> at;     ///< rank → number of the lane
  };
  Lanes makeLanes(ArrayRef<unsigned> bits, bool isMirrored);
  /// Of each lane, with those of the lanes below it.
  Tuple sumOfLanes(const Lanes &lanes, Tuple sum);
  SmallVector<SmallVector<Tuple>> totalsOf(ValueRange others);
  Value isNotFirst(Value rank);
  Value previous(Value rank);

  Tuple shuffle(const Tuple &tuple, Value lane) {
    return llvm::map_to_vector<4>(tuple, [&](Value v) { return e.shuffleIndex(v, lane); });
  }

  Emitter &e;
  Region &combiner;
  const ScanPlan &plan;
  bool isReverse, failedOnce = false, isFirstExchange = true;
  Value scratch;
  int64_t lanesBelow = 0;    ///< lane bits of the blocks so far
  SmallVector<Tuple> totals; ///< of the blocks so far, by the registers above them
  SmallVector<Tuple> inclusive;
  SmallVector<Level> levels;
};

} // namespace tilec

ScanEmitter::Prefix ScanEmitter::join(const Prefix &left, const Prefix &right) {
  if (left.values.empty())
    return right;
  if (right.values.empty())
    return left;
  Prefix result{combine(left.values, right.values), {}};
  if (right.condition)
    result.values = select(right.condition, result.values, left.values);
  if (!left.condition)
    return result;
  result.values = select(left.condition, result.values, right.values);
  if (right.condition)
    result.condition =
        arith::OrIOp::create(e.builder, e.loc, left.condition, right.condition);
  return result;
}

/// The registers, over those beside the axis, at a position of the thread's registers.
SmallVector<int64_t> ScanEmitter::registersAt(uint64_t position) {
  uint64_t fixed = 0;
  for (const ScanPlan::Bit &bit : plan.bits) {
    if (bit.home != Input::Register)
      continue;
    if (bool(position & 1) != isReverse)
      fixed |= uint64_t(1) << bit.bit;
    position >>= 1;
  }
  SmallVector<int64_t> registers;
  for (int64_t kept = 0; kept < beside(); ++kept) {
    uint64_t number = fixed;
    for (auto [index, bit] : llvm::enumerate(plan.keptRegisters))
      number |= uint64_t(kept >> index & 1) << bit;
    registers.push_back(int64_t(number));
  }
  return registers;
}

void ScanEmitter::scanRegisters(unsigned numBits) {
  Level level{numBits, {}};
  SmallVector<Tuple> larger, sums;
  size_t count = size_t(1) << numBits;
  for (size_t block = 0; block < totals.size(); ++block) {
    bool isFirst = block % count == 0;
    level.before.push_back(isFirst ? Prefix() : Prefix{sums.back(), {}});
    sums.push_back(isFirst ? totals[block] : combine(sums.back(), totals[block]));
    if (block % count == count - 1)
      larger.push_back(sums.back());
  }
  if (levels.empty())
    inclusive = sums;
  totals = larger;
  levels.push_back(std::move(level));
}

/// Number of a lane or warp → position along the axis, and back, over the run's bits.
static std::pair<LinearBases, LinearBases> rankBases(ArrayRef<unsigned> bits, unsigned size) {
  LinearBases ranks(size, 0), numbers;
  for (auto [index, bit] : llvm::enumerate(bits)) {
    ranks[bit] = uint64_t(1) << index;
    numbers.push_back(uint64_t(1) << bit);
  }
  return {ranks, numbers};
}

ScanEmitter::Lanes ScanEmitter::makeLanes(ArrayRef<unsigned> bits, bool isMirrored) {
  auto [ranks, numbers] = rankBases(bits, tile::laneBits);
  int64_t mask = int64_t(reachableBits(numbers)), mirror = isMirrored ? mask : 0;
  auto bitOr = [&](Value a, int64_t b) -> Value {
    return arith::OrIOp::create(e.builder, e.loc, a, e.i32(b));
  };
  auto bitAnd = [&](Value a, int64_t b) -> Value {
    return arith::AndIOp::create(e.builder, e.loc, a, e.i32(b));
  };
  auto mirrored = [this, mirror = mirror](Value lane) -> Value {
    return mirror ? arith::XOrIOp::create(e.builder, e.loc, lane, e.i32(mirror)).getResult() : lane;
  };
  // Lanes are numbered along the axis from here on, but for `mirrored`.
  Value lane = mirrored(e.lane());
  Lanes lanes;
  lanes.rank = emitLinear(e.builder, e.loc, lane, ranks);
  int64_t below = 0;
  for (unsigned bit : bits) {
    int64_t own = int64_t(1) << bit;
    lanes.givers.push_back(mirrored(bitAnd(bitOr(lane, below), 31 & ~own)));
    lanes.isUpper.push_back(e.hasBits(lane, own, own));
    below |= own;
  }
  Value others = bitAnd(lane, 31 & ~mask);
  lanes.at = [this, numbers = numbers, others, mirrored](Value rank) {
    Value lane = emitLinear(e.builder, e.loc, rank, numbers);
    return mirrored(arith::OrIOp::create(e.builder, e.loc, others, lane));
  };
  return lanes;
}

ScanEmitter::Tuple ScanEmitter::sumOfLanes(const Lanes &lanes, Tuple sum) {
  for (auto [giver, upper] : llvm::zip_equal(lanes.givers, lanes.isUpper))
    sum = select(upper, combine(shuffle(sum, giver), sum), sum);
  return sum;
}

Value ScanEmitter::isNotFirst(Value rank) {
  return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ne, rank, e.i32(0));
}

Value ScanEmitter::previous(Value rank) {
  return arith::AddIOp::create(e.builder, e.loc, rank, e.i32(-1));
}

void ScanEmitter::scanLanes(ArrayRef<unsigned> bits, bool isLast) {
  Lanes lanes = makeLanes(bits, isReverse);
  Value before = lanes.at(previous(lanes.rank)), last = lanes.at(e.i32((1 << bits.size()) - 1));
  Value hasPrevious = isNotFirst(lanes.rank);
  Level level;
  for (Tuple &total : totals) {
    Tuple sum = sumOfLanes(lanes, total);
    level.before.push_back({shuffle(sum, before), hasPrevious});
    if (!isLast)
      total = shuffle(sum, last);
  }
  for (unsigned bit : bits)
    lanesBelow |= int64_t(1) << bit;
  levels.push_back(std::move(level));
}

/// What `others` (i32 thread numbers) have as totals: [other][block].
SmallVector<SmallVector<ScanEmitter::Tuple>> ScanEmitter::totalsOf(ValueRange others) {
  // One vector for each source, so that accesses are wide.
  SmallVector<Value> shown;
  for (size_t source = 0; source < totals.front().size(); ++source) {
    SmallVector<Value> elements;
    for (const Tuple &total : totals)
      for (int64_t kept = 0; kept < beside(); ++kept)
        elements.push_back(e.extract(total[source], kept));
    shown.push_back(e.fromElements(elements));
  }
  auto seen = e.readThreads(shown, others, scratch, isFirstExchange);
  SmallVector<SmallVector<Tuple>> result(others.size());
  for (size_t other = 0; other < others.size(); ++other)
    for (size_t block = 0; block < totals.size(); ++block) {
      int64_t first = int64_t(block) * beside();
      auto places = llvm::to_vector(llvm::seq<int64_t>(first, first + beside()));
      result[other].push_back(llvm::map_to_vector<4>(seen, [&](ArrayRef<Value> source) {
        return emitShuffle(e.builder, e.loc, source[other], places);
      }));
    }
  return result;
}

/// Lanes that have the same totals each fetch those of one warp, if there are enough of
/// them: warps are then scanned as lanes are. Else each thread combines all warps.
void ScanEmitter::scanWarps(ArrayRef<unsigned> bits) {
  SmallVector<unsigned> inThread = llvm::map_to_vector(bits, [](unsigned bit) {
    return bit + tile::laneBits;
  });
  auto [ranks, numbers] = rankBases(inThread, 32);
  int64_t mask = int64_t(reachableBits(numbers)), mirror = isReverse ? mask : 0;
  Value rank = emitLinear(
      e.builder, e.loc,
      arith::XOrIOp::create(e.builder, e.loc, e.thread, e.i32(mirror)), ranks);
  // Where the lanes of a block have the same totals they read one place.
  Value rest = arith::AndIOp::create(e.builder, e.loc, e.thread, e.i32(~(mask | lanesBelow)));
  auto threadOf = [&, numbers = numbers](Value warp) -> Value {
    Value number = emitLinear(e.builder, e.loc, warp, numbers);
    number = arith::XOrIOp::create(e.builder, e.loc, number, e.i32(mirror));
    return arith::OrIOp::create(e.builder, e.loc, rest, number);
  };
  Level level;
  Value hasPrevious = isNotFirst(rank);
  int64_t count = int64_t(1) << bits.size();
  SmallVector<unsigned> free;
  for (unsigned bit = 0; bit < tile::laneBits && free.size() < bits.size(); ++bit)
    if (lanesBelow >> bit & 1)
      free.push_back(bit);
  if (count > 2 && free.size() == bits.size()) {
    Lanes lanes = makeLanes(free, /*isMirrored=*/false);
    Value before = lanes.at(previous(rank)), last = lanes.at(e.i32(count - 1));
    SmallVector<Tuple> read = totalsOf(threadOf(lanes.rank))[0];
    for (auto [total, own] : llvm::zip_equal(totals, read)) {
      Tuple sum = sumOfLanes(lanes, own);
      level.before.push_back({shuffle(sum, before), hasPrevious});
      total = shuffle(sum, last);
    }
  } else {
    SmallVector<Value> others;
    for (int64_t warp = 0; warp < count; ++warp)
      others.push_back(threadOf(e.i32(warp)));
    SmallVector<SmallVector<Tuple>> read = totalsOf(others);
    for (size_t block = 0; block < totals.size(); ++block) {
      Tuple sum = read[0][block], before = sum;
      for (int64_t warp = 1; warp < count; ++warp) {
        Value isOwn = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq, rank,
                                            e.i32(warp));
        before = warp > 1 ? select(isOwn, sum, before) : before;
        sum = combine(sum, read[warp][block]);
      }
      level.before.push_back({before, hasPrevious});
      totals[block] = sum;
    }
  }
  levels.push_back(std::move(level));
}

std::optional<SmallVector<Value>> ScanEmitter::run(ValueRange sources, const Prefix &first,
                                                   bool isExclusive, Tuple *whole) {
  isFirstExchange = !whole;
  unsigned axisBits = 0;
  for (const ScanPlan::Bit &bit : plan.bits)
    axisBits += bit.home == Input::Register;
  for (uint64_t position = 0; position < uint64_t(1) << axisBits; ++position) {
    SmallVector<int64_t> registers = registersAt(position);
    totals.push_back(llvm::map_to_vector<4>(sources, [&](Value source) {
      return emitShuffle(e.builder, e.loc, source, registers);
    }));
  }

  // The lowest level is always one of registers, maybe of a single one.
  if (plan.bits.empty() || plan.bits.front().home != Input::Register)
    scanRegisters(0);
  for (size_t i = 0; i < plan.bits.size();) {
    Input home = plan.bits[i].home;
    SmallVector<unsigned> run;
    while (i < plan.bits.size() && plan.bits[i].home == home)
      run.push_back(plan.bits[i++].bit);
    if (home == Input::Register)
      scanRegisters(unsigned(run.size()));
    else if (home == Input::Lane)
      scanLanes(run, /*isLast=*/i == plan.bits.size() && !whole);
    else
      scanWarps(run);
  }

  if (whole)
    *whole = join(first, {totals.front(), {}}).values;
  SmallVector<Prefix> before = {first};
  for (size_t index = levels.size(); index-- > (isExclusive ? 0 : 1);) {
    SmallVector<Prefix> next;
    for (auto [block, prefix] : llvm::enumerate(levels[index].before))
      next.push_back(join(before[block >> levels[index].registerBits], prefix));
    before = std::move(next);
  }

  SmallVector<SmallVector<Value>> elements(
      sources.size(), SmallVector<Value>(size_t(beside()) << axisBits));
  for (uint64_t position = 0; position < uint64_t(1) << axisBits; ++position) {
    Tuple result = isExclusive ? before[position].values
                               : join(before[position >> levels[0].registerBits],
                                      {inclusive[position], {}})
                                     .values;
    for (auto [source, value] : llvm::enumerate(result))
      for (auto [kept, number] : llvm::enumerate(registersAt(position)))
        elements[source][number] = e.extract(value, int64_t(kept));
  }
  if (failedOnce)
    return std::nullopt;
  return llvm::map_to_vector<6>(elements, [&](ArrayRef<Value> list) {
    return e.fromElements(list);
  });
}

/// Beside the axis pieces stand alone; along it each takes in those before.
LogicalResult Emitter::emitScanInPieces(Operation *op, Region &combiner, ValueRange sources,
                                        ValueRange inits, const ScanPieces &pieces,
                                        bool isReverse, Value scratch) {
  SmallVector<Value> temporary;
  bringAllToMemory(op, temporary);
  int64_t width = int64_t(1) << pieces.plan.keptRegisters.size();
  ScanEmitter::Tuple start;
  for (auto [index, source] : llvm::enumerate(sources)) {
    Type element = registerType(cast<RankedTensorType>(source.getType()).getElementType());
    start.push_back(inits.empty() ? zero(VectorType::get(width, element))
                                  : splat(get(inits[index]), width));
  }
  OpBuilder::InsertionGuard guard(builder);
  auto rows = scf::ForOp::create(builder, loc, i32(0), i32(int64_t(1) << pieces.beside.size()), i32(1));
  keepRolled(rows);
  builder.setInsertionPointToStart(rows.getBody());
  int64_t count = int64_t(1) << pieces.along.size();
  auto loop = scf::ForOp::create(builder, loc, i32(0), i32(count), i32(1), start);
  keepRolled(loop);
  builder.setInsertionPointToStart(loop.getBody());
  Value turn = loop.getInductionVar();
  Value place = isReverse ? arith::XOrIOp::create(builder, loc, turn, i32(count - 1)) : turn;
  Value number = arith::OrIOp::create(
      builder, loc, emitLinear(builder, loc, place, pieces.along),
      emitLinear(builder, loc, rows.getInductionVar(), pieces.beside));
  ScanEmitter::Prefix first{llvm::to_vector_of<Value>(loop.getRegionIterArgs()), {}};
  if (inits.empty())
    first.condition =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, turn, i32(0));
  ScanEmitter::Tuple whole;
  auto results = ScanEmitter(*this, combiner, pieces.plan, isReverse, scratch)
                     .run(getPieces(sources, number), first, !inits.empty(), &whole);
  if (!results)
    return failure();
  setPieces(op->getResults(), *results, number);
  scf::YieldOp::create(builder, loc, whole);
  for (Value value : temporary)
    localMemory.erase(value);
  return success();
}

LogicalResult Emitter::emitScan(Operation *op, Region &combiner, ValueRange sources,
                                ValueRange inits, unsigned axis, bool isReverse,
                                Value scratch) {
  std::optional<ScanPlan> plan = planScan(tile::getLayout(sources.front()), axis);
  if (!plan || (plan->crossesWarps() && !scratch))
    return op->emitError("this scan needs shared memory: run --tile-stage-operands first");
  if (needsPieces(sources))
    if (std::optional<ScanPieces> pieces = splitScan(*plan, pieceBits))
      return emitScanInPieces(op, combiner, sources, inits, *pieces, isReverse, scratch);
  ScanEmitter::Prefix first;
  for (Value init : inits)
    first.values.push_back(splat(get(init), int64_t(1) << plan->keptRegisters.size()));
  auto values = llvm::map_to_vector<4>(sources, [&](Value value) { return get(value); });
  auto results = ScanEmitter(*this, combiner, *plan, isReverse, scratch)
                     .run(values, first, /*isExclusive=*/!inits.empty());
  if (!results)
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    set(result, value);
  return success();
}

//===- Reduce.cpp - combining the elements along axes ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: `tile.reduce` whose axes do not cross warps, or `tgpu.warp_reduce`. Out: first a
// tree over the thread's registers, halving the vector once per register bit along the
// axes; then one butterfly shuffle per lane bit. What several warps have is combined
// by StageOperands' exchange through shared memory, as a reduction over registers.
//
//   vector<8xf32>  --bit 0-->  vector<4xf32>  --bit 1-->  vector<2xf32>
//                  --lane bit 3: v + shfl.bfly(v, 8)-->  …
//
// The combiner is inlined on whole vectors when it is made of elementwise operations,
// else once for each element.
//
// argmax and argmin (ArgReductions.h) do not combine pairs in registers:
//
//   %m = the greatest of %x0 … %x7
//   %i = %x0 == %m ? %p0 : %x1 == %m ? %p1 …         or, where %m is NaN, the first NaN
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/ReductionPlan.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/ArgReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// The combiner
//===------------------------------------------------------------------------===//

static bool isVectorizable(Region &combiner) {
  return llvm::all_of(combiner.front().without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 &&
           (OpTrait::hasElementwiseMappableTraits(&op) ||
            isa<arith::ArithDialect, math::MathDialect>(op.getDialect()));
  });
}

/// One operation that gives the same bits whichever operand comes first.
static bool isSymmetric(Region &combiner) {
  Block &block = combiner.front();
  return llvm::hasSingleElement(block.without_terminator()) &&
         block.front().hasTrait<OpTrait::IsCommutative>();
}

FailureOr<SmallVector<Value>> Emitter::inlineCombiner(Region &combiner, ValueRange left,
                                                      ValueRange right) {
  Block &block = combiner.front();
  SmallVector<Value> inputs(left);
  llvm::append_range(inputs, right);
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), inputs))
    map.map(argument, input);
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(emitOperation(&op)))
      return failure();
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value));
  return results;
}

FailureOr<SmallVector<Value>> Emitter::emitCombine(Region &combiner, ValueRange left,
                                                   ValueRange right) {
  Location outerLoc = loc;
  int64_t outerWidth = regionWidth;
  llvm::scope_exit restore([&] {
    loc = outerLoc;
    regionWidth = outerWidth;
  });
  int64_t count = cast<VectorType>(left.front().getType()).getNumElements();
  if (isVectorizable(combiner)) {
    regionWidth = count;
    return inlineCombiner(combiner, left, right);
  }
  regionWidth = 0;
  SmallVector<SmallVector<Value>> elements(left.size());
  for (int64_t index = 0; index < count; ++index) {
    SmallVector<Value> leftTuple, rightTuple;
    for (auto [l, r] : llvm::zip_equal(left, right)) {
      leftTuple.push_back(extract(l, index));
      rightTuple.push_back(extract(r, index));
    }
    FailureOr<SmallVector<Value>> tuple = inlineCombiner(combiner, leftTuple, rightTuple);
    if (failed(tuple))
      return failure();
    for (auto [list, value] : llvm::zip_equal(elements, *tuple))
      list.push_back(value);
  }
  SmallVector<Value> results;
  for (SmallVector<Value> &list : elements)
    results.push_back(fromElements(list));
  return results;
}

//===------------------------------------------------------------------------===//
// The place of the greatest
//===------------------------------------------------------------------------===//

namespace {

/// Of what one thread holds: the greatest (or least) value and the first place that has it.
class PlaceFinder {
public:
  PlaceFinder(OpBuilder &builder, Location loc, StringRef sought, ValueRange tuple)
      : b(builder), loc(loc), sought(sought), type(tuple[0].getType()),
        values(vector::ToElementsOp::create(b, loc, tuple[0]).getResults()),
        places(vector::ToElementsOp::create(b, loc, tuple[1]).getResults()) {
    if (isShort())
      for (Value &value : values)
        value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  }

  /// Of the elements of these numbers, by ascending place.
  std::pair<Value, Value> find(ArrayRef<int64_t> numbers) {
    SmallVector<Value> level;
    for (int64_t number : numbers)
      level.push_back(values[number]);
    for (; level.size() > 1; level.resize(level.size() / 2))
      for (size_t i = 0; i < level.size() / 2; ++i)
        level[i] = better(level[2 * i], level[2 * i + 1]);
    Value best = level.front(), result = best;
    if (isShort())
      result = arith::TruncFOp::create(b, loc, elementType(), best);
    auto isBest = [&](Value value) -> Value {
      if (isFloat())
        return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, best);
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, best);
    };
    Value place = firstOf(numbers, isBest);
    if (!isFloat())
      return {result, place};
    auto isNaN = [&](Value value) -> Value {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    };
    auto branch = scf::IfOp::create(
        b, loc, isNaN(best),
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, firstOf(numbers, isNaN)); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, place); });
    return {result, branch.getResult(0)};
  }

private:
  Type elementType() const { return cast<VectorType>(type).getElementType(); }
  bool isFloat() const { return isa<FloatType>(elementType()); }
  /// 16 bits, which are compared as f32.
  bool isShort() const { return isFloat() && elementType().getIntOrFloatBitWidth() < 32; }

  Value better(Value x, Value y) {
    bool isMax = sought.ends_with("max");
    if (isFloat())
      return isMax ? arith::MaximumFOp::create(b, loc, x, y).getResult()
                   : arith::MinimumFOp::create(b, loc, x, y).getResult();
    if (sought.starts_with("u"))
      return isMax ? arith::MaxUIOp::create(b, loc, x, y).getResult()
                   : arith::MinUIOp::create(b, loc, x, y).getResult();
    return isMax ? arith::MaxSIOp::create(b, loc, x, y).getResult()
                 : arith::MinSIOp::create(b, loc, x, y).getResult();
  }

  /// The first place of which `holds`, in chains of some length each.
  Value firstOf(ArrayRef<int64_t> numbers, llvm::function_ref<Value(Value)> holds) {
    constexpr size_t chain = 8;
    Value result;
    for (; !numbers.empty(); numbers = numbers.drop_front(std::min(chain, numbers.size()))) {
      Value place = emitI32(b, loc, INT32_MAX);
      for (int64_t number : llvm::reverse(numbers.take_front(chain)))
        place = arith::SelectOp::create(b, loc, holds(values[number]), places[number], place);
      result = result ? arith::MinSIOp::create(b, loc, result, place).getResult() : place;
    }
    return result;
  }

  OpBuilder &b;
  Location loc;
  StringRef sought;
  Type type;
  SmallVector<Value> values, places;
};

} // namespace

/// log2 of how many elements a thread may hold, and a block: it needs them twice, and of more it
/// would spill those that wait.
static constexpr unsigned mostPlaceBits = 6, mostBlockBits = 15;

/// The registers of `values` reduced along `axes`, to one for each place along other dims.
static SmallVector<Value> findPlaces(OpBuilder &builder, Location loc, StringRef sought,
                                     ValueRange values, const Layout &layout,
                                     const ReductionPlan &plan, ArrayRef<int64_t> axes) {
  auto numberOf = [](ArrayRef<unsigned> bits, uint64_t index) {
    int64_t number = 0;
    for (auto [position, bit] : llvm::enumerate(bits))
      number |= int64_t(index >> position & 1) << bit;
    return number;
  };
  auto placeOf = [&](int64_t number) {
    uint64_t flat = layout.applyFlat(Position::thread(uint64_t(number), 0)), place = 0;
    for (int64_t axis : axes)
      place = place * uint64_t(layout.shape()[axis]) + layout.field(flat, unsigned(axis));
    return place;
  };
  PlaceFinder finder(builder, loc, sought, values);
  SmallVector<Value> bests, places;
  for (uint64_t kept = 0; kept < uint64_t(1) << plan.keptRegisters.size(); ++kept) {
    SmallVector<int64_t> numbers;
    for (uint64_t along = 0; along < uint64_t(1) << plan.axisRegisters.size(); ++along)
      numbers.push_back(numberOf(plan.keptRegisters, kept) + numberOf(plan.axisRegisters, along));
    llvm::sort(numbers, [&](int64_t x, int64_t y) { return placeOf(x) < placeOf(y); });
    auto [best, place] = finder.find(numbers);
    bests.push_back(best);
    places.push_back(place);
  }
  auto listOf = [&](ArrayRef<Value> list) -> Value {
    auto type = VectorType::get(int64_t(list.size()), list.front().getType());
    return vector::FromElementsOp::create(builder, loc, type, list);
  };
  return {listOf(bests), listOf(places)};
}

//===------------------------------------------------------------------------===//
// The reduction
//===------------------------------------------------------------------------===//

/// Numbers below 1 << numBits with bit `bit` equal to `value`.
static SmallVector<int64_t> halfOf(unsigned numBits, unsigned bit, bool value) {
  SmallVector<int64_t> numbers;
  for (int64_t number = 0; number < int64_t(1) << numBits; ++number)
    if (bool(number >> bit & 1) == value)
      numbers.push_back(number);
  return numbers;
}

LogicalResult Emitter::emitReduce(Operation *op, Region &combiner, ArrayRef<int64_t> axes) {
  Layout layout = tile::getLayout(op->getOperand(0));
  bool isWarpReduce = isa<tgpu::WarpReduceOp>(op);
  std::optional<ReductionPlan> plan = planReduction(layout, axes);
  if (!plan || (!isWarpReduce && plan->crossesWarps()))
    return op->emitError("this reduction needs shared memory: run "
                         "--tile-stage-operands first");
  SmallVector<Value> values;
  unsigned numBits = layout.numBits(Input::Register);
  if (auto combined = combinePieces(op, combiner, plan->axisRegisters)) {
    values = *combined;
    numBits = llvm::Log2_64(cast<VectorType>(values.front().getType()).getNumElements());
  } else {
    for (Value source : op->getOperands())
      values.push_back(get(source));
    auto sought = op->getAttrOfType<StringAttr>(tile::argReductionAttr);
    if (sought && !plan->axisRegisters.empty() && numBits <= mostPlaceBits &&
        numBits + llvm::Log2_32(numThreads()) <= mostBlockBits) {
      values = findPlaces(builder, loc, sought, values, layout, *plan, axes);
      numBits = 0;
    }
  }

  // Registers, the highest bit first, so that the lower ones keep their places.
  for (unsigned bit = numBits; bit-- > 0;) {
    if (llvm::is_contained(plan->keptRegisters, bit))
      continue;
    bool isAxis = llvm::is_contained(plan->axisRegisters, bit);
    SmallVector<Value> low, high;
    for (Value value : values) {
      low.push_back(emitShuffle(builder, loc, value, halfOf(numBits, bit, false)));
      if (isAxis)
        high.push_back(emitShuffle(builder, loc, value, halfOf(numBits, bit, true)));
    }
    --numBits;
    values = low; // a redundant bit: copies are dropped
    if (!isAxis)
      continue;
    FailureOr<SmallVector<Value>> combined = emitCombine(combiner, low, high);
    if (failed(combined))
      return failure();
    values = *combined;
  }
  for (unsigned bit : plan->axisLanes) {
    SmallVector<Value> others;
    for (Value value : values)
      others.push_back(shuffleButterfly(value, 1u << bit));
    SmallVector<Value> left = values, right = others;
    if (!isSymmetric(combiner)) {
      // Both lanes put the same operand first, or their copies would round apart.
      Value isUpper = hasBits(thread, 1u << bit, 1u << bit);
      for (auto [l, r] : llvm::zip_equal(left, right)) {
        Value own = l;
        l = arith::SelectOp::create(builder, loc, isUpper, r, own);
        r = arith::SelectOp::create(builder, loc, isUpper, own, r);
      }
    }
    FailureOr<SmallVector<Value>> combined = emitCombine(combiner, left, right);
    if (failed(combined))
      return failure();
    values = *combined;
  }

  const Layout &natural = isWarpReduce ? plan->partial : plan->result;
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      set(result, extract(value, 0));
      continue;
    }
    FailureOr<Value> placed =
        convert(op, value, natural, tile::getLayout(type), type.getElementType());
    if (failed(placed))
      return failure();
    set(result, *placed);
  }
  return success();
}

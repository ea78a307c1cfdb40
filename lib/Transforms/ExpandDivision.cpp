//===- ExpandDivision.cpp - many quotients by one divisor ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: `arith.divf` on vectors of f32 where four lanes or more have one divisor, as a
// row of a tile has that is divided by its sum. Out: one reciprocal a row and three
// instructions a quotient instead of ten, with the same bits:
//
//   y = 1 / b                   once, rounded to nearest
//   q = a y                     within 1.5 ulp
//   r = b q - a                 exact by fma
//   a / b = q - r y             rounded once: a / b rounded to nearest
//
// That the last line holds is known by trying all 2^46 pairs of mantissas, as exponents
// do not matter where nothing leaves the range of normal numbers. So b must lie in
// [2^-25, 2^25], and each a in [2^-100, 2^100] by magnitude or be zero; b is positive,
// for the sign of 0 / b. One branch a vector asks, and without that all of the vector
// is divided as usual, in a loop. The question is asked twice, first with half an instruction a
// lane: exponents in [-63, 0] are those whose highest bits are 01, so that one "or"
// and one "and" over the vector tell. Only then lane by lane. Of powers, ExpandMath has
// asked already, but for those that are known to be at most 1 (BoundPowers): there one
// unsigned minimum of the bits less 1 tells whether all are zero or at least 2^-100. So a
// row that ends in padding of -inf, whose powers are zeros, is divided as any other.
//
// Powers that are divided by their sum (`tile.share`) are zero or in [2^-46, 2^106], and their
// sums, of 2^20 at most, in [2^106, 2^126] or NaN: no question. (A subnormal quotient may be off in its last bit.)
//
// A division marked `arcp`, and nothing else, is one whose divisor is known to lie in
// [1, 2] and whose dividend is at most 1, as in sigmoid: six instructions and no question.
// (Dividends below 2^-100 may then be off in the last bit of a subnormal quotient.)
// One marked `afn` and `arcp` may be approximate, and has a divisor of at least 1: a
// reciprocal and a multiplication, 1.5 ulp, and 0 where the divisor is above 2^126. One that is
// only `afn`, in code under `fast`, is that as well where lanes share the divisor: of an attention's
// 64 quotients by two sums the assembler makes five instructions each.
//===----------------------------------------------------------------------===//

#include "HelperCalls.h"
#include "MathBuilder.h"
#include "tilec/Transforms/RolledLoop.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace tilec {
#define GEN_PASS_DEF_EXPANDDIVISION
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Below this a reciprocal and its tests cost more than they save.
constexpr size_t minLanes = 4;

/// One scalar: a value, or a lane of a vector.
struct Source {
  Value value;
  int64_t lane = 0;
  auto key() const { return std::make_pair(value.getAsOpaquePointer(), lane); }
};

/// What lane `lane` of a vector is a copy of. Looks through what lowering spreads
/// values with.
Source sourceOf(Value vector, int64_t lane) {
  for (;;) {
    if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>()) {
      auto from = dyn_cast<VectorType>(broadcast.getSource().getType());
      if (!from)
        return {broadcast.getSource(), 0};
      if (from.getNumElements() != 1 || from.getRank() != 1)
        return {vector, lane};
      vector = broadcast.getSource(), lane = 0;
    } else if (auto shuffle = vector.getDefiningOp<vector::ShuffleOp>()) {
      int64_t from = shuffle.getMask()[lane];
      int64_t first = shuffle.getV1VectorType().getNumElements();
      if (from < 0 || shuffle.getV1VectorType().getRank() != 1)
        return {vector, lane};
      vector = from < first ? shuffle.getV1() : shuffle.getV2();
      lane = from < first ? from : from - first;
    } else if (auto elements = vector.getDefiningOp<vector::FromElementsOp>()) {
      return {elements.getElements()[lane], 0};
    } else {
      return {vector, lane};
    }
  }
}

class Division {
public:
  Division(arith::DivFOp op)
      : op(op), type(dyn_cast<VectorType>(op.getType())), builder(op), loc(op.getLoc()) {}

  /// Whether whoever made the division promised a divisor in [1, 2].
  static bool isOfKnownRange(arith::DivFOp op) {
    return op.getFastmath() == arith::FastMathFlags::arcp;
  }

  /// The same of a divisor of at least 1, and an approximate quotient.
  static bool isApproximate(arith::DivFOp op) {
    return op.getFastmath() == (arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
  }

  /// The same of any divisor.
  static bool isFast(arith::DivFOp op) {
    return op.getFastmath() == arith::FastMathFlags::afn;
  }

  /// Whether it divides powers by their sum.
  static bool isShare(arith::DivFOp op) { return op->hasAttr(shareAttrName); }

  /// Replaces the operation where that pays.
  void run() {
    if (isApproximate(op))
      return finish(approximate(op.getLhs(), op.getRhs()));
    if (isOfKnownRange(op))
      return finish(corrected(op.getLhs(), op.getRhs(), reciprocal(op.getRhs())));
    llvm::MapVector<std::pair<const void *, int64_t>, SmallVector<int64_t>> groups;
    DenseMap<std::pair<const void *, int64_t>, Source> sources;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
      Source source = sourceOf(op.getRhs(), lane);
      if (source.value.getDefiningOp<arith::ConstantOp>())
        return; // of constants, LLVM knows more
      groups[source.key()].push_back(lane);
      sources[source.key()] = source;
    }
    for (auto &[key, lanes] : groups)
      if (lanes.size() < minLanes) {
        if (isShare(op))
          finish(quotients(op.getLhs(), op.getRhs()));
        return;
      }
    if (groups.size() == 1)
      return finish(quotients(op.getLhs(), scalar(sources[groups.front().first])));

    SmallVector<Value> elements(type.getNumElements());
    for (auto &[key, lanes] : groups) {
      Value part = vector::ShuffleOp::create(builder, loc, op.getLhs(), op.getLhs(), lanes);
      Value result = quotients(part, scalar(sources[key]));
      for (auto [index, lane] : llvm::enumerate(lanes))
        elements[lane] = element(result, index);
    }
    finish(vector::FromElementsOp::create(builder, loc, type, elements));
  }

private:
  void finish(Value result) {
    op.replaceAllUsesWith(result);
    op.erase();
  }
  Value element(Value vector, int64_t lane) {
    return vector::ExtractOp::create(builder, loc, vector, lane);
  }
  Value scalar(Source source) {
    return isa<VectorType>(source.value.getType()) ? element(source.value, source.lane)
                                                   : source.value;
  }

  Value quotients(Value a, Value b) {
    if (isFast(op))
      return approximate(a, b);
    if (isShare(op))
      return corrected(a, b, reciprocal(b));
    MathBuilder s(builder, loc, b.getType());
    Value divisorFits = s.both(s.ge(b, s.f(0x1p-25)), s.le(b, s.f(0x1p25)));
    Operation *source = a.getDefiningOp();
    Value fits = source && source->hasAttr(atMostOneAttrName)
                     ? s.both(divisorFits, areZeroOrSafe(s, a))
                     : fitsInSteps(s, divisorFits, a);
    auto choice = scf::IfOp::create(builder, loc, a.getType(), fits, true);
    yieldIn(choice.thenBlock(), [&] { return corrected(a, b, reciprocal(b)); });
    yieldIn(choice.elseBlock(), [&] {
      return emitRolled(builder, loc, a, /*lanes=*/1, [&](Value part) -> Value {
        return arith::DivFOp::create(builder, loc, part, spread(b, part.getType()));
      });
    });
    return choice.getResult(0);
  }

  /// Asked first with half an instruction a lane.
  Value fitsInSteps(MathBuilder &s, Value divisorFits, Value a) {
    Value ordinary = ordinaryLanes(a);
    Value common = s.both(divisorFits, ordinary ? ordinary : commonExponents(s, a));
    auto fits = scf::IfOp::create(builder, loc, builder.getI1Type(), common, true);
    yieldIn(fits.thenBlock(), [&] { return constantTrue(); });
    yieldIn(fits.elseBlock(), [&] { return s.both(divisorFits, safeExponents(a)); });
    return fits.getResult(0);
  }

  template <typename Make> void yieldIn(Block *block, Make make) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    Value value = make();
    scf::YieldOp::create(builder, loc, value);
  }
  Value constantTrue() { return arith::ConstantIntOp::create(builder, loc, 1, 1); }
  Value spread(Value x, Type type) {
    return x.getType() == type ? x : vector::BroadcastOp::create(builder, loc, type, x);
  }

  /// 1 / b, rounded to nearest: one step from what the chip gives, which is off by an
  /// ulp at most. Right for all mantissas, again by trying them.
  Value reciprocal(Value b) {
    MathBuilder s(builder, loc, b.getType());
    Value y = approximateReciprocal(b);
    Value rest = s.fma(s.neg(b), y, s.one());
    return s.fma(rest, y, y);
  }

  Value approximateReciprocal(Value b) {
    MathBuilder s(builder, loc, b.getType());
    return HelperCalls(op->getParentOfType<ModuleOp>(), s).call("tilec.rcp.approx.ftz.f32", b);
  }

  Value approximate(Value a, Value b) {
    return MathBuilder(builder, loc, a.getType())
        .mul(a, spread(approximateReciprocal(b), a.getType()));
  }

  Value corrected(Value a, Value b, Value reciprocal) {
    MathBuilder m(builder, loc, a.getType());
    Value y = spread(reciprocal, a.getType());
    Value q = m.mul(a, y);
    // The signs are such that 0 and -0 stay what they are.
    Value r = m.fma(spread(b, a.getType()), q, m.neg(a));
    return m.fma(r, m.neg(y), q);
  }

  /// The condition that all lanes are in the range, where one was asked when they were
  /// computed; or null.
  Value ordinaryLanes(Value a) {
    auto choice = a.getDefiningOp<scf::IfOp>();
    return choice && choice->hasAttr(ordinaryAttrName) ? choice.getCondition() : Value();
  }

  /// Whether 2^-63 <= |x| < 2 for all elements.
  Value commonExponents(MathBuilder &s, Value a) {
    Value any, all;
    for (int64_t lane = 0; lane < cast<VectorType>(a.getType()).getNumElements(); ++lane) {
      Value bits = s.bits(element(a, lane));
      any = lane ? s.ior(any, bits) : bits;
      all = lane ? s.iand(all, bits) : bits;
    }
    Value high = s.ior(s.iand(any, s.i(0x40000000)), s.iand(all, s.i(0x20000000)));
    return s.ieq(high, s.i(0x20000000));
  }

  /// Whether x = 0 or 2^-100 <= x for all elements, which lie in [0, 1] or are NaN. Less 1,
  /// zero is the greatest of unsigned numbers; a sum and a minimum are one instruction.
  Value areZeroOrSafe(MathBuilder &s, Value a) {
    constexpr int64_t numChains = 4;
    Value least[numChains];
    for (int64_t lane = 0; lane < cast<VectorType>(a.getType()).getNumElements(); ++lane) {
      Value lessOne = s.iadd(s.bits(element(a, lane)), s.i(-1));
      Value &chain = least[lane % numChains];
      chain = chain ? s.umin(lessOne, chain) : lessOne;
    }
    for (int64_t chain = 1; chain < numChains; ++chain)
      if (least[chain])
        least[0] = s.umin(least[0], least[chain]);
    return s.uge(least[0], s.i(0x0D7FFFFF)); // the bits of 2^-100, less 1
  }

  /// Whether 2^-100 <= |x| <= 2^100 or x = 0 for all elements: their bits are ordered like
  /// numbers, and one less than those of 0 is the largest.
  Value safeExponents(Value a) {
    MathBuilder s(builder, loc, builder.getF32Type());
    Value most, least;
    for (int64_t lane = 0; lane < cast<VectorType>(a.getType()).getNumElements(); ++lane) {
      Value size = s.iand(s.bits(element(a, lane)), s.i(0x7fffffff));
      Value less = s.isub(size, s.i(1));
      most = lane ? s.umax(most, size) : size;
      least = lane ? s.umin(least, less) : less;
    }
    Value smallest = s.isub(s.bits(s.f(0x1p-100)), s.i(1));
    return s.both(s.uge(s.bits(s.f(0x1p100)), most), s.uge(least, smallest));
  }

  arith::DivFOp op;
  VectorType type;
  OpBuilder builder;
  Location loc;
};

struct ExpandDivision : tilec::impl::ExpandDivisionBase<ExpandDivision> {
  void runOnOperation() override {
    SmallVector<arith::DivFOp> worklist;
    getOperation()->walk([&](arith::DivFOp op) {
      auto type = dyn_cast<VectorType>(op.getType());
      bool isExact = op.getFastmath() == arith::FastMathFlags::none;
      if (getElementTypeOrSelf(op.getType()).isF32() &&
          (Division::isOfKnownRange(op) || Division::isApproximate(op) ||
           (type && type.getRank() == 1 && (isExact || Division::isFast(op)))))
        worklist.push_back(op);
    });
    for (arith::DivFOp op : worklist)
      Division(op).run();
  }
};

} // namespace

//===- IndexTileFacts.cpp - what is known of tiles of indices --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Questions are answered by walking definitions: an iota counts, a splat and a
// stretched dim are constant, sums of the two count from elsewhere, conversions of
// integers and changes of shape keep both. Groups are aligned powers of two no longer
// than 16, so integers that wrap do so between groups.
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexTileFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;
using arith::CmpIPredicate;

static constexpr int64_t vectorBytes = 16;

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

std::optional<int64_t> tilec::splatConstant(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    attr = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  auto integer = dyn_cast_or_null<IntegerAttr>(attr);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return integer.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue())
                                        : integer.getValue().getSExtValue();
}

/// Conversions between integer types: element by element, modulo a power of two.
static bool isIntegerConversion(Operation *op) {
  auto isWide = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() || (element.isInteger() && !element.isInteger(1));
  };
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp, CastOp>(op) &&
         isWide(op->getOperand(0).getType()) && isWide(op->getResult(0).getType());
}

/// Through an operation that moves elements without changing them: the source, and the
/// dim along which it is to be asked. No dim: the source is constant along it.
struct Source {
  Value tile;
  std::optional<unsigned> dim;
};
static std::optional<Source> movedFrom(Operation *op, unsigned dim) {
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return Source{convert.getSource(), dim};
  if (auto permute = dyn_cast<PermuteOp>(op))
    return Source{permute.getSource(), unsigned(permute.getDims()[dim])};
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    bool isStretched = getTileShape(broadcast.getSource().getType())[dim] !=
                       getTileShape(broadcast.getType())[dim];
    return Source{broadcast.getSource(), isStretched ? std::nullopt : std::optional(dim)};
  }
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return std::nullopt;
  // Dims of one element come and go; the others keep their order.
  auto wide = [](ArrayRef<int64_t> shape) {
    SmallVector<unsigned> dims;
    for (unsigned i = 0; i < shape.size(); ++i)
      if (shape[i] != 1)
        dims.push_back(i);
    return dims;
  };
  ArrayRef<int64_t> from = getTileShape(reshape.getSource().getType());
  ArrayRef<int64_t> to = getTileShape(reshape.getType());
  SmallVector<unsigned> wideFrom = wide(from), wideTo = wide(to);
  if (wideFrom.size() != wideTo.size())
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [a, b] : llvm::zip_equal(wideFrom, wideTo)) {
    if (from[a] != to[b])
      return std::nullopt;
    if (b == dim)
      found = a;
  }
  return Source{reshape.getSource(), found};
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && isPure(op) && op->getNumRegions() == 0;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

bool IndexTileFacts::isConstant(Value tile, unsigned dim, int64_t length,
                                unsigned depth) const {
  if (length == 1 || !isa<RankedTensorType>(tile.getType()) || splatConstant(tile))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > maxDepth)
    return false;
  if (isa<SplatOp>(op))
    return true;
  if (std::optional<Source> source = movedFrom(op, dim))
    return !source->dim || isConstant(source->tile, *source->dim, length, depth + 1);
  if (auto compare = dyn_cast<arith::CmpIOp>(op);
      compare && isEvenComparison(compare, dim, length, depth + 1))
    return true;
  return isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isConstant(operand, dim, length, depth + 1);
         });
}

bool IndexTileFacts::isCounting(Value tile, unsigned dim, int64_t length,
                                unsigned depth) const {
  if (length == 1)
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > maxDepth || !isa<RankedTensorType>(tile.getType()))
    return false;
  if (isa<IotaOp>(op))
    return true;
  if (std::optional<Source> source = movedFrom(op, dim))
    return source->dim && isCounting(source->tile, *source->dim, length, depth + 1);
  if (isIntegerConversion(op))
    return isCounting(op->getOperand(0), dim, length, depth + 1);
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return false;
  auto startsAnew = [&](Value counting, Value added) {
    return isCounting(counting, dim, length, depth + 1) &&
           isConstant(added, dim, length, depth + 1) && isMultiple(added, length, depth + 1);
  };
  return startsAnew(op->getOperand(0), op->getOperand(1)) ||
         (isa<arith::AddIOp>(op) && startsAnew(op->getOperand(1), op->getOperand(0)));
}

bool IndexTileFacts::isMultiple(Value tile, int64_t length, unsigned depth) const {
  if (length == 1)
    return true;
  if (std::optional<int64_t> constant = splatConstant(tile))
    return *constant % length == 0;
  if (!isa<RankedTensorType>(tile.getType()))
    return facts.multipleOf(tile) % length == 0;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > maxDepth)
    return false;
  auto of = [&](unsigned operand) {
    return isMultiple(op->getOperand(operand), length, depth + 1);
  };
  if (isa<SplatOp, BroadcastOp, ReshapeOp, PermuteOp, ConvertLayoutOp>(op) ||
      isIntegerConversion(op))
    return of(0);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return of(0) && of(1);
  return isa<arith::MulIOp>(op) && (of(0) || of(1));
}

bool IndexTileFacts::isEvenComparison(arith::CmpIOp op, unsigned dim, int64_t length,
                                      unsigned depth) const {
  Value left = op.getLhs(), right = op.getRhs();
  CmpIPredicate predicate = op.getPredicate();
  bool leftCounts = predicate == CmpIPredicate::slt || predicate == CmpIPredicate::sge;
  bool rightCounts = predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sle;
  if (rightCounts)
    std::swap(left, right);
  return (leftCounts || rightCounts) && isCounting(left, dim, length, depth) &&
         isConstant(right, dim, length, depth) && isMultiple(right, length, depth);
}

IndexTileFacts::Run IndexTileFacts::findRun(Value array, ValueRange index, Value mask,
                                            bool lastInBounds) const {
  auto type = cast<ArrayType>(array.getType());
  auto tile = dyn_cast<RankedTensorType>(index.front().getType());
  if (!tile || type.isStrided())
    return {};
  Type element = type.getElementType();
  unsigned bits = element.isIndex()                ? 64
                  : isa<FloatTF32Type>(element) ? 32
                                                   : std::max(8u, element.getIntOrFloatBitWidth());
  unsigned last = unsigned(type.getRank() - 1);
  for (int64_t length = vectorBytes * 8 / bits; length > 1; length /= 2) {
    if (!lastInBounds && facts.dimMultiple(array, last) % length != 0)
      continue;
    for (unsigned dim = unsigned(tile.getRank()); dim-- > 0;) {
      if (tile.getDimSize(dim) % length != 0 || !isCounting(index.back(), dim, length) ||
          (mask && !isConstant(mask, dim, length)))
        continue;
      if (llvm::all_of(index.drop_back(),
                       [&](Value other) { return isConstant(other, dim, length); }))
        return {dim, length};
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static bool holds(IndexRange outer, IndexRange inner) {
  return outer.min <= inner.min && inner.max <= outer.max;
}

/// What a conversion between integers makes of `range`.
static IndexRange converted(Operation *op, IndexRange range) {
  IndexRange all = typeRange(op->getResult(0).getType());
  auto cast = dyn_cast<CastOp>(op);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) || (cast && cast.getFromUnsigned())) {
    IndexRange source = typeRange(op->getOperand(0).getType());
    if (range.min < 0)
      range = source.max == INT64_MAX ? IndexRange() : IndexRange{0, 2 * source.max + 1};
  }
  return holds(all, range) ? range : all;
}

IndexRange IndexTileFacts::rangeOf(Value value, Operation *at, unsigned depth) const {
  if (std::optional<int64_t> constant = splatConstant(value))
    return {*constant, *constant};
  if (!isa<RankedTensorType>(value.getType()))
    return facts.rangeOf(value, at);
  Type type = value.getType();
  Operation *op = value.getDefiningOp();
  if (!op || depth > maxDepth)
    return typeRange(type);
  auto of = [&](unsigned operand) { return rangeOf(op->getOperand(operand), at, depth + 1); };
  if (std::optional<IndexRange> range = rangeOfArithmetic(op, of))
    return *range;
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case([&](IotaOp) {
        IndexRange all{0, cast<RankedTensorType>(type).getNumElements() - 1};
        return holds(typeRange(type), all) ? all : typeRange(type);
      })
      .Case<SplatOp, BroadcastOp, ReshapeOp, PermuteOp, ConvertLayoutOp>(
          [&](Operation *) { return of(0); })
      .Case([&](arith::AndIOp) {
        // A mask with the sign bit clear bounds the result, whatever the other is.
        IndexRange a = of(0), b = of(1);
        int64_t most = std::min(a.min >= 0 ? a.max : INT64_MAX, b.min >= 0 ? b.max : INT64_MAX);
        return most == INT64_MAX ? typeRange(type) : IndexRange{0, most};
      })
      .Default([&](Operation *) {
        return isIntegerConversion(op) ? converted(op, of(0)) : typeRange(type);
      });
}

bool IndexTileFacts::isInBounds(Value array, unsigned dim, Value index, Operation *at) const {
  IndexRange range = rangeOf(index, at);
  return range.min >= 0 && range.max < facts.rangeOfDim(array, dim).min;
}

//===- IndexFacts.cpp - what is known of indices and sizes -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Answers are computed on demand by walking definitions, up to a small depth. Numbers
// are 64 bits and may wrap, so an operation whose exact result may not fit has the
// full range. The proof that a tile stays inside along a dim of size D:
//
//   index >= 0, and index < limit for some limit with limit * tile <= D:
//     limit = cdiv(D, s), s divides D, tile <= s
//     limit = floordiv(D, s), tile <= s
//     limit = D, tile = 1
//     limit <= c and c * tile <= the least that D can be
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexFacts.h"

#include "tilec/Tile/BuildFacts.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;
using arith::CmpIPredicate;

static constexpr int64_t mostMultiple = int64_t(1) << 30;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

static int64_t powerOfTwoIn(int64_t number) {
  return number ? std::min<int64_t>(number & -number, mostMultiple) : mostMultiple;
}

/// Through conversions that keep the number (as far as ranges below allow).
static Value withoutExtensions(Value value) {
  while (auto *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(op) ||
        getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1))
      break;
    auto width = [](Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); };
    if (width(op->getOperand(0).getType()) > width(value.getType()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Names of numbers
//===----------------------------------------------------------------------===//

IndexFacts::Key IndexFacts::keyOf(Dim dim) const {
  auto argument = dyn_cast<BlockArgument>(dim.array);
  if (!argument)
    return nullptr;
  auto names = kernel.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), KernelOp::dimsAttr);
  if (names && dim.number < names.size() && !cast<StringAttr>(names[dim.number]).empty())
    return names[dim.number].getAsOpaquePointer();
  return ArrayAttr::get(kernel.getContext(),
                        {IntegerAttr::get(IndexType::get(kernel.getContext()), argument.getArgNumber()),
                         IntegerAttr::get(IndexType::get(kernel.getContext()), dim.number)})
      .getAsOpaquePointer();
}

IndexFacts::Key IndexFacts::keyOf(Value value) const {
  value = withoutExtensions(value);
  if (auto dim = value.getDefiningOp<DimOp>())
    return canonical(keyOf(Dim{dim.getArray(), dim.getDim()}));
  return canonical(value.getAsOpaquePointer());
}

IndexFacts::Key IndexFacts::canonical(Key key) const {
  while (Key next = equals.lookup(key))
    key = next;
  return key;
}

//===----------------------------------------------------------------------===//
// Learning
//===----------------------------------------------------------------------===//

/// `condition`, known to be true or false, as comparisons that hold.
template <typename Visit> static void forComparisons(Value condition, bool holds, Visit visit) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    CmpIPredicate predicate = compare.getPredicate();
    visit(holds ? predicate : arith::invertPredicate(predicate), compare.getLhs(),
          compare.getRhs());
  } else if ((isa<arith::AndIOp>(op) && holds) || (isa<arith::OrIOp>(op) && !holds)) {
    for (Value operand : op->getOperands())
      forComparisons(operand, holds, visit);
  } else if (isa<arith::XOrIOp>(op)) {
    if (constantOf(op->getOperand(1)).value_or(0) != 0)
      forComparisons(op->getOperand(0), !holds, visit);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    // `a ? b : false` is how a short-circuit && comes out of the front end.
    unsigned number = cast<OpResult>(condition).getResultNumber();
    Value otherwise = branch.elseYield().getOperand(number);
    if (holds && constantOf(otherwise) == 0) {
      forComparisons(branch.getCondition(), true, visit);
      forComparisons(branch.thenYield().getOperand(number), true, visit);
    }
  }
}

IndexFacts::IndexFacts(KernelOp kernel) : kernel(kernel) {
  for (auto assume : kernel.getBody().front().getOps<AssumeOp>())
    learn(assume.getCondition(), true);
  if (relies(kernel, BuildFact::Index32))
    limitDims();
  // Rows of every array start at multiples of 16 bytes: so their length is one.
  if (!relies(kernel, BuildFact::Aligned16))
    return;
  for (Value argument : kernel.getArguments()) {
    auto type = dyn_cast<ArrayType>(argument.getType());
    if (!type || type.isStrided() || type.getRank() < 2)
      continue;
    unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementType().getIntOrFloatBitWidth();
    unsigned dim = type.hasStrides() ? unsigned(type.getRank()) - 1 : rowDim(type);
    if (dim == 0)
      continue;
    Key key = canonical(keyOf(Dim{argument, dim}));
    int64_t &multiple = multiples.try_emplace(key, 1).first->second;
    multiple = std::max<int64_t>(multiple, 128 / std::max(bits, 8u));
  }
}

/// Every axis is shorter than 2^31.
void IndexFacts::limitDims() {
  for (Value argument : kernel.getArguments()) {
    auto type = dyn_cast<ArrayType>(argument.getType());
    for (unsigned dim = 0; type && dim < type.getRank(); ++dim) {
      Key key = canonical(keyOf(Dim{argument, dim}));
      ranges[key] = ranges.lookup(key).meet({0, INT32_MAX});
    }
  }
}

void IndexFacts::learn(Value condition, bool holds) {
  forComparisons(condition, holds, [&](CmpIPredicate predicate, Value lhs, Value rhs) {
    learn(Comparison{predicate, lhs, rhs});
  });
}

/// What `x predicate c` says of x.
static IndexRange rangeFrom(CmpIPredicate predicate, int64_t c) {
  IndexRange range;
  switch (predicate) {
  case CmpIPredicate::eq:
    return {c, c};
  case CmpIPredicate::slt:
    range.max = c == INT64_MIN ? c : c - 1;
    break;
  case CmpIPredicate::sle:
    range.max = c;
    break;
  case CmpIPredicate::sgt:
    range.min = c == INT64_MAX ? c : c + 1;
    break;
  case CmpIPredicate::sge:
    range.min = c;
    break;
  default:
    break;
  }
  return range;
}

static CmpIPredicate swapSides(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  default:
    return predicate;
  }
}

void IndexFacts::learn(const Comparison &comparison) {
  auto [predicate, lhs, rhs] = comparison;
  std::optional<int64_t> left = constantOf(lhs), right = constantOf(rhs);
  if (left && !right)
    return learn(Comparison{swapSides(predicate), rhs, lhs});
  if (right) {
    Key key = keyOf(lhs);
    auto known = ranges.try_emplace(key).first;
    known->second = known->second.meet(rangeFrom(predicate, *right));
    Operation *op = withoutExtensions(lhs).getDefiningOp();
    bool isRemainder = isa_and_nonnull<RemainderOp, arith::RemSIOp, arith::RemUIOp>(op);
    if (isRemainder && predicate == CmpIPredicate::eq && *right == 0) {
      int64_t &multiple = multiples.try_emplace(keyOf(op->getOperand(0)), 1).first->second;
      multiple = std::max(multiple, multipleOf(op->getOperand(1), 0));
    }
    return;
  }
  Key a = keyOf(lhs), b = keyOf(rhs);
  if (predicate != CmpIPredicate::eq || a == b)
    return;
  // One name for both from now on, with what was known of either.
  equals[a] = b;
  ranges[b] = ranges.lookup(b).meet(ranges.lookup(a));
  multiples[b] = std::max({int64_t(1), multiples.lookup(a), multiples.lookup(b)});
}

/// Comparisons that hold at `at` because of branches and loops around it. A value that
/// a scf.while hands from its test to its body has both names.
SmallVector<IndexFacts::Comparison> IndexFacts::conditionsAt(Operation *at) const {
  SmallVector<Comparison> result;
  for (Operation *inner = at; inner && inner != kernel; inner = inner->getParentOp()) {
    Operation *outer = inner->getParentOp();
    if (auto branch = dyn_cast_or_null<scf::IfOp>(outer)) {
      bool isThen = inner->getParentRegion() == &branch.getThenRegion();
      forComparisons(branch.getCondition(), isThen, [&](CmpIPredicate p, Value l, Value r) {
        result.push_back({p, l, r});
      });
    }
    auto loop = dyn_cast_or_null<scf::WhileOp>(outer);
    if (!loop || inner->getParentRegion() != &loop.getAfter())
      continue;
    scf::ConditionOp condition = loop.getConditionOp();
    auto inBody = [&](Value value) -> Value {
      for (auto [handed, argument] : llvm::zip_equal(condition.getArgs(), loop.getAfterArguments()))
        if (handed == value)
          return argument;
      return value;
    };
    forComparisons(condition.getCondition(), true, [&](CmpIPredicate p, Value l, Value r) {
      result.push_back({p, inBody(l), inBody(r)});
    });
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Multiples
//===----------------------------------------------------------------------===//

int64_t IndexFacts::multipleOf(Value value, unsigned depth) const {
  if (std::optional<int64_t> constant = constantOf(value))
    return powerOfTwoIn(*constant);
  if (depth > maxDepth)
    return 1;
  value = withoutExtensions(value);
  int64_t known = std::max<int64_t>(1, multiples.lookup(keyOf(value)));
  auto of = [&](Value operand) { return multipleOf(operand, depth + 1); };
  int64_t computed = 1;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      computed = std::min(of(loop.getLowerBound()), of(loop.getStep()));
    return std::max(known, computed);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    computed = std::min(of(op->getOperand(0)), of(op->getOperand(1)));
  else if (isa<arith::MulIOp>(op))
    computed = std::min(mostMultiple, of(op->getOperand(0)) * of(op->getOperand(1)));
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    computed = std::min(of(select.getTrueValue()), of(select.getFalseValue()));
  else if (auto shift = dyn_cast<ShiftOp>(op); shift && shift.getKind() == ShiftKind::Left)
    computed = of(shift.getValue());
  // A product of power-of-two multiples stays one modulo 2^64, but a narrower type
  // that wraps does too: only widenings are looked through.
  return std::max(known, computed);
}

int64_t IndexFacts::dimMultiple(Value array, unsigned dim) const {
  if (std::optional<int64_t> size = staticSize({array, dim}))
    return powerOfTwoIn(*size);
  return std::max<int64_t>(1, multiples.lookup(canonical(keyOf(Dim{array, dim}))));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::optional<int64_t> IndexFacts::staticSize(Dim dim) const {
  auto type = cast<ArrayType>(dim.array.getType());
  if (type.isDynamicDim(dim.number))
    return std::nullopt;
  return type.getShape()[dim.number];
}

IndexRange IndexFacts::rangeOfDim(Dim dim) const {
  if (std::optional<int64_t> size = staticSize(dim))
    return {*size, *size};
  return IndexRange{0, INT64_MAX}.meet(ranges.lookup(canonical(keyOf(dim))));
}

IndexRange tilec::typeRange(Type type) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (width >= 64)
    return {};
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

/// The interval [lo, hi] if it was computed exactly and fits the type, else all.
static IndexRange ifExact(std::optional<int64_t> lo, std::optional<int64_t> hi, Type type) {
  IndexRange all = typeRange(type);
  if (!lo || !hi || *lo < all.min || *hi > all.max)
    return all;
  return {*lo, *hi};
}

static IndexRange productRange(IndexRange a, IndexRange b, Type type) {
  std::optional<int64_t> lo, hi;
  for (int64_t x : {a.min, a.max}) {
    for (int64_t y : {b.min, b.max}) {
      std::optional<int64_t> product = llvm::checkedMul(x, y);
      if (!product)
        return typeRange(type);
      lo = std::min(lo.value_or(*product), *product);
      hi = std::max(hi.value_or(*product), *product);
    }
  }
  return ifExact(lo, hi, type);
}

std::optional<IndexRange> tilec::rangeOfArithmetic(Operation *op,
                                                   function_ref<IndexRange(unsigned)> of) {
  using Range = std::optional<IndexRange>;
  Type type = op->getResult(0).getType();
  return TypeSwitch<Operation *, Range>(op)
      .Case([&](arith::AddIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return ifExact(llvm::checkedAdd(a.min, b.min), llvm::checkedAdd(a.max, b.max), type);
      })
      .Case([&](arith::SubIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return ifExact(llvm::checkedSub(a.min, b.max), llvm::checkedSub(a.max, b.min), type);
      })
      .Case([&](arith::MulIOp) -> Range { return productRange(of(0), of(1), type); })
      .Case([&](arith::AndIOp) -> Range {
        IndexRange mask = of(1);
        return mask.isSingle() && mask.min >= 0 ? IndexRange{0, mask.max} : typeRange(type);
      })
      .Case([&](arith::MinSIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return IndexRange{std::min(a.min, b.min), std::min(a.max, b.max)};
      })
      .Case([&](arith::MaxSIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return IndexRange{std::max(a.min, b.min), std::max(a.max, b.max)};
      })
      .Case([&](arith::DivUIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return a.min >= 0 && b.min > 0 ? IndexRange{a.min / b.max, a.max / b.min}
                                       : typeRange(type);
      })
      .Case([&](arith::RemUIOp) -> Range {
        IndexRange a = of(0), b = of(1);
        return a.min >= 0 && b.min > 0 ? IndexRange{0, std::min(a.max, b.max - 1)}
                                       : typeRange(type);
      })
      .Case([&](arith::ShRUIOp) -> Range {
        IndexRange a = of(0);
        return a.min >= 0 ? IndexRange{0, a.max} : typeRange(type);
      })
      .Case([&](RemainderOp remainder) -> Range {
        IndexRange a = of(0), b = of(1);
        if (remainder.getSignedness() != Signedness::Signed || b.min < 0)
          return typeRange(type);
        // What is left by a divisor of zero is the dividend (Lowering/Integer.cpp).
        if (a.min >= 0)
          return IndexRange{0, b.min > 0 ? std::min(a.max, b.max - 1) : a.max};
        return b.min > 0 && remainder.getRounding() == QuotientRounding::Floor
                   ? IndexRange{0, b.max - 1}
                   : typeRange(type);
      })
      .Default([](Operation *) -> Range { return std::nullopt; });
}

IndexRange IndexFacts::rangeOf(Value value, Operation *at, unsigned depth) const {
  if (std::optional<int64_t> constant = constantOf(value))
    return {*constant, *constant};
  value = withoutExtensions(value);
  IndexRange range = typeRange(value.getType()).meet(ranges.lookup(keyOf(value)));
  if (depth > maxDepth)
    return range;
  for (const Comparison &c : conditionsAt(at)) {
    if (std::optional<int64_t> right = constantOf(c.rhs); right && keyOf(c.lhs) == keyOf(value))
      range = range.meet(rangeFrom(c.predicate, *right));
    if (std::optional<int64_t> left = constantOf(c.lhs); left && keyOf(c.rhs) == keyOf(value))
      range = range.meet(rangeFrom(swapSides(c.predicate), *left));
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return range.meet(rangeOfArgument(argument, at, depth));
  return range.meet(rangeOfResult(value.getDefiningOp(), at, depth));
}

IndexRange IndexFacts::rangeOfResult(Operation *op, Operation *at, unsigned depth) const {
  Type type = op->getResult(0).getType();
  auto of = [&](unsigned operand) { return rangeOf(op->getOperand(operand), at, depth + 1); };
  if (std::optional<IndexRange> range = rangeOfArithmetic(op, of))
    return *range;
  // Clusters have up to 16 blocks.
  constexpr int64_t mostBlocks = INT32_MAX, mostSharers = 16;
  return TypeSwitch<Operation *, IndexRange>(op)
      .Case([&](DimOp dim) { return rangeOfDim({dim.getArray(), dim.getDim()}); })
      .Case([&](BlockIdOp) { return IndexRange{0, mostBlocks - 1}; })
      .Case([&](NumSMsOp) { return IndexRange{1, INT32_MAX}; })
      .Case([&](NumBlocksOp) { return IndexRange{1, mostBlocks}; })
      .Case<tgpu::PartOp, tgpu::ClusterRankOp>([&](auto) { return IndexRange{0, mostSharers - 1}; })
      .Case<tgpu::NumPartsOp, tgpu::ClusterSizeOp>([&](auto) { return IndexRange{1, mostSharers}; })
      .Case([&](arith::SelectOp) { return of(1).join(of(2)); })
      .Case([&](DivideOp divide) {
        IndexRange a = of(0), b = of(1);
        bool isSigned = divide.getSignedness() == Signedness::Signed;
        // A quotient by zero is zero (Lowering/Integer.cpp), and no other is larger than by
        // the least divisor.
        if (isSigned && a.min >= 0 && b.min >= 0 && !b.isSingle()) {
          int64_t least = std::max<int64_t>(b.min, 1);
          return IndexRange{0, a.max / least + (a.max % least != 0)};
        }
        if (!isSigned || !b.isSingle() || b.min <= 0)
          return typeRange(type);
        // One more at both ends covers every rounding.
        return IndexRange{a.min >= 0 ? a.min / b.min : a.min / b.min - 1,
                          a.max < 0 ? 0 : a.max / b.min + (a.max % b.min != 0)};
      })
      .Default([&](Operation *) { return typeRange(type); });
}

/// The constant that is added to `argument` in each round, if that is all.
static std::optional<int64_t> stepOf(Value next, Value argument) {
  auto add = next.getDefiningOp<arith::AddIOp>();
  if (!add)
    return std::nullopt;
  if (add.getLhs() == argument)
    return constantOf(add.getRhs());
  if (add.getRhs() == argument)
    return constantOf(add.getLhs());
  return std::nullopt;
}

IndexRange IndexFacts::rangeOfArgument(BlockArgument argument, Operation *at,
                                       unsigned depth) const {
  IndexRange all = typeRange(argument.getType());
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    // The loop's bounds are computed outside of it; steps are positive.
    if (argument != loop.getInductionVar() || loop.getUnsignedCmp())
      return all;
    IndexRange low = rangeOf(loop.getLowerBound(), loop, depth + 1);
    IndexRange high = rangeOf(loop.getUpperBound(), loop, depth + 1);
    return {low.min, high.max == INT64_MIN ? high.max : high.max - 1};
  }
  auto loop = dyn_cast<scf::WhileOp>(parent);
  if (!loop || argument.getOwner()->getParent() != &loop.getAfter())
    return all;
  // A counter: starts, is tested to be below something, and goes up by a small step.
  Value tested = loop.getConditionOp().getArgs()[argument.getArgNumber()];
  auto counter = dyn_cast<BlockArgument>(tested);
  if (!counter || counter.getOwner()->getParent() != &loop.getBefore())
    return all;
  unsigned number = counter.getArgNumber();
  std::optional<int64_t> step = stepOf(loop.getYieldOp().getOperand(number), argument);
  bool isTested = false;
  forComparisons(loop.getConditionOp().getCondition(), true,
                 [&](CmpIPredicate predicate, Value lhs, Value) {
                   isTested |= predicate == CmpIPredicate::slt && lhs == tested;
                 });
  if (step != 1 || !isTested)
    return all;
  return {rangeOf(loop.getInits()[number], loop, depth + 1).min, all.max};
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<Value> IndexFacts::limitsOf(Value value, Operation *at) const {
  SmallVector<Value> limits;
  value = withoutExtensions(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar() && !loop.getUnsignedCmp())
      limits.push_back(loop.getUpperBound());
  }
  for (const Comparison &c : conditionsAt(at)) {
    if (c.predicate == CmpIPredicate::slt && keyOf(c.lhs) == keyOf(value))
      limits.push_back(c.rhs);
    if (c.predicate == CmpIPredicate::sgt && keyOf(c.rhs) == keyOf(value))
      limits.push_back(c.lhs);
  }
  return limits;
}

bool IndexFacts::fits(Value limit, int64_t tileSize, Dim dim, Operation *at) const {
  Key key = canonical(keyOf(dim));
  auto isDim = [&](Value value) {
    std::optional<int64_t> size = staticSize(dim);
    return keyOf(value) == key || (size && constantOf(value) == size);
  };
  limit = withoutExtensions(limit);
  if (tileSize == 1 && isDim(limit))
    return true;
  if (auto divide = limit.getDefiningOp<DivideOp>(); divide && isDim(divide.getLhs())) {
    int64_t divisor = constantOf(divide.getRhs()).value_or(0);
    bool isWhole = divide.getRounding() != QuotientRounding::Ceil ||
                   (llvm::isPowerOf2_64(uint64_t(divisor)) &&
                    dimMultiple(dim.array, dim.number) >= divisor);
    if (divide.getSignedness() == Signedness::Signed && tileSize <= divisor && isWhole)
      return true;
  }
  if (auto least = limit.getDefiningOp<arith::MinSIOp>())
    if (fits(least.getLhs(), tileSize, dim, at) || fits(least.getRhs(), tileSize, dim, at))
      return true;
  int64_t most = rangeOf(limit, at).max;
  std::optional<int64_t> reach = llvm::checkedMul(most, tileSize);
  return reach && *reach <= rangeOfDim(dim).min;
}

template <typename Op> bool IndexFacts::isInBoundsImpl(Op op, Type tile, unsigned dim) const {
  Value index = op.getIndex()[dim];
  Dim arrayDim{op.getArray(), unsigned(op.getArrayDim(dim))};
  int64_t tileSize = isa<RankedTensorType>(tile) ? getTileShape(tile)[dim] : 1;
  IndexRange range = rangeOf(index, op);
  if (range.min < 0)
    return false;
  // The last element, when the index is bounded by a number.
  std::optional<int64_t> tiles = llvm::checkedAdd<int64_t>(range.max, op.getElements() ? 0 : 1);
  std::optional<int64_t> end = tiles ? llvm::checkedMul(*tiles, op.getElements() ? 1 : tileSize)
                                     : std::nullopt;
  if (op.getElements() && end)
    end = llvm::checkedAdd(*end, tileSize);
  if (end && *end <= rangeOfDim(arrayDim).min)
    return true;
  if (op.getElements() && tileSize > 1)
    return false;
  return llvm::any_of(limitsOf(index, op), [&](Value limit) {
    return fits(limit, tileSize, arrayDim, op);
  });
}

bool IndexFacts::isInBounds(LoadOp op, unsigned dim) const {
  return isInBoundsImpl(op, op.getType(), dim);
}
bool IndexFacts::isInBounds(StoreOp op, unsigned dim) const {
  return isInBoundsImpl(op, op.getValue().getType(), dim);
}

template <typename Op>
int64_t IndexFacts::startMultipleImpl(Op op, Type tile, unsigned dim) const {
  int64_t multiple = multipleOf(op.getIndex()[dim]);
  if (op.getElements() || !isa<RankedTensorType>(tile))
    return multiple;
  return std::min(mostMultiple, multiple * getTileShape(tile)[dim]);
}

int64_t IndexFacts::startMultiple(LoadOp op, unsigned dim) const {
  return startMultipleImpl(op, op.getType(), dim);
}
int64_t IndexFacts::startMultiple(StoreOp op, unsigned dim) const {
  return startMultipleImpl(op, op.getValue().getType(), dim);
}

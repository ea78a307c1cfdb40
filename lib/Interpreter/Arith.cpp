//===- Arith.cpp - integer and float arithmetic --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `arith` arithmetic, comparisons and selections, and the integer operations of
// `tile` that are defined for every operand. Integers wrap at their width. Floats
// narrower than f32 are computed in f32 and rounded once.
//
//===------------------------------------------------------------------------===//

#include "Elementwise.h"

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilec::interpreter {

HostTile makeResult(Operation *op, Operands operands) {
  Type type = op->getResult(0).getType();
  bool splat = true;
  const HostTile *widest = nullptr;
  for (const HostTile *operand : operands) {
    splat &= operand->isSplat();
    if (!widest || operand->size() > widest->size())
      widest = operand;
  }
  if (!isa<ShapedType>(type) && widest && widest->size() > 1)
    type = RankedTensorType::get(widest->shape(), type);
  return HostTile(type, splat);
}

//===------------------------------------------------------------------------===//
// Mapping functions over elements
//===------------------------------------------------------------------------===//

/// Integers of `op`'s width, wrapped.
template <typename F>
static HostTile mapInt(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  unsigned width = result.width();
  forEachStored(result, [&](size_t i) {
    result.ints[i] = truncateTo(uint64_t(f(in[0]->integer(i), in[1]->integer(i))), width);
  });
  return result;
}
/// The same with the operands read as signed.
template <typename F>
static HostTile mapSigned(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  unsigned width = result.width();
  forEachStored(result, [&](size_t i) {
    result.ints[i] = truncateTo(uint64_t(f(in[0]->sinteger(i), in[1]->sinteger(i))), width);
  });
  return result;
}

/// Floats: `f` is called with two floats or two doubles.
template <typename F>
static HostTile mapFloat(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  if (result.form() == Form::F64) {
    forEachStored(result, [&](size_t i) { result.doubles[i] = f(in[0]->f64(i), in[1]->f64(i)); });
    return result;
  }
  Type type = result.elementType();
  forEachStored(result, [&](size_t i) { result.floats[i] = f(in[0]->f32(i), in[1]->f32(i)); });
  if (!type.isF32())
    forEachStored(result, [&](size_t i) { result.floats[i] = roundToType(result.floats[i], type); });
  return result;
}

//===------------------------------------------------------------------------===//
// The language's rules
//===------------------------------------------------------------------------===//

/// min and max that order -0 below +0; a NaN gives NaN or loses.
template <typename T>
static T extremum(T a, T b, bool maximum, bool propagateNaN) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagateNaN || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

/// A quotient of signed or unsigned 64-bit values that never traps; a zero divisor
/// gives 0 here, an unspecified value in the language.
static int64_t divideSigned(int64_t a, int64_t b, tile::QuotientRounding rounding) {
  if (b == 0)
    return 0;
  if (b == -1)
    return int64_t(0 - uint64_t(a));
  int64_t q = a / b, r = a % b;
  if (rounding == tile::QuotientRounding::Floor && r != 0 && (r < 0) != (b < 0))
    --q;
  if (rounding == tile::QuotientRounding::Ceil && r != 0 && (r < 0) == (b < 0))
    ++q;
  return q;
}
static uint64_t divideUnsigned(uint64_t a, uint64_t b, tile::QuotientRounding rounding) {
  if (b == 0)
    return 0;
  return a / b + (rounding == tile::QuotientRounding::Ceil && a % b != 0);
}

static HostTile evaluateDivide(tile::DivideOp op, Operands in) {
  auto rounding = op.getRounding();
  if (op.getSignedness() == tile::Signedness::Signed)
    return mapSigned(op, in, [=](int64_t a, int64_t b) { return divideSigned(a, b, rounding); });
  return mapInt(op, in, [=](uint64_t a, uint64_t b) { return divideUnsigned(a, b, rounding); });
}

static HostTile evaluateRemainder(tile::RemainderOp op, Operands in) {
  auto rounding = op.getRounding();
  if (op.getSignedness() == tile::Signedness::Signed)
    return mapSigned(op, in, [=](int64_t a, int64_t b) {
      return int64_t(uint64_t(a) - uint64_t(b) * uint64_t(divideSigned(a, b, rounding)));
    });
  return mapInt(op, in, [=](uint64_t a, uint64_t b) { return b == 0 ? a : a % b; });
}

static HostTile evaluateShift(tile::ShiftOp op, Operands in) {
  HostTile result = makeResult(op, in);
  unsigned width = result.width();
  forEachStored(result, [&](size_t i) {
    uint64_t amount = in[1]->integer(i);
    uint64_t value;
    if (op.getKind() == tile::ShiftKind::RightSigned)
      value = uint64_t(in[0]->sinteger(i) >> std::min<uint64_t>(amount, width - 1));
    else if (amount >= width)
      value = 0;
    else if (op.getKind() == tile::ShiftKind::Left)
      value = in[0]->integer(i) << amount;
    else
      value = in[0]->integer(i) >> amount;
    result.ints[i] = truncateTo(value, width);
  });
  return result;
}

/// The high half of a product of twice the width.
static uint64_t multiplyHigh(const HostTile &a, const HostTile &b, bool isSigned, size_t i) {
  unsigned width = a.width();
  if (isSigned)
    return truncateTo(uint64_t((__int128(a.sinteger(i)) * b.sinteger(i)) >> width), width);
  using Wide = unsigned __int128;
  return truncateTo(uint64_t((Wide(a.integer(i)) * b.integer(i)) >> width), width);
}

std::optional<std::pair<HostTile, HostTile>> evaluateExtendedMultiply(Operation *op, Operands in) {
  bool isSigned = isa<arith::MulSIExtendedOp>(op);
  if (!isSigned && !isa<arith::MulUIExtendedOp>(op))
    return std::nullopt;
  HostTile low = makeResult(op, in), high = makeResult(op, in);
  forEachStored(low, [&](size_t i) {
    low.ints[i] = truncateTo(in[0]->integer(i) * in[1]->integer(i), low.width());
    high.ints[i] = multiplyHigh(*in[0], *in[1], isSigned, i);
  });
  return std::pair(std::move(low), std::move(high));
}

//===------------------------------------------------------------------------===//
// Comparisons and selection
//===------------------------------------------------------------------------===//

static bool compareInts(arith::CmpIPredicate predicate, const HostTile &a, const HostTile &b, size_t i) {
  using P = arith::CmpIPredicate;
  int64_t sa = a.sinteger(i), sb = b.sinteger(i);
  uint64_t ua = a.integer(i), ub = b.integer(i);
  switch (predicate) {
  case P::eq: return ua == ub;
  case P::ne: return ua != ub;
  case P::slt: return sa < sb;
  case P::sle: return sa <= sb;
  case P::sgt: return sa > sb;
  case P::sge: return sa >= sb;
  case P::ult: return ua < ub;
  case P::ule: return ua <= ub;
  case P::ugt: return ua > ub;
  case P::uge: return ua >= ub;
  }
  return false;
}

static bool compareFloats(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse: return false;
  case P::AlwaysTrue: return true;
  case P::OEQ: return !unordered && a == b;
  case P::OGT: return !unordered && a > b;
  case P::OGE: return !unordered && a >= b;
  case P::OLT: return !unordered && a < b;
  case P::OLE: return !unordered && a <= b;
  case P::ONE: return !unordered && a != b;
  case P::ORD: return !unordered;
  case P::UEQ: return unordered || a == b;
  case P::UGT: return unordered || a > b;
  case P::UGE: return unordered || a >= b;
  case P::ULT: return unordered || a < b;
  case P::ULE: return unordered || a <= b;
  case P::UNE: return unordered || a != b;
  case P::UNO: return unordered;
  }
  return false;
}

template <typename F>
static HostTile mapBool(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) { result.ints[i] = f(i); });
  return result;
}

static HostTile evaluateSelect(Operation *op, Operands in) {
  HostTile result = makeResult(op, in);
  forEachStored(result,
                [&](size_t i) { result.copyElement(i, *in[in[0]->integer(i) ? 1 : 2], i); });
  return result;
}

static HostTile evaluateNegate(Operation *op, Operands in) {
  HostTile result = makeResult(op, in);
  if (result.form() == Form::F64)
    forEachStored(result, [&](size_t i) { result.doubles[i] = -in[0]->f64(i); });
  else
    forEachStored(result, [&](size_t i) { result.floats[i] = -in[0]->f32(i); });
  return result;
}

//===------------------------------------------------------------------------===//
// The table
//===------------------------------------------------------------------------===//

static std::optional<HostTile> evaluateIntArith(Operation *op, Operands in) {
  using U = uint64_t;
  using S = int64_t;
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](arith::AddIOp) { return mapInt(op, in, [](U a, U b) { return a + b; }); })
      .Case([&](arith::SubIOp) { return mapInt(op, in, [](U a, U b) { return a - b; }); })
      .Case([&](arith::MulIOp) { return mapInt(op, in, [](U a, U b) { return a * b; }); })
      .Case([&](arith::AndIOp) { return mapInt(op, in, [](U a, U b) { return a & b; }); })
      .Case([&](arith::OrIOp) { return mapInt(op, in, [](U a, U b) { return a | b; }); })
      .Case([&](arith::XOrIOp) { return mapInt(op, in, [](U a, U b) { return a ^ b; }); })
      .Case([&](arith::MinSIOp) { return mapSigned(op, in, [](S a, S b) { return std::min(a, b); }); })
      .Case([&](arith::MaxSIOp) { return mapSigned(op, in, [](S a, S b) { return std::max(a, b); }); })
      .Case([&](arith::MinUIOp) { return mapInt(op, in, [](U a, U b) { return std::min(a, b); }); })
      .Case([&](arith::MaxUIOp) { return mapInt(op, in, [](U a, U b) { return std::max(a, b); }); })
      // Upstream folding may turn guarded operations into these.
      .Case([&](arith::DivSIOp) {
        return mapSigned(op, in, [](S a, S b) { return divideSigned(a, b, tile::QuotientRounding::Trunc); });
      })
      .Case([&](arith::DivUIOp) {
        return mapInt(op, in, [](U a, U b) { return divideUnsigned(a, b, tile::QuotientRounding::Trunc); });
      })
      .Case([&](arith::RemUIOp) { return mapInt(op, in, [](U a, U b) { return b ? a % b : a; }); })
      .Case([&](arith::RemSIOp) {
        return mapSigned(op, in, [](S a, S b) { return b == 0 ? a : b == -1 ? 0 : a % b; });
      })
      .Case([&](arith::ShLIOp) { return mapInt(op, in, [](U a, U b) { return b < 64 ? a << b : 0; }); })
      .Case([&](arith::ShRUIOp) { return mapInt(op, in, [](U a, U b) { return b < 64 ? a >> b : 0; }); })
      .Case([&](arith::ShRSIOp) {
        return mapSigned(op, in, [](S a, S b) { return a >> std::min<U>(U(b), 63); });
      })
      .Case([&](tile::DivideOp divide) { return evaluateDivide(divide, in); })
      .Case([&](tile::RemainderOp remainder) { return evaluateRemainder(remainder, in); })
      .Case([&](tile::ShiftOp shift) { return evaluateShift(shift, in); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<HostTile> evaluateFloatArith(Operation *op, Operands in) {
  auto pick = [&](bool maximum, bool propagateNaN) {
    return mapFloat(op, in, [=](auto a, auto b) { return extremum(a, b, maximum, propagateNaN); });
  };
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](arith::AddFOp) { return mapFloat(op, in, [](auto a, auto b) { return a + b; }); })
      .Case([&](arith::SubFOp) { return mapFloat(op, in, [](auto a, auto b) { return a - b; }); })
      .Case([&](arith::MulFOp) { return mapFloat(op, in, [](auto a, auto b) { return a * b; }); })
      .Case([&](arith::DivFOp) { return mapFloat(op, in, [](auto a, auto b) { return a / b; }); })
      .Case([&](arith::RemFOp) { return mapFloat(op, in, [](auto a, auto b) { return std::fmod(a, b); }); })
      .Case([&](arith::MaximumFOp) { return pick(true, true); })
      .Case([&](arith::MinimumFOp) { return pick(false, true); })
      .Case([&](arith::MaxNumFOp) { return pick(true, false); })
      .Case([&](arith::MinNumFOp) { return pick(false, false); })
      .Case([&](arith::NegFOp) { return evaluateNegate(op, in); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<HostTile> evaluateArith(Operation *op, Operands in) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return HostTile::fromAttribute(cast<TypedAttr>(constant.getValue()));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return mapBool(op, in, [&](size_t i) { return compareInts(compare.getPredicate(), *in[0], *in[1], i); });
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return mapBool(op, in, [&](size_t i) {
      return compareFloats(compare.getPredicate(), in[0]->real(i), in[1]->real(i));
    });
  if (isa<arith::SelectOp>(op))
    return evaluateSelect(op, in);
  if (auto result = evaluateIntArith(op, in))
    return result;
  return evaluateFloatArith(op, in);
}

std::optional<HostTile> evaluateElementwise(Operation *op, Operands in) {
  if (auto result = evaluateArith(op, in))
    return result;
  if (auto result = evaluateConversion(op, in))
    return result;
  return evaluateMath(op, in);
}

} // namespace tilec::interpreter

//===- HostExprEval.cpp - values of host expressions --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Nodes and arguments → a value, or a message. Runs at every launch: no allocation
// on the way to a value. A reason for failure is carried as a pointer to constant
// text until the outermost call makes a message of it.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/HostExpr.h"
#include "tilec/Support/Numerics.h"

#include <cmath>
#include <limits>

using namespace tilec;
using Op = HostExpr::Op;
using Node = HostExpr::Node;
using Kind = HostValue::Kind;

//===-- Scalar arguments ----------------------------------------------------===//

static HostValue scalarValue(const ScalarArg &arg) {
  if (arg.dtype == DType::Bool)
    return HostValue::boolean(arg.bits & 0xff);
  if (isFloat(arg.dtype))
    return HostValue::real(numerics::decode(arg.dtype, arg.bits));
  unsigned unused = 64 - dtypeBits(arg.dtype);
  uint64_t shifted = arg.bits << unused;
  return HostValue::integer(isSigned(arg.dtype) ? static_cast<int64_t>(shifted) >> unused
                                                : static_cast<int64_t>(shifted >> unused));
}

//===-- Arithmetic ----------------------------------------------------------===//

static int64_t wrap(uint64_t v) { return static_cast<int64_t>(v); }

/// Ints saturate, NaN gives 0, as `.to(int)` does.
static int64_t toInt(double v) {
  if (std::isnan(v))
    return 0;
  if (v >= 9223372036854775808.0)
    return std::numeric_limits<int64_t>::max();
  if (v < -9223372036854775808.0)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

/// Division of the kind `op`; y is not zero.
static int64_t divide(Op op, int64_t x, int64_t y) {
  bool remainder = op == Op::Rem || op == Op::Mod;
  if (y == -1) // MIN / -1 wraps
    return remainder ? 0 : wrap(0 - static_cast<uint64_t>(x));
  int64_t q = x / y, r = x % y;
  bool negative = (r < 0) != (y < 0);
  switch (op) {
  case Op::Rem:
    return r;
  case Op::Mod:
    return r != 0 && negative ? r + y : r;
  case Op::FloorDiv:
    return r != 0 && negative ? q - 1 : q;
  case Op::CeilDiv:
    return r != 0 && !negative ? q + 1 : q;
  default:
    return q;
  }
}

/// NaN wins, and +0 is larger than -0, as in the language.
static double pickFloat(double x, double y, bool smaller) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) == smaller ? x : y;
  return (x < y) == smaller ? x : y;
}

/// As kernels do, and NumPy: a whole number of which `mod` is the remainder.
static double floorDivide(double x, double y) {
  if (y == 0)
    return x / y;
  double rest = std::fmod(x, y), whole = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0))
    whole -= 1;
  return whole == 0 ? std::copysign(0.0, x / y) : std::nearbyint(whole);
}

static double floatBinary(Op op, double x, double y) {
  switch (op) {
  case Op::Add:
    return x + y;
  case Op::Sub:
    return x - y;
  case Op::Mul:
    return x * y;
  case Op::Div:
    return x / y;
  case Op::Rem:
    return std::fmod(x, y);
  case Op::FloorDiv:
    return floorDivide(x, y);
  case Op::Mod: {
    double r = std::fmod(x, y);
    return r == 0 ? std::copysign(0.0, y) : (r < 0) != (y < 0) ? r + y : r;
  }
  default:
    return pickFloat(x, y, op == Op::Min);
  }
}

template <typename T>
static bool compare(Op op, T x, T y) {
  switch (op) {
  case Op::Eq:
    return x == y;
  case Op::Ne:
    return x != y;
  case Op::Lt:
    return x < y;
  case Op::Le:
    return x <= y;
  case Op::Gt:
    return x > y;
  default:
    return x >= y;
  }
}

//===-- Evaluation ----------------------------------------------------------===//

namespace {
class Evaluator {
public:
  Evaluator(const std::vector<Node> &nodes, std::span<const KernelArg> args, int32_t numSMs)
      : nodes(nodes), args(args), numSMs(numSMs) {}

  HostValue run(uint32_t index) {
    if (reason)
      return {};
    const Node &n = nodes[index];
    switch (n.op) {
    case Op::Constant:
      return n.value;
    case Op::Dim:
      return dim(n);
    case Op::Arg:
      return scalar(n);
    case Op::NumSMs:
      return HostValue::integer(numSMs);
    case Op::Aligned:
      return aligned(n);
    case Op::Not:
      return HostValue::boolean(!condition(n.lhs));
    case Op::And:
      return HostValue::boolean(condition(n.lhs) && condition(n.rhs));
    case Op::Or:
      return HostValue::boolean(condition(n.lhs) || condition(n.rhs));
    case Op::Select:
      return run(condition(n.lhs) ? n.rhs : n.third);
    case Op::Neg:
    case Op::Abs:
    case Op::ToInt:
    case Op::ToFloat:
      return unary(n.op, run(n.lhs));
    default:
      return binary(n.op, run(n.lhs), run(n.rhs));
    }
  }

  const char *reason = nullptr;

private:
  HostValue fail(const char *why) {
    if (!reason)
      reason = why;
    return {};
  }

  bool condition(uint32_t index) {
    HostValue v = run(index);
    if (!reason && !v.isBool())
      fail("a bool is needed");
    return v.i != 0;
  }

  const ArrayArg *array(const Node &n) {
    return n.a < args.size() ? std::get_if<ArrayArg>(&args[n.a]) : nullptr;
  }

  HostValue dim(const Node &n) {
    const ArrayArg *a = array(n);
    if (!a || n.b >= static_cast<unsigned>(maxRank) || static_cast<int>(n.b) >= a->rank)
      return fail("no such dim");
    return HostValue::integer(a->dims[n.b]);
  }

  HostValue scalar(const Node &n) {
    const ScalarArg *s = n.a < args.size() ? std::get_if<ScalarArg>(&args[n.a]) : nullptr;
    return s ? scalarValue(*s) : fail("no such scalar");
  }

  HostValue aligned(const Node &n) {
    const ArrayArg *a = array(n);
    HostValue bytes = run(n.lhs);
    if (!a)
      return fail("no such array");
    if (!bytes.isInt() || bytes.i <= 0)
      return fail("alignment is not a positive int");
    return HostValue::boolean(reinterpret_cast<uintptr_t>(a->data) %
                                  static_cast<uint64_t>(bytes.i) ==
                              0);
  }

  HostValue unary(Op op, HostValue x) {
    if (reason)
      return {};
    if (op == Op::ToInt)
      return HostValue::integer(x.isFloat() ? toInt(x.f) : x.i);
    if (op == Op::ToFloat)
      return HostValue::real(x.isFloat() ? x.f : static_cast<double>(x.i));
    if (x.isBool())
      return fail("a number is needed, found a bool");
    if (x.isFloat())
      return HostValue::real(op == Op::Neg ? -x.f : std::fabs(x.f));
    return HostValue::integer(op == Op::Neg || x.i < 0 ? wrap(0 - static_cast<uint64_t>(x.i))
                                                       : x.i);
  }

  HostValue binary(Op op, HostValue x, HostValue y) {
    if (reason)
      return {};
    bool isCompare = op >= Op::Eq && op <= Op::Ge;
    if (x.isBool() || y.isBool()) {
      if ((op == Op::Eq || op == Op::Ne) && x.isBool() && y.isBool())
        return HostValue::boolean(compare(op, x.i, y.i));
      return fail("a number is needed, found a bool");
    }
    if (x.isFloat() || y.isFloat()) {
      double a = x.isFloat() ? x.f : static_cast<double>(x.i);
      double b = y.isFloat() ? y.f : static_cast<double>(y.i);
      if (op == Op::CeilDiv)
        return fail("cdiv needs ints");
      return isCompare ? HostValue::boolean(compare(op, a, b))
                       : HostValue::real(floatBinary(op, a, b));
    }
    if (isCompare)
      return HostValue::boolean(compare(op, x.i, y.i));
    return integerBinary(op, x.i, y.i);
  }

  HostValue integerBinary(Op op, int64_t x, int64_t y) {
    auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    switch (op) {
    case Op::Add:
      return HostValue::integer(wrap(a + b));
    case Op::Sub:
      return HostValue::integer(wrap(a - b));
    case Op::Mul:
      return HostValue::integer(wrap(a * b));
    case Op::Min:
      return HostValue::integer(x < y ? x : y);
    case Op::Max:
      return HostValue::integer(x < y ? y : x);
    default:
      if (y == 0)
        return fail("division by zero");
      return HostValue::integer(divide(op, x, y));
    }
  }

  const std::vector<Node> &nodes;
  std::span<const KernelArg> args;
  int32_t numSMs;
};
} // namespace

Expected<HostValue> HostExpr::evaluate(std::span<const KernelArg> args, int32_t numSMs) const {
  Evaluator evaluator(nodes, args, numSMs);
  HostValue value = evaluator.run(static_cast<uint32_t>(nodes.size()) - 1);
  if (evaluator.reason)
    return failure(std::string(evaluator.reason) + " in `" + str() + "`");
  return value;
}

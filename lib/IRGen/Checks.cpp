//===- Checks.cpp - what `--checked` adds to a program ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the language takes on trust or leaves to wrap becomes an assertion:
//
//   assume(c), requires c      c holds
//   a + b, a - b, a * b, -a    on `int`: the exact result fits 64 bits
//   a / b, a % b, floordiv …   on integers: b is not zero
//
// On tiles the assertion tells the first element that fails. Combining fns are left
// as they are: a reduction may apply them to any elements, in any order.

#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::irgen;
using checked::BinaryOp;

static constexpr char wraps[] = " leaves the range of `int` (64 bits), and wraps";

/// The text of `range` on one line, cut when long.
static std::string quoted(const SourceManager &sources, SourceRange range) {
  constexpr size_t most = 60;
  std::string text;
  for (char c : sources.getText(range)) {
    bool isSpace = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!isSpace || (!text.empty() && text.back() != ' '))
      text += isSpace ? ' ' : c;
  }
  if (text.size() > most)
    text = text.substr(0, most) + "…";
  return "`" + text + "`";
}

void Generator::assume(Location loc, Value condition, const llvm::Twine &text) {
  if (!options.checked) {
    tile::AssumeOp::create(builder, loc, condition);
    return;
  }
  tile::AssertOp::create(builder, loc, condition, text.str());
}

void Generator::assumeStatement(const checked::AssumeStmt *stmt, Location loc) {
  Value condition = expression(stmt->condition);
  assume(loc, condition,
         "the assumption " + quoted(sources, stmt->condition->loc.range) + " is false");
}

/// `x` is not negative, for every element.
static Value isNotNegative(Elementwise at, Value x) {
  return at.compare(checked::CompareOp::Ge, DType::Int, x, at.integer(DType::Int, 0, x));
}

void Generator::checkBinary(const checked::BinaryExpr *expr, Value a, Value b, Value result,
                            Location loc) {
  DType dtype = expr->type.dtype();
  if (!options.checked || inCombiner || !isInteger(dtype))
    return;
  Elementwise at = this->at(loc);
  Value holds;
  const char *message = wraps;
  switch (expr->op) {
  case BinaryOp::Add:
  case BinaryOp::Sub: {
    if (dtype != DType::Int)
      return;
    // Signs: a sum goes wrong when both operands have another sign than it, a
    // difference when the operands differ and the result is unlike the first.
    Value other = expr->op == BinaryOp::Add
                      ? at.binary(BinaryOp::Xor, dtype, b, result)
                      : at.binary(BinaryOp::Xor, dtype, a, b);
    Value own = at.binary(BinaryOp::Xor, dtype, a, result);
    holds = isNotNegative(at, at.binary(BinaryOp::And, dtype, own, other));
    break;
  }
  case BinaryOp::Mul: {
    if (dtype != DType::Int)
      return;
    Value high = at.binary(BinaryOp::MulHi, dtype, a, b);
    Value sign = at.binary(BinaryOp::Shr, dtype, result, at.integer(dtype, 63, result));
    holds = at.compare(checked::CompareOp::Eq, dtype, high, sign);
    break;
  }
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::CeilDiv:
  case BinaryOp::Rem:
  case BinaryOp::Mod:
    message = " divides by zero, which gives any value";
    holds = at.compare(checked::CompareOp::Ne, dtype, b, at.integer(dtype, 0, b));
    break;
  default:
    return;
  }
  tile::AssertOp::create(builder, loc, holds, quoted(sources, expr->loc.range) + message);
}

void Generator::checkUnary(const checked::UnaryExpr *expr, Value x, Location loc) {
  if (!options.checked || inCombiner || expr->op != checked::UnaryOp::Neg ||
      expr->operand->type.dtype() != DType::Int)
    return;
  Elementwise at = this->at(loc);
  Value least = at.integer(DType::Int, uint64_t(1) << 63, x);
  tile::AssertOp::create(builder, loc, at.compare(checked::CompareOp::Ne, DType::Int, x, least),
                         quoted(sources, expr->loc.range) + wraps);
}

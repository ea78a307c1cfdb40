//===- SemaBuiltinOrder.cpp - scans, sorts, printing ----------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operations in which the order of elements along an axis counts, and the two
// statements of debugging.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

/// `axis:`, which may be left out for a tile of rank 1.
std::optional<unsigned> Sema::checkNamedAxis(CallArgs &args, unsigned rank) {
  if (const ast::Expr *expr = args.get("axis"))
    return checkAxis(expr, rank, "`axis`");
  if (rank == 1)
    return 0;
  error(diag::missing_argument, args.call->parens)
      .arg(args.builtin->name)
      .arg("axis")
      .help("the tile has rank " + std::to_string(rank) + ": `axis: " +
            std::to_string(rank - 1) + "` is the last axis");
  return std::nullopt;
}

/// A compile-time bool argument, false when not given.
bool Sema::checkFlag(CallArgs &args, StringRef name, bool &flag) {
  flag = false;
  const ast::Expr *expr = args.get(name);
  if (!expr)
    return true;
  std::optional<bool> value = checkConstBool(expr, ("`" + name + "`").str());
  flag = value.value_or(false);
  return value.has_value();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

Operand Sema::checkCumulative(CallArgs &args) {
  const auto kind = static_cast<checked::ScanKind>(args.builtin->op);
  Operand operand = checkValue(args.values[0]);
  bool reverse, exclusive;
  if (!checkTile(operand, args.builtin->name))
    return Operand::poison(args.range);
  std::optional<unsigned> axis = checkNamedAxis(args, operand.type().rank());
  if (!checkFlag(args, "reverse", reverse) ||
      !checkFlag(args, "exclusive", exclusive) || !axis)
    return Operand::poison(args.range);
  const DType dtype = operand.type().dtype();
  const bool isSum =
      kind == checked::ScanKind::Sum || kind == checked::ScanKind::Prod;
  if (!(isSum && dtype == DType::Bool) &&
      !requireDomain(operand, Domain::Number, args.builtin->name))
    return Operand::poison(args.range);
  checked::Expr *value = isSum ? widenForSum(operand) : operand.expr;
  auto *scan = make<checked::ScanExpr>(value->type, args.range);
  scan->op = kind;
  scan->operand = value;
  scan->axis = *axis;
  scan->reverse = reverse;
  scan->exclusive = exclusive;
  return inheritShape(Operand::runtime(scan, args.range), {&operand});
}

/// scan(x, axis, fn, reverse:, exclusive:, init:), or of a tuple.
Operand Sema::checkCustomScan(CallArgs &args) {
  SmallVector<Operand> operands, inits;
  if (!evaluateTiles(args.values[0], "scan", operands))
    return Operand::poison(args.range);
  const Type first = operands.front().type();
  bool reverse, exclusive;
  std::optional<unsigned> axis =
      checkAxis(args.values[1], first.rank(), "`axis`");
  if (!axis || !checkFlag(args, "reverse", reverse) ||
      !checkFlag(args, "exclusive", exclusive))
    return Operand::poison(args.range);
  const ast::Expr *initExpr = args.get("init");
  if (exclusive && !initExpr) {
    error(diag::missing_argument, args.call->parens)
        .arg("scan")
        .arg("init")
        .help("an exclusive scan starts from it");
    return Operand::poison(args.range);
  }
  if (initExpr && !evaluateOperands(initExpr, inits))
    return Operand::poison(args.range);
  if (initExpr && inits.size() != operands.size()) {
    error(diag::reduction_inits, initExpr->getRange())
        .arg("scan")
        .arg(int64_t(operands.size()))
        .arg(int64_t(inits.size()));
    return Operand::poison(args.range);
  }
  SmallVector<checked::Expr *> values, initValues;
  SmallVector<Type> scalars, results;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const Type scalar = Type::scalar(operand.type().dtype());
    values.push_back(operand.expr);
    scalars.push_back(scalar);
    results.push_back(operand.type());
    if (!exclusive)
      continue;
    if (inits[i].isWeak() && !convertWeakTo(inits[i], scalar.dtype()))
      return Operand::poison(args.range);
    if (!(inits[i].type() == scalar)) {
      error(diag::argument_kind, inits[i].range)
          .arg("scan")
          .arg("init")
          .arg(scalar.str())
          .arg(describe(inits[i]));
      return Operand::poison(args.range);
    }
    initValues.push_back(materialize(inits[i]));
  }
  const ast::FnDecl *fn = checkFnArg(args.values[2], "scan");
  checked::Region region;
  if (!fn || !makeRegion(fn, scalars, args.range, region))
    return Operand::poison(args.range);
  auto *scan = make<checked::CustomScanExpr>(results.front(), args.range);
  scan->operands = copy(values);
  scan->inits = copy(initValues);
  scan->axis = *axis;
  scan->reverse = reverse;
  scan->exclusive = exclusive;
  scan->region = region;
  scan->resultTypes = copy(results);
  if (results.size() > 1)
    return tupleOf(scan, args.range);
  return inheritShape(Operand::runtime(scan, args.range), {&operands.front()});
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// sort(x), or sort((keys, payload…)) which gives a tuple.
Operand Sema::checkSort(CallArgs &args) {
  SmallVector<Operand> operands;
  if (!evaluateTiles(args.values[0], "sort", operands) ||
      !requireDomain(operands.front(), Domain::Number, "sort"))
    return Operand::poison(args.range);
  SmallVector<checked::Expr *> values;
  SmallVector<Type> results;
  for (const Operand &operand : operands) {
    values.push_back(operand.expr);
    results.push_back(operand.type());
  }
  const Type keys = results.front();
  bool descending;
  std::optional<unsigned> axis = checkNamedAxis(args, keys.rank());
  if (!axis || !checkFlag(args, "descending", descending))
    return Operand::poison(args.range);
  auto *sort = make<checked::SortExpr>(keys, args.range);
  sort->operands = copy(values);
  sort->axis = *axis;
  sort->descending = descending;
  sort->resultTypes = copy(results);
  if (operands.size() > 1)
    return tupleOf(sort, args.range);
  return inheritShape(Operand::runtime(sort, args.range), {&operands.front()});
}

Operand Sema::checkArgSort(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "argsort") ||
      !requireDomain(operand, Domain::Number, "argsort"))
    return Operand::poison(args.range);
  bool descending;
  std::optional<unsigned> axis = checkNamedAxis(args, operand.type().rank());
  if (!axis || !checkFlag(args, "descending", descending))
    return Operand::poison(args.range);
  auto *sort = make<checked::ArgSortExpr>(operand.type().withDType(DType::Int),
                                          args.range);
  sort->operand = operand.expr;
  sort->axis = *axis;
  sort->descending = descending;
  return inheritShape(Operand::runtime(sort, args.range), {&operand});
}

/// (values, indices) of the k largest.
Operand Sema::checkTopK(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "topk") ||
      !requireDomain(operand, Domain::Number, "topk"))
    return Operand::poison(args.range);
  std::optional<int64_t> count = checkConstInt(args.values[1], "`k`");
  std::optional<unsigned> axis = checkNamedAxis(args, operand.type().rank());
  if (!count || !axis)
    return Operand::poison(args.range);
  const int64_t most = operand.type().dim(*axis);
  if (*count < 1 || *count > most ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(*count))) {
    error(diag::topk_count, args.values[1]->getRange()).arg(most).arg(*count);
    return Operand::poison(args.range);
  }
  SmallVector<int64_t> shape(operand.type().shape());
  shape[*axis] = *count;
  const Type types[] = {operand.type().withShape(shape),
                        Type::tile(DType::Int, shape)};
  auto *result = make<checked::TopKExpr>(types[0], args.range);
  result->operand = operand.expr;
  result->axis = *axis;
  result->resultTypes = copy(ArrayRef<Type>(types));
  return tupleOf(result, args.range);
}

Operand Sema::checkHistogram(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  int64_t bins = 1;
  const bool isValid = checkTileDim(args.values[1], bins) &&
                       checkTileSize({bins}, args.values[1]->getRange());
  if (!checkTile(operand, "histogram") || !isValid ||
      !requireDomain(operand, Domain::Integer, "histogram"))
    return Operand::poison(args.range);
  auto *result =
      make<checked::HistogramExpr>(Type::tile(DType::I32, {bins}), args.range);
  result->operand = operand.expr;
  return Operand::runtime(result, args.range);
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

Operand Sema::checkPrint(CallArgs &args) {
  SmallVector<StringRef> pieces;
  if (!checkFormat(args, "print", pieces))
    return Operand::poison(args.range);
  SmallVector<checked::Expr *> values;
  for (const ast::Expr *expr : args.rest) {
    Operand value = checkValue(expr);
    if (value.isPoison() || !convertWeakTo(value, value.type().dtype()))
      return Operand::poison(args.range);
    values.push_back(materialize(value));
  }
  for (StringRef &piece : pieces)
    piece = out.copy(piece);
  auto *print = emit<checked::PrintStmt>(args.range);
  print->pieces = copy(pieces);
  print->values = copy(values);
  return Operand::nothing(args.range);
}

Operand Sema::checkAssert(CallArgs &args) {
  Operand condition = checkValue(args.values[0]);
  if (condition.isPoison())
    return condition;
  if (condition.type().dtype() != DType::Bool) {
    error(diag::argument_kind, condition.range)
        .arg("assert")
        .arg("cond")
        .arg("bool")
        .arg(describe(condition));
    return Operand::poison(args.range);
  }
  auto *message = args.values[1]
                      ? dyn_cast<ast::StringLiteralExpr>(args.values[1])
                      : nullptr;
  if (args.values[1] && !message) {
    error(diag::argument_kind, args.values[1]->getRange())
        .arg("assert")
        .arg("message")
        .arg("a string")
        .arg(textOf(args.values[1]->getRange()));
    return Operand::poison(args.range);
  }
  if (condition.isConstant() && condition.constant->isTrue())
    return Operand::nothing(args.range);
  auto *assertion = emit<checked::AssertStmt>(args.range);
  assertion->condition = materialize(condition);
  assertion->message =
      out.copy(message ? message->value : StringRef(textOf(condition.range)));
  return Operand::nothing(args.range);
}

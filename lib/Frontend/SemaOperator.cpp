//===- SemaOperator.cpp - operators
//----------------------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// An operator brings its operands to one dtype and one shape (SemaConvert.cpp),
// and folds when all of them are compile-time values.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// Reports a dtype that the operation is not defined for (type-C1, type-C2).
bool Sema::requireDomain(const Operand &operand, Domain domain,
                         StringRef what) {
  const DType dtype = operand.type().dtype();
  const bool isOkay = domain == Domain::Number
                          ? isInteger(dtype) || isComputeFloat(dtype)
                      : domain == Domain::Integer ? isInteger(dtype)
                                                  : isComputeFloat(dtype);
  if (isOkay)
    return true;
  auto builder = error(diag::dtype_not_supported, operand.range);
  builder.arg(what).arg(operand.type().str());
  if (operand.isWeak() && operand.constant->isWeakInt())
    builder.help("write it as a float: `" + operand.constant->str() + ".0`");
  else if (dtype == DType::Bool && what == "~")
    builder.help("`!x` is the opposite of a bool");
  else if (isComputeFloat(dtype) && what == "^")
    builder.help("it is the exclusive or of bits; a power is `pow(x, y)`");
  else if (dtype == DType::Bool)
    builder.help(domain == Domain::Number ? what == "*" ? "`where(c, x, 0)` is x where c holds"
                                                        : "`.to(i32)` makes 0 and 1 of it"
                                          : "convert it by `.to`");
  else if (isF8(dtype) || dtype == DType::TF32)
    builder.help("it is for storage and `mma`; convert to compute: `.to(f32)`");
  else if (domain == Domain::Float)
    builder.help("convert it: `.to(f32)`");
  return false;
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static bool isPredicate(checked::UnaryOp op) {
  return op == checked::UnaryOp::IsNan || op == checked::UnaryOp::IsInf ||
         op == checked::UnaryOp::IsFinite;
}

/// The operand's dtype is one that the operation takes.
Operand Sema::applyUnary(checked::UnaryOp op, Operand operand,
                         SourceRange range) {
  if (operand.isPoison())
    return Operand::poison(range);
  if (operand.isConstant()) {
    EvalResult folded = evalUnary(op, *operand.constant);
    if (folded.value) {
      Operand result = Operand::constantOf(*folded.value, range);
      result.isArithmetic = true;
      return result;
    }
  }
  checked::Expr *value = materialize(operand);
  const Type type =
      isPredicate(op) ? value->type.withDType(DType::Bool) : value->type;
  auto *result = make<checked::UnaryExpr>(type, range);
  result->op = op;
  result->operand = value;
  return inheritShape(Operand::runtime(result, range), {&operand});
}

Operand Sema::checkUnaryOperator(const ast::UnaryExpr &expr) {
  Operand operand = checkValue(expr.operand);
  const SourceRange range = expr.getRange();
  if (operand.isPoison())
    return operand;
  switch (expr.op) {
  case ast::UnaryOp::Neg:
    if (!requireDomain(operand, Domain::Number, "-"))
      return Operand::poison(range);
    return applyUnary(checked::UnaryOp::Neg, operand, range);
  case ast::UnaryOp::BitNot:
    if (!requireDomain(operand, Domain::Integer, "~"))
      return Operand::poison(range);
    return applyUnary(checked::UnaryOp::Not, operand, range);
  case ast::UnaryOp::Not:
    break;
  }
  if (operand.type().dtype() != DType::Bool) {
    auto builder = error(diag::dtype_not_supported, operand.range);
    builder.arg("!").arg(operand.type().str());
    if (isInteger(operand.type().dtype()))
      builder.help("`~` inverts bits; `== 0` compares");
    return Operand::poison(range);
  }
  return applyUnary(checked::UnaryOp::Not, operand, range);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static bool isDivision(checked::BinaryOp op) {
  return op == checked::BinaryOp::Div || op == checked::BinaryOp::Rem ||
         op == checked::BinaryOp::FloorDiv || op == checked::BinaryOp::Mod ||
         op == checked::BinaryOp::CeilDiv;
}

/// Folds two constants of one kind; poison after an error, nothing when the
/// operation is left to run time.
Operand Sema::foldBinary(checked::BinaryOp op, const Operand &left,
                         const Operand &right, SourceRange range) {
  EvalResult folded = evalBinary(op, *left.constant, *right.constant);
  if (folded.value) {
    Operand result = Operand::constantOf(*folded.value, range);
    result.isArithmetic = true;
    return result;
  }
  if (folded.failure == EvalFailure::NotEvaluated)
    return Operand::nothing(range);
  if (folded.failure == EvalFailure::DivisionByZero)
    error(diag::division_by_zero, right.range);
  else
    error(diag::constant_overflow, range);
  return Operand::poison(range);
}

/// Both operands have one dtype already, that the operation takes.
Operand Sema::applyBinary(checked::BinaryOp op, Operand left, Operand right,
                          SourceRange range) {
  if (left.isConstant() && right.isConstant()) {
    Operand folded = foldBinary(op, left, right, range);
    if (folded.kind != Operand::Kind::Nothing)
      return folded;
  }
  const bool isInt = isInteger(right.type().dtype());
  if (isDivision(op) && isInt && right.isConstant() &&
      right.constant->toWideInt().isZero()) {
    error(diag::division_by_zero, right.range);
    return Operand::poison(range);
  }
  SmallVector<Operand *, 4> operands{&left, &right};
  if (!unifyShapes(operands, range, checked::spelling(op)))
    return Operand::poison(range);
  auto *result = make<checked::BinaryExpr>(left.expr->type, range);
  result->op = op;
  result->left = left.expr;
  result->right = right.expr;
  return inheritShape(Operand::runtime(result, range), {&left, &right});
}

Operand Sema::applyCompare(checked::CompareOp op, Operand left, Operand right,
                           SourceRange range) {
  if (left.isConstant() && right.isConstant())
    return Operand::constantOf(
        ConstValue::boolean(evalCompare(op, *left.constant, *right.constant)),
        range);
  SmallVector<Operand *, 4> operands{&left, &right};
  if (!unifyShapes(operands, range, checked::spelling(op)))
    return Operand::poison(range);
  auto *result =
      make<checked::CompareExpr>(left.expr->type.withDType(DType::Bool), range);
  result->op = op;
  result->left = left.expr;
  result->right = right.expr;
  return inheritShape(Operand::runtime(result, range), {&left, &right});
}

namespace {
/// What an operator of the syntax means.
struct OperatorInfo {
  bool isCompare = false;
  checked::BinaryOp op = checked::BinaryOp::Add;
  checked::CompareOp compare = checked::CompareOp::Eq;
  Domain domain = Domain::Number;
  bool takesBool = false;
};
} // namespace

static OperatorInfo operatorInfo(ast::BinaryOp op) {
  using B = checked::BinaryOp;
  using C = checked::CompareOp;
  switch (op) {
  case ast::BinaryOp::Mul:
    return {false, B::Mul};
  case ast::BinaryOp::Div:
    return {false, B::Div};
  case ast::BinaryOp::Rem:
    return {false, B::Rem};
  case ast::BinaryOp::Sub:
    return {false, B::Sub};
  case ast::BinaryOp::Shl:
    return {false, B::Shl, C::Eq, Domain::Integer};
  case ast::BinaryOp::Shr:
    return {false, B::Shr, C::Eq, Domain::Integer};
  case ast::BinaryOp::BitAnd:
    return {false, B::And, C::Eq, Domain::Integer, true};
  case ast::BinaryOp::BitXor:
    return {false, B::Xor, C::Eq, Domain::Integer, true};
  case ast::BinaryOp::BitOr:
    return {false, B::Or, C::Eq, Domain::Integer, true};
  case ast::BinaryOp::Eq:
    return {true, B::Add, C::Eq, Domain::Number, true};
  case ast::BinaryOp::Ne:
    return {true, B::Add, C::Ne, Domain::Number, true};
  case ast::BinaryOp::Lt:
    return {true, B::Add, C::Lt};
  case ast::BinaryOp::Le:
    return {true, B::Add, C::Le};
  case ast::BinaryOp::Gt:
    return {true, B::Add, C::Gt};
  case ast::BinaryOp::Ge:
    return {true, B::Add, C::Ge};
  default:
    return {};
  }
}

Operand Sema::applyBinary(ast::BinaryOp op, Operand left, Operand right,
                          SourceRange range, SourceRange opRange) {
  if (left.isPoison() || right.isPoison())
    return Operand::poison(range);
  if (op == ast::BinaryOp::MatMul)
    return makeMma(left, right, std::nullopt, checked::MmaPrecision::Default,
                   range);
  const StringRef spelled = ast::spelling(op);
  const OperatorInfo info = operatorInfo(op);
  const bool isBool = info.takesBool && left.type().dtype() == DType::Bool &&
                      right.type().dtype() == DType::Bool;
  // Said of the operand itself, before a literal beside it is said not to fit.
  for (const Operand *operand : {&left, &right})
    if (!operand->isWeak() && operand->type().dtype() == DType::Bool &&
        !info.takesBool && !requireDomain(*operand, info.domain, spelled))
      return Operand::poison(range);
  if (!unifyPair(left, right, range, spelled))
    return Operand::poison(range);
  if (!isBool && (!requireDomain(left, info.domain, spelled) ||
                  !requireDomain(right, info.domain, spelled)))
    return Operand::poison(range);
  if (info.isCompare)
    return applyCompare(info.compare, left, right, range);
  return applyBinary(info.op, left, right, range);
}

Operand Sema::checkBinaryOperator(const ast::BinaryExpr &expr) {
  if (expr.op == ast::BinaryOp::LogicalAnd ||
      expr.op == ast::BinaryOp::LogicalOr)
    return checkLogical(expr);
  Operand left = checkExpr(expr.lhs);
  Operand right = checkExpr(expr.rhs);
  // Dtypes are compared at compile time.
  if (left.kind == Operand::Kind::DType && right.kind == Operand::Kind::DType &&
      (expr.op == ast::BinaryOp::Eq || expr.op == ast::BinaryOp::Ne))
    return Operand::constantOf(
        ConstValue::boolean((left.dtype == right.dtype) ==
                            (expr.op == ast::BinaryOp::Eq)),
        expr.getRange());
  left = requireValue(std::move(left));
  right = requireValue(std::move(right));
  return applyBinary(expr.op, std::move(left), std::move(right),
                     expr.getRange(), expr.opRange);
}

Operand Sema::checkArm(const ast::Expr *expr,
                       std::vector<checked::Stmt *> &emitted) {
  Operand value;
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &emitted);
    value = checkExpr(expr);
    if (value.kind != Operand::Kind::DType)
      value = requireValue(std::move(value));
  }
  // Values of arguments may be computed early; a call may not.
  bool hasCall = llvm::any_of(emitted, [](const checked::Stmt *stmt) {
    auto *let = dyn_cast<checked::LetStmt>(stmt);
    return !let || (let->init && llvm::isa<checked::InlineExpr>(let->init));
  });
  if (!hasCall) {
    block->insert(block->end(), emitted.begin(), emitted.end());
    emitted.clear();
  }
  return value;
}

checked::Expr *Sema::afterStatements(ArrayRef<checked::Stmt *> emitted,
                                     checked::Expr *value, SourceRange range,
                                     StringRef name) {
  if (emitted.empty())
    return value;
  std::vector<checked::Stmt *> stmts(emitted);
  checked::Variable *variable = newVariable(name, value->type, false, range);
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
    auto *let = emit<checked::LetStmt>(range);
    let->variables = copy(ArrayRef<checked::Variable *>(variable));
    let->init = value;
  }
  auto *site = out.create<checked::CallSite>();
  site->callee = name;
  site->at = locOf(range);
  auto *body = out.create<checked::InlineBody>();
  body->call = site;
  body->results = copy(ArrayRef<checked::Variable *>(variable));
  body->body = copy(ArrayRef<checked::Stmt *>(stmts));
  auto *inlined = make<checked::InlineExpr>(variable->type, range);
  inlined->inlined = body;
  return inlined;
}

/// `&&` and `||`: scalars evaluate the right side only when needed, tiles are
/// combined elementwise.
Operand Sema::checkLogical(const ast::BinaryExpr &expr) {
  const bool isAnd = expr.op == ast::BinaryOp::LogicalAnd;
  const SourceRange range = expr.getRange();
  std::vector<checked::Stmt *> emitted;
  Operand left = checkValue(expr.lhs),
          right = requireValue(checkArm(expr.rhs, emitted));
  if (left.isPoison() || right.isPoison())
    return Operand::poison(range);
  for (const Operand *operand : {&left, &right}) {
    if (operand->type().dtype() == DType::Bool)
      continue;
    auto builder = error(diag::dtype_not_supported, operand->range);
    builder.arg(ast::spelling(expr.op)).arg(operand->type().str());
    if (isInteger(operand->type().dtype()))
      builder.help(isAnd ? "`&` is bitwise and" : "`|` is bitwise or");
    return Operand::poison(range);
  }
  const bool isTile = left.type().isTile() || right.type().isTile();
  const bool needsRight =
      isTile || (left.isConstant() && left.constant->isTrue() == isAnd);
  if (needsRight)
    block->insert(block->end(), emitted.begin(), emitted.end());
  if (isTile)
    return applyBinary(isAnd ? checked::BinaryOp::And : checked::BinaryOp::Or,
                       left, right, range);
  if (left.isConstant()) {
    Operand result = needsRight ? right : left;
    result.range = range;
    return result;
  }
  checked::Expr *condition = materialize(left);
  checked::Expr *other =
      afterStatements(emitted, materialize(right), expr.rhs->getRange());
  checked::Expr *decided =
      makeConstant(ConstValue::boolean(!isAnd), Type::scalar(DType::Bool),
                   locOf(expr.lhs->getRange()));
  auto *result =
      make<checked::ConditionalExpr>(Type::scalar(DType::Bool), range);
  result->condition = condition;
  result->whenTrue = isAnd ? other : decided;
  result->whenFalse = isAnd ? decided : other;
  return Operand::runtime(result, range);
}

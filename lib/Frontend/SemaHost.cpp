//===- SemaHost.cpp - requires and grid, for the launcher -----------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// `requires` and `grid` are checked as expressions of the body are, and then
// written down again in the grammar of Support/HostExpr.h, from the checked
// tree: so names are resolved, literals rounded and constants folded. A
// requirement that is always true costs the launcher nothing.
//
//   requires k % BK == 0   →   (eq (rem (dim a 1) (const 64)) (const 0))
//                          →   "dim(0, 1) % 64 == 0"
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "tilec/Support/HostExpr.h"

using namespace tilec;
using namespace tilec::sema;
using namespace tilec::checked;
using llvm::cast;
using llvm::dyn_cast;

namespace {
/// Rewrites a checked expression as a host expression.
class HostWriter {
public:
  std::optional<HostExpr> write(const checked::Expr *expr);
  /// What could not be written.
  const checked::Expr *culprit = nullptr;

private:
  std::optional<HostExpr> writeConstant(const ConstantExpr &expr);
  std::optional<HostExpr> writeBinary(const BinaryExpr &expr);
  std::optional<HostExpr> writeCast(const CastExpr &expr);
  std::optional<HostExpr> wrapped(HostExpr value, DType dtype);
};
} // namespace

std::optional<HostExpr> HostWriter::writeConstant(const ConstantExpr &expr) {
  const DType dtype = expr.type.dtype();
  if (dtype == DType::Bool)
    return HostExpr::boolean(expr.bits != 0);
  if (!isFloat(dtype))
    return HostExpr::integer(static_cast<int64_t>(expr.bits));
  llvm::APFloat value = ConstValue(dtype, expr.bits).toFloat();
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return HostExpr::real(value.convertToDouble());
}

/// The host computes in 64 bits: a result of a 32-bit dtype is brought back
/// into its range, as it wraps in the body.
std::optional<HostExpr> HostWriter::wrapped(HostExpr value, DType dtype) {
  const unsigned bits = dtypeBits(dtype);
  if (isFloat(dtype) || bits >= 64)
    return value;
  const HostExpr modulus = HostExpr::integer(int64_t(1) << bits);
  if (isUnsigned(dtype))
    return HostExpr::binary(HostExpr::Op::Mod, value, modulus);
  const HostExpr half = HostExpr::integer(int64_t(1) << (bits - 1));
  value = HostExpr::binary(HostExpr::Op::Add, value, half);
  value = HostExpr::binary(HostExpr::Op::Mod, value, modulus);
  return HostExpr::binary(HostExpr::Op::Sub, value, half);
}

std::optional<HostExpr> HostWriter::writeBinary(const BinaryExpr &expr) {
  HostExpr::Op op;
  bool mayWrap = false;
  const DType dtype = expr.type.dtype();
  switch (expr.op) {
  case checked::BinaryOp::Add:
    op = HostExpr::Op::Add;
    mayWrap = true;
    break;
  case checked::BinaryOp::Sub:
    op = HostExpr::Op::Sub;
    mayWrap = true;
    break;
  case checked::BinaryOp::Mul:
    op = HostExpr::Op::Mul;
    mayWrap = true;
    break;
  case checked::BinaryOp::Div:
    op = HostExpr::Op::Div;
    break;
  case checked::BinaryOp::Rem:
    op = HostExpr::Op::Rem;
    break;
  case checked::BinaryOp::FloorDiv:
    op = HostExpr::Op::FloorDiv;
    break;
  case checked::BinaryOp::Mod:
    op = HostExpr::Op::Mod;
    break;
  case checked::BinaryOp::CeilDiv:
    op = HostExpr::Op::CeilDiv;
    break;
  case checked::BinaryOp::Min:
    op = HostExpr::Op::Min;
    break;
  case checked::BinaryOp::Max:
    op = HostExpr::Op::Max;
    break;
  case checked::BinaryOp::And:
  case checked::BinaryOp::Or:
    op = expr.op == checked::BinaryOp::And ? HostExpr::Op::And
                                           : HostExpr::Op::Or;
    if (dtype != DType::Bool)
      return std::nullopt;
    break;
  default:
    return std::nullopt;
  }
  std::optional<HostExpr> left = write(expr.left), right = write(expr.right);
  if (!left || !right)
    return std::nullopt;
  HostExpr value = HostExpr::binary(op, *left, *right);
  return mayWrap ? wrapped(value, dtype) : value;
}

std::optional<HostExpr> HostWriter::writeCast(const CastExpr &expr) {
  std::optional<HostExpr> operand = write(expr.operand);
  if (!operand)
    return std::nullopt;
  const DType from = expr.operand->type.dtype(), to = expr.type.dtype();
  if (to == DType::F64 || to == DType::F32)
    return HostExpr::unary(HostExpr::Op::ToFloat, *operand);
  if (to == DType::Bool) {
    const HostExpr zero =
        isFloat(from) ? HostExpr::real(0) : HostExpr::integer(0);
    return HostExpr::binary(HostExpr::Op::Ne, *operand, zero);
  }
  if (isFloat(to) || (isFloat(from) && dtypeBits(to) < 64))
    return std::nullopt;
  if (isFloat(from) || from == DType::Bool)
    operand = HostExpr::unary(HostExpr::Op::ToInt, *operand);
  return wrapped(*operand, to);
}

std::optional<HostExpr> HostWriter::write(const checked::Expr *expr) {
  auto written = [&]() -> std::optional<HostExpr> {
    if (!expr->type.isScalar())
      return std::nullopt;
    switch (expr->kind) {
    case checked::Expr::Kind::Constant:
      return writeConstant(*cast<ConstantExpr>(expr));
    case checked::Expr::Kind::ScalarParam:
      return HostExpr::arg(cast<ScalarParamExpr>(expr)->param->index);
    case checked::Expr::Kind::ArrayDim:
      return HostExpr::dim(cast<ArrayDimExpr>(expr)->array->index,
                           cast<ArrayDimExpr>(expr)->axis);
    case checked::Expr::Kind::NumSMs:
      return HostExpr::numSMs();
    case checked::Expr::Kind::Aligned:
      return HostExpr::aligned(
          cast<AlignedExpr>(expr)->array->index,
          HostExpr::integer(cast<AlignedExpr>(expr)->bytes));
    case checked::Expr::Kind::Binary:
      return writeBinary(*cast<checked::BinaryExpr>(expr));
    case checked::Expr::Kind::Cast:
      return writeCast(*cast<CastExpr>(expr));
    case checked::Expr::Kind::Unary: {
      auto *unary = cast<checked::UnaryExpr>(expr);
      std::optional<HostExpr> operand = write(unary->operand);
      const bool isBool = expr->type.dtype() == DType::Bool;
      if (operand && unary->op == checked::UnaryOp::Neg)
        return wrapped(HostExpr::unary(HostExpr::Op::Neg, *operand),
                       expr->type.dtype());
      if (operand && unary->op == checked::UnaryOp::Abs)
        return wrapped(HostExpr::unary(HostExpr::Op::Abs, *operand),
                       expr->type.dtype());
      if (operand && unary->op == checked::UnaryOp::Not && isBool)
        return HostExpr::unary(HostExpr::Op::Not, *operand);
      return std::nullopt;
    }
    case checked::Expr::Kind::Compare: {
      static constexpr HostExpr::Op ops[] = {
          HostExpr::Op::Eq, HostExpr::Op::Ne, HostExpr::Op::Lt,
          HostExpr::Op::Le, HostExpr::Op::Gt, HostExpr::Op::Ge};
      auto *compare = cast<CompareExpr>(expr);
      std::optional<HostExpr> left = write(compare->left),
                              right = write(compare->right);
      if (!left || !right || compare->left->type.dtype() == DType::Bool)
        return std::nullopt;
      return HostExpr::binary(ops[static_cast<unsigned>(compare->op)], *left,
                              *right);
    }
    case checked::Expr::Kind::Conditional: {
      auto *conditional = cast<checked::ConditionalExpr>(expr);
      std::optional<HostExpr> condition = write(conditional->condition);
      std::optional<HostExpr> whenTrue = write(conditional->whenTrue),
                              whenFalse = write(conditional->whenFalse);
      if (!condition || !whenTrue || !whenFalse)
        return std::nullopt;
      // `a && b` is `a ? b : false`, `a || b` is `a ? true : b`.
      const bool isBool = expr->type.dtype() == DType::Bool;
      if (auto *constant = dyn_cast<ConstantExpr>(conditional->whenFalse);
          isBool && constant && !constant->bits)
        return HostExpr::binary(HostExpr::Op::And, *condition, *whenTrue);
      if (auto *constant = dyn_cast<ConstantExpr>(conditional->whenTrue);
          isBool && constant && constant->bits)
        return HostExpr::binary(HostExpr::Op::Or, *condition, *whenFalse);
      return HostExpr::select(*condition, *whenTrue, *whenFalse);
    }
    default:
      return std::nullopt;
    }
  }();
  if (!written && !culprit)
    culprit = expr;
  return written;
}

std::optional<std::string> Sema::hostText(const checked::Expr *expr) {
  HostWriter writer;
  if (std::optional<HostExpr> written = writer.write(expr))
    return written->str();
  const SourceRange range =
      writer.culprit ? writer.culprit->loc.range : expr->loc.range;
  error(diag::not_host_expression, range)
      .arg(quoted(textOf(range)))
      .help("use dims, scalar parameters, compile-time values, `num_sms()`, "
            "arithmetic, comparisons, `&& || !`, `?:`, "
            "`cdiv floordiv mod min max abs` and `.to`");
  return std::nullopt;
}

/// Whether the expression asks for the address of an array: nothing to assume.
static bool hasAligned(const checked::Expr *expr) {
  if (llvm::isa<AlignedExpr>(expr))
    return true;
  if (auto *binary = dyn_cast<checked::BinaryExpr>(expr))
    return hasAligned(binary->left) || hasAligned(binary->right);
  if (auto *unary = dyn_cast<checked::UnaryExpr>(expr))
    return hasAligned(unary->operand);
  if (auto *conditional = dyn_cast<checked::ConditionalExpr>(expr))
    return hasAligned(conditional->condition) ||
           hasAligned(conditional->whenTrue) ||
           hasAligned(conditional->whenFalse);
  return false;
}

void Sema::checkRequirements(const ast::KernelDecl &decl) {
  Saved<bool> saved(inRequires, true);
  for (const ast::Expr *expr : decl.requirements) {
    Operand condition = checkCondition(expr, "a precondition");
    if (condition.isPoison())
      continue;
    Requirement requirement;
    requirement.text = out.copy(StringRef(textOf(expr->getRange())));
    requirement.range = expr->getRange();
    if (condition.isConstant()) {
      if (!condition.constant->isTrue())
        error(diag::constant_requirement, expr->getRange())
            .arg(requirement.text);
      continue;
    }
    std::optional<std::string> text = hostText(condition.expr);
    if (!text)
      continue;
    requirement.hostText = std::move(*text);
    requirement.condition =
        hasAligned(condition.expr) ? nullptr : condition.expr;
    kernel->requirements.push_back(std::move(requirement));
  }
}

void Sema::checkGrid(const ast::KernelDecl &decl) {
  kernel->hasGrid = decl.gridRange.isValid();
  for (const ast::Expr *expr : decl.grid) {
    Operand value = checkValue(expr);
    if (value.isPoison())
      continue;
    if (value.isConstant() && !isFloat(value.type().dtype()) &&
        value.type().dtype() != DType::Bool) {
      std::optional<int64_t> number = value.constant->toInt64();
      if (!number || *number < 0 || *number > INT32_MAX) {
        error(diag::grid_value, expr->getRange()).arg(value.constant->str());
        continue;
      }
    }
    checked::Expr *extent = toInt(value, "a grid value");
    if (!extent)
      continue;
    if (std::optional<std::string> text = hostText(extent))
      kernel->grid.push_back(std::move(*text));
  }
}

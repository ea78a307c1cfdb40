//===- SemaFlow.cpp - control flow ----------------------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops and conditions, and what they mean for variables without a value: the
// set of variables that are unset on some path is carried along and merged
// where paths meet. Each control statement also collects the outer variables
// that it assigns, which IRGen threads through it.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// `target` becomes what is known where both paths meet.
void Sema::mergeInto(Flow &target, const Flow &other) {
  if (!other.isReachable)
    return;
  if (!target.isReachable) {
    target = other;
    return;
  }
  target.unset.insert(other.unset.begin(), other.unset.end());
}

/// Gives variables that are unset here but not there the reason.
void Sema::explainUnset(Flow &here, const Flow &there,
                        const std::string &reason) {
  for (auto &[variable, why] : here.unset)
    if (there.isReachable && !there.unset.count(variable))
      why = reason;
}

ArrayRef<checked::Variable *> Sema::finishFrame(AssignedFrame &frame) {
  ArrayRef<checked::Variable *> assigned = frame.assigned.getArrayRef();
  return copy(assigned);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

void Sema::checkIf(const ast::IfStmt &stmt) {
  if (stmt.isConst())
    return checkIfConst(stmt);
  Operand condition = checkCondition(stmt.cond, "the condition of `if`");
  AssignedFrame frame{kernel ? kernel->numVariables : 0, {}};
  frames.push_back(&frame);
  ++function->runtimeDepth;
  const Flow before = flow;
  std::vector<checked::Stmt *> thenStmts = checkNested(stmt.thenBlock),
                               elseStmts;
  Flow thenFlow = std::move(flow);
  flow = before;
  if (stmt.elseStmt)
    elseStmts = checkNested(stmt.elseStmt);
  Flow elseFlow = std::move(flow);
  --function->runtimeDepth;
  frames.pop_back();
  const std::string text = textOf(stmt.cond->getRange());
  explainUnset(thenFlow, elseFlow, "when `" + text + "` is true");
  explainUnset(elseFlow, thenFlow, "when `" + text + "` is false");
  thenFlow.isSkipped = elseFlow.isSkipped = false;
  flow = std::move(thenFlow);
  mergeInto(flow, elseFlow);
  if (condition.isPoison())
    return;
  auto *result = emit<checked::IfStmt>(stmt.getRange());
  result->condition = materialize(condition);
  result->thenBlock = copy(ArrayRef<checked::Stmt *>(thenStmts));
  result->elseBlock = copy(ArrayRef<checked::Stmt *>(elseStmts));
  result->assigned = finishFrame(frame);
}

/// The arm that is not taken is not checked; nor is what follows when the taken
/// one leaves.
void Sema::checkIfConst(const ast::IfStmt &stmt) {
  std::optional<bool> condition =
      checkConstBool(stmt.cond, "the condition of `if const`");
  if (!condition)
    return;
  const ast::Stmt *arm = *condition ? stmt.thenBlock : stmt.elseStmt;
  if (!arm)
    return;
  std::vector<checked::Stmt *> stmts = checkNested(arm);
  if (!stmts.empty())
    emit<checked::ScopeStmt>(arm->getRange())->body =
        copy(ArrayRef<checked::Stmt *>(stmts));
  if (!flow.isReachable)
    flow.isSkipped = true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Walks the body (its scope is open) and gives the flow after the loop.
/// `entersAlways`: the body runs at least once.
Flow Sema::checkLoopBody(const ast::Block &body, bool entersAlways) {
  const Flow before = flow;
  LoopContext loop;
  loop.firstInnerId = kernel ? kernel->numVariables : 0;
  function->loops.push_back(std::move(loop));
  ++function->runtimeDepth;
  checkStmts(body.stmts);
  --function->runtimeDepth;
  loop = std::move(function->loops.back());
  function->loops.pop_back();
  Flow after = std::move(flow);
  after.isSkipped = false;
  if (loop.continues)
    mergeInto(after, *loop.continues);
  if (!entersAlways) {
    Flow skipped = before;
    explainUnset(skipped, after, "when the loop does not run");
    mergeInto(skipped, after);
    after = std::move(skipped);
  }
  if (loop.breaks)
    mergeInto(after, *loop.breaks);
  return after;
}

static constexpr StringRef stepHelp =
    "count up, and compute what goes down: `n - 1 - i`";

std::optional<int64_t> Sema::constStep(const ast::ForStmt &stmt) {
  if (!stmt.step)
    return 1;
  std::optional<int64_t> step =
      checkConstInt(stmt.step, "the step of `for const`");
  if (step && *step <= 0) {
    error(diag::step_not_positive, stmt.step->getRange())
        .arg(*step)
        .help(stepHelp);
    return std::nullopt;
  }
  return step;
}

void Sema::checkFor(const ast::ForStmt &stmt) {
  if (stmt.isConst())
    return checkForConst(stmt);
  Operand lower = checkValue(stmt.lo), upper = checkValue(stmt.hi);
  Operand step =
      stmt.step ? checkValue(stmt.step)
                : Operand::constantOf(ConstValue::integer(1), stmt.var.range);
  auto constant = [](const Operand &operand) -> std::optional<int64_t> {
    if (!operand.isConstant() || isFloat(operand.constant->dtype()))
      return std::nullopt;
    return operand.constant->toInt64();
  };
  if (std::optional<int64_t> value = constant(step); value && *value <= 0)
    error(diag::step_not_positive, stmt.step->getRange())
        .arg(*value)
        .help(stepHelp);
  const bool entersAlways =
      constant(lower) && constant(upper) && *constant(lower) < *constant(upper);
  checked::Expr *bounds[] = {toInt(lower, "a loop bound"),
                             toInt(upper, "a loop bound"),
                             toInt(step, "a loop step")};

  std::vector<checked::Stmt *> stmts;
  AssignedFrame frame{kernel ? kernel->numVariables : 0, {}};
  frames.push_back(&frame);
  function->scopes.emplace_back();
  Symbol *symbol = declare(stmt.var.text, stmt.var.range);
  symbol->kind = Symbol::Kind::Variable;
  symbol->isLoopVar = true;
  symbol->step = constant(step).value_or(0);
  symbol->variable = newVariable(stmt.var.text, Type::scalar(DType::Int), false,
                                 stmt.var.range);
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
    function->scopes.emplace_back();
    Flow after = checkLoopBody(*stmt.body, entersAlways);
    function->scopes.pop_back();
    flow = std::move(after);
  }
  function->scopes.pop_back();
  frames.pop_back();
  if (!bounds[0] || !bounds[1] || !bounds[2])
    return;
  auto *result = emit<checked::ForStmt>(stmt.getRange());
  result->induction = symbol->variable;
  result->lower = bounds[0];
  result->upper = bounds[1];
  result->step = bounds[2];
  result->body = copy(ArrayRef<checked::Stmt *>(stmts));
  result->assigned = finishFrame(frame);
}

void Sema::checkForConst(const ast::ForStmt &stmt) {
  std::optional<int64_t> lower =
      checkConstInt(stmt.lo, "a bound of `for const`");
  std::optional<int64_t> upper =
      checkConstInt(stmt.hi, "a bound of `for const`");
  std::optional<int64_t> step = constStep(stmt);
  if (!lower || !upper || !step)
    return;
  static constexpr uint64_t limit = 4096;
  const uint64_t span =
      *lower < *upper ? uint64_t(*upper) - uint64_t(*lower) : 0;
  const uint64_t count = span / uint64_t(*step) + (span % uint64_t(*step) != 0);
  if (count > limit) {
    error(diag::unroll_limit, stmt.getRange()).arg(llvm::Twine(count));
    return;
  }
  LoopContext loop;
  loop.isConst = true;
  loop.firstInnerId = kernel ? kernel->numVariables : 0;
  for (uint64_t i = 0;
       i < count && flow.isReachable && !reportedSize && !diags.shouldStop();
       ++i) {
    std::vector<checked::Stmt *> stmts;
    {
      Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
      function->loops.push_back(loop);
      function->scopes.emplace_back();
      const int64_t value = *lower + static_cast<int64_t>(i) * *step;
      declare(stmt.var.text, stmt.var.range)->value =
          Operand::constantOf(ConstValue::integer(value), stmt.var.range);
      function->scopes.back()[stmt.var.text]->isLoopVar = true;
      checkBlock(*stmt.body);
      function->scopes.pop_back();
      function->loops.pop_back();
    }
    if (!stmts.empty())
      emit<checked::ScopeStmt>(stmt.getRange())->body =
          copy(ArrayRef<checked::Stmt *>(stmts));
  }
  if (!flow.isReachable)
    flow.isSkipped = true;
}

void Sema::checkWhile(const ast::WhileStmt &stmt) {
  Operand condition = checkCondition(stmt.cond, "the condition of `while`");
  const bool isForever = condition.isConstant() && condition.constant->isTrue();
  std::vector<checked::Stmt *> stmts;
  AssignedFrame frame{kernel ? kernel->numVariables : 0, {}};
  frames.push_back(&frame);
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
    function->scopes.emplace_back();
    Flow after = isForever ? Flow() : checkLoopBody(*stmt.body, false);
    if (isForever) { // left only by `break`
      LoopContext loop;
      loop.firstInnerId = kernel ? kernel->numVariables : 0;
      function->loops.push_back(std::move(loop));
      ++function->runtimeDepth;
      checkStmts(stmt.body->stmts);
      --function->runtimeDepth;
      after.isReachable = false;
      if (function->loops.back().breaks)
        after = *function->loops.back().breaks;
      function->loops.pop_back();
    }
    function->scopes.pop_back();
    flow = std::move(after);
  }
  frames.pop_back();
  if (condition.isPoison())
    return;
  auto *result = emit<checked::WhileStmt>(stmt.getRange());
  result->condition = materialize(condition);
  result->body = copy(ArrayRef<checked::Stmt *>(stmts));
  result->assigned = finishFrame(frame);
}

void Sema::checkLoopExit(const ast::Stmt &stmt, bool isBreak) {
  StringRef word = isBreak ? "break" : "continue";
  if (function->loops.empty()) {
    error(diag::not_in_loop, stmt.getRange()).arg(word);
    return;
  }
  LoopContext &loop = function->loops.back();
  if (loop.isConst) {
    error(diag::exit_of_const_loop, stmt.getRange()).arg(word);
    return;
  }
  std::optional<Flow> &exits = isBreak ? loop.breaks : loop.continues;
  if (exits)
    mergeInto(*exits, flow);
  else
    exits = flow;
  if (isBreak)
    emit<checked::BreakStmt>(stmt.getRange());
  else
    emit<checked::ContinueStmt>(stmt.getRange());
  flow.isReachable = false;
}

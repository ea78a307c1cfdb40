//===- Statements.cpp - statements -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One function per kind of statement. Loops become `scf.for`, or `scf.while`
// when something inside may leave them.

#include "Generator.h"

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::irgen {

static bool isExit(const checked::Stmt *stmt) {
  using Kind = checked::Stmt::Kind;
  return stmt->kind == Kind::Break || stmt->kind == Kind::Continue ||
         stmt->kind == Kind::Return;
}

/// Whether control never comes to the end of `statements`.
static bool alwaysExits(ArrayRef<checked::Stmt *> statements) {
  if (statements.empty())
    return false;
  const checked::Stmt *last = statements.back();
  if (const auto *branch = llvm::dyn_cast<checked::IfStmt>(last))
    return alwaysExits(branch->thenBlock) && alwaysExits(branch->elseBlock);
  if (const auto *scope = llvm::dyn_cast<checked::ScopeStmt>(last))
    return alwaysExits(scope->body);
  return isExit(last);
}

void Generator::block(ArrayRef<checked::Stmt *> statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const checked::Stmt *stmt = statements[i];
    if (isExit(stmt)) {
      exit(stmt);
      return; // what follows is not reached
    }
    ArrayRef<checked::Stmt *> rest = statements.drop_front(i + 1);
    Variables exits = footprint(statements[i]).exits;
    if (exits.empty() || rest.empty()) {
      statement(stmt);
      continue;
    }
    ++exitDepth;
    if (exitDepth > maxExitDepth)
      guardEach(statements.drop_front(i));
    else if (!continueInArm(stmt, rest)) {
      statement(stmt);
      Location loc = location(stmt->loc);
      conditional(
          loc, noneSet(loc, exits), footprint(rest).assigned,
          [&] { block(rest); }, [] {});
    }
    --exitDepth;
    return;
  }
}

/// `if c { …; return; } rest` is `if c { …; return; } else { rest }`: no flag
/// has to be tested. Works when one arm always exits.
bool Generator::continueInArm(const checked::Stmt *stmt,
                              ArrayRef<checked::Stmt *> rest) {
  const auto *branch = llvm::dyn_cast<checked::IfStmt>(stmt);
  if (!branch)
    return false;
  SmallVector<checked::Stmt *> thenPart(branch->thenBlock),
      elsePart(branch->elseBlock);
  if (alwaysExits(thenPart))
    elsePart.append(rest.begin(), rest.end());
  else if (alwaysExits(elsePart))
    thenPart.append(rest.begin(), rest.end());
  else
    return false;
  Value condition = expression(branch->condition);
  ifArms(location(stmt->loc), condition, thenPart, elsePart);
  return true;
}

/// The flat form for very long chains of exits: each statement has a guard of
/// its own, so that regions do not nest. Variables that it defines leave the
/// guard.
void Generator::guardEach(ArrayRef<checked::Stmt *> statements) {
  Variables exits;
  for (checked::Stmt *const &stmt : statements) {
    Footprint print = footprint(stmt);
    Variables assigned = print.assigned;
    if (const auto *let = llvm::dyn_cast<checked::LetStmt>(stmt))
      assigned.insert_range(let->variables);
    Location loc = location(stmt->loc);
    conditional(
        loc, noneSet(loc, exits), assigned, [&] { statement(stmt); }, [] {});
    exits.insert_range(print.exits);
  }
}

void Generator::statement(const checked::Stmt *stmt) {
  Location loc = location(stmt->loc);
  using Kind = checked::Stmt::Kind;
  switch (stmt->kind) {
  case Kind::Let:
    return let(llvm::cast<checked::LetStmt>(stmt));
  case Kind::Assign: {
    const auto *assign = llvm::cast<checked::AssignStmt>(stmt);
    Value value = expression(assign->value);
    values[assign->variable] = value;
    return;
  }
  case Kind::Store:
    return store(llvm::cast<checked::StoreStmt>(stmt));
  case Kind::For:
    return forStatement(llvm::cast<checked::ForStmt>(stmt));
  case Kind::While:
    return whileStatement(llvm::cast<checked::WhileStmt>(stmt));
  case Kind::If:
    return ifStatement(llvm::cast<checked::IfStmt>(stmt));
  case Kind::Break:
  case Kind::Continue:
  case Kind::Return:
    return exit(stmt);
  case Kind::Fast: {
    arith::FastMathFlags before = flags;
    flags = flags | arith::FastMathFlags::afn;
    block(llvm::cast<checked::FastStmt>(stmt)->body);
    flags = before;
    return;
  }
  case Kind::Scope:
    return block(llvm::cast<checked::ScopeStmt>(stmt)->body);
  case Kind::Inline:
    return inlined(llvm::cast<checked::InlineStmt>(stmt)->inlined);
  case Kind::Eval:
    results(llvm::cast<checked::EvalStmt>(stmt)->value);
    return;
  case Kind::Assume:
    return assumeStatement(llvm::cast<checked::AssumeStmt>(stmt), loc);
  case Kind::Scatter:
  case Kind::Assert:
  case Kind::Print:
    return effect(stmt, loc);
  }
}

void Generator::let(const checked::LetStmt *stmt) {
  if (!stmt->init) {
    for (const checked::Variable *variable : stmt->variables)
      values.erase(variable);
    return;
  }
  SmallVector<Value> initial = results(stmt->init);
  for (auto [variable, value] : llvm::zip(stmt->variables, initial))
    values[variable] = value;
}

void Generator::store(const checked::StoreStmt *stmt) {
  SmallVector<Value> index = expressions(stmt->index);
  Value value = expression(stmt->value);
  tile::StoreOp::create(builder, location(stmt->loc), arrayOf(stmt->array),
                        index, value, orderAttr(stmt->order),
                        DenseBoolArrayAttr(),
                        stmt->elements ? builder.getUnitAttr() : UnitAttr());
}

void Generator::ifStatement(const checked::IfStmt *stmt) {
  Value condition = expression(stmt->condition);
  ifArms(location(stmt->loc), condition, stmt->thenBlock, stmt->elseBlock);
}

void Generator::ifArms(Location loc, Value condition,
                       ArrayRef<checked::Stmt *> thenPart,
                       ArrayRef<checked::Stmt *> elsePart) {
  Variables assigned = footprint(thenPart).assigned;
  assigned.insert_range(footprint(elsePart).assigned);
  conditional(
      loc, condition, assigned, [&] { block(thenPart); },
      [&] { block(elsePart); });
}

void Generator::exit(const checked::Stmt *stmt) {
  const checked::Variable *flag = nullptr;
  if (stmt->kind == checked::Stmt::Kind::Break)
    flag = loops.back().broken;
  else if (stmt->kind == checked::Stmt::Kind::Continue)
    flag = loops.back().skipped;
  else
    for (const Function &function : functions)
      if (function.target == llvm::cast<checked::ReturnStmt>(stmt)->target)
        flag = function.returned;
  if (flag)
    values[flag] = boolConstant(location(stmt->loc), true);
}

void Generator::inlined(const checked::InlineBody *body) {
  functions.push_back({body, newFlag()});
  loops.push_back({});
  for (const checked::Variable *variable : body->results)
    values.erase(variable);
  block(body->body);
  loops.pop_back();
  functions.pop_back();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Takes `if c { break; }` from the beginning of a loop's body: the loop runs while c is
/// false. Then no flag is carried, and the rest of the body stands under no condition.
static ArrayRef<checked::Stmt *>
takeLeadingBreaks(ArrayRef<checked::Stmt *> body,
                  SmallVectorImpl<const checked::Expr *> &conditions) {
  while (!body.empty()) {
    const auto *branch = llvm::dyn_cast<checked::IfStmt>(body.front());
    if (!branch || !branch->elseBlock.empty() || branch->thenBlock.size() != 1 ||
        branch->thenBlock.front()->kind != checked::Stmt::Kind::Break)
      break;
    conditions.push_back(branch->condition);
    body = body.drop_front();
  }
  return body;
}

Value Generator::goesOn(Location loc, Value condition,
                        ArrayRef<const checked::Expr *> breaks) {
  for (const checked::Expr *leaves : breaks)
    condition = conditionalValue(
        loc, builder.getI1Type(), condition,
        [&] {
          return arith::XOrIOp::create(builder, loc, expression(leaves),
                                       boolConstant(loc, true));
        },
        [&] { return boolConstant(loc, false); });
  return condition;
}

/// Whether `value` is known to be below 2^62: it is what an array (LaunchPlan.cpp), a grid or a
/// number of 32 bits has, or computed from these.
static bool isFarBelowEnd(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 2)
    return false;
  auto isSoToo = [&](unsigned operand) { return isFarBelowEnd(op->getOperand(operand), depth + 1); };
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.abs().ule(uint64_t(1) << 60);
  if (isa<tile::DimOp, tile::BlockIdOp, tile::NumBlocksOp, tile::NumSMsOp>(op))
    return true;
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(op)) {
    mlir::Type from = op->getOperand(0).getType();
    return from.isIndex() ? false : from.getIntOrFloatBitWidth() <= 32 || isSoToo(0);
  }
  if (auto divide = dyn_cast<tile::DivideOp>(op))
    return divide.getSignedness() == tile::Signedness::Signed && isSoToo(0);
  if (isa<arith::MinSIOp>(op) && depth == 0)
    return isSoToo(0) || isSoToo(1);
  return isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp>(op) && isSoToo(0) && isSoToo(1);
}

/// How many rounds there are from `lower` by `step`, which is positive, to `upper`.
Value Generator::numberOfRounds(Location loc, Value lower, Value upper, Value step) {
  Elementwise at = this->at(loc);
  auto number = [&](int64_t value) { return at.integer(DType::Int, uint64_t(value), lower); };
  // As unsigned: the distance may be more than a signed number holds. No loop has 2^63 rounds.
  Value last = at.binary(checked::BinaryOp::Sub, DType::Int,
                         at.binary(checked::BinaryOp::Sub, DType::Int, upper, lower), number(1));
  Value rounds = at.binary(checked::BinaryOp::Div, DType::U64, last, step);
  rounds = at.binary(checked::BinaryOp::Min, DType::U64, rounds, number(INT64_MAX - 1));
  rounds = at.binary(checked::BinaryOp::Add, DType::Int, rounds, number(1));
  Value runs = at.compare(checked::CompareOp::Lt, DType::Int, lower, upper);
  return at.select(runs, rounds, number(0));
}

/// A `for` that is left before its end, as a `while`. What it carries is its variable, unless that
/// could overflow behind the bound: then rounds are counted, and the variable is computed.
void Generator::countedLoop(const checked::ForStmt *stmt, Value lower, Value upper, Value step,
                            ArrayRef<checked::Stmt *> rest,
                            ArrayRef<const checked::Expr *> breaks, Variables carried,
                            const Variables &exits) {
  Location loc = location(stmt->loc);
  bool isByOne = matchPattern(step, m_One());
  bool counts = !isByOne && !(isFarBelowEnd(upper) && isFarBelowEnd(step));
  Value grows = counts ? at(loc).integer(DType::Int, 1, lower) : step;
  Value end = counts ? numberOfRounds(loc, lower, upper, step) : upper;
  Value round;
  auto takeVariable = [&] {
    round = values[stmt->induction];
    if (counts)
      values[stmt->induction] =
          at(loc).binary(checked::BinaryOp::Add, DType::Int, lower,
                         at(loc).binary(checked::BinaryOp::Mul, DType::Int, round, step));
  };
  values[stmt->induction] = counts ? at(loc).integer(DType::Int, 0, lower) : lower;
  carried.insert(stmt->induction);
  whileLoop(
      loc, carried, exits,
      [&] {
        takeVariable();
        return goesOn(loc, at(loc).compare(checked::CompareOp::Lt, DType::Int, round, end),
                      breaks);
      },
      [&] {
        takeVariable();
        Value own = round;
        block(rest);
        values[stmt->induction] = at(loc).binary(checked::BinaryOp::Add, DType::Int, own, grows);
      });
}

void Generator::forStatement(const checked::ForStmt *stmt) {
  Location loc = location(stmt->loc);
  Value lower = expression(stmt->lower), upper = expression(stmt->upper);
  Value step = expression(stmt->step);
  const auto *constantStep = llvm::dyn_cast<checked::ConstantExpr>(stmt->step);
  if (!constantStep || static_cast<int64_t>(constantStep->bits) <= 0) {
    // A step that is not positive gives no iteration.
    Elementwise at = this->at(loc);
    Value one = at.integer(DType::Int, 1, step);
    Value runs = at.compare(checked::CompareOp::Ge, DType::Int, step, one);
    upper = at.select(runs, upper, lower);
    step = at.binary(checked::BinaryOp::Max, DType::Int, step, one);
  }

  loops.push_back({newFlag(), newFlag()});
  SmallVector<const checked::Expr *> breaks;
  ArrayRef<checked::Stmt *> rest = takeLeadingBreaks(stmt->body, breaks);
  Footprint print = footprint(rest);
  Variables carried = print.assigned, exits = print.exits;
  carried.remove(loops.back().skipped);
  exits.remove(loops.back().skipped);
  if (exits.empty() && breaks.empty()) {
    SmallVector<Value> initial = valuesOf(carried, loc);
    auto op = scf::ForOp::create(builder, loc, lower, upper, step, initial);
    OpBuilder::InsertionGuard guard(builder);
    Block *body = op.getBody();
    if (!body->empty()) // the builder ends a loop that carries nothing
      body->back().erase();
    auto outside = values;
    builder.setInsertionPointToEnd(body);
    setValues(carried, op.getRegionIterArgs());
    values[stmt->induction] = op.getInductionVar();
    block(stmt->body);
    scf::YieldOp::create(builder, loc, valuesOf(carried, loc));
    values = outside;
    setValues(carried, op.getResults());
  } else {
    countedLoop(stmt, lower, upper, step, rest, breaks, carried, exits);
  }
  loops.pop_back();
}

void Generator::whileStatement(const checked::WhileStmt *stmt) {
  loops.push_back({newFlag(), newFlag()});
  SmallVector<const checked::Expr *> breaks;
  ArrayRef<checked::Stmt *> rest = takeLeadingBreaks(stmt->body, breaks);
  Footprint print = footprint(rest);
  Variables carried = print.assigned, exits = print.exits;
  carried.remove(loops.back().skipped);
  exits.remove(loops.back().skipped);
  Location loc = location(stmt->loc);
  whileLoop(
      loc, carried, exits,
      [&] { return goesOn(loc, expression(stmt->condition), breaks); },
      [&] { block(rest); });
  loops.pop_back();
}

} // namespace tilec::irgen

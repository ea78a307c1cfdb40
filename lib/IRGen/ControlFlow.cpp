//===- ControlFlow.cpp - regions, loops and exits -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How variables pass through `scf` regions, and how exits become flags. See
// Generator.h for the scheme.
//
//   for i in 0..n {            %r:2 = scf.while (%i, %x, %stop) {
//     if x > 9 { break; }        … i < n and not stop
//     x = x + 1;               } do {
//   }                            %stop2 = scf.if … { true } else { false }
//                                %x2 = scf.if (not %stop2) { x + 1 } else { x }

#include "Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec::irgen {

//===----------------------------------------------------------------------===//
// What statements assign
//===----------------------------------------------------------------------===//

namespace {

/// Walks statements, not expressions: what an expression assigns (inside an
/// inlined fn) is local to it.
class FootprintWalk {
public:
  FootprintWalk(Footprint &result,
                ArrayRef<const checked::Variable *> returnFlags,
                ArrayRef<const checked::InlineBody *> returnTargets,
                const checked::Variable *broken,
                const checked::Variable *skipped)
      : result(result), returnFlags(returnFlags), returnTargets(returnTargets),
        broken(broken), skipped(skipped) {}

  void walk(ArrayRef<checked::Stmt *> statements, bool inNestedLoop) {
    for (const checked::Stmt *stmt : statements)
      walk(stmt, inNestedLoop);
  }

private:
  void assign(const checked::Variable *variable) {
    if (!defined.contains(variable))
      result.assigned.insert(variable);
  }
  void exit(const checked::Variable *flag) {
    if (!flag)
      return;
    result.assigned.insert(flag);
    result.exits.insert(flag);
  }
  void walk(const checked::Stmt *stmt, bool inNestedLoop) {
    using Kind = checked::Stmt::Kind;
    switch (stmt->kind) {
    case Kind::Let:
      for (const checked::Variable *variable :
           llvm::cast<checked::LetStmt>(stmt)->variables)
        defined.insert(variable);
      break;
    case Kind::Assign:
      assign(llvm::cast<checked::AssignStmt>(stmt)->variable);
      break;
    case Kind::For: {
      const auto *loop = llvm::cast<checked::ForStmt>(stmt);
      defined.insert(loop->induction);
      walk(loop->body, /*inNestedLoop=*/true);
      break;
    }
    case Kind::While:
      walk(llvm::cast<checked::WhileStmt>(stmt)->body, /*inNestedLoop=*/true);
      break;
    case Kind::If: {
      const auto *branch = llvm::cast<checked::IfStmt>(stmt);
      walk(branch->thenBlock, inNestedLoop);
      walk(branch->elseBlock, inNestedLoop);
      break;
    }
    case Kind::Fast:
      walk(llvm::cast<checked::FastStmt>(stmt)->body, inNestedLoop);
      break;
    case Kind::Scope:
      walk(llvm::cast<checked::ScopeStmt>(stmt)->body, inNestedLoop);
      break;
    case Kind::Inline: {
      const auto *inlined = llvm::cast<checked::InlineStmt>(stmt)->inlined;
      walk(inlined->body, /*inNestedLoop=*/true);
      for (const checked::Variable *variable : inlined->results)
        assign(variable);
      break;
    }
    case Kind::Break:
      exit(inNestedLoop ? nullptr : broken);
      break;
    case Kind::Continue:
      exit(inNestedLoop ? nullptr : skipped);
      break;
    case Kind::Return:
      // A target that is not around us is a fn inlined further inside.
      for (auto [target, flag] : llvm::zip_equal(returnTargets, returnFlags))
        if (target == llvm::cast<checked::ReturnStmt>(stmt)->target)
          exit(flag);
      break;
    case Kind::Store:
    case Kind::Scatter:
    case Kind::Eval:
    case Kind::Assume:
    case Kind::Assert:
    case Kind::Print:
      break;
    }
  }

  Footprint &result;
  llvm::SmallPtrSet<const checked::Variable *, 16> defined;
  ArrayRef<const checked::Variable *> returnFlags;
  ArrayRef<const checked::InlineBody *> returnTargets;
  const checked::Variable *broken, *skipped;
};

} // namespace

Footprint Generator::footprint(ArrayRef<checked::Stmt *> statements) {
  SmallVector<const checked::Variable *> returnFlags;
  SmallVector<const checked::InlineBody *> returnTargets;
  for (const Function &function : functions) {
    returnFlags.push_back(function.returned);
    returnTargets.push_back(function.target);
  }
  Loop loop = loops.empty() ? Loop{} : loops.back();
  Footprint result;
  FootprintWalk(result, returnFlags, returnTargets, loop.broken, loop.skipped)
      .walk(statements, /*inNestedLoop=*/false);
  return result;
}

//===----------------------------------------------------------------------===//
// Variables and flags
//===----------------------------------------------------------------------===//

Value Generator::boolConstant(Location loc, bool value) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
}

const checked::Variable *Generator::newFlag() {
  // No value yet: valueOf gives false.
  flagVariables.push_back({"exit", Type::scalar(DType::Bool)});
  return &flagVariables.back();
}

Value Generator::noneSet(Location loc, const Variables &flags) {
  Value any;
  for (const checked::Variable *flag : flags) {
    Value value = valueOf(flag, loc);
    any = any ? Value(arith::OrIOp::create(builder, loc, any, value)) : value;
  }
  if (!any)
    return boolConstant(loc, true);
  return arith::XOrIOp::create(builder, loc, any, boolConstant(loc, true));
}

Value Generator::valueOf(const checked::Variable *variable, Location loc) {
  if (Value value = values.lookup(variable))
    return value;
  return zero(variable->type, loc);
}

SmallVector<Value> Generator::valuesOf(const Variables &variables,
                                       Location loc) {
  SmallVector<Value> result;
  for (const checked::Variable *variable : variables)
    result.push_back(valueOf(variable, loc));
  return result;
}

void Generator::setValues(const Variables &variables, ValueRange results) {
  for (auto [variable, value] : llvm::zip_equal(variables, results))
    values[variable] = value;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void Generator::conditional(Location loc, Value condition,
                            const Variables &assigned,
                            llvm::function_ref<void()> thenPart,
                            llvm::function_ref<void()> elsePart) {
  SmallVector<mlir::Type> types;
  for (const checked::Variable *variable : assigned)
    types.push_back(valueType(context, variable->type));
  auto op =
      scf::IfOp::create(builder, loc, types, condition, /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto before = values;
  auto part = [&](Block &block, llvm::function_ref<void()> body) {
    builder.setInsertionPointToEnd(&block);
    body();
    scf::YieldOp::create(builder, loc, valuesOf(assigned, loc));
    values = before;
  };
  part(op.getThenRegion().front(), thenPart);
  part(op.getElseRegion().front(), elsePart);
  setValues(assigned, op.getResults());
}

Value Generator::conditionalValue(Location loc, mlir::Type type,
                                  Value condition,
                                  llvm::function_ref<Value()> thenPart,
                                  llvm::function_ref<Value()> elsePart) {
  auto op =
      scf::IfOp::create(builder, loc, type, condition, /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto before = values;
  auto part = [&](Block &block, llvm::function_ref<Value()> body) {
    builder.setInsertionPointToEnd(&block);
    Value result = body();
    scf::YieldOp::create(builder, loc, result);
    values = before;
  };
  part(op.getThenRegion().front(), thenPart);
  part(op.getElseRegion().front(), elsePart);
  return op.getResult(0);
}

void Generator::whileLoop(Location loc, const Variables &carried,
                          const Variables &exits,
                          llvm::function_ref<Value()> condition,
                          llvm::function_ref<void()> body) {
  SmallVector<Value> initial = valuesOf(carried, loc);
  SmallVector<mlir::Type> types;
  for (Value value : initial)
    types.push_back(value.getType());
  auto op = scf::WhileOp::create(builder, loc, types, initial);
  SmallVector<Location> locs(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  auto outside = values;

  Block *test = builder.createBlock(&op.getBefore(), {}, types, locs);
  setValues(carried, test->getArguments());
  Value goOn;
  if (exits.empty())
    goOn = condition();
  else
    goOn =
        conditionalValue(loc, builder.getI1Type(), noneSet(loc, exits),
                         condition, [&] { return boolConstant(loc, false); });
  scf::ConditionOp::create(builder, loc, goOn, test->getArguments());

  Block *block = builder.createBlock(&op.getAfter(), {}, types, locs);
  values = outside;
  setValues(carried, block->getArguments());
  body();
  scf::YieldOp::create(builder, loc, valuesOf(carried, loc));

  values = outside;
  setValues(carried, op.getResults());
}

} // namespace tilec::irgen

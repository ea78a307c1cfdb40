//===- SemaCall.cpp - calls and inlining of fns
//----------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A call of a fn walks its body with the arguments in scope. What that emits
// becomes an InlineBody, unless the body is one `return e`: then the call is e.
//
//   fn f(x) { if x > 0 { return x; } return 0.5 * x; }      y = f(g)
//   →  y = (inline f { let x = g; var r; if … { r = x; return } r = 0.5 * x } →
//   r)
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Callees
//===----------------------------------------------------------------------===//

Operand Sema::checkCall(const ast::CallExpr &call) {
  const SourceRange range = call.getRange();
  if (auto *member = dyn_cast<ast::MemberExpr>(call.callee))
    return checkMethod(call, *member);
  auto *name = dyn_cast<ast::NameExpr>(call.callee);
  if (name && !lookup(name->name)) {
    const ast::Decl *item = findItem(name->name);
    if (item && !findBuiltin(name->name) &&
        (llvm::isa<ast::KernelDecl>(item) ||
         llvm::isa<ast::SpecializeDecl>(item))) {
      error(diag::kernel_called, range)
          .arg(name->name)
          .help("a `fn` can be called");
      return Operand::poison(range);
    }
    if (!item && !findBuiltin(name->name) &&
        !parseDType(std::string_view(name->name))) {
      reportUnknownName(name->name, name->getRange());
      return Operand::poison(range);
    }
  }
  Operand callee = checkExpr(call.callee);
  switch (callee.kind) {
  case Operand::Kind::Poison:
    return Operand::poison(range);
  case Operand::Kind::Fn:
    return callFn(*callee.fn, call);
  case Operand::Kind::Builtin:
    return callBuiltin(*callee.builtin, call, Operand());
  default:
    break;
  }
  auto builder = error(diag::not_callable, call.callee->getRange());
  builder.arg(describe(callee));
  Symbol *symbol = name ? lookup(name->name) : nullptr;
  if (symbol && findBuiltin(name->name))
    builder.note(symbol->range, "this hides the function `" + name->name + "`");
  if (callee.kind == Operand::Kind::DType && call.args.size() == 1)
    builder.help("a conversion is written `" +
                 textOf(call.args[0].value->getRange()) + ".to(" +
                 textOf(call.callee->getRange()) + ")`");
  return Operand::poison(range);
}

Operand Sema::checkMethod(const ast::CallExpr &call,
                          const ast::MemberExpr &member) {
  const SourceRange range = call.getRange();
  // `tl.load(…)`, `tl.math.exp(…)`: modules of elsewhere.
  const ast::Expr *module = member.base;
  while (auto *inner = dyn_cast<ast::MemberExpr>(module))
    module = inner->base;
  if (auto *base = dyn_cast<ast::NameExpr>(module))
    if (!lookup(base->name) && !findItem(base->name) &&
        !parseDType(std::string_view(base->name)) && !findBuiltin(base->name)) {
      if (module == member.base && member.member.text == "to") // `x.to(T)`
        reportUnknownName(base->name, base->getRange());
      else
        reportUnknownName(textOf(member.getRange()), member.getRange());
      return Operand::poison(range);
    }
  if (member.member.text == "to")
    return callBuiltin(*findBuiltin(".to"), call, checkValue(member.base));
  Operand base = checkExpr(member.base);
  if (base.isPoison())
    return Operand::poison(range);
  auto builder = error(diag::unknown_member, member.member.range);
  builder.arg(describe(base)).arg(member.member.text);
  if (findBuiltin(member.member.text))
    builder.help("it is a function: `" + member.member.text + "(" +
                 textOf(member.base->getRange()) +
                 (call.args.empty() ? ")`" : ", …)`"));
  else if (member.member.text == "astype" || member.member.text == "cast")
    builder.help("a conversion is written `.to(T)`");
  else if (base.isArray() && member.member.text == "shape")
    builder.help("it is not called: `" + textOf(member.getRange()) + "[0]`");
  else if (base.isArray() && member.member.text == "stride")
    builder.help("there are no strides: tiles and elements are named by one "
                 "index for each dim");
  return Operand::poison(range);
}

//===----------------------------------------------------------------------===//
// fns
//===----------------------------------------------------------------------===//

const ast::FnDecl *Sema::checkFnArg(const ast::Expr *expr, StringRef what) {
  Operand value = checkExpr(expr);
  if (value.kind == Operand::Kind::Fn)
    return value.fn;
  if (value.isPoison())
    return nullptr;
  auto builder = error(diag::argument_kind, expr->getRange());
  builder.arg(what).arg("fn").arg("a fn").arg(describe(value));
  if (value.kind == Operand::Kind::Builtin)
    builder.help("declare one that calls it: `fn f(a, b) { return " +
                 textOf(expr->getRange()) + "(a, b); }`");
  return nullptr;
}

bool Sema::bindFnArgs(const ast::FnDecl &fn, const ast::CallExpr &call,
                      SmallVectorImpl<Operand> &args) {
  SmallVector<const ast::Expr *> given(fn.params.size(), nullptr);
  unsigned position = 0;
  bool isValid = true;
  for (const ast::Argument &arg : call.args) {
    if (!arg.name) {
      if (position < given.size())
        given[position] = arg.value;
      ++position;
      continue;
    }
    auto *param = llvm::find_if(fn.params, [&](const ast::FnParam &candidate) {
      return candidate.name.text == arg.name.text;
    });
    if (param == fn.params.end()) {
      SmallVector<StringRef> names;
      for (const ast::FnParam &candidate : fn.params)
        names.push_back(candidate.name.text);
      auto builder = error(diag::unknown_argument, arg.name.range);
      builder.arg(fn.name.text)
          .arg(arg.name.text)
          .note(fn.name.range, "defined here");
      if (std::optional<StringRef> near = closest(arg.name.text, names))
        builder.fixIt(arg.name.range, *near, "did you mean `" + *near + "`?");
      isValid = false;
      continue;
    }
    const ast::Expr *&place = given[param - fn.params.begin()];
    if (place) {
      error(diag::argument_given_twice, arg.range)
          .arg(fn.name.text)
          .arg(arg.name.text);
      isValid = false;
    }
    place = arg.value;
  }
  if (position > given.size()) {
    error(diag::too_many_arguments, call.parens)
        .arg(fn.name.text)
        .arg(int64_t(given.size()))
        .arg(int64_t(position))
        .note(fn.name.range, "defined here");
    return false;
  }
  for (auto [index, param] : llvm::enumerate(fn.params)) {
    if (given[index]) {
      Operand value = checkExpr(given[index]);
      if (value.kind == Operand::Kind::Nothing ||
          value.kind == Operand::Kind::Tuple ||
          value.kind == Operand::Kind::Shape)
        value = requireValue(std::move(value));
      args.push_back(std::move(value));
      continue;
    }
    if (!param.defaultValue && !isValid)
      continue; // perhaps it was given under a wrong name
    if (!param.defaultValue) {
      error(diag::missing_argument, call.parens)
          .arg(fn.name.text)
          .arg(param.name.text)
          .note(param.name.range, "the parameter");
      isValid = false;
      continue;
    }
    FunctionContext context; // a default sees the items of the fn's file
    context.file = declFiles.lookup(&fn);
    context.scopes.emplace_back();
    Saved<FunctionContext *> saved(function, &context);
    args.push_back(checkExpr(param.defaultValue));
  }
  return isValid;
}

/// Makes a parameter's name stand for the argument: for the same variable when
/// the argument is one, else for a new variable.
void Sema::bindFnParam(const ast::FnParam &param, const Operand &arg) {
  if (arg.isRuntime()) {
    Symbol alias;
    bool isAlias = true;
    if (auto *read = dyn_cast<checked::VarReadExpr>(arg.expr)) {
      alias.kind = Symbol::Kind::Variable;
      alias.variable = const_cast<checked::Variable *>(read->variable);
    } else if (auto *scalar = dyn_cast<checked::ScalarParamExpr>(arg.expr)) {
      alias.kind = Symbol::Kind::ScalarParam;
      alias.param = scalar->param;
    } else if (auto *dim = dyn_cast<checked::ArrayDimExpr>(arg.expr)) {
      alias.kind = Symbol::Kind::Dim;
      alias.param = dim->array;
      alias.axis = dim->axis;
    } else {
      isAlias = false;
      bindVariable(param.name.text, arg, param.name.range);
    }
    Symbol *symbol = isAlias ? declare(param.name.text, param.name.range)
                             : lookup(param.name.text);
    if (isAlias) {
      symbol->kind = alias.kind;
      symbol->variable = alias.variable;
      symbol->param = alias.param;
      symbol->axis = alias.axis;
      symbol->origins = arg.origins;
      symbol->dropped = arg.dropped;
    }
    symbol->isParam = true;
    return;
  }
  Symbol *symbol = declare(param.name.text, param.name.range);
  symbol->value = arg;
  symbol->isParam = true;
}

std::optional<std::vector<Operand>> Sema::inlineFn(const ast::FnDecl &fn,
                                                   ArrayRef<Operand> args,
                                                   SourceRange callRange,
                                                   checked::InlineBody *&body) {
  body = nullptr;
  inlinedFns.insert(&fn);
  for (FunctionContext *context = function; context;
       context = context->caller) {
    if (context->fn != &fn)
      continue;
    error(diag::recursive_fn, callRange)
        .arg(fn.name.text)
        .note(fn.name.range, "defined here")
        .help("fns are inlined; use a loop");
    return std::nullopt;
  }
  if (fn.malformed || !fn.body)
    return std::nullopt;
  const unsigned errorsBefore = diags.getNumErrors();
  FunctionContext context;
  context.fn = &fn;
  context.file = declFiles.lookup(&fn);
  context.scopes.emplace_back();
  context.inlined = out.create<checked::InlineBody>();
  auto *site = out.create<checked::CallSite>();
  site->callee = out.copy(fn.name.text);
  site->at = locOf(callRange);
  context.inlined->call = context.callSite = site;
  context.firstFrame = frames.size();
  context.caller = function;
  context.callRange = callRange;

  std::vector<checked::Stmt *> stmts;
  std::vector<Operand> results;
  bool isValid;
  {
    Saved<FunctionContext *> savedFunction(function, &context);
    Saved<std::vector<checked::Stmt *> *> savedBlock(block, &stmts);
    Saved<Flow> savedFlow(flow, Flow(flow));
    for (auto [param, arg] : llvm::zip(fn.params, args))
      bindFnParam(param, arg);
    checkBlock(*fn.body);
    isValid = finishReturns(context, results);
  }
  if (!isValid || diags.getNumErrors() != errorsBefore)
    return std::nullopt;
  // A body that is only `return e, …` is its value.
  const bool isOnlyReturn = llvm::all_of(stmts, [&](const checked::Stmt *stmt) {
    auto *let = dyn_cast<checked::LetStmt>(stmt);
    return let && let->init &&
           llvm::is_contained(context.inlined->results, let->variables.front());
  });
  if (isOnlyReturn) {
    size_t next = 0;
    for (Operand &result : results)
      if (result.isRuntime())
        result.expr = cast<checked::LetStmt>(stmts[next++])->init;
    return results;
  }
  // A constant that comes with effects is a value of the body, so that the
  // effects stay where the call is.
  if (results.size() == 1 && results.front().isConstant()) {
    checked::Variable *variable = context.results.front();
    auto *let = out.create<checked::LetStmt>(locOf(callRange));
    let->init = materialize(results.front());
    variable->type = let->init->type;
    let->variables = context.inlined->results =
        copy(ArrayRef<checked::Variable *>(variable));
    stmts.push_back(let);
    auto *read = make<checked::VarReadExpr>(variable->type, callRange);
    read->variable = variable;
    results.front() = Operand::runtime(read, callRange);
  }
  context.inlined->body = copy(ArrayRef<checked::Stmt *>(stmts));
  body = context.inlined;
  return results;
}

/// Gives all returns of a fn one type, and their values variables to go to.
/// Runs in the fn's context, whose body is in `block`.
bool Sema::finishReturns(FunctionContext &context,
                         std::vector<Operand> &results) {
  const ast::FnDecl &fn = *context.fn;
  if (context.returns.empty())
    return true;
  PendingReturn &first = context.returns.front();
  const size_t count = first.values.size();
  if (flow.isReachable && count) {
    error(diag::missing_return, fn.body->getCloseBrace())
        .arg(fn.name.text)
        .note(first.range, "a value is returned here");
    return false;
  }
  auto returned = [&](const PendingReturn &pending) {
    if (pending.values.size() != 1)
      return pending.values.empty()
                 ? std::string("nothing")
                 : std::to_string(pending.values.size()) + " values";
    return describe(pending.values[0]);
  };
  for (PendingReturn &pending : context.returns) {
    for (Operand &value : pending.values)
      if (value.isPoison())
        return false;
    if (pending.values.size() == count)
      continue;
    error(diag::return_type, pending.range)
        .arg(fn.name.text)
        .arg(returned(pending))
        .arg(returned(first))
        .secondary(first.range, "the return before");
    return false;
  }
  const bool isSingle = context.returns.size() == 1 &&
                        llvm::none_of(first.targets, [](checked::Stmt *stmt) {
                          return stmt && llvm::isa<checked::AssignStmt>(stmt);
                        });
  SmallVector<checked::Variable *> variables;
  for (size_t i = 0; i < count; ++i) {
    if (isSingle && !first.values[i].isRuntime()) {
      if (first.values[i].kind == Operand::Kind::Nothing ||
          first.values[i].kind == Operand::Kind::Shape)
        first.values[i] = requireValue(first.values[i]);
      results.push_back(first.values[i]); // stays a compile-time value
      continue;
    }
    // The type that is not a literal's decides.
    SmallVector<Operand *, 4> scalars;
    Type type;
    for (PendingReturn &pending : context.returns) {
      Operand &value = pending.values[i];
      value = requireValue(std::move(value));
      if (value.isPoison())
        return false;
      if (!value.isWeak() && type.isPoison())
        type = value.type();
      scalars.push_back(&value);
    }
    if (type.isPoison()) {
      unifyDTypes(scalars, fn.name.range, "return");
      type = scalars.front()->type();
    }
    for (PendingReturn &pending : context.returns) {
      Operand &value = pending.values[i];
      if (value.isWeak() && type.isScalar() &&
          !convertWeakTo(value, type.dtype()))
        return false;
      if (value.type() == type)
        continue;
      error(diag::return_type, pending.range)
          .arg(fn.name.text)
          .arg(value.type().str())
          .arg(type.str())
          .secondary(first.range, "the return before");
      return false;
    }
    checked::Variable *variable = context.results[i];
    variable->type = type;
    variables.push_back(variable);
    for (PendingReturn &pending : context.returns) {
      if (auto *let = dyn_cast<checked::LetStmt>(pending.targets[i])) {
        let->variables = copy(ArrayRef<checked::Variable *>(variable));
        continue;
      }
      auto *assign = cast<checked::AssignStmt>(pending.targets[i]);
      assign->variable = variable;
      assign->value = materialize(pending.values[i]);
    }
    Operand result = first.values[i];
    auto *read = make<checked::VarReadExpr>(type, context.callRange);
    read->variable = variable;
    result.kind = Operand::Kind::Runtime;
    result.constant.reset();
    result.expr = read;
    results.push_back(std::move(result));
    if (isSingle)
      continue;
    auto *declaration = out.create<checked::LetStmt>(locOf(first.range));
    declaration->variables = copy(ArrayRef<checked::Variable *>(variable));
    block->insert(block->begin(), declaration);
  }
  context.inlined->results = copy(variables);
  return true;
}

Operand Sema::callFn(const ast::FnDecl &fn, const ast::CallExpr &call) {
  const SourceRange range = call.getRange();
  SmallVector<Operand> args;
  if (!bindFnArgs(fn, call, args))
    return Operand::poison(range);
  checked::InlineBody *body;
  std::optional<std::vector<Operand>> results = inlineFn(fn, args, range, body);
  if (!results)
    return Operand::poison(range);
  for (Operand &result : *results)
    result.range = range;
  const bool isOneValue = results->size() == 1 && results->front().isRuntime();
  if (body && !isOneValue)
    emit<checked::InlineStmt>(range)->inlined = body;
  if (results->empty())
    return Operand::nothing(range);
  if (results->size() > 1) {
    Operand tuple = Operand::poison(range);
    tuple.kind = Operand::Kind::Tuple;
    tuple.elements = std::move(*results);
    return tuple;
  }
  Operand result = std::move(results->front());
  if (body && isOneValue) {
    auto *inlined = make<checked::InlineExpr>(result.type(), range);
    inlined->inlined = body;
    result.expr = inlined;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Builtins
//===----------------------------------------------------------------------===//

namespace {
/// One parameter of a signature.
struct SignatureParam {
  StringRef name;
  bool isOptional = false, isNamedOnly = false, isRest = false;
};
} // namespace

/// As a reader knows it: `(a, index, shape, pad:)`.
static std::string spelledSignature(ArrayRef<SignatureParam> params) {
  std::string text;
  for (const SignatureParam &param : params)
    text += (text.empty() ? "" : ", ") + param.name.str() +
            (param.isNamedOnly ? ":"
             : param.isRest    ? "…"
                               : "");
  return "(" + text + ")";
}

static SmallVector<SignatureParam, 6> parseSignature(StringRef signature) {
  SmallVector<SignatureParam, 6> params;
  while (!signature.empty()) {
    auto [text, rest] = signature.split(',');
    signature = rest;
    SignatureParam param;
    text = text.trim();
    param.isNamedOnly = text.consume_front("*");
    param.isOptional = text.consume_back("?");
    param.isRest = text.consume_back("...");
    param.name = text;
    params.push_back(param);
  }
  return params;
}

bool Sema::bindBuiltinArgs(const BuiltinInfo &builtin,
                           const ast::CallExpr &call, CallArgs &args) {
  SmallVector<SignatureParam, 6> params = parseSignature(builtin.signature);
  StringRef name = builtin.name;
  name.consume_front(".");
  unsigned numPositional = 0;
  bool hasRest = false;
  for (const SignatureParam &param : params) {
    args.names.push_back(param.name);
    numPositional += !param.isNamedOnly && !param.isRest;
    hasRest |= param.isRest;
  }
  args.values.assign(params.size(), nullptr);
  unsigned position = 0;
  bool isValid = true;
  for (const ast::Argument &arg : call.args) {
    if (!arg.name) {
      if (position < numPositional)
        args.values[position] = arg.value;
      else if (hasRest)
        args.rest.push_back(arg.value);
      ++position;
      continue;
    }
    auto *place = llvm::find(args.names, arg.name.text);
    if (place == args.names.end()) {
      auto builder = error(diag::unknown_argument, arg.name.range);
      builder.arg(name).arg(arg.name.text);
      const ForeignName *foreign = foreignArgument(name, arg.name.text);
      if (foreign && foreign->ours.empty())
        builder.help(foreign->advice);
      else if (foreign && llvm::is_contained(args.names, foreign->ours))
        builder.fixIt(arg.name.range, foreign->ours,
                      "did you mean `" + foreign->ours + "`?");
      else if (std::optional<StringRef> near =
                   closest(arg.name.text, args.names))
        builder.fixIt(arg.name.range, *near, "did you mean `" + *near + "`?");
      else
        builder.help("it takes " + spelledSignature(params));
      isValid = false;
      continue;
    }
    const ast::Expr *&value = args.values[place - args.names.begin()];
    if (value) {
      error(diag::argument_given_twice, arg.range).arg(name).arg(arg.name.text);
      isValid = false;
    }
    value = arg.value;
  }
  if (position > numPositional && !hasRest) {
    // Most often an argument that is given by name only.
    const SignatureParam *named = nullptr;
    for (const SignatureParam &param : params)
      if (param.isNamedOnly && !args.get(param.name) && !named)
        named = &param;
    const ast::Argument &extra = call.args[numPositional];
    if (named && position == numPositional + 1)
      error(diag::named_only_argument, extra.range)
          .arg(name)
          .arg(named->name)
          .fixIt(SourceRange(extra.range.begin), named->name + ": ",
                 "write its name");
    else {
      auto builder = error(diag::too_many_arguments,
                           extra.range.to(call.args[position - 1].range));
      builder.arg(name).arg(int64_t(numPositional)).arg(int64_t(position));
      if (name == "reshape" || name == "broadcast_to" || name == "permute")
        builder.help("a shape is written in brackets: `[" +
                     textOf(call.args[1].range.to(call.args[position - 1].range)) + "]`");
    }
    return false;
  }
  for (auto [param, value] : llvm::zip(params, args.values)) {
    if (value || param.isOptional || param.isRest || !isValid)
      continue;
    error(diag::missing_argument, call.parens)
        .arg(name)
        .arg(param.name)
        .help("it takes " + spelledSignature(params));
    return false;
  }
  return isValid;
}

/// Whether a call of the function does more than give a value.
static bool hasEffect(StringRef name) {
  return name.starts_with("store") || name.starts_with("atomic_") ||
         name == "scatter" || name == "print" || name == "assert";
}

Operand Sema::callBuiltin(const BuiltinInfo &builtin, const ast::CallExpr &call,
                          Operand receiver) {
  CallArgs args;
  args.builtin = &builtin;
  args.call = &call;
  args.range = call.getRange();
  args.receiver = std::move(receiver);
  if (!bindBuiltinArgs(builtin, call, args))
    return Operand::poison(args.range);
  if (inCombiner && hasEffect(builtin.name)) {
    error(diag::combine_effect, call.callee->getRange()).arg(builtin.name);
    return Operand::poison(args.range);
  }
  return (this->*builtin.check)(args);
}

//===- SemaDecl.cpp - programs, items, kernels ----------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The order of things: names of all files, instances, and then each instance:
// compile-time parameters, parameters and the dims that they bind, requires,
// grid, body. A file sees its own items and those of the files it imports, not
// their imports.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "tilec/Support/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

Sema::Sema(const ast::Program &program, DiagnosticEngine &diags,
           const CheckOptions &options, checked::Program &out)
    : program(program), diags(diags), sources(diags.getSources()),
      options(options), out(out) {}

std::unique_ptr<checked::Program> tilec::check(const ast::Program &program,
                                               DiagnosticEngine &diags,
                                               const CheckOptions &options) {
  auto out = std::make_unique<checked::Program>();
  Sema(program, diags, options, *out).run();
  if (diags.hasErrors())
    return nullptr;
  return out;
}

void Sema::run() {
  collectItems();
  parseDefines();
  checkStaticAsserts();
  collectInstances();
  for (const InstanceRequest &request : instances) {
    if (diags.shouldStop())
      return;
    checkKernel(request);
  }
  checkUnusedDefines();
  checkUncalledFns();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

void Sema::collectItems() {
  auto add = [&](FileScope &scope, const ast::Decl *decl,
                 SourceRange importRange) {
    if (decl->name.text.empty())
      return;
    auto [place, isNew] = scope.items.try_emplace(decl->name.text, decl);
    if (isNew || place->second == decl)
      return;
    // Report the later of the two; an import is where the file brings it in.
    auto builder = diags.report(diag::redefinition, decl->name.range);
    builder.arg(decl->name.text);
    builder.note(place->second->name.range, "first defined here");
    if (importRange.isValid())
      builder.note(importRange, "imported here");
  };
  for (const ast::File *file : program.files)
    for (const ast::Decl *decl : file->decls)
      declFiles[decl] = file->id;
  for (const ast::File *file : program.files) {
    FileScope &scope = fileScopes[file->id];
    for (const ast::Decl *decl : file->decls) {
      auto *import = dyn_cast<ast::ImportDecl>(decl);
      if (!import) {
        add(scope, decl, {});
        continue;
      }
      if (import->file)
        for (const ast::Decl *imported : import->file->decls)
          add(scope, imported, import->getRange());
    }
  }
}

const ast::Decl *Sema::findItem(StringRef name, FileId *file) const {
  if (!function)
    return nullptr;
  auto scope = fileScopes.find(function->file);
  if (scope == fileScopes.end())
    return nullptr;
  auto found = scope->second.items.find(name);
  if (found == scope->second.items.end())
    return nullptr;
  if (file)
    *file = declFiles.lookup(found->second);
  return found->second;
}

Operand Sema::globalConstant(const ast::ConstDecl &decl, FileId file,
                             SourceRange use) {
  if (auto known = constants.find(&decl); known != constants.end()) {
    Operand value = known->second;
    value.range = use;
    return value;
  }
  if (decl.malformed || !decl.init)
    return Operand::poison(use);
  if (!constantsInProgress.insert(&decl).second) {
    error(diag::constant_cycle, decl.name.range)
        .arg(decl.name.text)
        .secondary(use, "needed here");
    return Operand::poison(use);
  }
  FunctionContext context;
  context.file = file;
  context.scopes.emplace_back();
  std::vector<checked::Stmt *> emitted;
  Operand value;
  {
    Saved<FunctionContext *> savedFunction(function, &context);
    Saved<std::vector<checked::Stmt *> *> savedBlock(block, &emitted);
    value = checkExpr(decl.init);
    if (decl.type && value.isValue())
      value = conform(value, resolveType(decl.type, nullptr), decl.type);
    if (value.isRuntime() || value.isArray()) {
      error(diag::not_compile_time, decl.init->getRange())
          .arg("the value of a `const`");
      value = Operand::poison(use);
    }
  }
  constantsInProgress.erase(&decl);
  constants[&decl] = value;
  value.range = use;
  return value;
}

/// static_assert items: once, whatever the instances.
void Sema::checkStaticAsserts() {
  for (const ast::File *file : program.files) {
    for (const ast::Decl *decl : file->decls) {
      auto *assertion = dyn_cast<ast::StaticAssertDecl>(decl);
      if (!assertion || decl->malformed)
        continue;
      FunctionContext context;
      context.file = file->id;
      context.scopes.emplace_back();
      std::vector<checked::Stmt *> emitted;
      Saved<FunctionContext *> savedFunction(function, &context);
      Saved<std::vector<checked::Stmt *> *> savedBlock(block, &emitted);
      std::optional<bool> holds =
          checkConstBool(assertion->cond, "the condition of `static_assert`");
      if (holds && !*holds)
        error(diag::static_assert_failed, assertion->cond->getRange())
            .arg(assertion->message ? ": " + assertion->message->value.str()
                                    : "");
    }
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Sema::checkKernel(const InstanceRequest &request) {
  const ast::KernelDecl &decl = *request.kernel;
  auto theKernel = std::make_unique<checked::Kernel>();
  theKernel->name = out.copy(request.specialize ? request.specialize->name.text
                                                : decl.name.text);
  theKernel->sourceName = out.copy(decl.name.text);
  theKernel->docComment = out.copy(StringRef(llvm::join(decl.doc, "\n")));
  theKernel->range =
      request.specialize ? request.specialize->name.range : decl.name.range;

  FunctionContext context;
  context.file = request.file;
  context.scopes.resize(2); // compile-time parameters; parameters and dims
  std::vector<checked::Stmt *> body, discarded;
  Saved<checked::Kernel *> savedKernel(kernel, theKernel.get());
  Saved<FunctionContext *> savedFunction(function, &context);
  Saved<std::vector<checked::Stmt *> *> savedBlock(block, &discarded);
  Saved<Flow> savedFlow(flow, Flow());
  numNodes = 0;
  reportedSize = false;

  // Each part needs the names of the one before; after an error in one, what
  // follows would complain about things that are right.
  if (!bindConstParams(request))
    return;
  checkParams(decl);
  checkRequirements(decl);
  checkGrid(decl);
  checkHints(decl);
  block = &body;
  checkBlock(*decl.body);
  theKernel->body = copy(ArrayRef<checked::Stmt *>(body));
  out.kernels.push_back(std::move(theKernel));
}

void Sema::checkParams(const ast::KernelDecl &decl) {
  SmallVector<checked::Param *> params;
  for (auto [index, param] : llvm::enumerate(decl.params))
    params.push_back(checkParam(param, index));
  kernel->params = copy(params);
}

checked::Param *Sema::checkParam(const ast::KernelParam &param,
                                 unsigned index) {
  auto *result = out.create<checked::Param>();
  result->name = out.copy(param.name.text);
  result->index = index;
  result->range = param.name.range;
  Symbol *symbol = declare(param.name.text, param.name.range);
  symbol->isParam = true;
  symbol->value = Operand::poison(param.name.range);
  if (auto *tile = dyn_cast<ast::TileTypeExpr>(param.type)) {
    error(diag::tile_parameter, param.type->getRange())
        .arg(param.name.text)
        .help("take `array<" + tile->element.text +
              ", [m, n]>` and `load` a tile of it");
    return result;
  }
  if (auto *name = dyn_cast<ast::NameTypeExpr>(param.type)) {
    std::optional<DType> dtype = resolveDType(name->name);
    if (!dtype)
      return result;
    if (*dtype == DType::TF32) {
      error(diag::parameter_dtype, param.type->getRange())
          .arg(param.name.text)
          .arg("tf32")
          .help("tf32 is only for operands of `mma`; take f32 and convert");
      return result;
    }
    result->dtype = *dtype;
    symbol->kind = Symbol::Kind::ScalarParam;
    symbol->param = result;
    return result;
  }
  auto &array = *cast<ast::ArrayTypeExpr>(param.type);
  result->kind = checked::Param::Kind::Array;
  result->isMut = array.isMut();
  result->isStrided = array.isStrided();
  bool isValid = checkArrayDims(array, *result);
  auto *element = dyn_cast<ast::NameTypeExpr>(array.element);
  std::optional<DType> dtype;
  if (element)
    dtype = resolveDType(element->name);
  else
    error(diag::unknown_type, array.element->getRange())
        .arg(textOf(array.element->getRange()));
  if (dtype == DType::TF32) {
    error(diag::parameter_dtype, array.element->getRange())
        .arg(param.name.text)
        .arg("an array of tf32")
        .help("tf32 is only for operands of `mma`; use an array of f32 and "
              "convert what is loaded");
    return result;
  }
  if (!dtype || !isValid)
    return result;
  result->dtype = *dtype;
  symbol->value.kind = Operand::Kind::Array;
  symbol->value.array = result;
  return result;
}

/// Binds the names of the dims, each to the first array that has it (array-C1).
bool Sema::checkArrayDims(const ast::ArrayTypeExpr &type,
                          checked::Param &param) {
  if (type.dims.empty() || type.dims.size() > maxTileRank) {
    error(diag::array_rank, type.dimsRange)
        .arg(param.name)
        .arg(int64_t(type.dims.size()));
    return false;
  }
  SmallVector<checked::ArrayDim> dims;
  bool isValid = true;
  for (auto [axis, expr] : llvm::enumerate(type.dims)) {
    std::optional<checked::ArrayDim> dim = checkArrayDim(expr, param, axis);
    isValid &= dim.has_value();
    dims.push_back(dim.value_or(checked::ArrayDim{{}, 1, expr->getRange()}));
  }
  param.dims = copy(dims);
  return isValid;
}

std::optional<checked::ArrayDim>
Sema::checkArrayDim(const ast::Expr *expr, const checked::Param &param,
                    unsigned axis) {
  checked::ArrayDim dim;
  dim.range = expr->getRange();
  auto *name = dyn_cast<ast::NameExpr>(expr);
  if (name) {
    Symbol *symbol = lookup(name->name);
    const bool isItem =
        findItem(name->name) && llvm::isa<ast::ConstDecl>(findItem(name->name));
    if (symbol && symbol->kind == Symbol::Kind::Dim) {
      dim.name = symbol->name;
      return dim;
    }
    if (symbol && symbol->isParam) {
      error(diag::redefinition, expr->getRange())
          .arg(name->name)
          .note(symbol->range, "it is a parameter here")
          .help("an array binds its dims; a scalar parameter of the same value "
                "is not needed");
      return std::nullopt;
    }
    if (!symbol && !isItem) {
      if (name->name.empty() ||
          !(llvm::isLower(name->name[0]) || name->name[0] == '_')) {
        error(diag::array_dim, expr->getRange())
            .label("`" + name->name + "` has no compile-time value")
            .help("runtime dims have lower-case names: `" +
                  llvm::StringRef(name->name.lower()) +
                  "`; or add a compile-time parameter `<" + name->name +
                  ": int>`");
        // Said once: what follows takes it for the dim that it is meant to be.
      }
      Symbol *bound = declare(out.copy(name->name), expr->getRange());
      bound->kind = Symbol::Kind::Dim;
      bound->param = &param;
      bound->axis = axis;
      dim.name = bound->name;
      return dim;
    }
  }
  if (auto *binary = dyn_cast<ast::BinaryExpr>(expr))
    for (const ast::Expr *side : {binary->lhs, binary->rhs})
      if (auto *name = dyn_cast<ast::NameExpr>(side);
          name && !lookup(name->name) && !findItem(name->name)) {
        error(diag::array_dim, expr->getRange())
            .label("`" + name->name + "` is not bound here")
            .help("name the dim, and say how long it is in `requires`: `m == " +
                  textOf(expr->getRange()) + "`");
        return std::nullopt;
      }
  Operand value = checkExpr(expr);
  if (value.isPoison())
    return std::nullopt;
  if (!value.isConstant() || isFloat(value.type().dtype()) ||
      value.type().dtype() == DType::Bool) {
    auto builder = error(diag::array_dim, expr->getRange());
    builder.label("this is " + describe(value));
    if (llvm::isa<ast::BinaryExpr>(expr))
      builder.help("name the dim, and say how long it is in `requires`: `m == " +
                   textOf(expr->getRange()) + "`");
    return std::nullopt;
  }
  std::optional<int64_t> constant = value.constant->toInt64();
  if (!constant || *constant < 0) {
    error(diag::array_dim_value, expr->getRange())
        .arg(textOf(expr->getRange()))
        .arg(param.name)
        .arg(value.constant->str());
    return std::nullopt;
  }
  dim.constant = constant;
  if (name)
    dim.name = out.copy(name->name);
  return dim;
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

void Sema::checkHints(const ast::KernelDecl &decl) {
  static constexpr StringRef names[] = {"num_warps", "num_stages", "cluster",
                                        "persistent", "split_k"};
  for (const ast::HintClause &clause : decl.hints) {
    if (clause.chip && !findChip(std::string_view(clause.chip.text))) {
      error(diag::unknown_chip, clause.chip.range)
          .arg(clause.chip.text)
          .help("chips are " + chipNames());
      continue;
    }
    for (const ast::Argument &arg : clause.args) {
      if (!llvm::is_contained(names, arg.name.text)) {
        auto builder = error(diag::unknown_hint, arg.name.range);
        builder.arg(arg.name.text);
        if (std::optional<StringRef> near = closest(arg.name.text, names))
          builder.fixIt(arg.name.range, *near, "did you mean `" + *near + "`?");
        else
          builder.help("hints are " +
                       llvm::join(std::begin(names), std::end(names), ", "));
        continue;
      }
      Operand value = checkExpr(arg.value);
      if (value.isPoison())
        continue;
      std::optional<int64_t> number;
      if (value.isConstant() && !isFloat(value.type().dtype()))
        number = value.constant->toInt64();
      const bool isPowerOfTwo =
          number && *number > 0 && (*number & (*number - 1)) == 0;
      StringRef want =
          llvm::StringSwitch<StringRef>(arg.name.text)
              .Case("num_warps", isPowerOfTwo && *number <= 32
                                     ? ""
                                     : "a power of two from 1 to 32")
              .Case("persistent", number && *number >= 0 && *number <= 8
                                      ? ""
                                      : "`true`, `false`, or blocks a multiprocessor up to 8")
              .Default(number && *number >= 1 && *number <= 1024
                           ? ""
                           : "a constant from 1 to 1024");
      if (!want.empty()) {
        error(diag::hint_value, arg.value->getRange())
            .arg(arg.name.text)
            .arg(want)
            .arg(describe(value));
        continue;
      }
      checked::Hint hint;
      hint.name = out.copy(arg.name.text);
      hint.value = *number;
      hint.arch = out.copy(clause.chip.text);
      hint.range = arg.range;
      kernel->hints.push_back(hint);
    }
  }
}

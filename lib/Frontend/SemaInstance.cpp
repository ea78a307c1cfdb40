//===- SemaInstance.cpp - compile-time parameters and instances -----------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which instances there are, and the value of each compile-time parameter of
// one: from `specialize`, `-D kernel.NAME=V`, `-D NAME=V`, or the default.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "tilec/Frontend/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// -D
//===----------------------------------------------------------------------===//

void Sema::parseDefines() {
  for (const std::string &text : options.defines) {
    Define define;
    define.text = text;
    auto [left, value] = StringRef(text).split('=');
    define.value = value.trim();
    define.name = left.trim();
    if (size_t dot = left.find('.'); dot != StringRef::npos) {
      define.kernel = left.take_front(dot).trim();
      define.name = left.drop_front(dot + 1).trim();
    }
    if (!StringRef(text).contains('=') || define.name.empty() ||
        define.value.empty()) {
      diags.report(diag::malformed_define, {})
          .arg(text)
          .arg("expected `NAME=VALUE` or `kernel.NAME=VALUE`");
      continue;
    }
    if (!parseConstant(define.value)) {
      diags.report(diag::malformed_define, {})
          .arg(text)
          .arg("`" + define.value +
               "` is not an integer, `true`, `false` or a dtype");
      continue;
    }
    defines.push_back(define);
  }
}

std::optional<Operand> Sema::parseConstant(StringRef text) const {
  if (text == "true" || text == "false")
    return Operand::constantOf(ConstValue::boolean(text == "true"), {});
  if (std::optional<DType> dtype = parseDType(std::string_view(text)))
    return Operand::dtypeOf(*dtype, {});
  int64_t number;
  if (text.getAsInteger(0, number))
    return std::nullopt;
  return Operand::constantOf(ConstValue::integer(number), {});
}

const Define *Sema::findDefine(StringRef kernelName, StringRef instance,
                               StringRef name) {
  const Define *found = nullptr;
  for (const Define &define : defines) {
    if (define.name != name)
      continue;
    const bool isOurs =
        define.kernel == kernelName || define.kernel == instance;
    if (!isOurs && !define.kernel.empty())
      continue;
    // A value for this kernel goes before one for all; then the last one given.
    if (!found || isOurs || found->kernel.empty())
      found = &define;
  }
  return found;
}

/// A `-D` that no kernel has a parameter for is a mistake.
void Sema::checkUnusedDefines() {
  for (const Define &define : defines) {
    const ast::KernelDecl *candidate = nullptr;
    bool isKnown = false;
    SmallVector<StringRef> kernelNames;
    for (const ast::File *file : program.files) {
      for (const ast::Decl *decl : file->decls) {
        const auto *kernelDecl = dyn_cast<ast::KernelDecl>(decl);
        if (auto *specialize = dyn_cast<ast::SpecializeDecl>(decl)) {
          if (specialize->name.text == define.kernel)
            kernelDecl = specializedKernel(*specialize, file->id);
        } else if (kernelDecl) {
          kernelNames.push_back(kernelDecl->name.text);
          if (!define.kernel.empty() && kernelDecl->name.text != define.kernel)
            continue;
        }
        if (!kernelDecl)
          continue;
        candidate = candidate ? candidate : kernelDecl;
        for (const ast::ConstParam &param : kernelDecl->constParams)
          isKnown |= param.name.text == define.name;
      }
    }
    if (isKnown)
      continue;
    auto builder = diags.report(diag::unknown_define, {});
    builder.arg(define.text);
    if (!candidate) {
      builder.arg(define.kernel.empty()
                      ? "there is no kernel"
                      : "there is no kernel `" + define.kernel + "`");
      if (std::optional<StringRef> near = closest(define.kernel, kernelNames))
        builder.help("did you mean `" + *near + "`?");
      continue;
    }
    SmallVector<StringRef> names;
    for (const ast::ConstParam &param : candidate->constParams)
      names.push_back(param.name.text);
    std::string text = "kernel `" + candidate->name.text.str() +
                       "` has no parameter `" + define.name.str() + "`";
    text += names.empty() ? "" : "; it has " + llvm::join(names, ", ");
    builder.arg(text);
    if (std::optional<StringRef> near = closest(define.name, names))
      builder.help("did you mean `-D " + *near + "=" + define.value + "`?");
  }
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// The name of an instance that is asked for on the command line without `as`:
/// `matmul<f16, BM: 128>` is matmul_f16_BM_128.
static std::string instanceName(StringRef text) {
  std::string name;
  for (char c : text) {
    if (llvm::isAlnum(c) || c == '_')
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

void tilec::addSpecializations(ArrayRef<std::string> specializations,
                               ast::Program &program, ast::Context &ctx,
                               SourceManager &sources,
                               DiagnosticEngine &diags) {
  for (const std::string &text : specializations) {
    std::string source = "specialize " + text;
    if (!StringRef(text).contains(" as "))
      source += " as " + instanceName(text);
    FileId id = sources.addText("<specialize>", source + ";");
    ast::File *file = parseFile(id, ctx, sources, diags);
    program.files.push_back(file);
    program.roots.push_back(file);
  }
}

const ast::KernelDecl *
Sema::specializedKernel(const ast::SpecializeDecl &specialize, FileId file) {
  // Items of the command line see those of all root files.
  const ast::Decl *target =
      fileScopes[file].items.lookup(specialize.kernel.text);
  for (const ast::File *root : program.roots)
    target = target ? target
                    : fileScopes[root->id].items.lookup(specialize.kernel.text);
  return target ? dyn_cast<ast::KernelDecl>(target) : nullptr;
}

void Sema::collectInstances() {
  llvm::StringMap<SourceRange> names;
  SmallVector<InstanceRequest> unset;
  llvm::SmallPtrSet<const ast::KernelDecl *, 8> specialized;
  auto add = [&](const InstanceRequest &request, const ast::Name &name) {
    auto [place, isNew] = names.try_emplace(name.text, name.range);
    if (!isNew) {
      diags.report(diag::redefinition, name.range)
          .arg(name.text)
          .note(place->second, "first defined here");
      return;
    }
    if (!options.kernel.empty() && options.kernel != name.text)
      return;
    if (!request.specialize && !hasAllConstants(request) &&
        options.kernel.empty())
      unset.push_back(request);
    else
      instances.push_back(request);
  };
  for (const ast::File *file : program.roots) {
    for (const ast::Decl *decl : file->decls) {
      if (decl->malformed)
        continue;
      if (auto *kernelDecl = dyn_cast<ast::KernelDecl>(decl))
        add({kernelDecl, file->id, nullptr, file->id}, kernelDecl->name);
      auto *specialize = dyn_cast<ast::SpecializeDecl>(decl);
      if (!specialize)
        continue;
      const ast::KernelDecl *targetKernel =
          specializedKernel(*specialize, file->id);
      if (!targetKernel) {
        diags.report(diag::unknown_kernel, specialize->kernel.range)
            .arg(specialize->kernel.text);
        continue;
      }
      if (targetKernel->malformed)
        continue;
      specialized.insert(targetKernel);
      add({targetKernel, declFiles.lookup(targetKernel), specialize, file->id},
          specialize->name);
    }
  }
  // A kernel that cannot be compiled by itself is a mistake unless it is a
  // template that a `specialize` fills.
  for (const InstanceRequest &request : unset)
    if (!specialized.contains(request.kernel))
      instances.push_back(request);
  if (options.kernel.empty() || names.contains(options.kernel))
    return;
  auto builder = diags.report(diag::no_such_kernel, {});
  builder.arg(options.kernel);
  SmallVector<StringRef> known(names.keys());
  llvm::sort(known);
  if (std::optional<StringRef> near = closest(options.kernel, known))
    builder.help("did you mean `" + *near + "`?");
  else if (!known.empty())
    builder.help("kernels are " + llvm::join(known, ", "));
}

bool Sema::hasAllConstants(const InstanceRequest &request) {
  StringRef name = request.kernel->name.text;
  return llvm::all_of(
      request.kernel->constParams, [&](const ast::ConstParam &param) {
        return param.defaultValue || findDefine(name, name, param.name.text);
      });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Sema::matchSpecializeArgs(const InstanceRequest &request,
                               SmallVectorImpl<const ast::Expr *> &byParam) {
  const ast::KernelDecl &decl = *request.kernel;
  byParam.assign(decl.constParams.size(), nullptr);
  if (!request.specialize)
    return;
  unsigned position = 0;
  for (const ast::Argument &arg : request.specialize->args) {
    if (!arg.name) {
      if (position < byParam.size())
        byParam[position] = arg.value;
      ++position;
      continue;
    }
    auto *param =
        llvm::find_if(decl.constParams, [&](const ast::ConstParam &candidate) {
          return candidate.name.text == arg.name.text;
        });
    if (param == decl.constParams.end()) {
      SmallVector<StringRef> names;
      for (const ast::ConstParam &candidate : decl.constParams)
        names.push_back(candidate.name.text);
      auto builder = error(diag::specialize_parameter, arg.name.range);
      builder.arg(decl.name.text).arg(arg.name.text);
      if (std::optional<StringRef> near = closest(arg.name.text, names))
        builder.fixIt(arg.name.range, *near, "did you mean `" + *near + "`?");
      continue;
    }
    const ast::Expr *&place = byParam[param - decl.constParams.begin()];
    if (place)
      error(diag::argument_given_twice, arg.range)
          .arg(decl.name.text)
          .arg(arg.name.text);
    place = arg.value;
  }
  if (position > byParam.size())
    error(diag::specialize_count, request.specialize->getRange())
        .arg(decl.name.text)
        .arg(int64_t(byParam.size()))
        .arg(int64_t(position));
}

bool Sema::bindConstParams(const InstanceRequest &request) {
  const unsigned errorsBefore = diags.getNumErrors();
  SmallVector<const ast::Expr *> fixed;
  matchSpecializeArgs(request, fixed);
  if (diags.getNumErrors() != errorsBefore)
    return false;
  StringRef name = request.specialize ? request.specialize->name.text
                                      : request.kernel->name.text;
  Scope inner = std::move(function->scopes.back());
  function->scopes.pop_back(); // declare in the outer scope
  bool isValid = true;
  for (auto [index, param] : llvm::enumerate(request.kernel->constParams))
    isValid &= bindConstParam(request, param, fixed[index], name);
  function->scopes.push_back(std::move(inner));
  return isValid && diags.getNumErrors() == errorsBefore;
}

static constexpr const char *boundsHelp =
    "bounds are int for a size, bool, and for dtypes float, signed, unsigned, integer, "
    "number, dtype";

static bool isBound(StringRef word) {
  static constexpr StringRef bounds[] = {"float",  "signed", "unsigned", "integer",
                                         "number", "dtype",  "int",      "bool"};
  return llvm::is_contained(bounds, word);
}

bool Sema::bindConstParam(const InstanceRequest &request,
                          const ast::ConstParam &param, const ast::Expr *fixed,
                          StringRef instance) {
  Operand value = Operand::poison(param.name.range);
  std::string setBy;
  SourceRange valueRange = param.name.range;
  StringRef kernelName = request.kernel->name.text;
  if (fixed) {
    FunctionContext context; // the specialisation's place: no locals
    context.file = request.specializeFile;
    context.scopes.emplace_back();
    Saved<FunctionContext *> saved(function, &context);
    value = checkExpr(fixed);
    valueRange = fixed->getRange();
    setBy = textOf(request.specialize->getRange());
  } else if (const Define *define =
                 findDefine(kernelName, instance, param.name.text)) {
    value = *parseConstant(define->value);
    setBy = ("-D " + define->text).str();
  } else if (param.defaultValue) {
    value = checkExpr(param.defaultValue);
    valueRange = param.defaultValue->getRange();
  } else {
    if (!isBound(param.bound.text)) {
      error(diag::unknown_bound, param.bound.range).arg(param.bound.text).help(boundsHelp);
      return false;
    }
    StringRef example = param.bound.text == "int"    ? "128"
                        : param.bound.text == "bool" ? "true"
                                                     : "f32";
    error(diag::constant_without_value, param.name.range)
        .arg(param.name.text)
        .arg(kernelName)
        .help("set it with `-D " + param.name.text + "=" + example +
              "`, or add a `specialize` item");
    return false;
  }
  Symbol *symbol = declare(param.name.text, param.name.range);
  symbol->isConstParam = true;
  symbol->setBy = setBy;
  symbol->value = value;
  if (value.isPoison())
    return false;
  if (value.isRuntime()) {
    error(diag::not_compile_time, valueRange)
        .arg("`" + param.name.text.str() + "`");
    symbol->value = Operand::poison(param.name.range);
    return false;
  }
  if (!satisfiesBound(value, param)) {
    auto builder = error(diag::bound_not_satisfied, valueRange);
    builder.arg(param.name.text).arg(param.bound.text).arg(describe(value));
    if (param.bound.text == "float")
      builder.help("`float` is f16, bf16, f32 or f64; `number` and `dtype` admit more");
    if (!setBy.empty())
      builder.note(param.bound.range, "set by `" + setBy + "`");
    symbol->value = Operand::poison(param.name.range);
    return false;
  }
  symbol->value = value;
  checked::ConstantValue constant;
  constant.name = out.copy(param.name.text);
  if (value.kind == Operand::Kind::DType) {
    constant.kind = checked::ConstantValue::Kind::DType;
    constant.dtype = value.dtype;
    constant.text = dtypeName(value.dtype);
  } else {
    const bool isBool = value.constant->dtype() == DType::Bool;
    constant.kind = isBool ? checked::ConstantValue::Kind::Bool
                           : checked::ConstantValue::Kind::Int;
    constant.value = *value.constant->toInt64();
    constant.text = value.constant->str();
  }
  kernel->constants.push_back(std::move(constant));
  return true;
}

/// Checks a value against the bound, and gives a weak integer the type `int`.
bool Sema::satisfiesBound(Operand &value, const ast::ConstParam &param) {
  StringRef bound = param.bound.text;
  if (bound == "int") {
    if (!value.isConstant() || value.constant->isWeakFloat())
      return false;
    return value.constant->isWeakInt() ? convertWeakTo(value, DType::Int)
                                       : value.constant->dtype() == DType::Int;
  }
  if (bound == "bool")
    return value.isConstant() && value.constant->dtype() == DType::Bool;
  if (!isBound(bound)) {
    error(diag::unknown_bound, param.bound.range)
        .arg(bound)
        .help(value.isConstant() && value.type().dtype() != DType::Bool
                  ? "a size is bound by `int`"
                  : boundsHelp);
    return true;
  }
  if (value.kind != Operand::Kind::DType)
    return false;
  const DType dtype = value.dtype;
  if (bound == "float")
    return isComputeFloat(dtype);
  if (bound == "signed")
    return isSigned(dtype);
  if (bound == "unsigned")
    return isUnsigned(dtype);
  if (bound == "integer")
    return isInteger(dtype);
  if (bound == "number")
    return isInteger(dtype) || isComputeFloat(dtype);
  return true;
}

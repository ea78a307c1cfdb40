//===- HostHeader.cpp - kernels as objects of C++ -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the facts of a file's kernels. Out: a C++20 header for the object that holds them:
//
//   namespace softmax_tile {
//   /// … the kernel's comment
//   struct softmax_kernel {
//     struct Args { tilec::ArrayParam<tilec::DType::BF16, 2> x; …};   ///< array<bf16, [rows, cols]>
//     struct Constants { static constexpr int64_t COLS = 1024; … };
//     void launch(stream, args, config = {}) const;   and tryLaunch, grid, tryGrid, tryKernel
//   };
//   inline constexpr softmax_kernel softmax;
//   }
//
// Kernels are found at their first launch: there are no static constructors.
//
//===------------------------------------------------------------------------===//
#include "tilec/Compiler/HostCode.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec;

/// `name`, with a `_` behind it where C++ has the word for something else.
static std::string identifier(StringRef name) {
  static const StringSet<> words = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "case", "catch",
      "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "consteval", "constexpr",
      "constinit", "const_cast", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do",
      "double", "dynamic_cast", "enum", "explicit", "export", "extern", "float", "friend", "goto", "inline",
      "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
      "virtual", "void", "volatile", "wchar_t", "xor", "xor_eq", "break", "continue", "else", "for", "if",
      "return", "while", "true", "false", "const"};
  return name.str() + (words.contains(name) ? "_" : "");
}

/// The dtype as a C++ constant.
static std::string constantOf(DType dtype) {
  std::string name = StringRef(dtypeName(dtype)).upper();
  if (dtype == DType::Bool || dtype == DType::Int)
    name = dtype == DType::Bool ? "Bool" : "Int";
  return "tilec::DType::" + name;
}

static std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text)
    result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "\"";
}

/// How the source writes the parameter's type.
static std::string spellType(const ParamInfo &param) {
  std::string dtype(dtypeName(param.dtype));
  if (!param.isArray)
    return dtype;
  SmallVector<std::string> dims;
  for (const DimInfo &dim : param.dims)
    dims.push_back(!dim.name.empty() ? dim.name : dim.constant ? std::to_string(*dim.constant) : "_");
  return std::string(param.isMutable ? "mut " : "") + (param.isStrided ? "strided " : "") + "array<" +
         dtype + ", [" + join(dims, ", ") + "]>";
}

static void printConstant(raw_ostream &os, const ConstantInfo &constant) {
  std::string name = identifier(constant.name);
  StringRef value = constant.value;
  int64_t number = 0;
  double real = 0;
  os << "    static constexpr ";
  if (!value.getAsInteger(10, number))
    os << "int64_t " << name << " = " << value << ";\n";
  else if (value == "true" || value == "false")
    os << "bool " << name << " = " << value << ";\n";
  else if (std::optional<DType> dtype = parseDType(value))
    os << "tilec::DType " << name << " = " << constantOf(*dtype) << ";\n";
  else if (!value.getAsDouble(real) && value.contains('.'))
    os << "double " << name << " = " << value << ";\n";
  else
    os << "std::string_view " << name << " = " << quoted(value) << ";\n";
}

static void printComment(raw_ostream &os, StringRef text, StringRef indent) {
  for (StringRef line : split(text, '\n'))
    os << indent << "///" << (line.empty() ? "" : " ") << line << "\n";
}

static void printArgs(raw_ostream &os, const KernelInfo &kernel) {
  os << "  struct Args {\n";
  for (const ParamInfo &param : kernel.params) {
    std::string dtype = constantOf(param.dtype);
    os << "    tilec::"
       << (param.isArray ? "ArrayParam<" + dtype + ", " + std::to_string(param.dims.size()) + ">"
                         : "ScalarParam<" + dtype + ">")
       << " " << identifier(param.name) << "; ///< " << spellType(param) << "\n";
  }
  os << "  };\n";
}

static void printKernel(raw_ostream &os, const KernelInfo &kernel) {
  if (!kernel.doc.empty())
    printComment(os, kernel.doc, "");
  for (const Requirement &requirement : kernel.requirements)
    printComment(os, "Requires " + requirement.text + ".", "");
  std::string name = identifier(kernel.name), type = kernel.name + "_kernel";
  os << "struct " << type << " {\n";
  printArgs(os, kernel);
  os << "  struct Constants {\n";
  for (const ConstantInfo &constant : kernel.constants)
    printConstant(os, constant);
  os << "  };\n";
  // Where the kernel has no grid of its own, each launch gives it.
  bool hasGrid = !kernel.grid.empty();
  std::string grid = hasGrid ? "" : "const tilec::Grid &grid, ";
  std::string pass = hasGrid ? "" : "grid, ", configure = hasGrid ? "" : "    config.grid = grid;\n";
  SmallVector<std::string> fields;
  for (const ParamInfo &param : kernel.params)
    fields.push_back("args." + identifier(param.name));
  std::string list = "    const std::array<tilec::Argument, " + std::to_string(fields.size()) + "> list = {" +
                     join(fields, ", ") + "};\n";
  os << "  void launch(tilec::StreamRef stream, " << grid
     << "const Args &args, const tilec::LaunchConfig &config = {}) const {\n"
     << "    tilec::valueOrThrow(tryLaunch(stream, " << pass << "args, config));\n  }\n"
     << "  tilec::Expected<void> tryLaunch(tilec::StreamRef stream, " << grid << "const Args &args,\n"
     << "                                  tilec::LaunchConfig config = {}) const {\n"
     << configure << list
     << "    return tilec::tryLaunchLinked(tryKernel(), stream, config, list);\n  }\n";
  if (hasGrid)
    os << "  /// The grid of such a launch on `device`.\n"
       << "  tilec::Grid grid(const tilec::Device &device, const Args &args) const {\n"
       << "    return tilec::valueOrThrow(tryGrid(device, args));\n  }\n"
       << "  tilec::Expected<tilec::Grid> tryGrid(const tilec::Device &device, const Args &args) const {\n"
       << list << "    return tilec::tryGridOfLinked(tryKernel(), device, list);\n  }\n";
  os << "  /// For `preload`, facts, and launches without names; found at the first call.\n"
     << "  static const tilec::Expected<tilec::Kernel> &tryKernel() {\n"
     << "    static const tilec::Expected<tilec::Kernel> kernel =\n"
     << "        tilec::findLinkedKernel(tryModule(), " << quoted(kernel.name) << ");\n"
     << "    return kernel;\n  }\n"
     << "};\ninline constexpr " << type << " " << name << ";\n\n";
}

std::string tilec::printHostHeader(StringRef name, StringRef input, ArrayRef<KernelInfo> kernels) {
  std::string text;
  raw_string_ostream os(text);
  os << "// Written by tilec of " << sys::path::filename(input)
     << "; the object file is of `--emit=obj`.\n"
     << "#pragma once\n#include <tilec/Runtime/TypedLaunch.h>\n\n#include <array>\n#include <string_view>\n\n"
     << formatv("extern \"C\" const char tilec_module_{0}[], tilec_module_end_{0}[];\n\n", name)
     << "namespace tilec_modules {\n"
     << "/// The module's bytes.\n"
     << formatv("inline std::string_view {0}() {{ return {{tilec_module_{0}, tilec_module_end_{0}}; }\n", name)
     << "} // namespace tilec_modules\n\n"
     << "namespace " << name << "_tile {\n\n"
     << "inline const tilec::Expected<tilec::Module> &tryModule() {\n"
     << "  static const tilec::Expected<tilec::Module> module = tilec::Module::tryFromMemory(tilec_modules::"
     << name << "());\n  return module;\n}\n\n";
  for (const KernelInfo &kernel : kernels)
    printKernel(os, kernel);
  os << "} // namespace " << name << "_tile\n";
  return text;
}

//===- jit.h - compiling kernels at run time ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// libtilec_jit: the compiler as a library. Source in, kernels out:
//
//   tilec::Program p = tilec::Program::fromFile("matmul.tile");
//   tilec::Kernel k = p.kernel("matmul", {{"T", tilec::f16}, {"BM", 128}});
//   k.launch(s, a, b, c);
//
// A kernel is compiled once per set of constants and chip, and kept on disk: in
// $TILEC_CACHE_DIR, else ~/.cache/tilec. On Device::cpu() it is interpreted, so
// programs run where there is no GPU.
//
// Errors in the source are failures whose message is what the compiler prints,
// "file:line:col: error: …" first. This header names no LLVM type.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_JIT_H
#define TILEC_JIT_H

#include "tilec/tilec.h"

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

/// The value of a compile-time parameter.
struct Constant {
  Constant(std::string name, DType value)
      : name(std::move(name)), value(std::string(dtypeName(value))) {}
  Constant(std::string name, bool value) : name(std::move(name)), value(value ? "true" : "false") {}
  template <std::integral I>
  Constant(std::string name, I value) : name(std::move(name)), value(std::to_string(value)) {}
  /// As written after `-D NAME=`.
  Constant(std::string name, std::string value) : name(std::move(name)), value(std::move(value)) {}
  Constant(std::string name, const char *value) : name(std::move(name)), value(value) {}

  std::string name, value;
};

struct ProgramOptions {
  std::vector<std::string> includeDirs; ///< of `import`, after the file's own
  bool fastMath = false;                ///< approximate forms of functions
  bool contract = true;                 ///< a*b+c becomes fma
  bool checked = false;                 ///< assert assumptions, that `int` does not overflow, …
  unsigned numWarps = 0;                ///< 0: the compiler's choice
  bool useDiskCache = true;
};

class Program {
public:
  static Program fromFile(const std::string &path, ProgramOptions options = {}) {
    return valueOrThrow(tryFromFile(path, std::move(options)));
  }
  static Expected<Program> tryFromFile(const std::string &path, ProgramOptions options = {});
  /// Source text; messages call it `name`, and imports are relative to it.
  static Program fromSource(std::string text, std::string name = "<source>",
                            ProgramOptions options = {}) {
    return valueOrThrow(tryFromSource(std::move(text), std::move(name), std::move(options)));
  }
  static Expected<Program> tryFromSource(std::string text, std::string name = "<source>",
                                         ProgramOptions options = {});

  /// The kernel with these compile-time parameters; the rest take their defaults.
  Kernel kernel(std::string_view name, std::initializer_list<Constant> constants = {}) const {
    return valueOrThrow(tryKernel(name, constants));
  }
  Expected<Kernel> tryKernel(std::string_view name,
                             std::initializer_list<Constant> constants = {}) const {
    return tryKernel(name, std::span<const Constant>(constants.begin(), constants.size()));
  }
  Expected<Kernel> tryKernel(std::string_view name, std::span<const Constant> constants) const;

  struct State;

private:
  explicit Program(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

} // namespace tilec

#endif // TILEC_JIT_H

//===- Sema.h - from syntax to checked programs -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: the syntax of a program, and values for compile-time parameters. Out: the
// checked program (Checked.h), one kernel per instance, or errors with places.
//
// Instances: every kernel all of whose compile-time parameters have a value, by
// `-D kernel.NAME=V`, `-D NAME=V` or a default, in this order; and every
// `specialize` item, whose own values come first. A kernel with a parameter
// without value is an error unless some `specialize` makes an instance of it.
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_SEMA_H
#define TILEC_FRONTEND_SEMA_H

#include "tilec/Frontend/AST.h"
#include "tilec/Frontend/Checked.h"
#include "tilec/Frontend/Diagnostics.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

struct CheckOptions {
  /// `NAME=V` or `kernel.NAME=V`, as after `-D`.
  std::vector<std::string> defines;
  /// Only the instances of this name (the kernel's or the one after `as`).
  std::string kernel;
  /// What `arch()` gives: 90 for sm_90a.
  std::optional<int> arch;
  /// Where `static_print` writes; null: standard error.
  llvm::raw_ostream *staticPrint = nullptr;
};

/// The checked program. Null when errors were reported, by the parser or here.
std::unique_ptr<checked::Program> check(const ast::Program &program, DiagnosticEngine &diags,
                                        const CheckOptions &options = {});

/// Adds `specialize` items from the command line (`matmul<f16, BM: 128>`, with or
/// without ` as name`) to `program`. Their kernels are those of the root files.
void addSpecializations(llvm::ArrayRef<std::string> specializations, ast::Program &program,
                        ast::Context &ctx, SourceManager &sources, DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_FRONTEND_SEMA_H

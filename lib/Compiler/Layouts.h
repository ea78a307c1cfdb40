//===- Layouts.h - the layout of every tile, as text ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_COMPILER_LAYOUTS_H
#define TILEC_LIB_COMPILER_LAYOUTS_H

#include "tilec/Frontend/AST.h"
#include "tilec/Frontend/Source.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>
#include <vector>

namespace tilec {

/// The names that a program gives to values, with the expressions that they name.
struct NamedExpression {
  llvm::StringRef name;
  SourceRange range;
};
std::vector<NamedExpression> namedExpressions(const ast::Program &program);

/// Which tiles to show: of a variable or array parameter, or made in a line of the root
/// file.
struct LayoutChoice {
  std::string text;                ///< as asked for
  unsigned line = 0;               ///< 0: a name
  std::vector<SourceRange> places; ///< of the expressions with that name
};

/// Prints the layouts of a module at stage `laid-out`: of all tiles, or of those chosen.
/// Gives the choices that no tile is of.
std::vector<std::string> printLayouts(mlir::ModuleOp module,
                                      llvm::ArrayRef<LayoutChoice> choices,
                                      const std::function<SourceRange(mlir::Location)> &rangeOf,
                                      const SourceManager &sources, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILEC_LIB_COMPILER_LAYOUTS_H

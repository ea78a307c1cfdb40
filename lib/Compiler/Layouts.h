//===- Layouts.h - the layout of every tile, as text ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_COMPILER_LAYOUTS_H
#define TILEC_LIB_COMPILER_LAYOUTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// Prints the layouts of a module at stage `laid-out`.
void printLayouts(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILEC_LIB_COMPILER_LAYOUTS_H

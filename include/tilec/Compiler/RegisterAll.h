//===- RegisterAll.h - every dialect and pass ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_REGISTERALL_H
#define TILEC_COMPILER_REGISTERALL_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tilec {

/// Dialects of all stages, ours and upstream's, and their translations to LLVM.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Passes of all stages under their flags, for tile-opt.
void registerAllPasses();
/// Whether one of these has that flag.
bool isPass(llvm::StringRef flag);

} // namespace tilec

#endif // TILEC_COMPILER_REGISTERALL_H

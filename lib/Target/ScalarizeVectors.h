//===- ScalarizeVectors.h - a thread's vectors to registers ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What OptimizeModule runs first. See ScalarizeVectors.cpp.
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TARGET_SCALARIZEVECTORS_H
#define TILEC_LIB_TARGET_SCALARIZEVECTORS_H

#include "llvm/IR/PassManager.h"

namespace tilec {

/// Replaces vector arithmetic by scalar arithmetic, pairs for f16 and bf16; loads
/// and stores stay wide.
struct ScalarizeVectors : llvm::PassInfoMixin<ScalarizeVectors> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilec
#endif // TILEC_LIB_TARGET_SCALARIZEVECTORS_H

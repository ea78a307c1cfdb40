//===- WidenBFloats.h - pairs of bf16 to f32 ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TARGET_WIDENBFLOATS_H
#define TILEC_LIB_TARGET_WIDENBFLOATS_H

#include "llvm/IR/PassManager.h"

namespace tilec {

/// See WidenBFloats.cpp. Wants to come last, behind what would undo it.
struct WidenBFloats : llvm::PassInfoMixin<WidenBFloats> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tilec

#endif // TILEC_LIB_TARGET_WIDENBFLOATS_H

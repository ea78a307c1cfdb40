//===- PackFields.h - two fields of a byte, as a pair ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// An LLVM pass; PackFields.cpp says what it does.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TARGET_PACKFIELDS_H
#define TILEC_LIB_TARGET_PACKFIELDS_H

#include "llvm/IR/PassManager.h"

namespace tilec {

class PackFields : public llvm::PassInfoMixin<PackFields> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tilec

#endif // TILEC_LIB_TARGET_PACKFIELDS_H

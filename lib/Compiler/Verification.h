//===- Verification.h - how often IR is verified ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Runs passes and verifies what they made. In a build to develop with, that is after each
// pass, so that the one at fault is named. Programs that are shipped (TILEC_STATIC) verify
// once, after the last pass of a stage, and stage simt, which took a tenth of the time to
// PTX, as LLVM IR only. What is wrong still becomes an internal error instead of a crash.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_COMPILER_VERIFICATION_H
#define TILEC_LIB_COMPILER_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace tilec {

inline mlir::LogicalResult runVerified(mlir::PassManager &passes, mlir::ModuleOp module) {
#ifdef TILEC_VERIFY_EACH_PASS
  return passes.run(module);
#else
  passes.enableVerifier(false);
  return mlir::success(succeeded(passes.run(module)) && succeeded(mlir::verify(module)));
#endif
}

/// The same for passes whose result the translation to LLVM checks.
inline mlir::LogicalResult runVerifiedLater(mlir::PassManager &passes, mlir::ModuleOp module) {
#ifndef TILEC_VERIFY_EACH_PASS
  passes.enableVerifier(false);
#endif
  return passes.run(module);
}

} // namespace tilec

#endif // TILEC_LIB_COMPILER_VERIFICATION_H

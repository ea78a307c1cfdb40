//===- Passes.h - from tiles to threads -----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_LOWERING_PASSES_H
#define TILEC_LOWERING_PASSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilec {

#define GEN_PASS_DECL
#include "tilec/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilec/Lowering/Passes.h.inc"

} // namespace tilec

#endif // TILEC_LOWERING_PASSES_H

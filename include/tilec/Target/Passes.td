//===- Passes.td - passes of the last MLIR stage ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_PASSES
#define TILEC_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def LowerToLLVM : Pass<"tile-lower-to-llvm", "mlir::ModuleOp"> {
  let summary = "simt stage to the LLVM dialect, by the upstream conversions";
  let description = [{
    In: functions (`llvm.func` or `func.func`) whose bodies are scf, cf, arith,
    math, vector, index, ub, nvvm and llvm operations on scalars and 1-D
    vectors. Out: LLVM and NVVM dialects only, `index` as i64, and a line-table
    scope on every function so that PTX carries `.loc` lines.

    An operation that has no lowering is an error at its location which names
    the operation.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect",
                           "mlir::cf::ControlFlowDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect"];
}

#endif // TILEC_TARGET_PASSES

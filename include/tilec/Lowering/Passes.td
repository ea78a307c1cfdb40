//===- Passes.td - from tiles to threads ------------------------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//

#ifndef TILEC_LOWERING_PASSES
#define TILEC_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def LowerToSIMT : Pass<"tile-lower-to-simt", "mlir::ModuleOp"> {
  let summary = "stage staged to stage simt: the code of one thread";
  let description = [{
    In: kernels whose tiles all have a layout, with shared memory, its offsets and
    barriers explicit. Out: one `llvm.func` per kernel, in which a tile is the vector
    of the elements that the thread owns, over arith, math, vector, scf, llvm and
    nvvm operations.

    Parameters are those of the kernel in order: an array as its base address, an
    i64 per dim, and with `strided` an i64 stride per dim; a scalar by value (bool
    as i8, int as i64, floats of 16 and 8 bits as their bits); then the grid's three
    extents as i32; then the tensor maps of copies. The grid arrives flattened on axis x.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Whose instructions may be used (none: those of every chip)">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect",
    "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def ReadAhead : Pass<"tile-read-ahead", "mlir::LLVM::LLVMFuncOp"> {
  let summary = "wait, meeting and first reads of an iteration come before the last products of the one before";
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

#endif // TILEC_LOWERING_PASSES

//===- HelperCall.h - calls of named instructions -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// An instruction that LLVM has no intrinsic for is a call of a declared function
// `@tilec.…` (Target/ExpandHelpers.h) until the last step before PTX; the emulator
// binds the same name to a function of the host. The declaration carries the text:
//
//   llvm.func @tilec.wgmma.wait.0.f32x64(f32, …) -> !llvm.struct<(f32, …)>
//     attributes {passthrough = [["tilec-asm", "wgmma.wait_group.sync.aligned 0;"],
//                                ["tilec-constraints", "=f,…,0,…"]]}
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_HELPERCALL_H
#define TILEC_ATOMS_HELPERCALL_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <string>

namespace tilec {

/// An instruction with its name. Operands in the text are $0, $1, …: results first.
struct HelperText {
  std::string name;        ///< begins with "tilec."
  std::string text;        ///< PTX; empty: InlinePTX.def has it
  std::string constraints; ///< as of LLVM's inline assembly; empty: built from types
  /// "none", "memory" or "sync": what optimisation must assume (ExpandHelpers.h).
  llvm::StringRef effects = "sync";
};

/// The constraint letters of registers: f and d for floats, h, r, l for integers of 16,
/// 32 and 64 bits, b for predicates; a pointer to shared memory is r, others are l.
char registerLetter(mlir::Type type);

/// Calls the helper, declaring it in the module around the insertion point where that
/// has not been done. Several results come as a struct that is taken apart.
llvm::SmallVector<mlir::Value> emitHelper(mlir::OpBuilder &builder, mlir::Location loc,
                                          const HelperText &helper,
                                          mlir::TypeRange results,
                                          mlir::ValueRange operands);

/// An instruction without operands of its own that `values` pass through: what makes
/// them is done before, what reads them comes after. `name` and `text` as in
/// HelperText; the types are appended to the name.
llvm::SmallVector<mlir::Value> emitTied(mlir::OpBuilder &builder, mlir::Location loc,
                                        llvm::StringRef name, llvm::StringRef text,
                                        mlir::ValueRange values);

} // namespace tilec

#endif // TILEC_ATOMS_HELPERCALL_H

//===- EmitPTX.h - simt stage to llvm::Module to PTX -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The steps after the simt stage, one function each, in the order in which a
// compile calls them:
//
//   lowerToLLVM       simt MLIR            → LLVM dialect        (in place)
//   translateToLLVM   LLVM dialect         → llvm::Module        (with .tile lines)
//   optimizeModule    O3 with the chip's TargetMachine attached  (in place)
//       ── here the emulator takes the module: helper calls `@tilec.…` are still calls
//   emitPTX           helpers → inline PTX, check, code generation → PTX text
//
// Nothing here aborts: what the code generator could not select is found before
// it runs and becomes an error that names the operation and its source line.
// All errors of these functions mean a bug in the compiler (exit code 70).
// No option of LLVM is left changed.
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_EMITPTX_H
#define TILEC_TARGET_EMITPTX_H

#include "tilec/Support/Target.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm
namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tilec {

/// What a caller may choose about code generation.
struct CodegenOptions {
  unsigned optLevel = 3; ///< 0 … 3
};

/// Adds the translation interfaces and the dialects that `translateToLLVM`
/// needs. Call before the context is made from the registry, or append it.
void registerTargetDialects(mlir::DialectRegistry &registry);

/// Runs `--tile-lower-to-llvm` and upstream clean-up on `module`, in place.
llvm::Error lowerToLLVM(mlir::ModuleOp module);

/// The LLVM-dialect `module` as an llvm::Module for `chip`: triple and data
/// layout set, helper declarations `@tilec.…` marked (convergent, no unwind),
/// every side-effecting inline assembly convergent.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context, const Chip &chip);
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                const llvm::TargetMachine &machine);

/// Runs the optimisation pipeline, in place. Vectors wider than a register
/// become scalars first (16-bit types pairs); loads and stores stay wide.
llvm::Error optimizeModule(llvm::Module &module, const Chip &chip,
                           const CodegenOptions &options = {});
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    const CodegenOptions &options);

/// An error naming the first instruction, intrinsic or type of `module` that
/// the NVPTX backend would abort on for `chip` or would turn into a library call.
/// Helpers must have been expanded.
llvm::Error checkSelectable(const llvm::Module &module, const Chip &chip);

/// PTX text of an optimised module, which is not changed.
llvm::Expected<std::string> emitPTX(const llvm::Module &module, const Chip &chip,
                                    const CodegenOptions &options = {});
/// The same of a module that nobody needs any more.
llvm::Expected<std::string> emitPTX(std::unique_ptr<llvm::Module> module, const Chip &chip,
                                    llvm::TargetMachine &machine);

/// All steps, with one target machine, which takes a millisecond to make: simt MLIR (changed in place) → PTX text.
llvm::Expected<std::string> compileToPTX(mlir::ModuleOp module, const Chip &chip,
                                         const CodegenOptions &options = {});

/// The NVPTX target machine for `chip`, with 32-bit shared-memory pointers.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Chip &chip, const CodegenOptions &options = {});

} // namespace tilec
#endif // TILEC_TARGET_EMITPTX_H

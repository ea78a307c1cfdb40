//===- SideBySide.h - the builds of kernels on several threads -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// From stage staged on no build of a kernel has to do with another, and this is where
// most of the time goes. So each build becomes a module of its own, with an LLVM context
// of its own, and threads take them all the way to PTX:
//
//   module { @k__aligned16, @k }   →   module { @k__aligned16 }   →  PTX  →  object
//                                      module { @k }              →  PTX  →  object
//
// With an object for each build, each has an assembler of its own, which starts when the
// thread does and waits for nothing but that build's PTX. Else the PTX is joined.
//
// Whatever the threads have to say is kept by build, so that messages come in one order.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_COMPILER_SIDEBYSIDE_H
#define TILEC_LIB_COMPILER_SIDEBYSIDE_H

#include "tilec/Compiler/Compiler.h"
#include "tilec/Target/AssembleCubin.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace tilec {

/// What became of one build.
struct BuildCode {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< the build alone; empty once in PTX
  unsigned index = 0;                       ///< among all builds
  std::vector<KernelInfo> kernels;          ///< names, and the facts of this build
  std::vector<mlir::Diagnostic> messages;
  std::string ptx;                          ///< empty: not made yet, or there was an error
  std::string failedStage;                  ///< of an error inside the compiler, and what
  std::string internalError;
  Cubin cubin;
  std::string toolError; ///< why it was not assembled

  /// Whether there is no error so far.
  bool isGood() const { return internalError.empty() && toolError.empty(); }
};

AssembleOptions assembleOptions(const CompileOptions &options);

/// Takes each kernel in `module`, at stage staged, to stage simt and learns the facts of the
/// builds, on the threads of the context. Builds that `isFinished` accepts by their facts go on,
/// on the same thread, as by finishBuild. The module is left empty.
std::vector<BuildCode> compileSideBySide(mlir::ModuleOp module, const CompileOptions &options,
                                         const Chip &chip, llvm::ArrayRef<KernelInfo> kernels,
                                         bool isAssembled,
                                         llvm::function_ref<bool(uint8_t facts)> isFinished);

/// Compiles a build, at stage simt, to PTX, and with `isAssembled` to machine code.
void finishBuild(BuildCode &build, const CompileOptions &options, const Chip &chip,
                 bool isAssembled);

} // namespace tilec

#endif // TILEC_LIB_COMPILER_SIDEBYSIDE_H

//===- TranslateToLLVM.cpp - LLVM dialect to llvm::Module ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: LLVM and NVVM dialects. Out: an llvm::Module with the chip's triple and
// data layout, debug locations of the source, clusters, and the facts that MLIR
// cannot say: inline assembly with side effects is convergent (else the optimiser
// duplicates barriers into both sides of a branch), and helper declarations
// carry what their effects allow.
//===----------------------------------------------------------------------===//

#include "DiagnosticText.h"

#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/ExpandHelpers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace {

void markInlineAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (auto *text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
          if (text->hasSideEffects())
            call->setConvergent();
}

/// `tile.cluster` becomes what PTX prints as .reqnctapercluster, which fixes the number: not
/// where the launch decides.
void requireClusters(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto size = function->getAttrOfType<IntegerAttr>("tile.cluster");
        size && size.getInt() > 1 && !function->hasAttr("tile.cluster_axis"))
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        DenseI32ArrayAttr::get(module.getContext(), {int32_t(size.getInt()), 1, 1}));
}

} // namespace

void tilec::registerTargetDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
tilec::translateToLLVM(ModuleOp module, llvm::LLVMContext &context, const Chip &chip) {
  auto machine = createTargetMachine(chip);
  if (!machine)
    return machine.takeError();
  return translateToLLVM(module, context, **machine);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
tilec::translateToLLVM(ModuleOp module, llvm::LLVMContext &context,
                       const llvm::TargetMachine &machine) {
  requireClusters(module);
  DiagnosticText said(module.getContext());
  // Known before translation: it decides the alignment of accesses that name none.
  llvm::DataLayout layout = machine.createDataLayout();
  module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                  StringAttr::get(module.getContext(), layout.getStringRepresentation()));
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(
      module, context, module.getName().value_or("tilec"));
  if (!result)
    return llvm::createStringError("translation to LLVM IR failed: " + said.get());

  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(layout);
  markInlineAssemblyConvergent(*result);
  annotateHelpers(*result);
  return result;
}

llvm::Expected<std::string> tilec::compileToPTX(ModuleOp module, const Chip &chip,
                                                const CodegenOptions &options) {
  if (llvm::Error error = lowerToLLVM(module))
    return error;
  auto machine = createTargetMachine(chip, options);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto result = translateToLLVM(module, context, **machine);
  if (!result)
    return result.takeError();
  optimizeModule(**result, **machine, options);
  return emitPTX(std::move(*result), chip, **machine);
}

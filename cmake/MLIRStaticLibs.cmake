#===- MLIRStaticLibs.cmake - the MLIR libraries of a static build ------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
set(TILEC_MLIR_STATIC_LIBS
  MLIROptLib MLIRPass MLIRTransforms MLIRParser
  MLIRArithDialect MLIRControlFlowDialect MLIRFuncDialect MLIRGPUDialect
  MLIRLLVMDialect MLIRMathDialect MLIRNVVMDialect MLIRSCFDialect
  MLIRTensorDialect MLIRUBDialect MLIRVectorDialect
  MLIRArithToLLVM MLIRArithTransforms MLIRControlFlowToLLVM MLIRConvertToLLVMPass
  MLIRFuncToLLVM MLIRIndexToLLVM MLIRMathToLLVM MLIRNVVMToLLVM
  MLIRReconcileUnrealizedCasts MLIRSCFToControlFlow MLIRSCFTransforms MLIRUBToLLVM
  MLIRVectorToLLVM MLIRVectorToLLVMPass MLIRGPUToNVVMTransforms MLIRMathTransforms
  MLIRToLLVMIRTranslationRegistration MLIRTargetLLVMIRExport
  MLIRLLVMIRTransforms MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation
  MLIRNVVMToLLVMIRTranslation)

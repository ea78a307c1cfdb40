//===- RegisterAll.cpp - every dialect and pass ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/RegisterAll.h"

#include "tilec/IRGen/IRGen.h"
#include "tilec/Lowering/Passes.h"
#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/Passes.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tilec {

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, tgpu::TileGPUDialect>();
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect,
                  mlir::ub::UBDialect, mlir::vector::VectorDialect>();
  registerIRGenDialects(registry);
  registerTargetDialects(registry);
}

void registerAllPasses() {
  mlir::registerTransformsPasses();
  registerTileTransformsPasses();
  registerLoweringPasses();
  registerTargetPasses();
}

bool isPass(llvm::StringRef flag) {
  [[maybe_unused]] static const bool areRegistered = (registerAllPasses(), true);
  return mlir::PassInfo::lookup(flag);
}

} // namespace tilec

//===- SideBySide.cpp - the builds of kernels on several threads -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See SideBySide.h. The threads share the MLIR context, which allows that, and nothing
// else. A handler of diagnostics hears all threads, so each asks for its own.
//
//===------------------------------------------------------------------------===//
#include "SideBySide.h"

#include "Verification.h"

#include "tilec/Compiler/KernelFacts.h"
#include "tilec/Compiler/Pipelines.h"
#include "tilec/Target/EmitPTX.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace tilec {

/// One module for each kernel, in order.
static std::vector<BuildCode> takeApart(ModuleOp module, llvm::ArrayRef<KernelInfo> kernels) {
  std::vector<BuildCode> builds;
  for (tile::KernelOp kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    BuildCode &build = builds.emplace_back();
    build.module = ModuleOp::create(module.getLoc());
    (*build.module)->setAttrs(module->getAttrDictionary());
    kernel->moveBefore(build.module->getBody(), build.module->getBody()->end());
    for (const KernelInfo &info : kernels)
      build.kernels.emplace_back().name = info.name;
  }
  return builds;
}

static bool lowerToSIMT(BuildCode &build, const CompileOptions &options, const Chip &chip) {
  PassManager passes(build.module->getContext(), ModuleOp::getOperationName());
  addSIMTPasses(passes, options, chip);
  if (succeeded(runVerified(passes, *build.module)))
    return true;
  build.failedStage = stageName(Stage::SIMT).str();
  build.internalError = "a pass failed without a message";
  return false;
}

static void compileBuild(BuildCode &build, const CompileOptions &options, const Chip &chip) {
  uint64_t self = llvm::get_threadid();
  ScopedDiagnosticHandler handler(build.module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (llvm::get_threadid() != self)
      return mlir::failure();
    build.messages.push_back(std::move(diagnostic));
    return mlir::success();
  });
  if (!lowerToSIMT(build, options, chip))
    return;
  describeBuilds(*build.module, build.kernels);
  CodegenOptions codegen;
  codegen.optLevel = options.optLevel;
  auto ptx = compileToPTX(*build.module, chip, codegen);
  build.module = {};
  if (ptx) {
    build.ptx = std::move(*ptx);
    return;
  }
  build.failedStage = stageName(Stage::PTX).str();
  build.internalError = llvm::toString(ptx.takeError());
}

std::vector<BuildCode> compileSideBySide(ModuleOp module, const CompileOptions &options,
                                         const Chip &chip, llvm::ArrayRef<KernelInfo> kernels) {
  std::vector<BuildCode> builds = takeApart(module, kernels);
  parallelForEach(module.getContext(), builds,
                  [&](BuildCode &build) { compileBuild(build, options, chip); });
  return builds;
}

} // namespace tilec

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
#include "tilec/Tile/BuildFacts.h"
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
    build.index = unsigned(builds.size()) - 1;
    build.module = ModuleOp::create(module.getLoc());
    (*build.module)->setAttrs(module->getAttrDictionary());
    kernel->moveBefore(build.module->getBody(), build.module->getBody()->end());
    for (const KernelInfo &info : kernels)
      build.kernels.emplace_back().name = info.name;
  }
  return builds;
}

AssembleOptions assembleOptions(const CompileOptions &options) {
  AssembleOptions result;
  result.optLevel = options.optLevel;
  result.lineInfo = options.lineInfo;
  result.extraArguments = options.assemblerArgs;
  return result;
}

namespace {
/// Keeps for a build what is said on this thread.
class KeepMessages : public ScopedDiagnosticHandler {
public:
  explicit KeepMessages(BuildCode &build)
      : ScopedDiagnosticHandler(build.module->getContext(), [&build, self = llvm::get_threadid()](
                                                                mlir::Diagnostic &diagnostic) {
          if (llvm::get_threadid() != self)
            return mlir::failure();
          build.messages.push_back(std::move(diagnostic));
          return mlir::success();
        }) {}
};
} // namespace

static void describe(BuildCode &build) {
  describeBuilds(*build.module, build.kernels);
  for (KernelInfo &kernel : build.kernels)
    for (BuildInfo &info : kernel.builds)
      info.object = build.index;
}

static void lowerBuild(BuildCode &build, const CompileOptions &options, const Chip &chip) {
  KeepMessages handler(build);
  PassManager passes(build.module->getContext(), ModuleOp::getOperationName());
  addSIMTPasses(passes, options, chip);
  if (succeeded(runVerifiedLater(passes, *build.module)))
    return describe(build);
  build.failedStage = stageName(Stage::SIMT).str();
  build.internalError = "a pass failed without a message";
}

static void finishWith(Assembler *assembler, BuildCode &build, const CompileOptions &options,
                       const Chip &chip) {
  KeepMessages handler(build);
  CodegenOptions codegen;
  codegen.optLevel = options.optLevel;
  auto ptx = compileToPTX(*build.module, chip, codegen);
  build.module = {};
  if (!ptx) {
    build.failedStage = stageName(Stage::PTX).str();
    build.internalError = llvm::toString(ptx.takeError());
    return;
  }
  build.ptx = std::move(*ptx);
  if (!assembler)
    return;
  auto cubin = assembler->assemble(build.ptx);
  if (cubin)
    build.cubin = std::move(*cubin);
  else
    build.toolError = llvm::toString(cubin.takeError());
}

void finishBuild(BuildCode &build, const CompileOptions &options, const Chip &chip,
                 bool isAssembled) {
  std::optional<Assembler> assembler;
  if (isAssembled)
    assembler.emplace(chip, assembleOptions(options));
  finishWith(assembler ? &*assembler : nullptr, build, options, chip);
}

std::vector<BuildCode> compileSideBySide(ModuleOp module, const CompileOptions &options,
                                         const Chip &chip, llvm::ArrayRef<KernelInfo> kernels,
                                         bool isAssembled,
                                         llvm::function_ref<bool(uint8_t facts)> isFinished) {
  std::vector<BuildCode> builds = takeApart(module, kernels);
  parallelForEach(module.getContext(), builds, [&](BuildCode &build) {
    bool goesOn = isFinished(tile::factsOf(*build.module->getOps<tile::KernelOp>().begin()));
    std::optional<Assembler> assembler; // which starts now
    if (goesOn && isAssembled)
      assembler.emplace(chip, assembleOptions(options));
    lowerBuild(build, options, chip);
    if (goesOn && build.isGood())
      finishWith(assembler ? &*assembler : nullptr, build, options, chip);
  });
  return builds;
}

} // namespace tilec

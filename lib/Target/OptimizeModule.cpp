//===- OptimizeModule.cpp - target machine and O3 --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: a module fresh from translation; values are vectors as wide as a thread's
// part of a tile (say <32 x float>). Out: the module that PTX is printed from and
// that the emulator runs.
//
//   %s = fadd <8 x float> %a, %b      →   8 × fadd float
//   %h = fadd <8 x half>  %a, %b      →   4 × fadd <2 x half>     (packed f16x2)
//   %v = load <4 x float>, align 16   →   unchanged               (ld.global.v4)
//
// The scalarizer goes first: the optimiser sees through scalars, while code
// generation would spill wide vectors to memory. The loop and SLP vectorizers
// are off: what is to be vectorised already is.
//
// Contraction of a*b+c was decided in the tile stage, so the target machine may
// not fuse (AllowFPOpFusion is Strict): PTX then says add.rn and mul.rn, which
// the assembler does not fuse either.
//===----------------------------------------------------------------------===//

#include "tilec/Target/EmitPTX.h"
#include "PackFields.h"
#include "ScalarizeVectors.h"
#include "WidenBFloats.h"

#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <mutex>

using namespace llvm;

namespace {

/// The option that makes pointers to shared memory 32 bits wide. The target
/// machine reads it in its constructor and nowhere else, so it is set around
/// the construction only.
class ShortSharedPointers {
public:
  ShortSharedPointers() : lock(mutex()) {
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("nvptx-short-ptr");
    if (found == options.end())
      return;
    option = static_cast<cl::opt<bool> *>(found->second);
    before = option->getValue();
    option->setValue(true);
  }
  ~ShortSharedPointers() {
    if (option)
      option->setValue(before);
  }

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock;
  cl::opt<bool> *option = nullptr;
  bool before = false;
};

/// Not `Aggressive` for 3: that is two more rounds of global value numbering, a fifth of code
/// generation's time, which find nothing after those of the optimiser.
CodeGenOptLevel codegenLevel(unsigned level) {
  return level == 0   ? CodeGenOptLevel::None
         : level == 1 ? CodeGenOptLevel::Less
                      : CodeGenOptLevel::Default;
}

OptimizationLevel pipelineLevel(unsigned level) {
  return level == 0   ? OptimizationLevel::O0
         : level == 1 ? OptimizationLevel::O1
         : level == 2 ? OptimizationLevel::O2
                      : OptimizationLevel::O3;
}

/// Passes of the pipeline that are left out. VectorCombine would split a wide load whose
/// elements are used one by one; the parts then merge with the masked loads of the edge path
/// and never join again. The others find nothing to do in code of ours, and compare all
/// stores with one another before they know.
constexpr StringLiteral unwantedPasses[] = {
    "VectorCombinePass",   "DSEPass",       "ConstraintEliminationPass", "MemCpyOptPass",
    "BDCEPass",            "JumpThreadingPass", "LoopLoadEliminationPass",
    "AggressiveInstCombinePass", "SCCPPass", "CalledValuePropagationPass",
    "InstSimplifyPass", "LoopIdiomRecognizePass", "LoopInstSimplifyPass",
    "LoopSimplifyCFGPass", "MergedLoadStoreMotionPass", "Float2IntPass",
    "ControlHeightReductionPass", "LoopDistributePass", "OpenMPOptPass",
    "OpenMPOptCGSCCPass", "GlobalOptPass", "CallSiteSplittingPass",
    "LibCallsShrinkWrapPass", "TailCallElimPass", "LoopVectorizePass"};

/// Runs of InstCombine, of eight, after which no example's code is another: behind the last
/// motion out of loops, and the second of two with nothing but SimplifyCFG between them.
constexpr unsigned unwantedInstCombines[] = {4, 6};

} // namespace

Expected<std::unique_ptr<TargetMachine>>
tilec::createTargetMachine(const Chip &chip, const CodegenOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("this build has no NVPTX backend: " + message);

  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Strict;
  ShortSharedPointers scope;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, StringRef(chip.name.data(), chip.name.size()),
      "+ptx" + std::to_string(chip.ptxVersion), targetOptions, Reloc::PIC_,
      std::nullopt, codegenLevel(options.optLevel)));
  if (!machine)
    return createStringError("the NVPTX backend has no machine for " +
                             std::string(chip.name));
  return machine;
}

Error tilec::optimizeModule(Module &module, const Chip &chip,
                            const CodegenOptions &options) {
  auto machine = createTargetMachine(chip, options);
  if (!machine)
    return machine.takeError();
  optimizeModule(module, **machine, options);
  return Error::success();
}

void tilec::optimizeModule(Module &module, TargetMachine &machine, const CodegenOptions &options) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  PassInstrumentationCallbacks instrumentation;
  instrumentation.registerShouldRunOptionalPassCallback(
      [runs = 0u](StringRef pass, Any) mutable {
        if (pass == "InstCombinePass" && is_contained(unwantedInstCombines, runs++))
          return false;
        return !is_contained(unwantedPasses, pass);
      });
  PassBuilder builder(&machine, tuning, std::nullopt, &instrumentation);
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        passes.addPass(createModuleToFunctionPassAdaptor(ScalarizeVectors()));
      });
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
        passes.addPass(createModuleToFunctionPassAdaptor(WidenBFloats()));
        passes.addPass(createModuleToFunctionPassAdaptor(PackFields()));
      });

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  OptimizationLevel level = pipelineLevel(options.optLevel);
  ModulePassManager passes = options.optLevel == 0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

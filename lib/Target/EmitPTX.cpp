//===- EmitPTX.cpp - llvm::Module to PTX text ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: an optimised module. Out: PTX text. Works on a copy where the caller hands the
// same module to the emulator. Order matters: helpers become inline assembly, those
// of products in a row one statement, then the check, then code generation, which must
// not be given anything that it would abort on.
//===----------------------------------------------------------------------===//

#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/ExpandHelpers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

/// Above this many integer operations in a block, strength reduction of straight lines,
/// which compares all pairs, takes long: 20 ms for 140 (a row of 32 elements a thread, of
/// which it was a third of the time to PTX), seconds for some thousands.
constexpr unsigned straightLineLimit = 140;

/// Passes of the backend's fixed pipeline that change next to nothing: what can be wide is
/// wide before, and the assembler orders machine code.
constexpr StringLiteral unwantedPasses[] = {
    "Nary reassociation", "GPU Load and Store Vectorizer", "Machine Instruction Scheduler"};

/// A pass manager that leaves out passes of the backend's fixed pipeline.
class FilteringPassManager : public legacy::PassManager {
public:
  explicit FilteringPassManager(bool reduceStraightLines)
      : reduceStraightLines(reduceStraightLines) {}

  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    bool isLeftOut = is_contained(unwantedPasses, name) ||
                     (!reduceStraightLines && name == "Straight line strength reduction");
    if (isLeftOut)
      delete pass;
    else
      legacy::PassManager::add(pass);
  }

private:
  bool reduceStraightLines;
};

bool hasLongBlock(const Module &module) {
  auto isInteger = [](const Instruction &instruction) {
    return isa<GetElementPtrInst>(instruction) ||
           (instruction.isBinaryOp() && instruction.getType()->isIntegerTy());
  };
  for (const Function &function : module)
    for (const BasicBlock &block : function)
      if (count_if(block, isInteger) > straightLineLimit)
        return true;
  return false;
}

} // namespace

Expected<std::string> tilec::emitPTX(const Module &module, const Chip &chip,
                                     const CodegenOptions &options) {
  auto machine = createTargetMachine(chip, options);
  if (!machine)
    return machine.takeError();
  return emitPTX(CloneModule(module), chip, **machine);
}

Expected<std::string> tilec::emitPTX(std::unique_ptr<Module> module, const Chip &chip,
                                     TargetMachine &machine) {
  joinProducts(*module);
  if (Error error = expandHelpers(*module))
    return error;
  std::string defects;
  raw_string_ostream defectStream(defects);
  if (verifyModule(*module, &defectStream))
    return createStringError("invalid LLVM IR before code generation: " + defects);
  if (Error error = checkSelectable(*module, chip))
    return error;

  SmallString<0> text;
  raw_svector_ostream stream(text);
  FilteringPassManager passes(/*reduceStraightLines=*/!hasLongBlock(*module));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true))
    return createStringError("the NVPTX backend cannot print assembly");
  passes.run(*module);
  return std::string(text);
}

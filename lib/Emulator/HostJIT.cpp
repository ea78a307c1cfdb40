//===- HostJIT.cpp - compiles a rewritten kernel in process -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: a rewritten module. Out: machine code, through ORC.
//
// The module comes out of the GPU's O3 pipeline, so only what the rewrite added is
// cleaned up here (argument structs, loads of context fields): a full host pipeline
// would double the time and gain little.
//
//===--------------------------------------------------------------------------===//
#include "HostJIT.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace tilec::emulator;

HostJIT::HostJIT() : hostLayout("") {}
HostJIT::~HostJIT() = default;

const Triple &HostJIT::triple() const { return hostTriple; }
const DataLayout &HostJIT::layout() const { return hostLayout; }

Expected<std::unique_ptr<HostJIT>> HostJIT::create() {
  static bool initialised = [] {
    return !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  }();
  if (!initialised)
    return createStringError("LLVM was built without a target for this machine");
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Less);
  // Their conversions to bf16 flush subnormals, which a GPU keeps.
  if (builder->getTargetTriple().isX86())
    builder->addFeatures({"-avx512bf16", "-avxneconvert"});
  std::unique_ptr<HostJIT> result(new HostJIT);
  result->machineBuilder =
      std::make_unique<orc::JITTargetMachineBuilder>(std::move(*builder));
  auto machine = result->machineBuilder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  result->machine = std::move(*machine);
  result->hostTriple = result->machine->getTargetTriple();
  result->hostLayout = result->machine->createDataLayout();
  return result;
}

static Error optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(
          passes, "function(sroa,early-cse,simplifycfg,instsimplify)"))
    return error;
  passes.run(module, modules);
  return Error::success();
}

Error HostJIT::add(std::unique_ptr<Module> module, std::unique_ptr<LLVMContext> context,
                   const HostKernel &kernel) {
  std::string complaint;
  raw_string_ostream stream(complaint);
  if (verifyModule(*module, &stream))
    return createStringError("the emulator made invalid code of the kernel: " +
                             complaint);
  if (Error error = optimise(*module, *machine))
    return error;
  auto created = orc::LLJITBuilder()
                     .setJITTargetMachineBuilder(*machineBuilder)
                     .create();
  if (!created)
    return created.takeError();
  jit = std::move(*created);

  orc::SymbolMap symbols;
  auto bind = [&](StringRef name, void *address) {
    symbols[jit->mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (const RuntimeEntry &entry : runtimeFunctions())
    bind(entry.name, entry.address);
  for (const auto &entry : kernel.operations)
    bind(entry.getKey(), reinterpret_cast<void *>(entry.getValue()));
  orc::JITDylib &dylib = jit->getMainJITDylib();
  if (Error error = dylib.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  // expf, memcpy and their like come from the process.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  dylib.addGenerator(std::move(*process));
  return jit->addIRModule(
      orc::ThreadSafeModule(std::move(module), std::move(context)));
}

Expected<void *> HostJIT::lookup(StringRef symbol) {
  auto address = jit->lookup(symbol);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}

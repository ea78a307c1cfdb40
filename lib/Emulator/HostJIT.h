//===- HostJIT.h - compiles a rewritten kernel in process -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: a rewritten module and its context. Out: the address of the kernel, which
// stays valid as long as the HostJIT lives.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_HOSTJIT_H
#define TILEC_LIB_EMULATOR_HOSTJIT_H

#include "RewriteForHost.h"

namespace llvm {
class TargetMachine;
} // namespace llvm
namespace llvm::orc {
class LLJIT;
class JITTargetMachineBuilder;
} // namespace llvm::orc

namespace tilec::emulator {

class HostJIT {
public:
  static llvm::Expected<std::unique_ptr<HostJIT>> create();
  ~HostJIT();

  const llvm::Triple &triple() const;
  const llvm::DataLayout &layout() const;

  /// Optimises and compiles \p module; binds what it calls to host functions.
  llvm::Error add(std::unique_ptr<llvm::Module> module,
                  std::unique_ptr<llvm::LLVMContext> context,
                  const HostKernel &kernel);

  llvm::Expected<void *> lookup(llvm::StringRef symbol);

private:
  HostJIT();
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> machineBuilder;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::Triple hostTriple;
  llvm::DataLayout hostLayout;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_HOSTJIT_H

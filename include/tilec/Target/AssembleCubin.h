//===- AssembleCubin.h - PTX to machine code -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// PTX text in, cubin bytes and what the assembler reports out. The assembler is
// the first of: the program `$TILEC_PTXAS` (`none`: as if there were no ptxas);
// `ptxas` on PATH, in $CUDA_HOME/bin, in /usr/local/cuda/bin; libnvJitLink, opened
// at run time ($TILEC_NVJITLINK names it). With none, the error says so: PTX alone is enough to run, as the driver assembles it at load time.
//
// Errors are ExternalToolError (exit code 3 of the tools).
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_ASSEMBLECUBIN_H
#define TILEC_TARGET_ASSEMBLECUBIN_H

#include "tilec/Support/Target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace tilec {

class WaitingPtxas;

/// A missing or failing program outside of the compiler. `log` is what it said.
class ExternalToolError : public llvm::ErrorInfo<ExternalToolError> {
public:
  static char ID;
  ExternalToolError(std::string message, std::string log = {})
      : message(std::move(message)), toolLog(std::move(log)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
  const std::string &getMessage() const { return message; }
  const std::string &getToolLog() const { return toolLog; }

private:
  std::string message;
  std::string toolLog;
};

/// What the assembler reports of one kernel; sizes in bytes.
struct KernelResources {
  std::string kernel;
  unsigned registers = 0;
  unsigned stack = 0;
  unsigned spillStores = 0;
  unsigned spillLoads = 0;
  unsigned staticShared = 0;
  unsigned barriers = 0;
};

/// Machine code of a module.
struct Cubin {
  std::string image;
  std::vector<KernelResources> kernels;
  /// Warnings and advice, one line each (C75xx: wgmma was serialised).
  std::vector<std::string> messages;
};

struct AssembleOptions {
  unsigned optLevel = 3;
  bool lineInfo = true;
  std::vector<std::string> extraArguments; ///< `-Xptxas`
};

/// Which assembler is used and its version, for `-v`: it is asked.
/// "ptxas 13.0.88 (/usr/local/cuda/bin/ptxas)".
llvm::Expected<std::string> describeAssembler();

/// The same for cache keys, by the file's name, size and date, so that nothing is started;
/// empty where there is none.
std::string identifyAssembler();

/// Whether there is one; starts nothing.
bool hasAssembler();

/// Assembles `ptx`, made for `chip`.
llvm::Expected<Cubin> assembleCubin(llvm::StringRef ptx, const Chip &chip,
                                    const AssembleOptions &options = {});

/// An assembler that is started before its input is there, as starting takes time that it
/// can have while the compiler works. What it gives is what assembleCubin gives.
class Assembler {
public:
  /// `entries`: the kernels that the text will have.
  Assembler(const Chip &chip, AssembleOptions options, unsigned entries = 1);
  ~Assembler();
  /// Once.
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx);

private:
  const Chip &chip;
  AssembleOptions options;
  std::unique_ptr<WaitingPtxas> waiting;
};

/// Reads ptxas' `-v` output: resources by kernel, and all other messages.
void parseAssemblerLog(llvm::StringRef log, Cubin &cubin);

} // namespace tilec
#endif // TILEC_TARGET_ASSEMBLECUBIN_H

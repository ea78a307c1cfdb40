//===- Execute.h - one launch on one of the executors -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A kernel made ready for the interpreter, for SIMT execution of the compiled
// module on the CPU, or for the GPU. run() changes the arrays of the arguments in
// place, whatever the executor.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILERUN_EXECUTE_H
#define TILEC_TOOLS_TILERUN_EXECUTE_H

#include "Arguments.h"
#include "CommandLine.h"

#include "tilec/Compiler/Compiler.h"

#include <memory>
#include <optional>

namespace tilec::run {

/// Times of repeated launches.
struct BenchResult {
  std::vector<double> seconds;  ///< of each launch, sorted
  double peakBytesPerSecond = 0; ///< of a copy on the same device; 0: unknown
};

class Executor {
public:
  virtual ~Executor();
  /// "NVIDIA H200", "the interpreter".
  virtual std::string name() const = 0;
  /// Runs the kernel once. On failure `code` of the Failure is the exit code.
  virtual Expected<void> run(std::vector<RunArgument> &args, const std::optional<Grid> &grid) = 0;
  /// Repeats the launch, on copies of the arrays.
  virtual Expected<BenchResult> bench(std::vector<RunArgument> &args,
                                      const std::optional<Grid> &grid);
};

/// The three executors. `compilation` outlives them; a failure with code 1 and no
/// message means that its diagnostics say what is wrong. Only if `prints` does what the
/// kernel prints appear: it is not to appear twice when the interpreter checks another.
Expected<std::unique_ptr<Executor>> makeInterpreter(Compilation &compilation, const Chip &chip,
                                                    const std::string &kernel, bool prints);
Expected<std::unique_ptr<Executor>> makeEmulator(Compilation &compilation, const Chip &chip,
                                                 const std::string &kernel);
Expected<std::unique_ptr<Executor>> makeGpu(Compilation &compilation, const std::string &kernel);
/// A kernel of a compiled module; no compiler runs.
Expected<std::unique_ptr<Executor>> makeGpu(const ModuleFile &file, const std::string &kernel);

/// The chip to compile for on this machine's GPU.
Expected<const Chip *> findGpuChip();

/// A failure that ends the program with this exit code.
Failure exitWith(ExitCode code, std::string message);

} // namespace tilec::run

#endif // TILEC_TOOLS_TILERUN_EXECUTE_H

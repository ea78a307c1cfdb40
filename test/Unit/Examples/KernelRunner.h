//===- KernelRunner.h - runs a .tile kernel on every executor --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a source file, compile-time parameters, host arrays. Out: the arrays after
// the launch, by the interpreter, by SIMT execution of the compiled module, or on
// the GPU where there is one. Each compiled form is made once and kept.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_KERNELRUNNER_H
#define TILEC_TEST_KERNELRUNNER_H

#include "tilec/Compiler/Compiler.h"
#include "tilec/Emulator/Emulator.h"
#include "tilec/Runtime/Kernel.h"
#include "tilec/Support/KernelArg.h"
#include "tilec/Support/LaunchPlan.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec::test {

enum class Executor { Interpreter, SIMT, GPU };

/// A folder of the checkout: of the one that TILEC_SOURCE_DIR names, where the tests run on
/// another machine, or of that which they were built from.
std::string sourceFolder(const char *inside);

/// "Interpreter", "SIMT", "GPU".
const char *executorName(Executor executor);
/// The executors to be had on this machine.
std::vector<Executor> availableExecutors();

/// Whether a GPU that is there runs what an example for `chip` is about: tiles for tensor
/// memory need a chip that has it, all others run, compiled for the GPU's own chip.
bool gpuRunsExamplesOf(std::string_view chip);

/// An array in host memory whose elements are seen as doubles.
struct HostArray {
  HostArray(DType dtype, std::vector<int64_t> dims);

  /// Values of a fixed pseudo-random sequence, about N(0, 1) (integers: -8 … 8).
  static HostArray random(DType dtype, std::vector<int64_t> dims, uint32_t seed);
  /// Every byte 0xff: NaN in all float types, -1 in integers.
  static HostArray poisoned(DType dtype, std::vector<int64_t> dims);

  size_t size() const;
  double at(size_t i) const;
  void set(size_t i, double value);
  KernelArg arg();

  DType dtype;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

class KernelRunner {
public:
  /// A program that is not in a file, with one kernel.
  struct Text {
    std::string name, source;
  };

  KernelRunner(std::string file, std::string kernel, std::vector<std::string> defines,
               unsigned numWarps = 0);
  KernelRunner(const Text &text, const CompileOptions &options);
  ~KernelRunner();

  /// The chip whose code SIMT execution runs; sm_80 without.
  void setEmulatedChip(const char *name) { emulatedChip = name; }

  /// The chip whose PTX the GPU runs, an older one or its own; the GPU's own without.
  void setGPUChip(const char *name) { gpuChip = name; }

  /// Multiprocessors of the device that the emulator stands for, as far as launches ask.
  void setNumSMs(int32_t count) { numSMs = count; }

  /// Launches with `args`, of which arrays are read and written in place. Gives ""
  /// or what went wrong: messages of the compiler, the launcher, the executor.
  std::string run(Executor executor, std::vector<KernelArg> args,
                  std::optional<Grid> grid = std::nullopt);
  /// The kernel for GPU 0, to be launched by hand; `run` has said that there is one.
  const Kernel &kernelOnGPU() const;

  /// Compiles to PTX. Gives the messages of the compiler, or "".
  std::string compileOnly();

private:
  std::string compile(const Chip &chip, Stage last);
  std::string messages();
  std::string interpret(std::vector<KernelArg> &args, const std::optional<Grid> &grid);
  std::string emulate(std::vector<KernelArg> &args, const std::optional<Grid> &grid);
  std::string prepareForGPU();
  std::string launchOnGPU(std::vector<KernelArg> &args, const std::optional<Grid> &grid);

  std::string kernelName;
  const char *emulatedChip = "sm_80", *gpuChip = nullptr;
  int32_t numSMs = 1;
  std::unique_ptr<Compilation> compilation;
  std::optional<ChipCode> code;
  Stage compiledTo = Stage::AST;
  std::map<std::string, EmulatedKernel> emulated; ///< by symbol
  struct Loaded;
  std::unique_ptr<Loaded> loaded;
};

} // namespace tilec::test

#endif // TILEC_TEST_KERNELRUNNER_H

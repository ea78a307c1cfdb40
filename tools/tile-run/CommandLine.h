//===- CommandLine.h - what the user asked for --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILERUN_COMMANDLINE_H
#define TILEC_TOOLS_TILERUN_COMMANDLINE_H

#include "tilec/Compiler/Compiler.h"
#include "tilec/Support/LaunchPlan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilec::run {

enum ExitCode {
  exitSuccess = 0,
  exitInput = 1, // errors in the input, or a refused launch
  exitUsage = 2,
  exitTool = 3,
  exitCheck = 4, // a failed --check
  exitFault = 5, // an assertion or a fault while running
  exitInternal = 70,
};

enum class DeviceKind { Auto, GPU, CPU, SIMT };

/// "gpu", "cpu", "simt".
llvm::StringRef deviceKindName(DeviceKind kind);

struct CommandLine {
  std::string input;
  CompileOptions compile;
  const Chip *chip = nullptr; ///< of --device=simt
  DeviceKind device = DeviceKind::Auto;
  std::vector<std::pair<std::string, std::string>> args;  ///< name, value
  std::vector<std::pair<std::string, std::string>> dumps; ///< name, file
  std::optional<Grid> grid;
  uint64_t seed = 0;
  unsigned skew = 0; ///< bytes
  bool check = false, bench = false;
  std::optional<double> tolerance;
  std::string flops;
  bool showHelp = false, showVersion = false, showArch = false;
  bool isBatch = false; ///< --batch: nothing else is set

  /// 0, or the exit code after one line on `errs` that says what is wrong.
  int parse(llvm::ArrayRef<const char *> given, llvm::raw_ostream &errs);
};

void printHelp(llvm::raw_ostream &os);

} // namespace tilec::run

#endif // TILEC_TOOLS_TILERUN_COMMANDLINE_H

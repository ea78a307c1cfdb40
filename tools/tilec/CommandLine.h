//===- CommandLine.h - what the user asked for ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEC_COMMANDLINE_H
#define TILEC_TOOLS_TILEC_COMMANDLINE_H

#include "tilec/Compiler/Compiler.h"

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tilec::driver {

inline constexpr int exitSuccess = 0, exitInput = 1, exitUsage = 2, exitTool = 3, exitInternal = 70;

/// What to write, and where: the empty path is the `-o` file or standard output.
struct EmitRequest {
  std::string kind; ///< a row of the table in CommandLine.cpp
  std::string path;
};

struct CommandLine {
  std::vector<std::string> inputs;
  CompileOptions compile;
  std::vector<const Chip *> chips;
  std::vector<EmitRequest> emits;

  bool writeDepfile = false;
  std::string depfile, depfileTarget;
  bool resourceUsage = false;
  std::vector<std::string> layoutOf; ///< of --emit=layout; empty: of all tiles
  std::vector<std::string> builds; ///< kinds (buildKindName); empty: all

  std::vector<std::string> warningOptions;
  unsigned maxErrors = 20;
  bool color = false;
  bool jsonDiagnostics = false;

  bool showHelp = false, showVersion = false;
  std::string explain;

  /// 0, or the exit code after one line on `errs` that says what is wrong.
  int parse(int argc, char **argv, llvm::raw_ostream &errs);
};

void printHelp(llvm::raw_ostream &os);

} // namespace tilec::driver

#endif // TILEC_TOOLS_TILEC_COMMANDLINE_H

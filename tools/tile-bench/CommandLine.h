//===- CommandLine.h - what the user asked for ---------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_COMMANDLINE_H
#define TILEC_TOOLS_TILEBENCH_COMMANDLINE_H

#include "Subjects.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tilec::bench {

enum ExitCode {
  exitSuccess = 0,
  exitInput = 1, // a wrong result, or a file that cannot be read or written
  exitUsage = 2,
  exitTool = 3, // no GPU, or a failing script
};

struct CommandLine {
  std::vector<const Subject *> subjects;
  std::vector<Sizes> shapes;      ///< instead of the subjects'
  std::vector<std::string> tiles; ///< "BM=128 BN=256 BK=64", instead of the subjects'
  bool onlyFirstShape = false;
  double seconds = 0.25;
  std::string examples;
  bool usePeers = true, measureCeilings = true;
  std::string cublasLt, peersScript;
  std::string json, svg;
  bool showHelp = false, showVersion = false, showList = false;

  /// 0, or the exit code after one line on `errs` that says what is wrong.
  int parse(llvm::ArrayRef<const char *> given, llvm::raw_ostream &errs);
};

void printHelp(llvm::raw_ostream &os);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_COMMANDLINE_H

//===- tilec.cpp - the compiler's command line ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tilec cache …` is about the code cache (Cache.cpp). Else: reads options, compiles each input with Compilation, writes outputs. Exit codes:
// 0; 1 errors in the input; 2 bad usage; 3 external tool missing or failed; 70
// internal error. Messages go to stderr only.
//
//===------------------------------------------------------------------------===//

#include "Cache.h"
#include "CommandLine.h"
#include "Emit.h"

#include "../StandardOutput.h"

#include "tilec/Compiler/Compiler.h"
#include "tilec/Compiler/Version.h"
#include "tilec/Frontend/Diagnostics.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace tilec;
using namespace tilec::driver;

/// `--explain T0203`.
static int explainCode(llvm::StringRef code) {
  llvm::StringRef page = explain(code);
  if (page.empty()) {
    llvm::errs() << "tilec: error: there is no message `" << code << "`\n";
    return exitUsage;
  }
  llvm::outs() << page << "\n";
  return exitSuccess;
}

/// A compile only ever needs more memory. By the page, as glibc has it, the heaps of two
/// threads grow with a thousand calls of the system.
static void growHeapsInLargeSteps() {
#ifdef __GLIBC__
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

int main(int argc, char **argv) {
  growHeapsInLargeSteps();
  llvm::InitLLVM init(argc, argv);
  llvm::ArrayRef<const char *> words(argv + 1, argv + argc);
  if (!words.empty() && llvm::StringRef(words.front()) == "cache")
    return endOutput("tilec", runCacheCommand(words.drop_front()));
  CommandLine line;
  if (int status = line.parse(argc, argv, llvm::errs()))
    return status;
  if (line.showHelp)
    printHelp(llvm::outs());
  if (line.showVersion)
    llvm::outs() << versionText() << "\n";
  if (line.showHelp || line.showVersion)
    return endOutput("tilec", exitSuccess);
  if (!line.explain.empty())
    return endOutput("tilec", explainCode(line.explain));
  int status = exitSuccess;
  for (const std::string &input : line.inputs)
    status = std::max(status, compileInput(input, line));
  // The memory of contexts and modules goes as a whole.
  llvm::sys::Process::Exit(endOutput("tilec", status), /*NoCleanup=*/true);
}

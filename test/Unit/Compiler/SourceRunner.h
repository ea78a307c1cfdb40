//===- SourceRunner.h - source text, run every way -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a file with one kernel, as text, and arguments. Out: what a run printed and which
// of its assertions failed, by the interpreter or compiled and run thread by thread.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_COMPILER_SOURCERUNNER_H
#define TILEC_TEST_UNIT_COMPILER_SOURCERUNNER_H

#include "tilec/Compiler/Compiler.h"
#include "tilec/Support/KernelArg.h"

#include <functional>
#include <string>
#include <vector>

namespace tilec::test {

struct RunResult {
  std::string error;  ///< of the compiler, the launcher, the executor; findings
  std::string lines;  ///< printed, sorted: blocks are not ordered
  std::string failed; ///< the text of the failed assertions
  KernelInfo info;    ///< with builds where code was compiled
  unsigned build = 0; ///< the one that ran
};

/// The interpreter.
RunResult interpret(const std::string &source, std::vector<KernelArg> args,
                    CompileOptions options = {});
/// Compiled code. `inspect` sees the code before it runs.
RunResult emulate(const std::string &source, std::vector<KernelArg> args,
                  CompileOptions options = {},
                  const std::function<void(ChipCode &)> &inspect = nullptr);

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_COMPILER_SOURCERUNNER_H

//===- SourceRunner.cpp - source text, run every way ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "SourceRunner.h"

#include "tilec/Emulator/Plan.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Support/DebugLog.h"
#include "tilec/Support/LaunchPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::test;

static std::string messages(Compilation &compilation) {
  std::string text = compilation.internalError();
  llvm::raw_string_ostream os(text);
  TextDiagnosticPrinter printer(compilation.sources(), os, false);
  compilation.printDiagnostics(printer);
  return text.empty() ? "no message" : text;
}

static void take(DebugLog &log, RunResult &result) {
  std::string text = log.lines();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  llvm::sort(lines);
  for (llvm::StringRef line : lines)
    result.lines += (line + "\n").str();
  if (auto asserted = log.takeFailure(); !asserted)
    result.failed = asserted.failure().message;
}

RunResult tilec::test::interpret(const std::string &source, std::vector<KernelArg> args,
                                 CompileOptions options) {
  RunResult result;
  Compilation compilation(std::move(options));
  compilation.loadText("k.tile", source);
  const Chip &chip = *findChip("sm_80");
  mlir::ModuleOp module = compilation.tileModule(chip);
  if (!module) {
    result.error = messages(compilation);
    return result;
  }
  result.info = compilation.kernels(chip).front();
  auto plan = planLaunch(result.info, args);
  if (!plan) {
    result.error = plan.failure().message;
    return result;
  }
  DebugLog log;
  InterpreterOptions how;
  how.log = &log;
  if (llvm::Error error =
          interpretKernel(*module.getOps<tile::KernelOp>().begin(), args, plan->grid, how))
    result.error = llvm::toString(std::move(error));
  take(log, result);
  return result;
}

RunResult tilec::test::emulate(const std::string &source, std::vector<KernelArg> args,
                               CompileOptions options,
                               const std::function<void(ChipCode &)> &inspect) {
  RunResult result;
  Compilation compilation(std::move(options));
  compilation.loadText("k.tile", source);
  auto code = compilation.compileFor(*findChip("sm_80"), Stage::LLVM);
  if (!code) {
    result.error = messages(compilation);
    return result;
  }
  if (inspect)
    inspect(*code);
  result.info = code->kernels.front();
  auto plan = planLaunch(result.info, args);
  if (!plan) {
    result.error = plan.failure().message;
    return result;
  }
  result.build = plan->build;
  EmulatorLaunch launch = makeEmulatorLaunch(result.info, *plan, args);
  auto report = emulateLaunch(*code->llvmModule, launch);
  if (!report) {
    result.error = llvm::toString(report.takeError());
    return result;
  }
  llvm::raw_string_ostream os(result.error);
  report->print(os);
  DebugLog log;
  collectDebugRecords(result.info, launch, log);
  take(log, result);
  return result;
}

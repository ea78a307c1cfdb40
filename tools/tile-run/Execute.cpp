//===- Execute.cpp - one launch on the CPU ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The interpreter runs the module at stage `tile`; SIMT execution compiles down to
// the module that PTX is printed from and runs that thread by thread, with all
// checks. Both go through the same launch planner as the GPU.
//
//===------------------------------------------------------------------------===//

#include "Execute.h"

#include "tilec/Emulator/Emulator.h"
#include "tilec/Emulator/Plan.h"
#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Support/DebugLog.h"
#include "tilec/Support/FailureError.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

namespace tilec::run {

Executor::~Executor() = default;

Failure exitWith(ExitCode code, std::string message) {
  return Failure{std::move(message), {}, {}, code, {}};
}

namespace {
/// The arguments for an executor on the CPU. Arrays lie where they are, but for those
/// that are to begin behind an aligned address: these are moved, and back in the end.
class HostArgs {
public:
  explicit HostArgs(std::vector<RunArgument> &args) : args(args) {
    for (RunArgument &argument : args) {
      list.push_back(argument.arg());
      auto *array = std::get_if<ArrayArg>(&list.back());
      moved.emplace_back(array && argument.skew ? argument.array.data.size() + 2 * alignment : 0);
      if (moved.back().empty())
        continue;
      std::copy(argument.array.data.begin(), argument.array.data.end(), place(moved.size() - 1));
      array->data = place(moved.size() - 1);
    }
  }
  ~HostArgs() {
    for (size_t i = 0; i < args.size(); ++i)
      if (!moved[i].empty())
        std::copy_n(place(i), args[i].array.data.size(), args[i].array.data.begin());
  }

  std::vector<KernelArg> list;

private:
  static constexpr size_t alignment = 256;
  std::byte *place(size_t i) {
    return reinterpret_cast<std::byte *>(
               llvm::alignTo(reinterpret_cast<uintptr_t>(moved[i].data()), alignment)) +
           args[i].skew;
  }

  std::vector<RunArgument> &args;
  std::vector<std::vector<std::byte>> moved;
};
} // namespace

Expected<BenchResult> Executor::bench(std::vector<RunArgument> &args,
                                      const std::optional<Grid> &grid) {
  using Clock = std::chrono::steady_clock;
  BenchResult result;
  double total = 0;
  while (result.seconds.size() < 3 || (total < 0.5 && result.seconds.size() < 100)) {
    std::vector<RunArgument> copy = args;
    auto start = Clock::now();
    if (auto ok = run(copy, grid); !ok)
      return ok.failure();
    result.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += result.seconds.back();
  }
  std::sort(result.seconds.begin(), result.seconds.end());
  return result;
}

/// Prints the lines of `log` if so asked; fails if an assertion has.
static Expected<void> report(DebugLog &log, bool prints = true) {
  if (prints) {
    llvm::outs().flush(); // what earlier runs of a batch said
    log.flush(stdout, stderr);
  }
  if (auto asserted = log.takeFailure(); !asserted)
    return exitWith(exitFault, asserted.failure().message);
  return {};
}

//===-- The interpreter -------------------------------------------------------------===//

namespace {
class InterpreterExecutor : public Executor {
public:
  InterpreterExecutor(Launcher launcher, tile::KernelOp kernel, bool prints)
      : launcher(std::move(launcher)), kernel(kernel), prints(prints) {}

  std::string name() const override { return "the interpreter"; }
  Expected<void> run(std::vector<RunArgument> &args, const std::optional<Grid> &grid) override {
    HostArgs host(args);
    std::vector<KernelArg> &list = host.list;
    LaunchPlan plan;
    if (auto ok = launcher.plan(list, grid, CheckLevel::Full, plan); !ok)
      return exitWith(exitInput, ok.failure().message);
    if (plan.isEmpty())
      return {};
    DebugLog log;
    InterpreterOptions options;
    options.log = &log;
    llvm::Error error = interpretKernel(kernel, list, plan.grid, options);
    auto asserted = report(log, prints);
    if (error)
      return exitWith(exitFault, toFailure(std::move(error)).message);
    return asserted;
  }

private:
  Launcher launcher;
  tile::KernelOp kernel;
  bool prints;
};
} // namespace

/// The facts called `name`, or null.
static const KernelInfo *findFacts(const std::vector<KernelInfo> &kernels,
                                   const std::string &name) {
  auto it = llvm::find_if(kernels, [&](const KernelInfo &info) { return info.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

Expected<std::unique_ptr<Executor>> makeInterpreter(Compilation &compilation, const Chip &chip,
                                                    const std::string &kernel, bool prints) {
  mlir::ModuleOp module = compilation.tileModule(chip);
  std::vector<KernelInfo> kernels = compilation.kernels(chip);
  const KernelInfo *info = findFacts(kernels, kernel);
  if (!module || !info)
    return exitWith(exitInput, "");
  auto launcher = Launcher::create(*info);
  if (!launcher)
    return exitWith(exitInternal, launcher.failure().message);
  for (tile::KernelOp op : module.getOps<tile::KernelOp>())
    if (op.getSymName() == kernel)
      return std::unique_ptr<Executor>(
          std::make_unique<InterpreterExecutor>(std::move(*launcher), op, prints));
  return exitWith(exitInternal, "kernel `" + kernel + "` is not in its module");
}

//===-- SIMT execution --------------------------------------------------------------===//

namespace {
class EmulatorExecutor : public Executor {
public:
  EmulatorExecutor(ChipCode code, Launcher launcher)
      : code(std::move(code)), launcher(std::move(launcher)) {}

  std::string name() const override {
    return "SIMT execution of " + std::string(code.chip->name) + " code";
  }
  Expected<void> run(std::vector<RunArgument> &args, const std::optional<Grid> &grid) override;

private:
  Expected<EmulatedKernel *> kernelOf(const BuildInfo &build);

  ChipCode code;
  Launcher launcher;
  std::map<std::string, EmulatedKernel> kernels; // by symbol
};
} // namespace

Expected<EmulatedKernel *> EmulatorExecutor::kernelOf(const BuildInfo &build) {
  auto it = kernels.find(build.symbol);
  if (it == kernels.end()) {
    auto made = EmulatedKernel::create(*code.llvmModule, build.symbol);
    if (!made)
      return exitWith(exitInternal, "SIMT execution: " + llvm::toString(made.takeError()));
    it = kernels.emplace(build.symbol, std::move(*made)).first;
  }
  return &it->second;
}

Expected<void> EmulatorExecutor::run(std::vector<RunArgument> &args,
                                     const std::optional<Grid> &grid) {
  const KernelInfo &info = launcher.getInfo();
  HostArgs host(args);
  std::vector<KernelArg> &list = host.list;
  LaunchPlan plan;
  if (auto ok = launcher.plan(list, grid, CheckLevel::Full, plan); !ok)
    return exitWith(exitInput, ok.failure().message);
  if (plan.isEmpty())
    return {};
  const BuildInfo &build = info.builds[plan.build];
  auto kernel = kernelOf(build);
  if (!kernel)
    return kernel.failure();

  EmulatorLaunch launch = makeEmulatorLaunch(info, plan, list);
  auto findings = (*kernel)->launch(launch);
  if (!findings)
    return exitWith(exitInternal, "SIMT execution: " + llvm::toString(findings.takeError()));
  DebugLog log;
  collectDebugRecords(info, launch, log);
  auto asserted = report(log);
  if (findings->clean())
    return asserted;
  std::string text;
  llvm::raw_string_ostream os(text);
  findings->print(os);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return exitWith(exitFault, "what " + info.name + " does is not defined:\n" + text);
}

Expected<std::unique_ptr<Executor>> makeEmulator(Compilation &compilation, const Chip &chip,
                                                 const std::string &kernel) {
  auto code = compilation.compileFor(chip, Stage::LLVM);
  if (!code)
    return exitWith(exitInput, "");
  const KernelInfo *info = findFacts(code->kernels, kernel);
  if (!info || info->builds.empty())
    return exitWith(exitInternal, "kernel `" + kernel + "` is not in its module");
  auto launcher = Launcher::create(*info);
  if (!launcher)
    return exitWith(exitInternal, launcher.failure().message);
  return std::unique_ptr<Executor>(
      std::make_unique<EmulatorExecutor>(std::move(*code), std::move(*launcher)));
}

} // namespace tilec::run

//===- tile-run.cpp - runs a kernel from the shell ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
//   tile-run matmul.tile -D BM=128 --arg a=random:bf16[512,300] --arg b=@b.npy
//            --arg c=zeros:bf16[512,400] --check --bench --dump c=c.npy
//   tile-run matmul.tilemod …                 what `tilec --emit=module` wrote
//   tile-run --batch < runs                   many runs in one process; those of one
//                                             program one after another compile it once
//
// Compiles, makes the arguments, launches, and prints the `mut` arrays, the
// comparison with the interpreter and the times that were asked for. Exit codes:
// 0; 1 errors in the input or a refused launch; 2 bad usage; 3 no GPU or a failing
// tool; 4 a failed --check; 5 a fault while running; 70 internal error.
//
//===------------------------------------------------------------------------===//

#include "Arguments.h"
#include "CommandLine.h"
#include "Execute.h"
#include "Report.h"

#include "../StandardOutput.h"

#include "tilec/Compiler/Version.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Runtime/Device.h"
#include "tilec/Support/Files.h"
#include "tilec/Support/ModuleFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"

#include <iostream>

using namespace tilec;
using namespace tilec::run;

namespace {
/// A program, compiled once for one kernel and one device, and its runs.
class Run {
public:
  explicit Run(const CommandLine &line) : line(line), compilation(line.compile) {}
  /// Whether a run of `other` needs nothing compiled anew: the same program with the same
  /// options on the same device, and no file of it has changed.
  bool fits(const CommandLine &other) const;
  /// The run that was asked for; `next` is one that fits.
  int run();
  int run(const CommandLine &next);

private:
  int fail(const Failure &why);
  void printMessages();
  int failToCompile();
  int findKernels(std::vector<KernelInfo> &kernels);
  int chooseKernel();
  int makeArguments();
  int prepare();
  Expected<std::unique_ptr<Executor>> makeExecutor();
  int check(const std::vector<RunArgument> &before, const std::vector<RunArgument> &after);
  int bench(Executor &executor, std::vector<RunArgument> &args);
  int dump(const std::vector<RunArgument> &args);
  Expected<double> countFlops();

  CommandLine line;
  Compilation compilation;
  std::optional<ModuleFile> module; // the input, where it is compiled already
  KernelInfo info;
  std::unique_ptr<Executor> executor, interpreter; // when they are first needed
  std::vector<std::pair<std::string, std::string>> files; // that it was made from: path, text
  std::vector<RunArgument> arguments; // as given
};
} // namespace

/// Prints why the run ends and gives the exit code.
int Run::fail(const Failure &why) {
  if (why.message.empty())
    return failToCompile();
  llvm::errs() << "tile-run: error: " << why.message << "\n";
  return why.code;
}

void Run::printMessages() {
  TextDiagnosticPrinter printer(compilation.sources(), llvm::errs(),
                                llvm::sys::Process::StandardErrHasColors());
  compilation.printDiagnostics(printer);
}

int Run::failToCompile() {
  printMessages();
  if (compilation.toolFailed())
    return exitTool;
  if (compilation.internalError().empty())
    return exitInput;
  llvm::errs() << "tile-run: error: internal error in " << versionText() << ", "
               << compilation.internalError() << "\n";
  return exitInternal;
}

/// Facts of all kernels of the input: a compiled module, or source.
int Run::findKernels(std::vector<KernelInfo> &kernels) {
  auto bytes = readFile(line.input);
  if (!bytes || !isModuleFile(*bytes)) { // the compiler reports what cannot be read
    compilation.loadFile(line.input);
    kernels = compilation.kernels(*line.chip);
    if (compilation.diagnostics().hasErrors() || !compilation.internalError().empty())
      return failToCompile();
    return exitSuccess;
  }
  auto file = readModule(*bytes);
  if (!file)
    return fail(exitWith(exitInput, line.input + ": " + file.failure().message));
  if (line.check || line.device == DeviceKind::CPU || line.device == DeviceKind::SIMT)
    return fail(exitWith(exitUsage, line.input + " is compiled: it runs on a GPU only, and --check "
                                                 "needs the source"));
  module = std::move(*file);
  for (const ModuleImage &image : module->images)
    for (const KernelInfo &kernel : image.kernels) {
      bool isWanted = line.compile.kernel.empty() || kernel.name == line.compile.kernel;
      bool isNew = llvm::none_of(kernels, [&](auto &k) { return k.name == kernel.name; });
      if (isWanted && isNew)
        kernels.push_back(kernel);
    }
  return exitSuccess;
}

int Run::chooseKernel() {
  std::vector<KernelInfo> kernels;
  if (int status = findKernels(kernels))
    return status;
  if (kernels.size() == 1) {
    info = kernels.front();
    return exitSuccess;
  }
  if (kernels.empty())
    return fail(exitWith(exitInput, line.input + " has no kernel" +
                                        (line.compile.kernel.empty() ? "" : " `" + line.compile.kernel + "`")));
  std::string all;
  for (const KernelInfo &kernel : kernels)
    all += (all.empty() ? "" : ", ") + kernel.name;
  return fail(exitWith(exitUsage, line.input + " has several kernels (" + all +
                                      "); choose one with --kernel=<name>"));
}

int Run::makeArguments() {
  auto made = tilec::run::makeArguments(info, line.args, line.seed);
  if (!made)
    return fail(exitWith(exitUsage, made.failure().message));
  arguments = std::move(*made);
  for (RunArgument &argument : arguments) {
    argument.skew = line.skew;
    if (argument.isArray && line.skew % dtypeBytes(argument.array.dtype))
      return fail(exitWith(exitUsage, "--skew=" + std::to_string(line.skew) + " puts elements of " +
                                          std::string(dtypeName(argument.array.dtype)) +
                                          " across their alignment"));
  }
  for (const auto &[name, path] : line.dumps)
    if (llvm::none_of(info.params, [&, &name = name](const ParamInfo &p) {
          return p.isArray && p.name == name;
        }))
      return fail(exitWith(exitUsage, "--dump " + name + ": kernel `" + info.name +
                                          "` has no array `" + name + "`"));
  return exitSuccess;
}

Expected<std::unique_ptr<Executor>> Run::makeExecutor() {
  if (module)
    return makeGpu(*module, info.name);
  DeviceKind kind = line.device;
  // Without a GPU, --check looks at the compiled code.
  if (kind == DeviceKind::Auto)
    kind = Device::count() > 0 ? DeviceKind::GPU : line.check ? DeviceKind::SIMT : DeviceKind::CPU;
  if (kind == DeviceKind::GPU)
    return makeGpu(compilation, info.name);
  if (kind == DeviceKind::SIMT)
    return makeEmulator(compilation, *line.chip, info.name);
  return makeInterpreter(compilation, *line.chip, info.name, /*prints=*/true);
}

int Run::check(const std::vector<RunArgument> &before, const std::vector<RunArgument> &after) {
  std::vector<RunArgument> reference = before;
  if (!interpreter) {
    auto made = makeInterpreter(compilation, *line.chip, info.name, /*prints=*/false);
    if (!made)
      return fail(made.failure());
    interpreter = std::move(*made);
  }
  if (auto ok = interpreter->run(reference, line.grid); !ok)
    return fail(ok.failure());
  bool good = true;
  for (size_t i = 0; i < after.size(); ++i)
    if (info.params[i].isMutable)
      good &= compareArrays(llvm::outs(), info.params[i].name, after[i].array, reference[i].array,
                            line.tolerance);
  return good ? exitSuccess : exitCheck;
}

/// The value of --flops, with the names of dims and integer arguments.
Expected<double> Run::countFlops() {
  std::vector<KernelArg> args;
  for (RunArgument &argument : arguments)
    args.push_back(argument.arg());
  std::string text;
  llvm::StringRef rest = line.flops;
  while (!rest.empty()) {
    llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty() || llvm::isDigit(name.front())) {
      size_t n = name.empty() ? 1 : name.size();
      text += rest.take_front(n).str();
      rest = rest.drop_front(n);
      continue;
    }
    std::string value, names;
    auto offer = [&](const std::string &known, const HostExpr &expr) {
      if (known == name)
        value = expr.str();
      if (!known.empty() && !llvm::StringRef(names + ",").contains(" " + known + ","))
        names += (names.empty() ? " " : ", ") + known;
    };
    for (unsigned p = 0; p < info.params.size(); ++p) {
      if (!info.params[p].isArray)
        offer(info.params[p].name, HostExpr::arg(p));
      for (unsigned d = 0; d < info.params[p].dims.size(); ++d)
        offer(info.params[p].dims[d].name, HostExpr::dim(p, d));
    }
    rest = rest.drop_front(name.size());
    if (value.empty() && !rest.starts_with("("))
      return exitWith(exitUsage, "--flops: `" + name.str() +
                                     "` is no size and no number of the kernel; there are" + names);
    text += value.empty() ? name.str() : value;
  }
  auto expr = HostExpr::parse(text);
  if (!expr)
    return exitWith(exitUsage, "--flops: " + expr.failure().message);
  auto value = expr->evaluate(args);
  if (!value)
    return exitWith(exitUsage, "--flops: " + value.failure().message);
  return value->isFloat() ? value->f : static_cast<double>(value->i);
}

int Run::bench(Executor &executor, std::vector<RunArgument> &args) {
  double flops = 0, bytes = 0;
  if (!line.flops.empty()) {
    auto count = countFlops();
    if (!count)
      return fail(count.failure());
    flops = *count;
  }
  for (const RunArgument &argument : args)
    bytes += static_cast<double>(argument.array.data.size());
  auto result = executor.bench(args, line.grid);
  if (!result)
    return fail(result.failure());
  printBench(llvm::outs(), *result, bytes, flops);
  return exitSuccess;
}

int Run::dump(const std::vector<RunArgument> &args) {
  for (const auto &[name, path] : line.dumps)
    for (size_t i = 0; i < args.size(); ++i)
      if (info.params[i].name == name)
        if (auto ok = saveNpy(path, args[i].array); !ok)
          return fail(exitWith(exitInput, "--dump " + name + ": " + ok.failure().message));
  return exitSuccess;
}

/// Compiles, where that is not done yet.
int Run::prepare() {
  if (!executor)
    if (int status = chooseKernel())
      return status;
  if (int status = makeArguments())
    return status;
  if (executor)
    return exitSuccess;
  auto made = makeExecutor();
  if (!made)
    return fail(made.failure());
  executor = std::move(*made);
  printMessages(); // warnings
  std::vector<std::string> paths = compilation.dependencies();
  if (module)
    paths = {line.input};
  for (const std::string &path : paths)
    if (auto text = readFile(path))
      files.emplace_back(path, std::move(*text));
  return exitSuccess;
}

bool Run::fits(const CommandLine &other) const {
  const CompileOptions &a = line.compile, &b = other.compile;
  bool isSame = executor && line.input == other.input && line.device == other.device &&
                line.chip == other.chip && line.check == other.check && a.defines == b.defines &&
                a.includeDirs == b.includeDirs && a.kernel == b.kernel &&
                a.fastMath == b.fastMath && a.checked == b.checked &&
                a.numWarps == b.numWarps && a.numStages == b.numStages;
  return isSame && !files.empty() && llvm::all_of(files, [](const auto &file) {
           auto text = readFile(file.first);
           return text && *text == file.second;
         });
}

int Run::run(const CommandLine &next) {
  line = next;
  return run();
}

int Run::run() {
  if (int status = prepare())
    return status;
  std::vector<RunArgument> after = arguments;
  if (auto ok = executor->run(after, line.grid); !ok)
    return fail(ok.failure());
  llvm::outs() << info.name << " on " << executor->name() << "\n";
  for (size_t i = 0; i < after.size(); ++i)
    if (info.params[i].isMutable)
      printArray(llvm::outs(), info.params[i].name, after[i].array);
  if (int status = dump(after))
    return status;
  int checked = line.check ? check(arguments, after) : exitSuccess;
  if (line.bench)
    if (int status = bench(*executor, arguments))
      return status;
  return checked;
}

static int printArch() {
  auto chip = findGpuChip();
  if (!chip) {
    llvm::errs() << "tile-run: error: " << chip.failure().message << "\n";
    return chip.failure().code;
  }
  llvm::outs() << (*chip)->name << "\n";
  return exitSuccess;
}

/// One run after another, each a line of options on standard input. After the output
/// of a run comes a line `exit N` with its exit code. A program that the run before had
/// is not compiled again. A device that faulted is of no more use to this process, so
/// that ends the batch.
static int runBatch() {
  bool good = true;
  std::unique_ptr<Run> last;
  for (std::string text; std::getline(std::cin, text);) {
    llvm::BumpPtrAllocator allocator;
    llvm::StringSaver saver(allocator);
    llvm::SmallVector<const char *> arguments;
    llvm::cl::TokenizeGNUCommandLine(text, saver, arguments);
    CommandLine line;
    int status = line.parse(arguments, llvm::errs());
    if (!status && (line.isBatch || line.showHelp || line.showArch || line.showVersion)) {
      llvm::errs() << "tile-run: error: a line of a batch is a run\n";
      status = exitUsage;
    }
    if (!status && last && last->fits(line)) {
      status = last->run(line);
    } else if (!status) {
      last = std::make_unique<Run>(line);
      status = last->run();
    }
    llvm::outs() << "exit " << status << "\n";
    llvm::outs().flush();
    good &= status == exitSuccess;
    if (status == exitFault && line.device == DeviceKind::GPU)
      return exitFault;
  }
  return good ? exitSuccess : exitInput;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  if (int status = line.parse(llvm::ArrayRef<const char *>(argv + 1, argv + argc), llvm::errs()))
    return status;
  if (line.showHelp)
    tilec::run::printHelp(llvm::outs());
  else if (line.showVersion)
    llvm::outs() << versionText() << "\n";
  int status = line.showHelp || line.showVersion ? exitSuccess
               : line.isBatch                    ? runBatch()
               : line.showArch                   ? printArch()
                                                 : Run(line).run();
  return endOutput("tile-run", status);
}

//===- CommandLine.cpp - what the user asked for ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Options.td turned into a CommandLine. Every mistake is one line: what was given
// and what is accepted.
//
//===------------------------------------------------------------------------===//

#include "CommandLine.h"

#include "../OptionTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"

using namespace llvm::opt;
using llvm::StringRef;

namespace tilec::run {

void printHelp(llvm::raw_ostream &os) {
  Options().printHelp(os, "tile-run [options] file.tile", "runs a tile kernel and looks at the result");
}

StringRef deviceKindName(DeviceKind kind) {
  constexpr llvm::StringLiteral names[] = {"auto", "gpu", "cpu", "simt"};
  return names[static_cast<unsigned>(kind)];
}

//===-- Groups of options -------------------------------------------------------===//

/// `name=value` options into pairs.
static int parsePairs(const InputArgList &args, OptSpecifier id,
                      std::vector<std::pair<std::string, std::string>> &pairs, Usage usage) {
  for (StringRef text : args.getAllArgValues(id)) {
    auto [name, value] = text.split('=');
    if (name.empty() || value.empty())
      return usage("`" + text + "` is not <name>=<value>");
    for (const auto &[known, unused] : pairs)
      if (known == name)
        return usage("`" + name + "` is given twice");
    pairs.emplace_back(name.str(), value.str());
  }
  return exitSuccess;
}

static int parseGrid(const InputArgList &args, CommandLine &line, Usage usage) {
  const Arg *arg = args.getLastArg(OPT_grid);
  if (!arg)
    return exitSuccess;
  llvm::SmallVector<StringRef> parts;
  StringRef(arg->getValue()).split(parts, ',');
  Grid grid = {1, 1, 1};
  bool bad = parts.size() > 3;
  for (size_t i = 0; i < parts.size() && !bad; ++i)
    bad = parts[i].trim().getAsInteger(10, grid[i]);
  if (bad)
    return usage("--grid is one to three numbers, not `" + StringRef(arg->getValue()) + "`");
  line.grid = grid;
  return exitSuccess;
}

static int parseDevice(const InputArgList &args, CommandLine &line, Usage usage) {
  StringRef name = args.getLastArgValue(OPT_device, "auto");
  auto kind = llvm::StringSwitch<std::optional<DeviceKind>>(name)
                  .Case("auto", DeviceKind::Auto)
                  .Case("gpu", DeviceKind::GPU)
                  .Case("cpu", DeviceKind::CPU)
                  .Case("simt", DeviceKind::SIMT)
                  .Default(std::nullopt);
  if (!kind)
    return usage("--device is `auto`, `gpu`, `cpu` or `simt`, not `" + name + "`");
  line.device = *kind;
  StringRef chip = args.getLastArgValue(OPT_gpu_arch, std::string(allChips().front().name));
  line.chip = findChip(std::string_view(chip));
  if (!line.chip)
    return usage("unknown chip `" + chip + "`; there are " + chipNames());
  return exitSuccess;
}

static int parseResult(const InputArgList &args, CommandLine &line, Usage usage) {
  line.check = args.hasArg(OPT_check);
  line.bench = args.hasArg(OPT_bench);
  line.flops = args.getLastArgValue(OPT_flops).str();
  if (const Arg *arg = args.getLastArg(OPT_tolerance)) {
    double value = 0;
    if (StringRef(arg->getValue()).getAsDouble(value) || !(value >= 0))
      return usage("--tolerance is a number from 0, not `" + StringRef(arg->getValue()) + "`");
    line.tolerance = value;
  }
  if (const Arg *arg = args.getLastArg(OPT_seed))
    if (StringRef(arg->getValue()).getAsInteger(10, line.seed))
      return usage("--seed is a number, not `" + StringRef(arg->getValue()) + "`");
  if (const Arg *arg = args.getLastArg(OPT_skew))
    if (StringRef(arg->getValue()).getAsInteger(10, line.skew) || line.skew >= 256)
      return usage("--skew is a number from 0 to 255, not `" + StringRef(arg->getValue()) + "`");
  if (line.check && line.device == DeviceKind::CPU)
    return usage("--check compares with the interpreter, which --device=cpu is; use --device=simt or gpu");
  return exitSuccess;
}

//===-- The whole -----------------------------------------------------------------===//

int CommandLine::parse(llvm::ArrayRef<const char *> given, llvm::raw_ostream &errs) {
  Usage usage{"tile-run", errs};
  Options table;
  InputArgList args;
  if (int status = table.parse(given, args, usage))
    return status;
  showHelp = args.hasArg(OPT_help);
  showVersion = args.hasArg(OPT_version);
  showArch = args.hasArg(OPT_print_arch);
  if (showHelp || showVersion || showArch)
    return exitSuccess;
  isBatch = args.hasArg(OPT_batch);
  if (isBatch && given.size() > 1)
    return usage("--batch stands alone: each line of standard input has the options of its run");
  if (isBatch)
    return exitSuccess;
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    return usage("no input file; `tile-run --help` shows the usage");
  if (inputs.size() > 1)
    return usage("one input file, not also `" + inputs[1] + "`" +
                 (StringRef(inputs[1]).contains('=') ? "; an argument is given by `--arg " + inputs[1] + "`"
                                                     : std::string()));
  input = inputs.front();
  compile.defines = args.getAllArgValues(OPT_D);
  compile.includeDirs = args.getAllArgValues(OPT_I);
  compile.kernel = args.getLastArgValue(OPT_kernel).str();
  compile.fastMath = args.hasArg(OPT_fast_math);
  compile.checked = args.hasArg(OPT_checked);
  if (const Arg *arg = args.getLastArg(OPT_num_warps))
    if (StringRef(arg->getValue()).getAsInteger(10, compile.numWarps) ||
        !llvm::isPowerOf2_32(compile.numWarps) || compile.numWarps > 32)
      return usage("--num-warps is a power of two from 1 to 32");
  if (const Arg *arg = args.getLastArg(OPT_num_stages))
    if (StringRef(arg->getValue()).getAsInteger(10, compile.numStages) ||
        compile.numStages < 1 || compile.numStages > 8)
      return usage("--num-stages is a number from 1 to 8");
  if (int status = parsePairs(args, OPT_arg, this->args, usage))
    return status;
  if (int status = parsePairs(args, OPT_dump_to, dumps, usage))
    return status;
  for (auto part : {parseGrid, parseDevice, parseResult})
    if (int status = part(args, *this, usage))
      return status;
  return exitSuccess;
}

} // namespace tilec::run

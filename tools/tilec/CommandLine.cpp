//===- CommandLine.cpp - what the user asked for --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Options.td turned into a CommandLine. Every mistake is one line: what was given,
// what is accepted, and the nearest name where there is one.
//
//===------------------------------------------------------------------------===//

#include "CommandLine.h"

#include "../OptionTable.h"

#include "tilec/Compiler/RegisterAll.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Tile/Remarks.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <array>

using namespace llvm::opt;
using llvm::StringRef;

namespace tilec::driver {

constexpr std::array<StringRef, 13> emitKinds = {"ast",  "tile", "laid-out", "staged", "simt", "llvm", "ptx",
                                   "cubin", "module", "obj", "header", "json", "layout"};

void printHelp(llvm::raw_ostream &os) {
  Options().printHelp(os, "tilec [options] file.tile…\n       tilec cache list|clear",
                      "compiles tile kernels for NVIDIA GPUs");
}

//===------------------------------------------------------------------------===//
// Groups of options
//===------------------------------------------------------------------------===//

/// The output kind that a file's suffix stands for, or "".
static StringRef kindOfSuffix(StringRef path) {
  return llvm::StringSwitch<StringRef>(llvm::sys::path::extension(path))
      .Case(".ptx", "ptx")
      .Case(".cubin", "cubin")
      .Case(".tilemod", "module")
      .Case(".o", "obj")
      .Cases({".h", ".hpp"}, "header")
      .Case(".ll", "llvm")
      .Case(".mlir", "tile")
      .Case(".json", "json")
      .Default("");
}

static int parseEmits(const InputArgList &args, CommandLine &line, Usage usage) {
  std::string output = args.getLastArgValue(OPT_o).str();
  for (const Arg *arg : args.filtered(OPT_emit)) {
    llvm::SmallVector<StringRef> parts;
    StringRef(arg->getValue()).split(parts, ',');
    for (StringRef part : parts) {
      auto [kind, path] = part.split('=');
      if (!llvm::is_contained(emitKinds, kind))
        return usage("unknown --emit kind `" + kind + "`; there are " + llvm::join(emitKinds, ", "));
      line.emits.push_back({kind.str(), path.str()});
    }
  }
  if (args.hasArg(OPT_S))
    line.emits.push_back({"ptx", ""});
  if (args.hasArg(OPT_c))
    line.emits.push_back({"obj", ""});
  if (line.emits.empty()) {
    StringRef kind = kindOfSuffix(output);
    line.emits.push_back({kind.empty() ? "ptx" : kind.str(), ""});
  }
  unsigned unnamed = llvm::count_if(line.emits, [](const EmitRequest &e) { return e.path.empty(); });
  if (!output.empty() && unnamed > 1)
    return usage("-o names one file, but several outputs have no file of their own; write --emit=<kind>=<file>");
  if (!output.empty() && (line.inputs.size() > 1 || unnamed == 0))
    return usage(unnamed ? "-o names one file, but there are several inputs"
                         : "-o is given, but every --emit has a file of its own");
  llvm::StringSet<> paths;
  for (EmitRequest &emit : line.emits) {
    if (!emit.path.empty() && (line.inputs.size() > 1 || !paths.insert(emit.path).second))
      return usage("`" + emit.path + "` is to be written more than once");
    if (emit.path.empty())
      emit.path = output;
  }
  return exitSuccess;
}

static int parseChips(const InputArgList &args, CommandLine &line, Usage usage) {
  StringRef text = args.getLastArgValue(OPT_gpu_arch, "sm_80");
  llvm::SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    if (name == "all") {
      for (const Chip &chip : allChips())
        line.chips.push_back(&chip);
      continue;
    }
    if (name == "native") {
      line.chips.push_back(nullptr); // resolved by the driver, which may ask the runtime
      continue;
    }
    const Chip *chip = findChip(std::string_view(name));
    if (!chip)
      return usage("unknown chip `" + name + "`; there are " + chipNames() + ", `native` and `all`");
    line.chips.push_back(chip);
  }
  return exitSuccess;
}

static int parseNumber(const InputArgList &args, OptSpecifier id, unsigned &value, Usage usage) {
  const Arg *arg = args.getLastArg(id);
  if (arg && StringRef(arg->getValue()).getAsInteger(10, value))
    return usage("`" + arg->getSpelling() + arg->getValue() + "` needs a number");
  return exitSuccess;
}

static int parseCode(const InputArgList &args, CommandLine &line, Usage usage) {
  CompileOptions &options = line.compile;
  options.fastMath = args.hasArg(OPT_fast_math);
  options.checked = args.hasArg(OPT_checked);
  options.lineInfo = !args.hasArg(OPT_g0);
  options.assemblerArgs = args.getAllArgValues(OPT_Xptxas);
  StringRef fmad = args.getLastArgValue(OPT_fmad, "true");
  if (fmad != "true" && fmad != "false")
    return usage("--fmad is `true` or `false`, not `" + fmad + "`");
  options.contract = fmad == "true";
  for (StringRef kinds : args.getAllArgValues(OPT_builds))
    for (StringRef kind : llvm::split(kinds, ',')) {
      if (!llvm::is_contained(buildKindNames, std::string_view(kind)))
        return usage("there are no `" + kind + "` builds; there are " + llvm::join(buildKindNames, ", "));
      line.builds.push_back(kind.str());
    }
  auto isModule = [](const EmitRequest &request) { return request.kind == "module" || request.kind == "obj"; };
  if (!line.builds.empty() && llvm::none_of(line.emits, isModule))
    return usage("--builds is of modules: write --emit=module or --emit=obj");
  if (int status = parseNumber(args, OPT_O, options.optLevel, usage))
    return status;
  if (options.optLevel > 3)
    return usage("-O is 0 to 3");
  if (int status = parseNumber(args, OPT_num_warps, options.numWarps, usage))
    return status;
  if (args.hasArg(OPT_num_warps) && (!llvm::isPowerOf2_32(options.numWarps) || options.numWarps > 32))
    return usage("--num-warps is a power of two from 1 to 32");
  if (int status = parseNumber(args, OPT_num_stages, options.numStages, usage))
    return status;
  if (args.hasArg(OPT_num_stages) && (options.numStages < 1 || options.numStages > 8))
    return usage("--num-stages is a number from 1 to 8");
  return exitSuccess;
}

static int parseMessages(const InputArgList &args, CommandLine &line, Usage usage) {
  line.warningOptions = args.getAllArgValues(OPT_W);
  for (StringRef option : line.warningOptions) {
    SourceManager sources;
    StoredDiagnostics stored;
    if (!DiagnosticEngine(sources, stored).setWarningOption(option))
      return usage("unknown warning option `-W" + option + "`; the warnings are " +
                   llvm::join(DiagnosticEngine::getWarningFlags(), ", "));
  }
  if (int status = parseNumber(args, OPT_max_errors, line.maxErrors, usage))
    return status;
  StringRef color = args.getLastArgValue(OPT_color, "auto");
  if (color != "auto" && color != "always" && color != "never")
    return usage("--color is `auto`, `always` or `never`, not `" + color + "`");
  line.color = color == "always" || (color == "auto" && llvm::sys::Process::StandardErrHasColors());
  StringRef format = args.getLastArgValue(OPT_diagnostic_format, "text");
  if (format != "text" && format != "json")
    return usage("--diagnostic-format is `text` or `json`, not `" + format + "`");
  line.jsonDiagnostics = format == "json";
  return exitSuccess;
}

/// Of what passes print and say.
static int parseRemarks(const InputArgList &args, CommandLine &line, Usage usage) {
  for (const std::string &name : line.compile.printAfter)
    if (!isPass(name) && !isPass("tile-" + name))
      return usage("--print-ir-after: there is no pass `" + name + "`");
  line.compile.remarks = args.hasArg(OPT_remarks, OPT_remarks_of);
  if (args.hasArg(OPT_remarks)) // of all
    return exitSuccess;
  for (const Arg *arg : args.filtered(OPT_remarks_of))
    for (StringRef name : llvm::split(arg->getValue(), ',')) {
      if (!llvm::is_contained(remarkNames, name))
        return usage("no remarks come from `" + name + "`; they come from " +
                     llvm::join(llvm::ArrayRef<llvm::StringLiteral>(remarkNames), ", "));
      line.compile.remarkNames.push_back(name.str());
    }
  return exitSuccess;
}

static void parseProgramOptions(const InputArgList &args, CommandLine &line) {
  CompileOptions &options = line.compile;
  options.defines = args.getAllArgValues(OPT_D);
  options.includeDirs = args.getAllArgValues(OPT_I);
  options.specializations = args.getAllArgValues(OPT_specialize);
  options.kernel = args.getLastArgValue(OPT_kernel).str();
  options.printBeforeAll = args.hasArg(OPT_print_ir_before_all);
  options.printAfterAll = args.hasArg(OPT_print_ir_after_all);
  options.printAfter = args.getAllArgValues(OPT_print_ir_after);
  options.timePasses = args.hasArg(OPT_time_passes);
  options.verbose = args.hasArg(OPT_v);
  for (StringRef names : args.getAllArgValues(OPT_layout_of))
    for (StringRef name : llvm::split(names, ','))
      line.layoutOf.push_back(name.str());
  line.resourceUsage = args.hasArg(OPT_resource_usage);
  line.writeDepfile = args.hasArg(OPT_MD, OPT_MF);
  line.depfile = args.getLastArgValue(OPT_MF).str();
  line.depfileTarget = args.getLastArgValue(OPT_MT).str();
}

//===------------------------------------------------------------------------===//
// The whole
//===------------------------------------------------------------------------===//

int CommandLine::parse(int argc, char **argv, llvm::raw_ostream &errs) {
  Usage usage{"tilec", errs};
  llvm::ArrayRef<const char *> given(argv + 1, argv + argc);
  Options table;
  InputArgList args;
  if (int status = table.parse(given, args, usage))
    return status;
  showHelp = args.hasArg(OPT_help);
  showVersion = args.hasArg(OPT_version);
  explain = args.getLastArgValue(OPT_explain).str();
  if (showHelp || showVersion || !explain.empty())
    return exitSuccess;
  inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    return usage("no input file; `tilec --help` shows the usage");
  parseProgramOptions(args, *this);
  for (auto part : {parseEmits, parseChips, parseCode, parseRemarks, parseMessages})
    if (int status = part(args, *this, usage))
      return status;
  return exitSuccess;
}

} // namespace tilec::driver

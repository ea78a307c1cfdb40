//===- CommandLine.cpp - what the user asked for -------------- -*- C++ -*-===//
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
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"

using namespace llvm::opt;
using llvm::StringRef;

namespace tilec::bench {

void printHelp(llvm::raw_ostream &os) {
  Options().printHelp(os, "tile-bench [options] [subject…]",
                      "measures the plain kernels of test/Examples beside their peers");
}

static int parseSubjects(const InputArgList &args, CommandLine &line, Usage usage) {
  for (StringRef name : args.getAllArgValues(OPT_INPUT)) {
    std::vector<const Subject *> found = findSubjects(std::string_view(name));
    if (found.empty())
      return usage("there is no subject `" + name + "`; `tile-bench --list` shows them");
    line.subjects.insert(line.subjects.end(), found.begin(), found.end());
  }
  if (line.subjects.empty())
    for (const Subject &subject : allSubjects())
      line.subjects.push_back(&subject);
  return exitSuccess;
}

static int parseShapes(const InputArgList &args, CommandLine &line, Usage usage) {
  for (StringRef text : args.getAllArgValues(OPT_shape)) {
    auto sizes = parseSizes(std::string_view(text));
    if (!sizes)
      return usage("--shape is sizes with an x between them, not `" + text + "`");
    for (const Subject *subject : line.subjects)
      if (!makeProblem(*subject, *sizes))
        return usage("--shape=" + text + " does not fit " + StringRef(subject->name) + ", whose shapes are " +
                     StringRef(sizeNames(subject->work)));
    line.shapes.push_back(*sizes);
  }
  for (StringRef text : args.getAllArgValues(OPT_tile)) {
    std::string tile = text.str();
    std::replace(tile.begin(), tile.end(), ',', ' ');
    line.tiles.push_back(std::move(tile));
  }
  return exitSuccess;
}

int CommandLine::parse(llvm::ArrayRef<const char *> given, llvm::raw_ostream &errs) {
  Usage usage{"tile-bench", errs};
  Options table;
  InputArgList args;
  if (int status = table.parse(given, args, usage))
    return status;
  showHelp = args.hasArg(OPT_help);
  showVersion = args.hasArg(OPT_version);
  if (showHelp || showVersion)
    return exitSuccess;
  showList = args.hasArg(OPT_list_subjects);
  onlyFirstShape = args.hasArg(OPT_first_shape);
  usePeers = !args.hasArg(OPT_no_peers);
  measureCeilings = !args.hasArg(OPT_no_ceilings);
  examples = args.getLastArgValue(OPT_examples, TILEC_EXAMPLES_DIR).str();
  cublasLt = args.getLastArgValue(OPT_cublaslt).str();
  peersScript = args.getLastArgValue(OPT_peers).str();
  json = args.getLastArgValue(OPT_json).str();
  svg = args.getLastArgValue(OPT_svg).str();
  if (const Arg *arg = args.getLastArg(OPT_seconds))
    if (StringRef(arg->getValue()).getAsDouble(seconds) || !(seconds > 0 && seconds <= 60))
      return usage("--seconds is a number up to 60, not `" + StringRef(arg->getValue()) + "`");
  for (auto part : {parseSubjects, parseShapes})
    if (int status = part(args, *this, usage))
      return status;
  return exitSuccess;
}

} // namespace tilec::bench

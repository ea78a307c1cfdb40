//===- OptionTable.h - a tool's Options.td as a table ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// For the CommandLine.cpp of each tool, and for nothing else: what LLVM's generator of
// option tables leaves to be written by hand. `Options.inc` is the including tool's own.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_OPTIONTABLE_H
#define TILEC_TOOLS_OPTIONTABLE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {
namespace {

using llvm::opt::DefaultVis;

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr llvm::opt::OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

/// A failed parse: one line and the exit code.
struct Usage {
  llvm::StringRef tool;
  llvm::raw_ostream &errs;
  int operator()(const llvm::Twine &message) const {
    constexpr int exitUsage = 2;
    errs << tool << ": error: " << message << "\n";
    return exitUsage;
  }
};

class Options : public llvm::opt::GenericOptTable {
public:
  Options() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}

  /// Parses `given` into `args`, which refer to this table. The exit code: 0 if there is no
  /// option without its value and none that the tool does not have.
  int parse(llvm::ArrayRef<const char *> given, llvm::opt::InputArgList &args, Usage usage) {
    unsigned missingIndex = 0, missingCount = 0;
    args = ParseArgs(given, missingIndex, missingCount);
    if (missingCount)
      return usage("`" + llvm::StringRef(args.getArgString(missingIndex)) + "` needs a value");
    for (const llvm::opt::Arg *arg : args.filtered(OPT_UNKNOWN)) {
      std::string nearest, text = arg->getAsString(args);
      bool isClose = findNearest(text, nearest) < 3;
      return usage("unknown option `" + text + "`" +
                   (isClose ? "; did you mean `" + nearest + "`?" : ""));
    }
    return 0;
  }
};

} // namespace
} // namespace tilec

#endif // TILEC_TOOLS_OPTIONTABLE_H

//===- StandardOutput.h - what a tool prints is there ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// For the `main` of each tool. LLVM ends a process that leaves an error on its standard
// output (a full disk) with a message of its own.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_STANDARDOUTPUT_H
#define TILEC_TOOLS_STANDARDOUTPUT_H

#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// The exit code: `status`, or 1 with a message if not all that was printed could be written.
inline int endOutput(llvm::StringRef tool, int status) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return status;
  std::string why = out.error().message();
  out.clear_error();
  llvm::errs() << tool << ": error: cannot write standard output: " << why << "\n";
  return status ? status : 1;
}

} // namespace tilec

#endif // TILEC_TOOLS_STANDARDOUTPUT_H

//===- Emit.h - from one input to its outputs ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEC_EMIT_H
#define TILEC_TOOLS_TILEC_EMIT_H

#include "CommandLine.h"

namespace tilec::driver {

/// Compiles `input`, prints its messages, and writes what the command line asks
/// for. Gives the exit code.
int compileInput(const std::string &input, const CommandLine &line);

} // namespace tilec::driver

#endif // TILEC_TOOLS_TILEC_EMIT_H

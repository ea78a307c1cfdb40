//===- Interpreter.h - runs `tile` kernels on the CPU --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel at stage `tile`, its arguments in host memory, the grid. Out: the
// arrays as the language defines them after the launch. Whole tiles at a time in
// plain loops, written from the language reference and sharing nothing with the
// lowering: the oracle that compiled code is compared with, and what runs kernels
// where there is no GPU.
//
// Blocks run in parallel on the host's threads.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_INTERPRETER_INTERPRETER_H
#define TILEC_INTERPRETER_INTERPRETER_H

#include "tilec/Support/KernelArg.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>

namespace tilec {

class DebugLog;

struct InterpreterOptions {
  unsigned hostThreads = 0; ///< 0: as many as the machine has
  /// Takes what the kernel prints and the assertions that fail. Without one, lines go
  /// to stdout and failed assertions are an error.
  DebugLog *log = nullptr;
};

/// Runs `kernel` once per block of `grid`. `args` are one per parameter and have
/// been checked by planLaunch (ranks, dtypes, dims). An error tells of an
/// assumption of the program that was false, with its location, or of an operation
/// that the interpreter does not know.
llvm::Error interpretKernel(tile::KernelOp kernel, llvm::ArrayRef<KernelArg> args,
                            std::array<int64_t, 3> grid, const InterpreterOptions &options = {});

} // namespace tilec

#endif // TILEC_INTERPRETER_INTERPRETER_H

//===- ResourceUsage.h - what a kernel takes of a chip -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: compiled code. Out: `tilec --resource-usage`, a table for each build or one JSON
// object a line:
//
//   matmul for sm_90a, aligned build (matmul__aligned16)
//     384 threads, 168 registers a thread, no spills
//     196 KiB + 128 bytes of shared memory
//       16 KiB x 4 places   bf16[128, 64] of `a` (line 8)
//       …
//     1 block a multiprocessor, for shared memory (registers 1, warps 5, block slots 32)
//     a grid of 1024 blocks: 7.8 waves on 132 multiprocessors
//
// What is not known without an assembler (registers), or depends on the launch (the grid,
// the device), is said to be so.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_RESOURCEUSAGE_H
#define TILEC_COMPILER_RESOURCEUSAGE_H

#include "tilec/Compiler/Compiler.h"

namespace tilec {

/// `multiprocessors`: of the device that is here; 0: there is none of this chip.
void printResourceUsage(const ChipCode &code, unsigned multiprocessors, bool asJson,
                        llvm::raw_ostream &os);

} // namespace tilec

#endif // TILEC_COMPILER_RESOURCEUSAGE_H

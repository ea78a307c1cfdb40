//===- Report.h - what is printed of a run ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILERUN_REPORT_H
#define TILEC_TOOLS_TILERUN_REPORT_H

#include "Arguments.h"
#include "Execute.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tilec::run {

/// One line: `c: bf16[512, 400] = 0.25 -1.5 …, least -3, greatest 4`.
void printArray(llvm::raw_ostream &os, const std::string &name, const NpyArray &array);

/// Compares an array with the reference and prints one line. True when equal
/// within `tolerance` (‖out − ref‖ / ‖ref‖), by default one that fits the dtype.
bool compareArrays(llvm::raw_ostream &os, const std::string &name, const NpyArray &array,
                   const NpyArray &reference, std::optional<double> tolerance);

/// Time, bandwidth over the arrays' bytes, and arithmetic rate if `flops` > 0.
void printBench(llvm::raw_ostream &os, const BenchResult &result, double bytes, double flops);

} // namespace tilec::run

#endif // TILEC_TOOLS_TILERUN_REPORT_H

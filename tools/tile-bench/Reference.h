//===- Reference.h - what results must be --------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Some elements of a problem's result in double: whole rows where a row shares its
// work, else elements spread over the output and its corners. Inputs are computed
// again from their Numbers, so nothing is kept.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_REFERENCE_H
#define TILEC_TOOLS_TILEBENCH_REFERENCE_H

#include "Numbers.h"
#include "Subjects.h"

namespace tilec::bench {

struct Sample {
  int64_t index; ///< in the output, row-major
  double value;
};

/// `inputs` are those of the operands that are no output, in their order.
std::vector<Sample> makeSamples(const Problem &problem, std::span<const Numbers> inputs);

/// ‖out - ref‖ / ‖ref‖ over the samples, of an output as it lies in memory; NaN when an
/// element is one.
double relativeError(std::span<const Sample> samples, DType dtype, const std::byte *output);

/// Whether any element of a float output is NaN, as poison is.
bool hasNaN(DType dtype, const std::byte *output, int64_t elements);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_REFERENCE_H

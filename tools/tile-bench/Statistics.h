//===- Statistics.h - times into a median and a spread -------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_STATISTICS_H
#define TILEC_TOOLS_TILEBENCH_STATISTICS_H

#include <vector>

namespace tilec::bench {

/// What is kept of many times.
struct Summary {
  double median = 0;
  double low = 0, high = 0; ///< 5 % and 95 % quantiles
  unsigned count = 0;       ///< how many there were; 0: nothing was measured

  /// (high - low) / median.
  double spread() const { return median > 0 ? (high - low) / median : 0; }
};

/// The value below which the share `q` (0 … 1) of the sorted values lies, linear between
/// neighbours. `sorted` is not empty.
double quantile(const std::vector<double> &sorted, double q);

Summary summarize(std::vector<double> values);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_STATISTICS_H

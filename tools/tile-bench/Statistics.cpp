//===- Statistics.cpp - times into a median and a spread ------ -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Statistics.h"

#include <algorithm>
#include <cmath>

namespace tilec::bench {

double quantile(const std::vector<double> &sorted, double q) {
  double place = q * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(std::floor(place));
  size_t above = std::min(below + 1, sorted.size() - 1);
  double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

Summary summarize(std::vector<double> values) {
  Summary result;
  if (values.empty())
    return result;
  std::sort(values.begin(), values.end());
  result.median = quantile(values, 0.5);
  result.low = quantile(values, 0.05);
  result.high = quantile(values, 0.95);
  result.count = static_cast<unsigned>(values.size());
  return result;
}

} // namespace tilec::bench

//===- Report.cpp - what is printed of a run ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Arrays are compared as values: two NaNs are equal, an infinity equals only
// itself. Integers and bool must be equal; floats may differ by rounding, as sums
// may be taken in another order and functions have a bound in ulp. A tolerance of 0
// asks for the same bits, but for those of a NaN.
//
//===------------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilec::run {

static std::string typeText(const NpyArray &array) {
  std::string text(dtypeName(array.dtype));
  for (size_t i = 0; i < array.shape.size(); ++i)
    text += (i ? ", " : "[") + std::to_string(array.shape[i]);
  return text + "]";
}

static std::string number(double v, int digits = 6) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, v);
  return text;
}

/// "[3, 77]" of element `index` in memory order.
static std::string position(const NpyArray &array, size_t index) {
  std::vector<int64_t> strides = array.strides();
  std::string text;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    auto at = static_cast<int64_t>(index) / strides[axis] % array.shape[axis];
    text += (axis ? ", " : "[") + std::to_string(at);
  }
  return text + "]";
}

void printArray(llvm::raw_ostream &os, const std::string &name, const NpyArray &array) {
  auto count = static_cast<size_t>(array.numElements());
  os << name << ": " << typeText(array);
  if (count == 0) {
    os << " is empty\n";
    return;
  }
  os << " =";
  constexpr size_t shown = 8;
  for (size_t i = 0; i < std::min(count, shown); ++i)
    os << " " << number(elementAt(array, i));
  if (count > shown) {
    double least = INFINITY, greatest = -INFINITY;
    size_t nans = 0;
    for (size_t i = 0; i < count; ++i) {
      double v = elementAt(array, i);
      nans += std::isnan(v);
      least = v < least ? v : least;
      greatest = v > greatest ? v : greatest;
    }
    os << " …, least " << number(least) << ", greatest " << number(greatest);
    if (nans)
      os << ", " << nans << " NaN";
  }
  os << "\n";
}

/// The largest relative error of a result that was rounded once to this dtype after
/// sums in another order.
static double defaultTolerance(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 1e-5;
  case DType::F16:
    return 1e-3;
  case DType::BF16:
    return 8e-3;
  case DType::F8E4M3:
    return 6e-2;
  case DType::F8E5M2:
    return 1.2e-1;
  default:
    return 0;
  }
}

/// Whether nothing is to be said of element `index`: `a` and `b` are its values.
static bool isSame(const NpyArray &array, const NpyArray &reference, size_t index, double a,
                   double b, bool isExact) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  size_t bytes = dtypeBytes(array.dtype);
  if (isExact || !isFloat(array.dtype))
    return std::memcmp(&array.data[index * bytes], &reference.data[index * bytes], bytes) == 0;
  return a == b;
}

bool compareArrays(llvm::raw_ostream &os, const std::string &name, const NpyArray &array,
                   const NpyArray &reference, std::optional<double> tolerance) {
  double limit = tolerance.value_or(defaultTolerance(array.dtype));
  double errorSquares = 0, squares = 0, worst = -1;
  size_t worstAt = 0, wrong = 0, firstWrong = 0;
  auto count = static_cast<size_t>(array.numElements());
  for (size_t i = 0; i < count; ++i) {
    double a = elementAt(array, i), b = elementAt(reference, i);
    if (isSame(array, reference, i, a, b, limit == 0)) {
      squares += std::isfinite(b) ? b * b : 0;
      continue;
    }
    double difference = std::fabs(a - b);
    // No difference to measure: infinities, zeros of two signs, bits beyond a double's.
    if (!std::isfinite(difference) || difference == 0) {
      if (wrong++ == 0)
        firstWrong = i;
      continue;
    }
    errorSquares += difference * difference;
    squares += b * b;
    if (difference > worst) {
      worst = difference;
      worstAt = i;
    }
  }
  os << "check " << name << ": ";
  if (wrong) {
    os << "FAILED, " << number(elementAt(array, firstWrong)) << " instead of "
       << number(elementAt(reference, firstWrong)) << " at " << position(array, firstWrong) << " ("
       << wrong << " such elements)\n";
    return false;
  }
  if (worst < 0) {
    os << "equal\n";
    return true;
  }
  double relative = squares > 0 ? std::sqrt(errorSquares / squares) : std::sqrt(errorSquares);
  bool good = relative <= limit;
  os << (good ? "passed" : "FAILED") << ", relative error " << number(relative) << " (limit "
     << number(limit) << "), largest difference " << number(worst) << " at "
     << position(array, worstAt) << ": " << number(elementAt(array, worstAt), 9)
     << " instead of " << number(elementAt(reference, worstAt), 9) << "\n";
  return good;
}

void printBench(llvm::raw_ostream &os, const BenchResult &result, double bytes, double flops) {
  const std::vector<double> &times = result.seconds;
  double median = times[times.size() / 2];
  double low = times[times.size() / 20], high = times[times.size() - 1 - times.size() / 20];
  os << "bench: " << llvm::format("%.2f us median of %zu (%.2f … %.2f)", median * 1e6,
                                  times.size(), low * 1e6, high * 1e6);
  double rate = bytes / median * 1e-9;
  os << llvm::format(rate < 1 ? ", %.4f GB/s" : ", %.1f GB/s", rate);
  if (result.peakBytesPerSecond > 0)
    os << llvm::format(" (%.0f %% of the %.0f GB/s of a copy)",
                       100 * bytes / median / result.peakBytesPerSecond,
                       result.peakBytesPerSecond * 1e-9);
  if (flops > 0)
    os << llvm::format(", %.2f TFLOP/s", flops / median * 1e-12);
  os << "\n";
}

} // namespace tilec::run

//===- Reference.h - functions to many digits ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a function of the language, operands of a dtype and what an execution gave for
// them. Out: its distance from the exact result, by MPFR, in units of the last place of
// the dtype at the exact result.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_ACCURACY_REFERENCE_H
#define TILEC_TEST_ACCURACY_REFERENCE_H

#include "tilec/Support/DType.h"

#include <mpfr.h>

#include <vector>

namespace tilec::test {

/// A number of fixed precision.
class Exact {
public:
  explicit Exact(mpfr_prec_t precision) { mpfr_init2(value, precision); }
  ~Exact() { mpfr_clear(value); }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  operator mpfr_ptr() { return value; }

private:
  mpfr_t value;
};

/// r = f(x, y); y is unused by functions of one operand.
using Evaluate = void (*)(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y);

struct Function {
  const char *name;       ///< its row in docs/math.md
  const char *expression; ///< in the language, of a and b
  Evaluate evaluate;
  double low, high;       ///< operands of interest; of b: the same
  bool isBinary = false;
  /// A distance counts in units of the last place of the first operand where that is
  /// larger: for functions that are a difference of large terms.
  bool relativeToOperand = false;
  /// The result is the first operand times a factor that may be subnormal: there, a
  /// unit is that of the factor times the operand.
  bool isTimesOperand = false;
};

const std::vector<Function> &allFunctions();

/// Infinitely far (1e30) where one is NaN and the other is not, or the sign is wrong.
/// Infinity counts as the power of two after the largest finite number.
double ulpError(const Function &function, DType dtype, double x, double y, double got);

/// Operands of `dtype` at which `function` is hard: next to its zeros, poles and
/// thresholds, and special values; pairs for binary functions.
std::vector<std::pair<double, double>> hardOperands(const Function &function, DType dtype);

} // namespace tilec::test

#endif // TILEC_TEST_ACCURACY_REFERENCE_H

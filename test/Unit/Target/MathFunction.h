//===- MathFunction.h - an expanded operation, callable --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Takes a math operation by name, runs ExpandMath and all of the optimisation that
// the PTX path runs, and compiles the result for the host instead.
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_TARGET_MATHFUNCTION_H
#define TILEC_TEST_UNIT_TARGET_MATHFUNCTION_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tilec {

/// `math.exp` on `f32`, as a function over arrays of that type's values.
class MathFunction {
public:
  /// \p operation such as "math.exp", or lines that compute %r from %v and %w, with
  /// VECTOR for their type; \p type f16, bf16, f32 or f64; `arity`
  /// operands. Fails the running test when it does not compile.
  MathFunction(const std::string &operation, const std::string &type, int arity = 1);
  ~MathFunction();

  /// z[i] = operation(x[i], y[i]) for all i; y may be null.
  void call(const void *x, const void *y, void *z, int64_t count) const;

  template <typename T> std::vector<T> operator()(const std::vector<T> &x) const {
    std::vector<T> result(x.size());
    call(x.data(), nullptr, result.data(), x.size());
    return result;
  }
  template <typename T>
  std::vector<T> operator()(const std::vector<T> &x, const std::vector<T> &y) const {
    std::vector<T> result(x.size());
    call(x.data(), y.data(), result.data(), x.size());
    return result;
  }

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Distance of `value` from `exact` in units of the last place of T at `exact`;
/// 0 where both are NaN or the same infinity.
template <typename T> double ulpError(T value, long double exact) {
  T rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(value))
    return std::isnan(rounded) && std::isnan(value) ? 0 : 1e30;
  if (value == rounded)
    // A correctly rounded overflow, or an error below half an ulp: measure it.
    if (std::isinf(value))
      return 0;
  if (std::isinf(value) || std::isinf(rounded)) {
    // One side of the overflow threshold: the neighbour of the largest value.
    T largest = std::numeric_limits<T>::max();
    T other = std::isinf(value) ? rounded : value;
    return std::abs(other) == largest && std::signbit(value) == std::signbit(rounded)
               ? 1
               : 1e30;
  }
  int exponent = exact == 0 ? std::numeric_limits<T>::min_exponent - 1
                            : std::ilogb(exact);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1);
  long double ulp = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) / ulp);
}

} // namespace tilec
#endif // TILEC_TEST_UNIT_TARGET_MATHFUNCTION_H

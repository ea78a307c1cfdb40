//===- Reference.cpp - functions to many digits --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Reference.h"

#include "tilec/Support/Numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace tilec::test {

namespace {

constexpr mpfr_rnd_t nearest = MPFR_RNDN;

struct Format {
  int digits, minExponent, maxExponent; ///< of 1.xxx * 2^e
};

Format formatOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {11, -14, 15};
  case DType::BF16:
    return {8, -126, 127};
  case DType::F32:
    return {24, -126, 127};
  default:
    return {53, -1022, 1023};
  }
}

/// Enough for a result of `digits` bits, cancellation in the formulas below included.
mpfr_prec_t precisionFor(DType dtype) { return dtype == DType::F64 ? 170 : dtype == DType::F32 ? 110 : 70; }

//===------------------------------------------------------------------------===//
// Formulas
//===------------------------------------------------------------------------===//

/// 1 / (1 + e^-x)
void sigmoid(mpfr_ptr r, mpfr_ptr x, mpfr_ptr) {
  Exact e(mpfr_get_prec(r));
  mpfr_neg(e, x, nearest);
  mpfr_exp(e, e, nearest);
  mpfr_add_ui(e, e, 1, nearest);
  mpfr_ui_div(r, 1, e, nearest);
}

/// x times what `factor` gives; at -infinity that is NaN, as it is in the language.
template <Evaluate factor>
void timesOperand(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
  factor(r, x, y);
  mpfr_mul(r, r, x, nearest);
}

/// erfc(-x / sqrt 2) / 2
void normal(mpfr_ptr r, mpfr_ptr x, mpfr_ptr) {
  Exact root(mpfr_get_prec(r));
  mpfr_sqrt_ui(root, 2, nearest);
  mpfr_div(r, x, root, nearest);
  mpfr_neg(r, r, nearest);
  mpfr_erfc(r, r, nearest);
  mpfr_div_ui(r, r, 2, nearest);
}

/// (1 + tanh v) / 2 with v = sqrt(2/pi) (x + 0.044715 x^3), as a sigmoid of 2v.
void tanhFactor(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
  Exact v(mpfr_get_prec(r)), t(mpfr_get_prec(r));
  mpfr_sqr(v, x, nearest);
  mpfr_set_str(t, "0.044715", 10, nearest);
  mpfr_mul(v, v, t, nearest);
  mpfr_add_ui(v, v, 1, nearest);
  mpfr_mul(v, v, x, nearest);
  mpfr_const_pi(t, nearest);
  mpfr_ui_div(t, 8, t, nearest);
  mpfr_sqrt(t, t, nearest);
  mpfr_mul(v, v, t, nearest);
  sigmoid(r, v, y);
}

void rsqrt(mpfr_ptr r, mpfr_ptr x, mpfr_ptr) {
  mpfr_sqrt(r, x, nearest);
  mpfr_ui_div(r, 1, r, nearest); // of -0: -infinity
}

template <int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void of1(mpfr_ptr r, mpfr_ptr x, mpfr_ptr) {
  f(r, x, nearest);
}
template <int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
void of2(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
  f(r, x, y, nearest);
}

void quotient(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) { mpfr_div(r, x, y, nearest); }
void multiplyAdd(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) { mpfr_fma(r, x, y, x, nearest); }

//===------------------------------------------------------------------------===//
// Hard operands
//===------------------------------------------------------------------------===//

double rounded(DType dtype, double x) { return numerics::decode(dtype, numerics::encode(dtype, x)); }

/// `x` in `dtype`, and its neighbours.
void addAround(std::vector<double> &list, DType dtype, double x, int steps = 2) {
  int64_t word = int64_t(numerics::encode(dtype, std::fabs(x)));
  for (int64_t near = word - steps; near <= word + steps; ++near)
    if (near >= 0 && near <= int64_t(numerics::infinityBits(dtype)))
      list.push_back(std::copysign(numerics::decode(dtype, uint64_t(near)), x));
}

/// Next to multiples of pi/2, small and as large as there are.
void addAngles(std::vector<double> &list, DType dtype) {
  Exact pi(1400), x(1400);
  mpfr_const_pi(pi, nearest);
  auto add = [&](unsigned long k, unsigned long power) {
    mpfr_mul_ui(x, pi, k, nearest);
    mpfr_mul_2si(x, x, long(power) - 1, nearest);
    addAround(list, dtype, mpfr_get_d(x, nearest));
  };
  for (unsigned long k = 1; k < 200; ++k)
    add(k, 0);
  for (unsigned long power = 0; power < unsigned(formatOf(dtype).maxExponent); power += dtype == DType::F64 ? 7 : 1)
    for (unsigned long k : {1, 3, 7, 355, 104348, 1146408})
      add(k, power);
  // The doubles closest to a multiple of pi/2.
  for (double worst : {0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+0, 0x1.31d5f27da25b2p+58, 0x1.f37c4ap+95})
    addAround(list, dtype, worst);
}

/// Values at which something changes in some function.
std::vector<double> landmarks(DType dtype) {
  Format format = formatOf(dtype);
  std::vector<double> list;
  double least = std::ldexp(1.0, format.minExponent), ln2 = 0.6931471805599453;
  double epsilon = std::ldexp(1.0, 1 - format.digits);
  for (double x : {0.0, least, least / 2, std::ldexp(least, 1 - format.digits), epsilon, std::sqrt(epsilon), 0.1,
                   0.3465735902799726, 0.5, 0.55, 0.7071067811865476, 0.92, 1.0, 1.4142135623730951, 2.0, 3.0, 4.0,
                   6.0, 8.0, 10.0, 1.0 / epsilon, 0.25 / epsilon})
    addAround(list, dtype, x, 3);
  for (double e : {format.maxExponent + 1.0, format.minExponent + 0.0, double(format.minExponent - format.digits)})
    for (double scale : {1.0, ln2, 0.30102999566398120, 0.5})
      addAround(list, dtype, e * scale, 3);
  for (int e = format.minExponent; e <= format.maxExponent; e += dtype == DType::F64 ? 37 : 5)
    list.push_back(std::ldexp(1.25, e));
  addAround(list, dtype, numerics::decode(dtype, numerics::largestFiniteBits(dtype)), 3);
  size_t count = list.size();
  for (size_t i = 0; i < count; ++i)
    list.push_back(-list[i]);
  list.push_back(std::numeric_limits<double>::quiet_NaN());
  return list;
}

} // namespace

const std::vector<Function> &allFunctions() {
  static const std::vector<Function> functions = {
      {"exp", "exp(a)", of1<mpfr_exp>, -100, 90},
      {"exp2", "exp2(a)", of1<mpfr_exp2>, -140, 128},
      {"expm1", "expm1(a)", of1<mpfr_expm1>, -3, 4},
      {"log", "log(a)", of1<mpfr_log>, 0, 3},
      {"log2", "log2(a)", of1<mpfr_log2>, 0, 3},
      {"log10", "log10(a)", of1<mpfr_log10>, 0, 3},
      {"log1p", "log1p(a)", of1<mpfr_log1p>, -1, 3},
      {"sin", "sin(a)", of1<mpfr_sin>, -300, 300},
      {"cos", "cos(a)", of1<mpfr_cos>, -300, 300},
      {"tan", "tan(a)", of1<mpfr_tan>, -300, 300},
      {"asin", "asin(a)", of1<mpfr_asin>, -1, 1},
      {"acos", "acos(a)", of1<mpfr_acos>, -1, 1},
      {"atan", "atan(a)", of1<mpfr_atan>, -4, 4},
      {"atan2", "atan2(a, b)", of2<mpfr_atan2>, -3, 3, true},
      {"sinh", "sinh(a)", of1<mpfr_sinh>, -4, 4},
      {"cosh", "cosh(a)", of1<mpfr_cosh>, -4, 4},
      {"tanh", "tanh(a)", of1<mpfr_tanh>, -4, 4},
      {"erf", "erf(a)", of1<mpfr_erf>, -5, 5},
      {"cbrt", "cbrt(a)", of1<mpfr_cbrt>, -30, 30},
      {"sqrt", "sqrt(a)", of1<mpfr_sqrt>, 0, 10},
      {"rsqrt", "rsqrt(a)", rsqrt, 0, 10},
      {"pow", "pow(a, b)", of2<mpfr_pow>, -20, 20, true},
      {"sigmoid", "sigmoid(a)", sigmoid, -20, 20},
      {"silu", "silu(a)", timesOperand<sigmoid>, -20, 20, false, false, true},
      {"gelu", "gelu(a)", timesOperand<normal>, -8, 8, false, true},
      {"gelu_tanh", "gelu_tanh(a)", timesOperand<tanhFactor>, -8, 8, false, true},
      {"`/`", "a / b", quotient, -10, 10, true},
      {"fma", "fma(a, b, a)", multiplyAdd, -10, 10, true},
  };
  return functions;
}

double ulpError(const Function &function, DType dtype, double x, double y, double got) {
  Format format = formatOf(dtype);
  thread_local Exact a(53), b(53);
  Exact exact(precisionFor(dtype)), difference(precisionFor(dtype));
  mpfr_set_d(a, x, nearest);
  mpfr_set_d(b, y, nearest);
  function.evaluate(exact, a, b);
  if (mpfr_nan_p((mpfr_ptr)exact) || std::isnan(got))
    return mpfr_nan_p((mpfr_ptr)exact) && std::isnan(got) ? 0 : 1e30;
  if (bool(mpfr_signbit((mpfr_ptr)exact)) != std::signbit(got))
    return 1e30;
  if (mpfr_inf_p((mpfr_ptr)exact))
    return std::isinf(got) ? 0 : 1e30;
  double top = std::ldexp(1.0, format.maxExponent);
  if (std::isinf(got)) { // half of what it stands for, as that may not be a double
    mpfr_div_ui(exact, exact, 2, nearest);
    if (mpfr_cmpabs(exact, (mpfr_set_d(difference, top, nearest), (mpfr_ptr)difference)) >= 0)
      return 0;
    mpfr_set_d(difference, std::copysign(top, got), nearest);
    mpfr_sub(difference, difference, exact, nearest);
    return std::fabs(mpfr_get_d(difference, nearest)) * std::ldexp(2.0, format.digits - 1 - format.maxExponent);
  }
  int exponent = mpfr_zero_p((mpfr_ptr)exact) ? format.minExponent : int(mpfr_get_exp(exact)) - 1;
  if (function.relativeToOperand && x != 0 && std::isfinite(x))
    exponent = std::max(exponent, std::ilogb(x));
  if (function.isTimesOperand && std::fabs(x) > 1)
    exponent = std::max(exponent, format.minExponent + std::ilogb(x) + 1);
  exponent = std::clamp(exponent, format.minExponent, format.maxExponent);
  mpfr_set_d(difference, got, nearest);
  mpfr_sub(difference, difference, exact, nearest);
  mpfr_mul_2si(difference, difference, format.digits - 1 - exponent, nearest);
  return std::fabs(mpfr_get_d(difference, nearest));
}

std::vector<std::pair<double, double>> hardOperands(const Function &function, DType dtype) {
  std::vector<double> list = landmarks(dtype);
  std::string_view name = function.name;
  if (name == "sin" || name == "cos" || name == "tan")
    addAngles(list, dtype);
  std::vector<std::pair<double, double>> result;
  if (!function.isBinary) {
    for (double x : list)
      result.push_back({x, 0});
    return result;
  }
  for (size_t i = 0; i < list.size(); i += 2)
    for (size_t j = i % 3; j < list.size(); j += 3)
      result.push_back({list[i], list[j]});
  if (name == "pow") { // results near the thresholds, from bases near 1 too
    Format format = formatOf(dtype);
    for (double x : {1.0 + std::ldexp(1.0, 1 - format.digits), 1 - std::ldexp(1.0, -format.digits), 1.01, 0.99, 2.0, 10.0,
                     0.1, 1e-3})
      for (double e : {format.maxExponent + 1.0, format.minExponent + 0.0, double(format.minExponent - format.digits + 1)})
        for (double part : {1.0, 0.999999, 0.5, 0.01})
          result.push_back({rounded(dtype, x), rounded(dtype, e * part / std::log2(rounded(dtype, x)))});
  }
  return result;
}

} // namespace tilec::test

//===- Math.cpp - functions of the math dialect --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Functions on f32 and narrower are computed in double by the C library and
// rounded once, so they are correctly rounded in all but a few cases in a billion;
// f64 ones in long double. This is the reference that the ulp bounds of compiled
// code are measured against.
//
//===------------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;

namespace tilec::interpreter {

template <typename F>
static HostTile mapReal(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  if (result.form() == Form::F64)
    forEachStored(result, [&](size_t i) { result.doubles[i] = double(f((long double)in[0]->f64(i))); });
  else
    forEachStored(result, [&](size_t i) {
      result.floats[i] = roundToType(double(f(double(in[0]->f32(i)))), result.elementType());
    });
  return result;
}

template <typename F>
static HostTile mapReal2(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  if (result.form() == Form::F64)
    forEachStored(result, [&](size_t i) {
      result.doubles[i] = double(f((long double)in[0]->f64(i), (long double)in[1]->f64(i)));
    });
  else
    forEachStored(result, [&](size_t i) {
      result.floats[i] = roundToType(double(f(double(in[0]->f32(i)), double(in[1]->f32(i)))),
                                     result.elementType());
    });
  return result;
}

/// a*b + c: one rounding in f32 and f64; narrower types in f32, then rounded.
static HostTile evaluateFma(Operation *op, Operands in) {
  HostTile result = makeResult(op, in);
  if (result.form() == Form::F64)
    forEachStored(result, [&](size_t i) {
      result.doubles[i] = std::fma(in[0]->f64(i), in[1]->f64(i), in[2]->f64(i));
    });
  else
    forEachStored(result, [&](size_t i) {
      result.floats[i] =
          roundToType(std::fma(in[0]->f32(i), in[1]->f32(i), in[2]->f32(i)), result.elementType());
    });
  return result;
}

template <typename F>
static HostTile mapBits(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) {
    result.ints[i] = truncateTo(uint64_t(f(in[0]->integer(i), in[0]->sinteger(i))), result.width());
  });
  return result;
}

template <typename F>
static HostTile classify(Operation *op, Operands in, F f) {
  HostTile result = makeResult(op, in);
  forEachStored(result, [&](size_t i) { result.ints[i] = f(in[0]->real(i)); });
  return result;
}

static std::optional<HostTile> evaluateIntMath(Operation *op, Operands in) {
  unsigned width = in.empty() ? 0 : in[0]->width();
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](math::AbsIOp) {
        return mapBits(op, in, [](uint64_t, int64_t v) { return v < 0 ? 0 - uint64_t(v) : uint64_t(v); });
      })
      .Case([&](math::CtPopOp) { return mapBits(op, in, [](uint64_t v, int64_t) { return llvm::popcount(v); }); })
      .Case([&](math::CountLeadingZerosOp) {
        return mapBits(op, in, [=](uint64_t v, int64_t) { return llvm::countl_zero(v) - int(64 - width); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return mapBits(op, in, [=](uint64_t v, int64_t) { return std::min<int>(llvm::countr_zero(v), width); });
      })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<HostTile> evaluateTrigonometry(Operation *op, Operands in) {
  auto map = [&](auto f) { return mapReal(op, in, f); };
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](math::SinOp) { return map([](auto x) { return std::sin(x); }); })
      .Case([&](math::CosOp) { return map([](auto x) { return std::cos(x); }); })
      .Case([&](math::TanOp) { return map([](auto x) { return std::tan(x); }); })
      .Case([&](math::AsinOp) { return map([](auto x) { return std::asin(x); }); })
      .Case([&](math::AcosOp) { return map([](auto x) { return std::acos(x); }); })
      .Case([&](math::AtanOp) { return map([](auto x) { return std::atan(x); }); })
      .Case([&](math::SinhOp) { return map([](auto x) { return std::sinh(x); }); })
      .Case([&](math::CoshOp) { return map([](auto x) { return std::cosh(x); }); })
      .Case([&](math::TanhOp) { return map([](auto x) { return std::tanh(x); }); })
      .Case([&](math::AsinhOp) { return map([](auto x) { return std::asinh(x); }); })
      .Case([&](math::AcoshOp) { return map([](auto x) { return std::acosh(x); }); })
      .Case([&](math::AtanhOp) { return map([](auto x) { return std::atanh(x); }); })
      .Case([&](math::Atan2Op) {
        return mapReal2(op, in, [](auto y, auto x) { return std::atan2(y, x); });
      })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<HostTile> evaluateExponential(Operation *op, Operands in) {
  auto map = [&](auto f) { return mapReal(op, in, f); };
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](math::ExpOp) { return map([](auto x) { return std::exp(x); }); })
      .Case([&](math::Exp2Op) { return map([](auto x) { return std::exp2(x); }); })
      .Case([&](math::ExpM1Op) { return map([](auto x) { return std::expm1(x); }); })
      .Case([&](math::LogOp) { return map([](auto x) { return std::log(x); }); })
      .Case([&](math::Log2Op) { return map([](auto x) { return std::log2(x); }); })
      .Case([&](math::Log10Op) { return map([](auto x) { return std::log10(x); }); })
      .Case([&](math::Log1pOp) { return map([](auto x) { return std::log1p(x); }); })
      .Case([&](math::ErfOp) { return map([](auto x) { return std::erf(x); }); })
      // In double for both: exact in f64, and rounded to f32 it is correct too.
      .Case([&](math::SqrtOp) { return map([](auto x) { return decltype(x)(std::sqrt(double(x))); }); })
      .Case([&](math::RsqrtOp) { return map([](auto x) { return 1 / std::sqrt(x); }); })
      .Case([&](math::CbrtOp) { return map([](auto x) { return std::cbrt(x); }); })
      .Case([&](math::PowFOp) { return mapReal2(op, in, [](auto x, auto y) { return std::pow(x, y); }); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<HostTile> evaluateMath(Operation *op, Operands in) {
  auto map = [&](auto f) { return mapReal(op, in, f); };
  auto result =
      llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
          .Case([&](math::FmaOp) { return evaluateFma(op, in); })
          .Case([&](math::AbsFOp) { return map([](auto x) { return std::fabs(x); }); })
          .Case([&](math::FloorOp) { return map([](auto x) { return std::floor(x); }); })
          .Case([&](math::CeilOp) { return map([](auto x) { return std::ceil(x); }); })
          .Case([&](math::TruncOp) { return map([](auto x) { return std::trunc(x); }); })
          .Case([&](math::RoundEvenOp) { return map([](auto x) { return std::nearbyint(x); }); })
          .Case([&](math::RoundOp) { return map([](auto x) { return std::round(x); }); })
          .Case([&](math::CopySignOp) {
            return mapReal2(op, in, [](auto x, auto y) { return std::copysign(x, y); });
          })
          .Case([&](math::IsNaNOp) { return classify(op, in, [](double x) { return std::isnan(x); }); })
          .Case([&](math::IsInfOp) { return classify(op, in, [](double x) { return std::isinf(x); }); })
          .Case([&](math::IsFiniteOp) { return classify(op, in, [](double x) { return std::isfinite(x); }); })
          .Default([](Operation *) { return std::optional<HostTile>(); });
  if (!result)
    result = evaluateExponential(op, in);
  if (!result)
    result = evaluateTrigonometry(op, in);
  return result ? result : evaluateIntMath(op, in);
}

} // namespace tilec::interpreter

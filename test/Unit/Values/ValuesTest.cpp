//===- ValuesTest.cpp - rules about values, by example -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Expressions over tiles of eight elements and what docs/language.md says they give:
// zeros and their signs, NaN, subnormals, wrapping, shifts, ties. Run by the interpreter
// and as compiled code, and each value is held against the one written down here.
//
//===------------------------------------------------------------------------===//

#include "KernelRunner.h"

#include "tilec/Support/Numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <unistd.h>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  const char *rule, *expression; ///< over the tiles a and b
  std::vector<double> expected;
};

using Values = std::vector<double>;

/// One kernel that stores the value of each case in a row of its own.
std::string kernelText(const std::vector<Case> &cases, DType in, DType out) {
  std::string i(dtypeName(in)), o(dtypeName(out));
  std::string text = "const OUT = " + o + ";\nkernel k(x: array<" + i + ", [n]>, z: array<" + i + ", [n]>, y: mut array<" + o +
                     ", [m]>) grid [1] {\n  let a = load(x, [0], [8]);\n  let b = load(z, [0], [8]);\n";
  for (size_t row = 0; row < cases.size(); ++row)
    text += "  store(y, [" + std::to_string(row) + "], broadcast_to(" + cases[row].expression + ", [8]));\n";
  return text + "}\n";
}

/// The same number: zeros by their signs, any NaN.
bool isSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

void check(const std::vector<Case> &cases, DType in, const Values &a, const Values &b, DType out) {
  std::string file = testing::TempDir() + "/values-" + std::to_string(getpid()) + ".tile";
  std::ofstream(file) << kernelText(cases, in, out);
  HostArray x(in, {8}), z(in, {8});
  for (size_t i = 0; i < 8; ++i) {
    x.set(i, a[i]);
    z.set(i, b[i]);
  }
  for (Executor executor : availableExecutors()) {
    HostArray y = HostArray::poisoned(out, {int64_t(8 * cases.size())});
    KernelRunner runner(file, "k", {}, 1);
    ASSERT_EQ(runner.run(executor, {x.arg(), z.arg(), y.arg()}), "") << executorName(executor);
    for (size_t row = 0; row < cases.size(); ++row)
      for (size_t i = 0; i < 8; ++i) {
        double wanted = cases[row].expected[cases[row].expected.size() == 1 ? 0 : i];
        EXPECT_TRUE(isSame(y.at(8 * row + i), wanted))
            << executorName(executor) << ": " << cases[row].rule << ": " << cases[row].expression << " of " << a[i]
            << ", " << b[i] << " is " << y.at(8 * row + i) << ", not " << wanted;
      }
  }
}

const std::vector<DType> floats = {DType::F16, DType::BF16, DType::F32, DType::F64};

TEST(Values, SignsOfZeros) {
  const std::vector<Case> cases = {
      {"fp-C2", "-a", {-0.0, 0.0, -1, 2, -0.25, 0.25, -inf, inf}},
      {"fp-C2", "abs(a)", {0, 0, 1, 2, 0.25, 0.25, inf, inf}},
      {"fp-C2", "a - a", {0, 0, 0, 0, 0, 0, nan, nan}},
      {"fp-C2", "a + b", {0, -0.0, 1, -2, 0.25, -0.25, inf, -inf}},
      {"fp-C2", "a + a * 0", {0, -0.0, 1, -2, 0.25, -0.25, nan, nan}},
      {"fp-C2", "a * b", {0, 0, 0, 0, 0, 0, nan, nan}},
      {"fp-C2", "0 / a", {nan, nan, 0, -0.0, 0, -0.0, 0, -0.0}},
      {"fp-C2", "a / b", {nan, nan, inf, inf, inf, inf, inf, inf}},
      {"fp-C2", "where(a == 0, 1, a)", {1, 1, 1, -2, 0.25, -0.25, inf, -inf}},
      {"fp-C2", "round(a)", {0, -0.0, 1, -2, 0, -0.0, inf, -inf}},
      {"fp-C2", "ceil(a)", {0, -0.0, 1, -2, 1, -0.0, inf, -inf}},
      {"fp-C2", "floor(a)", {0, -0.0, 1, -2, 0, -1, inf, -inf}},
      {"fp-C2", "trunc(a)", {0, -0.0, 1, -2, 0, -0.0, inf, -inf}},
      {"fp-C2", "sqrt(a)", {0, -0.0, 1, nan, 0.5, nan, inf, nan}},
      {"fp-C2", "a % 1", {0, -0.0, 0, -0.0, 0.25, -0.25, nan, nan}},
      {"fp-C2", "mod(a, 1)", {0, 0, 0, 0, 0.25, 0.75, nan, nan}},
      {"fp-C2", "sign(a)", {0, -0.0, 1, -1, 1, -1, 1, -1}},
  };
  for (DType dtype : floats)
    check(cases, dtype, {0, -0.0, 1, -2, 0.25, -0.25, inf, -inf}, {0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0}, dtype);
}

TEST(Values, MinimaAndMaxima) {
  const std::vector<Case> cases = {
      {"min-C1", "min(a, b)", {nan, nan, -0.0, -0.0, 1, -inf, nan, -3}},
      {"min-C1", "max(a, b)", {nan, nan, 0, 0, 2, inf, nan, -1}},
      {"min-C1", "minnum(a, b)", {1, 1, -0.0, -0.0, 1, -inf, nan, -3}},
      {"min-C1", "maxnum(a, b)", {1, 1, 0, 0, 2, inf, nan, -1}},
      {"min-C1", "clamp(a, b, 1)", {nan, nan, 0, 0, 1, 1, nan, -1}},
      {"min-C1", "min(a)", {nan}},
      {"min-C1", "max(a)", {nan}},
      {"min-C1", "minnum(a)", {-inf}},
      {"min-C1", "maxnum(a)", {2}},
      {"min-C1", "max(where(abs(a) == 0, a, -0.0))", {0}},
      {"min-C1", "min(where(abs(a) == 0, a, 0.0))", {-0.0}},
      {"reduce-C2", "argmax(a).to(OUT)", {0}},
      {"reduce-C2", "argmin(b).to(OUT)", {1}},
      {"reduce-C2", "argmax(where(abs(a) == 0, a, -1)).to(OUT)", {2}},
      {"reduce-C2", "argmin(where(abs(a) == 0, a, 1)).to(OUT)", {2}},
  };
  for (DType dtype : floats)
    check(cases, dtype, {nan, 1, 0, -0.0, 2, -inf, nan, -3}, {1, nan, -0.0, 0, 1, inf, nan, -1}, dtype);
}

TEST(Values, SubnormalsAreKept) {
  // Of each format: the least number, half of the least normal one, and neighbours.
  for (DType dtype : floats) {
    int digits = dtype == DType::F16 ? 11 : dtype == DType::BF16 ? 8 : dtype == DType::F32 ? 24 : 53;
    int exponent = dtype == DType::F16 ? -14 : dtype == DType::F64 ? -1022 : -126;
    double normal = std::ldexp(1.0, exponent), least = std::ldexp(1.0, exponent + 1 - digits);
    check({{"fp-C1", "a + b", {2 * least, normal / 2 + least, normal + least, -2 * least, 0, normal, 0, 3 * least}},
           {"fp-C1", "a * 0.5", {0, normal / 4, normal / 2, -0.0, 0, normal / 4, normal / 2, least}},
           {"fp-C1", "a / 2", {0, normal / 4, normal / 2, -0.0, 0, normal / 4, normal / 2, least}},
           {"fp-C1", "a - b", {0, normal / 2 - least, normal - least, 0, 2 * least, 0, 2 * normal, least}},
           {"fp-C1", "max(a, b)", {least, normal / 2, normal, -least, least, normal / 2, normal, 2 * least}},
           {"fp-C1", "(a < b).to(OUT)", {0, 0, 0, 0, 0, 0, 0, 0}},
           {"fp-C1", "(a > b).to(OUT)", {0, 1, 1, 0, 1, 0, 1, 1}},
           {"fp-C1", "(a == 0).to(OUT)", {0, 0, 0, 0, 0, 0, 0, 0}},
           {"fp-C1", "fma(a, 1, b)", {2 * least, normal / 2 + least, normal + least, -2 * least, 0, normal, 0, 3 * least}}},
          dtype, {least, normal / 2, normal, -least, least, normal / 2, normal, 2 * least},
          {least, least, least, -least, -least, normal / 2, -normal, least}, dtype);
  }
  double least = 0x1p-149;
  check({{"fp-C1", "sqrt(a)", {0x1p-74, 0x1p-73, 0x1p-64, 0, 0x1p-74, 0x1p-74, 0x1p-74, 0x1p-74}},
         {"fp-C1", "sin(a)", {0x1p-148, 0x1p-146, 0x1p-128, 0, 0x1p-148, 0x1p-148, 0x1p-148, 0x1p-148}},
         {"fp-C1", "a.to(f16).to(f32)", {0}},
         {"fp-C1", "a.to(f64).to(f32)", {0x1p-148, 0x1p-146, 0x1p-128, 0, 0x1p-148, 0x1p-148, 0x1p-148, 0x1p-148}},
         {"fp-C1", "sum(a)", {0x1p-128 + 9 * 2 * least}}},
        DType::F32, {0x1p-148, 0x1p-146, 0x1p-128, 0, 0x1p-148, 0x1p-148, 0x1p-148, 0x1p-148}, Values(8, 1), DType::F32);
}

TEST(Values, SumsAreWide) {
  const Values ones(8, 1);
  check({{"reduce-C1", "sum(a)", {1016}}, {"reduce-C1", "prod(b)", {-2187}}}, DType::I8, Values(8, 127),
        {3, 3, 3, 3, -3, 3, 3, 1}, DType::I32);
  check({{"reduce-C1", "sum(a)", {2040}}, {"reduce-C1", "prod(b)", {256}}}, DType::U8, Values(8, 255), Values(8, 2), DType::U32);
  check({{"reduce-C1", "sum(a)", {-262144}}}, DType::I16, Values(8, -32768), ones, DType::I32);
  check({{"reduce-C1", "sum(a == b)", {3}}}, DType::I32, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 3, 0, 5, 0, 0, 0}, DType::I32);
  // In f16 every 1 would be lost beside 2048; 2055 is a tie, to even.
  check({{"reduce-C1", "sum(a)", {2056}}}, DType::F16, {2048, 1, 1, 1, 1, 1, 1, 1}, ones, DType::F16);
  check({{"reduce-C1", "sum(a)", {264}}}, DType::BF16, {256, 1, 1, 1, 1, 1, 1, 1}, ones, DType::BF16);
}

TEST(Values, Integers) {
  check({{"type-C1", "a + b", {-128, 127, 0, -2, 90, 0, 1, 14}},
         {"type-C1", "a * b", {127, -128, 0, 1, -39, -4, 0, 49}},
         {"type-C1", "a / b", {127, -128, 1, 1, -7, -1, 0, 1}},
         {"type-C1", "a % b", {0, 0, 0, 0, 0, 0, 0, 0}},
         {"type-C1", "abs(a)", {127, -128, -128, 1, 105, 2, 0, 7}},
         {"type-C1", "-a", {-127, -128, -128, 1, -105, 2, 0, -7}},
         {"type-C1", "a >> 1", {63, -64, -64, -1, 52, -1, 0, 3}},
         {"type-C1", "a >> 9", {0, -1, -1, -1, 0, -1, 0, 0}},
         {"type-C1", "a << 8", {0}},
         {"type-C1", "a << b", {-2, 0, 0, 0, 0, -8, 0, -128}},
         {"type-C1", "clz(a)", {1, 0, 0, 0, 1, 0, 8, 5}},
         {"type-C1", "ctz(a)", {0, 7, 7, 0, 0, 1, 8, 0}}},
        DType::I8, {127, -128, -128, -1, 105, -2, 0, 7}, {1, -1, -128, -1, -15, 2, 1, 7}, DType::I8);
}

/// Of a NaN, with the bit set that makes it quiet.
uint64_t quieted(DType dtype, uint64_t bits) {
  return numerics::isNaN(dtype, bits) ? bits | (numerics::nanBits(dtype) & ~numerics::infinityBits(dtype)) : bits;
}

/// Every pattern of 8 and 16 bits, NaNs with payloads among them, through operations that
/// only move: the bits are the same, but that a NaN may have become quiet.
TEST(Values, MovesKeepBits) { // fp-C3
  const char *text = R"(
kernel k<T: dtype>(x: array<T, [n]>, y: mut array<T, [n]>) grid [cdiv(n, 256)] {
  let a = load(x, [bid(0)], [256]);
  let turned = transpose(reshape(a, [16, 16]));
  let back = reshape(transpose(where(arange(16) < 7, turned, broadcast_to(turned, [16, 16]))), [256]);
  store(y, [bid(0)], back);
})";
  std::string file = testing::TempDir() + "/moves-" + std::to_string(getpid()) + ".tile";
  std::ofstream(file) << text;
  for (DType dtype : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2, DType::F32, DType::F64}) {
    HostArray x(dtype, {65536});
    unsigned size = dtypeBytes(dtype);
    for (uint64_t i = 0; i < 65536; ++i) { // of wide formats, the upper and the lowest bits
      uint64_t bits = size <= 2 ? i : i << (8 * size - 16) | i % 251;
      std::memcpy(x.bytes.data() + i * size, &bits, size);
    }
    for (Executor executor : availableExecutors()) {
      HostArray y = HostArray::poisoned(dtype, {65536});
      KernelRunner runner(file, "k", {"T=" + std::string(dtypeName(dtype))}, 2);
      ASSERT_EQ(runner.run(executor, {x.arg(), y.arg()}), "") << executorName(executor);
      for (size_t i = 0; i < 65536; ++i) {
        uint64_t before = 0, after = 0;
        std::memcpy(&before, &x.bytes[i * size], size);
        std::memcpy(&after, &y.bytes[i * size], size);
        ASSERT_EQ(quieted(dtype, before), quieted(dtype, after)) << executorName(executor) << " " << dtypeName(dtype);
      }
    }
  }
}

} // namespace

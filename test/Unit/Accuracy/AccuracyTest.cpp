//===- AccuracyTest.cpp - the table of docs/math.md ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every function of the language in a kernel of its own, compiled and run thread by
// thread, against MPFR: f16 and bf16 on every operand (a sample of pairs), f32 and f64
// on hard operands, ordinary ones and bits at random. The error must not be above the
// bound that the table of docs/math.md states; how large it was is printed.
//
//===------------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "Reference.h"

#include "tilec/Support/Numerics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

using namespace tilec;
using namespace tilec::test;

namespace {

const std::vector<std::string> columns = {"f16", "bf16", "f32", "f64"};

/// The bound in the row of `function` of the table on the page; negative: none.
double boundOf(const std::string &function, const std::string &dtype) {
  std::ifstream page(TILEC_MATH_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| " + function + " |"))
      continue;
    std::istringstream cells(line.substr(1));
    std::string cell;
    std::getline(cells, cell, '|');
    for (const std::string &column : columns)
      if (std::getline(cells, cell, '|') && column == dtype)
        return std::stod(cell);
  }
  return -1;
}

std::vector<std::pair<double, double>> operandsOf(const Function &function, DType dtype) {
  std::vector<std::pair<double, double>> operands;
  bool isNarrow = dtypeBits(dtype) == 16;
  auto decode = [&](uint64_t word) { return numerics::decode(dtype, numerics::normalize(dtype, word)); };
  std::mt19937_64 random(20260101);
  if (!isNarrow || function.isBinary)
    operands = hardOperands(function, dtype);
  if (isNarrow)
    for (uint64_t word = 0; word < 65536; word += function.isBinary ? 5 : 1)
      operands.push_back({decode(word), decode(random())});
  else
    for (int i = 0; i < 5000; ++i)
      operands.push_back({decode(random()), decode(random())});
  std::uniform_real_distribution<double> interesting(function.low, function.high);
  double scale = dtype == DType::F64 && std::string(function.name).starts_with("exp") ? 7 : 1;
  for (int i = 0; i < (isNarrow && !function.isBinary ? 0 : 12000); ++i) {
    double x = interesting(random), y = interesting(random);
    auto rounded = [&](double v) { return numerics::decode(dtype, numerics::encode(dtype, v * scale)); };
    operands.push_back({rounded(x), rounded(y)});
  }
  return operands;
}

std::string kernelText(const Function &function) {
  std::string text = "kernel f<T: float>(x: array<T, [n]>, y: array<T, [n]>, z: mut array<T, [n]>)\n"
                     "  grid [cdiv(n, 512)]\n{\n  let a = load(x, [bid(0)], [512]);\n";
  if (function.isBinary)
    text += "  let b = load(y, [bid(0)], [512]);\n";
  return text + "  store(z, [bid(0)], " + function.expression + ");\n}\n";
}

class Accuracy : public testing::TestWithParam<std::tuple<Function, std::string>> {};

TEST_P(Accuracy, WithinTheBoundOfTheTable) {
  const auto &[function, name] = GetParam();
  DType dtype = *parseDType(name);
  double bound = boundOf(function.name, name);
  ASSERT_GE(bound, 0) << "no bound for " << function.name << " in docs/math.md";
  std::string file = testing::TempDir() + "/accuracy-" + std::to_string(getpid()) + ".tile";
  std::ofstream(file) << kernelText(function);

  std::vector<std::pair<double, double>> operands = operandsOf(function, dtype);
  int64_t count = int64_t(operands.size());
  HostArray x(dtype, {count}), y(dtype, {count}), z = HostArray::poisoned(dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    x.set(i, operands[i].first);
    y.set(i, operands[i].second);
  }
  KernelRunner runner(file, "f", {"T=" + name}, 4);
  ASSERT_EQ(runner.run(Executor::SIMT, {x.arg(), y.arg(), z.arg()}), "");

  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    double error = ulpError(function, dtype, operands[i].first, operands[i].second, z.at(i));
    if (error > worst)
      worst = error, at = i;
  }
  printf("%s %s %.3f\n", function.name, name.c_str(), worst);
  EXPECT_LE(worst, bound) << std::hexfloat << function.name << " of " << operands[at].first << ", "
                          << operands[at].second << " is " << z.at(at);
}

std::string caseName(const testing::TestParamInfo<Accuracy::ParamType> &info) {
  std::string name = std::get<0>(info.param).name;
  return (name == "`/`" ? "divide" : name) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Functions, Accuracy,
                         testing::Combine(testing::ValuesIn(allFunctions()), testing::ValuesIn(columns)), caseName);

} // namespace

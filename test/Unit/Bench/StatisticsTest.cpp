//===- StatisticsTest.cpp - medians, quantiles, inputs -------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Numbers.h"
#include "Statistics.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace tilec;
using namespace tilec::bench;

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(summarize({7}).median, 7);
}

TEST(Statistics, QuantilesLieBetweenNeighbours) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i)
    values.push_back(i);
  Summary summary = summarize(values);
  EXPECT_DOUBLE_EQ(summary.low, 5);
  EXPECT_DOUBLE_EQ(summary.high, 95);
  EXPECT_DOUBLE_EQ(summary.spread(), 90.0 / 50);
  EXPECT_EQ(summary.count, 101u);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 1), 10);
}

TEST(Statistics, NothingMeasured) {
  EXPECT_EQ(summarize({}).count, 0u);
  EXPECT_EQ(summarize({}).spread(), 0);
}

TEST(Numbers, QuantilesOfTheNormalDistribution) {
  // Of printed tables.
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normalQuantile(0.001), -3.090232306167813, 1e-12);
  EXPECT_NEAR(normalQuantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normalQuantile(0.5 / 65536), -4.3257, 1e-3);
}

TEST(Numbers, FloatsAreNormal) {
  Numbers numbers(DType::F32, 7);
  constexpr int n = 200000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0, neighbours = 0;
  for (int i = 0; i < n; ++i) {
    double x = numbers.at(i);
    sum += x, squares += x * x, cubes += x * x * x, fourths += x * x * x * x;
    neighbours += x * numbers.at(i + 1);
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(cubes / n, 0, 0.05);
  EXPECT_NEAR(fourths / n, 3, 0.15);
  EXPECT_NEAR(neighbours / n, 0, 0.01);
}

TEST(Numbers, MemoryHoldsWhatAtSays) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F8E4M3, DType::F32, DType::F64, DType::I8}) {
    Numbers numbers(dtype, 3);
    constexpr int64_t n = 1001;
    std::vector<std::byte> memory(n * dtypeBytes(dtype));
    numbers.fillAll(memory.data(), n);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(elementValue(dtype, &memory[static_cast<size_t>(i) * dtypeBytes(dtype)]), numbers.at(i))
          << dtypeName(dtype) << " " << i;
  }
}

TEST(Numbers, IntegersAreSmallAndReachBothEnds) {
  Numbers numbers(DType::I8, 1);
  double least = 0, greatest = 0;
  for (int i = 0; i < 10000; ++i) {
    least = std::min(least, numbers.at(i));
    greatest = std::max(greatest, numbers.at(i));
    ASSERT_EQ(numbers.at(i), std::floor(numbers.at(i)));
  }
  EXPECT_EQ(least, -8);
  EXPECT_EQ(greatest, 8);
}

TEST(Numbers, SeedsDiffer) {
  Numbers a(DType::F32, 1), b(DType::F32, 2);
  int same = 0;
  for (int i = 0; i < 1000; ++i)
    same += a.at(i) == b.at(i);
  EXPECT_LT(same, 5);
}

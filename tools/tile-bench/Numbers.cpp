//===- Numbers.cpp - the values that inputs have -------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Numbers.h"

#include "tilec/Support/Numerics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <thread>

namespace tilec::bench {

double normalQuantile(double p) {
  if (p > 0.5)
    return -normalQuantile(1 - p);
  // Newton's steps on the distribution function, from a bound of its lower tail.
  double x = -std::sqrt(-2 * std::log(2 * p)) * 0.9;
  for (int step = 0; step < 60; ++step) {
    double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    double next = x - (below - p) / density;
    if (std::abs(next - x) < 1e-14)
      return next;
    x = next;
  }
  return x;
}

/// The 32 768 lower quantiles in the middles of equal shares; the upper ones mirror them.
static const std::vector<double> &lowerQuantiles() {
  static const std::vector<double> table = [] {
    std::vector<double> result(32768);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = normalQuantile((static_cast<double>(i) + 0.5) / 65536);
    return result;
  }();
  return table;
}

Numbers::Numbers(DType dtype, uint64_t seed) : dtype(dtype), seed(seed) {
  if (!isFloat(dtype)) {
    for (int64_t value = -8; value <= 8; ++value) {
      values.push_back(static_cast<double>(value));
      words.push_back(static_cast<uint64_t>(value));
    }
    return;
  }
  const std::vector<double> &lower = lowerQuantiles();
  for (size_t i = 0; i < 65536; ++i) {
    double x = i < 32768 ? lower[i] : -lower[65535 - i];
    words.push_back(numerics::encode(dtype, x));
    values.push_back(numerics::decode(dtype, words.back()));
  }
}

size_t Numbers::choice(int64_t index) const {
  // SplitMix64 of the counter; four elements share a word.
  uint64_t x = seed * 0xd1342543de82ef95 + static_cast<uint64_t>(index / 4) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  size_t bits = (x >> (16 * (index % 4))) & 0xffff;
  return values.size() == 65536 ? bits : bits * values.size() / 65536;
}

void Numbers::fill(std::byte *to, int64_t first, int64_t count) const {
  size_t bytes = dtypeBytes(dtype);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + static_cast<size_t>(i) * bytes, &words[choice(first + i)], bytes);
}

void Numbers::fillAll(std::byte *to, int64_t count) const {
  int64_t parts = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 64);
  int64_t each = count / parts + 1;
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < count; first += each)
    threads.emplace_back([this, to, first, n = std::min(each, count - first)] {
      fill(to + static_cast<size_t>(first) * dtypeBytes(dtype), first, n);
    });
  for (std::thread &thread : threads)
    thread.join();
}

double elementValue(DType dtype, const std::byte *at) {
  uint64_t word = 0;
  std::memcpy(&word, at, dtypeBytes(dtype));
  word = numerics::normalize(dtype, word);
  if (isFloat(dtype))
    return numerics::decode(dtype, word);
  return static_cast<double>(static_cast<int64_t>(word));
}

} // namespace tilec::bench

//===- Reference.cpp - what results must be ------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Reference.h"

#include "tilec/Support/Numerics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <thread>

namespace tilec::bench {

/// About `count` of the numbers below `n`, always the first and the last.
static std::vector<int64_t> spread(int64_t n, int64_t count) {
  std::set<int64_t> chosen = {0, n - 1};
  for (int64_t i = 1; i < count && n > 0; ++i) // steps of the golden ratio reach every part
    chosen.insert(std::min(n - 1, static_cast<int64_t>(
                                      std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0) *
                                      static_cast<double>(n))));
  return {chosen.begin(), chosen.end()};
}

namespace {
class Sampler {
public:
  Sampler(const Problem &problem, std::span<const Numbers> inputs)
      : problem(problem), inputs(inputs), sizes(problem.sizes) {}
  std::vector<Sample> run();

private:
  void elements(int64_t count, double (Sampler::*value)(int64_t));
  void rows();
  void attention();
  double add(int64_t i) { return inputs[0].at(i) + inputs[1].at(i); }
  double transpose(int64_t i) { return inputs[0].at(i % sizes[0] * sizes[1] + i / sizes[0]); }
  double swiglu(int64_t i) { return silu(inputs[0].at(i)) * inputs[1].at(i); }
  double dot(int64_t i, size_t right);
  double product(int64_t i);
  double rowSum(int64_t i);
  double columnSum(int64_t i);
  static double silu(double x) { return x / (1 + std::exp(-x)); }

  const Problem &problem;
  std::span<const Numbers> inputs;
  const Sizes &sizes;
  std::vector<Sample> samples;
};
} // namespace

/// `count` elements one by one, by many threads.
void Sampler::elements(int64_t count, double (Sampler::*value)(int64_t)) {
  for (int64_t index : spread(problem.output().elements(), count))
    samples.push_back({index, 0});
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency(), 1u, 64u); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < samples.size();)
        samples[i].value = (this->*value)(samples[i].index);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Element `i` of the product of the first input and input `right`.
double Sampler::dot(int64_t i, size_t right) {
  int64_t n = sizes[1], k = sizes[2], row = i / n, col = i % n;
  bool isTransposed = problem.subject->work == Work::ProductNT;
  double sum = 0;
  for (int64_t j = 0; j < k; ++j)
    sum += inputs[0].at(row * k + j) * inputs[right].at(isTransposed ? col * k + j : j * n + col);
  return sum;
}

double Sampler::product(int64_t i) {
  double x = dot(i, 1);
  if (problem.subject->work == Work::ProductSwiGlu)
    return silu(x) * dot(i, 2);
  if (problem.subject->work != Work::ProductBiasGelu)
    return x;
  x += inputs[2].at(i % sizes[1]);
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

double Sampler::rowSum(int64_t i) {
  double sum = 0;
  for (int64_t j = 0; j < sizes[1]; ++j)
    sum += inputs[0].at(i * sizes[1] + j);
  return sum;
}

double Sampler::columnSum(int64_t i) {
  double sum = 0;
  for (int64_t j = 0; j < sizes[0]; ++j)
    sum += inputs[0].at(j * sizes[1] + i);
  return sum;
}

/// Whole rows of softmax and the normalizations.
void Sampler::rows() {
  int64_t cols = sizes[1];
  auto count = static_cast<double>(cols);
  std::vector<double> x(static_cast<size_t>(cols));
  for (int64_t row : spread(sizes[0], 24)) {
    for (int64_t j = 0; j < cols; ++j)
      x[static_cast<size_t>(j)] = inputs[0].at(row * cols + j);
    double largest = *std::max_element(x.begin(), x.end());
    double sum = 0, squares = 0, exps = 0;
    for (double v : x) {
      sum += v;
      squares += v * v;
      exps += std::exp(v - largest);
    }
    double mean = sum / count, variance = 0;
    for (double v : x)
      variance += (v - mean) * (v - mean) / count;
    for (int64_t j = 0; j < cols; ++j) {
      double v = x[static_cast<size_t>(j)], result;
      if (problem.subject->work == Work::Softmax)
        result = std::exp(v - largest) / exps;
      else if (problem.subject->work == Work::RmsNorm)
        result = v / std::sqrt(squares / count + problem.scalars[0]) * inputs[1].at(j);
      else
        result = (v - mean) / std::sqrt(variance + problem.scalars[0]) * inputs[1].at(j) + inputs[2].at(j);
      samples.push_back({row * cols + j, result});
    }
  }
}

void Sampler::attention() {
  int64_t length = sizes[2], d = sizes[3];
  bool isCausal = problem.subject->work == Work::CausalAttention;
  for (int64_t query : spread(sizes[0] * sizes[1] * length, 12)) {
    int64_t first = query / length * length; // of this head's keys and values
    int64_t seen = isCausal ? query - first + 1 : length;
    std::vector<double> scores(static_cast<size_t>(seen)), out(static_cast<size_t>(d));
    for (int64_t key = 0; key < seen; ++key) {
      double dot = 0;
      for (int64_t j = 0; j < d; ++j)
        dot += inputs[0].at(query * d + j) * inputs[1].at((first + key) * d + j);
      scores[static_cast<size_t>(key)] = dot * problem.scalars[0];
    }
    double largest = *std::max_element(scores.begin(), scores.end()), total = 0;
    for (int64_t key = 0; key < seen; ++key) {
      double p = std::exp(scores[static_cast<size_t>(key)] - largest);
      total += p;
      for (int64_t j = 0; j < d; ++j)
        out[static_cast<size_t>(j)] += p * inputs[2].at((first + key) * d + j);
    }
    for (int64_t j = 0; j < d; ++j)
      samples.push_back({query * d + j, out[static_cast<size_t>(j)] / total});
  }
}

std::vector<Sample> Sampler::run() {
  switch (problem.subject->work) {
  case Work::Add:
    elements(100000, &Sampler::add);
    break;
  case Work::Transpose:
    elements(100000, &Sampler::transpose);
    break;
  case Work::SwiGlu:
    elements(100000, &Sampler::swiglu);
    break;
  case Work::RowSum:
    elements(64, &Sampler::rowSum);
    break;
  case Work::ColumnSum:
    elements(64, &Sampler::columnSum);
    break;
  case Work::Product:
  case Work::ProductNT:
  case Work::ProductBiasGelu:
  case Work::ProductSwiGlu:
    elements(2000, &Sampler::product);
    break;
  case Work::Softmax:
  case Work::LayerNorm:
  case Work::RmsNorm:
    rows();
    break;
  case Work::Attention:
  case Work::CausalAttention:
    attention();
    break;
  }
  return std::move(samples);
}

std::vector<Sample> makeSamples(const Problem &problem, std::span<const Numbers> inputs) {
  return Sampler(problem, inputs).run();
}

double relativeError(std::span<const Sample> samples, DType dtype, const std::byte *output) {
  double difference = 0, norm = 0;
  for (const Sample &sample : samples) {
    double got = elementValue(dtype, output + static_cast<size_t>(sample.index) * dtypeBytes(dtype));
    difference += (got - sample.value) * (got - sample.value);
    norm += sample.value * sample.value;
  }
  if (norm == 0)
    return difference == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::sqrt(difference / norm);
}

bool hasNaN(DType dtype, const std::byte *output, int64_t elements) {
  if (!isFloat(dtype))
    return false;
  std::atomic<bool> found = false;
  int64_t parts = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 64);
  int64_t each = elements / parts + 1;
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < elements; first += each)
    threads.emplace_back([&, first, end = std::min(first + each, elements)] {
      for (int64_t i = first; i < end && !found; ++i)
        if (std::isnan(elementValue(dtype, output + static_cast<size_t>(i) * dtypeBytes(dtype))))
          found = true;
    });
  for (std::thread &thread : threads)
    thread.join();
  return found;
}

} // namespace tilec::bench

//===- AttentionBackwardTest.cpp - the gradient of attention -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The kernels of attention_backward.tile, each alone: what a kernel before it would have
// given comes from the reference in double. The gradients are those of the formulas, not
// differences, so that tolerances are those of the kernels' arithmetic.
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Attention {
  int64_t heads, m, n;
  int d, bm, bn;
  bool causal;
};
constexpr Attention attentions[] = {
    {2, 64, 64, 64, 64, 64, false},
    {1, 50, 75, 16, 16, 32, false},
    {1, 70, 70, 64, 64, 64, true},
    {1, 33, 90, 16, 32, 16, true},
};
/// For the code of warp groups with roles, two blocks of queries and of keys.
constexpr Attention large[] = {{1, 80, 130, 64, 64, 128, false}, {1, 66, 130, 64, 64, 128, true}};

/// What backward kernels take and give, in double; arrays are [1, heads, rows, d].
struct Gradients {
  Gradients(const Attention &p, DType dtype) : p(p) {
    for (int64_t rows : {p.m, p.n, p.n, p.m}) // q, k, v, dO
      inputs.push_back(HostArray::random(dtype, {1, p.heads, rows, p.d}, uint32_t(60 + inputs.size())));
    for (std::vector<double> *list : {&o, &dq})
      list->resize(size_t(p.heads * p.m * p.d));
    for (std::vector<double> *list : {&dk, &dv})
      list->resize(size_t(p.heads * p.n * p.d));
    for (int64_t row = 0; row < p.heads * p.m; ++row)
      addRow(row / p.m, row % p.m);
  }

  double in(int which, int64_t head, int64_t row, int64_t c) const {
    return inputs[size_t(which)].at(size_t((head * inputs[size_t(which)].dims[2] + row) * p.d + c));
  }
  double dot(int x, int64_t i, int y, int64_t j, int64_t head) const {
    double sum = 0;
    for (int64_t c = 0; c < p.d; ++c)
      sum += in(x, head, i, c) * in(y, head, j, c);
    return sum;
  }

  void addRow(int64_t head, int64_t i) {
    int64_t seen = p.causal ? i + 1 + p.n - p.m : p.n;
    std::vector<double> weights;
    double total = 0, sum = 0;
    for (int64_t j = 0; j < seen; ++j)
      total += weights.emplace_back(std::exp(dot(0, i, 1, j, head) * scale));
    for (int64_t j = 0; j < seen; ++j)
      sum += (weights[size_t(j)] /= total) * dot(3, i, 2, j, head);
    lse.push_back(std::log2(total));
    delta.push_back(sum); // the same as the sum of O * dO
    for (int64_t j = 0; j < seen; ++j) {
      double weight = weights[size_t(j)], ds = weight * (dot(3, i, 2, j, head) - sum) * scale;
      for (int64_t c = 0; c < p.d; ++c) {
        o[size_t((head * p.m + i) * p.d + c)] += weight * in(2, head, j, c);
        dv[size_t((head * p.n + j) * p.d + c)] += weight * in(3, head, i, c);
        dq[size_t((head * p.m + i) * p.d + c)] += ds * in(1, head, j, c);
        dk[size_t((head * p.n + j) * p.d + c)] += ds * in(0, head, i, c);
      }
    }
  }

  const Attention &p;
  double scale = float(1 / std::sqrt(double(p.d)));
  std::vector<HostArray> inputs;
  std::vector<double> o, lse, delta, dq, dk, dv;
};

struct Target {
  DType dtype;
  const char *chip;
};

class AttentionBackward : public ::testing::TestWithParam<std::tuple<int, Target>> {
protected:
  virtual const Attention &shape() const { return attentions[std::get<0>(GetParam())]; }
  DType dtype() const { return std::get<1>(GetParam()).dtype; }
  Case caseOf(const char *kernel, const Gradients &g, std::vector<int> inputs) const {
    const Attention &p = shape();
    Case test{"attention_backward", kernel, {define("T", dtype()), define("D", p.d), define("BM", p.bm)}, {}, {}, false, {},
              4 * epsilon(dtype()) + 64 * 0x1p-23};
    test.chip = std::get<1>(GetParam()).chip;
    for (int input : inputs)
      test.arrays.push_back(g.inputs[size_t(input)]);
    return test;
  }
  void addTiles(Case &test, double scale) const {
    test.defines.push_back(define("BN", shape().bn));
    test.defines.push_back(std::string("CAUSAL=") + (shape().causal ? "true" : "false"));
    test.scalars = {ScalarArg::f32(float(scale))};
  }
  /// Of a kernel that makes gradients: what it takes.
  Case gradientCase(const char *kernel, const Gradients &g) const {
    Case test = caseOf(kernel, g, {0, 1, 2, 3});
    addTiles(test, g.scale);
    test.arrays.push_back(rows(g.lse));
    test.arrays.push_back(rows(g.delta));
    return test;
  }
  /// Of a kernel that sums o and its gradient.
  Case deltaCase(const char *kernel, const Gradients &g) const {
    Case test = caseOf(kernel, g, {});
    HostArray o(dtype(), {1, shape().heads, shape().m, shape().d});
    for (size_t i = 0; i < g.o.size(); ++i)
      o.set(i, g.o[i]);
    test.arrays = {o, g.inputs[3]};
    addOutput(test, DType::F32, {1, shape().heads, shape().m}, g.delta);
    return test;
  }
  /// All gradients by one kernel; blocks of keys add to dQ in any order.
  void checkGradients(bool allWarps) const {
    const Attention &p = shape();
    Gradients g(p, dtype());
    Case test = gradientCase("attention_gradients", g);
    for (double dq : g.dq)
      test.expected.push_back(dq / g.scale);
    test.arrays.push_back(HostArray(DType::F32, {1, p.heads, p.m, p.d}));
    addOutput(test, dtype(), {1, p.heads, p.n, p.d}, g.dk);
    addOutput(test, dtype(), {1, p.heads, p.n, p.d}, g.dv);
    test.outputs = 3;
    test.repeats = p.n <= p.bn;
    check(test, allWarps);
  }
  HostArray rows(const std::vector<double> &values) const {
    HostArray array(DType::F32, {1, shape().heads, shape().m});
    for (size_t i = 0; i < values.size(); ++i)
      array.set(i, values[i]);
    return array;
  }
  static void addOutput(Case &test, DType dtype, std::vector<int64_t> dims, const std::vector<double> &values) {
    test.arrays.push_back(HostArray::poisoned(dtype, std::move(dims)));
    test.expected.insert(test.expected.end(), values.begin(), values.end());
  }
};

TEST_P(AttentionBackward, Forward) {
  const Attention &p = shape();
  Gradients g(p, dtype());
  Case test = caseOf("attention_forward", g, {0, 1, 2});
  addTiles(test, g.scale);
  addOutput(test, dtype(), {1, p.heads, p.m, p.d}, g.o);
  addOutput(test, DType::F32, {1, p.heads, p.m}, g.lse);
  test.outputs = 2;
  check(test, /*allWarps=*/false);
}

TEST_P(AttentionBackward, Delta) {
  Gradients g(shape(), dtype());
  Case test = deltaCase("attention_delta", g);
  check(test, /*allWarps=*/false);
}

TEST_P(AttentionBackward, Queries) {
  const Attention &p = shape();
  Gradients g(p, dtype());
  Case test = gradientCase("attention_dq", g);
  addOutput(test, dtype(), {1, p.heads, p.m, p.d}, g.dq);
  check(test, /*allWarps=*/false);
}

TEST_P(AttentionBackward, KeysAndValues) {
  const Attention &p = shape();
  Gradients g(p, dtype());
  Case test = gradientCase("attention_dkdv", g);
  addOutput(test, dtype(), {1, p.heads, p.n, p.d}, g.dk);
  addOutput(test, dtype(), {1, p.heads, p.n, p.d}, g.dv);
  test.outputs = 2;
  check(test, /*allWarps=*/false);
}

TEST_P(AttentionBackward, Prepare) {
  const Attention &p = shape();
  Gradients g(p, dtype());
  Case test = deltaCase("attention_prepare", g);
  addOutput(test, DType::F32, {1, p.heads, p.m, p.d}, std::vector<double>(g.dq.size(), 0.0));
  test.outputs = 2;
  check(test, /*allWarps=*/false);
}

TEST_P(AttentionBackward, Gradients) { checkGradients(/*allWarps=*/shape().d == 16); }

TEST_P(AttentionBackward, Finish) {
  const Attention &p = shape();
  Gradients g(p, dtype());
  Case test = caseOf("attention_finish", g, {});
  HostArray parts(DType::F32, {1, p.heads, p.m, p.d});
  for (size_t i = 0; i < g.dq.size(); ++i)
    parts.set(i, g.dq[i] / g.scale);
  test.arrays = {parts};
  addOutput(test, dtype(), {1, p.heads, p.m, p.d}, g.dq);
  test.scalars = {ScalarArg::f32(float(g.scale))};
  check(test, /*allWarps=*/false);
}

class LargeAttentionBackward : public AttentionBackward {
  const Attention &shape() const override { return large[std::get<0>(GetParam())]; }
};

TEST_P(LargeAttentionBackward, Gradients) { checkGradients(/*allWarps=*/false); }

INSTANTIATE_TEST_SUITE_P(Sizes, LargeAttentionBackward,
                         ::testing::Combine(::testing::Range(0, int(std::size(large))),
                                            ::testing::Values(Target{DType::BF16, "sm_90a"})));

INSTANTIATE_TEST_SUITE_P(Sizes, AttentionBackward,
                         ::testing::Combine(::testing::Range(0, int(std::size(attentions))),
                                            ::testing::Values(Target{DType::F32, "sm_80"}, Target{DType::BF16, "sm_80"},
                                                              Target{DType::BF16, "sm_90a"})));

} // namespace

//===- ProductCase.h - products that several blocks share ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the text of a kernel and what runs it once. Out: every executor runs it twice, as on
// a device of 132 multiprocessors, with the same bits; and a comparison of c = a @ b + bias
// with the sum in double.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_PRODUCTCASE_H
#define TILEC_TEST_PRODUCTCASE_H

#include "ExampleCase.h"

namespace tilec::test {

/// Says where c[m, n] first differs from a[m, k] @ b[k, n], plus bias[n] where there is one, by
/// more than `tolerance` of the sizes of all terms.
inline void compareProduct(const HostArray &a, const HostArray &b, const HostArray *bias,
                           const HostArray &c, std::array<int64_t, 3> sizes, double tolerance) {
  auto [m, n, k] = sizes;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double want = bias ? bias->at(size_t(j)) : 0, size = 1;
      for (int64_t step = 0; step < k; ++step) {
        double term = a.at(size_t(i * k + step)) * b.at(size_t(step * n + j));
        want += term;
        size += std::fabs(term);
      }
      double got = c.at(size_t(i * n + j));
      if (!(std::fabs(got - want) <= tolerance * size)) {
        ADD_FAILURE() << "row " << i << ", column " << j << ": " << got << ", expected " << want;
        return;
      }
    }
}

/// `run(runner, executor)` runs the kernel of `text` once and gives the bytes of its result. Code
/// is for `chip`, or for the GPU's own where that is needed to run it.
template <typename Run>
void runTwice(const std::string &text, Run run, const char *chip = "sm_90a") {
  for (Executor executor : availableExecutors()) {
    SCOPED_TRACE(executorName(executor));
    CompileOptions options;
    KernelRunner runner(KernelRunner::Text{"product.tile", text}, options);
    runner.setEmulatedChip(chip);
    if (!std::string_view(chip).ends_with("a"))
      runner.setGPUChip(chip);
    runner.setNumSMs(132);
    std::vector<uint8_t> first = run(runner, executor);
    if (executor != Executor::Interpreter)
      EXPECT_EQ(run(runner, executor), first) << "two runs differ";
  }
}

} // namespace tilec::test

#endif // TILEC_TEST_PRODUCTCASE_H

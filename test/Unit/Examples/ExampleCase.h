//===- ExampleCase.h - one example against a reference ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of test/Examples, arrays, what must come out. `check` runs it on every
// executor with every number of warps, with poisoned outputs and twice: the result is
// the expected one within a tolerance, and both launches give the same bits.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_EXAMPLECASE_H
#define TILEC_TEST_EXAMPLECASE_H

#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>

namespace tilec::test {

inline std::string example(const char *name) { return sourceFolder("test/Examples/") + name + ".tile"; }

/// One unit in the last place of `dtype` for values near 1.
inline double epsilon(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  case DType::F64:
    return 0x1p-52;
  default:
    return 0x1p-23;
  }
}

/// One case: how to compile, what to pass, what must come out.
struct Case {
  const char *file, *kernel;
  std::vector<std::string> defines;
  std::vector<HostArray> arrays;     // the last one is the output, or the last `outputs`
  std::vector<KernelArg> scalars;    // after the arrays, unless scalarsFirst
  bool scalarsFirst = false;
  std::vector<double> expected;
  double tolerance = 0;              // |got - want| <= tolerance * (1 + |want|)
  const char *chip = "sm_80";        // of the code that SIMT execution runs
  size_t outputs = 1;                // `expected` has their elements one after the other
  bool repeats = true;               // two launches give the same bits
  double unitTolerance = 0;          // where the GPU's units sum with fewer bits than SIMT execution

  double toleranceOn(Executor executor) const {
    return executor == Executor::GPU ? std::max(tolerance, unitTolerance) : tolerance;
  }
};

/// Says where `output` is not what `want` begins with, at most four times.
inline void compare(const HostArray &output, const double *want, double tolerance) {
  int reported = 0;
  for (size_t i = 0; i < output.size() && reported < 4; ++i) {
    double got = output.at(i);
    if (!(std::fabs(got - want[i]) <= tolerance * (1 + std::fabs(want[i]))) && got != want[i]) {
      ADD_FAILURE() << "element " << i << " is " << got << ", expected " << want[i];
      ++reported;
    }
  }
}

/// Runs `test` once and gives the bytes of its outputs; none after a failure.
inline std::vector<uint8_t> runOnce(const Case &test, KernelRunner &runner, Executor executor) {
  std::vector<HostArray> arrays = test.arrays;
  std::vector<KernelArg> args;
  for (HostArray &array : arrays)
    args.push_back(array.arg());
  args.insert(test.scalarsFirst ? args.begin() : args.end(), test.scalars.begin(), test.scalars.end());
  std::string error = runner.run(executor, args);
  EXPECT_EQ(error, "");
  if (!error.empty())
    return {};
  std::vector<uint8_t> bytes;
  size_t done = 0;
  for (size_t i = arrays.size() - test.outputs; i < arrays.size(); ++i) {
    SCOPED_TRACE("argument " + std::to_string(i));
    compare(arrays[i], test.expected.data() + done, test.toleranceOn(executor));
    done += arrays[i].size();
    bytes.insert(bytes.end(), arrays[i].bytes.begin(), arrays[i].bytes.end());
  }
  EXPECT_EQ(done, test.expected.size());
  return bytes;
}

/// On every executor, with every number of warps where that matters.
inline void check(const Case &test, bool allWarps = true) {
  for (Executor executor : availableExecutors()) {
    if (executor == Executor::GPU && !gpuRunsExamplesOf(test.chip))
      continue;
    for (unsigned warps : {0u, 1u, 2u, 4u, 8u}) {
      if (warps && (executor == Executor::Interpreter || !allWarps))
        continue;
      SCOPED_TRACE(std::string(executorName(executor)) + ", warps " + std::to_string(warps));
      KernelRunner runner(example(test.file), test.kernel, test.defines, warps);
      runner.setEmulatedChip(test.chip);
      std::vector<uint8_t> first = runOnce(test, runner, executor);
      if (::testing::Test::HasFailure())
        return;
      std::vector<uint8_t> second = runOnce(test, runner, executor);
      if (test.repeats)
        EXPECT_EQ(first, second) << "two launches differ";
    }
  }
}

/// Whether a tile of so many rows has code of its own for products of warp groups: f32, which no
/// unit multiplies, has that of the smaller ones.
inline bool isCovered(DType dtype, int64_t rows) { return dtype != DType::F32 || rows != 64; }

inline std::string define(const char *name, DType dtype) { return std::string(name) + "=" + std::string(dtypeName(dtype)); }
inline std::string define(const char *name, int64_t v) { return std::string(name) + "=" + std::to_string(v); }

inline int64_t powerOfTwoAbove(int64_t n) {
  int64_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

/// The words of Philox4x32-10.
inline std::array<uint32_t, 4> philox(uint64_t seed, uint64_t offset) {
  std::array<uint32_t, 4> c = {uint32_t(offset), uint32_t(offset >> 32), 0, 0};
  auto k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

} // namespace tilec::test

#endif // TILEC_TEST_EXAMPLECASE_H

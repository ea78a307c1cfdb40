//===- KernelRunner.h - compiled code against the interpreter --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of stage `tile` as text, and host arrays. The kernel is run by the
// interpreter, then compiled down to its final LLVM module, once for each number of
// warps and each build, and run thread by thread; outputs must be equal byte for byte
// and the run free of findings.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_LOWERING_KERNELRUNNER_H
#define TILEC_TEST_LOWERING_KERNELRUNNER_H

#include "tilec/Support/KernelArg.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tilec {

/// A host array that a kernel gets; every run starts from the same contents.
struct HostArray {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;

  template <typename T>
  static HostArray of(DType dtype, std::vector<int64_t> dims, const std::vector<T> &values) {
    HostArray array{dtype, std::move(dims), std::vector<uint8_t>(values.size() * sizeof(T))};
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  /// An output: every byte poisoned.
  static HostArray output(DType dtype, std::vector<int64_t> dims) {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    return {dtype, std::move(dims), std::vector<uint8_t>(size_t(count) * dtypeBytes(dtype), 0xa5)};
  }
};

/// Whole numbers from -3 to 3: products and short sums of them are exact in every type.
HostArray wholeNumbers(DType dtype, std::vector<int64_t> dims, uint32_t seed);

struct RunOptions {
  std::vector<unsigned> warps = {1, 2, 4, 8};
  std::array<int64_t, 3> grid = {1, 1, 1};
  /// The chip whose instructions products and conversions may take.
  std::string chip = "sm_80";
  /// Places of rings; 0: as many as there is room for.
  int numStages = 0;
  /// Largest allowed difference of f32 outputs, relative to the largest output;
  /// 0: equal bytes.
  double tolerance = 0;
  bool onlyAligned = false; ///< leave the general build out
  std::vector<ScalarArg> scalars; ///< parameters after the arrays
  /// Called once tiles have layouts; conversions are then lowered as they stand.
  std::function<void(mlir::ModuleOp)> afterLayouts;
};

/// Runs `text`'s first kernel every way; the outputs of the interpreter are left in
/// `arrays`. Gives "" or what went wrong.
std::string checkKernel(const std::string &text, std::vector<HostArray> &arrays,
                        const RunOptions &options = {});

/// Runs the interpreter on `text`'s first kernel after constants have been folded; an
/// error when a conversion is left.
std::string interpretFolded(const std::string &text, std::vector<HostArray> &arrays);

} // namespace tilec

#endif // TILEC_TEST_LOWERING_KERNELRUNNER_H

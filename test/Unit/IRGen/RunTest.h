//===- RunTest.h - run generated IR in the interpreter ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs one kernel of a source text on arrays of ints and gives them back.

#ifndef TILEC_TEST_UNIT_IRGEN_RUNTEST_H
#define TILEC_TEST_UNIT_IRGEN_RUNTEST_H

#include "IRGenTest.h"

#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Tile/TileOps.h"

#include <vector>

namespace tilec::test {

/// Runs the only kernel of `source`: it takes `y: mut array<T, [n]>` and then
/// scalars. Returns `y` afterwards.
template <typename T>
std::vector<T> runOn(llvm::StringRef source, DType dtype, std::vector<T> y,
                     std::vector<ScalarArg> scalars = {}, int64_t blocks = 1) {
  Generated generated(source);
  if (!generated.module)
    return {};
  std::vector<KernelArg> args{
      ArrayArg::rowMajor(y.data(), dtype, {static_cast<int64_t>(y.size())})};
  args.insert(args.end(), scalars.begin(), scalars.end());
  auto kernel = *generated.module->getOps<tile::KernelOp>().begin();
  llvm::Error error = interpretKernel(kernel, args, {blocks, 1, 1});
  EXPECT_FALSE(error) << llvm::toString(std::move(error)) << generated.text();
  return y;
}

inline std::vector<int32_t> runInts(llvm::StringRef source, std::vector<int32_t> y,
                                    std::vector<int64_t> scalars = {}) {
  std::vector<ScalarArg> args;
  for (int64_t scalar : scalars)
    args.push_back(ScalarArg::integer(DType::Int, scalar));
  return runOn<int32_t>(source, DType::I32, std::move(y), args);
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_IRGEN_RUNTEST_H

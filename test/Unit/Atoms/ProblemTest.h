//===- ProblemTest.h - products to ask atoms about --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_ATOMS_PROBLEMTEST_H
#define TILEC_TEST_UNIT_ATOMS_PROBLEMTEST_H

#include "tilec/Atoms/Atom.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace tilec::test {

/// `features`: those of the chip that the problems are for.
class ProblemTest : public testing::Test {
protected:
  explicit ProblemTest(decltype(MmaProblem::features) features) : features(features) {}

  MmaProblem problem(int64_t m, int64_t n, int64_t k, unsigned warps, mlir::Type type,
                     mlir::Type acc) {
    MmaProblem p;
    p.aShape = {m, k};
    p.bShape = {k, n};
    p.accShape = {m, n};
    p.aType = p.bType = type;
    p.accType = acc;
    p.numWarps = warps;
    p.features = features;
    return p;
  }
  MmaProblem bf16Problem(int64_t m, int64_t n, int64_t k, unsigned warps) {
    return problem(m, n, k, warps, b.getBF16Type(), b.getF32Type());
  }

  mlir::MLIRContext context;
  mlir::Builder b{&context};

private:
  decltype(MmaProblem::features) features;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_ATOMS_PROBLEMTEST_H

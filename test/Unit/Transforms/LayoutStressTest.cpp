//===- LayoutStressTest.cpp - every program gets layouts --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random legal programs of all ranks, from one element to 2^20, on 1 to 8 warps, with
// loops and branches that carry tiles: layouts are assigned, the stage's contract holds
// before and after conversions are removed, and the verifiers agree.
//===----------------------------------------------------------------------===//
#include "RandomProgram.h"

#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// Runs passes; prints the program if they fail.
testing::AssertionResult runPasses(ModuleOp module, bool remove) {
  PassManager passes(module.getContext());
  OpPassManager &kernel = passes.nest<KernelOp>();
  if (!remove) {
    kernel.addPass(createSelectAtoms());
    kernel.addPass(createAssignLayouts());
  } else {
    kernel.addPass(createRemoveLayoutConversions());
  }
  kernel.addPass(createVerifyStage());
  if (succeeded(passes.run(module)))
    return testing::AssertionSuccess();
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return testing::AssertionFailure() << text;
}

unsigned countConversions(ModuleOp module) {
  unsigned count = 0;
  module.walk([&](ConvertLayoutOp) { ++count; });
  return count;
}

TEST(LayoutStressTest, RandomProgramsGetLayouts) {
  DialectRegistry registry;
  registry.insert<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  unsigned before = 0, after = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomProgram::Options options;
    options.maxBits = seed % 4 ? 11 : 20;
    OwningOpRef<ModuleOp> module = test::RandomProgram(&context, seed, options).make();
    ASSERT_TRUE(succeeded(verify(*module)));
    ASSERT_TRUE(runPasses(*module, /*remove=*/false));
    before += countConversions(*module);
    ASSERT_TRUE(runPasses(*module, /*remove=*/true));
    after += countConversions(*module);
  }
  EXPECT_GT(before, 100u);
  EXPECT_LT(after, before);
}

} // namespace

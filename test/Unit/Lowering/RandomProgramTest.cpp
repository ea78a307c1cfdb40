//===- RandomProgramTest.cpp - random kernels, run and compared -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random kernels of integers: whatever layouts they get and however tiles are moved
// between them, the threads together must compute what the interpreter does.
//===----------------------------------------------------------------------===//
#include "../Transforms/RandomProgram.h"
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilec;

namespace {

/// One array of each rank, of odd sizes.
std::vector<HostArray> makeArrays(std::mt19937 &random) {
  std::vector<HostArray> arrays;
  for (unsigned rank = 1; rank <= tile::maxRank; ++rank) {
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (unsigned dim = 0; dim < rank; ++dim) {
      dims.push_back(1 + int64_t(random() % (rank == 1 ? 700 : rank == 2 ? 40 : rank == 3 ? 12 : 5)));
      if (dim + 1 == rank && random() % 2)
        dims.back() = (dims.back() + 3) / 4 * 4;
      count *= dims.back();
    }
    std::vector<int32_t> values(count);
    for (int32_t &value : values)
      value = int32_t(random());
    arrays.push_back(HostArray::of(DType::I32, dims, values));
  }
  return arrays;
}

TEST(RandomProgramTest, ComputesWhatTheInterpreterDoes) {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  test::RandomProgram::Options program;
  program.isInteger = true;
  program.maxBits = 9;
  program.hasEverything = false;
  const char *seeds = std::getenv("TILEC_RANDOM_SEEDS");
  unsigned numSeeds = seeds ? unsigned(std::atoi(seeds)) : 20;
  for (unsigned seed = 0; seed < numSeeds; ++seed) {
    OwningOpRef<ModuleOp> module = test::RandomProgram(&context, seed, program).make();
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    std::mt19937 random(seed);
    std::vector<HostArray> arrays = makeArrays(random);
    RunOptions options;
    options.warps = {1u << random() % 4};
    options.scalars = {{DType::Int, random() % 2}, {DType::Bool, random() % 2}, {DType::I32, 7}};
    EXPECT_EQ(checkKernel(text, arrays, options), "") << "seed " << seed << "\n" << text;
  }
}

} // namespace

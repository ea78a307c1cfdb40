//===- RandomProgramTest.cpp - random kernels, run and compared -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random kernels of integers: whatever layouts they get and however tiles are moved
// between them, the threads together must compute what the interpreter does.
//===----------------------------------------------------------------------===//
#include "../Layout/RandomLayout.h"
#include "../Transforms/RandomProgram.h"
#include "KernelRunner.h"

#include "tilec/Tile/TileLayout.h"

#include "gtest/gtest.h"
#include <cstdlib>

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
      dims.push_back(1 + int64_t(random() % (rank == 1 ? 700 : rank == 2 ? 40 : rank == 3 ? 16 : 7)));
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

/// Takes every third operand of the kernel to a random layout and back.
void scramble(ModuleOp module, test::Random &random) {
  SmallVector<OpOperand *> operands;
  module.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (tile::hasLayout(operand.get().getType()) && random.below(3) == 0)
        operands.push_back(&operand);
  });
  for (OpOperand *operand : operands) {
    OpBuilder builder(operand->getOwner());
    Location loc = operand->getOwner()->getLoc();
    auto type = cast<RankedTensorType>(operand->get().getType());
    unsigned warpBits = tile::getLayout(type).numBits(Input::Warp);
    Layout layout = random.layout(type.getShape(), 5, warpBits);
    Value there = tile::ConvertLayoutOp::create(builder, loc, tile::withLayout(type, layout),
                                                operand->get());
    operand->set(tile::ConvertLayoutOp::create(builder, loc, type, there));
  }
}

class RandomProgramTest : public testing::Test {
protected:
  RandomProgramTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
    return registry;
  }

  /// `TILEC_RANDOM_SEEDS` in the environment asks for more.
  static unsigned numSeeds() {
    const char *seeds = std::getenv("TILEC_RANDOM_SEEDS");
    return seeds ? unsigned(std::atoi(seeds)) : 8;
  }

  void check(unsigned seed, bool scrambles) {
    test::RandomProgram::Options program;
    program.isInteger = true;
    program.maxBits = 9;
    program.hasEverything = false;
    OwningOpRef<ModuleOp> module = test::RandomProgram(&context, seed, program).make();
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    std::mt19937 random(seed);
    std::vector<HostArray> arrays = makeArrays(random);
    RunOptions options;
    options.warps = {1u << random() % 4};
    options.scalars = {{DType::Int, random() % 2}, {DType::Bool, random() % 2}, {DType::I32, 7}};
    test::Random layouts(seed);
    if (scrambles)
      options.afterLayouts = [&](ModuleOp module) { scramble(module, layouts); };
    EXPECT_EQ(checkKernel(text, arrays, options), "") << "seed " << seed << "\n" << text;
  }

  MLIRContext context;
};

TEST_F(RandomProgramTest, ComputesWhatTheInterpreterDoes) {
  for (unsigned seed = 0; seed < numSeeds(); ++seed)
    check(seed, /*scrambles=*/false);
}

TEST_F(RandomProgramTest, ConversionsMoveNoValue) {
  for (unsigned seed = 0; seed < numSeeds(); ++seed)
    check(seed, /*scrambles=*/true);
}

} // namespace

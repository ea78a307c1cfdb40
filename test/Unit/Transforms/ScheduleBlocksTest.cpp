//===- ScheduleBlocksTest.cpp - every position, and evenly ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The order in which resident blocks go through a grid is arithmetic on scalars, and so is the
// position that a block takes which is one of many. Here it is evaluated, operation by operation,
// for grids and numbers of blocks of many sizes: each position comes once, and no block has much
// more to do than the others; neighbours read little.
//===----------------------------------------------------------------------===//
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <set>

using namespace mlir;
using namespace tilec;

namespace {

/// Keys that end with the position along axis 0, or begin with it, or are the same for all.
constexpr const char *program = R"(
#rows = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
tile.kernel @ends(%a: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %h = tile.block_id 2 : index
  %row = arith.addi %l, %h : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.addi %m, %c1 : index
  scf.for %k = FROM to TO step %c1 {
    %x = tile.load %a[%row, %k] {tile.copy = "tma"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #rows>
  }
  "test.position"(%m, %l, %h) : (index, index, index) -> ()
  tile.return
}
)";

/// A product of a row of one array and a column of another, with keys that end with the position.
constexpr const char *products = R"(
#acc = #tile.layout<[64, 64] register [(0, 1), (0, 2), (16, 0), (32, 0), (0, 4)] lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)] warp [(4, 0), (8, 0)]>
tile.kernel @product(%a: !tile.array<?x?xbf16>, %b: !tile.array<?x?xbf16>, %n: index) attributes {num_warps = 4 : i32} {
  %m = tile.block_id 0 : index
  %l = tile.block_id 1 : index
  %h = tile.block_id 2 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.addi %m, %c1 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to TO step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #acc>) {
    %x = tile.load %a[%m, %k] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %y = tile.load %b[%k, %l] {tile.copy = "cp_async"} : !tile.array<?x?xbf16> -> tensor<64x64xbf16, #acc>
    %p = tile.mma %x, %y, %s : tensor<64x64xbf16, #acc>, tensor<64x64xbf16, #acc>, tensor<64x64xf32, #acc>
    scf.yield %p : tensor<64x64xf32, #acc>
  }
  "test.position"(%m, %l, %h) : (index, index, index) -> ()
  tile.return
}
)";

using Position = std::array<int64_t, 3>;

/// Runs scalar operations on numbers.
class Evaluator {
public:
  Evaluator(Position grid, int64_t numBlocks) : grid(grid), numBlocks(numBlocks) {}

  llvm::DenseMap<Value, int64_t> values;
  Position position = {-1, -1, -1};
  Position block = {0, 0, 0}; ///< whose code runs, of a block for each position

  void run(Block &code) {
    for (Operation &op : code)
      run(&op);
  }

  void run(Operation *op) {
    if (auto count = dyn_cast<tile::NumBlocksOp>(op)) {
      values[count] = grid[count.getDim()];
    } else if (auto id = dyn_cast<tile::BlockIdOp>(op)) {
      values[id] = block[id.getDim()];
    } else if (isa<tgpu::NumResidentBlocksOp>(op)) {
      values[op->getResult(0)] = numBlocks;
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Block *taken = of(branch.getCondition()) ? branch.thenBlock() : branch.elseBlock();
      run(*taken);
      for (auto [result, value] :
           llvm::zip(branch.getResults(), taken->getTerminator()->getOperands()))
        values[result] = of(value);
    } else if (op->getName().getStringRef() == "test.position") {
      for (unsigned axis = 0; axis < 3; ++axis)
        position[axis] = of(op->getOperand(axis));
    } else if (isa<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op)) {
      compute(op);
    }
  }

private:
  int64_t of(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    return values.at(value);
  }

  void compute(Operation *op) {
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      values[op->getResult(0)] = of(op->getOperand(0));
      return;
    }
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      values[select] = of(of(select.getCondition()) ? select.getTrueValue() : select.getFalseValue());
      return;
    }
    int64_t a = of(op->getOperand(0)), b = of(op->getOperand(1));
    if (isa<arith::DivUIOp, arith::RemUIOp>(op))
      ASSERT_NE(b, 0) << "in the order of a grid";
    values[op->getResult(0)] =
        llvm::TypeSwitch<Operation *, int64_t>(op)
            .Case([&](arith::AddIOp) { return a + b; })
            .Case([&](arith::SubIOp) { return a - b; })
            .Case([&](arith::MulIOp) { return a * b; })
            .Case([&](arith::DivUIOp) { return a / b; })
            .Case([&](arith::RemUIOp) { return a % b; })
            .Case([&](arith::MinUIOp) { return std::min(a, b); })
            .Case([&](arith::MaxUIOp) { return std::max(a, b); })
            .Case([&](arith::CmpIOp compare) {
              return int64_t(arith::applyCmpPredicate(compare.getPredicate(), APInt(64, a), APInt(64, b)));
            });
  }

  Position grid;
  int64_t numBlocks;
};

/// The most work of a block of `numBlocks` over the average, where a position takes as long
/// as `work` says; 0 where one is missing, comes twice or does not exist.
double mostOverAverage(tile::KernelOp kernel, Position grid, int64_t numBlocks,
                       llvm::function_ref<int64_t(int64_t)> work) {
  Block &body = kernel.getBody().front();
  auto loop = *body.getOps<scf::ForOp>().begin();
  int64_t total = grid[0] * grid[1] * grid[2], all = 0, most = 0;
  std::set<Position> seen;
  for (int64_t block = 0; block < numBlocks; ++block) {
    int64_t own = 0;
    for (int64_t number = block; number < total; number += numBlocks) {
      Evaluator evaluator(grid, numBlocks);
      for (Operation &op : body)
        if (op.getNumRegions() == 0)
          evaluator.run(&op);
      evaluator.values[loop.getInductionVar()] = number;
      evaluator.run(*loop.getBody());
      Position at = evaluator.position;
      for (unsigned axis = 0; axis < 3; ++axis)
        if (at[axis] < 0 || at[axis] >= grid[axis])
          return 0;
      if (!seen.insert(at).second)
        return 0;
      own += work(at[0]);
    }
    all += own;
    most = std::max(most, own);
  }
  return int64_t(seen.size()) == total ? double(most) * double(numBlocks) / double(all) : 0;
}

/// `text` with the loop's bounds, scheduled for `chip`.
OwningOpRef<ModuleOp> schedule(MLIRContext &context, std::string text, std::string from, std::string to,
                               std::string chip = "") {
  if (size_t at = text.find("FROM"); at != std::string::npos)
    text.replace(at, 4, from);
  text.replace(text.find("TO"), 2, to);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return {};
  PassManager passes(&context);
  ScheduleBlocksOptions options;
  options.chip = chip;
  passes.addNestedPass<tile::KernelOp>(createScheduleBlocks(options));
  return succeeded(passes.run(*module)) ? std::move(module) : nullptr;
}

/// The positions of the blocks of `grid`, in the order of their numbers.
std::vector<Position> positionsOf(tile::KernelOp kernel, Position grid) {
  std::vector<Position> positions;
  for (int64_t z = 0; z < grid[2]; ++z)
    for (int64_t y = 0; y < grid[1]; ++y)
      for (int64_t x = 0; x < grid[0]; ++x) {
        Evaluator evaluator(grid, 0);
        evaluator.block = {x, y, z};
        for (Operation &op : kernel.getBody().front())
          if (op.getNumRegions() == 0)
            evaluator.run(&op);
        positions.push_back(evaluator.position);
      }
  return positions;
}

/// Each position of `grid` is one block's.
bool areAll(ArrayRef<Position> positions, Position grid) {
  std::set<Position> seen;
  for (Position at : positions)
    for (unsigned axis = 0; axis < 3; ++axis)
      if (at[axis] < 0 || at[axis] >= grid[axis])
        return false;
  seen.insert(positions.begin(), positions.end());
  return int64_t(seen.size()) == grid[0] * grid[1] * grid[2];
}

constexpr Position smallGrids[] = {{1, 1, 1}, {1, 5, 3}, {2, 3, 1}, {5, 4, 2}, {7, 3, 5},
                                   {8, 6, 2}, {9, 1, 1}, {9, 5, 2}, {16, 1, 1}, {19, 3, 2}};

class ScheduleBlocksTest : public testing::Test {
protected:
  ScheduleBlocksTest() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
  }

  static DialectRegistry registry() {
    DialectRegistry registry;
    registry.insert<tile::TileDialect, tgpu::TileGPUDialect, arith::ArithDialect, scf::SCFDialect>();
    return registry;
  }

  /// No block of many has `limit` times the average to do.
  void expectAll(std::string from, std::string to, double limit,
                 llvm::function_ref<int64_t(int64_t, int64_t)> work) {
    OwningOpRef<ModuleOp> module = schedule(context, program, from, to);
    ASSERT_TRUE(module);
    tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
    for (Position grid : smallGrids)
      for (int64_t blocks : {1, 2, 3, 4, 7, 13, 66}) {
        SCOPED_TRACE(testing::Message() << grid[0] << " x " << grid[1] << " x " << grid[2] << ", " << blocks);
        double most = mostOverAverage(kernel, grid, std::min(blocks, grid[0] * grid[1] * grid[2]),
                                      [&](int64_t x) { return work(x, grid[0]); });
        EXPECT_GT(most, 0);
      }
    // Attention of 4096 queries in 64 heads, of 1024 in 256, of an odd number, on an H200.
    for (Position grid : {Position{32, 16, 4}, {8, 16, 16}, {33, 8, 8}}) {
      double most = mostOverAverage(kernel, grid, 132, [&](int64_t x) { return work(x, grid[0]); });
      EXPECT_GT(most, 0);
      EXPECT_LT(most, limit);
    }
  }

  MLIRContext context;
};

TEST_F(ScheduleBlocksTest, LoopsThatEndWithThePosition) {
  expectAll("%c0", "%end", 1.02, [](int64_t x, int64_t) { return x + 1; });
}

TEST_F(ScheduleBlocksTest, LoopsThatBeginWithThePosition) {
  expectAll("%m", "%n", 1.02, [](int64_t x, int64_t extent) { return extent - x; });
}

TEST_F(ScheduleBlocksTest, LoopsThatAreTheSame) {
  expectAll("%c0", "%n", 1.04, [](int64_t, int64_t) { return 1; });
}

// Of a grid of 32 x 64, 132 blocks at a time read 16 rows and 10 columns at most.
TEST_F(ScheduleBlocksTest, BlocksOfProductsInBands) {
  OwningOpRef<ModuleOp> module = schedule(context, products, "", "%n", "sm_80");
  ASSERT_TRUE(module);
  tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
  for (Position grid : smallGrids)
    EXPECT_TRUE(areAll(positionsOf(kernel, grid), grid)) << grid[0] << " x " << grid[1] << " x " << grid[2];
  std::vector<Position> positions = positionsOf(kernel, {32, 64, 1});
  for (size_t first = 0; first + 132 <= positions.size() / 2; first += 132) {
    std::set<int64_t> rows, columns;
    for (Position at : ArrayRef(positions).slice(first, 132)) {
      rows.insert(at[0]);
      columns.insert(at[1]);
    }
    EXPECT_LE(rows.size(), 16u);
    EXPECT_LE(columns.size(), 10u);
  }
}

TEST_F(ScheduleBlocksTest, LongBlocksFirst) {
  OwningOpRef<ModuleOp> module = schedule(context, products, "", "%end", "sm_80");
  ASSERT_TRUE(module);
  tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
  for (Position grid : smallGrids) {
    std::vector<Position> positions = positionsOf(kernel, grid);
    EXPECT_TRUE(areAll(positions, grid));
    EXPECT_EQ(positions.front()[0], grid[0] - 1);
    EXPECT_EQ(positions.back()[0], 0);
  }
}

// Chips with products of warp groups are left alone.
TEST_F(ScheduleBlocksTest, BlocksOfWarpGroupsAsTheyAreNumbered) {
  OwningOpRef<ModuleOp> module = schedule(context, products, "", "%n", "sm_90a");
  ASSERT_TRUE(module);
  tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
  EXPECT_EQ(positionsOf(kernel, {9, 2, 1})[8], (Position{8, 0, 0}));
}

} // namespace

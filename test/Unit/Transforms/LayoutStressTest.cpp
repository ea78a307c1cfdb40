//===- LayoutStressTest.cpp - every program gets layouts --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random legal programs of all ranks, from one element to 2^20, on 1 to 8 warps, with
// loops and branches that carry tiles: layouts are assigned, the stage's contract holds
// before and after conversions are removed, and the verifiers agree.
//===----------------------------------------------------------------------===//
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// Grows a kernel statement by statement from the values it has so far.
class ProgramMaker {
public:
  ProgramMaker(MLIRContext *context, unsigned seed)
      : random(seed), builder(context), loc(builder.getUnknownLoc()), f32(builder.getF32Type()) {}

  OwningOpRef<ModuleOp> make() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> parameters = {builder.getIndexType(), builder.getI1Type(), f32};
    for (int64_t rank = 1; rank <= maxRank; ++rank)
      parameters.push_back(ArrayType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), f32,
                                          /*mut=*/true, /*strided=*/below(4) == 0));
    auto kernel = KernelOp::create(builder, loc, "random", parameters);
    if (below(2))
      kernel.setNumWarps(1 << below(4));
    if (below(2))
      kernel->setAttr("tile.facts", builder.getStrArrayAttr({"aligned16"}));
    Block &body = kernel.getBody().front();
    builder.setInsertionPointToEnd(&body);
    index = body.getArgument(0);
    condition = body.getArgument(1);
    scalar = body.getArgument(2);
    arrays.assign(body.args_begin() + 3, body.args_end());
    one = arith::ConstantIndexOp::create(builder, loc, 1);
    unsigned maxBits = below(4) ? 11 : 20;
    for (unsigned i = 0; i < 3; ++i)
      tiles.push_back(load(randomShape(maxBits)));
    statements(12);
    for (Value tile : tiles)
      if (below(3) == 0)
        store(tile);
    ReturnOp::create(builder, loc);
    return module;
  }

private:
  unsigned below(unsigned bound) { return random() % bound; }
  static ArrayRef<int64_t> shapeOf(Value tile) { return getTileShape(tile.getType()); }

  SmallVector<int64_t> randomShape(unsigned maxBits) {
    SmallVector<int64_t> shape(1 + below(maxRank), 1);
    for (unsigned bits = below(maxBits + 1); bits > 0; --bits)
      shape[below(shape.size())] *= 2;
    return shape;
  }

  SmallVector<int64_t> randomOrder(unsigned rank) {
    SmallVector<int64_t> order(llvm::seq<int64_t>(0, rank).begin(), llvm::seq<int64_t>(0, rank).end());
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }

  Value pick() { return tiles[below(tiles.size())]; }

  Value load(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> order = below(2) ? randomOrder(shape.size()) : SmallVector<int64_t>();
    return LoadOp::create(builder, loc, getTileType(shape, f32), arrays[shape.size() - 1],
                          SmallVector<Value>(shape.size(), index), below(4) == 0, TypedAttr(), order);
  }

  void store(Value tile) {
    unsigned rank = shapeOf(tile).size();
    SmallVector<int64_t> order = below(2) ? randomOrder(rank) : SmallVector<int64_t>();
    StoreOp::create(builder, loc, arrays[rank - 1], SmallVector<Value>(rank, index), tile,
                    below(4) == 0, order);
  }

  /// A tile of this shape: one of those there are, or a new one.
  Value like(ArrayRef<int64_t> shape) {
    SmallVector<Value> same;
    for (Value tile : tiles)
      if (shapeOf(tile) == shape)
        same.push_back(tile);
    if (!same.empty() && below(3))
      return same[below(same.size())];
    switch (below(3)) {
    case 0:
      return load(shape);
    case 1:
      return SplatOp::create(builder, loc, getTileType(shape, f32), scalar);
    default:
      auto type = cast<RankedTensorType>(getTileType(shape, f32));
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(type, builder.getF32FloatAttr(2)));
    }
  }

  void statements(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      statement();
  }

  void statement() {
    Value tile = pick();
    ArrayRef<int64_t> shape = shapeOf(tile);
    switch (below(13)) {
    case 0:
    case 1:
      tiles.push_back(arith::AddFOp::create(builder, loc, tile, like(shape)));
      return;
    case 2:
      tiles.push_back(math::ExpOp::create(builder, loc, tile));
      return;
    case 3:
      return reshape(tile);
    case 4:
      tiles.push_back(PermuteOp::create(builder, loc, tile, randomOrder(shape.size())));
      return;
    case 5:
      return broadcast(tile);
    case 6:
    case 7:
      return reduce(tile);
    case 8:
      return product(tile);
    case 9:
      return loop(tile);
    case 10:
      return branch(tile);
    case 11:
      return whileLoop(tile);
    default:
      return mixed(tile);
    }
  }

  void reshape(Value tile) {
    ArrayRef<int64_t> shape = shapeOf(tile);
    int64_t elements = 1;
    for (int64_t dim : shape)
      elements *= dim;
    SmallVector<int64_t> newShape(1 + below(maxRank), 1);
    for (; elements > 1; elements /= 2)
      newShape[below(newShape.size())] *= 2;
    tiles.push_back(ReshapeOp::create(builder, loc, getTileType(newShape, f32), tile));
  }

  void broadcast(Value tile) {
    SmallVector<int64_t> shape(shapeOf(tile));
    int64_t elements = 1;
    for (int64_t dim : shape)
      elements *= dim;
    for (int64_t &dim : shape)
      if (dim == 1 && elements <= 4096 && below(2)) {
        dim = 1 << below(6);
        elements *= dim;
      }
    tiles.push_back(BroadcastOp::create(builder, loc, getTileType(shape, f32), tile));
  }

  void reduce(Value tile) {
    SmallVector<int64_t> axes;
    for (unsigned axis = 0; axis < shapeOf(tile).size(); ++axis)
      if (below(2))
        axes.push_back(axis);
    auto op = ReduceOp::create(builder, loc, ValueRange{tile, like(shapeOf(tile))}, axes,
                               [](OpBuilder &b, Location l, ValueRange left, ValueRange right) {
                                 SmallVector<Value> sums;
                                 for (auto [x, y] : llvm::zip_equal(left, right))
                                   sums.push_back(arith::AddFOp::create(b, l, x, y));
                                 return sums;
                               });
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        tiles.push_back(result);
  }

  void product(Value tile) {
    ArrayRef<int64_t> shape = shapeOf(tile);
    if (shape.size() != 2 || shape[0] > 128 || shape[1] > 128)
      return;
    int64_t n = 1 << below(8);
    tiles.push_back(MmaOp::create(builder, loc, tile, like({shape[1], n}), like({shape[0], n})));
  }

  void loop(Value tile) {
    auto op = scf::ForOp::create(builder, loc, index, index, one, ValueRange{tile, pick()});
    inRegion(op.getBody(), op.getRegionIterArgs(), op.getResultTypes());
    tiles.append(op.result_begin(), op.result_end());
  }

  void branch(Value tile) {
    auto op = scf::IfOp::create(builder, loc, TypeRange{tile.getType()}, condition, true, true);
    for (Block *block : {op.thenBlock(), op.elseBlock()})
      inRegion(block, {}, op.getResultTypes());
    tiles.push_back(op.getResult(0));
  }

  void whileLoop(Value tile) {
    SmallVector<Type> types = {tile.getType()};
    auto op = scf::WhileOp::create(
        builder, loc, types, ValueRange{tile},
        [&](OpBuilder &b, Location l, ValueRange arguments) {
          Value doubled = arith::AddFOp::create(b, l, arguments[0], arguments[0]);
          scf::ConditionOp::create(b, l, condition, ValueRange{doubled});
        },
        [&](OpBuilder &b, Location l, ValueRange arguments) {
          scf::YieldOp::create(b, l, arguments);
        });
    tiles.push_back(op.getResult(0));
  }

  /// Statements in a region, and a yield of tiles of `types`.
  void inRegion(Block *block, ValueRange arguments, TypeRange types) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Value> outer = tiles;
    tiles.append(arguments.begin(), arguments.end());
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    if (++depth <= 2)
      statements(3);
    --depth;
    SmallVector<Value> yielded;
    for (Type type : types)
      yielded.push_back(like(getTileShape(type)));
    scf::YieldOp::create(builder, loc, yielded);
    tiles = outer;
  }

  /// Operations with rules of their own.
  void mixed(Value tile) {
    switch (below(3)) {
    case 0:
      tiles.push_back(FlipOp::create(builder, loc, tile.getType(), tile, 0));
      return;
    case 1: {
      SmallVector<int64_t> shape(shapeOf(tile));
      shape[0] *= 2;
      if (shape[0] <= 256)
        tiles.push_back(CatOp::create(builder, loc, getTileType(shape, f32),
                                      ValueRange{tile, like(shapeOf(tile))}, 0));
      return;
    }
    default: {
      Value slice = ExtractOp::create(
          builder, loc, tile.getType(), tile, SmallVector<Value>(shapeOf(tile).size(), index));
      tiles.push_back(InsertOp::create(builder, loc, slice, like(shapeOf(tile)),
                                       SmallVector<Value>(shapeOf(tile).size(), index)));
    }
    }
  }

  unsigned depth = 0;
  std::mt19937 random;
  OpBuilder builder;
  Location loc;
  Type f32;
  Value index, condition, scalar, one;
  SmallVector<Value> arrays, tiles;
};

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
    OwningOpRef<ModuleOp> module = ProgramMaker(&context, seed).make();
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

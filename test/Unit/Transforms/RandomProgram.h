//===- RandomProgram.h - random legal kernels -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels of stage `tile` with tiles of all ranks that meet in elementwise work, change
// shape, are reduced, and pass through loops and branches. The same seed gives the
// same kernel.
//===----------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_TRANSFORMS_RANDOMPROGRAM_H
#define TILEC_TEST_UNIT_TRANSFORMS_RANDOMPROGRAM_H

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <algorithm>
#include <random>

namespace tilec::test {

/// Grows a kernel statement by statement from the values it has so far.
///
/// Parameters: one array of each rank, 1 to 6, read and written; then an index, a
/// condition, a scalar.
class RandomProgram {
public:
  struct Options {
    /// Elements are element, or i32 whose sums do not depend on their order.
    bool isInteger = false;
    /// log2 of the largest tile that is loaded.
    unsigned maxBits = 11;
    /// Also what is not for running: strided arrays, products.
    bool hasEverything = true;
  };

  RandomProgram(mlir::MLIRContext *context, unsigned seed, Options options)
      : options(options), random(seed), builder(context), loc(builder.getUnknownLoc()) {
    element = options.isInteger ? mlir::Type(builder.getI32Type()) : builder.getF32Type();
  }

  mlir::OwningOpRef<mlir::ModuleOp> make() {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<mlir::Type> parameters;
    for (int64_t rank = 1; rank <= tile::maxRank; ++rank)
      parameters.push_back(tile::ArrayType::get(
          llvm::SmallVector<int64_t>(rank, mlir::ShapedType::kDynamic), element, /*mut=*/true,
          /*strided=*/options.hasEverything && below(4) == 0));
    parameters.append({builder.getIndexType(), builder.getI1Type(), element});
    auto kernel = tile::KernelOp::create(builder, loc, "random", parameters);
    if (below(2))
      kernel.setNumWarps(1 << below(4));
    if (options.hasEverything && below(2))
      kernel->setAttr("tile.facts", builder.getStrArrayAttr({"aligned16"}));
    mlir::Block &body = kernel.getBody().front();
    builder.setInsertionPointToEnd(&body);
    arrays.assign(body.args_begin(), body.args_begin() + tile::maxRank);
    index = body.getArgument(tile::maxRank);
    condition = body.getArgument(tile::maxRank + 1);
    scalar = body.getArgument(tile::maxRank + 2);
    zero = mlir::arith::ConstantIndexOp::create(builder, loc, 0);
    one = mlir::arith::ConstantIndexOp::create(builder, loc, 1);
    two = mlir::arith::ConstantIndexOp::create(builder, loc, 2);
    for (unsigned i = 0; i < 3; ++i)
      tiles.push_back(load(randomShape(options.maxBits)));
    statements(12);
    for (mlir::Value tile : tiles)
      if (below(3) == 0)
        store(tile);
    tile::ReturnOp::create(builder, loc);
    return module;
  }

private:
  unsigned below(unsigned bound) { return random() % bound; }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value tile) { return tile::getTileShape(tile.getType()); }

  static int64_t numElements(llvm::ArrayRef<int64_t> shape) {
    int64_t elements = 1;
    for (int64_t dim : shape)
      elements *= dim;
    return elements;
  }

  llvm::SmallVector<int64_t> randomShape(unsigned maxBits) {
    llvm::SmallVector<int64_t> shape(1 + below(tile::maxRank), 1);
    for (unsigned bits = below(maxBits + 1); bits > 0; --bits)
      shape[below(shape.size())] *= 2;
    return shape;
  }

  llvm::SmallVector<int64_t> randomOrder(unsigned rank) {
    llvm::SmallVector<int64_t> order(llvm::seq<int64_t>(0, rank).begin(), llvm::seq<int64_t>(0, rank).end());
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }

  mlir::Value add(mlir::OpBuilder &b, mlir::Location l, mlir::Value x, mlir::Value y) {
    return options.isInteger ? mlir::Value(mlir::arith::AddIOp::create(b, l, x, y))
                             : mlir::Value(mlir::arith::AddFOp::create(b, l, x, y));
  }

  mlir::TypedAttr constantTwo() {
    return options.isInteger ? mlir::TypedAttr(builder.getI32IntegerAttr(2))
                             : mlir::TypedAttr(builder.getF32FloatAttr(2));
  }

  mlir::Value pick() { return tiles[below(tiles.size())]; }

  mlir::Value load(llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> order = below(2) ? randomOrder(shape.size()) : llvm::SmallVector<int64_t>();
    return tile::LoadOp::create(builder, loc, tile::getTileType(shape, element), arrays[shape.size() - 1],
                          llvm::SmallVector<mlir::Value>(shape.size(), index), below(4) == 0, mlir::TypedAttr(), order);
  }

  void store(mlir::Value tile) {
    unsigned rank = shapeOf(tile).size();
    llvm::SmallVector<int64_t> order = below(2) ? randomOrder(rank) : llvm::SmallVector<int64_t>();
    tile::StoreOp::create(builder, loc, arrays[rank - 1], llvm::SmallVector<mlir::Value>(rank, index), tile,
                    below(4) == 0, order);
  }

  /// A tile of this shape: one of those there are, or a new one.
  mlir::Value like(llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<mlir::Value> same;
    for (mlir::Value tile : tiles)
      if (shapeOf(tile) == shape)
        same.push_back(tile);
    if (!same.empty() && below(3))
      return same[below(same.size())];
    switch (below(3)) {
    case 0:
      return load(shape);
    case 1:
      return tile::SplatOp::create(builder, loc, tile::getTileType(shape, element), scalar);
    default:
      auto type = llvm::cast<mlir::RankedTensorType>(tile::getTileType(shape, element));
      return mlir::arith::ConstantOp::create(
          builder, loc, mlir::DenseElementsAttr::get(type, mlir::Attribute(constantTwo())));
    }
  }

  void statements(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      statement();
  }

  void statement() {
    mlir::Value tile = pick();
    llvm::ArrayRef<int64_t> shape = shapeOf(tile);
    switch (below(13)) {
    case 0:
    case 1:
      tiles.push_back(add(builder, loc, tile, like(shape)));
      return;
    case 2:
      tiles.push_back(options.isInteger
                          ? mlir::Value(mlir::arith::MulIOp::create(builder, loc, tile, tile))
                          : mlir::Value(mlir::math::ExpOp::create(builder, loc, tile)));
      return;
    case 3:
      return reshape(tile);
    case 4:
      tiles.push_back(tile::PermuteOp::create(builder, loc, tile, randomOrder(shape.size())));
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

  void reshape(mlir::Value tile) {
    llvm::ArrayRef<int64_t> shape = shapeOf(tile);
    int64_t elements = numElements(shape);
    llvm::SmallVector<int64_t> newShape(1 + below(tile::maxRank), 1);
    for (; elements > 1; elements /= 2)
      newShape[below(newShape.size())] *= 2;
    tiles.push_back(tile::ReshapeOp::create(builder, loc, tile::getTileType(newShape, element), tile));
  }

  void broadcast(mlir::Value tile) {
    llvm::SmallVector<int64_t> shape(shapeOf(tile));
    int64_t elements = numElements(shape);
    for (int64_t &dim : shape)
      if (dim == 1 && elements <= 4096 && below(2)) {
        dim = 1 << below(6);
        elements *= dim;
      }
    tiles.push_back(tile::BroadcastOp::create(builder, loc, tile::getTileType(shape, element), tile));
  }

  void reduce(mlir::Value tile) {
    llvm::SmallVector<int64_t> axes;
    for (unsigned axis = 0; axis < shapeOf(tile).size(); ++axis)
      if (below(2))
        axes.push_back(axis);
    auto op = tile::ReduceOp::create(builder, loc, mlir::ValueRange{tile, like(shapeOf(tile))}, axes,
                               [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange left, mlir::ValueRange right) {
                                 llvm::SmallVector<mlir::Value> sums;
                                 for (auto [x, y] : llvm::zip_equal(left, right))
                                   sums.push_back(add(b, l, x, y));
                                 return sums;
                               });
    for (mlir::Value result : op.getResults())
      if (llvm::isa<mlir::RankedTensorType>(result.getType()))
        tiles.push_back(result);
  }

  void product(mlir::Value tile) {
    llvm::ArrayRef<int64_t> shape = shapeOf(tile);
    if (!options.hasEverything || shape.size() != 2 || shape[0] > 128 || shape[1] > 128)
      return;
    int64_t n = 1 << below(8);
    tiles.push_back(tile::MmaOp::create(builder, loc, tile, like({shape[1], n}), like({shape[0], n})));
  }

  void loop(mlir::Value tile) {
    auto op = mlir::scf::ForOp::create(builder, loc, zero, two, one, mlir::ValueRange{tile, pick()});
    inRegion(op.getBody(), op.getRegionIterArgs(), op.getResultTypes());
    tiles.append(op.result_begin(), op.result_end());
  }

  void branch(mlir::Value tile) {
    auto op = mlir::scf::IfOp::create(builder, loc, mlir::TypeRange{tile.getType()}, condition, true, true);
    for (mlir::Block *block : {op.thenBlock(), op.elseBlock()})
      inRegion(block, {}, op.getResultTypes());
    tiles.push_back(op.getResult(0));
  }

  void whileLoop(mlir::Value tile) {
    llvm::SmallVector<mlir::Type> types = {tile.getType(), builder.getIndexType()};
    auto op = mlir::scf::WhileOp::create(
        builder, loc, types, mlir::ValueRange{tile, zero},
        [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange arguments) {
          mlir::Value doubled = add(b, l, arguments[0], arguments[0]);
          mlir::Value below = mlir::arith::CmpIOp::create(b, l, mlir::arith::CmpIPredicate::slt, arguments[1], two);
          mlir::scf::ConditionOp::create(b, l, below, mlir::ValueRange{doubled, arguments[1]});
        },
        [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange arguments) {
          mlir::Value next = mlir::arith::AddIOp::create(b, l, arguments[1], one);
          mlir::scf::YieldOp::create(b, l, mlir::ValueRange{arguments[0], next});
        });
    tiles.push_back(op.getResult(0));
  }

  /// Statements in a region, and a yield of tiles of `types`.
  void inRegion(mlir::Block *block, mlir::ValueRange arguments, mlir::TypeRange types) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Value> outer = tiles;
    tiles.append(arguments.begin(), arguments.end());
    if (!block->empty() && block->back().hasTrait<mlir::OpTrait::IsTerminator>())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    if (++depth <= 2)
      statements(3);
    --depth;
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Type type : types)
      yielded.push_back(like(tile::getTileShape(type)));
    mlir::scf::YieldOp::create(builder, loc, yielded);
    tiles = outer;
  }

  /// Operations with rules of their own.
  void mixed(mlir::Value tile) {
    llvm::ArrayRef<int64_t> tileShape = shapeOf(tile);
    if (!options.hasEverything && numElements(tileShape) > 4096)
      return;
    unsigned axis = below(unsigned(tileShape.size()));
    switch (below(options.isInteger ? 6 : 5)) {
    case 0:
      tiles.push_back(tile::FlipOp::create(builder, loc, tile.getType(), tile, axis));
      return;
    case 3:
      tiles.push_back(tile::ScanOp::create(builder, loc, mlir::ValueRange(tile), mlir::ValueRange(), int32_t(axis), /*reverse=*/below(2),
                                           [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange left,
                                               mlir::ValueRange right) -> llvm::SmallVector<mlir::Value> {
                                             return {add(b, l, left[0], right[0])};
                                           })
                          .getResult(0));
      return;
    case 4:
      tiles.push_back(tile::SortOp::create(builder, loc, tile.getType(), tile, axis,
                                           /*descending=*/below(2), /*is_unsigned=*/false)
                          .getResult(0));
      return;
    case 5: {
      // Most of the places are outside: a few bits of a tile are good ones.
      mlir::Value mask = tile::SplatOp::create(
          builder, loc, tile.getType(), mlir::arith::ConstantIntOp::create(builder, loc, 15, 32));
      mlir::Value places = mlir::arith::AndIOp::create(builder, loc, like(tileShape), mask);
      tiles.push_back(tile::TakeOp::create(builder, loc, tile.getType(), tile, places, axis, /*along=*/true));
      return;
    }
    case 1: {
      llvm::SmallVector<int64_t> shape(shapeOf(tile));
      shape[0] *= 2;
      if (numElements(shape) <= tile::maxTileElements)
        tiles.push_back(tile::CatOp::create(builder, loc, tile::getTileType(shape, element),
                                      mlir::ValueRange{tile, like(shapeOf(tile))}, 0));
      return;
    }
    default: {
      mlir::Value slice = tile::ExtractOp::create(
          builder, loc, tile.getType(), tile, llvm::SmallVector<mlir::Value>(shapeOf(tile).size(), index));
      tiles.push_back(tile::InsertOp::create(builder, loc, slice, like(shapeOf(tile)),
                                       llvm::SmallVector<mlir::Value>(shapeOf(tile).size(), index)));
    }
    }
  }

  unsigned depth = 0;
  Options options;
  std::mt19937 random;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type element;
  mlir::Value index, condition, scalar, zero, one, two;
  llvm::SmallVector<mlir::Value> arrays, tiles;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_TRANSFORMS_RANDOMPROGRAM_H

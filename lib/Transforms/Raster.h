//===- Raster.h - the order in which a grid is gone through ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What ScheduleBlocks, whose blocks take one position after the other, and OrderBlocks, whose
// blocks take one each, have in common.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_RASTER_H
#define TILEC_LIB_TRANSFORMS_RASTER_H

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tilec {

/// Arithmetic on 32-bit numbers of blocks. A grid has fewer than 2^31.
struct BlockArithmetic {
  using Value = mlir::Value;

  mlir::OpBuilder &builder;
  mlir::Location loc;

  Value constant(int64_t value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(int32_t(value)));
  }
  Value narrow(Value index) {
    return mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  }
  Value widen(Value number) {
    return mlir::arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  }
  Value add(Value a, Value b) { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulIOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return mlir::arith::DivUIOp::create(builder, loc, a, b); }
  Value rem(Value a, Value b) { return mlir::arith::RemUIOp::create(builder, loc, a, b); }
  Value shift(Value a, Value b) { return mlir::arith::ShRUIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return mlir::arith::MinUIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return mlir::arith::MaxUIOp::create(builder, loc, a, b); }
  Value is(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
};

/// How long a block takes, along axis 0 of the grid.
enum class Work { Even, Grows, Shrinks };

/// Says of an operation whether it is the block's position along `axis`.
inline auto isPositionAlong(uint32_t axis) {
  return [axis](mlir::Operation *op) {
    auto id = mlir::dyn_cast<tile::BlockIdOp>(op);
    return id && id.getDim() == axis;
  };
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_RASTER_H

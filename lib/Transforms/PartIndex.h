//===- PartIndex.h - where a part of a tile lies -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Passes that load or store a tile part by part turn the index of the tile, which counts
// tiles, into that of a part, which counts parts.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_PARTINDEX_H
#define TILEC_LIB_TRANSFORMS_PARTINDEX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tilec {

/// The index of part `part` of the `numParts` of a tile at `index`, in tiles of the part's
/// size. An index so large that the product would overflow is as much outside as a smaller one.
inline mlir::Value partIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index,
                             int64_t numParts, mlir::OpFoldResult part) {
  using namespace mlir::arith;
  auto constant = [&](int64_t value) -> mlir::Value {
    return ConstantIndexOp::create(builder, loc, value);
  };
  constexpr int64_t farAway = int64_t(1) << 48;
  index = MinSIOp::create(builder, loc, index, constant(farAway));
  index = MaxSIOp::create(builder, loc, index, constant(-1));
  index = MulIOp::create(builder, loc, index, constant(numParts));
  return AddIOp::create(builder, loc, index,
                        mlir::getValueOrCreateConstantIndexOp(builder, loc, part));
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_PARTINDEX_H

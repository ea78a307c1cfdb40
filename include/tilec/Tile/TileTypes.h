//===- TileTypes.h - types of the tile dialect ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The array type, and the questions that say what counts as a scalar and as a
// tile in the dialect.

#ifndef TILEC_TILE_TILETYPES_H
#define TILEC_TILE_TILETYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "tilec/Tile/TileDialect.h"

#define GET_TYPEDEF_CLASSES
#include "tilec/Tile/TileTypes.h.inc"

namespace tilec::tile {

inline constexpr int64_t maxTileElements = int64_t(1) << 20;
inline constexpr int64_t maxRank = 6;

/// True for the types that a scalar, and an element of a tile, can have.
bool isScalarType(mlir::Type type);

/// True for a ranked tensor that is a tile: rank 1 … 6, static power-of-two
/// dims, at most 2^20 elements, scalar elements.
bool isTileType(mlir::Type type);

inline bool isScalarOrTileType(mlir::Type type) {
  return isScalarType(type) || isTileType(type);
}

/// f8E4M3FN or f8E5M2.
bool isF8Type(mlir::Type type);

/// The shape of a tile; empty for a scalar.
llvm::ArrayRef<int64_t> getTileShape(mlir::Type type);

/// A tile with `shape` (a scalar if empty) and `element` type, with no layout.
mlir::Type getTileType(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// `type` (a tile or a scalar) with another element type; shape and layout stay.
mlir::Type withElementType(mlir::Type type, mlir::Type element);

} // namespace tilec::tile

#endif // TILEC_TILE_TILETYPES_H

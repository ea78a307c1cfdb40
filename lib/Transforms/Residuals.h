//===- Residuals.h - tiles that come for a store --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// A residual is a tile that threads want when the products of a position are done, to compute
// what they store: of the skip around a layer, or of what an update adds to. SelectCopies
// marks such loads, StageStores has them come through the ring of those products.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_RESIDUALS_H
#define TILEC_LIB_TRANSFORMS_RESIDUALS_H

#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/Builders.h"

namespace tilec {

/// The store for which alone `load` is there: it stores what is computed elementwise from the
/// tile, of the same shape, and products, behind a loop of the same block in which the engine
/// brings their operands. Null: there is none.
tile::StoreOp storeOfResidual(tile::LoadOp load);

/// Marks a load that is copied as a residual.
inline constexpr llvm::StringLiteral residualAttrName = "tile.residual";

/// Bytes that a place of a ring has for a residual at `place`; 0 where no ring is free there.
int64_t roomForResidual(mlir::Operation *place);

/// Copies a part of the residual `load`, which begins at `place` (per array dim), and gives it
/// in registers. `type`: of the part; `buffer`: as the engine writes it.
mlir::Value bringPart(mlir::OpBuilder &builder, tile::LoadOp load, mlir::ValueRange place,
                      mlir::RankedTensorType type, tgpu::BufferType buffer);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_RESIDUALS_H

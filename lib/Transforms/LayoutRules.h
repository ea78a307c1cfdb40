//===- LayoutRules.h - what operations ask of layouts ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The contract of the laid-out stage, in one place. Lowering relies on it:
//
//   elementwise    operands and results have one layout; so have those of gather,
//                  scatter, atomic, scan, sort and flip
//   scan, sort     the layout is one of which planScan has a plan
//   insert         destination and result have one layout; the slice lies where the
//                  destination has its elements, in every slice (insertedLayout)
//   cat            sources have one layout; threads have all of the result's elements in
//                  a source
//   take           each thread has the indices of its elements (takeIndexLayout)
//   reshape        result = source.reshape(shape), exactly
//   permute        result = source.permute(dims), exactly
//   broadcast      source -> result with the stretched axes collapsed is a renaming of
//                  registers (Conversion kind None or Registers)
//   reduce         sources have one layout; result = its slice over the axes, without
//                  copies in registers
//   mma            acc and result have one layout, the atom's; a and b any
//   scf            as types demand
//   load, store, extract, histogram, splat, iota, constants    any
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_LAYOUTRULES_H
#define TILEC_LIB_TRANSFORMS_LAYOUTRULES_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

inline bool isTile(mlir::Value value) {
  return llvm::isa<mlir::RankedTensorType>(value.getType());
}

/// One value per position from values at the same position.
bool isElementwise(mlir::Operation *op);

/// The tiles among operands and results of `op` that must have one layout.
struct Agreement {
  llvm::SmallVector<mlir::OpOperand *> operands;
  llvm::SmallVector<mlir::Value> results;
};
Agreement getAgreement(mlir::Operation *op);

/// A constant, splat or iota: as cheap to make as to move.
bool isCheapToRecreate(mlir::Operation *op);

/// The layout of a reduction's results (tiles, not scalars).
Layout reducedLayout(const Layout &source, llvm::ArrayRef<int64_t> axes);

/// The layout of a reshape's, permute's or reduce's result, and of a broadcast's if it
/// is free to choose.
Layout layoutOfResult(mlir::Operation *op, const Layout &source);

/// The source layout from which a reshape, permute or broadcast makes `result`
/// without moving anything.
Layout layoutOfSource(mlir::Operation *op, const Layout &result);

/// Is a source in layout `source` good for a broadcast to `result`?
bool broadcastKeepsPlaces(tile::BroadcastOp op, const Layout &source, const Layout &result);

/// The layout that a slice to insert must have, and the indices of a take.
Layout insertedLayout(tile::InsertOp op);
Layout takeIndexLayout(tile::TakeOp op);

/// Threads have the sources of a cat in their own registers of the result.
bool catKeepsPlaces(tile::CatOp op);

/// Row-major, one element a thread first: for tiles that nothing else decides.
Layout defaultLayout(mlir::RankedTensorType type, unsigned numWarps);

/// The type of the tile that lies so.
mlir::RankedTensorType tileTypeOf(const Layout &layout, mlir::Type element);

/// `value` as a tile of `type`, where it is a constant with one value in all places; else null.
mlir::Value emitSplatAs(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::RankedTensorType type);

/// A copy of a cheap operation that makes its tile in `layout`.
mlir::Value recreate(mlir::OpBuilder &builder, mlir::Operation *op, tile::LayoutAttr layout);

/// Gives a result or argument another layout; constants change their value's type too.
void setLayout(mlir::Value value, tile::LayoutAttr layout);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_LAYOUTRULES_H

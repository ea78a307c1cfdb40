//===- Staging.h - pieces of StageOperands, by kind of operation -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the files of StageOperands share: tiles go to a buffer and come back. Each
// `stage…` function replaces its operation if that needs shared memory.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_STAGING_H
#define TILEC_LIB_TRANSFORMS_STAGING_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/Builders.h"

namespace tilec {

/// Bits of an element in shared memory.
unsigned storedBits(mlir::Type type);

/// A new buffer with the tile in it.
mlir::Value storeToBuffer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                          const Layout &buffer);

/// `tile` in layout `to`, by whatever way that takes.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                      const Layout &to);

// StageSlices.cpp
void stageExtract(tile::ExtractOp op);
void stageInsert(tile::InsertOp op);
void stageTake(tile::TakeOp op);
void stageHistogram(tile::HistogramOp op, unsigned numWarps);

// StageScans.cpp
void stageFlip(tile::FlipOp op, unsigned numWarps);
void stageScan(tile::ScanOp op, unsigned numWarps);
void stageSort(tile::SortOp op, unsigned numWarps);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_STAGING_H

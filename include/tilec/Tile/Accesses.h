//===- Accesses.h - what an operation does to arrays ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Passes that move loads or give them to other warps ask two things: whether an
// operation may write an array, and whether it reads one that its kernel does not
// write. They ask here and nowhere else.
//
// In a build whose arrays may overlap (KernelOp::getArraysOverlap) an array without
// `mut` may still share memory with one that is written: a pass that moves its reads
// across writes looks for these, too.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_ACCESSES_H
#define TILEC_TILE_ACCESSES_H

#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec::tile {

/// On a load or store that counts elements, in a build that relies on whole pieces: its first
/// element lies at a multiple of 16 bytes, whatever its number (RotateRows).
inline constexpr llvm::StringLiteral beginsAtPieceAttr = "tile.begins_at_piece";

/// `op` itself may write elements of an array. Atomics count, also those that only load:
/// they have an order.
inline bool writesArray(mlir::Operation *op) {
  return llvm::isa<StoreOp, ScatterOp, AtomicOp>(op);
}

/// `op` or an operation in its regions may write elements of an array.
inline bool containsWrite(mlir::Operation *op) {
  return containsWhere(op, writesArray);
}

/// Some operation of the kernel may write elements of `array`, a parameter.
inline bool isWritten(mlir::Value array) {
  return llvm::any_of(array.getUsers(), writesArray);
}

/// `op` loads or gathers from an array that its kernel does not write.
inline bool readsUnwrittenArray(mlir::Operation *op) {
  if (auto load = llvm::dyn_cast<LoadOp>(op))
    return !load.getArray().getType().isMut();
  auto gather = llvm::dyn_cast<GatherOp>(op);
  return gather && !gather.getArray().getType().isMut();
}

/// Whether elements side by side that `load` brings may be taken out of the 16 bytes around them,
/// wherever those begin (Lowering/Runs.cpp): they are narrow, and nobody writes them.
inline bool canComeInRuns(LoadOp load) {
  ArrayType array = load.getArray().getType();
  mlir::Type element = array.getElementType();
  return readsUnwrittenArray(load) && !array.isStrided() && !isOfSingles(array) &&
         !element.isIndex() && element.getIntOrFloatBitWidth() <= 16;
}

} // namespace tilec::tile

#endif // TILEC_TILE_ACCESSES_H

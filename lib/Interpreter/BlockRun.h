//===- BlockRun.h - one block of a launch --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The state of one block: where it is in the grid and the value of every SSA value
// that has been computed. Control flow and dispatch are in Interpreter.cpp; memory,
// shapes, and whole-tile computation have a file each.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_INTERPRETER_BLOCKRUN_H
#define TILEC_INTERPRETER_BLOCKRUN_H

#include "Elementwise.h"

#include "tilec/Support/DebugLog.h"
#include "tilec/Support/KernelArg.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

#include <array>

namespace tilec::interpreter {

/// An error with the source location of `op`.
llvm::Error errorAt(mlir::Operation *op, const llvm::Twine &message);

class BlockRun {
public:
  BlockRun(tile::KernelOp kernel, llvm::ArrayRef<KernelArg> args, std::array<int64_t, 3> grid,
           std::array<int64_t, 3> block, DebugLog &log);

  llvm::Error run();

private:
  using Values = llvm::SmallVector<TileRef, 4>;

  // Interpreter.cpp
  /// Runs a block's operations; `yielded` gets the operands of its terminator.
  llvm::Error runBody(mlir::Block &body, Values *yielded);
  llvm::Error runOp(mlir::Operation &op);
  bool runEffect(mlir::Operation &op);
  llvm::Error runFor(mlir::scf::ForOp op);
  llvm::Error runWhile(mlir::scf::WhileOp op);
  llvm::Error runIf(mlir::scf::IfOp op);
  /// Tile operations with one result and no region; nothing when not one.
  std::optional<HostTile> evaluateTileOp(mlir::Operation *op, Operands operands);

  // Memory.cpp
  HostTile load(tile::LoadOp op);
  void store(tile::StoreOp op);
  // Indexed.cpp
  HostTile gather(tile::GatherOp op);
  void scatter(tile::ScatterOp op);
  HostTile atomic(tile::AtomicOp op);
  char *elementAddress(mlir::Value array, mlir::ValueRange index, mlir::Value mask, size_t i) const;
  void print(tile::PrintOp op);
  void check(tile::AssertOp op);

  const ArrayArg &arrayOf(mlir::Value array) const;
  llvm::SmallVector<int64_t, 6> indicesOf(mlir::ValueRange index) const;

  // Reduce.cpp
  llvm::Error runReduce(tile::ReduceOp op);
  llvm::Error runScan(tile::ScanOp op);
  /// The region of a reduction or scan on each lane of `left` and `right`.
  llvm::Error combine(mlir::Region &combiner, llvm::ArrayRef<HostTile> left,
                      llvm::ArrayRef<HostTile> right, llvm::MutableArrayRef<HostTile> result);

  const HostTile &get(mlir::Value value) const { return *values.find(value)->second; }
  int64_t getIndex(mlir::Value value) const { return get(value).sinteger(0); }
  void set(mlir::Value value, HostTile tile) {
    values[value] = std::make_shared<const HostTile>(std::move(tile));
  }
  void setAll(mlir::ValueRange targets, llvm::ArrayRef<TileRef> from);

  tile::KernelOp kernel;
  llvm::ArrayRef<KernelArg> args;
  std::array<int64_t, 3> grid, block;
  DebugLog &log;
  llvm::DenseMap<mlir::Value, TileRef> values;
};

// Shape.cpp: each is the whole definition of its operation.
HostTile evaluateBroadcast(const HostTile &source, mlir::RankedTensorType type);
HostTile evaluatePermute(const HostTile &source, llvm::ArrayRef<int64_t> dims,
                         mlir::RankedTensorType type);
HostTile evaluateIota(mlir::RankedTensorType type);

// Mma.cpp
HostTile evaluateCat(Operands in, unsigned axis, mlir::RankedTensorType type);
HostTile evaluateExtract(const HostTile &source, llvm::ArrayRef<int64_t> index, mlir::Type type);
HostTile evaluateInsert(const HostTile &slice, const HostTile &dest, llvm::ArrayRef<int64_t> index);
HostTile evaluateFlip(const HostTile &source, unsigned axis, mlir::RankedTensorType type);
HostTile evaluateTake(tile::TakeOp op, const HostTile &source, const HostTile &indices);
HostTile evaluateHistogram(tile::HistogramOp op, const HostTile &source);
llvm::SmallVector<HostTile, 2> evaluateSort(tile::SortOp op, Operands in);

HostTile evaluateMma(tile::MmaOp op, const HostTile &a, const HostTile &b, const HostTile &acc);

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_BLOCKRUN_H

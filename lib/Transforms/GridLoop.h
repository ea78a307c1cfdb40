//===- GridLoop.h - blocks that go over the grid by themselves ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel, of which a block does one position of the grid. Out: one whose blocks stay on
// the chip and take one position after the other, for ScheduleBlocks and PrefetchLoads:
//
//   %first = tgpu.resident_block   %step = tgpu.num_resident_blocks
//   scf.for %t = %first to %total step %step { body at the position that comes %t-th }
//
// Which position that is, and what of the kernel stays in front of the loop, is theirs to say.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_GRIDLOOP_H
#define TILEC_LIB_TRANSFORMS_GRIDLOOP_H

#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// The loop, still empty, over `total` positions. `carried` gives, for the number of the first
/// one (made in front of the loop), what it carries.
mlir::scf::ForOp createGridLoop(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value total,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> carried = nullptr);

/// Moves `body` to the loop's end, where blocks are at `position` (by axis), and has the kernel
/// say how many of its blocks are meant to stay on a multiprocessor.
void fillGridLoop(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Operation *> body,
                  llvm::ArrayRef<mlir::Value> position, int64_t residentBlocks);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_GRIDLOOP_H

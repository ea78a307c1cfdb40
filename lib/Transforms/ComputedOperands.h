//===- ComputedOperands.h - operands that threads compute ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// An operand of a product in a loop that threads compute from what is loaded there: weights
// of 4 bits that are unpacked and scaled, a cast, a bias or an activation on the way in.
//
//   %w = tile.load %a[%i, %n]    %s = tile.load %scale[%g, %n]
//   %f = arith.uitofp %w         %b = … broadcast %s            %o = arith.mulf %f, %b
//   tile.mma %x, %o, %sum                        loads behind %o: %w, %s
//
// What is loaded is smaller, or as it lies in the array, so that is what copies bring ahead.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_COMPUTEDOPERANDS_H
#define TILEC_LIB_TRANSFORMS_COMPUTEDOPERANDS_H

#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {

/// The loads in the product's block from which `operand`, a or b of it, is computed by pure
/// operations. None where it is only a view of a load, where something else than loads and
/// what comes from outside of the block has a part in it, or where no loop is around.
llvm::SetVector<mlir::Operation *> loadsBehind(tile::MmaOp mma, mlir::Value operand);

/// Whether what `operand` of `mma` is computed from lies in its array along the other dim than
/// K: the largest of `loads`, if nothing turns it.
bool comesAcrossK(tile::MmaOp mma, mlir::Value operand, const llvm::SetVector<mlir::Operation *> &loads);

/// What `loads` bring to shared memory.
int64_t bytesOf(llvm::ArrayRef<mlir::Operation *> loads);

/// The loads behind the operands of all products of `kernel` that complete later (`isAsync`),
/// or of those of warps, which take either operand from registers. Several warps read the
/// same part there: only what is no larger than the operand, as weights of a few bits are.
llvm::SetVector<mlir::Operation *> loadsBehindProducts(tile::KernelOp kernel, bool isAsync);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_COMPUTEDOPERANDS_H

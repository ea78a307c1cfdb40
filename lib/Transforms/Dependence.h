//===- Dependence.h - what a value is computed from ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Asked where blocks of a cluster share work: is this the same in all of them? And where
// copies and loads run ahead: what has to be computed again for another iteration?
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_DEPENDENCE_H
#define TILEC_LIB_TRANSFORMS_DEPENDENCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace tilec {

/// Whether an operation of which `isSource` is true has a part in computing one of
/// `values`, be it through control flow. What is read from memory is not followed to
/// who wrote it. Without `throughBounds` a counter depends on nothing: where its loop begins
/// and ends is left aside.
bool dependsOn(mlir::ValueRange values,
               llvm::function_ref<bool(mlir::Operation *)> isSource, bool throughBounds = true);

/// Adds what `op`, if it is a loop or a branch, makes `value` of, a result or an argument of
/// its regions, and what decides about it; false of other operations.
bool addCarriedSources(mlir::Operation *op, mlir::Value value,
                       llvm::SetVector<mlir::Value> &sources);

/// Whether and how often `op` runs depends on an operation of which `isSource` is true.
bool isRunDependingOn(mlir::Operation *op,
                      llvm::function_ref<bool(mlir::Operation *)> isSource);

/// The operations of `block` that `values` are computed from, in program order. None where
/// one of them has regions or `canRepeat` denies it, or where an argument of the block is
/// needed that `isKnown` denies (each is asked for once). What comes from outside of the
/// block is there already.
std::optional<llvm::SmallVector<mlir::Operation *>>
sliceIn(mlir::Block *block, mlir::ValueRange values,
        llvm::function_ref<bool(mlir::Operation *)> canRepeat,
        llvm::function_ref<bool(mlir::BlockArgument)> isKnown);

/// Which of the loop's carried values `value`, a result or an argument of its body, is;
/// none for the counter.
std::optional<unsigned> carriedNumber(mlir::scf::ForOp loop, mlir::Value value);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_DEPENDENCE_H

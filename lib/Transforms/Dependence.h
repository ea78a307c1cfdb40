//===- Dependence.h - what a value is computed from ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Asked where blocks of a cluster share work: is this the same in all of them?
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_DEPENDENCE_H
#define TILEC_LIB_TRANSFORMS_DEPENDENCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tilec {

/// Whether an operation of which `isSource` is true has a part in computing one of
/// `values`, be it through control flow. What is read from memory is not followed to
/// who wrote it.
bool dependsOn(mlir::ValueRange values,
               llvm::function_ref<bool(mlir::Operation *)> isSource);

/// The same for whether and how often `op` runs.
bool isRunDependingOn(mlir::Operation *op,
                      llvm::function_ref<bool(mlir::Operation *)> isSource);

/// Which of the loop's carried values `value`, a result or an argument of its body, is;
/// none for the counter.
std::optional<unsigned> carriedNumber(mlir::scf::ForOp loop, mlir::Value value);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_DEPENDENCE_H

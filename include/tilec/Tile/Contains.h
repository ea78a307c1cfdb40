//===- Contains.h - whether a kernel has an operation of a kind -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Walks that end at the first operation of a kind. `root` itself counts, and what
// stands in the regions of operations.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_CONTAINS_H
#define TILEC_TILE_CONTAINS_H

#include "mlir/IR/Operation.h"

namespace tilec {

/// Whether `matches` holds for some operation of `root`.
template <typename Predicate>
bool containsWhere(mlir::Operation *root, Predicate matches) {
  return root
      ->walk([&](mlir::Operation *op) {
        return matches(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether some operation of `root` is of one of these classes or interfaces.
template <typename... Kinds> bool contains(mlir::Operation *root) {
  return containsWhere(root, [](mlir::Operation *op) { return llvm::isa<Kinds...>(op); });
}

/// The same for the operations of `region`.
template <typename... Kinds> bool contains(mlir::Region &region) {
  return llvm::any_of(region.getOps(), [](mlir::Operation &op) { return contains<Kinds...>(&op); });
}

} // namespace tilec

#endif // TILEC_TILE_CONTAINS_H

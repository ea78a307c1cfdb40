//===- BuildFacts.h - what a build of a kernel may rely on ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A kernel is compiled several times: once with nothing assumed, and once more per
// set of facts that make it faster and that the launcher can check (KernelInfo.h,
// BuildFact). SplitBuilds makes the copies right after the `tile` stage; from then
// on a kernel says what it may rely on:
//
//   tile.kernel @add__aligned16(…) attributes {tile.facts = ["aligned16"], …}
//
// Passes ask here and nowhere else.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_BUILDFACTS_H
#define TILEC_TILE_BUILDFACTS_H

#include "tilec/Support/KernelInfo.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace tilec::tile {

/// Name of the attribute on tile.kernel: an array of fact names.
inline constexpr llvm::StringLiteral buildFactsAttr = "tile.facts";

/// Whether this build of `kernel` may rely on `fact`.
inline bool relies(KernelOp kernel, BuildFact fact) {
  auto facts = kernel->getAttrOfType<mlir::ArrayAttr>(buildFactsAttr);
  return facts && llvm::any_of(facts.getAsRange<mlir::StringAttr>(), [&](mlir::StringAttr name) {
           return name.getValue() == llvm::StringRef(buildFactName(fact));
         });
}

} // namespace tilec::tile

#endif // TILEC_TILE_BUILDFACTS_H

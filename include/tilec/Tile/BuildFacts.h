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

/// All that `op`, a kernel or the function it became, may rely on (an or).
inline uint8_t factsOf(mlir::Operation *op) {
  uint8_t facts = 0;
  if (auto names = op->getAttrOfType<mlir::ArrayAttr>(buildFactsAttr))
    for (auto name : names.getAsRange<mlir::StringAttr>())
      if (auto fact = parseBuildFact(name.getValue()))
        facts |= static_cast<uint8_t>(*fact);
  return facts;
}

/// Whether this build of `kernel` may rely on `fact`.
inline bool relies(KernelOp kernel, BuildFact fact) {
  return factsOf(kernel) & static_cast<uint8_t>(fact);
}

/// The last dim of an array that has more than one element as far as its type says: 2 of
/// `f32[p, b, h, 1]`. Those behind it are no step in memory, and where a row is one element
/// no access is wider, so no fact is asked of their pitches.
inline unsigned rowDim(ArrayType array) {
  unsigned dim = unsigned(array.getRank()) - 1;
  while (dim > 0 && array.getShape()[dim] == 1)
    --dim;
  return dim;
}

/// Whether the array's last dim has one element by its type.
inline bool isOfSingles(ArrayType array) {
  return !array.hasStrides() && rowDim(array) + 1 < unsigned(array.getRank());
}

} // namespace tilec::tile

#endif // TILEC_TILE_BUILDFACTS_H

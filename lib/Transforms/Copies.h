//===- Copies.h - tiles that the copy engine moves -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// SelectCopies marks loads, stores and atomic operations; AssignLayouts leaves marked ones
// alone, and StageRings and StageStores make copies of them.
//
// What is computed with is often another view of what is loaded: transposed, without the
// dims of size one that pick a batch and a head, or with the rows and columns of a part of
// an image as one dim. A copy writes the view at once.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_COPIES_H
#define TILEC_LIB_TRANSFORMS_COPIES_H

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Tile/TileOps.h"

#include <vector>

namespace tilec {

/// On tile.load, tile.gather, tile.store and tile.atomic: who moves the tile, "tma" (the copy
/// engine; of a gather, the warps that tell it), "warps" (warps that do nothing else) or
/// "cp_async" (all threads, asynchronously), as rings have it.
inline constexpr llvm::StringLiteral copyAttrName = "tile.copy";

/// On a tile.load that is copied: up to how many positions along each axis of the grid every
/// tile is read once, as tgpu.copy has it (array<i64>).
inline constexpr llvm::StringLiteral onceWithinAttrName = "tile.once_within";

/// On a tile.store that is copied (unit): it may write elements again that it wrote in an earlier
/// iteration.
inline constexpr llvm::StringLiteral writesAgainAttrName = "tile.writes_again";

inline bool isCopied(mlir::Operation *op) { return op->hasAttr(copyAttrName); }

/// Who moves it; empty for a plain access.
inline llvm::StringRef copierOf(mlir::Operation *op) {
  auto name = op->getAttrOfType<mlir::StringAttr>(copyAttrName);
  return name ? name.getValue() : llvm::StringRef();
}
/// By the engine, or by warps that only copy: so that it lies as the engine would have it.
inline bool isCopiedByEngine(mlir::Operation *op) {
  return isCopied(op) && copierOf(op) != "cp_async";
}

/// The elements of a load, or the value of a store, with dims in another order, left out or
/// made one.
struct TileView {
  mlir::Value tile;
  /// Along which dims of the array the copied box runs, and how far; it is one element wide
  /// along the others.
  llvm::SmallVector<int64_t> arrayDims;
  /// `tile` has its elements in the row-major order of this shape: its own, or one of which
  /// neighbouring dims have become one.
  llvm::SmallVector<int64_t> shape;

  /// The tile's dims are those of `shape`.
  bool isPlain() const;
  /// The tile's dim that moves by one where the array's last dim does; nothing where no dim
  /// does, or the box does not extend along it.
  std::optional<unsigned> contiguousDim(int64_t arrayRank) const;
  /// `shape` where it is not the tile's own, as copies have it.
  mlir::DenseI64ArrayAttr shapeAttr(mlir::Builder &builder) const;
  /// For each dim of the tile those of `shape` that make it up, outermost first; nothing where
  /// one of `shape` has been cut.
  std::optional<llvm::SmallVector<llvm::SmallVector<unsigned>>> groups() const;
};

/// What the users of a load or gather see of it, through permutes and reshapes. Empty when one
/// of them cannot be followed, and `why` says so in words.
std::vector<TileView> viewsOf(mlir::Operation *load, const char **why = nullptr);

/// All dims of the load, in its order.
TileView wholeView(tile::LoadOp load);

/// All dims of what is gathered; instead of array dims, which there are none of, they are
/// numbered so that the one along which elements lie side by side is the last.
TileView wholeView(tile::GatherOp gather);

/// How many dims views of `load` number: those of the array, or of what is gathered.
int64_t rankOfViews(mlir::Operation *load);

/// Whether a product takes a view of what is loaded.
bool isForProducts(mlir::Operation *load);

/// The value of which a store's is a view, through reshapes that add dims of size one or
/// take dims apart.
TileView storedView(tile::StoreOp store);

/// A tile of an array that an atomic operation names by its indices: each counts up along
/// one dim of the tile or is the same for all elements.
struct IndexedTile {
  /// The value that is combined with the array's.
  TileView view;
  /// One for each array dim: what the place of the tile's first element is the sum of.
  struct Start {
    llvm::SmallVector<mlir::Value> plus, minus;
    int64_t constant = 0;
  };
  llvm::SmallVector<Start> starts;
};
std::optional<IndexedTile> indexedTile(tile::AtomicOp atomic);

/// The buffer of a tile whose dim `order[0]` is dense in the array: the engine's rows of
/// 128 bytes, or the whole row where it is shorter.
Layout engineBuffer(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order);

/// The same for a view of a load, as the array has it.
Layout engineBuffer(const TileView &view);

/// The indices of a load or store in the order of the array's dims.
template <typename Op> llvm::SmallVector<mlir::Value> indexByArrayDim(Op access) {
  llvm::SmallVector<mlir::Value> result(access.getIndex().size());
  for (auto [dim, index] : llvm::enumerate(access.getIndex()))
    result[access.getArrayDim(unsigned(dim))] = index;
  return result;
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_COPIES_H

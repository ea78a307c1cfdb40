//===- TileLayout.h - layouts of values ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The way from an MLIR type to the algebra of tilec/Layout and back.

#ifndef TILEC_TILE_TILELAYOUT_H
#define TILEC_TILE_TILELAYOUT_H

#include "mlir/IR/BuiltinTypes.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileAttrs.h"

namespace tilec::tile {

/// The layout attribute of a tile type; null for scalars and before the laid-out stage.
LayoutAttr getLayoutAttr(mlir::Type type);

/// The layout of a tile that has one (the laid-out stage and later).
Layout getLayout(mlir::Type type);
inline Layout getLayout(mlir::Value value) { return getLayout(value.getType()); }

inline bool hasLayout(mlir::Type type) { return static_cast<bool>(getLayoutAttr(type)); }

/// The tile type with this layout (replacing one it may have).
mlir::RankedTensorType withLayout(mlir::Type type, const Layout &layout);
mlir::RankedTensorType withLayout(mlir::Type type, LayoutAttr layout);
/// The tile type without a layout.
mlir::RankedTensorType withoutLayout(mlir::Type type);

/// log2 of what a kernel's threads are split into.
inline constexpr unsigned laneBits = 5;

} // namespace tilec::tile

#endif // TILEC_TILE_TILELAYOUT_H

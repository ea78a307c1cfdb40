//===- ElementDType.h - element types and dtypes ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the element type of a tile, and for integers whether an operation takes them
// as unsigned (types do not say). Out: the dtype whose arithmetic in
// Support/Numerics.h is meant.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_ELEMENTDTYPE_H
#define TILEC_TILE_ELEMENTDTYPE_H

#include "tilec/Support/DType.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace tilec::tile {

/// index is `int` or u64, i1 is bool; nothing for types that no tile has.
std::optional<DType> elementDType(mlir::Type type, bool isUnsigned = false);

} // namespace tilec::tile

#endif // TILEC_TILE_ELEMENTDTYPE_H

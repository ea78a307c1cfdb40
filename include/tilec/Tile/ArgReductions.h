//===- ArgReductions.h - reductions that look for a place ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// argmax and argmin reduce pairs of a value and its position: the greater value wins, NaN
// before all, and of equal ones the lower position. Combining two pairs takes some twelve
// instructions. What one thread holds is done in three: the greatest value first, then the
// first position that has it. IRGen says with this attribute of `tile.reduce`, which
// `tgpu.warp_reduce` inherits, that the second operand is the row-major position along the
// axes, and what is looked for: "max", "min", or "umax", "umin" of unsigned integers.
//
//   %m, %i = tile.reduce(%x, %positions) axes [1] {tile.arg = "max"} : …
//
// It is free to be dropped: the combiner says the same.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_ARGREDUCTIONS_H
#define TILEC_TILE_ARGREDUCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace tilec::tile {

inline constexpr llvm::StringLiteral argReductionAttr = "tile.arg";

} // namespace tilec::tile

#endif // TILEC_TILE_ARGREDUCTIONS_H

//===- SwizzledForm.h - buffers that hardware addresses itself ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Copy engines and matrix units know shared memory in one form: rows along one
// dimension, cut to panels as wide as the swizzle, panel after panel, the 16-byte
// pieces of a row exchanged by the number of the row. `Layout::swizzled` makes such a
// layout; here one is recognised, and taken apart again.
//
//   128 x 128 of 16 bits, 128-byte swizzle:   panel 0: columns 0-63 of rows 0, 1, … 127
//                                             panel 1: columns 64-127 of rows 0, 1, …
//===----------------------------------------------------------------------===//
#ifndef TILEC_LAYOUT_SWIZZLEDFORM_H
#define TILEC_LAYOUT_SWIZZLEDFORM_H

#include "tilec/Layout/Layout.h"

namespace tilec {

struct SwizzledForm {
  llvm::SmallVector<unsigned, 6> order; ///< dims, the fastest first
  unsigned swizzleBytes = 0;            ///< 0, 32, 64 or 128
  unsigned elementBits = 8;

  unsigned fastest() const { return order.front(); }
  /// Elements of a panel along the fastest dim, in a tile of `shape`.
  int64_t panelWidth(llvm::ArrayRef<int64_t> shape) const;
};

/// How `Layout::swizzled` makes `buffer`, the widest swizzle first; or nothing, when it
/// does not. Dims but the fastest are in row-major order.
std::optional<SwizzledForm> matchSwizzled(const Layout &buffer, unsigned elementBits);

/// The widest swizzle, in bytes, for rows of `elements` elements: 128, 64, 32, or 0.
unsigned widestSwizzle(int64_t elements, unsigned elementBits);

} // namespace tilec

#endif // TILEC_LAYOUT_SWIZZLEDFORM_H

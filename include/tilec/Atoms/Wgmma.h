//===- Wgmma.h - operands of a warp group's product ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The fields of the matrix descriptor that tells a product of four warps of an operand
// in shared memory, read off the layout of the buffer. Tests compare them with the
// addresses that the hardware reads. The instructions themselves: WarpGroupCode.h.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_WGMMA_H
#define TILEC_ATOMS_WGMMA_H

#include "tilec/Atoms/Atom.h"

namespace tilec {

/// An operand in shared memory as descriptors describe it.
struct WgmmaOperand {
  bool isMNMajor = false;
  unsigned swizzleBytes = 128;
  unsigned leadingBytes = 16; ///< from one panel to the next, along M or N
  unsigned strideBytes = 1024; ///< from eight rows to the next eight
  /// All of a descriptor but the address.
  uint64_t descriptor() const;
};

/// Reads the fields off a buffer's layout; nothing when no descriptor describes it.
std::optional<WgmmaOperand> describeWgmmaOperand(const Layout &buffer, unsigned elementBits,
                                                 bool isA);

} // namespace tilec

#endif // TILEC_ATOMS_WGMMA_H

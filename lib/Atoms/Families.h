//===- Families.h - the records, one a file --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Private to lib/Atoms: each family's file defines its record.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_ATOMS_FAMILIES_H
#define TILEC_LIB_ATOMS_FAMILIES_H

#include "tilec/Atoms/Atom.h"

namespace tilec {

extern const Atom fmaAtom;
/// mma.sync, MmaSync.cpp.
extern const Atom mmaSyncAtom, mmaSyncWideAtom, mmaSyncTF32Atom, mmaSyncTF32x3Atom,
    mmaSyncF8Atom, mmaSyncF8HalfAtom, mmaSyncF8BitsAtom;

/// Products of one thread with accumulators in tensor memory, Tcgen05.cpp.
extern const Atom tcgen05Atom, tcgen05IntegerAtom, tcgen05PromotedAtom;

/// Products of warp groups, Wgmma.cpp.
extern const Atom wgmmaAtom, wgmmaPromotedAtom, wgmmaTransposedAtom,
    wgmmaPromotedTransposedAtom;

} // namespace tilec

#endif // TILEC_LIB_ATOMS_FAMILIES_H

//===- MmaProblem.h - a tile.mma as the atoms see it -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_TRANSFORMS_MMAPROBLEM_H
#define TILEC_TRANSFORMS_MMAPROBLEM_H

#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Shapes and types of a product on `numWarps` warps; features of the chip are left out.
MmaProblem getMmaProblem(tile::MmaOp mma, unsigned numWarps);

/// The atom named on the product if it supports the problem, else the best one.
const Atom *getAtom(tile::MmaOp mma, const MmaProblem &problem);

} // namespace tilec

#endif // TILEC_TRANSFORMS_MMAPROBLEM_H

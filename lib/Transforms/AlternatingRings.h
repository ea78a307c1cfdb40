//===- AlternatingRings.h - two rings of one place each ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Two rings that threads fill and one loop takes from by turns, as attention does from keys
// and values, need a single place each: where threads meet for the second, they are done with
// the first one's, which is filled again from there on.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_ALTERNATINGRINGS_H
#define TILEC_LIB_TRANSFORMS_ALTERNATINGRINGS_H

#include "tilec/TileGPU/TileGPU.h"

namespace tilec {

/// Whether `rings` are two of which ScheduleLoops lets copies run ahead with one place each.
bool canAlternate(llvm::ArrayRef<tgpu::RingOp> rings);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ALTERNATINGRINGS_H

//===- OverlapParts.h - parts of a sum, one in flight, one added -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A part of ScheduleAsyncMma; OverlapParts.cpp says what it does.
//
//===------------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_OVERLAPPARTS_H
#define TILEC_LIB_TRANSFORMS_OVERLAPPARTS_H

#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Rewrites `loop` if it adds parts of a product in registers. Gives the first product
/// then, else null.
tgpu::MmaOp overlapParts(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_OVERLAPPARTS_H

//===- ConvertAhead.h - the next operand, beside a product ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A part of ScheduleAsyncMma; ConvertAhead.cpp says what it does.
//
//===------------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_CONVERTAHEAD_H
#define TILEC_LIB_TRANSFORMS_CONVERTAHEAD_H

#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Rewrites `loop` if threads compute an operand of its product in registers. Gives the
/// product of the new loop then, else null.
tgpu::MmaOp convertAhead(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_CONVERTAHEAD_H

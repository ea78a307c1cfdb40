//===- SplitWaits.h - half of the work behind a wait ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// For ScheduleAsyncMma; what it does is said in SplitWaits.cpp.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_SPLITWAITS_H
#define TILEC_LIB_TRANSFORMS_SPLITWAITS_H

#include "tilec/TileGPU/TileGPU.h"

namespace tilec {

/// Moves half of the powers that `a` is made of, and all that needs them, behind `wait`, if
/// there are powers in front of it in the same block. Gives whether it did.
bool computeHalfBehind(tgpu::MmaWaitOp wait, mlir::Value a);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SPLITWAITS_H

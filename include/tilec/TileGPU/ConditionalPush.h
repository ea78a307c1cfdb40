//===- ConditionalPush.h - pushes under a condition ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: an `scf.if`. Out: the push of a ring that threads fill, if the branch does nothing
// else besides scalar arithmetic:
//
//   scf.if %comes { %i = arith.addi %k, %c2   tgpu.push %ring { … %i … } }
//
// Such a push always closes a group of copies, empty or not, as pops count groups
// (RingsCpAsync); so nothing else may come into the branch: what the push needs before
// it, a barrier for one, stands before the branch.
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILEGPU_CONDITIONALPUSH_H
#define TILEC_TILEGPU_CONDITIONALPUSH_H

#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec::tgpu {

/// The push, or null.
PushOp getConditionalPush(mlir::scf::IfOp branch);

} // namespace tilec::tgpu

#endif // TILEC_TILEGPU_CONDITIONALPUSH_H

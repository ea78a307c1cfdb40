//===- RolledLoop.h - what happens seldom, as a loop -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a thread does to each of its elements is straight-line code, as elements live in
// registers. Where it is seldom done, or is much code for one element (a division is
// ten instructions and a call, a millisecond of the assembler's time), the elements go
// through local memory instead, and the code is there once:
//
//   llvm.store %x, %memory : vector<32xf32>
//   scf.for %i = 0 to 4 {                             never unrolled
//     %piece = llvm.load %memory[%i] : vector<8xf32>
//     llvm.store (…%piece…), %memory[%i]
//   }
//   %y = llvm.load %memory : vector<32xf32>
//===----------------------------------------------------------------------===//

#ifndef TILEC_TRANSFORMS_ROLLEDLOOP_H
#define TILEC_TRANSFORMS_ROLLEDLOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tilec {

/// Keeps LLVM and the assembler from unrolling `loop`.
void keepRolled(mlir::scf::ForOp loop);

/// `body` of all of `vector`, in pieces of `lanes` lanes, or scalars for 1. It keeps the
/// type. What is no multiple of that, or less than two pieces, is done as one.
mlir::Value emitRolled(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
                       int64_t lanes, llvm::function_ref<mlir::Value(mlir::Value)> body);

} // namespace tilec
#endif // TILEC_TRANSFORMS_ROLLEDLOOP_H

//===- Elementwise.h - operations that act on each element ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `arith`, `math` and the elementwise `tile` operations on HostTiles. The same
// functions run the scalar operations of a reduction's region on many elements at
// once ("lanes"): the result then takes its shape from the operands.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_INTERPRETER_ELEMENTWISE_H
#define TILEC_INTERPRETER_ELEMENTWISE_H

#include "tilec/Interpreter/HostTile.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace tilec::interpreter {

using Operands = llvm::ArrayRef<const HostTile *>;

/// The result of an elementwise operation; nothing when `op` is not one.
std::optional<HostTile> evaluateElementwise(mlir::Operation *op, Operands operands);
/// Integer and float arithmetic, comparisons, selections of `arith`.
std::optional<HostTile> evaluateArith(mlir::Operation *op, Operands operands);
/// Conversions between element types, of `arith` and `tile.cast`.
/// The low and the high half of arith.mul{s,u}i_extended; nothing for other ops.
std::optional<std::pair<HostTile, HostTile>> evaluateExtendedMultiply(mlir::Operation *op,
                                                                      Operands operands);
std::optional<HostTile> evaluateConversion(mlir::Operation *op, Operands operands);
/// `math` functions: f32 and narrower computed in double and rounded once, f64 in
/// long double.
std::optional<HostTile> evaluateMath(mlir::Operation *op, Operands operands);

/// An unset result of `op`: its own type, or the operands' shape for lanes; one
/// element only if all operands are splats.
HostTile makeResult(mlir::Operation *op, Operands operands);

/// Calls `f(i)` for each element to be stored in `result`.
template <typename F>
void forEachStored(const HostTile &result, F f) {
  for (size_t i = 0, e = result.stored(); i < e; ++i)
    f(i);
}

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_ELEMENTWISE_H

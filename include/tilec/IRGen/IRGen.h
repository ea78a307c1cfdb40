//===- IRGen.h - checked programs to the tile dialect ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: a checked program, in which nothing is left to decide. Out: a module of
// `tile.kernel`s. The walk is total: it asks no questions, reports no errors and
// cannot fail.
//
//   let y = x / (1 + exp(-x));        // x: f32[128]
//     %0 = arith.negf %x : tensor<128xf32>
//     %1 = math.exp %0 : tensor<128xf32>
//     …
//
// `break`, `continue` and `return` are structured away: what they skip stands in
// an `scf.if` on a flag. Locations are those of the source, with the chain of
// calls for inlined fns.

#ifndef TILEC_IRGEN_IRGEN_H
#define TILEC_IRGEN_IRGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilec {

class SourceManager;
namespace checked {
class Program;
}

struct IRGenOptions {
  /// Approximate forms of functions everywhere (`--fast-math`).
  bool fastMath = false;
  /// a*b+c may become one fma (off: `--fmad=false`).
  bool contract = true;
  /// What is trusted and what would wrap is asserted (`--checked`).
  bool checked = false;
};

/// The dialects that the generated module uses.
void registerIRGenDialects(mlir::DialectRegistry &registry);

/// The module of `program`. Loads the dialects it needs into `context`.
mlir::OwningOpRef<mlir::ModuleOp> generateIR(mlir::MLIRContext &context,
                                             const checked::Program &program,
                                             const SourceManager &sources,
                                             const IRGenOptions &options = {});

} // namespace tilec

#endif // TILEC_IRGEN_IRGEN_H

//===- Passes.h - passes of the last MLIR stage ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Declarations generated from Passes.td. `registerTargetPasses()` makes the
// flags known to tile-opt.
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_PASSES_H
#define TILEC_TARGET_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilec {

#define GEN_PASS_DECL
#include "tilec/Target/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilec/Target/Passes.h.inc"

} // namespace tilec
#endif // TILEC_TARGET_PASSES_H

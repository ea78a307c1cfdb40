//===- Pipelines.h - the passes of each stage, in order -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// One function a stage adds the passes that lead to it from the stage before. The
// list is the same for every chip; passes ask the chip table for features.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_PIPELINES_H
#define TILEC_COMPILER_PIPELINES_H

#include "tilec/Compiler/Compiler.h"

#include "mlir/Pass/PassManager.h"

namespace tilec {

/// Fresh from IR generation → stage `tile`: canonical, invariants hoisted, a*b+c
/// contracted.
void addTilePasses(mlir::OpPassManager &passes, const CompileOptions &options);
/// `tile` → `laid-out`: one build per set of facts, every tile has a layout.
void addLaidOutPasses(mlir::OpPassManager &passes, const CompileOptions &options, const Chip &chip);
/// `laid-out` → `staged`: shared memory and barriers are explicit.
void addStagedPasses(mlir::OpPassManager &passes, const CompileOptions &options, const Chip &chip);
/// `staged` → `simt`: one vector per thread and tile.
void addSIMTPasses(mlir::OpPassManager &passes, const CompileOptions &options, const Chip &chip);

} // namespace tilec

#endif // TILEC_COMPILER_PIPELINES_H

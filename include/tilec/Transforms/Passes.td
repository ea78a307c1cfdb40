//===- Passes.td - passes on tile IR, in pipeline order ------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// One pass a file: `AssignLayouts` is lib/Transforms/AssignLayouts.cpp, the flag
// --tile-assign-layouts, test/Transforms/assign-layouts.mlir and a part of
// docs/stages.md.

#ifndef TILEC_TRANSFORMS_PASSES_TD
#define TILEC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- stage tile → laid-out ----------------------------------------------===//

def SplitBuilds : Pass<"tile-split-builds", "::mlir::ModuleOp"> {
  let summary = "one copy of each kernel per set of facts the launcher can check";
  let description = [{
    A kernel that accesses tiles gets a second build that relies on `aligned16`
    (every array's base and non-innermost pitches are multiples of 16 bytes, so
    accesses are as wide as the hardware has them) and `disjoint` (no written
    array overlaps another, so `arrays_overlap` goes). Its symbol is the kernel's
    with `__aligned16`. Every build names its kernel in `tile.kernel`.
  }];
  let options = [
    Option<"onlyGeneral", "only-general", "bool", "false", "No builds that rely on facts">];
}

#endif // TILEC_TRANSFORMS_PASSES_TD

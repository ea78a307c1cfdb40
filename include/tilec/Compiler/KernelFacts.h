//===- KernelFacts.h - launch facts out of a kernel ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a `tile.kernel`. Out: the KernelInfo that launchers need, without builds:
// name, parameters, grid, preconditions, constants, hints, prints and assertions.
//
// Builds are what lowering made of it: the `llvm.func` of a build names its kernel
// and says in attributes what a launch must know:
//
//   tile.kernel = "matmul"            tile.facts = ["aligned16"]
//   tile.num_warps = 8 : i32          warps that compute …
//   tile.access_warps = 4 : i32       … and those that fetch for them, behind
//   tile.shared_bytes = 196608 : i32
//   tile.persistent = 1 : i32         blocks per multiprocessor; each takes several positions
//   tile.cluster = 2 : i32            blocks per cluster
//   tile.positions = 4 : i32          positions of the grid per block, each with its own warps
//   tile.tensor_maps = [{param = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64}]
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_KERNELFACTS_H
#define TILEC_COMPILER_KERNELFACTS_H

#include "tilec/Support/KernelInfo.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilec {

/// The launch facts that stand in `kernel`'s attributes and types. Its prints and
/// assertions are numbered on the way (DebugSites.h).
KernelInfo describeKernel(tile::KernelOp kernel);

/// Adds the builds in `module` to the kernels they belong to, in the order in which
/// a launcher tries them.
void describeBuilds(mlir::ModuleOp module, std::vector<KernelInfo> &kernels);
/// Adds the builds of `more` to `kernels`, which are the same ones, in that order, too.
void addBuilds(std::vector<KernelInfo> &kernels, llvm::ArrayRef<KernelInfo> more);

} // namespace tilec

#endif // TILEC_COMPILER_KERNELFACTS_H

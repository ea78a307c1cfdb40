//===- TileGPU.h - the dialect of named resources ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Types and operations of stage `staged`, see TileGPUOps.td.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILEGPU_TILEGPU_H
#define TILEC_TILEGPU_TILEGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

#include "tilec/TileGPU/TileGPUDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tilec/TileGPU/TileGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "tilec/TileGPU/TileGPUOps.h.inc"

namespace tilec::tgpu {

/// On tile.kernel: warps of the access part, behind the kernel's own (i64).
inline constexpr llvm::StringLiteral accessWarpsAttrName = "tgpu.access_warps";
/// On tgpu.pop of a ring that threads fill: so many groups, of all such rings, are always
/// closed between its own and here (i64).
inline constexpr llvm::StringLiteral pendingAttrName = "tgpu.pending";
/// On tile.kernel: it is persistent, with so many blocks per multiprocessor (i64).
inline constexpr llvm::StringLiteral residentBlocksAttrName = "tgpu.resident_blocks";

/// On tile.kernel: where in shared memory the barrier and the address of tensor memory are,
/// and how many columns of it the block takes (array<i64>).
inline constexpr llvm::StringLiteral tensorMemoryAttrName = "tgpu.tensor_memory";

/// On tile.kernel: so many positions of the grid share a block, each with warps of its own
/// that never meet (i64).
inline constexpr llvm::StringLiteral positionsAttrName = "tgpu.positions";

/// On tile.kernel: blocks per cluster (i64); absent: no clusters.
inline constexpr llvm::StringLiteral clusterAttrName = "tgpu.cluster";
/// On tile.kernel: along this axis of the grid the blocks of a cluster lie side by side, and the
/// launch may leave them alone (i64).
inline constexpr llvm::StringLiteral clusterAxisAttrName = "tgpu.cluster_axis";
/// On tile.kernel: it waits for the grids before it by itself (unit).
inline constexpr llvm::StringLiteral awaitsGridsAttrName = "tile.awaits_grids";
/// On tile.kernel: so many blocks share each position of the grid, those of a cluster or such
/// that add up in memory; 0: the launch decides.
inline constexpr llvm::StringLiteral splitKAttrName = "tgpu.split_k";
/// On tile.kernel, of a build for small grids: so many of its blocks find room on a
/// multiprocessor (i64); absent: one, as far as is known.
inline constexpr llvm::StringLiteral blocksAtOnceAttrName = "tile.blocks_at_once";

} // namespace tilec::tgpu

#endif // TILEC_TILEGPU_TILEGPU_H

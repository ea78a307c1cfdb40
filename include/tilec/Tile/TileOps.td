//===- TileOps.td - all operations of the tile dialect ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One file per subject; this one lists them, and is what TableGen reads.

#ifndef TILEC_TILE_TILEOPS_TD
#define TILEC_TILE_TILEOPS_TD

include "tilec/Tile/TileKernelOps.td"
include "tilec/Tile/TileLayout.td"
include "tilec/Tile/TileMemoryOps.td"
include "tilec/Tile/TileShapeOps.td"
include "tilec/Tile/TileComputeOps.td"

#endif // TILEC_TILE_TILEOPS_TD

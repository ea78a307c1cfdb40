//===- TileDialect.h - the tile dialect ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The dialect class. Most users want TileOps.h, which includes all of it.

#ifndef TILEC_TILE_TILEDIALECT_H
#define TILEC_TILE_TILEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "tilec/Tile/TileDialect.h.inc"

#endif // TILEC_TILE_TILEDIALECT_H

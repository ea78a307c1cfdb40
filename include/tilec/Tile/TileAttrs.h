//===- TileAttrs.h - attributes of the tile dialect ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Enumerations and attribute classes, generated from TileAttrs.td.

#ifndef TILEC_TILE_TILEATTRS_H
#define TILEC_TILE_TILEATTRS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileDialect.h"

#include "tilec/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilec/Tile/TileAttrs.h.inc"

#endif // TILEC_TILE_TILEATTRS_H

//===- TileOps.h - operations of the tile dialect ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// All of the tile dialect: the file to include. The operations are specified in
// TileOps.td and the files it lists.

#ifndef TILEC_TILE_TILEOPS_H
#define TILEC_TILE_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilec/Tile/TileAttrs.h"
#include "tilec/Tile/TileDialect.h"
#include "tilec/Tile/TileTypes.h"

namespace tilec::tile {

/// What `tile.assume` reads and writes: nothing but its own place.
struct AssumptionResource
    : public mlir::SideEffects::Resource::Base<AssumptionResource> {
  llvm::StringRef getName() final { return "assumptions"; }
};

/// What `tile.print` and `tile.assert` write: the host's record of the launch.
struct HostResource : public mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "host"; }
};

/// Whether a write can come between `op`, which reads `array`, and another place
/// in the kernel. Nobody writes an array without `mut`: reading it is no effect,
/// unless arrays may overlap.
bool isReadObservable(mlir::Operation *op, ArrayType array);

/// The only value of a splat constant or constant scalar, or null.
mlir::TypedAttr getSplatConstant(mlir::Attribute attr);

/// Parses and prints `!tile.array<…>` in full (the generated format drops the
/// name of a type that the operation implies).
mlir::ParseResult parseArrayType(mlir::OpAsmParser &parser, mlir::Type &type);
void printArrayType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type type);

} // namespace tilec::tile

#define GET_OP_CLASSES
#include "tilec/Tile/TileOps.h.inc"

#endif // TILEC_TILE_TILEOPS_H

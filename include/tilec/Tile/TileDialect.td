//===- TileDialect.td - the tile dialect ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The dialect itself and the base classes of its operations, types and
// attributes. TileOps.td pulls in everything; each file holds one subject.

#ifndef TILEC_TILE_TILEDIALECT_TD
#define TILEC_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilec::tile";
  let summary = "what a user of the tile language can write";
  let description = [{
    A program over blocks and tiles. A tile is a builtin `tensor` with a static
    power-of-two shape; a tile of rank 0 is a plain scalar; elementwise work is
    plain `arith` and `math`; control flow is `scf`. This dialect adds what
    those lack: kernels, arrays in device memory with defined edges, shape
    changes, reductions, matrix multiplication, and integer operations that are
    defined for every operand.

    Nothing here names threads, registers, shared memory or a chip. In the
    laid-out stage every tensor type carries a `#tile.layout` encoding; the
    operations stay the same.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

#endif // TILEC_TILE_TILEDIALECT_TD

//===- TileShapeOps.td - tiles made and reshaped ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Creation of tiles and changes of shape. No operation here computes a new
// element value, except `iota`.

#ifndef TILEC_TILE_TILESHAPEOPS_TD
#define TILEC_TILE_TILESHAPEOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile of one value";
  let description = [{
    Constant tiles are `arith.constant`; this is for values of the run.

    - splat-C1 the value has the tile's element type.

    ```mlir
    %t = tile.splat %x : f32 -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "the tile 0, 1, 2, …";
  let description = [{
    Element i is i, modulo 2^width. Start, step and float elements are
    elementwise operations on top.

    - iota-C1 the tile has rank 1.
    - iota-C2 its elements are integers of at least 8 bits, or `index`.

    ```mlir
    %t = tile.iota : tensor<128xi32>
    ```
  }];
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "stretch dims of size 1";
  let description = [{
    - broadcast-C1 both tiles have the same rank.
    - broadcast-C2 each dim of the source is 1 or equal to the result's.
    - broadcast-C3 the element types are equal.

    ```mlir
    %t = tile.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements, in row-major order, in another shape";
  let description = [{
    Also adds and drops dims of size 1. A scalar counts as a tile of one
    element, so `f32` and `tensor<1x1xf32>` reshape into each other.

    - reshape-C1 both have the same number of elements.
    - reshape-C2 the element types are equal.

    ```mlir
    %t = tile.reshape %x : tensor<8x4xf32> -> tensor<2x16xf32>
    %u = tile.reshape %s : f32 -> tensor<1x1xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "reorder the dims of a tile";
  let description = [{
    Dim k of the result is dim `dims[k]` of the source.

    - permute-C1 `dims` is a permutation of the source's dims.
    - permute-C2 the result has the source's dims in that order, and its element
      type.

    ```mlir
    %t = tile.permute %x [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$source,
    "::llvm::ArrayRef<int64_t>":$dims)>];
  let assemblyFormat = "$source $dims attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TILEC_TILE_TILESHAPEOPS_TD

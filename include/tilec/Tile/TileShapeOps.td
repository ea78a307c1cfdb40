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
  let hasCanonicalizer = 1;
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
  let hasCanonicalizer = 1;
}

def Tile_CatOp : Tile_Op<"cat", [Pure, SameTypeOperands]> {
  let summary = "join tiles along an axis";
  let description = [{
    - cat-C1 there is a power of two of sources, all of one type.
    - cat-C2 the axis lies in the rank; the result's size along it is that of all
      sources, its other sizes and element type are theirs.

    ```mlir
    %t = tile.cat(%a, %b) axis 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis attr-dict `:` functional-type($sources, $result)
  }];
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "one slice of a tile, or one element";
  let description = [{
    The source is cut into slices of the result's shape; the index counts them.
    A scalar result is one element. A slice outside the source is zeros.

    - extract-C1 there is one index per dim of the source.
    - extract-C2 the result is a tile of the source's rank, in no dim larger, or a
      scalar; its element type is the source's.

    ```mlir
    %t = tile.extract %x[%i, %j] : tensor<8x8xf32> -> tensor<4x8xf32>
    %e = tile.extract %x[%i, %j] : tensor<8x8xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Variadic<Index>:$index);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $source `[` $index `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_InsertOp : Tile_Op<"insert", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a tile with one slice replaced";
  let description = [{
    The destination is cut into slices of the slice's shape; the index counts
    them. At an index outside, nothing is replaced.

    - insert-C1 there is one index per dim of the destination.
    - insert-C2 the slice is a tile of the destination's rank, in no dim larger;
      its element type is the destination's.

    ```mlir
    %t = tile.insert %s into %x[%i, %j] : tensor<4x8xf32> into tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$slice, Tile_Tile:$dest, Variadic<Index>:$index);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $slice `into` $dest `[` $index `]` attr-dict `:` type($slice) `into` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_FlipOp : Tile_Op<"flip", [Pure, SameOperandsAndResultType]> {
  let summary = "reverse a tile along an axis";
  let description = [{
    - flip-C1 the axis lies in the rank.

    ```mlir
    %t = tile.flip %x axis 1 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "elements of a tile at given indices along an axis";
  let description = [{
    With indices of rank 1, `result[…, i, …] = source[…, indices[i], …]`. With
    `along`, indices have the result's shape and choose for each element:
    `result[p, i, q] = source[p, indices[p, i, q], q]`. Indices are signed; one
    outside gives 0.

    - take-C1 the axis lies in the rank.
    - take-C2 the result's shape is the source's but for the axis, which has the
      indices' size; the element type is the source's.
    - take-C3 indices have rank 1, or with `along` the result's shape.

    ```mlir
    %t = tile.take %x[%i] axis 1 : tensor<8x4xf32>, tensor<16xi32> -> tensor<8x16xf32>
    %u = tile.take %x[%j] axis 1 along : tensor<8x4xf32>, tensor<8x2xi32> -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Tile_IntValue:$indices, I32Attr:$axis,
    UnitAttr:$along);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `axis` $axis (`along` $along^)? attr-dict `:`
    type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILE_TILESHAPEOPS_TD

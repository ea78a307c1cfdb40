//===- TileTypes.td - types of the tile dialect ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The array type, and the constraints that say what a scalar and a tile are.

#ifndef TILEC_TILE_TILETYPES_TD
#define TILEC_TILE_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "tilec/Tile/TileDialect.td"

def Tile_ArrayType : TypeDef<Tile_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "an array in device memory";
  let description = [{
    A view of device memory: a base, one size per dimension and, when `strided`,
    one stride (in elements) per dimension. Without `strided` it is row-major
    with innermost stride 1, and with `strided rows` only that is known of its
    strides. Without `mut` nobody writes it while the kernel runs. Sizes are `?` or fixed. Arrays only appear as kernel parameters.

    - array-C1 the rank is 1 … 6.
    - array-C2 the element type is one of `i1 i8 i16 i32 i64 index f16 bf16 f32
      f64 f8E4M3FN f8E5M2` (no `tf32`). An `i1` element is one byte, any
      non-zero byte reads as true; an `index` element is an `i64`.

    ```mlir
    !tile.array<?x128xbf16>
    !tile.array<?x?xf32, mut>
    !tile.array<?x?xf32, mut strided>
    !tile.array<?x?xf32, mut strided rows>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "bool":$mut,
    "bool":$strided,
    "bool":$denseRows);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
      "::mlir::Type":$elementType, CArg<"bool", "false">:$mut,
      CArg<"bool", "false">:$strided, CArg<"bool", "false">:$denseRows), [{
      return $_get(elementType.getContext(), shape, elementType, mut, strided, denseRows);
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isMut() const { return getMut(); }
    /// Strides are parameters of the kernel.
    bool hasStrides() const { return getStrided(); }
    /// Nothing is known of the strides, not even of the last.
    bool isStrided() const { return getStrided() && !getDenseRows(); }
    bool isDynamicDim(unsigned dim) const {
      return ::mlir::ShapedType::isDynamic(getShape()[dim]);
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// As an operand; printed in full, unlike the type's own definition.
def Tile_Array : Type<CPred<"::llvm::isa<::tilec::tile::ArrayType>($_self)">,
  "an array", "::tilec::tile::ArrayType">;

// A scalar: also the element of a tile.
def Tile_Scalar : Type<CPred<"::tilec::tile::isScalarType($_self)">,
  "a scalar (i1 i8 i16 i32 i64 index f16 bf16 f32 f64 tf32 f8E4M3FN f8E5M2)">;
def Tile_IntScalar : Type<CPred<"::tilec::tile::isScalarType($_self) && $_self.isIntOrIndex()">,
  "an integer scalar (i1 i8 i16 i32 i64 index)">;

// A tile: tile-C1 each dim a power of two, tile-C2 at most 2^20 elements,
// tile-C3 rank 1 … 6 (rank 0 is a scalar).
def Tile_Tile : Type<CPred<"::tilec::tile::isTileType($_self)">,
  "a tile (rank 1 to 6, power-of-two dims, at most 2^20 elements)", "::mlir::RankedTensorType">;
def Tile_Value : Type<CPred<"::tilec::tile::isScalarOrTileType($_self)">,
  "a tile (rank 1 to 6, power-of-two dims, at most 2^20 elements) or a scalar">;
def Tile_IntValue : Type<And<[Tile_Value.predicate,
  CPred<"::mlir::getElementTypeOrSelf($_self).isIntOrIndex()">]>,
  "a tile of integers or an integer scalar">;

#endif // TILEC_TILE_TILETYPES_TD

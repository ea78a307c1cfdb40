//===- TileMemoryOps.td - loads and stores ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Access to arrays. All of it is defined at the edges: a program cannot read or
// write outside an array.

#ifndef TILEC_TILE_TILEMEMORYOPS_TD
#define TILEC_TILE_TILEMEMORYOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

def Tile_LoadOp : Tile_Op<"load", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AlwaysSpeculatable]> {
  let summary = "read a tile, or one element, of an array";
  let description = [{
    Tile dim k runs along array dim `order[k]` (default: k). In tile space
    (default) the tile starts at element `index[k] * shape[k]` of that dim; with
    `elements` it starts at element `index[k]`. With `elements` and a scalar
    result one element is read.

    Reading an array without `mut` has no side effect, so such loads move,
    merge and vanish freely (unless the kernel says `arrays_overlap`).

    - load-C1 there is one index per array dim.
    - load-C2 the result is a tile of the array's rank, or a scalar with
      `elements`.
    - load-C3 result and array have the same element type.
    - load-C4 an element outside the array reads as `pad` (default 0, false),
      behind the end as before the begin: what a tile at a negative index has
      inside is read. Positions are mathematical integers: nothing overflows.
    - load-C5 `order` is a permutation of the array's dims.
    - load-C6 `pad` has the element type.
    - load-C7 `in_bounds` has one flag per tile dim. A set flag promises that no
      element is outside the array along that dim.

    ```mlir
    %t = tile.load %a[%i, %j] order [1, 0] pad(1.0 : f32)
        : !tile.array<?x?xf32> -> tensor<8x4xf32>
    %e = tile.load %a[%i, %j] elements : !tile.array<?x?xf32> -> f32
    ```
  }];
  let arguments = (ins
    Tile_Array:$array,
    Variadic<Index>:$index,
    OptionalAttr<DenseI64ArrayAttr>:$order,
    OptionalAttr<TypedAttrInterface>:$pad,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds,
    UnitAttr:$elements);
  let results = (outs Tile_Value:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$array,
    "::mlir::ValueRange":$index, CArg<"bool", "false">:$elements,
    CArg<"::mlir::TypedAttr", "{}">:$pad,
    CArg<"::llvm::ArrayRef<int64_t>", "{}">:$order)>];
  let assemblyFormat = [{
    $array `[` $index `]` (`elements` $elements^)? (`order` $order^)?
    (`pad` `(` $pad^ `)`)? (`in_bounds` $in_bounds^)? attr-dict
    `:` custom<ArrayType>(type($array)) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The array dim along which tile dim `dim` runs.
    int64_t getArrayDim(unsigned dim) {
      return getOrder() ? (*getOrder())[dim] : dim;
    }
    bool isInBounds(unsigned dim) {
      return getInBounds() && (*getInBounds())[dim];
    }
    /// What elements outside the array read as: `pad`, or the type's zero.
    ::mlir::TypedAttr getPadValue();
  }];
}

def Tile_StoreOp : Tile_Op<"store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write a tile, or one element, to an array";
  let description = [{
    The position is as in `tile.load`. Elements outside the array are not
    written.

    - store-C1 the array is `mut`.
    - store-C2 the value is a tile of the array's rank, or a scalar with
      `elements`: its shape is what is written.
    - store-C3 there is one index per array dim.
    - store-C4 value and array have the same element type.
    - store-C5 `order` is a permutation of the array's dims.
    - store-C6 `in_bounds` has one flag per tile dim.

    ```mlir
    tile.store %a[%i, %j], %t : !tile.array<?x?xf32, mut>, tensor<8x4xf32>
    tile.store %a[%i, %j], %e elements : !tile.array<?x?xf32, mut>, f32
    ```
  }];
  let arguments = (ins
    Tile_Array:$array,
    Variadic<Index>:$index,
    Tile_Value:$value,
    OptionalAttr<DenseI64ArrayAttr>:$order,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds,
    UnitAttr:$elements);
  let builders = [OpBuilder<(ins "::mlir::Value":$array,
    "::mlir::ValueRange":$index, "::mlir::Value":$value,
    CArg<"bool", "false">:$elements,
    CArg<"::llvm::ArrayRef<int64_t>", "{}">:$order)>];
  let assemblyFormat = [{
    $array `[` $index `]` `,` $value (`elements` $elements^)?
    (`order` $order^)? (`in_bounds` $in_bounds^)? attr-dict
    `:` custom<ArrayType>(type($array)) `,` type($value)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The array dim along which tile dim `dim` runs.
    int64_t getArrayDim(unsigned dim) {
      return getOrder() ? (*getOrder())[dim] : dim;
    }
    bool isInBounds(unsigned dim) {
      return getInBounds() && (*getInBounds())[dim];
    }
  }];
}

// What InferBounds finds out of accesses by index; both are promises.
//
//   in_bounds [d0, d1, …]   no index is outside the array along the dims with a set flag
//   run [k, n]              along tile dim k, aligned groups of n elements lie side by side
//                           in memory: the last index counts up from a multiple of n, the
//                           others and the mask are constant, and the array's last dim ends
//                           at a multiple of n (or is not left)
class Tile_IndexedOp<string mnemonic, list<Trait> traits>
    : Tile_Op<mnemonic, traits> {
  code moreDeclarations = "";
  let extraClassDeclaration = [{
    bool isInBounds(unsigned dim) {
      return getInBounds() && (*getInBounds())[dim];
    }
    unsigned getRunDim() { return getRun() ? (*getRun())[0] : 0; }
    int64_t getRunLength() { return getRun() ? (*getRun())[1] : 1; }
  }] # moreDeclarations;
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_IndexedOp<"gather", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AlwaysSpeculatable]> {
  let summary = "read the elements at given indices";
  let description = [{
    Element p of the result is `array[index0[p], index1[p], …]`. Indices count
    elements and are signed; where one is outside its dim, or the mask is false,
    the element is `pad` (default 0).

    - gather-C1 there is one index per array dim.
    - gather-C2 indices and mask have the result's shape; the mask is `i1`.
    - gather-C3 result and array have the same element type, and so has `pad`.
    - gather-C4 `in_bounds` has one flag per array dim; `run` names a dim of the
      result and a power of two that divides its size.

    ```mlir
    %t = tile.gather %a[%i, %j] mask(%m : tensor<8xi1>)
        : !tile.array<?x?xf32>, [tensor<8xi32>, tensor<8xi32>] -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_Array:$array, Variadic<Tile_IntValue>:$index,
    Optional<Tile_Value>:$mask, OptionalAttr<TypedAttrInterface>:$pad,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds, OptionalAttr<DenseI64ArrayAttr>:$run);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $array `[` $index `]` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`pad` `(` $pad^ `)`)? (`in_bounds` $in_bounds^)? (`run` $run^)? attr-dict
    `:` custom<ArrayType>(type($array)) `,` `[` type($index) `]` `->` type($result)
  }];
  let moreDeclarations = [{
    /// What elements outside the array read as: `pad`, or the type's zero.
    ::mlir::TypedAttr getPadValue();
  }];
}

def Tile_ScatterOp : Tile_IndexedOp<"scatter", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write elements to given indices";
  let description = [{
    `array[index0[p], index1[p], …] = value[p]` where all indices are inside and
    the mask is true. Of several values for one element one wins.

    - scatter-C1 the array is `mut`.
    - scatter-C2 there is one index per array dim.
    - scatter-C3 indices and mask have the value's shape; the mask is `i1`.
    - scatter-C4 value and array have the same element type.
    - scatter-C5 `in_bounds` and `run` as of gather.

    ```mlir
    tile.scatter %a[%i], %v : !tile.array<?xf32, mut>, [tensor<8xi32>], tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_Array:$array, Variadic<Tile_IntValue>:$index,
    Tile_Value:$value, Optional<Tile_Value>:$mask,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds, OptionalAttr<DenseI64ArrayAttr>:$run);
  let assemblyFormat = [{
    $array `[` $index `]` `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`in_bounds` $in_bounds^)? (`run` $run^)? attr-dict
    `:` custom<ArrayType>(type($array)) `,` `[` type($index) `]` `,` type($value)
  }];
}

def Tile_AtomicOp : Tile_IndexedOp<"atomic", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an atomic operation on each element at given indices";
  let description = [{
    Every element of the indices is one atomic operation, done once whatever a
    layout replicates. The result is the old value; outside the array or where
    the mask is false nothing happens and it is 0.

    | kind | element types |
    |---|---|
    | `add` | i32 i64 f16 bf16 f32 f64 |
    | `max`, `min` | the same; `unsigned` for unsigned integers; -0 < +0, a NaN operand is stored |
    | `and`, `or`, `xor` | i32 i64 |
    | `xchg`, `cas`, `load`, `store` | i32 i64 f32 f64; `cas` compares bits |

    - atomic-C1 the array is `mut`, except for `load`.
    - atomic-C2 there is one index per array dim.
    - atomic-C3 operands, mask (`i1`) and result have one shape.
    - atomic-C4 operands and result have the array's element type, one that the
      table lists.
    - atomic-C5 `cas` has `expected` and `value`, `load` neither, the others
      `value`; all but `store` have a result.
    - atomic-C6 `in_bounds` and `run` as of gather.

    ```mlir
    %old = tile.atomic add %a[%i] value(%v : tensor<8xf32>)
        : !tile.array<?xf32, mut>, [tensor<8xi32>] -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_Array:$array,
    Variadic<Tile_IntValue>:$index, Optional<Tile_Value>:$expected,
    Optional<Tile_Value>:$value, Optional<Tile_Value>:$mask,
    DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::Relaxed">:$order,
    DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::GPU">:$scope,
    UnitAttr:$is_unsigned,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds, OptionalAttr<DenseI64ArrayAttr>:$run);
  let results = (outs Optional<Tile_Value>:$result);
  let assemblyFormat = [{
    $kind $array `[` $index `]`
    (`expected` `(` $expected^ `:` type($expected) `)`)?
    (`value` `(` $value^ `:` type($value) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`order` `(` $order^ `)`)? (`scope` `(` $scope^ `)`)? (`unsigned` $is_unsigned^)?
    (`in_bounds` $in_bounds^)? (`run` $run^)? attr-dict
    `:` custom<ArrayType>(type($array)) `,` `[` type($index) `]` (`->` type($result)^)?
  }];
}

#endif // TILEC_TILE_TILEMEMORYOPS_TD

//===- TileComputeOps.td - reductions, mma, integers, casts ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What computes and has no equal in `arith` and `math`.

#ifndef TILEC_TILE_TILECOMPUTEOPS_TD
#define TILEC_TILE_TILECOMPUTEOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

def Tile_ReduceOp : Tile_Op<"reduce", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
    SingleBlock]> {
  let summary = "combine the elements along some axes";
  let description = [{
    All sources have one shape; at each position they form one tuple. The region
    combines two tuples, `(l…, r…) -> (…)`, and must be associative and
    commutative; in which order tuples are combined is not specified. There is
    no initial value: every axis has at least one element. The reduced axes
    vanish from the result; when none is left the result is a scalar.

    - reduce-C1 there is at least one source and all have the same shape.
    - reduce-C2 the axes are distinct, ascending, and lie in the rank.
    - reduce-C3 one result per source: its element type, the shape without axes.
    - reduce-C4 the region takes the element types twice and yields them once.

    ```mlir
    %s = tile.reduce(%x) axes [1] : (tensor<8x4xf32>) -> tensor<8xf32> {
    ^bb0(%l: f32, %r: f32):
      %0 = arith.addf %l, %r : f32
      tile.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let builders = [
    // The body receives the left and the right tuple and returns the combined.
    OpBuilder<(ins "::mlir::ValueRange":$sources, "::llvm::ArrayRef<int64_t>":$axes,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, "
      "::mlir::Location, ::mlir::ValueRange, ::mlir::ValueRange)>":$body)>];
  let assemblyFormat = [{
    `(` $sources `)` `axes` $axes attr-dict `:` functional-type($sources, $results)
    $combiner
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `type` without `axes`; a scalar when no dim is left.
    static ::mlir::Type reducedType(::mlir::RankedTensorType type,
                                    ::llvm::ArrayRef<int64_t> axes);
    YieldOp getYield();
  }];
}

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply and accumulate: a x b + acc";
  let description = [{
    2-D, or 3-D with a leading batch. Products and sums are computed in the
    accumulator's type; the order of summation is not specified.

    | a, b | acc | precision |
    |---|---|---|
    | f16 | f32, f16 | exact |
    | bf16 | f32 | exact |
    | f8E4M3FN, f8E5M2 (mixed) | f32 | exact, fast |
    | tf32 | f32 | exact |
    | f32 | f32 | exact, tf32, tf32x3 |
    | f64 | f64 | exact |
    | i8 (each signed or unsigned) | i32 | exact |

    - mma-C1 the ranks are all 2 or all 3.
    - mma-C2 the shapes are MxK, KxN, MxN; a batch is equal or 1 in a and b.
    - mma-C3 the element types stand in the table.
    - mma-C4 the precision stands in the table.
    - mma-C5 `a_unsigned` and `b_unsigned` are for integers only.

    `atom` names the instruction family, once SelectAtoms has chosen it.

    ```mlir
    %r = tile.mma %a, %b, %acc
        : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc,
    DefaultValuedAttr<Tile_MmaPrecision, "::tilec::tile::MmaPrecision::Exact">:$precision,
    UnitAttr:$a_unsigned, UnitAttr:$b_unsigned, OptionalAttr<StrAttr>:$atom);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
    CArg<"MmaPrecision", "MmaPrecision::Exact">:$precision,
    CArg<"bool", "false">:$aUnsigned, CArg<"bool", "false">:$bUnsigned), [{
      build($_builder, $_state, acc.getType(), a, b, acc, precision, aUnsigned, bUnsigned,
            ::mlir::StringAttr());
    }]>];
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`precision` `(` $precision^ `)`)?
    (`a_unsigned` $a_unsigned^)? (`b_unsigned` $b_unsigned^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tile_DivideOp : Tile_Op<"divide", [
    Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "integer division that is defined for every operand";
  let description = [{
    The quotient, rounded toward zero (`trunc`), down (`floor`) or up (`ceil`).
    The least signed value divided by -1 is itself. Division by zero gives an
    unspecified value and never traps.

    ```mlir
    %q = tile.divide floor signed %a, %b : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_QuotientRounding:$rounding,
    Tile_Signedness:$signedness, Tile_IntValue:$lhs, Tile_IntValue:$rhs);
  let results = (outs Tile_IntValue:$result);
  let assemblyFormat = "$rounding $signedness $lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_RemainderOp : Tile_Op<"remainder", [
    Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "integer remainder that is defined for every operand";
  let description = [{
    `a - b * divide(a, b)` with the same rounding: `trunc` gives the dividend's
    sign, `floor` the divisor's. The least signed value and -1 give 0. A zero
    divisor gives an unspecified value and never traps.

    - remainder-C1 the rounding is `trunc` or `floor`.

    ```mlir
    %r = tile.remainder trunc signed %a, %b : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_QuotientRounding:$rounding,
    Tile_Signedness:$signedness, Tile_IntValue:$lhs, Tile_IntValue:$rhs);
  let results = (outs Tile_IntValue:$result);
  let assemblyFormat = "$rounding $signedness $lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ShiftOp : Tile_Op<"shift", [
    Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "shift that is defined for every amount";
  let description = [{
    An amount of at least the width, read as unsigned (so every negative amount
    too), gives 0; `right_signed` then gives the sign: 0 or -1.

    ```mlir
    %r = tile.shift left %a, %n : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_ShiftKind:$kind, Tile_IntValue:$value,
    Tile_IntValue:$amount);
  let results = (outs Tile_IntValue:$result);
  let assemblyFormat = "$kind $value `,` $amount attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_CastOp : Tile_Op<"cast", [
    Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "convert a value to another type, by the language's rules";
  let description = [{
    | from → to | value |
    |---|---|
    | float → float | rounded (`rn` unless given); to f16, bf16, f32, tf32 overflow is IEEE's for that rounding |
    | float → f8 | rounded to nearest even; beyond the largest finite value, infinity included, becomes that value; NaN stays NaN |
    | float → integer | truncated, saturated; NaN gives 0 |
    | integer → float | rounded to nearest even; to f8 through f32 |
    | integer → integer | wraps; widened by `from_unsigned` or sign |
    | i1 → number | 0 or 1 |
    | number → i1 | `!= 0`, so NaN gives true |

    `arith` conversions are used instead where they mean the same.

    - cast-C1 both have the same shape.
    - cast-C2 `rounding` other than `rn` is for float → float, not f8.
    - cast-C3 `from_unsigned`, `to_unsigned` belong to an integer on that side.

    ```mlir
    %r = tile.cast %x : tensor<8xf32> -> tensor<8xf8E4M3FN>
    %i = tile.cast %x to_unsigned : tensor<8xf32> -> tensor<8xi8>
    %h = tile.cast %x round(rz) : tensor<8xf32> -> tensor<8xf16>
    ```
  }];
  let arguments = (ins Tile_Value:$source,
    DefaultValuedAttr<Tile_CastRounding, "::tilec::tile::CastRounding::NearestEven">:$rounding,
    UnitAttr:$from_unsigned, UnitAttr:$to_unsigned);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $source (`round` `(` $rounding^ `)`)? (`from_unsigned` $from_unsigned^)?
    (`to_unsigned` $to_unsigned^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [
    RecursiveMemoryEffects, RecursivelySpeculatable, AttrSizedOperandSegments,
    SingleBlock]> {
  let summary = "combine the elements before each, along an axis";
  let description = [{
    Inclusive: element i is the combination of elements 0 … i. Exclusive, with
    one initial scalar per source: of the initial tuple and elements 0 … i-1. The
    region is as in `tile.reduce`, but need not be commutative: operands keep the
    order of elements. `reverse` is flip, scan, flip.

    - scan-C1 there is at least one source and all have the same shape.
    - scan-C2 the axis lies in the rank.
    - scan-C3 results have the sources' types.
    - scan-C4 the region takes the element types twice and yields them once.
    - scan-C5 there are no initial values, or one per source of its element type.

    ```mlir
    %s = tile.scan(%x) axis 1 reverse exclusive(%zero : f32)
        : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%l: f32, %r: f32):
      %0 = arith.addf %l, %r : f32
      tile.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, Variadic<Tile_Scalar>:$inits,
    I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let builders = [
    // The body receives the left and the right tuple and returns the combined.
    OpBuilder<(ins "::mlir::ValueRange":$sources, "::mlir::ValueRange":$inits,
      "int32_t":$axis, "bool":$reverse,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, "
      "::mlir::Location, ::mlir::ValueRange, ::mlir::ValueRange)>":$body)>];
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis (`reverse` $reverse^)?
    (`exclusive` `(` $inits^ `:` type($inits) `)`)? attr-dict `:`
    functional-type($sources, $results) $combiner
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isExclusive() { return !getInits().empty(); }
    YieldOp getYield();
  }];
}

def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "sort along an axis";
  let description = [{
    The first source is the key, the others follow its permutation. Stable. NaN
    comes last, with `descending` first; -0 and +0 are equal.

    - sort-C1 there is at least one source and all have the same shape.
    - sort-C2 the axis lies in the rank.
    - sort-C3 results have the sources' types.

    ```mlir
    %k, %v = tile.sort(%x, %y) axis 0 descending
        : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I32Attr:$axis,
    UnitAttr:$descending, UnitAttr:$is_unsigned);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis (`descending` $descending^)?
    (`unsigned` $is_unsigned^)? attr-dict `:` functional-type($sources, $results)
  }];
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "how often each value occurs";
  let description = [{
    Element b of the result is the number of elements equal to b; others are
    ignored.

    - histogram-C1 the source's elements are integers.
    - histogram-C2 the result is a tile of rank 1 of `i32`.

    ```mlir
    %h = tile.histogram %x : tensor<1024xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins Tile_IntValue:$source, UnitAttr:$is_unsigned);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source (`unsigned` $is_unsigned^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILE_TILECOMPUTEOPS_TD

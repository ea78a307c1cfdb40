//===- TileGPUOps.td - operations on named resources ------------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The dialect of stage `staged`: what names a resource of the block. A tile that
// several threads exchange lives in a buffer of shared memory; who waits for whom
// is said by barriers. Tiles in registers stay builtin tensors with a
// `#tile.layout` encoding, and arithmetic on them stays arith, math and tile.
//
//   %b = tgpu.alloc : !tgpu.buffer<128x64xbf16, #swizzled>
//   tgpu.store %x, %b : tensor<128x64xbf16, #blocked>, !tgpu.buffer<…>
//   tgpu.barrier
//   %y = tgpu.load %b : !tgpu.buffer<…>, tensor<128x64xbf16, #other>
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_TILEGPU_TILEGPUOPS_TD
#define TILEC_TILEGPU_TILEGPUOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

def TileGPU_Dialect : Dialect {
  let name = "tgpu";
  let cppNamespace = "::tilec::tgpu";
  let summary = "Resources of a block: shared memory and barriers";
  let useDefaultTypePrinterParser = 1;
}

//===--------------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------------===//

def TileGPU_BufferType : TypeDef<TileGPU_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A tile in shared memory";
  let description = [{
    `!tgpu.buffer<128x64xbf16, #tile.layout<…>>`: the layout has offset bits only,
    counted in elements; each element has one place. Swizzles are values of it.

    An `i1` element takes one byte, `index` takes eight, `tf32` four.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "::tilec::tile::LayoutAttr":$layout);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$tile,
                                        "const ::tilec::Layout &":$layout)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getNumElements() const;
    /// Bytes of one element as stored.
    int64_t getElementBytes() const { return storedBytes(getElementType()); }
    int64_t getBytes() const { return getNumElements() * getElementBytes(); }
    /// Bytes that an element of this type takes in memory, shared or global.
    static int64_t storedBytes(::mlir::Type elementType);
  }];
}

//===--------------------------------------------------------------------------===//
// Operations
//===--------------------------------------------------------------------------===//

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_AllocOp : TileGPU_Op<"alloc"> {
  let summary = "A buffer in shared memory";
  let description = [{
    The buffer may be used wherever the result is visible. `offset`, in bytes from
    the start of the block's shared memory, is set by AllocateMemory; buffers that
    are not alive together may share bytes. Contents are undefined until stored.

    - alloc-C1: `offset`, when set, is a multiple of 16 and not negative.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<TileGPU_BufferType, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` qualified(type($buffer))";
  let hasVerifier = 1;
}

def TileGPU_StoreOp : TileGPU_Op<"store"> {
  let summary = "Registers to shared memory";
  let description = [{
    Writes the whole tile. Elements that several threads hold are written once.

    - store-C3: tile and buffer have the same shape and element type.
  }];
  let arguments = (ins AnyRankedTensor:$tile,
                       Arg<TileGPU_BufferType, "", [MemWrite]>:$buffer);
  let assemblyFormat = "$tile `,` $buffer attr-dict `:` type($tile) `,` qualified(type($buffer))";
  let hasVerifier = 1;
}

def TileGPU_LoadOp : TileGPU_Op<"load"> {
  let summary = "Shared memory to registers";
  let description = [{
    Reads the whole tile, in the layout of the result.

    - load-C5: tile and buffer have the same shape and element type.
  }];
  let arguments = (ins Arg<TileGPU_BufferType, "", [MemRead]>:$buffer);
  let results = (outs AnyRankedTensor:$tile);
  let assemblyFormat = "$buffer attr-dict `:` qualified(type($buffer)) `,` type($tile)";
  let hasVerifier = 1;
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier"> {
  let summary = "All threads of the block meet";
  let description = [{
    What any thread of the block read or wrote before, in shared or global memory,
    has happened for every thread after. Every thread must come here: the
    operation stands only under control flow that is the same for the whole block.
  }];
  // Effects on memory as a whole, so that nothing moves across.
  let assemblyFormat = "attr-dict";
}

def TileGPU_WarpReduceOp : TileGPU_Op<"warp_reduce", [
    RecursiveMemoryEffects, SameVariadicOperandSize, SingleBlock]> {
  let summary = "Combine along axes, each warp for itself";
  let description = [{
    As `tile.reduce`, but where elements of one position lie in several warps the
    warps' results stay apart: the result has a new leading dim that counts them.

    - warp_reduce-C1: there is at least one source and all have the same type but
      for the element.
    - warp_reduce-C2: results are tiles of one shape, one per source, with its
      element type.

    ```mlir
    %p = tgpu.warp_reduce(%x) axes [1] : (tensor<8x128xf32, #a>) -> tensor<4x8xf32, #b> {
    ^bb0(%l: f32, %r: f32):
      %0 = arith.addf %l, %r : f32
      tgpu.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $sources `)` `axes` $axes attr-dict `:` functional-type($sources, $results)
    $combiner
  }];
  let hasVerifier = 1;
}

def TileGPU_StoreSliceOp : TileGPU_Op<"store_slice"> {
  let summary = "One slice of a tile to shared memory";
  let description = [{
    The tile is cut into slices of the buffer's shape; the threads that hold elements of
    the slice that `index` counts to write them. A slice outside is not written.

    - store_slice-C1: the buffer has the tile's rank and element type and is in no dim
      larger; there is one index per dim.
  }];
  let arguments = (ins AnyRankedTensor:$tile, Variadic<Index>:$index,
                       Arg<TileGPU_BufferType, "", [MemWrite]>:$buffer);
  let assemblyFormat = [{
    $tile `[` $index `]` `,` $buffer attr-dict `:` type($tile) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def TileGPU_TakeOp : TileGPU_Op<"take"> {
  let summary = "Elements of shared memory at given indices along an axis";
  let description = [{
    As `tile.take` of the tile in the buffer. Each thread has the indices of its elements.

    - take-C1: result and buffer have one element type, and one shape but for the axis.
    - take-C2: indices are integers; they have the result's shape with `along`, else rank 1.
  }];
  let arguments = (ins Arg<TileGPU_BufferType, "", [MemRead]>:$buffer,
                       AnyRankedTensor:$indices, I32Attr:$axis, UnitAttr:$along);
  let results = (outs AnyRankedTensor:$tile);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `axis` $axis (`along` $along^)? attr-dict `:`
    qualified(type($buffer)) `,` type($indices) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def TileGPU_CountOp : TileGPU_Op<"count"> {
  let summary = "Adds one in shared memory for each element";
  let description = [{
    For each element of the tile that equals `first + b` for a place b of the buffer, one is
    added at b, atomically. Copies of an element count once.

    - count-C1: the buffer has rank 1 and elements of i32, the tile has integers.
  }];
  let arguments = (ins AnyRankedTensor:$tile,
                       Arg<TileGPU_BufferType, "", [MemRead, MemWrite]>:$buffer,
                       I64Attr:$first, UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $tile `,` $buffer `first` $first (`unsigned` $is_unsigned^)? attr-dict `:` type($tile) `,`
    qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def TileGPU_FlipOp : TileGPU_Op<"flip", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "Reverse a tile along an axis, through shared memory";
  let description = [{
    As `tile.flip` where an element and the one that takes its place lie in different warps.
    Warps exchange registers through the scratch buffer, as many at a time as fit, with
    barriers between.
  }];
  let arguments = (ins AnyRankedTensor:$tile, I32Attr:$axis,
                       Arg<TileGPU_BufferType, "", [MemRead, MemWrite]>:$scratch);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $tile `axis` $axis `through` $scratch attr-dict `:` type($tile) `,`
    qualified(type($scratch))
  }];
}

def TileGPU_ScanOp : TileGPU_Op<"scan", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Combine the elements before each, with totals of warps in shared memory";
  let description = [{
    As `tile.scan` along an axis that several warps share. Each warp leaves its totals in
    the scratch buffer; the operation has the barriers between.

    - scan-C1: results have the sources' types.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, Variadic<AnyType>:$inits,
                       I32Attr:$axis, UnitAttr:$reverse,
                       Arg<TileGPU_BufferType, "", [MemRead, MemWrite]>:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis (`reverse` $reverse^)?
    (`exclusive` `(` $inits^ `:` type($inits) `)`)? `through` $scratch attr-dict `:`
    qualified(type($scratch)) `,` functional-type($sources, $results) $combiner
  }];
  let hasVerifier = 1;
}

def TileGPU_SortOp : TileGPU_Op<"sort"> {
  let summary = "Sort along an axis that several warps share";
  let description = [{
    As `tile.sort` of unsigned words, of one tile or of words and distinct positions that
    decide between equal ones. Warps exchange registers through the scratch buffer, with
    barriers between.

    - sort-C1: there are one or two sources; results have their types.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I32Attr:$axis,
                       UnitAttr:$descending,
                       Arg<TileGPU_BufferType, "", [MemRead, MemWrite]>:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis (`descending` $descending^)? `through` $scratch attr-dict
    `:` qualified(type($scratch)) `,` functional-type($sources, $results)
  }];
  let hasVerifier = 1;
}

def TileGPU_YieldOp : TileGPU_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["ScanOp", "WarpReduceOp"]>]> {
  let summary = "Gives the values of a region";
  let description = [{ Ends the combining region of a reduction or scan. }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def TileGPU_MmaOp : TileGPU_Op<"mma", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "result = acc + a * b, operands in their homes";
  let description = [{
    A matrix multiply whose operands are where the atom wants them: `a` and `b` are
    buffers; `acc` and `result` are tiles in registers. Two dims
    ([M, K] x [K, N]) or three, the first of which is the batch (a batch of 1 of an
    operand goes with any).

    - mma-C5: a, b and acc are all of rank 2 or all of rank 3.
    - mma-C6: the dims fit.
    `a`, or `b` of an atom that takes it so, may also be a tile in registers, in the layout of
    the atom's fragments; `a` where `a_transposed` is a buffer of rank 2 with dims [K, M].
    The result of an atom that completes later may be read only through
    `tgpu.mma_wait`; another product may take it as its `acc` at once.

    Where `adds` is given and false, acc is not read: the result is the product alone
    (of atoms that can do that).

    - mma-C7: `atom` is the name of an atom (Atoms/Atom.h).
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[TileGPU_BufferType, AnyRankedTensor]>, "", [MemRead]>:$a,
    Arg<AnyTypeOf<[TileGPU_BufferType, AnyRankedTensor]>, "", [MemRead]>:$b,
    AnyRankedTensor:$acc, Optional<I1>:$adds,
    DefaultValuedStrAttr<StrAttr, "fma">:$atom,
    UnitAttr:$a_unsigned, UnitAttr:$b_unsigned, UnitAttr:$a_transposed);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a (`transposed` $a_transposed^)? `,` $b `,` $acc (`if` $adds^)? (`a_unsigned` $a_unsigned^)?
    (`b_unsigned` $b_unsigned^)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `,` type($acc)
  }];
  let hasVerifier = 1;
}

include "tilec/TileGPU/TileGPURingOps.td"
include "tilec/TileGPU/TileGPUAccumulatorOps.td"

#endif // TILEC_TILEGPU_TILEGPUOPS_TD

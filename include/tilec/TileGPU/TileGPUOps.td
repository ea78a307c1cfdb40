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

def TileGPU_YieldOp : TileGPU_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"WarpReduceOp">]> {
  let summary = "Gives the values of a region";
  let description = [{ Ends the combining region of a reduction. }];
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
    `a` may also be a tile in registers, in the layout of the atom's fragments.
    The result of an atom that completes later may be read only through
    `tgpu.mma_wait`; another product may take it as its `acc` at once.

    - mma-C7: `atom` is the name of an atom (Atoms/Atom.h).
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[TileGPU_BufferType, AnyRankedTensor]>, "", [MemRead]>:$a,
    Arg<TileGPU_BufferType, "", [MemRead]>:$b,
    AnyRankedTensor:$acc,
    DefaultValuedStrAttr<StrAttr, "fma">:$atom,
    UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`a_unsigned` $a_unsigned^)? (`b_unsigned` $b_unsigned^)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `,` type($acc)
  }];
  let hasVerifier = 1;
}

include "tilec/TileGPU/TileGPURingOps.td"

#endif // TILEC_TILEGPU_TILEGPUOPS_TD

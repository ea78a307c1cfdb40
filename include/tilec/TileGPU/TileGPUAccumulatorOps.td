//===- TileGPUAccumulatorOps.td - products beside the threads ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Products whose accumulator is in tensor memory, a memory of the block beside shared
// memory. One thread issues them; all threads read and write accumulators.
//
//   %t = tgpu.accumulator : !tgpu.accumulator<128x128xf32>
//   tgpu.set_accumulator %zero, %t : tensor<128x128xf32, #acc>, …
//   scf.for %k … { %x, %y = tgpu.pop %ring : …
//                  tgpu.accumulate %x, %y, %t {atom = "…"} : …
//                  tgpu.release %ring : … }            // when the product has read it
//   tgpu.mma_wait pending 0 : () -> ()
//   %r = tgpu.get_accumulator %t : …, tensor<128x128xf32, #acc>
//
// Included by TileGPUOps.td.
//
//===--------------------------------------------------------------------------===//

def TileGPU_AccumulatorType : TypeDef<TileGPU_Dialect, "Accumulator"> {
  let mnemonic = "accumulator";
  let summary = "A tile in tensor memory";
  let description = [{
    `!tgpu.accumulator<128x256xf32>`: rows are lanes of the memory, 128 at a time (or 64);
    columns are columns, those of the next 128 rows behind them.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Columns of tensor memory, each with 32 bits in 128 lanes.
    int64_t getColumns() const;
  }];
}

def TileGPU_AccumulatorOp : TileGPU_Op<"accumulator"> {
  let summary = "A place in tensor memory";
  let description = [{
    `column`, set by AllocateMemory, counts from the start of the block's tensor memory.
    Contents are undefined until stored.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$column);
  let results = (outs Res<TileGPU_AccumulatorType, "", [MemAlloc]>:$accumulator);
  let assemblyFormat = "(`column` $column^)? attr-dict `:` qualified(type($accumulator))";
}

def TileGPU_AccumulateOp : TileGPU_Op<"accumulate"> {
  let summary = "acc = acc + a * b, or a * b, beside the threads";
  let description = [{
    Issues the product; `tgpu.mma_wait` waits for it. Products of one accumulator happen in
    the order of issue. With `if`, the accumulator is added to only when the condition
    holds, and else overwritten. A `tgpu.release` of a ring that only such products read
    takes effect when those issued before it are complete.

    - accumulate-C1: all are of rank 2 and the dims fit.
    - accumulate-C2: `atom` is the name of an atom (Atoms/Atom.h).
  }];
  let arguments = (ins
    Arg<TileGPU_BufferType, "", [MemRead]>:$a, Arg<TileGPU_BufferType, "", [MemRead]>:$b,
    Arg<TileGPU_AccumulatorType, "", [MemRead, MemWrite]>:$acc, Optional<I1>:$adds,
    StrAttr:$atom, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`if` $adds^)? (`a_unsigned` $a_unsigned^)?
    (`b_unsigned` $b_unsigned^)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($acc))
  }];
  let hasVerifier = 1;
}

def TileGPU_SetAccumulatorOp : TileGPU_Op<"set_accumulator"> {
  let summary = "Registers to tensor memory";
  let description = [{
    Products issued before are complete. A barrier must follow before the next one.

    - set_accumulator-C1: tile and accumulator have the same shape and element type.
  }];
  let arguments = (ins AnyRankedTensor:$tile,
                       Arg<TileGPU_AccumulatorType, "", [MemWrite]>:$accumulator);
  let assemblyFormat = [{
    $tile `,` $accumulator attr-dict `:` type($tile) `,` qualified(type($accumulator))
  }];
  let hasVerifier = 1;
}

def TileGPU_GetAccumulatorOp : TileGPU_Op<"get_accumulator"> {
  let summary = "Tensor memory to registers";
  let description = [{
    Products issued before are complete. A barrier must follow before the next one.

    - get_accumulator-C1: tile and accumulator have the same shape and element type.
  }];
  let arguments = (ins Arg<TileGPU_AccumulatorType, "", [MemRead]>:$accumulator);
  let results = (outs AnyRankedTensor:$tile);
  let assemblyFormat = [{
    $accumulator attr-dict `:` qualified(type($accumulator)) `,` type($tile)
  }];
  let hasVerifier = 1;
}

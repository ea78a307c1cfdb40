//===- TileKernelOps.td - kernels, position, facts ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The kernel, its terminators, where a block stands in the grid, and what the
// program may take for granted.

#ifndef TILEC_TILE_TILEKERNELOPS_TD
#define TILEC_TILE_TILEKERNELOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

// Keeps assumptions in place without ordering them against memory.
def Tile_AssumptionResource : Resource<"::tilec::tile::AssumptionResource">;

def Tile_KernelOp : Tile_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a kernel: one run per block of the grid";
  let description = [{
    The body runs once per block of the grid, in any order and in parallel.

    | attribute | meaning |
    |---|---|
    | `grid` | one to three host expressions, the grid's extents; absent: the caller gives them |
    | `requirements` | preconditions that the launcher checks: `{expr, text, loc}` each: the host expression, the source's words, `file:line` |
    | `constants` | compile-time parameters by name |
    | `num_warps` | warps per block, when chosen |
    | `hints` | hints by name |
    | `arrays_overlap` | two arrays may share memory: reads are not free to move over writes of another array |
    | `fast_math`, `no_contract` | approximate forms allowed; a*b+c stays two operations |

    Host expressions are text in the grammar of `Support/HostExpr.h`, over
    parameter and dimension names.

    Parameters carry argument attributes: `tile.name`, `tile.dtype` (the
    language's spelling: signedness is not in the type), and for arrays
    `tile.dims`, one string per dim: the name bound to it, or the fixed size.

    - kernel-C1 parameters are scalars and arrays.
    - kernel-C2 there are no results.
    - kernel-C3 `grid` has one to three entries.
    - kernel-C4 `num_warps` is a power of two, 1 … 32.

    ```mlir
    tile.kernel @copy(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>)
        attributes {grid = ["cdiv(n, 128)"]} {
      %i = tile.block_id 0 : index
      %t = tile.load %x[%i] : !tile.array<?xf32> -> tensor<128xf32>
      tile.store %y[%i], %t : !tile.array<?xf32, mut>, tensor<128xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    OptionalAttr<StrArrayAttr>:$grid,
    OptionalAttr<DictArrayAttr>:$requirements,
    OptionalAttr<DictionaryAttr>:$constants,
    OptionalAttr<I32Attr>:$num_warps,
    OptionalAttr<DictionaryAttr>:$hints,
    UnitAttr:$arrays_overlap,
    UnitAttr:$fast_math,
    UnitAttr:$no_contract);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
    "::llvm::ArrayRef<::mlir::Type>":$parameters)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral nameAttr = "tile.name";
    static constexpr ::llvm::StringLiteral dtypeAttr = "tile.dtype";
    static constexpr ::llvm::StringLiteral dimsAttr = "tile.dims";
    /// On a build: it has the parameter for `num_sms`, used or not.
    static constexpr ::llvm::StringLiteral numSMsAttr = "tile.num_sms";

    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The name of parameter `index` in the source, or "argN".
    std::string getParameterName(unsigned index);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [
    Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let description = [{
    The last operation of a kernel. Returns in the middle of a body have become
    `scf.if`.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "gives the values of a region";
  let description = [{
    Ends the combining region of a reduction or scan.
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure]> {
  let summary = "the block's position along one axis of the grid";
  let description = [{
    - block_id-C1 the axis is 0, 1 or 2.

    ```mlir
    %i = tile.block_id 0 : index
    ```
  }];
  let arguments = (ins I32Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_NumBlocksOp : Tile_Op<"num_blocks", [Pure]> {
  let summary = "the grid's extent along one axis";
  let description = [{
    - num_blocks-C1 the axis is 0, 1 or 2.

    ```mlir
    %n = tile.num_blocks 0 : index
    ```
  }];
  let arguments = (ins I32Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "the size of an array along one dim";
  let description = [{
    - dim-C1 the dim lies in the array's rank.

    ```mlir
    %n = tile.dim %a, 1 : !tile.array<?x128xf32>
    ```
  }];
  let arguments = (ins Tile_Array:$array, I32Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `,` $dim attr-dict `:` custom<ArrayType>(type($array))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", [
    MemoryEffects<[MemRead<Tile_AssumptionResource>, MemWrite<Tile_AssumptionResource>]>]> {
  let summary = "a condition that the program promises";
  let description = [{
    Trusted: if the condition is false, the program's meaning is lost. Checked
    under `--checked` and by the interpreter.

    ```mlir
    tile.assume %cond
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
  let hasCanonicalizeMethod = 1;
}

def Tile_NumSMsOp : Tile_Op<"num_sms", [Pure]> {
  let summary = "the device's number of multiprocessors";
  let description = [{
    A parameter of the launch; 1 where the kernel runs on the CPU.

    ```mlir
    %n = tile.num_sms : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

// Print and assert talk to the host: they keep their order among themselves.
def Tile_HostResource : Resource<"::tilec::tile::HostResource">;

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite<Tile_HostResource>]>]> {
  let summary = "one line of text on the host";
  let description = [{
    The pieces with the values between them. `dtypes` spells each value's type
    in the language: signedness is not in the MLIR type.

    - print-C1 there is one more piece than values, and one dtype per value.

    ```mlir
    tile.print ["x = ", ""] (%x) dtypes ["u32"] : i32
    ```
  }];
  let arguments = (ins StrArrayAttr:$pieces, Variadic<Tile_Value>:$values,
    StrArrayAttr:$dtypes);
  let assemblyFormat = [{
    $pieces `(` $values `)` `dtypes` $dtypes attr-dict (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite<Tile_HostResource>]>]> {
  let summary = "an error on the host unless the condition holds";
  let description = [{
    The host learns message, place in the source, block, and for a tile the
    first failing index.

    - assert-C1 the condition's elements are `i1`.

    ```mlir
    tile.assert %cond, "must be positive" : tensor<8xi1>
    ```
  }];
  let arguments = (ins Tile_Value:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

#endif // TILEC_TILE_TILEKERNELOPS_TD

//===- TileLayout.td - layouts in the IR ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The attribute that says where the elements of a tile live, and the operation
// that moves them. Both belong to the laid-out stage.

#ifndef TILEC_TILE_TILELAYOUT_TD
#define TILEC_TILE_TILELAYOUT_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilec/Tile/TileAttrs.td"
include "tilec/Tile/TileTypes.td"

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout", [
    DeclareAttrInterfaceMethods<OpAsmAttrInterface, ["getAlias"]>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "where each element of a tile lives";
  let description = [{
    A linear map over GF(2), as explained in `tilec/Layout/Layout.h`: for each
    bit of a register, lane, warp, block or offset number the coordinates to
    which it takes us; numbers of several bits take us to the XOR. As the
    encoding of a tensor type it says how the tile is spread over the threads
    of a block.

    - layout-C1 the shape has power-of-two dims, at most 2^20 elements.
    - layout-C2 each basis has one coordinate per dim, inside the shape.
    - layout-C3 every element lives somewhere.
    - layout-C4 the shape is that of the tensor it encodes.
    - layout-C5 a tensor's layout has no offset bits, and 5 lane bits.

    ```mlir
    // Eight bf16 per lane along the rows, four rows a warp.
    #layout = #tile.layout<[4, 64]
        register [(0, 1), (0, 2), (0, 4)]
        lane [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    // Bases as row-major numbers of elements.
    ArrayRefParameter<"int64_t">:$registers,
    ArrayRefParameter<"int64_t">:$lanes,
    ArrayRefParameter<"int64_t">:$warps,
    ArrayRefParameter<"int64_t">:$blocks,
    ArrayRefParameter<"int64_t">:$offsets);
  let builders = [AttrBuilder<(ins "const ::tilec::Layout &":$layout), [{
    auto flat = [&](::tilec::Input input) {
      ::llvm::ArrayRef<uint64_t> bases = layout.bases(input);
      return ::llvm::SmallVector<int64_t>(bases.begin(), bases.end());
    };
    return $_get($_ctxt, layout.shape(), flat(::tilec::Input::Register),
                 flat(::tilec::Input::Lane), flat(::tilec::Input::Warp),
                 flat(::tilec::Input::Block), flat(::tilec::Input::Offset));
  }]>];
  let extraClassDeclaration = [{
    ::tilec::Layout getLayout() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    Moves elements between registers, lanes or warps; changes no value.

    - convert_layout-C1 shape and element type stay.
    - convert_layout-C2 both types have a layout.

    ```mlir
    %y = tile.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #cols>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TILEC_TILE_TILELAYOUT_TD

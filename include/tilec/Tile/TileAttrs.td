//===- TileAttrs.td - attributes of the tile dialect ---*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Enumerations that operations carry. The layout attribute joins this list from
// a file of its own.

#ifndef TILEC_TILE_TILEATTRS_TD
#define TILEC_TILE_TILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "tilec/Tile/TileDialect.td"

class Tile_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilec::tile";
}

def Tile_Signedness : Tile_Enum<"Signedness", "how an integer's bits are read", [
  I32EnumAttrCase<"Signed", 0, "signed">,
  I32EnumAttrCase<"Unsigned", 1, "unsigned">]>;

def Tile_QuotientRounding : Tile_Enum<"QuotientRounding", "where an integer quotient is rounded to", [
  I32EnumAttrCase<"Trunc", 0, "trunc">,
  I32EnumAttrCase<"Floor", 1, "floor">,
  I32EnumAttrCase<"Ceil", 2, "ceil">]>;

def Tile_ShiftKind : Tile_Enum<"ShiftKind", "direction and fill of a shift", [
  I32EnumAttrCase<"Left", 0, "left">,
  I32EnumAttrCase<"RightSigned", 1, "right_signed">,
  I32EnumAttrCase<"RightUnsigned", 2, "right_unsigned">]>;

def Tile_CastRounding : Tile_Enum<"CastRounding", "rounding of a float to float conversion", [
  I32EnumAttrCase<"NearestEven", 0, "rn">,
  I32EnumAttrCase<"TowardZero", 1, "rz">,
  I32EnumAttrCase<"Downward", 2, "rd">,
  I32EnumAttrCase<"Upward", 3, "ru">]>;

def Tile_MmaPrecision : Tile_Enum<"MmaPrecision", "how exactly a matrix product is computed", [
  I32EnumAttrCase<"Exact", 0, "exact">,
  I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">,
  I32EnumAttrCase<"Fast", 3, "fast">]>;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic operation does", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"And", 3, "and">,
  I32EnumAttrCase<"Or", 4, "or">,
  I32EnumAttrCase<"Xor", 5, "xor">,
  I32EnumAttrCase<"Xchg", 6, "xchg">,
  I32EnumAttrCase<"Cas", 7, "cas">,
  I32EnumAttrCase<"Load", 8, "load">,
  I32EnumAttrCase<"Store", 9, "store">]>;

def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "how an atomic operation orders others", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcqRel", 3, "acq_rel">]>;

def Tile_MemoryScope : Tile_Enum<"MemoryScope", "who sees an atomic operation's order", [
  I32EnumAttrCase<"Block", 0, "block">,
  I32EnumAttrCase<"GPU", 1, "gpu">,
  I32EnumAttrCase<"System", 2, "sys">]>;

#endif // TILEC_TILE_TILEATTRS_TD

//===- DType.h - element types as host data -----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The one list of element types, for everything that is not MLIR: the front end,
// launch facts, the runtime, `.npy` files. A dtype has a name (its spelling in
// source), a width in bits, and a size in memory.
//
// `int` is the type of dims and indices: 64-bit by meaning and apart from i64.
// `tf32` exists only as an mma operand: it has no arrays. `bool` is one byte in
// memory, any non-zero byte reads as true.
//
// Standard library only, as the runtime includes this.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_DTYPE_H
#define TILEC_SUPPORT_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilec {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Int,
  F16,
  BF16,
  F32,
  F64,
  TF32,
  F8E4M3,
  F8E5M2,
};

inline constexpr unsigned numDTypes = 17;

enum class DTypeKind : uint8_t { Bool, Signed, Unsigned, Float };

namespace detail {
struct DTypeRow {
  std::string_view name;
  uint8_t bits;  // of the value
  uint8_t bytes; // in memory; tf32 as a scalar would take 4
  DTypeKind kind;
};
inline constexpr DTypeRow dtypeRows[numDTypes] = {
    {"bool", 1, 1, DTypeKind::Bool},     {"i8", 8, 1, DTypeKind::Signed},
    {"i16", 16, 2, DTypeKind::Signed},   {"i32", 32, 4, DTypeKind::Signed},
    {"i64", 64, 8, DTypeKind::Signed},   {"u8", 8, 1, DTypeKind::Unsigned},
    {"u16", 16, 2, DTypeKind::Unsigned}, {"u32", 32, 4, DTypeKind::Unsigned},
    {"u64", 64, 8, DTypeKind::Unsigned}, {"int", 64, 8, DTypeKind::Signed},
    {"f16", 16, 2, DTypeKind::Float},    {"bf16", 16, 2, DTypeKind::Float},
    {"f32", 32, 4, DTypeKind::Float},    {"f64", 64, 8, DTypeKind::Float},
    {"tf32", 32, 4, DTypeKind::Float},   {"f8e4m3", 8, 1, DTypeKind::Float},
    {"f8e5m2", 8, 1, DTypeKind::Float},
};
} // namespace detail

/// The spelling in source, "bf16".
constexpr std::string_view dtypeName(DType t) {
  return detail::dtypeRows[static_cast<unsigned>(t)].name;
}
/// Width of the value in bits; 1 for bool.
constexpr unsigned dtypeBits(DType t) {
  return detail::dtypeRows[static_cast<unsigned>(t)].bits;
}
/// Size of one element in memory, in bytes.
constexpr unsigned dtypeBytes(DType t) {
  return detail::dtypeRows[static_cast<unsigned>(t)].bytes;
}
constexpr DTypeKind dtypeKind(DType t) {
  return detail::dtypeRows[static_cast<unsigned>(t)].kind;
}
constexpr bool isFloat(DType t) { return dtypeKind(t) == DTypeKind::Float; }
/// Signed or unsigned integer, `int` included, bool not.
constexpr bool isInteger(DType t) {
  return dtypeKind(t) == DTypeKind::Signed || dtypeKind(t) == DTypeKind::Unsigned;
}
constexpr bool isSigned(DType t) { return dtypeKind(t) == DTypeKind::Signed; }
constexpr bool isUnsigned(DType t) { return dtypeKind(t) == DTypeKind::Unsigned; }
constexpr bool isF8(DType t) { return t == DType::F8E4M3 || t == DType::F8E5M2; }

/// The dtype spelled `name`, or nothing.
constexpr std::optional<DType> parseDType(std::string_view name) {
  for (unsigned i = 0; i < numDTypes; ++i)
    if (detail::dtypeRows[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace tilec

#endif // TILEC_SUPPORT_DTYPE_H

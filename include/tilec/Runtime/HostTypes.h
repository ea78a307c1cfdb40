//===- HostTypes.h - C++ types of the dtypes ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Names of the dtypes as C++ constants (tilec::bf16), and for each the C++ type of
// an element on the host. C++20 has no 16- and 8-bit floats: they are their bits
// in a type of their own, with conversion to and from float (to nearest even; f8
// saturates to the largest finite value, as `.to()` does in the language).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_HOSTTYPES_H
#define TILEC_RUNTIME_HOSTTYPES_H

#include "tilec/Support/DType.h"
#include "tilec/Support/Numerics.h"

#include <cstdint>

namespace tilec {

inline constexpr DType boolean = DType::Bool;
inline constexpr DType i8 = DType::I8, i16 = DType::I16, i32 = DType::I32, i64 = DType::I64;
inline constexpr DType u8 = DType::U8, u16 = DType::U16, u32 = DType::U32, u64 = DType::U64;
inline constexpr DType f16 = DType::F16, bf16 = DType::BF16, f32 = DType::F32, f64 = DType::F64;
inline constexpr DType f8e4m3 = DType::F8E4M3, f8e5m2 = DType::F8E5M2;

/// A float of fewer than 32 bits.
template <DType T, typename Bits>
struct SmallFloatValue {
  Bits bits = 0;

  SmallFloatValue() = default;
  explicit SmallFloatValue(float v) : bits(static_cast<Bits>(numerics::encode(T, v))) {}
  explicit operator float() const { return static_cast<float>(numerics::decode(T, bits)); }
  static SmallFloatValue fromBits(Bits bits) {
    SmallFloatValue v;
    v.bits = bits;
    return v;
  }
  bool operator==(const SmallFloatValue &) const = default; // of bits
};

using Half = SmallFloatValue<DType::F16, uint16_t>;
using BFloat16 = SmallFloatValue<DType::BF16, uint16_t>;
using Float8E4M3 = SmallFloatValue<DType::F8E4M3, uint8_t>;
using Float8E5M2 = SmallFloatValue<DType::F8E5M2, uint8_t>;

namespace detail {
template <DType T>
struct HostTypeOf;
template <> struct HostTypeOf<DType::Bool> { using type = uint8_t; };
template <> struct HostTypeOf<DType::I8> { using type = int8_t; };
template <> struct HostTypeOf<DType::I16> { using type = int16_t; };
template <> struct HostTypeOf<DType::I32> { using type = int32_t; };
template <> struct HostTypeOf<DType::I64> { using type = int64_t; };
template <> struct HostTypeOf<DType::U8> { using type = uint8_t; };
template <> struct HostTypeOf<DType::U16> { using type = uint16_t; };
template <> struct HostTypeOf<DType::U32> { using type = uint32_t; };
template <> struct HostTypeOf<DType::U64> { using type = uint64_t; };
template <> struct HostTypeOf<DType::Int> { using type = int64_t; };
template <> struct HostTypeOf<DType::F16> { using type = Half; };
template <> struct HostTypeOf<DType::BF16> { using type = BFloat16; };
template <> struct HostTypeOf<DType::F32> { using type = float; };
template <> struct HostTypeOf<DType::F64> { using type = double; };
template <> struct HostTypeOf<DType::F8E4M3> { using type = Float8E4M3; };
template <> struct HostTypeOf<DType::F8E5M2> { using type = Float8E5M2; };
} // namespace detail

/// The C++ type of an element of dtype T; bool is a byte, 0 or 1.
template <DType T>
using HostType = typename detail::HostTypeOf<T>::type;

} // namespace tilec

#endif // TILEC_RUNTIME_HOSTTYPES_H
